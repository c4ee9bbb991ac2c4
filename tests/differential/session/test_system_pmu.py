"""The PMU that a whole processor's code programs: what it counts and where it interrupts, against a log of the code's
instructions; totals and what pfmon counts beside agree with it."""

import random
from collections.abc import Sequence
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, cast

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from instruction_log import SIGNALS
from played_system import PlayedSystem, changing, played

from pfmon.engine import guest_pmu
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.run_plan import RunPlan
from pfmon.session.run.system_pmu import SystemPmu, counted_beside

PROGRAM = ("strings", "30")
SIGNAL_OF = {"IA64_INST_RETIRED": "inst_retired", "NOPS_RETIRED": "nops_retired", "LOADS_RETIRED": "loads_retired"}
WIDTH = 1 << 47
OI, FROZEN = 1 << 5, 1
KERNEL_UP, KERNEL_PP, USER_UP = 0b0100, 0b1000, 0b0111


class Driver:
    """Code that programs the PMU between any two instructions, on a processor that stops where the PMU wants it."""

    def __init__(
        self, at: Sequence[int], *, machine: bool = False, beside: EventSets | None = None, pmu: str = "montecito"
    ) -> None:
        self.engine = PlayedSystem(played(*PROGRAM), at)
        self.pmu = SystemPmu(get(pmu), self.engine, load(pmu) if machine else None, beside=beside)
        self.pmu.set_interrupt(self._interrupt)
        self.interrupts: list[int] = []
        """The number of retired instructions at each."""
        self.stops = 0

    def _interrupt(self) -> None:
        self.interrupts.append(self.engine.retired)

    def run(self, until: int | None = None) -> None:
        """Run so far, or to the first interrupt."""
        before = len(self.interrupts)
        while not self.engine.over and (until is None or self.engine.retired < until):
            stops = [one for one in (self.pmu.next_stop(), until) if one is not None]
            self.engine.play(self.pmu.consumer, min(stops, default=None))
            self.stops += 1
            self.pmu.update_registers()
            if len(self.interrupts) > before:
                return

    def write(self, name: str, value: int) -> None:
        self.pmu.access(f"write_{name[:3]}", int(name[3:]), value)

    def program(self, event: str, plm: int, pm: bool, oi: bool = False) -> None:
        """Let PMC4 count an event, and PMC5 select its group."""
        if event == "LOADS_RETIRED":
            self.write("pmc5", configuration(event, plm, pm))
        self.write("pmc4", configuration(event, plm, pm, oi))

    def read(self, name: str, cpl: int = 0, secure: bool = False) -> int:
        return self.pmu.access(f"read_{name[:3]}", int(name[3:]), cpl=cpl, secure=secure)


def configuration(event: str, plm: int, pm: bool, oi: bool = False, pmu: str = "montecito") -> int:
    """The value of a PMC that counts an event."""
    made = get(pmu).program([event], plm=plm, system_wide=pm)
    return made.writes[f"pmc{made.counters[0]}"] | OI * oi


def counts_at(plm: int, pm: bool, now: int) -> bool:
    """The rule of the manuals (Itanium manual section 6.1.3.2): the level by the mask, and PSR.pp or PSR.up."""
    return bool(plm >> (now & 3) & 1 and now >> (3 if pm else 2) & 1)


def increments(engine: PlayedSystem, event: str, plm: int, pm: bool) -> list[int]:
    """What each instruction adds to a counter."""
    add = SIGNALS[SIGNAL_OF[event]]
    return [
        add(step, lambda _: True) if counts_at(plm, pm, now) else 0
        for step, now in zip(engine.code.steps, engine.step_privileges(), strict=True)
    ]


events = st.sampled_from(sorted(SIGNAL_OF))
places = st.lists(st.integers(1, 3000), min_size=1, max_size=6, unique=True).map(sorted)


@pytest.mark.slow
@examples(30)
@given(st.integers(0, 999), events, st.integers(1, 15), st.booleans(), st.booleans(), places)
def test_reads_are_exact_between_any_two_instructions(
    seed: int, event: str, plm: int, pm: bool, machine: bool, reads: list[int]
) -> None:
    driver = Driver(changing(played(*PROGRAM), seed), machine=machine)
    added = [0, *accumulate(increments(driver.engine, event, plm, pm))]
    with driver.pmu.running:
        driver.program(event, plm, pm)
        for place in reads:
            driver.run(place)
            assert driver.read("pmd4") == added[place]
        # A write counts from the instruction on before which it is made.
        driver.write("pmd4", 1000)
        driver.run(reads[-1] + 500)
        assert driver.read("pmd4") == 1000 + added[reads[-1] + 500] - added[reads[-1]]
    driver.pmu.finish()


@pytest.mark.slow
@examples(10)
@given(st.integers(0, 999), events, st.integers(1, 15), st.booleans(), st.booleans(), st.integers(1, 700))
def test_the_interrupt_is_raised_at_the_instruction_of_the_overflow(
    seed: int, event: str, plm: int, pm: bool, machine: bool, period: int
) -> None:
    driver = Driver(changing(played(*PROGRAM), seed), machine=machine)
    added = list(accumulate(increments(driver.engine, event, plm, pm)))
    expected, taken = [], 0
    with driver.pmu.running:
        driver.program(event, plm, pm, oi=True)
        driver.write("pmd4", WIDTH - period)
        while True:
            # The first instruction at which so many are counted, from the place of the last overflow on.
            found = next((number for number, total in enumerate(added, 1) if total - taken >= period), None)
            driver.run()
            if found is None:
                break
            expected.append(found)
            taken = added[found - 1]
            assert driver.interrupts == expected
            assert driver.read("pmc0") == 1 << 4 | FROZEN
            assert driver.read("pmd4") == 0
            driver.write("pmd4", WIDTH - period)
            driver.write("pmc0", 0)
        assert driver.interrupts == expected and driver.engine.over
    driver.pmu.finish()


def test_an_event_of_each_instruction_needs_one_stop_an_interrupt() -> None:
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP] * len(code.runs))
    driver.write("pmc4", configuration("IA64_INST_RETIRED", 1, True, oi=True))
    driver.write("pmd4", WIDTH - 1000)
    driver.run()
    assert driver.interrupts == [1000] and driver.stops == 1


def test_while_frozen_nothing_counts_or_interrupts() -> None:
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP] * len(code.runs))
    driver.write("pmc0", FROZEN)
    driver.write("pmc4", configuration("IA64_INST_RETIRED", 1, True, oi=True))
    driver.write("pmd4", WIDTH - 10)
    driver.run(500)
    assert driver.read("pmd4") & WIDTH - 1 == WIDTH - 10 and driver.interrupts == []
    driver.write("pmc0", 0)
    driver.run()
    assert driver.interrupts == [510]


def test_an_overflow_without_oi_is_noted_and_counting_goes_on() -> None:
    """Montecito manual tables 3-6 and 3-8."""
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP] * len(code.runs))
    driver.write("pmc4", configuration("IA64_INST_RETIRED", 1, True))
    driver.write("pmc5", configuration("IA64_INST_RETIRED", 1, True))
    driver.write("pmd4", WIDTH - 10)
    driver.run(100)
    assert driver.read("pmc0") == 1 << 4 and driver.read("pmd4") == 90 and driver.read("pmd5") == 100
    assert driver.interrupts == []


def test_counters_that_overflow_together_raise_one_interrupt() -> None:
    """There is one interrupt line (Montecito manual section 3.3.11), and all bits are set (volume 2, 7.2.2)."""
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP] * len(code.runs))
    for number in (4, 5, 6):
        driver.write(f"pmc{number}", configuration("IA64_INST_RETIRED", 1, True, oi=number != 6))
        driver.write(f"pmd{number}", WIDTH - 25)
    driver.run()
    assert driver.interrupts == [25] and driver.read("pmc0") == 0b111 << 4 | FROZEN


def test_software_sets_overflow_bits_without_an_interrupt() -> None:
    """An interrupt is the event of a counter that wraps, not of a bit that is set (volume 2, 7.2.1)."""
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP] * len(code.runs))
    driver.write("pmc4", configuration("IA64_INST_RETIRED", 1, True, oi=True))
    driver.write("pmc0", 1 << 4 | 1 << 9)
    driver.run(50)
    assert driver.interrupts == [] and driver.read("pmc0") == 1 << 4 | 1 << 9
    assert driver.read("pmd4") == 50
    driver.write("pmc0", (1 << 64) - 1)
    assert driver.read("pmc0") == 0xFFF1


def test_code_above_level_0_reads_what_it_may() -> None:
    """PSR.sp hides all, PMC.pm a monitor's counter (Montecito manual table 3-5; volume 2, 7.2.1)."""
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP | KERNEL_UP] * len(code.runs))
    driver.write("pmc4", configuration("IA64_INST_RETIRED", 1, False))
    driver.write("pmc5", configuration("IA64_INST_RETIRED", 1, True))
    driver.write("pmc40", 0x1 | 1 << 6)
    driver.pmu.registers.store({32: 5, 34: 6})
    driver.run(77)
    for cpl in (1, 2, 3):
        assert [driver.read(name, cpl) for name in ("pmd4", "pmd5", "pmd32", "pmd34")] == [77, 0, 0, 6]
        assert [driver.read(name, cpl, secure=True) for name in ("pmd4", "pmd5", "pmd32", "pmd34")] == [0] * 4
    assert [driver.read(name, secure=True) for name in ("pmd4", "pmd5", "pmd32", "pmd34")] == [77, 77, 5, 6]


def test_registers_that_the_processor_lacks_read_as_0() -> None:
    driver = Driver([0] * len(played(*PROGRAM).runs), pmu="itanium2")
    driver.write("pmc200", 7)
    driver.write("pmd99", 7)
    assert driver.read("pmc200") == driver.read("pmd99") == 0


def test_what_cannot_be_counted_is_refused_when_it_is_read() -> None:
    """Not when it is programmed: registers are written one by one."""
    driver = Driver([0] * len(played(*PROGRAM).runs))
    refused = {
        "a machine decides": configuration("CPU_OP_CYCLES_ALL", 1, True),
        "L1D": configuration("LOADS_RETIRED", 1, True),  # of a group that PMC5 selects
        "event code": 0x0200FF41,
    }
    for number, (said, value) in enumerate(refused.items()):
        driver.write("pmc4", value)
        driver.run(10 * number + 10)
        with pytest.raises(PfmonError, match=f"PMD4: .*{said}"):
            driver.read("pmd4")
    driver.write("pmc4", 0)
    driver.run(100)
    assert driver.read("pmd4") == 0


@pytest.mark.slow
@pytest.mark.parametrize("machine", [False, True])
def test_pfmon_counts_beside_by_level_alone(machine: bool) -> None:
    names = ["IA64_INST_RETIRED", *(["CPU_OP_CYCLES_ALL"] if machine else [])]
    wanted = [EventRequest(name, plm=plm) for name in names for plm in (1, 8)]
    beside = EventSets(get("montecito"), Request(tuple(wanted), whole_system=True))
    driver = Driver(changing(played(*PROGRAM), "beside"), machine=machine, beside=beside)
    at = list(driver.engine.step_privileges())
    with driver.pmu.running:
        driver.write("pmc4", configuration("IA64_INST_RETIRED", 9, True, oi=True))
        driver.write("pmd4", WIDTH - 333)
        driver.write("pmc10", configuration(names[-1], 1, True))
        driver.write("pmc11", configuration(names[-1], 1, False))
        driver.run()
        assert len(driver.interrupts) == 1
        driver.write("pmc0", 0)  # the code's PMU freezes, pfmon's does not
        driver.run()
        own = [driver.read("pmd10"), driver.read("pmd11")]
    driver.pmu.finish()
    counts = [one.value for one in driver.pmu.counts()]
    assert counts[:2] == [sum(now & 3 == level for now in at) for level in (0, 3)]
    assert 0 < own[0] < counts[-2] and 0 < own[1] < counts[-2]
    if machine:
        assert counts[2] > counts[0] / 6 and counts[3] > counts[1] / 6


@pytest.mark.slow
@pytest.mark.parametrize("event", ["CPU_OP_CYCLES_ALL", "BACK_END_BUBBLE_ALL"])
def test_interrupts_of_the_machines_events_do_not_depend_on_stops(event: str) -> None:
    """They are raised where they are on a processor that stops behind each instruction."""
    found = []
    for single in (False, True):
        driver = Driver(changing(played(*PROGRAM), "machine", (KERNEL_PP, USER_UP)), machine=True)
        writes = get("montecito").program([event], plm=1, system_wide=True).writes
        name, value = next((name, value) for name, value in writes.items() if name.startswith("pmc"))
        with driver.pmu.running:
            for other, content in writes.items():
                driver.write(other, content)
            driver.write(name, value | OI)
            driver.write(f"pmd{name[3:]}", WIDTH - 300)
            while not driver.engine.over:
                driver.run(driver.engine.retired + 1 if single else None)
                if driver.read("pmc0"):
                    driver.write(f"pmd{name[3:]}", WIDTH - 300)
                    driver.write("pmc0", 0)
            found.append((driver.interrupts, driver.read(f"pmd{name[3:]}")))
        driver.pmu.finish()
    assert found[0] == found[1] and found[0][0]


@pytest.mark.slow
def test_cycles_read_are_the_totals() -> None:
    beside = EventSets(get("montecito"), Request((EventRequest("CPU_OP_CYCLES_ALL", plm=1),), whole_system=True))
    driver = Driver(changing(played(*PROGRAM), "cycles", (KERNEL_PP, USER_UP)), machine=True, beside=beside)
    pick, before = random.Random(3), 0
    with driver.pmu.running:
        driver.write("pmc4", configuration("CPU_OP_CYCLES_ALL", 1, True))
        while not driver.engine.over:
            driver.run(driver.engine.retired + pick.randrange(1, 400))
            now = driver.read("pmd4")
            assert now >= before
            before = now
    driver.pmu.finish()
    assert driver.read("pmd4") == driver.pmu.counts()[0].value


def test_it_is_what_the_engine_of_system_mode_is_given() -> None:
    driver = Driver([KERNEL_PP] * len(played(*PROGRAM).runs))
    assert isinstance(driver.pmu, guest_pmu.SystemPmu) and driver.pmu.pmu is None
    driver.write("pmc4", configuration("IA64_INST_RETIRED", 1, True))
    driver.run(30)
    assert driver.pmu.read_data(4) == 0 and driver.read("pmd4") == 30


def test_data_ranges_are_set_by_the_code() -> None:
    """DBRs and PMC41 let through loads of some addresses (Montecito manual section 3.3.7), in all regions: a mask has
    56 bits (volume 2, table 7-1)."""
    code = played(*PROGRAM)
    driver = Driver([KERNEL_PP] * len(code.runs))
    addresses = sorted(step.address for step in code.steps if step.address is not None)
    first = addresses[len(addresses) // 2] & ~0xFFF
    made = get("montecito").program(
        ["LOADS_RETIRED"], plm=1, system_wide=True, drange=RangeRequest(((first, first + 0x1000),))
    )
    for name, value in made.writes.items():
        driver.write(name, value)
    driver.run()
    loads = SIGNALS["loads_retired"]
    expected = sum(
        loads(step, lambda at: at is not None and not (at ^ first) & ((1 << 56) - 0x1000)) for step in code.steps
    )
    whole = sum(loads(step, lambda _: True) for step in code.steps)
    assert driver.read(f"pmd{made.counters[0]}") == expected and 0 < expected < whole


def plan_of(**settings: Any) -> RunPlan:
    """What decides about counting beside the code's PMU."""
    plain = {"controls": Controls(), "sampling": None}
    return cast(RunPlan, SimpleNamespace(**plain | settings))


def test_one_event_set_is_counted_beside() -> None:
    sets = EventSets(get("montecito"), Request((EventRequest("IA64_INST_RETIRED"),), whole_system=True))
    assert counted_beside(plan_of(), []) is None and counted_beside(plan_of(), [sets]) is sets
    assert counted_beside(plan_of(controls=Controls(ear_seed=7)), [sets]) is sets
    for plan, groups in (
        (plan_of(), [sets, sets]),
        (plan_of(sampling=object()), [sets]),
        (plan_of(controls=Controls(interval=10)), [sets]),
    ):
        with pytest.raises(PfmonError, match="one event set"):
            counted_beside(plan, groups)


def test_captures_and_the_machines_data_ranges_are_the_codes() -> None:
    model, engine = get("montecito"), PlayedSystem(played(*PROGRAM), [0] * len(played(*PROGRAM).runs))
    drange = RangeRequest(((0x4000, 0x5000),))
    loads = EventSets(model, Request((EventRequest("LOADS_RETIRED"),), drange=drange, whole_system=True))
    with pytest.raises(PfmonError, match="event address registers"):
        captures = EventSets(model, Request((EventRequest("DATA_EAR_CACHE_LAT4"),), whole_system=True))
        SystemPmu(model, engine, load("montecito"), beside=captures)
    with pytest.raises(PfmonError, match="data ranges"):
        SystemPmu(model, engine, load("montecito"), beside=loads)
    SystemPmu(model, engine, None, beside=loads)
    with pytest.raises(PfmonError, match="no machine"):
        cycles = EventSets(model, Request((EventRequest("CPU_OP_CYCLES_ALL"),), whole_system=True))
        SystemPmu(model, engine, None, beside=cycles)
    with pytest.raises(PfmonError, match="Itaniums"):
        SystemPmu(get("core2"), engine, None)
