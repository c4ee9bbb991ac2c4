"""An out-of-order core in absolute time, one instruction after the other: docs/dev/machines.md ("How a block gets its
time on an out-of-order core") as a program.

Times are ticks since the beginning of the run. It knows no graphs of parts, and no causes. Parts count where the page
says so: room in the buffers, work of the ports and commits of stores are those of a part of a block.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any

from plain_parts import (
    ALONE,
    FENCES_STORES,
    LOCKED,
    PREFETCH,
    SERIALIZING,
    STRING,
    Instruction,
    Part,
    parts_of,
    waiting,
)

Response = tuple[int, int, int]
"""Of an access: its number, the kind, the value."""
LONG_AGO = -(1 << 40)
X87 = 18
"""The first of eight registers."""
SHORT_WAIT = 2
"""Cycles in the reservation station that do not count."""
RUNS = 2
"""Of a part, until µops wait for the registers of the part instead of their own operands."""
MOST_TRANSFERS = 64
PARTIAL_FLAGS = 128
TAKEN, MISPREDICTED, REDIRECTED, SOURCE_SHIFT = 1, 2, 4, 4
"""scheduler.pxd, BlockEnd."""


class Kind(IntEnum):
    """scheduler.pxd, ResponseKind."""

    L2 = 1
    L3 = 2
    MEMORY = 3
    IN_FLIGHT = 4
    IN_FLIGHT_HERE = 5
    WALK = 6
    BUS = 7
    FORWARDED = 8
    FORWARDED_HERE = 9
    BLOCKED = 10
    BLOCKED_HERE = 11
    ALIASED = 12
    SPLIT = 13
    PAGE_SPLIT = 14
    TRANSLATION = 15
    FETCH = 16
    FETCH_TRANSLATION = 17
    STRING = 18


class Buffer:
    """Entries by part. Those that leave before the buffer can be filled are not followed."""

    def __init__(self, size: int, slot: int) -> None:
        self.size, self.hidden = size, size * slot
        self.entered = 0
        self.parts: deque[tuple[int, int]] = deque()  # when they leave, and the entries before them

    def room(self, now: int, entries: int) -> int:
        """When half of a part's entries fit, not before ``now``."""
        first = self.entered + (entries + 1) // 2 - self.size
        while self.parts and (self.parts[0][0] <= now or self.parts[0][1] < first):
            now = max(now, self.parts.popleft()[0])
        return now

    def enter(self, entries: int, began: int, leaves: int) -> None:
        if entries and leaves - began > self.hidden:
            self.parts.append((leaves, self.entered))
        self.entered += entries


class Station(Buffer):
    """It is left in the order in which operands are ready."""

    def room(self, now: int, entries: int) -> int:
        while self.parts and (self.parts[0][0] <= now or self.held() + (entries + 1) // 2 > self.size):
            now = max(now, self.parts.popleft()[0])
        return now

    def held(self) -> int:
        return sum(entries for _, entries in self.parts)

    def enter(self, entries: int, began: int, leaves: int) -> None:
        if entries and leaves - began > self.hidden:
            self.parts = deque(sorted([*self.parts, (leaves, entries)]))


class PlainCore:
    """``figures``: CoreTimings.core_figures(); ``ticks``: of a cycle."""

    def __init__(self, figures: Mapping[str, Any], ticks: int) -> None:
        self.figures, self.ticks, self.slot = figures, ticks, ticks // figures["width"]
        kinds = [Buffer, Station, Buffer, Buffer]
        self.buffers = [kind(entries, self.slot) for kind, entries in zip(kinds, figures["buffers"], strict=True)]
        self.registers: defaultdict[int, int] = defaultdict(lambda: LONG_AGO)
        self.top = 0  # of the x87 stack
        self.free: defaultdict[int | str, int] = defaultdict(int)  # of a port or unit: its work is done
        self.now = self.front = self.retired = self.committed = 0
        self.parts: dict[int, list[Part]] = {}  # of blocks

    def time(self, name: str) -> int:
        """A figure in cycles, as ticks."""
        return int(self.figures[name]) * self.ticks

    def register(self, number: int) -> int:
        """The name of a register: those of x87 are counted from the top of the stack when the block begins."""
        return X87 + (number - X87 + self.top) % 8 if X87 <= number < X87 + 8 else number

    def values(self) -> list[int]:
        """When the registers' values are ready."""
        return [self.registers[self.register(number)] for number in range(64)]

    def ready(self, registers: Sequence[int]) -> int:
        return max([self.now, *(self.registers[self.register(one)] for one in registers)])

    # --- units

    def occupy(self, unit: int | str, ticks: int, ready: int) -> int:
        """Queue work for a unit; when it can begin with it, not before it is ``ready``."""
        idle = max(self.free[unit], self.now)
        self.free[unit] = idle + ticks
        return max(idle, ready)

    def line(self, kind: int, start: int, writes: bool) -> int:
        """When a line arrives from the level that has it."""
        latency = self.figures["levels"][kind - Kind.L2] * self.ticks
        busy = max(self.time("fill_busy"), -(-latency // self.figures["fill_buffers"]))
        start = self.occupy("fill", busy + writes * self.ticks, start)
        if kind >= Kind.L3:
            start = self.occupy("ring", self.time("ring"), start)
        if kind == Kind.MEMORY:
            start = self.occupy("bus", self.time("bus"), start)
        return start + int(latency)

    def transfer(self, value: int) -> None:
        """Lines that nothing waits for."""
        for unit, lines in (("bus", value >> 16), ("ring", value & 0xFFFF)):
            if lines:
                self.occupy(unit, min(lines, MOST_TRANSFERS) * self.time(unit), self.now)

    def walk(self, start: int) -> int:
        walker = -(-self.time("walk") // self.figures["page_walkers"])
        return self.occupy("walker", walker, start) + self.time("walk")

    # --- accesses

    def responses_to(self, access: int) -> Iterator[tuple[int, int]]:
        while self.responses and self.responses[0][0] == access:
            yield self.responses.popleft()[1:]

    def load(self, one: Instruction, access: int, address: int) -> int:
        """When a load's data is there."""
        begins = requested = address
        ready = address + one["load"]
        for kind, value in self.responses_to(access):
            if kind <= Kind.MEMORY:
                self.lines[access] = self.line(kind, begins, False)
                requested = self.lines[access] - self.figures["levels"][kind - Kind.L2] * self.ticks
                ready = max(ready, self.lines[access])
            elif kind in (Kind.IN_FLIGHT, Kind.IN_FLIGHT_HERE):
                ready = max(ready, self.began + value if kind == Kind.IN_FLIGHT else self.lines[value])
            elif one["kind"] & LOCKED and Kind.FORWARDED <= kind <= Kind.ALIASED:
                continue  # stores before it are committed first
            elif kind in (Kind.FORWARDED, Kind.FORWARDED_HERE):
                data = self.began + value if kind == Kind.FORWARDED else self.stores[value][0]
                ready = max(begins + one["load"], data + one["forward"])
            elif kind in (Kind.BLOCKED, Kind.BLOCKED_HERE):
                committed = self.began + value if kind == Kind.BLOCKED else self.stores[value][1]
                ready = max(ready, committed + self.time("blocked"))
            elif kind == Kind.ALIASED:
                ready += self.time("alias")
            elif kind in (Kind.SPLIT, Kind.PAGE_SPLIT):
                ports = self.figures["load_ports"]
                for port in ports:
                    self.occupy(port, self.time("split_busy") // len(ports), begins)
                ready += self.time("split" if kind == Kind.SPLIT else "page_split")
            elif kind == Kind.TRANSLATION:
                begins, ready = begins + self.time("translation"), ready + self.time("translation")
            elif kind == Kind.WALK:
                begins = self.walk(begins)
                ready = max(ready, begins + one["load"])
            elif kind == Kind.BUS:
                self.transfer(value)
            elif kind == Kind.STRING:
                self.bytes = max(self.bytes, value)
        return requested if one["kind"] & PREFETCH else ready

    def store(self, access: int, address: int, data: int) -> int:
        """When a store's address and data are known; its line may arrive later, and its commit take longer."""
        for kind, value in self.responses_to(access):
            arrives = address
            if kind <= Kind.MEMORY:
                arrives = self.lines[access] = self.line(kind, address, True)
            elif kind == Kind.IN_FLIGHT:
                arrives = self.began + value
            elif kind == Kind.IN_FLIGHT_HERE:
                arrives = self.lines[value]
            elif kind == Kind.WALK:
                arrives = self.walk(address)
            elif kind == Kind.TRANSLATION:
                arrives = address + self.time("translation")
            elif kind in (Kind.SPLIT, Kind.PAGE_SPLIT):
                self.commits += self.time("store_split" if kind == Kind.SPLIT else "store_page_split")
            elif kind == Kind.BUS:
                self.transfer(value)
            elif kind == Kind.STRING:
                self.bytes = max(self.bytes, value)
            self.arrives = max(self.arrives, arrives)
        return max(address, data)

    # --- instructions

    def execute(self, one: Instruction) -> None:
        """Dispatch an instruction, execute and retire it."""
        kind, begin = one["kind"], self.now
        address = self.ready(one["address"] if one["accesses"] else ())
        data = self.ready(one["source"])
        for access, reads, _ in one["accesses"]:
            if reads:
                data = max(data, self.load(one, access, address))
        if kind & LOCKED:
            data = self.occupy("lock", self.time("lock"), data - one["load"])
        self.wait_for_operands(one, data, address)
        done = data + (max(one["latency"], one["busy"]) if kind & SERIALIZING else one["latency"])
        if kind & LOCKED:
            done = max(done, data + self.time("lock"))
        for place, register in enumerate(one["result"]):
            self.registers[self.register(register)] = done + (one["latency2"] - one["latency"] if place else 0)
        for access, _, writes in one["accesses"]:
            if writes:
                done = max(done, self.store(access, address, done))
                self.started = max(self.started, done)
                self.stores[access] = (done, LONG_AGO)
        if kind & ALONE:
            self.end_alone(one, done)
        else:
            self.now += one["slots"] * self.slot
        self.retired = max(self.retired + one["slots"] * self.slot, done, begin + self.ticks)
        for access, _, writes in one["accesses"]:
            if writes:  # as far as it is known before the part ends
                self.stores[access] = self.stores[access][0], self.commit_of(0) + self.ticks
        self.done = done

    def wait_for_operands(self, one: Instruction, data: int, address: int) -> None:
        """µops stay in the reservation station until they start."""
        if one["uops"]:
            self.started = max(self.started, data)
        if any(access[1] for access in one["accesses"]):
            self.started = max(self.started, address)
        long = self.now + SHORT_WAIT * self.ticks
        self.waiting += waiting(one, data > long, address > long)

    def begin_alone(self, kind: int) -> None:
        if kind & SERIALIZING:
            self.now = max(self.now, self.retired)
        if kind & FENCES_STORES:
            self.now = max(self.now, self.retired, self.committed)

    def end_alone(self, one: Instruction, done: int) -> None:
        """Nothing dispatches beside it."""
        self.now += max(-(-one["slots"] // self.figures["width"]) * self.ticks, one["busy"])
        if one["kind"] & STRING:
            self.now += one["string_start"] + self.bytes * one["string_cycles"] // 64
            self.bytes = 0
        if one["kind"] & SERIALIZING:
            self.now = max(self.now, done)

    # --- parts

    def run_part(self, part: Part) -> None:
        for buffer, entries in zip(self.buffers, part.entries, strict=True):
            if entries:
                self.now = buffer.room(self.now, entries)
        began, late, by_registers = self.now, self.late(part), part.runs >= RUNS and not self.responses
        self.execute_part(part)
        part.runs += 1
        for unit, use in part.uses.items():
            self.free[unit] = max(self.free[unit] + use.work, began + use.done)
            self.retired = max(self.retired, self.free[unit])
        if part.stores:
            self.committed = self.commit_of(part.commits) + self.commits
            for access in part.stores:
                self.stores[access] = self.stores[access][0], self.committed
        if by_registers and not part.alone:
            self.waiting = min(sum(part.dependent(register) for register in late), part.entries[1])
        self.enter(began, part)

    def execute_part(self, part: Part) -> None:
        """Execute its instructions; what follows from them as a whole comes behind that."""
        self.waiting, self.started, self.arrives, self.commits = 0, LONG_AGO, LONG_AGO, 0
        for one in part.instructions:
            self.begin_alone(one["kind"])
            if one["kind"] & PARTIAL_FLAGS:
                self.now += self.time("partial_flags")
            self.execute(one)

    def commit_of(self, ticks: int) -> int:
        """When more stores are committed, which takes so many ticks, behind retirement, when their lines are there."""
        return max(self.committed + ticks, self.retired, self.arrives)

    def enter(self, began: int, part: Part) -> None:
        """A part is in the buffers until it leaves them. Of the reservation station only what waits long counts."""
        long = max(self.retired, self.committed) - began > min(buffer.hidden for buffer in self.buffers)
        reorder, _, loads, stores = part.entries
        entries = [reorder, self.waiting if long else 0, loads, stores]
        leaves = [self.retired, self.started, self.retired, self.committed]
        for buffer, number, leave in zip(self.buffers, entries, leaves, strict=True):
            buffer.enter(number, began, leave)

    def late(self, part: Part) -> list[int]:
        """The registers that come late for a part: without one it would do something more than two cycles before."""
        short = SHORT_WAIT * self.ticks
        waits = {register: self.registers[self.register(register)] - self.now for register in part.reads}
        waits = {register: ticks for register, ticks in waits.items() if ticks > short}
        if not waits or part.alone:
            return []
        soonest = self.alone(part, {})
        return [
            register
            for register, ticks in waits.items()
            if any(b - a > short for a, b in zip(soonest, self.alone(part, {register: ticks}), strict=True))
        ]

    def alone(self, part: Part, registers: Mapping[int, int]) -> list[int]:
        """The times of a part on an empty core, that waits for these registers alone."""
        core = PlainCore(self.figures, self.ticks)
        core.retired = core.committed = LONG_AGO
        core.registers.update(registers)
        core.begin([])
        core.execute_part(part)
        stores = [core.stores[access][0] for access in part.stores]
        return [*(core.registers[one] for one in part.writes), *stores, core.retired, core.started, core.done]

    # --- blocks

    def run(self, block: Mapping[str, Any], responses: Sequence[Response], end: int) -> None:
        """Run a block; ``stores`` has the times of its stores afterwards, ``undelivered`` and ``mispredicted`` those
        for which dispatch waited for the front end, and behind a mispredicted branch."""
        self.begin(responses)
        lead = self.figures["lead"] * self.ticks
        while self.responses and Kind.FETCH <= self.responses[0][1] <= Kind.FETCH_TRANSLATION:
            self.front += self.responses.popleft()[2]
        decoded = max(self.front, self.began - lead) + block["cost"][end & TAKEN][end >> SOURCE_SHIFT]
        self.undelivered, self.mispredicted = max(0, self.front - self.now), 0
        self.now = max(self.now, self.front)
        if block["number"] not in self.parts:
            self.parts[block["number"]] = parts_of(block["instructions"], self.figures, self.ticks)
        for part in self.parts[block["number"]]:
            self.run_part(part)
        if end & MISPREDICTED:
            behind, self.now = self.now, max(self.now, self.done + self.time("mispredict"))
            # The wrong path fills the reorder buffer at most, until the branch is resolved.
            filled = self.figures["buffers"][0] * self.slot + self.time("mispredict")
            self.front, self.mispredicted = self.now, min(self.now - behind, filled)
        else:
            self.front = max(decoded + bool(end & REDIRECTED) * self.time("redirect"), self.now - lead)
        self.retired = max(self.retired, self.now)
        self.top += block["top"]

    def begin(self, responses: Sequence[Response]) -> None:
        self.began, self.bytes, self.done = self.now, 0, LONG_AGO
        self.responses = deque(responses)
        self.lines: dict[int, int] = {}
        self.stores: dict[int, tuple[int, int]] = {}


class CoreWithStation(PlainCore):
    """With an entry of the reservation station for each µop, which leaves when its own operands are ready."""

    def __init__(self, figures: Mapping[str, Any], ticks: int) -> None:
        super().__init__(figures, ticks)
        self.size = figures["buffers"][1]
        self.buffers[1] = Buffer(1 << 40, self.slot)  # has always room
        self.leaves: list[int] = []  # a heap

    def late(self, part: Part) -> list[int]:
        return []

    def execute(self, one: Instruction) -> None:
        entries = len(one["uops"]) + len(one["accesses"])
        while self.leaves and (self.leaves[0] <= self.now or len(self.leaves) + entries > self.size):
            self.now = max(self.now, heappop(self.leaves))
        super().execute(one)

    def wait_for_operands(self, one: Instruction, data: int, address: int) -> None:
        for _, reads, writes in one["accesses"]:
            for ready in [address] * reads + [data] * writes:
                heappush(self.leaves, ready)
        for _ in one["uops"]:
            heappush(self.leaves, data)
