"""What a cycle adds to an event at the most (Max Inc/Cyc, Montecito manual section 4.2): the excess is lost."""

from pathlib import Path
from typing import Any

import pytest
from grids import each
from ia64_assembly import Line
from ia64_program import DATA, EXIT, TEXT, symbols, write_program
from machine_code import loop, open_bundle
from machine_runs import run_with_guest

import pfmon
from pfmon.counting._counting import CountAccumulator, Increments, MachineTotals, QueryKind
from pfmon.counting.totals.countable import POSSIBLE_INCREMENTS, limit
from pfmon.counting.totals.record_query import query_of
from pfmon.pmu import get
from pfmon.pmu.qualify.filters import FilteredSignal, InstructionFilter
from pfmon.signals.signal_terms import MARK, terms

PASSES = 1000
LIMITS = {"itanium2": 4, "montecito": 6}
"""Of FP_OPS_RETIRED: libpfm's list of events; Montecito manual table 4-4."""

TWO_FPMA = [
    open_bundle("MFI", "", "fpma.s0 f10=f6,f7,f8", ""),
    open_bundle("MFI", "", "fpma.s0 f11=f6,f7,f8", ""),
    "nop.m 0",
]
"""Two parallel multiplications with additions, of four operations each, in one cycle."""
TWO_FMA = [
    open_bundle("MFI", "", "fma.d.s0 f10=f6,f7,f8", ""),
    open_bundle("MFI", "", "fma.d.s0 f11=f6,f7,f8", ""),
    "nop.m 0",
]
ONE_FPMA = ["fpma.s0 f10=f6,f7,f8", "fpma.s0 f11=f6,f7,f8"]


def program(folder: Path, body: list[Line], begin: tuple[Line, ...] = ()) -> list[str]:
    return [str(write_program(folder / "program", [*begin, *loop(body, PASSES), *EXIT], bytes(64)))]


def count(command: Any, pmu: str, event: str, **options: Any) -> int:
    found = pfmon.run(command, pmu=pmu, events=[event], capture=True, **options)
    (one,) = found.counts
    return int(one.value)


@pytest.mark.parametrize("pmu", LIMITS)
def test_of_a_cycles_operations_those_beyond_the_maximum_are_lost(pmu: str, tmp_path: Path) -> None:
    assert count(program(tmp_path, TWO_FPMA), pmu, "fp_ops_retired") == LIMITS[pmu] * PASSES


@pytest.mark.parametrize("pmu", LIMITS)
@pytest.mark.parametrize(("body", "operations"), [(TWO_FMA, 4), (ONE_FPMA, 8)])
def test_cycles_within_the_maximum_count_in_full(pmu: str, body: list[Line], operations: int, tmp_path: Path) -> None:
    assert count(program(tmp_path, body), pmu, "fp_ops_retired") == operations * PASSES


@pytest.mark.parametrize(("pmu", "threshold", "cycles"), [("montecito", 5, PASSES), ("itanium2", 3, PASSES)])
def test_thresholds_see_the_limited_value(pmu: str, threshold: int, cycles: int, tmp_path: Path) -> None:
    """A cycle with eight operations is one with more than five, and none with more than six."""
    command = program(tmp_path, TWO_FPMA)
    assert count(command, pmu, "fp_ops_retired", event_thresholds=[threshold]) == cycles
    with pytest.raises(pfmon.PfmonError):
        count(command, pmu, "fp_ops_retired", event_thresholds=[threshold + 1])


def test_totals_samples_and_recordings_agree_on_the_limit(tmp_path: Path) -> None:
    command, record = program(tmp_path, TWO_FPMA), tmp_path / "record"
    whole = pfmon.record(record, command, pmu="montecito", events=["fp_ops_retired"], capture=True).counts[0].value
    assert pfmon.replay(record, pmu="montecito", events=["fp_ops_retired"]).counts[0].value == whole == 6 * PASSES
    sampled = pfmon.run(command, pmu="montecito", events=["fp_ops_retired"], long_smpl_periods=[60], capture=True)
    assert len(sampled.samples) == whole // 60


def test_functions_have_what_is_left_of_their_cycles(tmp_path: Path) -> None:
    """The second of two fpma in a cycle loses the excess: of eight operations six count, four of the first."""
    size = 16 * 8
    path = write_program(
        tmp_path / "named", [*loop(TWO_FPMA, PASSES), *EXIT], bytes(64), symbols({"work": (TEXT, size)})
    )
    found = pfmon.run([str(path)], pmu="montecito", events=["fp_ops_retired"], annotate="work", capture=True)
    assert found.counts[0].value == 6 * PASSES
    work = found.to_dict()["profile"]["annotated"]
    counts = [one["counts"] for one in work["instructions"] if one["text"].startswith("fpma")]
    assert counts == [[4 * PASSES], [2 * PASSES]]


@pytest.mark.parametrize("pmu", LIMITS)
def test_matches_of_data_breakpoints_are_those_of_the_data_range(pmu: str, tmp_path: Path) -> None:
    """Montecito manual section 4.9, table 4-33: one a cycle. A pass has two accesses in a cycle and one in another that
    are in the range, and one that is not."""
    body = [
        open_bundle("MMI", "ld8 r10=[r20]", "ld8 r11=[r21]", ""),
        "nop.m 0",
        "st8 [r20]=r0",
        "ld8 r12=[r22]",
    ]
    begin = (f"movl r20={DATA}", f"movl r21={DATA + 8}", f"movl r22={DATA + 48}")
    command = program(tmp_path, body, begin)
    event, inside = "data_debug_register_matches", (DATA, DATA + 16)
    assert count(command, pmu, event, drange=inside) == 2 * PASSES
    assert count(command, pmu, event) == 0
    assert count(command, pmu, "data_references_set0", drange=inside) == 3 * PASSES
    record = tmp_path / "record"
    pfmon.record(record, command, pmu=pmu, events=[event], drange=inside, capture=True)
    assert pfmon.replay(record, pmu=pmu, events=[event], drange=inside).counts[0].value == 2 * PASSES
    sampled = pfmon.run(command, pmu=pmu, events=[event], drange=inside, capture=True, long_smpl_periods=[50])
    assert len(sampled.samples) == 2 * PASSES // 50


@each("pmu", LIMITS)
@each("name", ["epic", "nbody", "queens", "strings"])
def test_no_other_event_of_instructions_adds_more_in_a_cycle(pmu: str, name: str) -> None:
    """What retires together, and how its branches were predicted: as much with the maximum as without it."""
    machine, guest = run_with_guest(name, pmu)
    events = [
        event
        for event in get(pmu).events
        if (event.signal in terms() or event.signal.startswith("branch")) and event.signal not in POSSIBLE_INCREMENTS
    ]
    looks = [
        look._replace(most=most, divided=True)
        for event in events
        for look in [query_of(event.signal, 1, False, None)._replace(threshold=0)]
        for most in (event.max_increment, 1 << 30)
        if look.way == QueryKind.SUMS
    ]
    increments = Increments([FilteredSignal(look.signal, InstructionFilter(), False) for look in looks])
    sink = CountAccumulator(len(looks))
    MachineTotals(machine, looks, increments, guest.table, 2).add(sink)
    totals = sink.totals()
    assert len(looks) > 60 and sum(totals)
    assert totals[::2] == totals[1::2]


ALONE = ["ld8.c.clr r10=[r20]", "ld8.c.clr r11=[r20]"]
TOGETHER = [open_bundle("MMI", "ld8.c.clr r10=[r20]", "ld8.c.clr r11=[r20]", ""), "nop.m 0"]
OF_BOTH_KINDS = [open_bundle("MMI", "ld8.c.clr r10=[r20]", "ldfd.c.clr f10=[r20]", ""), "nop.m 0"]
CHECKS = {"itanium": "alat_inst_failed_chka_ldc", "itanium2": "inst_failed_chka_ldc_alat"}


@pytest.mark.parametrize(("pmu", "most"), [("itanium", 2), ("itanium2", 1), ("montecito", 1)])
def test_failed_checks_of_a_cycle_count_up_to_the_maximum(pmu: str, most: int, tmp_path: Path) -> None:
    """Two fail in a cycle: Itanium's maximum is two, the others' is one (libpfm's list, Montecito manual table 4-4)."""
    begin = (f"movl r20={DATA}",)
    event = CHECKS.get(pmu, "inst_failed_chka_ldc_alat")
    for body, all_, int_, fp in ((ALONE, 2, 2, 0), (TOGETHER, most, most, 0), (OF_BOTH_KINDS, most, 1, 1)):
        command = program(tmp_path, body, begin)
        found = [count(command, pmu, f"{event}_{what}") for what in ("all", "int", "fp")]
        assert found == [PASSES * one for one in (all_, int_, fp)]


TINY = ("movl r9=0x0080000000800000", "setf.sig f6=r9", "movl r9=0x3f0000003f000000", "setf.sig f7=r9")
"""The least normal number of single precision, and a half: their product is tiny."""
FLUSHES = ("fsetc.s0 0x7f,1", "nop.m 0")
"""The first bundle of the loop remains the first of a pair, which is fetched together."""
TWO_PRODUCTS = [
    open_bundle("MFI", "", "fpma.s0 f10=f6,f7,f0", ""),
    open_bundle("MFI", "", "fpma.s0 f11=f6,f7,f0", ""),
    "nop.m 0",
]
ONE_PRODUCT = ["fpma.s0 f10=f6,f7,f0", "fpma.s0 f11=f6,f7,f0"]


@pytest.mark.parametrize(("begin", "real"), [((*TINY, *FLUSHES), 1), (TINY, 0)])
def test_results_flushed_to_zero_count_up_to_two_a_cycle(begin: tuple[Line, ...], real: int, tmp_path: Path) -> None:
    """Montecito manual table 4-4. Each parallel operation has two tiny results; Itanium 2 counts flushes alone."""
    for body, results in ((TWO_PRODUCTS, 2), (ONE_PRODUCT, 4)):
        command = program(tmp_path, body, begin)
        assert count(command, "montecito", "fp_flush_to_zero_ftz_poss") == results * PASSES
        assert count(command, "montecito", "fp_flush_to_zero_ftz_real") == results * PASSES * real
        assert count(command, "itanium2", "fp_flush_to_zero") == results * PASSES * real


def test_flushes_in_samples_and_recordings_are_limited_too(tmp_path: Path) -> None:
    command, record = program(tmp_path, TWO_PRODUCTS, (*TINY, *FLUSHES)), tmp_path / "record"
    event = "fp_flush_to_zero_ftz_real"
    whole = pfmon.record(record, command, pmu="montecito", events=[event], capture=True).counts[0].value
    assert pfmon.replay(record, pmu="montecito", events=[event]).counts[0].value == whole == 2 * PASSES
    sampled = pfmon.run(command, pmu="montecito", events=[event], long_smpl_periods=[50], capture=True)
    assert len(sampled.samples) == 2 * PASSES // 50


MARKS_OF_A_CYCLE = {
    "alat_capacity_miss": 2,  # loads
    "data_debug_register_matches": 4,
    "data_references": 2,
    "fp_flush_to_zero": 4,  # results of two parallel operations
    "inst_failed_chka_ldc": 2,
    "loads_retired": 2,
    "misaligned_loads_retired": 2,
    "misaligned_stores_retired": 2,
    "rse_references": 2,  # registers that the register stack engine moves
    "spec_loads_natted": 2,
    "stores_retired": 2,
}
"""What the marks of a cycle can add to an event on machines that make two loads and two stores in a cycle."""


@pytest.mark.parametrize("pmu", ["itanium", "itanium2", "montecito"])
def test_every_event_of_marks_is_cut_at_its_maximum_or_cannot_exceed_it(pmu: str) -> None:
    seen = 0
    for event in get(pmu).events:
        if event.fidelity == "unmodelled" or not any(term.source == MARK for term in terms().get(event.signal, ())):
            continue
        seen += 1
        most = MARKS_OF_A_CYCLE[event.signal.split(".")[0]]
        assert most <= event.max_increment or limit(event) == event.max_increment, event.name
    assert seen >= 10
