"""Parts of blocks for plain_core.py: what they take of buffers and ports, and which registers they read and write."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.machine.config.core_timings import CoreKind

Instruction = Mapping[str, Any]
"""As core_schedules.pyx describes it."""
PART = 12
"""µops of a part."""
SERIALIZING, FENCES_STORES, LOCKED = CoreKind.SERIALIZING.value, CoreKind.FENCES_STORES.value, CoreKind.LOCKED.value
STRING, PREFETCH = CoreKind.STRING.value, CoreKind.PREFETCH.value
"""Plain numbers: an operation of IntFlag takes longer than all else that is done for an instruction."""
ALONE = SERIALIZING | FENCES_STORES | CoreKind.MICROCODED.value
"""Nothing dispatches beside these instructions."""


def executed(one: Instruction) -> int:
    """Entries of the reservation station."""
    return max(len(one["uops"]) + len(one["accesses"]), 1)


class Use(NamedTuple):
    """Of a port or the divider, by a part: its work; when that is done, if the unit is idle when the part begins."""

    work: int
    done: int


class Part:
    """``figures``: of the core; ``ticks``: of a cycle."""

    def __init__(self, instructions: Sequence[Instruction], figures: Mapping[str, Any], ticks: int) -> None:
        self.instructions = instructions
        self.runs = 0
        kinds = SERIALIZING | FENCES_STORES | LOCKED
        self.alone = any(one["kind"] & kinds for one in instructions)
        accesses = [access for one in instructions for access in one["accesses"]]
        self.stores = [number for number, _, writes in accesses if writes]
        self.commits = sum(commit(one, figures, ticks) for one in instructions)
        slots, loads = sum(one["slots"] for one in instructions), sum(access[1] for access in accesses)
        self.entries = slots, sum(map(executed, instructions)), loads, len(self.stores)
        self.uses = uses(instructions, figures, ticks)
        self.writes: set[int] = set()
        self.reads: set[int] = set()  # before it writes them
        for one in instructions:
            self.reads |= operands(one) - self.writes
            self.writes |= set(one["result"])

    def dependent(self, register: int) -> int:
        """The µops that depend on a register."""
        late, found = {register}, 0
        for one in self.instructions:
            address = bool(one["accesses"]) and not late.isdisjoint(one["address"])
            data = not late.isdisjoint(one["source"]) or (address and reads_memory(one))
            found += waiting(one, data, address)
            late = late | set(one["result"]) if data else late - set(one["result"])
        return found


def commit(one: Instruction, figures: Mapping[str, Any], ticks: int) -> int:
    """The ticks in which the stores of an instruction are committed."""
    each = ticks if one["lonely"] else ticks // int(figures["commits"])
    return each * sum(writes for _, _, writes in one["accesses"])


def waiting(one: Instruction, data: bool, address: bool) -> int:
    """The µops of an instruction that wait: loads for their address, others and stores for their data."""
    accesses = sum((data and writes) or (address and reads) for _, reads, writes in one["accesses"])
    return data * len(one["uops"]) + accesses


def reads_memory(one: Instruction) -> bool:
    return any(reads for _, reads, _ in one["accesses"])


def operands(one: Instruction) -> set[int]:
    return {*one["source"], *(one["address"] if one["accesses"] else ())}


def parts_of(instructions: Sequence[Instruction], figures: Mapping[str, Any], ticks: int) -> list[Part]:
    """Instructions that follow each other, of up to 12 µops unless one has more; a fence of stores begins a part."""
    parts: list[list[Instruction]] = [[]]
    slots = 0
    for one in instructions:
        if slots and (slots + one["slots"] > PART or one["kind"] & FENCES_STORES):
            parts.append([])
            slots = 0
        parts[-1].append(one)
        slots += one["slots"]
    return [Part(part, figures, ticks) for part in parts]


def uses(instructions: Sequence[Instruction], figures: Mapping[str, Any], ticks: int) -> dict[int | str, Use]:
    """The work of the ports: that of µops with few ports first, spread over the least loaded ones by ticks."""
    work: Counter[int | str] = Counter()
    begins: defaultdict[int | str, list[int]] = defaultdict(list)
    begin = 0
    uops = []
    for one in instructions:
        uops += [(begin, ports) for ports in uops_of(one, figures)]
        if one["divider"]:
            work["divider"] += one["divider"]
            begins["divider"].append(begin)
        begin += one["slots"] * (ticks // figures["width"])
    for begin, ports in sorted(uops, key=lambda uop: len(uop[1])):
        for _ in range(ticks):
            port = min(ports, key=lambda one: work[one])
            work[port] += 1
            begins[port].append(begin)
    return {
        unit: Use(number, max(min(begins[unit]) + number, max(begins[unit]) + ticks)) for unit, number in work.items()
    }


def uops_of(one: Instruction, figures: Mapping[str, Any]) -> Iterator[Sequence[int]]:
    """The ports of each µop."""
    yield from one["uops"]
    for _, reads, writes in one["accesses"]:
        if reads:
            yield figures["vector_load_ports" if one["vector"] else "load_ports"]
        if writes:
            yield figures["indexed_ports" if one["indexed"] else "store_address_ports"]
            if figures["store_data_ports"]:
                yield figures["store_data_ports"]
