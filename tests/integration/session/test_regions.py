"""Regions: exactly the instructions between the marks count, on both architectures, however regions nest, and whatever
is made of the counts."""

import json
import platform
from collections.abc import Sequence
from pathlib import Path

import pytest
from grids import each
from host_programs import missing
from region_programs import Part, by_hand, drawn, ia64, start, stop, work, x86_64

import pfmon

EVENTS = {"x86_64": "INSTRUCTIONS_RETIRED", "ia64": "IA64_INST_RETIRED"}
CYCLES = {"x86_64": "CPU_CLK_UNHALTED.THREAD", "ia64": "CPU_CYCLES"}
BOTH = each("architecture", [*EVENTS])
NESTED = [
    *(work(100), start("outer"), work(10), start("inner"), work(7), stop("inner"), work(3), stop("outer")),
    *(work(50), start("inner"), work(4), stop("inner"), work(2)),
]


def program(folder: Path, architecture: str, parts: Sequence[Part]) -> str:
    if architecture == "x86_64" and (platform.machine() != "x86_64" or "cc" in missing()):
        pytest.skip("x86-64 programs are not made, or not run, here")
    return str((x86_64 if architecture == "x86_64" else ia64)(folder / "program", parts))


def instructions(run: pfmon.Run) -> int:
    (count,) = run.counts
    assert isinstance(count.value, int)
    return count.value


@BOTH
@each("slow", [False, True])
def test_instructions_between_the_marks_count_and_no_others(tmp_path: Path, architecture: str, slow: bool) -> None:
    path, event = program(tmp_path, architecture, NESTED), EVENTS[architecture]
    counted = by_hand(NESTED, architecture == "ia64").instructions
    for name, expected in counted.items():
        run = pfmon.run(path, events=event, region=name, slow=slow)
        assert (instructions(run), run.notes) == (expected, ())
    if architecture == "x86_64":  # outer: work, a name and a nop twice, and the name of its end
        assert counted == {"outer": 10 + 2 + 7 + 2 + 3 + 1, "inner": 7 + 1 + 4 + 1}


@BOTH
@each("seed", range(4))
def test_regions_nest_in_any_way(tmp_path: Path, architecture: str, seed: int) -> None:
    parts = drawn(seed)
    path, event = program(tmp_path, architecture, parts), EVENTS[architecture]
    expected = by_hand(parts, architecture == "ia64")
    run = pfmon.run(path, events=event, per_region=True)
    whole = instructions(pfmon.run(path, events=event))
    found = {one.name: one for one in run.regions or ()}
    assert {name: found[name].counts[0].value for name in expected.instructions} == expected.instructions
    assert {name: found[name].retired for name in expected.instructions} == expected.instructions
    assert {name: found[name].entered for name in expected.entered} == expected.entered
    assert instructions(run) == whole


@BOTH
def test_several_regions_are_counted_together_once(tmp_path: Path, architecture: str) -> None:
    path, event = program(tmp_path, architecture, NESTED), EVENTS[architecture]
    rows = pfmon.run(path, events=event, per_region=True).regions or ()
    outside = next(one.counts[0].value for one in rows if not one.name)
    both = pfmon.run(path, events=event, region=["outer", "inner"])
    assert instructions(both) + outside == instructions(pfmon.run(path, events=event))


@BOTH
def test_cycles_of_regions_and_of_the_rest_are_those_of_the_run(tmp_path: Path, architecture: str) -> None:
    parts = drawn(7)
    path, events = program(tmp_path, architecture, parts), [CYCLES[architecture], EVENTS[architecture]]
    whole = pfmon.run(path, events=events).counts
    alone = pfmon.run(path, events=events, region="a").counts
    run = pfmon.run(path, events=events, per_region=True)
    rows = {one.name: [count.value for count in one.counts] for one in run.regions or ()}
    assert [one.value for one in run.counts] == [one.value for one in whole]
    assert rows["a"] == [one.value for one in alone]
    assert all(0 < rows["a"][k] < whole[k].value for k in range(2))


@BOTH
def test_recordings_have_the_marks(tmp_path: Path, architecture: str) -> None:
    path, events = program(tmp_path, architecture, NESTED), [CYCLES[architecture], EVENTS[architecture]]
    recording = tmp_path / "recording"
    pfmon.record(recording, path, events=events)
    for name in ("outer", "inner"):
        replayed, run = pfmon.replay(recording, events=events, region=name), pfmon.run(path, events=events, region=name)
        assert [one.value for one in replayed.counts] == [one.value for one in run.counts]


@BOTH
def test_reports_and_samples_are_of_the_region(tmp_path: Path, architecture: str) -> None:
    parts = [work(500), start("hot"), work(300), stop("hot"), work(500)]
    path, event = program(tmp_path, architecture, parts), EVENTS[architecture]
    expected = by_hand(parts, architecture == "ia64").instructions["hot"]
    (cycles,) = pfmon.run(path, events=CYCLES[architecture], region="hot").counts
    cpi = pfmon.run(path, report="cpi", region="hot").cpi
    assert cpi is not None and (cpi.cycles, cpi.instructions) == (cycles.value, expected)
    page = pfmon.run(path, report="html", region="hot").surveyed
    assert page is not None and (page.cpi.cycles, page.cpi.instructions) == (cycles.value, expected)
    assert sum(row.counts[-1] for row in page.calls) == expected
    samples = pfmon.run(path, events=event, region="hot", long_smpl_periods=10).samples
    assert samples is not None and len(samples) == expected // 10
    functions = pfmon.run(path, events=event, region="hot", per_block=True).blocks
    assert functions is not None and sum(row.values[0] for row in functions) == expected


@BOTH
def test_marks_that_do_not_pair_are_said_in_a_line_each(tmp_path: Path, architecture: str) -> None:
    parts = [stop("stray"), start("stray"), stop("stray"), start("open"), work(5)]
    path, event = program(tmp_path, architecture, parts), EVENTS[architecture]
    assert pfmon.run(path, events=event, region="nowhere").notes == (
        "--region: the program never entered nowhere",
        "--region: the program marks stray, open",
    )
    notes = pfmon.run(path, events=event, per_region=True).notes
    assert notes == (
        "region stray: a stop without a start ignored",
        "region open: still open at the end, where counting ended",
    )


@BOTH
def test_names_are_checked(tmp_path: Path, architecture: str) -> None:
    longest = "x" * 64
    names = ["", "a,b", " a", "tab\\t" if architecture == "x86_64" else "tab\t", longest + "y"]
    parts = [*(start(name) for name in names if name), start(longest), work(5), stop(longest)]
    run = pfmon.run(program(tmp_path, architecture, parts), events=EVENTS[architecture], per_region=True)
    assert [one.name for one in run.regions or ()] == [longest, ""]
    assert run.notes == ("4 marks of regions without a valid name (1 to 64 bytes, no commas) ignored",)


@BOTH
def test_a_program_without_marks_says_so(tmp_path: Path, architecture: str) -> None:
    run = pfmon.run(program(tmp_path, architecture, [work(5)]), events=EVENTS[architecture], per_region=True)
    assert run.notes == ("--per-region: the program marked no region",)
    assert [(one.name, one.counts[0].value) for one in run.regions or ()] == [("", instructions(run))]


@BOTH
def test_more_regions_than_there_is_room_for_are_said(tmp_path: Path, architecture: str) -> None:
    parts = [part for number in range(70) for part in (start(f"r{number}"), work(1), stop(f"r{number}"))]
    path, event = program(tmp_path, architecture, parts), EVENTS[architecture]
    assert instructions(pfmon.run(path, events=event, region="r69")) == by_hand(parts, architecture == "ia64")[0]["r69"]
    with pytest.raises(pfmon.LostError, match="--per-region: the regions nest in more than 63 ways"):
        pfmon.run(path, events=event, per_region=True)


@BOTH
def test_json_and_text_have_a_row_for_each_region(tmp_path: Path, architecture: str) -> None:
    run = pfmon.run(program(tmp_path, architecture, NESTED), events=EVENTS[architecture], per_region=True)
    rows = json.loads(json.dumps(run.to_dict()))["regions"]
    assert [(row["region"], row["entered"]) for row in rows] == [("outer", 1), ("inner", 2), (None, 0)]
    assert rows[1]["instructions"] == rows[1]["events"][0]["count"]
