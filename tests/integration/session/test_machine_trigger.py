"""Counting that starts when something has happened so often on an out-of-order machine."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from grids import each
from host_programs import needs

import pfmon
from pfmon.errors import PfmonError

pytestmark = needs("qemu-ppc64", "qemu-x86_64")

EXAMPLES = Path(__file__).parents[3] / "examples"
PPC, X86 = str(EXAMPLES / "ppc64" / "lz"), str(EXAMPLES / "x86_64" / "sort")
EVENTS = {
    PPC: ("INSTRUCTIONS_COMPLETED", "BRANCHES_COMPLETED", "PROCESSOR_CYCLES"),
    X86: ("INSTRUCTIONS_RETIRED", "BRANCH_INSTRUCTIONS_RETIRED", "UNHALTED_CORE_CYCLES"),
}
COMMANDS = {PPC: [PPC, "1"], X86: [X86, "100"]}


def ran(program: str, events: Any, **options: Any) -> Any:
    return pfmon.run(COMMANDS[program], events=events, stdout=pfmon.DEVNULL, **options)


@cache
def stamps(program: str, event: str, period: int) -> list[int]:
    """How many instructions had retired whenever an event had happened so often."""
    return [sample.retired for sample in ran(program, event, long_smpl_periods=period).samples]


@pytest.mark.slow
@each(
    ("program", "trigger", "times"),
    [
        (PPC, "DCACHE_MISSES", 1),
        (PPC, "DCACHE_MISSES", 40),
        (PPC, "BRANCHES_MISPREDICTED", 20),
        (PPC, "ICACHE_MISSES", 9),
        (X86, "LLC_REFERENCES", 20),
        (X86, "BRANCH_MISSES_RETIRED", 200),
    ],
)
def test_counting_begins_behind_the_instruction_that_it_happened_to(program: str, trigger: str, times: int) -> None:
    start = stamps(program, trigger, 1)[times - 1]
    instructions, branches, _ = EVENTS[program]
    done = ran(program, [instructions, branches], trigger_event=f"{trigger}:{times}")
    assert [count.value for count in done.counts] == [
        sum(stamp > start for stamp in stamps(program, event, 1)) for event in (instructions, branches)
    ]


@pytest.mark.slow
@each("program", [PPC, X86])
@each("times", [1, 999, 4321])
def test_cycles_behind_a_cycle_are_all_others(program: str, times: int) -> None:
    cycles = EVENTS[program][2]
    (whole,), (rest,) = ran(program, cycles).counts, ran(program, cycles, trigger_event=f"{cycles}:{times}").counts
    assert rest.value == whole.value - times


def test_samples_begin_behind_the_trigger() -> None:
    start = stamps(PPC, "DCACHE_MISSES", 1)[19]
    branches = [stamp for stamp in stamps(PPC, "BRANCHES_COMPLETED", 1) if stamp > start]
    done = ran(PPC, "BRANCHES_COMPLETED", trigger_event="DCACHE_MISSES:20", long_smpl_periods=3, smpl_stacks=True)
    assert [sample.retired for sample in done.samples] == branches[2::3]


def test_counters_that_wait_for_others_wait_for_the_trigger_first() -> None:
    """PMC1 counts from the trigger on, is negative 50 instructions later, and PMC2 counts from there on."""
    start = stamps(PPC, "DCACHE_MISSES", 1)[9]
    done = ran(
        PPC,
        ["INSTRUCTIONS_COMPLETED", "BRANCHES_COMPLETED"],
        trigger_event="DCACHE_MISSES:10",
        preload={"pmc1": (1 << 31) - 50},
        controls={"pmctrigger": 1},
    )
    branches = [stamp for stamp in stamps(PPC, "BRANCHES_COMPLETED", 1) if stamp > start + 50]
    assert [count.value for count in done.counts] == [done.retired - start, len(branches)]


def test_a_trigger_that_is_never_reached_is_told() -> None:
    done = ran(PPC, "BRANCHES_COMPLETED", trigger_event="DCACHE_MISSES:123456789")
    assert done.counts[0].value == 0
    assert any("DCACHE_MISSES:123456789 was never reached" in note for note in done.notes)


@pytest.mark.parametrize(
    ("program", "options", "text"),
    [
        (PPC, {"unlimited": True}, "--unlimited: this does not go with --trigger-event"),
        (PPC, {"print_interval": 1}, "--print-interval: this does not go with --trigger-event"),
        (PPC, {"trigger_event": "SNOOP_REQUESTS:1"}, "no other bus agent"),
        (X86, {"events": "UNHALTED_REFERENCE_CYCLES"}, "CPU_CLK_UNHALTED.REF_TSC, which counts at the end"),
        (X86, {"trigger_event": "UNHALTED_REFERENCE_CYCLES:5"}, "the reference clock counts at the end"),
    ],
)
def test_what_does_not_go_is_refused(program: str, options: dict[str, Any], text: str) -> None:
    trigger = {PPC: "DCACHE_MISSES:1", X86: "LLC_MISSES:1"}[program]
    with pytest.raises(PfmonError, match=text):
        ran(program, **{"events": EVENTS[program][0], "trigger_event": trigger, **options})
