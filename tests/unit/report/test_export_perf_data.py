"""perf-data, read by a plain reader of the format, and by perf itself."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from exported import QUEENS, Expected, expected, export, function, weights
from host_programs import needs
from perf_data import PerfFile, read

TWO = """
__attribute__((noinline)) static void often(void) { for (int i = 0; i < 9000; i++) __asm__ volatile("nop"); }
__attribute__((noinline)) static void seldom(void) { for (int i = 0; i < 1000; i++) __asm__ volatile("nop"); }
int main(void) { often(); seldom(); return 0; }
"""


@pytest.fixture(name="found")
def exported(tmp_path: Path) -> PerfFile:
    return read(export(tmp_path / "perf.data", "perf-data"))


def test_samples_have_time_period_event_and_frames(found: PerfFile) -> None:
    assert found.command == "queens" and found.words == QUEENS
    assert [Expected(one.frames, one.time, one.event, one.period) for one in found.samples] == expected()
    assert {(one.thread, one.address == one.frames[0]) for one in found.samples} == {(1000, True)}


def test_weights_are_those_of_the_samples(found: PerfFile) -> None:
    for event in ("IA64_INST_RETIRED", "LOADS_RETIRED"):
        own: Counter[tuple[str, ...]] = Counter()
        for one in found.samples:
            if one.event == event:
                own[tuple(map(function, one.frames))] += one.period
        assert own == weights(event)


def test_code_is_mapped_where_its_segments_are(found: PerfFile) -> None:
    with Path(QUEENS[0]).open("rb") as file:
        (code,) = [one for one in ELFFile(file).iter_segments("PT_LOAD") if one["p_flags"] & 1]
    (mapping,) = found.mappings
    assert mapping.path == QUEENS[0]
    assert mapping.start - mapping.offset == code["p_vaddr"] - code["p_offset"]
    assert mapping.start <= code["p_vaddr"]
    assert mapping.start + mapping.length >= code["p_vaddr"] + code["p_memsz"]


@needs("perf", "cc")
def test_perf_report_shows_the_functions(tmp_path: Path) -> None:
    (tmp_path / "two.c").write_text(TWO)
    subprocess.run(["cc", "-O1", "-o", "two", "two.c"], cwd=tmp_path, check=True)
    words = ("-e", "instructions", "--long-smpl-periods=100")
    path = export(tmp_path / "perf.data", "perf-data", *words, command=(str(tmp_path / "two"),))
    done = subprocess.run(
        ["perf", "report", "--stdio", "--no-children", "-g", "none", "-F", "period,sym", "-i", str(path)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "of event 'instructions'" in done.stdout
    shown = {name: int(period) for period, name in re.findall(r"^ +(\d+) +\[\.\] (\S+)", done.stdout, re.M)}
    assert shown["often"] == pytest.approx(3 * 9000, rel=0.02)  # three instructions a turn
    assert shown["seldom"] == pytest.approx(3 * 1000, rel=0.1)
