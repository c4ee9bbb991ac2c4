"""i386 programs on the Itaniums' PMUs: PSR.is is 1 (pfmon on Itanium 2, section 7)."""

from typing import Any

import pytest
from grids import each, first_quick
from guests import SMALL
from host_programs import needs
from qemu_guests import EXAMPLES

import pfmon
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu

pytestmark = needs("qemu-i386")

COMMAND = [str(EXAMPLES / "i386" / "sort"), *SMALL["sort"]]
NATIVE = [str(EXAMPLES / "ia64" / "sort"), *SMALL["sort"]]


def counts(events: str, command: list[str] = COMMAND, **options: Any) -> list[int]:
    """What events come to."""
    return [count.value for count in pfmon.run(command, events=events, stdout=pfmon.DEVNULL, **options).counts]


def test_each_set_counts_where_its_code_executes() -> None:
    """The two runs of section 7.3: the one counter of an IA-64 program, the other one of an IA-32 program."""
    ia32, ia64 = counts("l2_misses,l2_misses", insn_sets="ia32,ia64")
    assert ia32 > 0 and ia64 == 0
    ia32, ia64 = counts("l2_misses,l2_misses", NATIVE, insn_sets="ia32,ia64")
    assert ia32 == 0 and ia64 > 0


def test_a_set_that_is_not_given_is_both() -> None:
    both, ia64 = counts("l2_misses,l2_misses", insn_sets=",ia64")
    ia32, rest = counts("l2_misses,l2_misses", insn_sets="ia32")
    assert both == ia32 == rest > 0 and ia64 == 0


@pytest.mark.parametrize("pmu", ["itanium", "itanium2"])
def test_instructions_are_of_one_set_or_the_other(pmu: str) -> None:
    (retired,) = counts("INSTRUCTIONS_RETIRED")
    assert counts("ia32_inst_retired,ia64_inst_retired", pmu=pmu) == [retired, 0]
    assert counts("ia32_inst_retired", NATIVE, pmu=pmu) == [0]


def test_options_for_one_set_hold_for_all_events() -> None:
    assert counts("l2_misses,ia32_inst_retired", ia64=True) == [0, 0]
    assert all(counts("l2_misses,ia32_inst_retired", ia32=True))


@pytest.mark.parametrize("option", [{"irange": "main"}, {"drange": "0x8040000-0x8050000"}, {"opc_match8": "br.ret"}])
def test_what_singles_out_ia64_code_counts_nothing_else(option: dict[str, str]) -> None:
    """Section 7.1: they are accepted, and the results are of the IA-64 execution alone."""
    assert counts("l2_misses", pmu="itanium2", **option) == [0]


@pytest.mark.parametrize("option", [{"irange": "main"}, {"drange": "0x8040000-0x8050000"}])
def test_they_do_not_go_with_ia32_alone(option: dict[str, str]) -> None:
    with pytest.raises(PfmonError, match="ia32_only_excludes_ia64_features"):
        counts("l2_misses", ia32=True, **option)


@each(
    ("events", "options", "text"),
    [
        ("loads_retired", {"pmu": "itanium2"}, "not functional in IA-32 code; .* there count .*L2_MISSES"),
        ("cpu_cycles", {"pmu": "itanium2", "levels": "k"}, "a privilege mask without level 3"),
        ("cpu_cycles,cpu_cycles", {"pmu": "itanium2", "priv_levels": "u,k"}, "a privilege mask without level 3"),
        ("data_ear_alat", {"pmu": "itanium2"}, "DATA_EAR_ALAT is not functional in IA-32 code"),
        ("l2_misses", {"pmu": "montecito"}, "this is an i386 program"),
        ("cpu_cycles", {"machine": "itanium2"}, "does not run programs of this instruction set"),
    ],
)
def test_what_does_not_go_is_said_in_a_line(events: str, options: dict[str, str], text: str) -> None:
    with pytest.raises(PfmonError, match=text) as caught:
        counts(events, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pmu", ["itanium", "itanium2"])
def test_the_register_file_is_in_ia32_mode(pmu: str) -> None:
    model = get(pmu)
    events = tuple(EventRequest("CPU_CYCLES", ism=ism) for ism in (0, 1, 2))
    counting = ProgrammedPmu(model, Request(events, ia32_program=True))
    registers = counting.counters.registers
    assert registers.field("psr", "is") == 1
    assert [registers.enabled(one.pmd) for one in counting.programming.monitors] == [True, True, False]


def test_samples_are_taken_of_ia32_code() -> None:
    ran = pfmon.run(COMMAND, events="ia32_inst_retired", ia32=True, stdout=pfmon.DEVNULL, long_smpl_periods=1000)
    assert len(ran.samples) == ran.retired // 1000 > 2


CHASE = [str(EXAMPLES / "i386" / "chase"), "50"]
LOAD = {"itanium": "L1D_READ_MISSES_RETIRED", "itanium2": "L1D_READ_MISSES_ALL"}
WALK = {"itanium": "DTLB_MISSES", "itanium2": "L2DTLB_MISSES"}


@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2"]))
def test_the_data_ear_captures_misses_of_ia32_code(pmu: str) -> None:
    """Itanium manual, section 6.1.3.3. Loads that wait for each other do not overlap: Itanium captures each."""
    captured, missed = counts(f"data_ear_cache_lat4,{LOAD[pmu]}", CHASE, pmu=pmu)
    assert captured == missed if pmu == "itanium" else 0 < captured <= missed
    assert counts("data_ear_events", CHASE, pmu=pmu) == [captured]
    (late,) = counts("data_ear_cache_lat64", CHASE, pmu=pmu)
    assert 0 < late < captured


@pytest.mark.parametrize("pmu", ["itanium", "itanium2"])
def test_the_data_ear_captures_what_the_walker_serves(pmu: str) -> None:
    captured, walked = counts(f"data_ear_tlb_vhpt,{WALK[pmu]}", CHASE, pmu=pmu)
    assert captured == walked > 0


@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2"]))
def test_what_the_ears_capture_of_one_set_is_counted_for_it(pmu: str) -> None:
    event = "data_ear_cache_lat4"
    (both,) = counts(event, CHASE, pmu=pmu)
    assert counts(f"{event},{event},{event}", CHASE, pmu=pmu, insn_sets="ia32,ia64,both") == [both, 0, both]


@pytest.mark.slow
def test_samples_have_what_the_data_ear_holds() -> None:
    """Each sample is of the load that missed, which a run without an EAR samples at the same instruction."""
    options: dict[str, Any] = {"pmu": "itanium", "long_smpl_periods": 10, "stdout": pfmon.DEVNULL}
    run = pfmon.run(CHASE, events="data_ear_cache_lat4", **options)
    misses = pfmon.run(CHASE, events=LOAD["itanium"], **options)
    assert [(one.iip, one.stamp) for one in run.samples] == [(one.iip, one.stamp) for one in misses.samples]
    for sample in run.samples:
        held = dict(sample.pmds)
        assert held[17] == sample.iip & -16 | 1  # valid; there are no slots
        assert held[3] & 0xFFF >= 4
    assert len({dict(one.pmds)[2] for one in run.samples}) > 100


@pytest.mark.slow
def test_code_that_misses_is_captured() -> None:
    captured, missed = counts("instruction_ear_cache_lat4,instruction_ear_events", CHASE, pmu="itanium")
    assert captured == missed > 0
    run = pfmon.run(
        CHASE, events="instruction_ear_cache_lat4", pmu="itanium", long_smpl_periods=1, stdout=pfmon.DEVNULL
    )
    for sample in run.samples:  # the line that was fetched is the one of the block's beginning, or one behind it
        line = dict(sample.pmds)[0] & -32
        assert -32 < line - sample.iip < 4096


@pytest.mark.parametrize("option", [{}, {"ia32": True, "ia64": True}])
def test_the_branch_buffer_is_accepted_for_both_sets(option: dict[str, bool]) -> None:
    """Pfmon on Itanium 2, section 7.1: the results are of the IA-64 execution alone; that is said."""
    run = pfmon.run(CHASE, events="branch_event,l2_misses", pmu="itanium2", stdout=pfmon.DEVNULL, **option)
    branches, misses = (count.value for count in run.counts)
    assert branches == 0 and misses
    assert any(note.startswith("BRANCH_EVENT, as it is programmed, counts IA-64 code alone") for note in run.notes)
    with pytest.raises(PfmonError, match="branch buffer: not available"):
        counts("branch_event", CHASE, pmu="itanium2", ia32=True)


def test_a_qualified_event_that_counts_nothing_is_said() -> None:
    run = pfmon.run(CHASE, events="l2_misses", pmu="itanium2", irange="main", stdout=pfmon.DEVNULL)
    assert run.counts[0].value == 0 and any(note.startswith("L2_MISSES, as it is programmed") for note in run.notes)


def test_events_of_the_other_instruction_set_are_said() -> None:
    """Each counter of section 7.3 that counts 0 has a note; those that count have none."""
    note = "the program executes {} code only; {} counts {} code".format
    of_ia32 = note("IA-64", "L2_MISSES", "IA-32")
    of_ia64 = note("IA-32", "L2_MISSES", "IA-64")
    options: dict[str, Any] = {"pmu": "itanium2", "stdout": pfmon.DEVNULL}
    for command, said in ((NATIVE, of_ia32), (COMMAND, of_ia64)):
        run = pfmon.run(command, events="l2_misses,l2_misses", insn_sets="ia32,ia64", **options)
        assert run.notes == (said,)
    assert pfmon.run(NATIVE, events="l2_misses", ia32=True, **options).notes == (of_ia32,)
    assert pfmon.run(COMMAND, events="l2_misses", ia64=True, **options).notes == (of_ia64,)
    retired = pfmon.run(NATIVE, events="ia32_inst_retired", **options)
    assert retired.notes == (note("IA-64", "IA32_INST_RETIRED", "IA-32"),)
    assert not pfmon.run(NATIVE, events="l2_misses", ia32=True, ia64=True, **options).notes
