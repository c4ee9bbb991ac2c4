"""Inclusive counts of functions and of their calls, beside the call tree and beside what the examples' sources say."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from command import EXAMPLES, example
from grids import first_quick
from host_programs import needs

import pfmon
from pfmon.session.profile.call_graph import CallGraph, call_graph
from pfmon.session.profile.call_rows import CallRow
from pfmon.session.profile.code_profile import Function

PROGRAMS = [("ia64", "queens", "4"), ("ia64", "fib", "9"), ("x86_64", "hashmap", "300"), ("x86_64", "sort", "100")]


class Names:
    """Names of functions by address."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def row(self, address: int, file: int) -> Function:
        return Function(self._names[address], address)


def named(graph: CallGraph) -> tuple[dict[str, tuple[int, int]], dict[tuple[str, str], tuple[int, int]]]:
    """Inclusive counts, and calls with their cycles, by name."""
    return (
        {function.name: counts for function, counts in graph.inclusive.items()},
        {(edge.caller.name, edge.callee.name): (edge.calls, edge.cycles) for edge in graph.edges},
    )


def test_of_a_recursion_only_the_outermost_call_is_counted() -> None:
    """main calls f and g; f calls g, which calls f, which calls g; a stub without a name is part of its caller."""
    nodes = [
        (0, 0, 0, 0, (1, 1)),
        (0, 1, 0, 1, (10, 2)),
        (1, 2, 0, 3, (100, 3)),
        (2, 1, 0, 3, (1000, 4)),
        (3, 2, 0, 2, (10000, 5)),
        (0, 2, 0, 1, (5, 6)),
        (5, 3, 0, 1, (2, 7)),
    ]
    inclusive, calls = named(call_graph(nodes, Names("main", "f", "g", "[no symbol]")))  # type: ignore[arg-type]  # all that is asked for
    assert inclusive == {"main": (11118, 28), "f": (11110, 14), "g": (11107, 25)}
    assert calls == {("main", "f"): (1, 11110), ("f", "g"): (5, 11100), ("g", "f"): (3, 11000), ("main", "g"): (1, 7)}


def recomputed(rows: tuple[CallRow, ...]) -> Counter[str]:
    """Inclusive cycles by name, path by path."""
    paths: list[tuple[str, ...]] = []
    found: Counter[str] = Counter()
    for row in rows:
        paths.append((*(paths[row.parent] if row.parent >= 0 else ()), row.name))
        for name in set(paths[-1]):
            found[name] += sum(row.counts[:-1])
    return found


@pytest.mark.parametrize("program", first_quick(PROGRAMS, single=True), ids=lambda program: "-".join(program))
def test_inclusive_cycles_are_those_of_all_paths_with_the_function(program: tuple[str, ...]) -> None:
    folder, name, argument = program
    surveyed = pfmon.run([str(EXAMPLES / folder / name), argument], report="html", capture=True).surveyed
    assert surveyed
    found = {str(function): cycles for function, (cycles, _) in surveyed.graph.inclusive.items()}
    assert found == dict(recomputed(tuple(surveyed.calls)))
    assert max(found.values()) == surveyed.cpi.cycles


BOUND_LATE = """
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    int all[50];
    for (int i = 0; i < 50; i++)
        all[i] = i * 37 % 50;
    qsort(all, 50, sizeof *all, compare);
    return (int)(strtol("12", NULL, 10) + labs(-3L) + strtol("7", NULL, 10)) - 22;
}
"""


@pytest.mark.slow
@needs("cc")
def test_calls_that_are_bound_late_lead_to_the_same_functions(tmp_path: Path) -> None:
    """As those of the same program, whose dynamic linker binds everything before main; but for the linker's own."""
    (tmp_path / "late.c").write_text(BOUND_LATE)
    called = {}
    for when in ("lazy", "now"):
        command = ["cc", "-O1", "-fno-builtin", "-no-pie", f"-Wl,-z,{when}", "-o", when, "late.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        surveyed = pfmon.run([str(tmp_path / when)], report="html", capture=True).surveyed
        assert surveyed
        of_main = [edge for edge in surveyed.graph.edges if edge.caller.name == "main"]
        called[when] = {edge.callee.name: (edge.calls, edge.instructions) for edge in of_main}
    (linker,) = called["lazy"].keys() - called["now"].keys()
    assert "resolve" in linker and called["lazy"].pop(linker)[0] == len(called["now"]) >= 3
    assert called["lazy"] == called["now"]


def test_calls_between_functions_are_counted() -> None:
    surveyed = pfmon.run([example("hashmap"), "300"], report="html", capture=True).surveyed
    assert surveyed
    calls = {(edge.caller.name, edge.callee.name): edge.calls for edge in surveyed.graph.edges}
    assert (calls["main", "insert"], calls["main", "lookup"]) == (300, 600)  # examples/src/hashmap.c


@pytest.mark.slow
def test_a_recursive_function_calls_itself_as_often_as_its_source_says() -> None:
    """examples/src/fib.c, of which gcc makes a loop of the second call: fib(n - 1), fib(n - 3) and so on are called."""

    def fib_calls(n: int) -> int:
        return 1 + sum(fib_calls(less) for less in range(n - 1, 0, -2))

    surveyed = pfmon.run([example("fib"), "9"], report="html", capture=True).surveyed
    assert surveyed
    calls = {(edge.caller.name, edge.callee.name): edge.calls for edge in surveyed.graph.edges}
    assert (calls["main", "fib"], calls["fib", "fib"]) == (1, fib_calls(9) - 1)
