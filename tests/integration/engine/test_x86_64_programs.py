"""The x86_64 engine: programs of a Debian system do what they do natively, and count the same in every run."""

import json
import subprocess
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from x86_64_host import MARKS, PFMON
from x86_64_programs import ENVIRONMENT, PROGRAMS, SAMPLE, TIMED_SAMPLE, Program, path_of, prepare

pytestmark = MARKS

EVENTS = "instructions_retired,unhalted_core_cycles"
PLACES = ("one", "another place")


class Outcome(NamedTuple):
    """Exit status, standard output, and the file that the program makes."""

    status: int
    told: bytes
    made: bytes


def outcome(words: list[str], directory: Path, program: Program, environment: Mapping[str, str]) -> Outcome:
    """What a command does in a directory."""
    typed = directory.parent / "typed"
    typed.write_text(program.typed)
    with typed.open() as given:
        done = subprocess.run(
            words, cwd=directory, env=environment, stdin=given, capture_output=True, timeout=120, check=False
        )
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Outcome(status, done.stdout, (directory / program.made).read_bytes() if program.made else b"")


def counts_in(results: str) -> str:
    """The counts of all tasks."""
    tasks = [json.loads(line) for line in results.splitlines()]
    return ",".join(str(event["count"]) for task in tasks for event in task["events"])


def counted(
    words: list[str], directory: Path, program: Program, environment: Mapping[str, str], events: str
) -> tuple[Outcome, str]:
    """What it does under the engine, and its counts."""
    counts = directory / "counts.json"
    variables = [f"--env={name}={value}" for name, value in environment.items()]
    command = [*PFMON, *program.options, "-e", events, "--json", f"--outfile={counts}", *variables, *words]
    found = outcome(command, directory, program, environment)
    told = counts_in(counts.read_text())
    counts.unlink()
    return found, told


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        *(pytest.param(name, 2, marks=pytest.mark.slow) for name in SAMPLE),
        *(pytest.param(name, 10, marks=pytest.mark.exhaustive) for name in PROGRAMS),
    ],
)
def test_programs_do_what_they_do_natively_and_repeat(name: str, runs: int, tmp_path: Path) -> None:
    """In two directories and two environments. Between these the counts may differ, as natively: the environment is
    part of the initial stack, where it moves what is below it, and a program may read where it is."""
    program = PROGRAMS[name]
    path = path_of(program.command[0])
    if path is None:
        pytest.skip(f"{program.command[0]} is not here")
    words = [path, *program.command[1:]]
    sampled = runs == 2
    events = EVENTS.partition(",")[0] if sampled and name not in TIMED_SAMPLE else EVENTS
    for place in PLACES:
        prepare(tmp_path / place, name)
    for number, (place, more) in enumerate(product(PLACES, ({}, {"NOTE": "x" * 333}))):
        if sampled and number in (1, 2):  # not every place with every environment
            continue
        directory, environment = tmp_path / place, ENVIRONMENT | more
        native = outcome(words, directory, program, environment)
        repeats = (1 if sampled else 2) if number else runs
        found = [counted(words, directory, program, environment, events) for _ in range(repeats)]
        assert {one for one, _ in found} == {native}
        assert len({counts for _, counts in found}) == 1
