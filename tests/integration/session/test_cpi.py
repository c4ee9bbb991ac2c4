"""The cycle breakdown: every cycle is in one part, of the run and of one function."""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pytest
from answers import declined
from command import EXAMPLES, example, pfmon
from grids import each, sampled
from guests import SMALL

import pfmon as library
from pfmon.machine._machine import Cause
from pfmon.report.cpi_report import BAR
from pfmon.session.profile.cpi_causes import COMPONENTS, INHERENT, PARTS
from pfmon.session.profile.cpi_stack import _pieces

QUICK = ("matmul", "fib", "epic")


def report(name: str, *options: str, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """The report of a run as JSON has it."""
    done = pfmon("--json", "--no-cmd-output", *options, "--report=cpi", example(name), *(arguments or SMALL[name]))
    assert done.stderr == ""
    found = json.loads(done.stdout)["report"]
    assert isinstance(found, dict)
    return found


def test_every_cause_is_in_exactly_one_part() -> None:
    """But for the operating system's time, which is none of the program's."""
    causes = sorted(int(value) for name, value in Cause.__members__.items() if name not in ("CAUSES", "KERNEL"))
    assert sorted(number for _, numbers in _pieces() for number in numbers) == causes


def test_every_component_has_a_meaning_and_a_place() -> None:
    places = [(one.part, one.name) for one in COMPONENTS]
    assert len({*places}) == len(places) and len({name for _, name in places}) == len(places)
    assert all(one.meaning and one.core in ("", "in_order", "out_of_order") for one in COMPONENTS)
    assert [one.part for one in COMPONENTS if not one.causes] == [INHERENT]
    # The rows of a part are together, as reports print them.
    assert [part for part, _ in groupby(COMPONENTS, key=lambda one: one.part)] == list(PARTS)


@sampled(6)
@each("machine", ["itanium", "itanium2", "montecito"])
@each("name", QUICK)
def test_the_parts_and_the_functions_add_up_to_the_run(name: str, machine: str) -> None:
    found = report(name, f"--machine={machine}")
    assert found["cycles"] == sum(part["cycles"] for part in found["parts"].values())
    for part in found["parts"].values():
        assert part["cycles"] == sum(part["of"].values())
    assert found["instructions"] == sum(row["instructions"] for row in found["functions"])
    for part in PARTS:
        assert found["parts"][part]["cycles"] == sum(row["cycles"][part] for row in found["functions"])


@pytest.mark.slow
def test_the_breakdown_agrees_with_the_events() -> None:
    """The same figures as counters: CPU_OP_CYCLES and BACK_END_BUBBLE of a run of its own."""
    names = ["CPU_OP_CYCLES_ALL", "BACK_END_BUBBLE_ALL", "BE_FLUSH_BUBBLE_BRU", "IA64_INST_RETIRED"]
    run = ("--pmu=montecito", "--json", "--no-cmd-output", "-e", ",".join(names), example("matmul"), *SMALL["matmul"])
    cycles, bubbles, mispredicts, instructions = (one["count"] for one in json.loads(pfmon(*run).stdout)["events"])
    found = report("matmul", "--machine=montecito")
    assert (found["cycles"], found["instructions"]) == (cycles, instructions)
    assert found["parts"]["inherent execution"]["cycles"] == cycles - bubbles
    assert found["parts"]["branch mispredicts"]["cycles"] == mispredicts


@pytest.mark.slow
def test_a_slower_memory_lengthens_data_access_alone() -> None:
    fast, slow = (
        report("chase", f"--set=memory.latency={cycles}", arguments=["8192", "20000"]) for cycles in (200, 1200)
    )
    assert slow["parts"]["data access"]["cycles"] > 1.5 * fast["parts"]["data access"]["cycles"]
    assert slow["parts"]["inherent execution"] == fast["parts"]["inherent execution"]


def test_bars_are_as_long_as_the_shares() -> None:
    run = pfmon("--no-cmd-output", "--report", "cpi", example("matmul"), *SMALL["matmul"])
    for line in run.stdout.splitlines():
        words = line.split()
        if len(words) > 3 and words[2].endswith("%") and words[3:] and any(line.find(part) > 0 for part in PARTS):
            share = float(words[2].rstrip("%")) / 100
            assert abs(line.count("#") - share * BAR) <= 0.6


def test_a_report_stands_alone_and_an_unknown_one_is_refused() -> None:
    assert "leave -e out" in declined("--report=cpi", "-e", "cpu_cycles", example("fib"))
    assert "there are: cpi" in declined("--report=cycles", example("fib"))


def test_cycles_in_which_nothing_retired_are_an_event_of_skylake() -> None:
    """UOPS_RETIRED.STALL_CYCLES, and the part of the cycles that retired."""
    command = [str(EXAMPLES / "x86_64" / "hashmap"), "60"]
    counted = library.run(
        command, events=["cycles", "UOPS_RETIRED.STALL_CYCLES"], machine="skylake", stdout=library.DEVNULL
    )
    cycles, stalls = (count.value for count in counted.counts)
    cpi = library.run(command, machine="skylake", report="cpi", stdout=library.DEVNULL).cpi
    assert cpi and isinstance(cycles, int) and isinstance(stalls, int)
    assert cpi.cycles == cycles and cpi.total(INHERENT) == cycles - stalls > 0
