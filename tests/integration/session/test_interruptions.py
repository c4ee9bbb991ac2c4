"""Interruptions of a program: changes of the privilege level, floating-point traps (Montecito manual 4.5, 4.9)."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from grids import each
from guests import guest, quiet
from ia64_program import DATA, EXIT, TEXT, write_program

import pfmon
from pfmon.counting._counting import Tally
from pfmon.machine._machine import Machine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import Recorder
from pfmon.stream.marks import Mark

CHANGES = {"itanium": "cpu_cpl_changes", "itanium2": "cpu_cpl_changes", "montecito": "cpu_cpl_changes_all"}


def counted(command: Any, pmu: str, event: str, **options: Any) -> int:
    found = pfmon.run(command, pmu=pmu, events=[event], capture=True, **options)
    (one,) = found.counts
    return int(one.value)


def touching(folder: Path, pages: int) -> list[str]:
    """Stores to so many pages of the stack's area, each for the first time."""
    stores = [line for page in range(pages) for line in ("st8 [r20]=r0", "add r20=r21,r20")]
    begin = ["adds r20=0,r12", f"movl r21={-(1 << 16) & (1 << 64) - 1}"]
    return [str(write_program(folder / f"touches{pages}", [*begin, *stores, *EXIT]))]


@pytest.mark.parametrize("pmu", CHANGES)
def test_each_page_that_is_put_in_changes_the_level_twice(pmu: str, tmp_path: Path) -> None:
    few, many = (counted(touching(tmp_path, pages), pmu, CHANGES[pmu]) for pages in (3, 8))
    # A page is 64 KB or less: each store touches one of its own.
    assert many - few == 2 * 5


@pytest.mark.parametrize("pmu", CHANGES)
def test_speculative_loads_that_fault_change_the_level_twice(pmu: str, tmp_path: Path) -> None:
    """Linux has a speculative load without a translation fault, and runs it again with PSR.ed set."""
    loads = [[*(f"movl r20={address}" for address in (0x100, DATA)), *["ld8.s r10=[r0]"] * times] for times in (0, 4)]
    none, four = (
        counted([str(write_program(tmp_path / f"loads{len(body)}", [*body, *EXIT]))], pmu, CHANGES[pmu])
        for body in loads
    )
    assert four - none == 2 * 4


@pytest.mark.parametrize("pmu", CHANGES)
def test_time_at_level_0_is_that_of_the_changes_to_it(pmu: str, tmp_path: Path) -> None:
    """Each entry has its figure: all are made the same, so the cycles at level 0 are entries times it."""
    figures = {f"kernel.{what}": 1000 for what in ("system_call", "fault", "task_switch")} | {"vhpt.software": 1000}
    command = touching(tmp_path, 20)
    cycles = "cpu_op_cycles_all" if pmu == "montecito" else "cpu_cycles"
    changes = counted(command, pmu, CHANGES[pmu], set=figures)
    kernel = counted(command, pmu, cycles, set=figures, levels="k")
    assert kernel == 1000 * changes // 2 > 20_000


def test_changes_overflow_where_they_happen(tmp_path: Path) -> None:
    command = touching(tmp_path, 20)
    whole = counted(command, "montecito", CHANGES["montecito"])
    sampled = pfmon.run(command, pmu="montecito", events=[CHANGES["montecito"]], long_smpl_periods=[2], capture=True)
    assert len(sampled.samples) == whole // 2
    record = tmp_path / "record"
    pfmon.record(record, command, pmu="montecito", events=["ia64_inst_retired"], capture=True)
    replayed = pfmon.replay(record, pmu="montecito", events=[CHANGES["montecito"]])
    assert replayed.counts[0].value == whole


@pytest.mark.parametrize("pmu", ["itanium2", "montecito"])
@pytest.mark.parametrize(("traps", "wanted"), [(False, 0), (True, 1)])
def test_floating_point_traps_are_stalls_with_a_trap(pmu: str, traps: bool, wanted: int, tmp_path: Path) -> None:
    """Montecito manual table 4-4. One divided by zero, in s0; FPSR.traps.zd (bit 2) disables the fault."""
    lines = [
        f"movl r10={0x9804C0270033F & ~(4 if traps else 0)}", "mov.m ar.fpsr=r10", "frcpa.s0 f10,p6=f1,f0", *EXIT
    ]  # fmt: skip
    command = [str(write_program(tmp_path / "divides", lines))]
    assert counted(command, pmu, "fp_true_sirstall") == wanted
    assert counted(command, pmu, "fp_true_sirstall", irange=(TEXT, TEXT + 0x1000)) == wanted
    assert counted(command, pmu, "fp_true_sirstall", irange=(TEXT + 0x1000, TEXT + 0x2000)) == 0


@each("machine", CHANGES)
@each(("name", "arguments"), [("hashmap", ["40"]), ("epic", []), ("stream", ["64", "2"])])
def test_changes_are_those_of_the_stream_and_of_the_pages(machine: str, name: str, arguments: list[str]) -> None:
    """What marks say, in the stream alone, and the translations that the operating system put in."""
    program, log = guest(name, arguments, trace=True), Recorder()
    with quiet():
        program.run(log)
    program.close()
    found, tally = Machine(load(machine), program.table), Tally(program.table, traced=True)
    log.replay(tally)
    log.replay(found)
    found.finish()
    happened: Counter[int] = Counter()
    for (_, _, occurrence, _), times in found.occurrences().items():
        happened[occurrence] += times
    filled = happened[Occurrence.DTLB_FILLED] + happened[Occurrence.ITLB_FILLED]
    marks = sum(tally.marks(kind).marks for kind in (Mark.SYSTEM_CALL, Mark.FAULT))
    deferred = tally.marks(Mark.DEFERRED).by_value[1]
    assert filled and marks
    assert happened[Occurrence.LEVEL_CHANGED] == 2 * (filled + marks + deferred)
