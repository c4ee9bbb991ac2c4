"""Lists, descriptions and help are of the PMU of the program behind the option; processors have their own names."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import answer, declined, said
from command import EXAMPLES, pfmon
from host_programs import RUNS_X86_64

X86_64, IA64 = str(EXAMPLES / "x86_64" / "fib"), str(EXAMPLES / "ia64" / "fib")


def pmus_and_programs() -> Iterator[tuple[str, str]]:
    yield IA64, "itanium2"
    yield X86_64, json.loads(pfmon("--json", "-e", "instructions", X86_64, "3").stdout)["pmu"]


@pytest.mark.parametrize("option", ["-l", "-L", "-I"])
def test_lists_are_of_the_program_s_pmu(option: str) -> None:
    for program, pmu in pmus_and_programs():
        assert answer(option, program) == answer(f"--pmu={pmu}", option)


def test_a_description_is_of_the_program_s_pmu() -> None:
    for program, pmu in pmus_and_programs():
        assert answer("-i", "cycles", program) == answer(f"--pmu={pmu}", "-i", "cycles")
    assert "loads_retired" in declined("-i", "loads_retired", X86_64)


@RUNS_X86_64
def test_without_a_program_it_is_that_of_the_host_s_programs() -> None:
    assert answer("-l") == answer("-l", X86_64)
    assert answer("-i", "cycles") == answer("-i", "cycles", X86_64)


def test_an_event_of_another_pmu_is_found_too() -> None:
    assert answer("-i", "loads_retired") == answer("-i", "loads_retired", IA64)
    assert answer("-lloads_retired") == answer("--pmu=itanium2", "-lloads_retired")


def test_a_pattern_behind_a_space_is_said_to_be_no_program() -> None:
    assert "-lretired_things" in declined("-l", "retired_things")
    assert "no such file" in declined("-l", "./retired_things")
    assert said("-lretired_things")[0] == 1


@pytest.mark.parametrize("name", ["core2", "nehalem", "skylake"])
def test_processors_have_their_own_names(name: str) -> None:
    found = {}
    for option in ("--pmu", "--machine"):
        found[option] = json.loads(pfmon("--json", option, name, "-e", "cycles", X86_64, "3").stdout)
    assert found["--pmu"]["machine"]["name"] == found["--machine"]["machine"]["name"] == name
    assert found["--pmu"]["events"] == found["--machine"]["events"]


def test_a_machine_and_a_pmu_may_be_named_together() -> None:
    assert pfmon("--pmu=intel_v2", "--machine=nehalem", "-e", "instructions", X86_64, "3").returncode == 0
    assert "--pmu=skylake" in declined("--pmu=core2", "--machine=skylake", "-I")
    assert "nearest: core2" in declined("--pmu=core3", "-I")


def test_the_machine_of_results_has_its_name(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline"
    pfmon("--save-baseline", str(baseline), "--pmu=core2", "-e", "instructions", X86_64, "3")
    assert json.loads(baseline.read_text())["machine"] == "core2"
