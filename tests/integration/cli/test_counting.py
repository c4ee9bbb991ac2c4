"""The command's main job: counts, formats, files, exit statuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import example, pfmon
from grids import first_quick

EVENTS = "ia64_inst_retired,nops_retired,loads_retired"


def counts(text: str) -> dict[str, int]:
    """Event -> count, from pfmon's lines."""
    return {name: int(number) for number, name in re.findall(r"^ *(\d+) ([A-Z]\w+)$", text, re.M)}


def seconds_used(process: int) -> float:
    """Processor time at user level so far (utime of proc(5))."""
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")")[1].split()[11]) / os.sysconf("SC_CLK_TCK")


def test_counts_follow_the_programs_output() -> None:
    done = pfmon("-e", EVENTS, example("noploop"), "1000")
    lines = done.stdout.splitlines()
    assert lines[0] == "1000"
    assert [line.split()[1] for line in lines[1:]] == ["IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"]
    assert all(line.index(" IA64") == 26 for line in lines[1:2])
    assert done.returncode == 0


def test_noploop_retires_in_proportion_to_its_argument() -> None:
    small = counts(pfmon("-e", EVENTS, example("noploop"), "1000").stdout)
    large = counts(pfmon("-e", EVENTS, example("noploop"), "3000").stdout)
    # The loop's body is two bundles (src/noploop.c): six instructions, of which five are nops.
    assert large["IA64_INST_RETIRED"] - small["IA64_INST_RETIRED"] == 2000 * 6
    assert large["NOPS_RETIRED"] - small["NOPS_RETIRED"] == 2000 * 5
    assert large["LOADS_RETIRED"] == small["LOADS_RETIRED"]


def test_slow_execution_counts_the_same() -> None:
    words = ["-e", EVENTS, example("queens"), "5"]
    assert pfmon("--slow", *words).stdout == pfmon(*words).stdout


@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2", "montecito"]))
def test_every_pmu_counts_the_same_retired_instructions(pmu: str) -> None:
    done = pfmon("--pmu", pmu, "-e", "ia64_inst_retired,nops_retired", example("fib"), "5")
    assert counts(done.stdout) == counts(pfmon("-e", "ia64_inst_retired,nops_retired", example("fib"), "5").stdout)


def test_montecito_counts_twelve_events_at_once() -> None:
    events = (
        "ia64_inst_retired,nops_retired,predicate_squashed_retired,fp_ops_retired,loads_retired,cpu_cpl_changes_all,"
        "rse_event_retired,rse_references_retired_all,inst_chka_ldc_alat_all,inst_failed_chka_ldc_alat_all,"
        "br_mispred_detail_all_all_pred,br_mispred_detail_return_all_pred"
    )
    done = pfmon("--pmu", "montecito", "-e", events, example("epic"))
    assert len(counts(done.stdout)) == 12, done


@pytest.mark.parametrize(
    ("option", "pattern"),
    first_quick(
        [
            ("--us-counter-format", r"^ +\d{1,3}(,\d{3})+ IA64_INST_RETIRED$"),
            ("--eu-counter-format", r"^ +\d{1,3}(\.\d{3})+ IA64_INST_RETIRED$"),
            ("--hex-counter-format", r"^ +0x[0-9a-f]{16} IA64_INST_RETIRED$"),
        ]
    ),
)
def test_counter_formats(option: str, pattern: str) -> None:
    plain = counts(pfmon("-e", "ia64_inst_retired", example("fib")).stdout)["IA64_INST_RETIRED"]
    line = pfmon(option, "-e", "ia64_inst_retired", example("fib")).stdout.splitlines()[-1]
    assert re.match(pattern, line), line
    assert int(re.sub(r"[,.]", "", line.split()[0]), 0) == plain


def test_unique_prefixes_of_options_are_enough() -> None:
    assert (
        "IA64_INST_RETIRED"
        in pfmon("--us-c", "--no-cmd", "--memory-l=1G", "-eia64_inst_retired", example("fib")).stdout
    )


def test_options_after_the_program_are_the_programs() -> None:
    done = pfmon("-e", "ia64_inst_retired", example("noploop"), "--us-counter-format")
    assert done.returncode == 0 and "," not in done.stdout


def test_no_cmd_output_leaves_only_counts() -> None:
    done = pfmon("--no-cmd-output", "-e", "loads_retired", example("fib"))
    assert re.fullmatch(r" *\d+ LOADS_RETIRED\n", done.stdout)


def test_outfile_gets_the_counts_and_append_adds(tmp_path: Path) -> None:
    out = tmp_path / "counts"
    out.write_text("old\n")
    done = pfmon("--outfile", str(out), "-e", "loads_retired", example("fib"))
    assert done.stdout == "17711 134182\n"
    first = out.read_text()
    assert re.fullmatch(r" *\d+ LOADS_RETIRED\n", first)
    pfmon("--outfile", str(out), "--append", "-e", "loads_retired", example("fib"))
    assert out.read_text() == first * 2


def test_a_failing_run_leaves_the_outfile_alone(tmp_path: Path) -> None:
    out = tmp_path / "counts"
    out.write_text("old\n")
    assert pfmon("--outfile", str(out), "-e", "no_such_event", example("fib")).returncode == 2
    assert out.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [out]


def test_header_says_what_was_run_and_counted() -> None:
    text = pfmon("--with-header", "--pmu=montecito", "-e", "loads_retired", example("noploop"), "7").stdout
    header = [line for line in text.splitlines() if line.startswith("# ")]
    assert any(line.startswith("# command: ") and line.endswith("noploop 7") for line in header)
    assert "# pmu: montecito" in header
    assert any(re.fullmatch(r"# PMD\d+: LOADS_RETIRED, plm=u, ia64", line) for line in header)


def test_show_time_prints_host_times() -> None:
    text = pfmon("--show-time", "-e", "loads_retired", example("fib")).stdout
    assert re.search(r"^real \d+h\d\dm\d\d\.\d{3}s user \d+h\d\dm\d\d\.\d{3}s sys \d+h\d\dm\d\d\.\d{3}s$", text, re.M)


def test_json_has_the_same_counts() -> None:
    words = ["-e", EVENTS, example("fib"), "9"]
    data = json.loads(pfmon("--json", "--no-cmd-output", *words).stdout)
    assert {event["name"]: event["count"] for event in data["events"]} == counts(pfmon(*words).stdout)
    assert data["instructions"] == counts(pfmon(*words).stdout)["IA64_INST_RETIRED"]
    assert (data["exit_status"], data["signal"], data["stopped"]) == (0, None, None)


def test_a_fault_ends_the_program_and_still_prints_counts() -> None:
    # chase asks for more memory than it may have, and writes through the null pointer that it gets.
    done = pfmon("--memory-limit=128M", "-e", "ia64_inst_retired", example("chase"), "200000")
    assert done.returncode == 128 + signal.SIGSEGV
    assert "signal 11 (SIGSEGV)" in done.stderr and "main+0x" in done.stderr and "slot" in done.stderr
    assert counts(done.stdout)["IA64_INST_RETIRED"] > 0


@pytest.mark.slow
def test_session_timeout_prints_the_counts_so_far() -> None:
    done = pfmon("--session-timeout=0.5", "-e", "ia64_inst_retired", example("noploop"), "100000000000")
    assert done.returncode == 124
    assert counts(done.stdout)["IA64_INST_RETIRED"] > 1_000_000
    assert "--session-timeout" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGINT, "interrupted"),
        pytest.param(signal.SIGTERM, "terminated (SIGTERM)", marks=pytest.mark.exhaustive),
        (signal.SIGHUP, "terminated (SIGHUP)"),
    ],
)
def test_a_signal_to_pfmon_prints_the_counts_so_far(number: int, said: str, tmp_path: Path) -> None:
    """And the recording so far is whole, with nothing beside it. The exit status is that of a shell (POSIX, 2.8.2: 128
    and the signal's number, in all shells that are common)."""
    record = tmp_path / "record"
    command = [sys.executable, "-m", "pfmon", f"--record={record}", "-e", "ia64_inst_retired"]
    command += [example("noploop"), "100000000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while seconds_used(process.pid) < 0.5:  # of which starting takes 0.2
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert counts(out)["IA64_INST_RETIRED"] > 1_000_000
    assert f"pfmon: {said}; the counts are those so far" in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == [record]
    assert pfmon(f"--replay={record}", "-e", "ia64_inst_retired").stdout == out
