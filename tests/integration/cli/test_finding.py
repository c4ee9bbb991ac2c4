"""The line below the summary: the cause that takes more than a third of the cycles, and where it does."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from command import example, pfmon
from host_programs import needs

import pfmon as library

MISPREDICTED = """
#include <stdio.h>
static unsigned next(unsigned *state)
{
    *state ^= *state << 13; *state ^= *state >> 17; return *state ^= *state << 5;
}
int main(void)
{
    unsigned state = 2463534242u, odd = 0;
    for (int i = 0; i < 100000; i++)
        if (next(&state) & 1)
            __asm__ volatile("nop; nop");
        else
            odd++;
    printf("%u\\n", odd);
    return 0;
}
"""
LINE = re.compile(r"(\d+)% of cycles: (.*?)(?:, most at (.*))?")


@pytest.fixture(name="program")
def compiled(tmp_path: Path) -> str:
    (tmp_path / "odd.c").write_text(MISPREDICTED)
    subprocess.run(["cc", "-g", "-O1", "-o", "odd", "odd.c"], cwd=tmp_path, check=True)
    return str(tmp_path / "odd")


@needs("cc")
def test_mispredicted_branches_are_found_at_their_line(program: str) -> None:
    found = LINE.fullmatch(pfmon("--no-cmd-output", program).stdout.splitlines()[-1])
    report = json.loads(pfmon("--json", "--report=cpi", program).stdout)["report"]
    share = report["parts"]["branch mispredicts"]["cycles"] / report["cycles"]
    assert share > 1 / 3
    told = json.loads(pfmon("--json", program).stdout)["finding"]
    assert told == {"share": pytest.approx(share), "cause": "mispredicted branches", "place": "odd.c:11"}
    assert found and found.groups() == (f"{100 * share:.0f}", "mispredicted branches", "odd.c:11")


@needs("cc")
def test_without_lines_the_function_is_named(program: str) -> None:
    subprocess.run(["strip", "--strip-debug", program], check=True)
    assert pfmon("--no-cmd-output", program).stdout.endswith(" of cycles: mispredicted branches, most at main\n")


def test_what_is_less_than_a_third_is_not_said() -> None:
    done = pfmon("--no-cmd-output", example("fib"), "25")
    report = json.loads(pfmon("--json", "--report=cpi", example("fib"), "25").stdout)["report"]
    parts = {name: part["cycles"] / report["cycles"] for name, part in report["parts"].items()}
    largest = max(share for name, share in parts.items() if name != "inherent execution")
    assert (largest > 1 / 3) == (" of cycles: " in done.stdout)


@needs("cc")
def test_the_library_has_it_too(program: str) -> None:
    found = library.run([program], stdout=library.DEVNULL).finding
    assert found and found.cause == "mispredicted branches" and found.place == "odd.c:11" and found.share > 1 / 3
    assert library.run([program], stdout=library.DEVNULL, events="instructions").finding is None
