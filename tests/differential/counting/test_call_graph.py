"""Inclusive counts of functions and of their calls, beside the call tree and beside what the examples' sources say."""

from collections import Counter

import pytest
from command import EXAMPLES, example
from grids import first_quick

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


def test_calls_between_functions_are_counted() -> None:
    surveyed = pfmon.run([example("hashmap"), "300"], report="html", capture=True).surveyed
    assert surveyed
    calls = {(edge.caller.name, edge.callee.name): edge.calls for edge in surveyed.graph.edges}
    assert (calls["main", "insert"], calls["main", "lookup"]) == (300, 600)  # examples/src/hashmap.c


def test_a_recursive_function_calls_itself_as_often_as_its_source_says() -> None:
    """examples/src/fib.c, of which gcc makes a loop of the second call: fib(n - 1), fib(n - 3) and so on are called."""

    def fib_calls(n: int) -> int:
        return 1 + sum(fib_calls(less) for less in range(n - 1, 0, -2))

    surveyed = pfmon.run([example("fib"), "9"], report="html", capture=True).surveyed
    assert surveyed
    calls = {(edge.caller.name, edge.callee.name): edge.calls for edge in surveyed.graph.edges}
    assert (calls["main", "fib"], calls["fib", "fib"]) == (1, fib_calls(9) - 1)
