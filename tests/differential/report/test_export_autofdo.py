"""AutoFDO's text from samples of last branches: its counts are those of single steps, its places those of binutils."""

import re
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import example, pfmon, refused
from plain_last_branches import taken_branches
from x86_64_host import MARKS
from x86_64_steps import Step, stepped

pytestmark = MARKS

DEPTH, PERIOD = 32, 13
SOURCE = """
static inline int square(int x) {
    int y = x * x;
    if (y & 4)
        y += 3;
    return y;
}

static inline int odd(int x) {
    return x & 1 ? square(x) : x;
}

__attribute__((noinline)) int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += square(i) + odd(i);
        if (sum > 1000)
            sum -= 1000;
    }
    return sum;
}

__attribute__((noinline)) int twice(int n) {
    return work(n) + work(n / 2);
}

static int (*const functions[])(int) = {twice, work};

void _start(void) {
    int total = 0;
    for (int i = 0; i < 12; i++)
        total += functions[i % 3 == 0](i);
    __asm__ volatile("syscall" : : "a"(231), "D"(total & 1));
    __builtin_unreachable();
}
"""
FUNCTIONS = ("square", "odd", "work", "twice", "_start")
LINES = {name: SOURCE[: SOURCE.index(f" {name}(")].count("\n") + 1 for name in FUNCTIONS}
"""Where each is declared."""


def built(directory: Path, *flags: str) -> Path:
    source, program = directory / "program.c", directory / "program"
    source.write_text(SOURCE)
    plain = ("-static", "-nostdlib", "-fno-stack-protector", "-fcf-protection=none", "-no-pie")
    subprocess.run(["gcc", *flags, "-g", *plain, "-o", program, source], check=True)
    return program


def places(program: Path, addresses: list[int]) -> dict[int, list[tuple[str, int]]]:
    """Function and line of each address, and of the calls that inlined it, the innermost first, by addr2line."""
    words = ["addr2line", "-a", "-f", "-i", "-e", str(program), *map(hex, addresses)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found: dict[int, list[tuple[str, int]]] = {}
    for part in said.split("0x")[1:]:
        address, *rest = part.splitlines()
        lines = (int(re.sub(r"^.*:(\d+|\?).*$", r"\1", line).replace("?", "0")) for line in rest[1::2])
        found[int(address, 16)] = list(zip(rest[::2], lines, strict=True))
    return found


Counts = tuple[Counter[int], Counter[tuple[int, int]]]
"""Of instructions, and of branches by source and target."""


def exact(steps: list[Step]) -> Counts:
    """All that a program executes."""
    return Counter(step.ip for step in steps), Counter((one.source, one.target) for one in taken_branches(steps))


def sampled(steps: list[Step]) -> Counts:
    """What samples of taken branches say."""
    branches = list(taken_branches(steps))
    executed = sorted({step.ip for step in steps})
    counts: Counter[int] = Counter()
    edges: Counter[tuple[int, int]] = Counter()
    for number in range(PERIOD, len(branches) + 1, PERIOD):
        held = branches[max(0, number - 1 - DEPTH) : number - 1]
        edges.update((one.source, one.target) for one in held)
        for one, following in pairwise(held):
            counts.update(ip for ip in executed if one.target <= ip <= following.source)
    return counts, edges


def expected(program: Path, counts: Counter[int], edges: Counter[tuple[int, int]]) -> dict[str, Any]:
    """The profile as a tree: (line, function) or line -> counts."""
    where = places(program, sorted({*counts, *(address for edge in edges for address in edge)}))
    tree: dict[str, Any] = {}
    for ip, count in counts.items():
        node, line = _node(tree, where[ip])
        node[line] = max(node.get(line, 0), count)
    for (source, target), count in edges.items():
        name = where[target][-1][0]
        if _entry(program, name) == target:
            tree[name]["head"] = tree[name].get("head", 0) + count
            node, line = _node(tree, where[source])
            if node.get(line):
                node[f"{line} {name}"] = node.get(f"{line} {name}", 0) + count
    return tree


def _node(tree: dict[str, Any], stack: list[tuple[str, int]]) -> tuple[dict[Any, Any], int]:
    """Where an instruction counts, and at which line."""
    (outermost, _), *_ = stack[::-1]
    node = tree.setdefault(outermost, {})
    for (outer, line), (inner, _) in pairwise(stack[::-1]):
        node = node.setdefault((line - LINES[outer], inner), {})
    return node, stack[0][1] - LINES[stack[0][0]]


def _entry(program: Path, name: str) -> int:
    said = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    return next(int(line.split()[0], 16) for line in said.splitlines() if line.split()[2] == name)


def total(node: dict[Any, Any]) -> int:
    return sum(
        total(value) if isinstance(value, dict) else value if isinstance(key, int) else 0 for key, value in node.items()
    )


def text(name: str, node: dict[Any, Any]) -> set[str]:
    """The lines of a function, each with its path."""
    found = {f"{name}:{total(node)}:{node.get('head', 0)}"}
    return found | _text(name, node)


def _text(path: str, node: dict[Any, Any]) -> set[str]:
    found = set()
    for key, value in node.items():
        if isinstance(key, tuple):
            found.add(f"{path}/{key[0]}: {key[1]}:{total(value)}")
            found |= _text(f"{path}/{key[0]} {key[1]}", value)
        elif isinstance(key, int):
            called = [(one.split()[1], node[one]) for one in node if isinstance(one, str) and one.startswith(f"{key} ")]
            ordered = sorted(called, key=lambda one: (-one[1], one[0]))
            found.add(f"{path}/{key}: {value}" + "".join(f" {name}:{count}" for name, count in ordered))
    return found


def read(profile: str) -> set[str]:
    """The lines of a profile, each with its path."""
    found, path = set(), [""]
    for line in profile.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        if depth == 0:
            path = [line.partition(":")[0]]
            found.add(line)
            continue
        path = path[:depth]
        found.add(f"{'/'.join(path)}/{line.strip()}")
        offset, _, rest = line.strip().partition(": ")
        if ":" in rest.split(" ")[0]:
            path.append(f"{offset} {rest.partition(':')[0]}")
    return found


def compare(profile: Path, tree: dict[str, Any]) -> None:
    assert {"work", "twice", "_start"} <= set(tree)
    assert read(profile.read_text()) == set().union(*(text(name, node) for name, node in tree.items()))


@pytest.mark.parametrize("level", ["-O2", "-O0"])
def test_without_samples_counts_are_all_of_the_log(level: str, tmp_path: Path) -> None:
    program, profile = built(tmp_path, level), tmp_path / "profile"
    done = pfmon("--no-cmd-output", f"--export=autofdo:{profile}", str(program))
    assert done.returncode in (0, 1), done.stderr
    compare(profile, expected(program, *exact(stepped([program], tmp_path))))


@pytest.mark.parametrize("level", ["-O2", "-O1", "-O0"])
def test_counts_are_those_of_the_log(level: str, tmp_path: Path) -> None:
    program, profile = built(tmp_path, level), tmp_path / "profile"
    event = ("-e", "br_inst_retired.near_taken", f"--long-smpl-periods={PERIOD}", "-b")
    done = pfmon(*event, "--smpl-outfile=/dev/null", f"--export=autofdo:{profile}", str(program))
    assert done.returncode in (0, 1), done.stderr
    tree = expected(program, *sampled(stepped([program], tmp_path)))
    compare(profile, tree)
    if level == "-O2":
        assert any(isinstance(key, tuple) for key in tree["work"])


@pytest.mark.parametrize("words", [(), ("--branch-filter=cond",)])
def test_all_last_branches_of_samples_are_wanted(words: tuple[str, ...], tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    period = "--long-smpl-periods=100"
    said = refused("-e", "instructions", period, *words, f"--export=autofdo:{profile}", "/bin/true")
    assert "-b (--branch-any)" in said and not profile.exists()


def test_profiles_of_other_programs_are_refused(tmp_path: Path) -> None:
    said = refused(f"--export=autofdo:{tmp_path / 'profile'}", example("fib"), "3")
    assert "a profile is of an x86-64 or i386 program" in said
