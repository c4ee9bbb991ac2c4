"""perf-script, read as perf-script(1) and the scripts for flame graphs describe it: a line for a sample, indented or
bare lines for its frames, an empty line."""

import re
from collections import Counter
from pathlib import Path

import pytest
from exported import QUEENS, expected, export, start, weights

SAMPLE = re.compile(r"(\S.*?)\s+(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d+):\s+(\d+)\s+(\S+):\s*")
FRAME = re.compile(r"\s*([0-9a-f]+)\s+(.+)\+0x([0-9a-f]+) \((.*)\)")


@pytest.fixture(name="blocks")
def read_blocks(tmp_path: Path) -> list[list[str]]:
    """The lines of each sample."""
    text = export(tmp_path / "perf.txt", "perf-script").read_text()
    assert text.endswith("\n\n")
    return [block.split("\n") for block in text[:-2].split("\n\n")]


def test_samples_have_command_thread_time_period_and_event(blocks: list[list[str]]) -> None:
    found = [SAMPLE.fullmatch(lines[0]) for lines in blocks]
    assert [(e[1], e[2], e[3], e[4], e[5], int(e[6]), e[7]) for e in found if e] == [
        ("queens", "1000", "000", "0", f"{one.stamp:09}", one.period, one.event) for one in expected()
    ]


def test_frames_have_address_function_and_file(blocks: list[list[str]]) -> None:
    for lines, one in zip(blocks, expected(), strict=True):
        frames = [FRAME.fullmatch(line) for line in lines[1:]]
        assert tuple(int(frame[1], 16) for frame in frames if frame) == one.frames
        assert tuple(frame[2] for frame in frames if frame) == one.functions
        starts = tuple(int(frame[1], 16) - int(frame[3], 16) for frame in frames if frame)
        assert starts == tuple(start(address) for address in one.frames)
        assert {frame[4] for frame in frames if frame} == {QUEENS[0]}


def test_collapsed_it_has_the_weights_of_the_samples(blocks: list[list[str]]) -> None:
    found: dict[str, Counter[tuple[str, ...]]] = {}
    for first, *rest in blocks:
        period, event = re.search(r":\s*(\d+)\s+(\S+):\s*$", first).groups()  # type: ignore[union-attr] # or it fails
        stack = tuple(re.sub(r"\+0x[0-9a-f]+$", "", re.sub(r"^\s*\w+ (.*) \(.*\)$", r"\1", line)) for line in rest)
        found.setdefault(event, Counter())[stack] += int(period)
    assert found == {event: weights(event) for event in ("IA64_INST_RETIRED", "LOADS_RETIRED")}
