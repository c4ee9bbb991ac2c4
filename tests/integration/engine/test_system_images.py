"""System mode of IA-64 against the manual: images that print what each rule of volume 2 does (tests/data/system/)."""

import fnmatch
import os
from pathlib import Path

import pytest
import system_images
from command import pfmon
from grids import each

SKI = os.environ.get("PFMON_SKI")
NAMES = system_images.names()


@pytest.mark.slow
@each("name", NAMES)
def test_image_prints_what_the_manual_says(name: str) -> None:
    ran = pfmon("--system", str(system_images.image(name)), *system_images.options(name))
    assert ran.stdout.splitlines()[: len(system_images.expected(name))] == system_images.expected(name)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
@each("name", [name for name in NAMES if system_images.options(name) == ["--guest-pmu"]])
def test_monitors_are_the_images_with_guest_pmu_alone(name: str) -> None:
    image = str(system_images.image(name))
    slow = pfmon("--system", image, "--guest-pmu=exact", "--slow")
    assert slow.stdout.splitlines() == system_images.expected(name)
    without = pfmon("--system", image)
    assert not [line for line in without.stdout.splitlines() if line.split()[1:2] == ["3000"]]
    assert without.returncode == 0


@pytest.mark.slow
@each("pmu", ["itanium", "montecito"])
def test_overflows_interrupt_at_the_same_places_on_each_itanium(pmu: str) -> None:
    ran = pfmon("--system", str(system_images.image("overflow")), "--guest-pmu", "--pmu", pmu)
    assert ran.stdout.splitlines() == system_images.expected("overflow")


@each("name", NAMES)
def test_every_case_has_a_line_and_a_section(name: str) -> None:
    printed = [text.split()[0] for text, _ in system_images.sections(name)]
    assert len(printed) == len(set(printed)) > 0
    assert all("volume" in source for _, source in system_images.sections(name))
    assert all(fnmatch.filter(printed, pattern) for pattern in system_images.differs_on_ski(name))


@pytest.mark.slow
@pytest.mark.skipif(not system_images.can_assemble(), reason="no assembler for IA-64 here")
@each("name", NAMES)
def test_assembled_image_is_that_of_its_source(name: str, tmp_path: Path) -> None:
    system_images.assemble(name, tmp_path / name)
    assert (tmp_path / name).read_bytes() == system_images.image(name).read_bytes()


@pytest.mark.skipif(SKI is None, reason="PFMON_SKI does not say where Ski is")
@each("name", NAMES)
def test_ski_prints_the_same_or_the_source_says_why(name: str) -> None:
    assert not system_images.unexplained(name, system_images.ski(str(SKI), name))
