"""--report derived: each formula has the value that it has when it is asked for by name, and says what it needs."""

import re
from functools import cache
from typing import Any

import pytest
from answers import declined
from command import EXAMPLES, example
from command import pfmon as command
from grids import first_quick

import pfmon
from pfmon import pmu
from pfmon.library.resolving.run_parts import Processor
from pfmon.pmu.model.derived import load_derived, plan
from pfmon.report.derived_report import TITLES

X86 = f"{EXAMPLES}/x86_64/fib"
MEGAHERTZ = {"itanium2": 1300, "montecito": 1600}
HASHMAP, CHASE = [example("hashmap"), "300"], [example("chase"), "2000"]


@cache
def run_of(name: str) -> pfmon.Run:
    """A program that makes a report."""
    return pfmon.run(HASHMAP, pmu=name, report="derived", capture=True)


def report(name: str, program: list[str] | None = None, **options: Any) -> dict:
    """The values of a report by name."""
    if program is None:
        run = run_of(name)
    else:
        run = pfmon.run(program, pmu=name, report="derived", capture=True, **options)
    return {one.name: one for one in run.derived.values}


@pytest.mark.parametrize("name", first_quick(pmu.IA64))
def test_every_formula_is_there_or_left_out_with_a_reason(name: str) -> None:
    run = run_of(name)
    names = [one.name for one in run.derived.values] + [one for one, _ in run.derived.left_out]
    assert sorted(names) == sorted(load_derived(name))
    assert all("is not modelled" in reason for _, reason in run.derived.left_out)
    tables = run.derived.tables()
    assert sorted(one.name for rows in tables.values() for one in rows) == sorted(
        one.name for one in run.derived.values
    )


@pytest.mark.parametrize("name", first_quick(pmu.IA64))
def test_values_are_those_of_the_same_events_asked_for_by_name(name: str) -> None:
    values = report(name)
    counters = len(pmu.get(name).bank.numbers)
    alone = [one for one in values if len(plan(pmu.get(name).events, [one]).events) <= counters]
    counts = pfmon.run(HASHMAP, pmu=name, events=alone, unlimited=True, capture=True).counts
    assert {one: counts[one].value for one in alone} == {one: values[one].value for one in alone}


def test_a_formula_of_more_events_than_counters_has_a_value() -> None:
    values = report("itanium2")
    unused = values["RSE_AVG_INVALID_REGS"]
    assert (unused.needs.events, unused.needs.runs) == (7, 2)
    used = values["RSE_AVG_CURRENT_REGS"].value + values["RSE_AVG_DIRTY_REGS"].value
    assert unused.value == pytest.approx(96 - used)


def test_needs_say_matchers_and_exactness() -> None:
    values = report("montecito")
    assert values["CTRL_SPEC_MISS_RATIO"].needs.matchers and not values["IA64_IPC"].needs.matchers
    assert values["CTRL_SPEC_MISS_RATIO"].needs.exact and not values["IA64_IPC"].needs.exact
    assert values["L3_MISS_RATIO"].needs.runs == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["itanium2", "montecito"])
def test_memory_latency_follows_that_of_the_machine(name: str) -> None:
    """Little's law, on a program that waits for one miss after the other: a memory that takes 100 cycles more shows as
    100 cycles more."""
    own = int(Processor(name).figures()["memory.latency"])
    fast = report(name, CHASE)["MEMORY_LATENCY"]
    slow = report(name, CHASE, set={"memory.latency": own + 100})["MEMORY_LATENCY"]
    assert slow.value - fast.value == pytest.approx(100, abs=5)
    assert fast.note.startswith(f"{fast.value * 1000 / MEGAHERTZ[name]:.4g} ns at {MEGAHERTZ[name]} MHz. Little's law")
    assert ("arbiter" in fast.note) == (name == "montecito")


@pytest.mark.slow
def test_the_text_has_every_formula_below_its_table() -> None:
    text = command("--report=derived", "--no-cmd-output", *HASHMAP).stdout
    assert text.startswith("Itanium 2 (Madison, 1.3 GHz)\n\nBasic events (after Montecito manual table 4-2)\n")
    positions = [text.index(f"\n{title} (") for title in TITLES.values() if f"\n{title} (" in text]
    assert positions == sorted(positions) and len(positions) > 6
    for one in load_derived("itanium2").values():
        there = f" {one.name}: {one.description}\n" in text and f"   = {one.formula} (" in text
        assert there or re.search(rf"\nNot modelled\n.* {one.name}: .* is not modelled", text, re.S), one.name


def test_where_it_makes_no_sense_it_is_refused() -> None:
    assert "has no derived events; itanium, itanium2, montecito have" in declined("--report=derived", X86)
    assert "--report=derived needs no events" in declined("--report=derived", "-e", "cpu_cycles", *HASHMAP)
    assert "-e EVENT" in declined("--report=derived", "--per-function", *HASHMAP)
