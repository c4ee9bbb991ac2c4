"""The calls that pfmon exports without samples are those that Callgrind counts: how often each function calls another,
and the instructions of each."""

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from command import pfmon
from host_programs import needs

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static unsigned step(unsigned *s) { return *s = *s * 1103515245u + 12345u; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int odd(int n);
static int even(int n) { return n ? odd(n - 1) + 1 : 0; }
static int odd(int n) { return n ? even(n - 1) + 1 : 1; }
int main(void)
{
    static int table[300];
    unsigned s = 1;
    for (int i = 0; i < 300; i++)
        table[i] = step(&s) >> 8;
    qsort(table, 300, sizeof *table, order);
    printf("%d %d %d\\n", table[0], fib(12), even(21));
    return 0;
}
"""
OWN = ("main", "fib", "even", "odd", "step", "order")
NAME = re.compile(r"(?:\((\d+)\))?\s*(.*)")


class Profile(NamedTuple):
    """Calls by (caller, callee) and instructions by function, of those in OWN."""

    calls: Counter[tuple[str, str]]
    instructions: Counter[str]


def read(path: Path) -> Profile:
    """Read a profile in Callgrind's format (Callgrind Format Specification): names may be numbers of earlier ones, and
    a recursive function has a number behind its name."""
    names: dict[str, str] = {}
    found = Profile(Counter(), Counter())
    function = callee = ""
    column, called = 0, False

    def name(text: str) -> str:
        match = NAME.fullmatch(text)
        assert match
        number, spelled = match[1] or "", match[2]
        if number and spelled:
            names[number] = spelled
        return (spelled or names[number]).partition("'")[0]

    for line in path.read_text().splitlines():
        key, _, value = line.partition("=")
        if line.startswith("events:"):
            column = [*line.split()[1:]].index("Ir" if "Ir" in line else "instructions") - len(line.split()[1:])
        elif key == "fn":
            function = name(value)
        elif key == "cfn":
            callee = name(value)
        elif key == "calls":
            called = True
            if function in OWN and callee in OWN:
                found.calls[function, callee] += int(value.split()[0])
        elif re.match(r"[+*\d-]", line):
            if function in OWN and not called:
                found.instructions[function] += int(line.split()[column])
            called = False
    return found


@pytest.mark.slow
@needs("cc", "valgrind")
def test_calls_and_instructions_are_those_of_callgrind(tmp_path: Path) -> None:
    (tmp_path / "calls.c").write_text(SOURCE)
    options = ["-g", "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-plt"]
    subprocess.run(["cc", *options, "-o", "calls", "calls.c"], cwd=tmp_path, check=True)
    program = str(tmp_path / "calls")
    assert pfmon("--no-cmd-output", f"--export=callgrind:{tmp_path / 'ours'}", program).returncode == 0
    subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={tmp_path / 'theirs'}", program],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    ours, theirs = read(tmp_path / "ours"), read(tmp_path / "theirs")
    assert ours.instructions == theirs.instructions and len(ours.instructions) == len(OWN)
    assert ours.calls == theirs.calls
    assert ours.calls["fib", "fib"] == 464 and ours.calls["main", "step"] == 300
