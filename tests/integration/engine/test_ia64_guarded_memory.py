"""No access of a guest's reaches the host's memory beyond the guest's: each piece of that lies between pages that
nobody may touch, in a process of its own, which is killed by what does."""

import signal
from pathlib import Path

import pytest
from grids import first_quick
from guarded import run_guarded
from host_programs import needs
from ia64_edges import ACCESSES, LAYOUT, OFFSETS

pytestmark = needs("cc")
TESTS = Path(__file__).parents[2]

BEYOND = """
import ctypes
from pfmon.engine.ia64._ia64 import AddressSpace
memory = AddressSpace()
memory.map(0x10000, 0x8000, 3)
first, last = memory.place(0x10000), memory.place(0x17fff)
ctypes.memset(last, 1, 1)
print("inside", flush=True)
ctypes.memset({place}, 1, 1)
"""
FUZZ = """
from random import Random
from ia64_fuzz import Fuzz
for seed in range({first}, {last}):
    fuzz = None
    fuzz = Fuzz(Random(seed), max_block=1 if seed % 5 == 3 else 96, trace=seed % 3 == 1)
    for _ in range(2):
        fuzz.new_program()
        fuzz.run(20000, tries=300)
print("done")
"""


@pytest.mark.parametrize("place", first_quick(["first - 1", "last + 1"]))
def test_guards_kill_what_reaches_beyond(place: str, tmp_path: Path) -> None:
    done = run_guarded(tmp_path, "-c", BEYOND.format(place=place))
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "inside\n")


@pytest.mark.slow
def test_accesses_at_edges_reach_nothing_beyond(tmp_path: Path) -> None:
    done = run_guarded(tmp_path, "tests/support/ia64_edges.py")
    tried = 3 * len(ACCESSES) * (len(LAYOUT) + 1) * len(OFFSETS)
    assert (done.returncode, done.stdout) == (0, f"{tried}\n"), done.stderr[-2000:]


@pytest.mark.slow
def test_random_programs_reach_nothing_beyond(tmp_path: Path) -> None:
    done = run_guarded(tmp_path, "-c", FUZZ.format(first=500, last=503))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


@pytest.mark.exhaustive
def test_many_random_programs_reach_nothing_beyond(tmp_path: Path) -> None:
    done = run_guarded(tmp_path, "-c", FUZZ.format(first=600, last=650))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


@pytest.mark.exhaustive
@pytest.mark.parametrize("stage", ["engine", "linux"])
def test_all_tests_of_the_engine_reach_nothing_beyond(stage: str, tmp_path: Path) -> None:
    """But for one of how much address space there is: guards stay behind."""
    chosen = "not qemu and not guarded_memory and not given_back"
    tests = sorted(str(folder) for folder in TESTS.glob(f"*/{stage}"))
    assert len(tests) > 1
    words = ("-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-n0", "-k", chosen, *tests)
    done = run_guarded(tmp_path, *words, seconds=1200)
    ended = (0, 1)  # what fails in them is told where they are
    assert done.returncode in ended and "100%]" in done.stdout, done.stderr[-2000:]


@pytest.mark.slow
def test_wild_arguments_of_calls_reach_nothing_beyond(tmp_path: Path) -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0")
    done = run_guarded(
        tmp_path, *words, "tests/unit/linux/test_any_call.py", "tests/unit/linux/test_call_edges.py", seconds=600
    )
    assert done.returncode == 0, done.stdout[-2000:]
