"""Programs that monitor themselves with the modelled PMU: what they print."""

from pathlib import Path

from x86_64_host import without_input

from pfmon import pmu

EXACT = "--guest-pmu=exact"
SKYLAKE = pmu.get("skylake")


def lines(*words: str | Path, status: int = 0) -> list[str]:
    """The lines that a program prints which monitors itself."""
    done = without_input(*map(str, words))
    assert done.returncode == status, done
    return done.stdout.splitlines()


def numbers(*words: str | Path) -> list[list[int]]:
    """The numbers in its lines."""
    return [[int(word) for word in line.split()] for line in lines(*words)]
