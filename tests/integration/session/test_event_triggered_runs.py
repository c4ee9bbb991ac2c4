"""Event-triggered counting in runs: counters of IBM's PMUs that wait for PMC1 or the interrupt, stop, and interrupt."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ppc_programs import DATA, PPC_ASSEMBLER, QEMU_PPC64, executed, ppc_program

import pfmon
from pfmon.errors import PfmonError

pytestmark = [
    pytest.mark.slow,
    QEMU_PPC64,
]

EXAMPLES = Path(__file__).parents[3] / "examples" / "ppc64"
QUEENS = [str(EXAMPLES / "queens"), "4"]
INSTRUCTIONS, BRANCHES, LOADS = "INSTRUCTIONS_COMPLETED", "BRANCHES_COMPLETED", "LOADS_COMPLETED"
MISSES, CYCLES, INTEGER = "DCACHE_MISSES", "PROCESSOR_CYCLES", "INTEGER_INSTRUCTIONS_COMPLETED"
NEGATIVE = 1 << 31
BRANCH_OPCODES = (16, 18)

WAITING = {"ppc604e": {"pmctrigger": 1}, "ibm1994": {"pmc2countctl": 1, "pmc3countctl": 1}}
"""PMC2 and PMC3 wait until PMC1 is negative (or, on the 604e, for the interrupt)."""

DISCLOSED = {
    "ppc604e": {"enint": 1, "discount": 1, "pmcintcontrol": 1, "pmctrigger": 1},
    "ibm1994": {
        "enint": 1,
        "discount": 1,
        "pmc1intcontrol": 0,
        "pmc2intcontrol": 1,
        "pmc3intcontrol": 1,
        "pmc2countctl": 2,
        "pmc3countctl": 1,
    },
}
"""The disclosure's example, and the same on the 604e."""


def ran(command: list[str], events: list[str], unit: str = "ppc604e", **options: Any) -> Any:
    return pfmon.run(command, events=events, pmu=unit, stdout=pfmon.DEVNULL, **options)


def values(done: Any) -> list[int]:
    return [count.value for count in done.counts]


@cache
def branches() -> list[bool]:
    """Whether each instruction of the run is a branch, as qemu's log has it: b, bc, bclr, bcctr."""
    with TemporaryDirectory() as directory:
        words = [word for block in executed(QUEENS, Path(directory)) for _, word in block]
    return [word >> 26 in BRANCH_OPCODES or (word >> 26 == 19 and word >> 1 & 1023 in (16, 528)) for word in words]


# --- counters that wait for another one


@pytest.mark.parametrize("unit", WAITING)
@given(after=st.integers(1, 1000))
@examples(12)
def test_counters_begin_with_the_instruction_behind_the_trigger(unit: str, after: int) -> None:
    events, controls = [INSTRUCTIONS, BRANCHES], WAITING[unit]
    done = ran(QUEENS, events, unit, preload={"pmc1": NEGATIVE - after}, controls=controls)
    assert values(done) == [len(branches()), sum(branches()[after:])]


def test_the_counters_of_the_general_form_wait_each_for_itself() -> None:
    events, preload = [INTEGER, BRANCHES, INSTRUCTIONS, INSTRUCTIONS], {"pmc1": NEGATIVE - 100}
    _, plain, all_, same = values(ran(QUEENS, events, "ibm1994"))
    assert (plain, all_, same) == (sum(branches()), len(branches()), len(branches()))
    found = values(ran(QUEENS, events, "ibm1994", preload=preload, controls={"pmc4countctl": 1}))
    assert found[1:3] == [plain, all_] and 0 < found[3] < all_ - 100


def test_a_counter_waits_for_the_interrupt_only_if_its_control_says_so() -> None:
    """PMC3 interrupts at the 300th instruction; PMC1 is never negative."""
    events, preload = [INTEGER, BRANCHES, INSTRUCTIONS], {"pmc3": NEGATIVE - 300}
    for control, expected in ((2, sum(branches()[300:])), (1, 0), (0, sum(branches()))):
        controls = {"enint": 1, "pmc3intcontrol": 1, "pmc2countctl": control}
        assert values(ran(QUEENS, events, "ibm1994", preload=preload, controls=controls))[1] == expected


def test_a_counter_that_is_loaded_negative_triggers_at_once() -> None:
    done = ran(QUEENS, [INSTRUCTIONS, BRANCHES], preload={"pmc1": NEGATIVE}, controls={"pmctrigger": 1})
    assert values(done) == [len(branches()), sum(branches())]


def test_a_counter_that_wraps_has_its_followers_wait_again() -> None:
    """PMC1 is negative from the beginning, and 200 instructions later it is not."""
    preload, controls = {"pmc1": (1 << 32) - 200}, {"pmctrigger": 1}
    assert values(ran(QUEENS, [INSTRUCTIONS, BRANCHES], preload=preload, controls=controls)) == [
        len(branches()),
        sum(branches()[:200]),
    ]


# --- the interrupt


@given(after=st.integers(1, 900))
@examples(12)
def test_discount_stops_all_counters_with_the_interrupt(after: int) -> None:
    controls = {"enint": 1, "discount": 1, "pmc1intcontrol": 1}
    done = ran(QUEENS, [INSTRUCTIONS, BRANCHES], preload={"pmc1": NEGATIVE - after}, controls=controls)
    assert values(done) == [after, sum(branches()[:after])]
    assert any("interrupt of PMC1 at 0x1000" in note and f"instruction {after}," in note for note in done.notes)


@pytest.mark.parametrize("missing", ["enint", "discount", "pmc1intcontrol"])
def test_without_any_of_its_controls_nothing_stops(missing: str) -> None:
    controls = {name: int(name != missing) for name in ("enint", "discount", "pmc1intcontrol")}
    done = ran(QUEENS, [INSTRUCTIONS, BRANCHES], preload={"pmc1": NEGATIVE - 300}, controls=controls)
    assert values(done) == [len(branches()), sum(branches())]
    assert bool([note for note in done.notes if "interrupt" in note]) == (missing == "discount")


@given(after=st.integers(0, 900), period=st.integers(1, 60))
@examples(12)
def test_a_waiting_counter_is_sampled_from_its_trigger_on(after: int, period: int) -> None:
    """The driver loads PMC2 with its period whenever it has interrupted; PMC1 triggers and interrupts nobody."""
    preload, controls = {"pmc1": NEGATIVE - after}, {"pmc2countctl": 1}
    done = ran(
        QUEENS, [INSTRUCTIONS, BRANCHES], "ibm1994", preload=preload, controls=controls, long_smpl_periods=f",{period}"
    )
    stamps = [number for number, branch in enumerate(branches(), 1) if branch and number > after]
    assert [sample.retired for sample in done.samples] == stamps[period - 1 :: period]
    assert [sample.pmds for sample in done.samples] == [((1, stamp),) for stamp in stamps[period - 1 :: period]]
    assert values(done) == [len(branches()), len(stamps)]


@pytest.mark.parametrize("controls", [{"enint": 1}, {"discount": 1}, {"enint": 1, "pmcintcontrol": 1}])
def test_samples_are_the_same_whoever_loads_the_counters(controls: dict[str, int]) -> None:
    """With these controls a driver works on the registers, without them on the countdown; it ends every interrupt."""
    options: dict[str, Any] = {"long_smpl_periods": "7,5", "smpl_periods_random": "15:3", "smpl_stacks": True}
    plain, steered = (ran(QUEENS, [INSTRUCTIONS, BRANCHES], controls=one, **options) for one in ({}, controls))
    assert len(plain.samples) > 50
    assert list(steered.samples) == list(plain.samples)
    assert values(steered) == values(plain)


# --- with the machine's events: the disclosure's example

PASS = 43
"""Instructions of a pass of the program below, the load at their end and two behind it."""
WARM = f"""
        lis 9, {DATA >> 16}
        li 4, 5
        mtctr 4
        .p2align 5
1:      .rept 40
        nop
        .endr
        lwz 5, 0(9)
        addi 9, 9, 4096
        bdnz 1b
        li 0, 1
        li 3, 0
        sc
"""
WIDTH = 4
"""Instructions that the 604e dispatches in a cycle; an instruction's number says which one it ends."""


@PPC_ASSEMBLER
@pytest.mark.parametrize("unit", DISCLOSED)
@pytest.mark.parametrize("nop", [3, 4, 5, 22, 40])
def test_cycles_from_an_instruction_to_the_next_miss(unit: str, nop: int, tmp_path: Path) -> None:
    """In the third pass all code is there, and the load misses: the cycles between are those that instructions fill."""
    begun = len(WARM.split(".p2align")[0].strip().splitlines()) + padding(tmp_path) + 2 * PASS
    after, load = begun + nop, begun + 41
    preload = {"pmc1": NEGATIVE - after, "pmc2": NEGATIVE - 1}
    program = [str(ppc_program(tmp_path, WARM))]
    done = ran(program, [INSTRUCTIONS, MISSES, CYCLES], unit, preload=preload, controls=DISCLOSED[unit])
    assert values(done) == [load - 1, 1, (load - 1) // WIDTH - after // WIDTH]


@PPC_ASSEMBLER
def test_a_sample_of_a_miss_has_the_address_of_its_load(tmp_path: Path) -> None:
    program = [str(ppc_program(tmp_path, WARM))]
    loads = {address for block in executed(program, tmp_path) for address, word in block if word >> 26 == 32}
    samples = ran(program, [MISSES], long_smpl_periods=1).samples
    assert [sample.iip for sample in samples] == [*loads] * 5


def padding(directory: Path) -> int:
    """Nops that the assembler put before the aligned loop."""
    command = [str(ppc_program(directory, WARM))]
    return len([1 for block in executed(command, directory) for _ in block]) - 3 - 5 * PASS - 3


@pytest.mark.parametrize("after", [1000, 12345, 50000, 99999])
def test_the_next_miss_is_the_one_that_samples_tell(after: int) -> None:
    """Samples of plain counters tell every miss with the cycles up to it, and the cycles up to an instruction."""
    command = [str(EXAMPLES / "lz")]
    events = [INSTRUCTIONS, MISSES, CYCLES]
    misses = ran(command, events, long_smpl_periods=",1").samples
    at = ran(command, events, long_smpl_periods=str(after)).samples[0]
    first = next(sample for sample in misses if sample.retired > after)
    preload = {"pmc1": NEGATIVE - after, "pmc2": NEGATIVE - 1}
    done = ran(command, events, preload=preload, controls=DISCLOSED["ppc604e"])
    assert values(done) == [dict(first.pmds)[1], 1, dict(first.pmds)[3] - dict(at.pmds)[3]]
    assert f"interrupt of PMC2 at {first.iip:#x}, instruction {first.retired}, where counting stopped" in done.notes


def test_counters_without_controls_count_live_what_they_count_in_all() -> None:
    events = [INSTRUCTIONS, MISSES, CYCLES]
    command = [str(EXAMPLES / "lz")]
    assert values(ran(command, events, preload={"pmc1": 5})) == values(ran(command, events))


# --- what is refused


@each(
    ("events", "options", "text"),
    [
        ([INSTRUCTIONS], {"preload": {"pmc2": 1}}, "--preload: PMC2 counts no event; PMC1 do"),
        ([INSTRUCTIONS], {"preload": {"pmc1": 1 << 32}}, "a whole number from 0 to 4294967295"),
        ([INSTRUCTIONS], {"controls": {"pmc1select": 3}}, "-e says which event"),
        ([INSTRUCTIONS], {"controls": {"intonbittrans": 1}}, "time base"),
        ([INSTRUCTIONS], {"unit": "ibm1994", "controls": {"pmc2countctl": 3}}, "pmc2countctl=3: 0 counts always"),
        ([INSTRUCTIONS], {"controls": {"pmc1intcontrol": 0}, "long_smpl_periods": 5}, "pmc1intcontrol=0: without the"),
        ([INSTRUCTIONS], {"controls": {"enint": 0}, "long_smpl_periods": 5}, "enint=0: without the interrupt"),
        ([INSTRUCTIONS], {"preload": {"pmc1": 9}, "long_smpl_periods": 5}, "PMC1 has a period"),
        ([INSTRUCTIONS], {"controls": {"enint": 1}, "long_smpl_periods": NEGATIVE + 1}, "negative after 2147483648"),
        ([INSTRUCTIONS], {"controls": {"pmctrigger": 1}, "unlimited": True}, "--unlimited: this does not go with"),
        ([INSTRUCTIONS], {"preload": {"pmc1": 1}, "per_function": True}, "--per-function .* does not go with"),
        ([INSTRUCTIONS], {"preload": {"pmc1": 1}, "print_interval": 1}, "--print-interval: this does not go with"),
    ],
)
def test_what_does_not_go_is_refused_in_one_line(events: list[str], options: dict[str, Any], text: str) -> None:
    with pytest.raises(PfmonError, match=text) as caught:
        ran(QUEENS, events, **options)
    assert "\n" not in str(caught.value)


def test_other_pmus_have_no_counters_to_load() -> None:
    with pytest.raises(PfmonError, match="itanium2 has no counters that can be loaded"):
        pfmon.run([str(EXAMPLES.parent / "ia64" / "fib")], events="NOPS_RETIRED", preload={"pmd4": 1})


def test_interrupt_before_the_first_instruction_is_no_loaded_one() -> None:
    """A counter of cycles that becomes negative while the first instruction is fetched; what it is loaded with is
    positive."""
    command = [str(EXAMPLES / "lz")]
    controls = {"enint": 1, "pmc1intcontrol": 1}
    done = ran(command, [CYCLES], "ibm1994", preload={"pmc1": NEGATIVE - 1}, controls=controls)
    assert "interrupt of PMC1 before the first instruction retired" in done.notes
    done = ran(command, [CYCLES], "ibm1994", preload={"pmc1": NEGATIVE}, controls=controls)
    assert any("loaded with a negative number" in note for note in done.notes)
