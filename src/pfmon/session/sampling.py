"""Sampling: whenever the counter of an event with a period overflows, what the PMU holds is kept as a sample.

A driver's part (perfmon): it loads counters so that they overflow after a period, takes the overflow, keeps a sample in
a buffer, and loads the next period.
"""

from __future__ import annotations

from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from pfmon.counting.live_unit import Overflow
    from pfmon.pmu.file import RegisterFile

ENTRIES = 2048
"""Samples in a buffer, if nobody says."""
RANDOM_FACTOR, RANDOM_MODULUS = 16807, (1 << 31) - 1


class Period(NamedTuple):
    """After how many events a counter overflows: ``short`` at first and within a buffer, ``long`` when a full buffer
    was given away. A random number is added to each, of which ``mask`` tells the bits, from ``seed`` on."""

    long: int
    short: int
    mask: int = 0
    seed: int = 1


class Sampling(NamedTuple):
    """What is to be sampled. ``periods``: by event, None for one that only counts; ``entries``: samples in a buffer;
    ``saturate``: none are taken after the first full one; ``reset``: counters without a period begin at 0 again with
    every sample; ``truth``: count as well where the sampled event happens; ``stacks``: with the calls that the
    program is in; ``skid``: cycles from an overflow to its interrupt;
    ``extra``: further PMDs in every sample."""

    periods: tuple[Period | None, ...]
    entries: int = ENTRIES
    saturate: bool = False
    reset: bool = False
    truth: bool = False
    stacks: bool = False
    skid: int = 0
    extra: tuple[int, ...] = ()


class Sample(NamedTuple):
    """``iip``: address | slot of the instruction that made a counter overflow (0: none did), with a skid the bundle
    that the interrupt came before; ``stamp``: instructions that had retired, itself included; ``overflowed``: PMDs;
    ``last``: the period that ended, of the first of them; ``set``: the event set; ``pmds``: by number, the counters
    without a period and what they had counted, and the other registers that were asked for as they were;
    ``calls``: the instructions that called, the latest first, if stacks were asked for."""

    iip: int
    stamp: int
    overflowed: tuple[int, ...]
    last: int
    set: int
    pmds: tuple[tuple[int, int], ...]
    calls: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """iip, stamp, overflowed (PMDs), last_val, set, pmds (number: value), calls (addresses)."""
        return {
            "iip": self.iip,
            "stamp": self.stamp,
            "overflowed": list(self.overflowed),
            "last_val": self.last,
            "set": self.set,
            "pmds": {str(number): value for number, value in self.pmds},
            "calls": list(self.calls),
        }


def next_random(seed: int) -> int:
    """The number after ``seed`` of the minimal standard generator (Park and Miller, Communications of the ACM 31(10),
    1988), which perfmon's kernel uses."""
    return RANDOM_FACTOR * seed % RANDOM_MODULUS


class _Counter:
    """One counter as the driver has it."""

    def __init__(self, registers: RegisterFile, pmd: int, period: Period | None) -> None:
        self.pmd, self.period = pmd, period
        self._registers = registers
        self._limit = 1 << registers.bank.width
        self._random = period.seed if period else 0
        self.loaded = self._limit
        self._before = self._marked = 0
        if period:
            self.load(period.short)

    def load(self, period: int) -> None:
        """Let the counter overflow after a period, and what is random in it."""
        assert self.period is not None
        self.loaded = period + (self._random & self.period.mask)
        self._random = next_random(self._random)
        self._registers.write(f"pmd{self.pmd}", self._limit - self.loaded)

    def take(self) -> None:
        """The counter has wrapped: what it counted is in software now, but for what came after that."""
        self._before += self.loaded
        if self.period:
            self._before += self._registers.count(self.pmd)  # an instruction may add more than one

    @property
    def value(self) -> int:
        """What was counted, in all."""
        return self._before + (self._registers.count(self.pmd) - self._limit + self.loaded) % self._limit

    @property
    def since(self) -> int:
        """What was counted since `mark`, or else in all."""
        return self.value - self._marked

    def mark(self) -> None:
        """Let `since` begin at 0 again."""
        self._marked = self.value


class Sampler:
    """Takes the overflows of a PMU that counts live. ``on_buffer`` gets the samples of a full buffer, and at the end
    (`finish`) those of the last one."""

    def __init__(
        self,
        registers: RegisterFile,
        periods: Mapping[int, Period | None],
        sampling: Sampling,
        on_buffer: Callable[[Sequence[Sample]], None],
        held: Sequence[int] = (),
    ) -> None:
        """``periods``: by PMD; ``held``: numbers of registers that are in every sample as they are then. The counters
        are loaded."""
        self._registers = registers
        self._sampling = sampling
        self._on_buffer = on_buffer
        self._counters = {pmd: _Counter(registers, pmd, period) for pmd, period in periods.items()}
        self._beside = [counter for counter in self._counters.values() if counter.period is None]
        self._held = [(number, f"pmd{number}") for number in held if number not in periods or periods[number]]
        self.clear: Callable[[], None] = lambda: None
        """Is called when a sample has been taken: empties what captures."""
        self._buffer: list[Sample] = []
        self.samples = 0
        """Taken so far."""
        self.lost = 0
        """Overflows after the buffer was saturated."""

    def __call__(self, overflow: Overflow) -> None:
        """Counters have overflowed (LiveUnit's listener)."""
        wrapped = [self._counters[pmd] for pmd in self._registers.take_overflows()]
        ended = [counter for counter in wrapped if counter.period is not None]
        last = ended[0].loaded if ended else 0
        for counter in wrapped:
            counter.take()
        full = bool(ended) and self._keep(overflow, ended, last)
        for counter in ended:
            assert counter.period is not None
            counter.load(counter.period.long if full else counter.period.short)

    def _keep(self, overflow: Overflow, ended: Sequence[_Counter], last: int) -> bool:
        """Take a sample; whether that filled the buffer."""
        if self._sampling.saturate and self.samples >= self._sampling.entries:
            self.lost += 1
            return False
        beside = tuple((counter.pmd, counter.since) for counter in self._beside)
        if self._held:
            contents = self._registers.contents()
            beside = tuple(sorted((*beside, *((number, contents[name]) for number, name in self._held))))
            self.clear()
        pmds = tuple(counter.pmd for counter in ended)
        self._buffer.append(Sample(overflow.address, overflow.retired, pmds, last, 0, beside, overflow.calls))
        self.samples += 1
        if self._sampling.reset:
            for counter in self._beside:
                counter.mark()
        if len(self._buffer) < self._sampling.entries:
            return False
        self._give()
        return True

    def _give(self) -> None:
        buffer, self._buffer = self._buffer, []
        if buffer:
            self._on_buffer(buffer)

    def finish(self) -> None:
        """The run has ended: give the last samples away."""
        self._give()

    def value(self, pmd: int) -> int:
        """What a counter has counted, in all."""
        return self._counters[pmd].value
