"""The x86_64 engine: system calls reach nothing of the runtime's memory."""

import subprocess
from pathlib import Path

import pytest
from grids import diagonal
from x86_64_host import ENGINE, MARKS, PFMON, WAYS, compiled, pfmon

pytestmark = MARKS
REFUSED = {
    "process_vm_readv": "EPERM",
    "ptrace": "EPERM",
    "io_uring_setup": "ENOSYS",
    "userfaultfd": "ENOSYS",
    "/proc/self/mem": "EACCES",
    "mem": "EACCES",
    "/proc/self/../self/mem": "EACCES",
    "../self/mem": "EACCES",
    "/proc/self/task/1000/mem": "EACCES",
    "task/1000/mem": "EACCES",
    "/proc/self/smaps": "ENOENT",
    "smaps": "ENOENT",
    "/proc/self/pagemap": "ENOENT",
    "pagemap": "ENOENT",
}
"""Calls that reach other memory than their arguments say (docs/programs.md)."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that makes the calls."""
    return compiled(tmp_path_factory.mktemp("own"), "own_memory")


def test_calls_with_its_memory_fail_as_natively_without_it(program: Path) -> None:
    """Natively nothing is mapped at these addresses."""
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    expected = [f"{name} {REFUSED.get(name, error)}" for name, error in map(str.split, native)]
    counted = pfmon(ENGINE, "-e", "instructions_retired", str(program)).stdout.splitlines()
    assert counted[:-1] == expected


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("way", ["totals", "addresses"])
@pytest.mark.parametrize(
    "seed", [*range(1, 3), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(3, 200))]
)
def test_random_calls_change_nothing_of_it(seed: int, way: str, program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*PFMON, *WAYS[way], program, str(seed), "2000"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stderr
