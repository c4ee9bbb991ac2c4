"""i386 programs on the Itaniums' PMUs: PSR.is is 1 (pfmon on Itanium 2, section 7)."""

from typing import Any

import pytest
from guests import SMALL
from host_programs import needs
from qemu_guests import EXAMPLES

import pfmon
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.request import EventRequest, Request
from pfmon.session.counting import Counting

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


@pytest.mark.parametrize(
    ("events", "options", "text"),
    [
        ("loads_retired", {"pmu": "itanium2"}, "not functional in IA-32 code; .* there count .*L2_MISSES"),
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
    counting = Counting(model, Request(events, ia32_program=True))
    registers = counting.counters.registers
    assert registers.field("psr", "is") == 1
    assert [registers.enabled(one.pmd) for one in counting.programming.monitors] == [True, True, False]


def test_samples_are_taken_of_ia32_code() -> None:
    ran = pfmon.run(COMMAND, events="ia32_inst_retired", ia32=True, stdout=pfmon.DEVNULL, long_smpl_periods=1000)
    assert len(ran.samples) == ran.retired // 1000 > 2
