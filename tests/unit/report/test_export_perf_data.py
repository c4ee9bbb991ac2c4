"""perf-data, read by a plain reader of the format, and by perf itself."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from exported import QUEENS, Expected, expected, export, function, weights
from guests import EXAMPLES
from host_programs import needs
from perf_data import PerfFile, read

import pfmon
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.precise_loads import PreciseLoads

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


@needs("perf")
def test_perf_script_shows_last_branches(tmp_path: Path) -> None:
    command = (str(EXAMPLES / "x86_64" / "sort"), "100")
    words = ("-e", "instructions,branch-misses", "--long-smpl-periods=2000", "-b")
    path = export(tmp_path / "perf.data", "perf-data", *words, command=command)
    shown = perf("script", "-F", "brstack", "-i", str(path)).split("\n")
    run = pfmon.run(
        command,
        events="instructions,branch-misses",
        long_smpl_periods=2000,
        branch_filter="any",
        stdout=pfmon.DEVNULL,
    )
    model = pfmon.pmu.get("skylake")
    buffer = captures_of(model, model.program(["instructions"], last_branches=["any"]).writes).branches
    assert run.samples and buffer
    expected_lines = []
    for sample in run.samples:
        edges = buffer.edges(dict(sample.pmds))[::-1]
        expected_lines.append([f"{one.source:#x}/{one.target:#x}/{'PM'[one.mispredicted]}" for one in edges])
    found = [["/".join(one.split("/")[:3]) for one in line.split()] for line in shown if line.strip()]
    assert found == expected_lines and any("/M" in one for line in found for one in line)


@pytest.mark.slow
@needs("perf")
def test_perf_script_shows_precise_loads(tmp_path: Path) -> None:
    command = (str(EXAMPLES / "x86_64" / "chase"), "4096", "500")
    words = ("-e", "mem_trans_retired.load_latency_gt_4", "--long-smpl-periods=20")
    path = export(tmp_path / "perf.data", "perf-data", *words, command=command)
    shown = perf("script", "-F", "addr,weight,data_src", "-i", str(path))
    found = re.findall(r"^ *([0-9a-f]+) +[0-9a-f]+ \|OP LOAD\|LVL (.*?)\|.*?\|TLB (.*?)\|.* (\d+)", shown, re.M)
    run = pfmon.run(command, events=words[1], long_smpl_periods=20, stdout=pfmon.DEVNULL)
    assert run.samples and len(run.samples) == len(found) > 100
    words_of = {"L1": "L1", "LFB": "LFB/MAB", "L2": "L2", "L3": "L3", "RAM": "RAM"}
    for sample, (address, level, translation, latency) in zip(run.samples, found, strict=True):
        held = dict(sample.pmds)
        load = PreciseLoads.capture(held)
        assert (load.address, load.latency) == (int(address, 16), int(latency))
        assert level.endswith(f"{words_of[load.level]} hit")
        assert ("miss" in translation) == PreciseLoads.walked(held)


def perf(*words: str) -> str:
    done = subprocess.run(
        ["perf", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout
