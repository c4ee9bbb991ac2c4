"""Runs of PowerPC programs on IBM's PMUs, from options to results."""

from pathlib import Path
from typing import Any

import pytest
from grids import each, first_quick
from ppc_programs import DATA, PPC_ASSEMBLER, QEMU_PPC, TARGETS, executed, ppc_program

import pfmon
from pfmon import pmu
from pfmon.errors import PfmonError

pytestmark = QEMU_PPC

QUEENS = str(Path(__file__).parents[3] / "examples" / "ppc64" / "queens")
X86 = QUEENS.replace("ppc64", "x86_64")
INSTRUCTIONS = "instructions_completed"

COUNTED = f"""
        lis 9, {DATA >> 16}
        li 4, 3
        mtctr 4
1:      sync
        eieio
        icbi 0, 9
        lfd 1, 0(9)
        fadd 2, 1, 1
        fcmpo 0, 1, 2
        stfd 2, 8(9)
        lwz 5, 0(9)
        .long 0x7c842614         # addo 4, 4, 4
        bdnz 1b
        sync
        li 0, 1
        li 3, 0
        sc
"""
HANDS = {
    INSTRUCTIONS: 3 + 3 * 10 + 4,
    "branches_completed": 3,
    "sync_completed": 4,
    "eieio_completed": 3,
    "icbi_instructions": 3,
    "loads_completed": 6,
    "fp_instructions_completed": 6,
    "integer_instructions_completed": 3 + 3 + 2,
}
"""How often each of the events that architecture decides happens in it."""


def counts(command: str | Path, events: str, **options: Any) -> dict[str, int]:
    done = pfmon.run([str(command)], events=events, stdout=pfmon.DEVNULL, **options)
    return {count.name.lower(): count.value for count in done.counts}


@pytest.mark.slow
@PPC_ASSEMBLER
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("unit", ["ppc604e", "ibm1994"])
def test_events_count_what_a_program_does(unit: str, name: str, tmp_path: Path) -> None:
    program = ppc_program(tmp_path, COUNTED, TARGETS[name])
    assert {event: counts(program, event, pmu=unit)[event] for event in HANDS} == HANDS


UNITS = f"""
        lis 9, {DATA >> 16}
        li 4, 7
        mtctr 4
1:      mullw 5, 4, 4
        divw 6, 5, 4
        mflr 7
        lwarx 5, 0, 9
        stwcx. 5, 0, 9
        dcbt 0, 9
        dcbf 0, 9
        lfd 1, 0(9)
        fadd 2, 1, 1
        isync
        mtxer 4
        sync
        bdnz 1b
        li 0, 1
        li 3, 0
        sc
"""
OF_UNITS = {
    "instructions_dispatched": 3 + 7 * 13 + 3,
    **dict.fromkeys(("bpu_dispatched", "bpu_results"), 7),
    **dict.fromkeys(("fpu_dispatched", "fpu_results"), 7),
    **dict.fromkeys(("lsu_dispatched", "lsu_results"), 7 * 6),
    "mciu_results": 1 + 7 * 4,
    "mfspr_dispatched": 7,
    "mtspr_dispatched": 1 + 7,
    "reservations_requested": 7,
    "pipeline_flushes": 7 * 2 + 1,
}
"""How often what is dispatched happens in it, of which all retires."""
MISSES = ("dcache_misses", "icache_misses", "dtlb_misses", "itlb_misses", "branches_mispredicted", "load_miss_cycles")
FROM_THE_MACHINE = {*MISSES, "processor_cycles"}


@PPC_ASSEMBLER
@pytest.mark.parametrize("unit", first_quick(["ppc604e", "ibm1994"]))
def test_units_get_what_is_theirs(unit: str, tmp_path: Path) -> None:
    program = ppc_program(tmp_path, UNITS)
    assert {event: counts(program, event, pmu=unit)[event] for event in OF_UNITS} == OF_UNITS


def test_every_event_that_is_modelled_is_one_of_these() -> None:
    for unit in ("ppc604e", "ibm1994"):
        modelled = {event.name.lower() for event in pmu.get(unit).events if event.fidelity == "modelled"}
        assert modelled == set(OF_UNITS) | FROM_THE_MACHINE


@pytest.mark.slow
def test_every_event_of_the_machine_happens_in_a_program() -> None:
    command = str(Path(QUEENS).with_name("lz"))
    for event in FROM_THE_MACHINE:
        assert counts(command, event)[event] > 0, event


def test_every_event_that_architecture_decides_is_counted() -> None:
    for unit in ("ppc604e", "ibm1994"):
        assert {event.name.lower() for event in pmu.get(unit).events if event.fidelity == "exact"} == set(HANDS)


def test_a_powerpc_program_is_counted_on_the_604e_unless_one_says() -> None:
    assert pfmon.run([QUEENS, "4"], events=INSTRUCTIONS, stdout=pfmon.DEVNULL).pmu == "ppc604e"
    together = counts(QUEENS, f"{INSTRUCTIONS},branches_completed")
    assert together == {**counts(QUEENS, INSTRUCTIONS), **counts(QUEENS, "branches_completed")}


@each(
    ("events", "options", "text"),
    [
        ("snoop_requests", {}, "no other bus agent"),
        (INSTRUCTIONS, {"levels": "k"}, "level 3"),
        (INSTRUCTIONS, {"controls": {"dis": 1, "dmr": 1}}, "--controls=dis,dmr: nothing counts"),
        (INSTRUCTIONS, {"irange": "main"}, "no code ranges"),
        (INSTRUCTIONS, {"insecure": True}, "--insecure applies to the user mask"),
        (INSTRUCTIONS, {"pmu": "itanium2"}, "--pmu=itanium2: .* PowerPC program; PMUs for it: ppc604e, ibm1994"),
        ("instructions_retired", {}, "unknown ppc604e event"),
    ],
)
def test_what_does_not_go_is_refused_in_one_line(events: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises(PfmonError, match=text) as caught:
        counts(QUEENS, events, **options)
    assert "\n" not in str(caught.value)


def test_controls_without_an_interrupt_change_nothing() -> None:
    plain = counts(QUEENS, INSTRUCTIONS)
    assert counts(QUEENS, INSTRUCTIONS, controls={"threshold": 9, "dms": 1, "rtcselect": 3}) == plain


def test_samples_have_their_address_and_the_calls(tmp_path: Path) -> None:
    """Against qemu's log: bl with LK calls, blr returns."""
    places: list[tuple[int, tuple[int, ...]]] = []
    calls: list[int] = []
    for block in executed([QUEENS, "4"], tmp_path):
        for address, word in block:
            places.append((address, tuple(reversed(calls))))
            if word >> 26 == 18 and word & 1:
                calls.append(address)
            elif word == 0x4E800020:
                calls.pop()
    command, options = [QUEENS, "4"], {"long_smpl_periods": 7, "smpl_stacks": True}
    done = pfmon.run(command, events=INSTRUCTIONS, stdout=pfmon.DEVNULL, **options)
    assert [(one.iip, one.calls) for one in done.samples] == places[6::7]
    assert max(len(called) for _, called in places) == 6  # main, and place for 0 to 4 queens


def test_a_recording_is_counted_on_the_programs_pmu(tmp_path: Path) -> None:
    path = tmp_path / "ppc.rec"
    pfmon.record(path, [QUEENS], stdout=pfmon.DEVNULL)
    again = pfmon.replay(path, events=f"{INSTRUCTIONS},branches_completed")
    assert again.pmu == "ppc604e"
    assert {one.name.lower(): one.value for one in again.counts} == counts(QUEENS, f"{INSTRUCTIONS},branches_completed")


@pytest.mark.parametrize("unit", ["intel_v1", "intel_v2"])
def test_a_powerpc_program_does_not_run_on_intels_pmus(unit: str) -> None:
    with pytest.raises(PfmonError, match="PowerPC program; PMUs for it: ppc604e, ibm1994"):
        counts(QUEENS, "instructions_retired", pmu=unit)
    with pytest.raises(PfmonError, match=r"--pmu=ppc604e: .* x86-64 program"):
        counts(X86, INSTRUCTIONS, pmu="ppc604e")
