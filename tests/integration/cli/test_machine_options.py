"""--machine and --set: the machine that a program runs on, and how -I shows it."""

from pathlib import Path

import pytest
from command import pfmon, refused
from grids import each


def information(*options: str) -> dict[str, str]:
    """Figure -> the rest of its line, as -I prints them."""
    lines = pfmon(*options, "-I").stdout.splitlines()
    return {line.split()[0]: line for line in lines if line.startswith("  ")}


def test_information_shows_every_figure_with_its_source() -> None:
    shown = information("--pmu=montecito")
    assert "12M" in shown["l3.size"] and "table 2-9" in shown["l3.size"]
    assert "12 " in shown["l3.ways"]
    assert "table 2-8" in shown["latency.fmac.fmac"]


def test_set_changes_a_figure_and_says_so() -> None:
    shown = information("--pmu=itanium2", "--set", "l3.size=9M", "--set=memory.latency=250")
    assert "9M" in shown["l3.size"] and "changed" in shown["l3.size"]
    assert "250" in shown["memory.latency"]


@pytest.mark.slow
def test_a_machine_brings_its_pmu() -> None:
    assert "PMU model: itanium2\n" in pfmon("--machine=madison-9m", "-I").stdout
    assert "PMU model: montecito\n" in pfmon("--machine=montecito", "-I").stdout


def test_a_file_is_a_machine(tmp_path: Path) -> None:
    file = tmp_path / "big.toml"
    file.write_text('base = "montecito"\n[l3]\nsource = "a guess"\nsize = "24M"\n')
    assert "a guess" in information(f"--machine={file}")["l3.size"]


@pytest.mark.slow
@each(
    ("options", "words"),
    [
        (["--machine=itanium3"], ["unknown machine", "itanium2"]),
        (["--machine=/nowhere.toml"], ["/nowhere.toml", "No such file"]),
        (["--pmu=montecito", "--machine=madison-9m"], ["--pmu=montecito", "--pmu=itanium2"]),
        (["--machine=itanium", "--machine=itanium2"], ["--machine is given twice"]),
        (["--pmu=intel_v1", "--set=l3.size=9M"], ["l3.size", "core2", "no l3"]),
        (["--machine=nehalem", "--set=l2.line=32"], ["l2.line", "l1d.line=64"]),
        (["--machine=nehalem", "--set=predictor.shared=1000"], ["predictor.shared", "power of two"]),
        (["--machine=nehalem", "--set=l1d.fills=9"], ["unknown figure", "l1d.fills"]),
        (["--set=l3.size"], ["FIGURE=VALUE"]),
        (["--set=l3.sice=9M"], ["unknown figure", "l3.size"]),
        (["--pmu=itanium2", "--set=l3.size=9 apples"], ["l3.size", "a size in bytes"]),
    ],
)
def test_mistakes_are_refused_in_a_line(options: list[str], words: list[str]) -> None:
    text = refused(*options, "-I")
    assert not [word for word in words if word not in text]
