"""Without events, cycles, instructions, branches and misses are counted, with the ratios that perf stat prints."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from command import EXAMPLES, example, pfmon
from grids import each, first_quick

import pfmon as library
from pfmon import pmu
from pfmon.pmu.targets import targets
from pfmon.signals.machine_signals import counts_all_cycles

LINE = re.compile(r" +([\d,]+) {6}(\S+)(?: +# +([\d.]+) *(\S.*))?")


class Line(NamedTuple):
    """A line of the summary: the count, and the ratio beside it with its unit."""

    count: int
    ratio: float | None
    unit: str


def summary(text: str) -> dict[str, Line]:
    """The lines of a summary, by event."""
    found = [line for line in map(LINE.fullmatch, text.splitlines()) if line]
    return {
        one[2]: Line(int(one[1].replace(",", "")), float(one[3]) if one[3] else None, one[4] or "") for one in found
    }


def numbers(text: str) -> dict[str, float]:
    """Counts by name, of the lines at the end."""
    rows = (line.split(maxsplit=1) for line in text.splitlines() if line.startswith("   "))
    return {name: float(value) for value, name in rows}


@each("name", pmu.names())
def test_they_are_the_cycles_and_instructions_of_each_pmu(name: str) -> None:
    cycles, instructions = (pmu.get(name).events[event] for event in targets()[name].default_events)
    assert counts_all_cycles(cycles.signal)
    assert instructions.fidelity == "exact" and "instructions" in instructions.description.lower()


@pytest.mark.parametrize(
    ("program", "name"), first_quick([("ia64/fib", "itanium2"), ("x86_64/fib", "skylake"), ("ppc64/fib", "ppc604e")])
)
def test_a_program_without_events_gets_a_summary(program: str, name: str) -> None:
    if not program.startswith("ia64"):
        pytest.importorskip("pfmon.engine.qemu.qemu_guest")
    done = pfmon(f"{EXAMPLES}/{program}", "9")
    if "install the package" in done.stderr:
        pytest.skip("qemu-user is not here")
    cycles, instructions = targets()[name].default_events
    assert done.stderr == ""
    found = summary(done.stdout)
    assert list(found)[:4] == [cycles, instructions, "branches", "branch-misses"]
    asked = numbers(pfmon("--unlimited", "-e", ",".join(found), f"{EXAMPLES}/{program}", "9").stdout)
    assert {event: line.count for event, line in found.items()} == asked
    assert found[instructions].unit == "insn per cycle"
    assert found[instructions].ratio == pytest.approx(asked[instructions] / asked[cycles], abs=0.005)
    assert found["branch-misses"].unit == "% of all branches"
    assert found["branch-misses"].ratio == pytest.approx(100 * asked["branch-misses"] / asked["branches"], abs=0.005)


def test_with_slow_instructions_alone() -> None:
    done = pfmon("--slow", example("fib"), "5")
    assert list(numbers(done.stdout)) == ["IA64_INST_RETIRED"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    "option", first_quick(["--per-function", "--per-block", "--annotate=main", "--print-interval=0.01"])
)
def test_they_are_split_as_any_others(option: str) -> None:
    done = pfmon(option, example("noploop"), "9")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    rest = [line for line in lines if not line.endswith("CPI (cycles per instruction)")]
    assert rest == pfmon("-e", "cpu_cycles,ia64_inst_retired", option, example("noploop"), "9").stdout.splitlines()
    assert len(lines) == len(rest) + 1


@pytest.mark.parametrize(
    "words",
    [["--irange=main"], ["-k"], ["--long-smpl-periods=100"], ["--insecure"], ["--opc-match8=b:br.cloop"]],
)
def test_what_is_about_certain_events_asks_for_them(words: list[str]) -> None:
    done = pfmon(*words, example("fib"), "5")
    assert done.returncode == 2 and "-e EVENT" in done.stderr


def test_none_is_no_events() -> None:
    done = pfmon("-e", "none", example("fib"), "5")
    assert (done.returncode, done.stderr) == (0, "") and not numbers(done.stdout)


def test_recording_alone_counts_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "run")
    done = pfmon("--record", path, example("fib"), "5")
    assert (done.returncode, done.stderr) == (0, "") and not numbers(done.stdout)
    assert "CPU_CYCLES" in summary(pfmon("--replay", path).stdout)


def test_the_library_counts_the_same() -> None:
    run = library.run([example("fib"), "9"], stdout=library.DEVNULL)
    assert {one.name: one.value for one in run.counts} == {
        event: line.count for event, line in summary(pfmon(example("fib"), "9").stdout).items()
    }
    assert not library.run([example("fib"), "9"], stdout=library.DEVNULL, events="none").counts
