"""The timeline of a block: some of its executions one after the other, instruction by instruction, with what each
waited for.

An iteration is all that runs from an execution of the block to the next one: a loop's, with the blocks and calls in it.
Times are the machine's own, of these executions in the run; a tick is a fraction of a cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple

from pfmon.session.profile.code_profile import Function, Source
from pfmon.session.profile.cpi_causes import COMPONENTS

CLOSE = 0.02
"""The share of the cycles of an iteration by which they may exceed a limit that decides them."""
DISPATCH, ISSUE, FRONT_END, PORT = "dispatch", "issue", "front end", "port"
CHAIN, MISSES = "dependence chain", "cache misses"
GROUPS = {
    "L1D latency": CHAIN,
    "store forwarding": CHAIN,
    "latencies of operations": CHAIN,
    "integer latencies": CHAIN,
    "floating-point registers": CHAIN,
    "predicates, application registers": CHAIN,
    "waiting for loads": "loads",
    "waiting for L2": MISSES,
    "waiting for L3": MISSES,
    "waiting for memory": MISSES,
    "waiting for translations": MISSES,
    "stores that missed": MISSES,
    "instruction cache misses": FRONT_END,
    "instruction TLB misses": FRONT_END,
    "decoding": FRONT_END,
    "branches in the front end": FRONT_END,
    "cycles that retired": ISSUE,
}
"""Component of the cycle breakdown -> what a block is bound by when most of its cycles are of it; others have their own
name."""

FULL_NAMES = {
    "flushes": "mispredicted branches",
    "cache misses": "instruction cache misses",
    "TLB misses": "instruction TLB misses",
}
"""Names of components that are not clear without that of their part."""

UNAVOIDABLE = ("dispatch", "cycles that retired", "the block before")
"""Causes of the time that instructions take when nothing is late: µops that dispatch in a cycle, a cycle in which they
issue."""


class Wait(NamedTuple):
    """Why an instruction retired later than the one before. ``cause``: the component of the cycle breakdown; ``port``:
    whose work it waited for, or ""; ``behind``: it had retired, or issued, and what follows waits."""

    cause: str
    ticks: int
    port: str = ""
    behind: bool = False

    @property
    def stalls(self) -> bool:
        """Whether it is more than the time that instructions take when nothing is late."""
        return self.cause not in UNAVOIDABLE

    @property
    def shown(self) -> str:
        """The cause, with the port."""
        return f"{self.cause} {self.port}" if self.port and self.port != "divider" else self.cause


class TimedInstruction(NamedTuple):
    """An execution of an instruction. Ticks since the beginning of the timeline, None: the machine has no such time;
    ``delivered``: the front end has delivered its block; ``dispatched``: into the window; ``started``: at its ports, a
    load with its address; ``data``: all its operands are there, a load's among them; ``executed``: its result is;
    ``retired``: on an in-order machine the cycle in which it issued. ``slots``: µops that dispatch; ``ports``: ticks of
    each port's work, of the units that can do it; ``held``: False: its predicate was false; ``mispredicted``: it is a
    branch that was, on an out-of-order machine."""

    iteration: int
    address: int
    text: str
    delivered: int | None
    dispatched: int | None
    started: int
    data: int | None
    executed: int | None
    retired: int
    slots: int
    ports: Mapping[str, int]
    waits: tuple[Wait, ...]
    held: bool = True
    mispredicted: bool = False


class BlockTimeline(NamedTuple):
    """Executions of a block. ``executions``, ``ticks``: of the whole run, by which retirement proceeded in it;
    ``execution``: the one with which the timeline begins; ``iterations``: ticks of each; ``cycle``: ticks of a cycle;
    ``width``: µops that dispatch in a cycle; ``front_end``: ticks in which the front end delivers all iterations, None:
    not known; ``repeats``: False: the block did not run again soon, and what is shown is a single execution."""

    machine: str
    function: Function
    address: int
    source: Source | None
    executions: int
    ticks: int
    execution: int
    cycle: int
    width: int
    iterations: tuple[int, ...]
    front_end: int | None
    repeats: bool
    instructions: Sequence[TimedInstruction]

    @property
    def cycles(self) -> float:
        """Cycles of an iteration."""
        return self.of_iteration(sum(self.iterations))

    def of_iteration(self, ticks: float) -> float:
        """Return the cycles of an iteration, of the ticks of all."""
        return ticks / self.cycle / len(self.iterations)

    @property
    def ports(self) -> dict[str, int]:
        """Ticks of each port's work in all iterations."""
        found: Counter[str] = Counter()
        for one in self.instructions:
            found.update(one.ports)
        return {port: found[port] for port in sorted(found)}

    @property
    def causes(self) -> dict[str, int]:
        """Ticks of all iterations by what retirement waited for, the largest first; they add up to those of the
        iterations."""
        found: Counter[str] = Counter()
        for one in self.instructions:
            for wait in one.waits:
                found[wait.shown] += wait.ticks
        return dict(found.most_common())

    @property
    def bounds(self) -> dict[str, float]:
        """Cycles that an iteration takes at least: for dispatch, the front end, and its busiest port."""
        in_order = all(one.dispatched is None for one in self.instructions)
        found = {
            ISSUE if in_order else DISPATCH: sum(one.slots for one in self.instructions)
            / self.width
            / len(self.iterations)
        }
        if self.front_end is not None:
            found[FRONT_END] = self.of_iteration(self.front_end)
        if ports := self.ports:
            busiest = max(ports, key=lambda port: ports[port])
            found[busiest if busiest == "divider" else f"{PORT} {busiest}"] = self.of_iteration(ports[busiest])
        return found

    @property
    def bottleneck(self) -> str:
        """What decides how long an iteration takes: the largest of the bounds, if that is all its cycles; else what
        most of them are waits for."""
        bounds = self.bounds
        largest = " and ".join(name for name, cycles in bounds.items() if cycles == max(bounds.values()))
        if max(bounds.values()) * (1 + CLOSE) >= self.cycles:
            return largest
        groups: Counter[str] = Counter()
        for one in self.instructions:
            for wait in one.waits:
                named = GROUPS.get(wait.cause, wait.cause)
                groups[f"{PORT} {wait.port}" if wait.port and wait.port != "divider" else named] += wait.ticks
        return max(groups, key=lambda name: groups[name]) if groups else largest

    def to_dict(self) -> dict[str, Any]:
        """Return the object that --json prints; times in cycles."""
        return {
            "machine": self.machine,
            "function": self.function.name,
            "object": self.function.object,
            "address": self.address,
            "source": str(self.source) if self.source else None,
            "executions": self.executions,
            "cycles_of_run": self.ticks / self.cycle,
            "execution": self.execution,
            "repeats": self.repeats,
            "iterations": [ticks / self.cycle for ticks in self.iterations],
            "cycles": self.cycles,
            "bottleneck": self.bottleneck,
            "bounds": self.bounds,
            "ports": {port: self.of_iteration(ticks) for port, ticks in self.ports.items()},
            "causes": {cause: self.of_iteration(ticks) for cause, ticks in self.causes.items()},
            "instructions": [self._instruction(one) for one in self.instructions],
        }

    def _instruction(self, one: TimedInstruction) -> dict[str, Any]:
        def cycles(ticks: int | None) -> float | None:
            return None if ticks is None else ticks / self.cycle

        return {
            "iteration": one.iteration,
            "address": one.address,
            "text": one.text,
            "qualified": one.held,
            "mispredicted": one.mispredicted,
            "delivered": cycles(one.delivered),
            "dispatched": cycles(one.dispatched),
            "started": cycles(one.started),
            "data": cycles(one.data),
            "executed": cycles(one.executed),
            "retired": cycles(one.retired),
            "slots": one.slots,
            "ports": {port: ticks / self.cycle for port, ticks in one.ports.items()},
            "waits": [
                {"cause": wait.cause, "port": wait.port, "behind": wait.behind, "cycles": wait.ticks / self.cycle}
                for wait in one.waits
            ],
        }


@cache
def component_of(cause: str) -> str:
    """Return the component of the cycle breakdown that a cause is part of, by a name that tells its part; its own name:
    of none."""
    for one in COMPONENTS:
        if any(fnmatchcase(cause, pattern) for pattern in one.causes):
            return FULL_NAMES.get(one.name, one.name)
    return cause
