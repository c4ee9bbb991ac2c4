"""Whatever a guest executes, its host neither crashes nor hangs: random programs in a process of their own."""

import subprocess
import sys
from pathlib import Path

import pytest
from grids import few

SUPPORT = Path(__file__).parents[2] / "support"
PROGRAM = """
import faulthandler, resource, sys
from random import Random
faulthandler.enable()
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
sys.path.insert(0, {support!r})
from ia64_fuzz import Fuzz
first, last = {first}, {last}
fuzz = None
for seed in range(first, last):
    fuzz = None  # a processor has a table of blocks, which takes half of the address space that there is here
    fuzz = Fuzz(Random(seed), max_block=1 if seed % 5 == 3 else 96, trace=seed % 3 == 1)
    for _ in range(2):
        fuzz.new_program()
        fuzz.run(20000, tries=300)
lengths = [len(fuzz.cpu.block(n).instructions) * fuzz.tally.runs(n) for n in range(fuzz.cpu.block_count())]
assert sum(lengths) == fuzz.cpu.retired, (sum(lengths), fuzz.cpu.retired)
print("done")
"""


def survive(first: int, last: int, seconds: int) -> None:
    program = PROGRAM.format(support=str(SUPPORT), first=first, last=last)
    paths = ":".join(path for path in sys.path if path)
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, env={"PYTHONPATH": paths}, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


@pytest.mark.slow
def test_random_programs_do_not_harm_the_host() -> None:
    survive(0, 12, 60)


@pytest.mark.slow
@pytest.mark.parametrize("first", few(range(10_000, 10_160, 20), 1))
def test_many_random_programs_do_not_harm_the_host(first: int) -> None:
    survive(first, first + 20, 300)
