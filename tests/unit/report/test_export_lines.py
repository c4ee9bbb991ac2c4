"""Costs of callgrind by source line, and the lines of speedscope's functions; several events in both."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from cpp_program import AREA, HEADER, MAIN_FILE, NAME, function, line, write_cpp_program
from exported import export, weights

import pfmon as library

SAMPLED = ("-e", "ia64_inst_retired", "--long-smpl-periods=1")
EVENTS = ("IA64_INST_RETIRED", "LOADS_RETIRED")


@pytest.fixture
def program(tmp_path: Path) -> str:
    return str(write_cpp_program(tmp_path / "shapes"))


def retired(program: str) -> list[int]:
    """The instructions that retired."""
    taken = library.run(program, events="ia64_inst_retired", long_smpl_periods=1).samples
    assert taken is not None
    return [sample.iip for sample in taken]


def costs(text: str) -> tuple[Counter[tuple[str, str, str, int, int]], dict[tuple[str, int], list[str]]]:
    """Of a callgrind file the cost at each object, file, function, line and address; and of each call, by file and
    line, the lines that describe it. As the format's specification says: fl= begins a function's file, fi= and fe=
    change it, a line behind calls= is the cost of the call."""
    found: Counter[tuple[str, str, str, int, int]] = Counter()
    calls: dict[tuple[str, int], list[str]] = {}
    spec: dict[str, str] = {}
    called: list[str] = []
    for text_line in text.splitlines():
        key, equals, value = text_line.partition("=")
        if equals and key in ("ob", "fl", "fi", "fe", "fn"):
            spec["file" if key in ("fl", "fi", "fe") else key] = value
        elif equals:
            called.append(text_line)
        elif text_line.startswith("0x"):
            address, number, cost = text_line.split()
            if called:
                calls[spec["file"], int(number)] = [*called, cost]
                called = []
            else:
                found[spec["ob"], spec["file"], spec["fn"], int(number), int(address, 16)] += int(cost)
    return found, calls


def test_callgrind_has_costs_by_line_and_address(program: str, tmp_path: Path) -> None:
    found, calls = costs(export(tmp_path / "out", "callgrind", *SAMPLED, command=(program,)).read_text())
    expected: Counter[tuple[str, str, str, int, int]] = Counter()
    for address in retired(program):
        file, number = line(address)
        expected[program, file, function(address)[0], number, address] += 1
    assert found == expected and {HEADER, MAIN_FILE} == {file for _, file, name, _, _ in found if name == "main"}
    inside = sum(address >= AREA for address in retired(program))
    names = [f"cob={program}", f"cfi={HEADER}", f"cfn={NAME}"]
    assert calls == {(MAIN_FILE, 4): [*names, f"calls={inside} {AREA:#x} 11", str(inside)]}


def test_callgrind_has_a_cost_for_each_event(tmp_path: Path) -> None:
    lines = export(tmp_path / "out", "callgrind").read_text().splitlines()
    assert f"events: {' '.join(EVENTS)}" in lines
    totals = [sum(weights(event).values()) for event in EVENTS]
    assert f"summary: {totals[0]} {totals[1]}" in lines
    own = [[0, 0]]
    for before, text_line in pairwise(lines):
        if text_line.startswith("0x") and not before.startswith("calls="):
            own.append([int(cost) for cost in text_line.split()[2:]])
    assert [sum(column) for column in zip(*own, strict=True)] == totals


def test_speedscope_has_a_profile_for_each_event(tmp_path: Path) -> None:
    whole = json.loads(export(tmp_path / "out", "speedscope").read_text())
    names = [frame["name"] for frame in whole["shared"]["frames"]]
    assert [profile["name"] for profile in whole["profiles"]] == [*EVENTS]
    for profile in whole["profiles"]:
        found: Counter[tuple[str, ...]] = Counter()
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            found[tuple(names[frame] for frame in reversed(stack))] += weight
        assert found == weights(profile["name"]) and profile["endValue"] == sum(found.values())


def test_speedscope_has_the_lines_that_functions_begin_in(program: str, tmp_path: Path) -> None:
    whole = json.loads(export(tmp_path / "out", "speedscope", *SAMPLED, command=(program,)).read_text())
    assert {(one["name"], one["file"], one["line"]) for one in whole["shared"]["frames"]} == {
        ("main", MAIN_FILE, 3),
        (NAME, HEADER, 11),
    }
