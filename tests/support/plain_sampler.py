"""The driver's part of sampling as plain Python on the register file: what sampler.pyx does on the countdown's numbers,
done at every overflow by reading and writing registers."""

from collections.abc import Callable, Mapping, Sequence

from pfmon.counting.live.live_unit import Overflow
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.session.sampling.sampling_period import Period, Sample

RANDOM_FACTOR, RANDOM_MODULUS = 16807, (1 << 31) - 1


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
        self._registers.store({self.pmd: self._limit - self.loaded})

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


class PlainSampler:
    """A listener of LiveUnit; ``samples`` are all that it took, ``lost`` how many there was no room for."""

    def __init__(
        self,
        registers: RegisterFile,
        periods: Mapping[int, Period | None],
        *,
        entries: int = 2048,
        saturate: bool = False,
        reset: bool = False,
        held: Sequence[int] = (),
    ) -> None:
        self._registers = registers
        self._entries, self._saturate, self._reset = entries, saturate, reset
        self._counters = {pmd: _Counter(registers, pmd, period) for pmd, period in periods.items()}
        self._beside = [counter for counter in self._counters.values() if counter.period is None]
        self._held = held
        self.clear: Callable[[], None] = lambda: None
        self.stamp: Callable[[], int] | None = None
        self.samples: list[Sample] = []
        self.lost = 0

    def __call__(self, overflow: Overflow) -> None:
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
        if self._saturate and len(self.samples) >= self._entries:
            self.lost += 1
            return False
        values = [(counter.pmd, counter.since) for counter in self._beside]
        values += [(number, self._registers.contents()[f"pmd{number}"]) for number in self._held]
        self.clear()
        pmds = tuple(counter.pmd for counter in ended)
        stamp = self.stamp() if self.stamp else overflow.retired
        self.samples.append(
            Sample(overflow.address, stamp, pmds, last, 0, tuple(sorted(values)), retired=overflow.retired)
        )
        if self._reset:
            for counter in self._beside:
                counter.mark()
        return len(self.samples) % self._entries == 0

    def value(self, pmd: int) -> int:
        """What a counter has counted, in all."""
        return self._counters[pmd].value
