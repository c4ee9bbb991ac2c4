"""Options that answer without running anything."""

import os
from pathlib import Path

import pytest
from command import pfmon


def test_help_names_every_option() -> None:
    text = pfmon("--help").stdout
    for option in ("--events", "--pmu", "--sysroot", "--json", "--session-timeout", "--show-events", "--version"):
        assert option in text


def test_version_is_the_packages() -> None:
    from pfmon.version import VERSION

    assert pfmon("-V").stdout == f"pfmon {VERSION}\n"


def test_list_takes_an_attached_regular_expression() -> None:
    names = pfmon("-lnops").stdout.split()
    assert names == ["NOPS_RETIRED"]
    assert len(pfmon("-l").stdout.split()) > 400


def test_event_information_says_how_exact_a_count_is() -> None:
    text = pfmon("-i", "nops_retired").stdout
    assert "MaxIncr: 6  (Threshold [0-5])" in text
    assert "[Instruction Address Range] [OpCode Match]" in text
    assert "exact" in text


@pytest.mark.parametrize("pmu", ["itanium", "itanium2", "montecito"])
def test_pmu_information_names_the_pmu(pmu: str) -> None:
    assert pmu in pfmon("--pmu", pmu, "-I").stdout.lower()


def test_pmu_information_says_what_runs_x86_64_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qemu-x86_64").write_text("#!/bin/sh\necho 'qemu-x86_64 version 7.2.99 (of a test)'\n")
    (tmp_path / "qemu-x86_64").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "x86_64   : qemu-x86_64 version 7.2.99\n" in pfmon("-I").stdout
    monkeypatch.setenv("PATH", "/nowhere")
    assert "x86_64   : no qemu-x86_64: install the package qemu-user\n" in pfmon("-I").stdout


def test_check_events_only_says_nothing_when_all_is_well() -> None:
    done = pfmon("--check-events-only", "-e", "loads_retired,nops_retired")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "pmc5" in pfmon("--check-events-only", "-v", "-e", "loads_retired").stdout.lower()
