"""Samples of programs that start and stop counting on their own (PSR.up)."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import pfmon as command
from grids import first_quick
from ia64_program import EXIT, write_program

import pfmon
from pfmon.pmu import get
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.model.request import EventRequest, IpEarRequest, Request

WORK = ["adds r8=1,r8"] * 5
PLANTED = ["rum 4", *WORK, "sum 4", *WORK, *WORK, "rum 4", *WORK]
EVENTS = ["ia64_inst_retired", "ia64_inst_retired,cpu_cycles"]
BEGIN = 0x4000000000010000


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    return write_program(tmp_path / "planted", [*PLANTED, *EXIT])


@pytest.mark.parametrize("events", EVENTS, ids=["exact", "machine"])
@pytest.mark.parametrize("dont_start", [False, True])
def test_samples_are_of_what_is_between_sum_and_rum(planted: Path, events: str, dont_start: bool) -> None:
    run = pfmon.run([str(planted)], events=events, long_smpl_periods=1, insecure=True, dont_start=dont_start)
    # A bundle is an instruction and two nops. What counts: of sum's bundle the nops, ten bundles, rum; at first rum.
    first = run.samples[0].iip & ~15 if run.samples else 0
    begin = first - 6 * 16 if dont_start else first
    inside = [begin + 6 * 16 + slot for slot in (1, 2)]
    inside += [begin + 16 * line + slot for line in range(7, 17) for slot in range(3)]
    inside += [begin + 17 * 16]
    assert run.samples is not None
    assert [sample.iip for sample in run.samples] == [*([] if dont_start else [begin]), *inside]
    stamps = [sample.retired for sample in run.samples]
    assert stamps == [3 * ((iip - begin) >> 4) + (iip & 15) + 1 for iip in (sample.iip for sample in run.samples)]


@pytest.mark.parametrize("events", first_quick(["ia64_inst_retired", "cpu_cycles"]))
def test_a_sampled_program_reads_what_the_counter_holds(tmp_path: Path, events: str) -> None:
    lines = [*["adds r8=1,r8"] * 10, "adds r9=5,r0", "mov r32=pmd[r9]", "adds r15=1025,r0", "break.m 0x100000"]
    path = write_program(tmp_path / "reader", ["alloc r33=ar.pfs,8,0,0", *lines])
    words = ["--insecure", "-e", f"{events},nops_retired", "--long-smpl-periods=7,", "--no-cmd-output"]
    done = command(*words, str(path))
    assert done.returncode == 2 * 12, done.stderr  # the nops before the read, in a bundle with each instruction


def test_the_ip_ear_freezes_early_when_the_program_switches_it_off(tmp_path: Path) -> None:
    """The counter overflows some bundles before rum; the delay ends long after it. The sample, which comes when the
    program has switched monitoring on again, has an entry with ef, where rum was."""
    # Within a line of L1I, so that no miss uses the delay up.
    lines = [*WORK[:3], "rum 4", *WORK, "sum 4", *["adds r8=1,r8"] * 200]
    path = write_program(tmp_path / "early", [*lines, *EXIT])
    run = pfmon.run(
        [str(path)],
        pmu="montecito",
        events="ia64_inst_retired",
        long_smpl_periods=2,
        ip_ear=60,
        insecure=True,
    )
    assert run.samples
    model = get("montecito")
    request = Request((EventRequest("IA64_INST_RETIRED"),), ip_ear=IpEarRequest(60))
    ips = captures_of(model, model.fulfil(request).writes).ips
    assert ips
    entries = ips.entries(dict(run.samples[0].pmds))
    early = [entry for entry in entries if entry.early_freeze]
    assert len(early) == 1 and entries[-1] == early[0]
    assert 0 < early[0].delay < 60
    assert early[0].ip >> 12 == entries[0].ip >> 12


@pytest.mark.slow
def test_the_command_samples_insecure_programs(planted: Path) -> None:
    words = ["--insecure", "--dont-start", "--long-smpl-periods=1", "-e", "ia64_inst_retired", str(planted)]
    done = subprocess.run([sys.executable, "-B", "-m", "pfmon", *words], capture_output=True, text=True, check=True)
    assert done.stdout.count("entry ") == 2 + 30 + 1
