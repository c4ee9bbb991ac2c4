"""A hundred boots with other phases of the timer, other turns of processors (PFMON_TEST_PROGRAMS, kernel): each one
ends as the first does."""

import lzma
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import example, pfmon
from shared_programs import folder, needs

KERNELS = folder("kernel")
AT_ONCE = 5
"""Boots in a test, which has five minutes."""
WAYS: list[tuple[str, Sequence[str]]] = [
    ("plain", ()),
    ("perf", ("--pmu=montecito", "--memory=160M")),
    ("smp", ("--processors=2",)),
    ("smp", ("--processors=4", "--quantum=1000")),
]
pytestmark = [needs("kernel"), pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kernels")
    for name in {name for name, _ in WAYS}:
        packed = next(iter(KERNELS.glob(f"vmlinux-{name}*.xz")))
        (place / name).write_bytes(lzma.decompress(packed.read_bytes()))
    return place


@pytest.mark.parametrize("first", range(1, 26, AT_ONCE))
@pytest.mark.parametrize("way", range(len(WAYS)))
def test_boot_ends_whatever_the_phase_of_its_timer(kernels: Path, way: int, first: int) -> None:
    name, options = WAYS[way]
    system = ("--system", str(kernels / name), *options)
    for seed in range(first, first + AT_ONCE):
        words = (*system, f"--schedule-seed={seed}", "-e", "ia64_inst_retired", "-u", "--", example("noploop"), "1000")
        ran = pfmon(*words)
        assert (ran.returncode, ran.stderr) == (0, ""), (seed, ran)
        assert ran.stdout.startswith("1000\n"), (seed, ran)
        counted = int(re.findall(r"(\d+) IA64_INST_RETIRED", ran.stdout)[0])
        assert 6000 < counted < 12000, (seed, ran.stdout)
