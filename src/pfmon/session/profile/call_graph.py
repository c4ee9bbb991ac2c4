"""Callers and callees: inclusive counts of functions and of their calls, from all call paths of a run.

A function's inclusive count is its own and that of all that it calls. Where it is below itself on a call path
(recursion), only the outermost is counted, so no cycle is counted twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.session.profile.call_rows import RawNode
from pfmon.session.profile.code_profile import NO_SYMBOL, Function, FunctionNames


class CallEdge(NamedTuple):
    """Calls of one function by another: their number, and the cycles and instructions until they returned."""

    caller: Function
    callee: Function
    calls: int
    cycles: int
    instructions: int


class CallGraph(NamedTuple):
    """``inclusive``: cycles and instructions of each function and of all that it calls; ``edges``: the calls, those
    with most cycles first."""

    inclusive: dict[Function, tuple[int, int]]
    edges: list[CallEdge]


def call_graph(nodes: Sequence[RawNode], names: FunctionNames) -> CallGraph:
    """Return the graph of call paths. A callee that calls nothing and has no name, or was never called (a stub, which
    only jumps on), is part of its caller."""
    calling = {parent for parent, _, _, _, _ in nodes[1:]}
    functions = [names.row(entry, file) for _, entry, file, _, _ in nodes]
    stubs = {
        number
        for number, function in enumerate(functions)
        if number and number not in calling and (function.name == NO_SYMBOL or not nodes[number][3])
    }
    below = _with_callees(nodes)
    children: list[list[int]] = [[] for _ in nodes]
    for number in range(1, len(nodes)):
        if number not in stubs:
            children[nodes[number][0]].append(number)
    return _Walk(nodes, functions, below, children).graph()


def _with_callees(nodes: Sequence[RawNode]) -> list[tuple[int, int]]:
    """Return cycles and instructions of each node and of all nodes below it."""
    cycles = [sum(node[4][:-1]) for node in nodes]
    instructions = [node[4][-1] for node in nodes]
    for number in range(len(nodes) - 1, 0, -1):
        parent = nodes[number][0]
        cycles[parent] += cycles[number]
        instructions[parent] += instructions[number]
    return list(zip(cycles, instructions, strict=True))


class _Walk:
    """Goes through the tree depth first, with the functions and the calls of the current path."""

    def __init__(
        self,
        nodes: Sequence[RawNode],
        functions: Sequence[Function],
        below: Sequence[tuple[int, int]],
        children: Sequence[Sequence[int]],
    ) -> None:
        self._nodes, self._functions, self._below, self._children = nodes, functions, below, children
        self._active: Counter[Function | tuple[Function, Function]] = Counter()
        self._inclusive: dict[Function, tuple[int, int]] = {}
        self._edges: dict[tuple[Function, Function], tuple[int, int, int]] = {}

    def graph(self) -> CallGraph:
        """Return the graph of all nodes."""
        waiting = [(0, False)] if self._nodes else []
        while waiting:
            number, done = waiting.pop()
            if done:
                self._leave(number)
                continue
            self._enter(number)
            waiting.append((number, True))
            waiting.extend((child, False) for child in self._children[number])
        edges = [CallEdge(*of, *counts) for of, counts in self._edges.items()]
        return CallGraph(self._inclusive, sorted(edges, key=lambda edge: (-edge.cycles, edge.caller, edge.callee)))

    def _keys(self, number: int) -> tuple[Function, tuple[Function, Function] | None]:
        """Return a node's function, and the call that led to it; None: the root."""
        function = self._functions[number]
        return function, (self._functions[self._nodes[number][0]], function) if number else None

    def _enter(self, number: int) -> None:
        function, edge = self._keys(number)
        cycles, instructions = self._below[number]
        if not self._active[function]:
            known = self._inclusive.get(function, (0, 0))
            self._inclusive[function] = known[0] + cycles, known[1] + instructions
        self._active[function] += 1
        if edge:
            outermost = not self._active[edge]
            calls, *sums = self._edges.get(edge, (0, 0, 0))
            self._edges[edge] = (
                calls + self._nodes[number][3],
                sums[0] + outermost * cycles,
                sums[1] + outermost * instructions,
            )
            self._active[edge] += 1

    def _leave(self, number: int) -> None:
        function, edge = self._keys(number)
        self._active[function] -= 1
        if edge:
            self._active[edge] -= 1
