"""Options that answer without running anything."""

import os
from pathlib import Path

import pytest
from command import EXAMPLES, pfmon
from grids import first_quick


def test_version_is_the_packages() -> None:
    from pfmon.version import VERSION

    assert pfmon("-V").stdout == f"pfmon {VERSION}\n"


def test_list_takes_an_attached_regular_expression() -> None:
    names = pfmon("-lnops").stdout.split()
    assert names == ["NOPS_RETIRED"]
    assert len(pfmon("--pmu=itanium2", "-l").stdout.split()) > 400


def test_event_information_says_how_exact_a_count_is() -> None:
    text = pfmon("-i", "nops_retired").stdout
    assert "MaxIncr: 6  (Threshold [0-5])" in text
    assert "[Instruction Address Range] [OpCode Match]" in text
    assert "exact" in text


@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2", "montecito"]))
def test_pmu_information_names_the_pmu(pmu: str) -> None:
    assert pmu in pfmon("--pmu", pmu, "-I").stdout.lower()


def test_pmu_information_says_what_runs_x86_64_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qemu-x86_64").write_text("#!/bin/sh\necho 'qemu-x86_64 version 7.2.99 (of a test)'\n")
    (tmp_path / "qemu-x86_64").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "x86_64   : qemu-x86_64 version 7.2.99\n" in pfmon("-I").stdout
    monkeypatch.setenv("PATH", "/nowhere")
    assert (
        "x86_64   : no qemu-x86_64: install the package qemu-user (Debian: apt-get install qemu-user)\n"
        in pfmon("-I").stdout
    )


def test_check_events_only_says_which_counter_would_count_what() -> None:
    done = pfmon("--check-events-only", "-e", "loads_retired,nops_retired,ia64_ipc")
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines = done.stdout.splitlines()
    assert first == "itanium2 can count this:"
    assert "  IA64_IPC = IA64_INST_RETIRED / CPU_CYCLES" in lines
    counters = dict(reversed(line.split()) for line in lines if line.startswith("  PMD"))
    assert set(counters) == {"LOADS_RETIRED", "NOPS_RETIRED", "IA64_INST_RETIRED", "CPU_CYCLES"}
    assert counters["LOADS_RETIRED"] == "PMD5"  # PMC5 alone selects its set
    assert sorted(counters.values()) == ["PMD4", "PMD5", "PMD6", "PMD7"]


def test_check_events_only_tells_event_sets_apart() -> None:
    text = pfmon("--check-events-only", "-e", "loads_retired", "-e", "stores_retired").stdout
    assert text.splitlines()[1:] == ["event set 1:", "  PMD5 LOADS_RETIRED", "event set 2:", "  PMD5 STORES_RETIRED"]
    text = pfmon("--check-events-only", "--unlimited", "-e", "loads_retired,stores_retired").stdout
    assert "  PMD5 LOADS_RETIRED\n  PMD5 STORES_RETIRED\n" in text


def test_check_events_only_takes_the_pmu_of_the_program() -> None:
    text = pfmon("--check-events-only", "-e", "instructions_completed", f"{EXAMPLES}/ppc64/fib").stdout
    assert text.startswith("ppc604e can count this:\n")


def test_verbose_check_shows_registers() -> None:
    assert "pmc5" in pfmon("--check-events-only", "-v", "-e", "loads_retired").stdout.lower()
