"""Live counting: overflows at the exact increment, and the same totals as counting after the run."""

import random
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest
from grids import diagonal, few, first_quick
from guests import EXAMPLES, guest, quiet
from planned_sets import event_sets

from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.errors import PfmonError
from pfmon.machine._machine import Machine, combined_listener
from pfmon.machine.config.machine_config import load
from pfmon.pmu import IA64, get
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.signals.signal_names import never_because
from pfmon.stream._stream import Recorder

TINY = {
    "arrays": ["1"], "branchy": ["300"], "chase": ["64", "500"], "dispatch": ["20"], "epic": [], "fib": ["8"],
    "hashmap": ["50"], "lz": ["100"], "matmul": ["4"], "nbody": ["1"], "noploop": ["500"], "queens": ["4"],
    "sha256": ["1"], "sort": ["60"], "stream": ["1", "1"], "strings": ["30"],
}  # fmt: skip
PERIODS = (1, 2, 7, 100, 1000, 12345)
MAX_OVERFLOWS = 100
"""Of a counter: each calls Python."""


class Recorded(NamedTuple):
    """A run of an example, with addresses: the program is kept for its block table."""

    program: Ia64Guest
    recorder: Recorder


@cache
def recorded(name: str) -> Recorded:
    program, recorder = guest(name, TINY[name], trace=True), Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    return Recorded(program, recorder)


@cache
def requests(pmu: str) -> tuple[EventRequest, ...]:
    """Every countable event that can happen, and with a threshold where single cycles are known."""
    found = []
    for event in get(pmu).events:
        if never_because(event.signal):
            continue
        for threshold in (0, 1) if event.max_increment > 1 else (0,):
            request = EventRequest(event.name, threshold=threshold, mesi="MESI" if event.mesi else "")
            try:
                ProgrammedPmu(get(pmu), Request((request,)))
            except PfmonError:
                continue
            found.append(request)
    return tuple(found)


class Handler:
    """What a driver does at an overflow: takes it, loads the next period, and adds up in software."""

    def __init__(self, registers: RegisterFile, periods: dict[int, int]) -> None:
        self.registers, self.periods = registers, periods
        self.totals = dict.fromkeys(periods, 0)
        self.overflows = 0
        self.width = 1 << registers.bank.width
        for pmd in periods:
            self.start(pmd)

    def start(self, pmd: int) -> None:
        self.registers.write(f"pmd{pmd}", self.width - self.periods[pmd])

    def __call__(self, overflow: Overflow) -> None:
        self.overflows += 1
        assert set(overflow.pmds) == set(self.registers.take_overflows())
        for pmd in overflow.pmds:
            self.totals[pmd] += self.periods[pmd] + self.registers.count(pmd)
            self.start(pmd)

    def total(self, pmd: int) -> int:
        """Everything that was counted."""
        return self.totals[pmd] + (self.registers.count(pmd) - self.width + self.periods[pmd]) % self.width


def feed(run: Recorded, unit: LiveUnit, machine: Machine | None) -> None:
    run.recorder.replay(machine or unit.consumer)
    if machine:
        machine.finish()
    unit.finish()


def live_totals(
    run: Recorded, counting: ProgrammedPmu, pmu: str, memo: bool, pick: random.Random, totals: list[int]
) -> tuple[list[int], int]:
    """What live counting comes to in the order of the request, with random periods that suit the ``totals``; how many
    overflows there were."""
    figures = load(pmu)
    registers = counting.counters.registers
    least = {pmd: total // MAX_OVERFLOWS + 1 for pmd, total in zip(counting.programming.counters, totals, strict=True)}
    handler = Handler(registers, {pmd: max(low, pick.choice(PERIODS)) for pmd, low in least.items()})
    machine = Machine(figures, run.program.table, (), memo) if counting.unit.wants_machine else None
    records = MachineRecords(machine, figures) if machine else None
    unit = LiveUnit(get(pmu), registers, run.program.table, True, handler, records)
    feed(run, unit, machine)
    return [handler.total(pmd) for pmd in counting.programming.counters], handler.overflows


def check(name: str, pmu: str, memo: bool, wanted: tuple[EventRequest, ...]) -> int:
    """Compare live counting with totals for some events; how many overflows there were."""
    run, figures, pick = recorded(name), load(pmu), random.Random(f"{name} {pmu} {memo}")
    group = event_sets(pmu, wanted)
    sets = group.sets
    assert sum(len(one.programming.monitors) for one in sets) == len(wanted)
    machine = Machine(figures, run.program.table, (), memo)
    machine.listen(combined_listener(group.captures(run.program.table, 1)))
    run.recorder.replay(machine)
    machine.finish()
    tally = sets[0].unit.tally(run.program.table, traced=True)
    run.recorder.replay(tally)
    seen = RunData(run.program.table, tally, MachineRecords(machine, figures))
    overflows = 0
    for counting in sets:
        wanted_totals = counting.totals(seen)
        found, more = live_totals(run, counting, pmu, memo, pick, wanted_totals)
        assert found == wanted_totals, [monitor.event.name for monitor in counting.programming.monitors]
        overflows += more
    return overflows


@pytest.mark.slow
@pytest.mark.parametrize("pmu", IA64)
def test_live_equals_totals_for_a_sample_of_events(pmu: str) -> None:
    wanted = random.Random(pmu).sample(requests(pmu), 40)
    assert check("fib", pmu, True, tuple(wanted)) > 100


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize(
    ("memo", "share"),
    [
        pytest.param(True, 2, id="memo"),
        pytest.param(False, 5, id="simulated"),  # the same records, made the long way
        pytest.param(True, 1, id="all", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize(("name", "pmu"), few(product(TINY, IA64), 4))
def test_live_equals_totals_for_every_countable_event(name: str, pmu: str, memo: bool, share: int) -> None:
    """One in so many, others on each example."""
    wanted = requests(pmu)
    some = tuple(random.Random(name).sample(wanted, len(wanted) // share))
    assert check(name, pmu, memo, some) > 100 // share


def overflows_of(name: str, event: str, period: int, react: Callable[[Handler, Overflow], None]) -> list[Overflow]:
    """The overflows of one counter of Itanium 2, whose listener does something besides."""
    run = recorded(name)
    counting = ProgrammedPmu(get("itanium2"), Request((EventRequest(event),)))
    handler = Handler(counting.counters.registers, {counting.programming.counters[0]: period})
    seen: list[Overflow] = []

    def listener(overflow: Overflow) -> None:
        handler(overflow)
        seen.append(overflow)
        react(handler, overflow)

    unit = LiveUnit(get("itanium2"), handler.registers, run.program.table, True, listener)
    feed(run, unit, None)
    return seen


@pytest.mark.parametrize("period", first_quick([1, 3, 17, 1000]))
def test_instructions_overflow_at_every_multiple_of_the_period(period: int) -> None:
    """Against the log of the slow path: the n-th instruction is the n-th word."""
    program, log = guest("fib", TINY["fib"], slow=True), Recorder()
    with quiet():
        program.run(log)
    addresses = [program.table.block(word & 0xFFFFFFFF).ip for word in log.words() if not word >> 63]
    program.close()
    found = overflows_of("fib", "IA64_INST_RETIRED", period, lambda *_: None)
    assert [one.retired for one in found] == list(range(period, len(addresses) + 1, period))
    assert [one.address for one in found] == addresses[period - 1 :: period]


def test_overflow_sets_the_bit_and_freezes_where_oi_is_set() -> None:
    run = recorded("fib")
    counting = ProgrammedPmu(
        get("itanium2"), Request((EventRequest("IA64_INST_RETIRED"), EventRequest("NOPS_RETIRED")))
    )
    registers = counting.counters.registers
    first, second = counting.programming.counters
    registers.write(f"pmd{first}", (1 << 47) - 500)
    registers.write(f"pmd{second}", 0)
    held: list[dict[str, int]] = []
    unit = LiveUnit(get("itanium2"), registers, run.program.table, True, lambda _: held.append(registers.contents()))
    feed(run, unit, None)
    assert len(held) == 1  # nobody unfroze it
    assert held[0]["pmc0"] == 1 | 1 << first and registers.frozen
    assert registers.count(first) == 0 and registers.count(second) == held[0][f"pmd{second}"] > 0


def test_without_oi_counting_goes_on_behind_the_overflow() -> None:
    run = recorded("fib")
    counting = ProgrammedPmu(get("itanium2"), Request((EventRequest("IA64_INST_RETIRED"),)))
    registers, (pmd,) = counting.counters.registers, counting.programming.counters
    registers.set_field(f"pmc{pmd}", "oi", 0)
    registers.write(f"pmd{pmd}", (1 << 47) - 500)
    seen: list[Overflow] = []
    unit = LiveUnit(get("itanium2"), registers, run.program.table, True, seen.append)
    feed(run, unit, None)
    assert [one.retired for one in seen] == [500]
    assert registers.count(pmd) == run.program.retired - 500


def test_a_listener_that_programs_another_event_counts_it_from_there() -> None:
    """From the 1000th instruction on the counter counts nops: as the log of the slow path has them."""
    program, log = guest("fib", TINY["fib"], slow=True), Recorder()
    with quiet():
        program.run(log)
    names = {n: program.processor.block(n).instructions[0].row.mnemonic for n in range(program.processor.block_count())}
    words = [word & 0xFFFFFFFF for word in log.words() if not word >> 63]
    program.close()
    nops = get("itanium2").program(["NOPS_RETIRED"])
    run = recorded("fib")
    counting = ProgrammedPmu(get("itanium2"), Request((EventRequest("IA64_INST_RETIRED"),)))
    registers, (pmd,) = counting.counters.registers, counting.programming.counters
    registers.write(f"pmd{pmd}", (1 << 47) - 1000)

    def program_nops(_: Overflow) -> None:
        registers.take_overflows()
        registers.write(f"pmc{pmd}", nops.pmcs[nops.monitors[0].pmc])
        registers.write(f"pmd{pmd}", 0)

    unit = LiveUnit(get("itanium2"), registers, run.program.table, True, program_nops)
    feed(run, unit, None)
    assert registers.count(pmd) == sum(names[number].startswith("nop") for number in words[1000:])


def test_errors_of_a_listener_are_raised_behind_the_run() -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        overflows_of("fib", "IA64_INST_RETIRED", 100, fail)


@pytest.mark.slow
@pytest.mark.parametrize("pmu", IA64)
def test_qualified_live_counts_equal_qualified_totals(pmu: str) -> None:
    """Code and data ranges, with addresses in the stream."""
    run, pick = recorded("sort"), random.Random(pmu)
    data = sorted({access for access in run.recorder.words() if access >> 61 == 3})
    table = run.program.table
    code = sorted({table.block(number).ip & ~15 for number in range(len(table))})
    names = ["LOADS_RETIRED", "STORES_RETIRED"] if pmu == "itanium" else ["LOADS_RETIRED"]
    checked = 0
    for _ in range(40):
        low, high = sorted(pick.sample(code, 2))
        start = pick.choice(data) & ~63 if data else 0
        irange = RangeRequest(((low, high),)) if pick.random() < 0.6 else None
        drange = RangeRequest(((start, start + pick.choice([8, 64, 4096])),)) if data and pick.random() < 0.6 else None
        try:
            counting = ProgrammedPmu(get(pmu), Request(tuple(map(EventRequest, names)), irange=irange, drange=drange))
        except PfmonError:
            continue
        tally = counting.unit.tally(table, traced=True)
        run.recorder.replay(tally)
        wanted = counting.totals(RunData(table, tally))
        found, _ = live_totals(run, counting, pmu, True, pick, wanted)
        assert found == wanted
        checked += any(wanted)
    assert checked > 5


def test_examples_are_all_there() -> None:
    assert {path.name for path in (EXAMPLES / "ia64").iterdir()} == set(TINY)
