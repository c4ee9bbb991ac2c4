"""Caches and TLBs as lists, for a stream of blocks: what out-of-order machines miss."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.stream._stream import AccessKind, BlockTable, Mark
from pfmon.stream.recording.block_records import BlockRecord


class LeastRecent:
    """Sets as lists, least recently used first; a line may be modified."""

    def __init__(self, size: int, ways: int, line: int) -> None:
        self.ways, self.sets = ways, size // (ways * line)
        self.held: list[list[int]] = [[] for _ in range(self.sets)]
        self.modified: set[int] = set()

    def use(self, number: int) -> bool:
        """Whether it was there; it is, from now on."""
        held = self.held[number % self.sets]
        if number not in held:
            return False
        held.remove(number)
        held.append(number)
        return True

    def fill(self, number: int) -> int | None:
        """Bring a line in; the modified one that made room for it."""
        held = self.held[number % self.sets]
        held.append(number)
        if len(held) <= self.ways:
            return None
        gone = held.pop(0)
        if gone in self.modified:
            self.modified.remove(gone)
            return gone
        return None


class Caches:
    """The caches and TLBs of a machine, which write back and allocate on writes; levels may have lines of their own."""

    def __init__(self, figures: MachineFigures) -> None:
        def number(name: str) -> int:
            return int(figures[name])

        def cache(name: str) -> LeastRecent:
            return LeastRecent(*(number(f"{name}.{key}") for key in ("size", "ways", "line")))

        def tlb(name: str) -> LeastRecent:
            return LeastRecent(number(f"{name}.entries"), number(f"{name}.ways"), 1)

        self.l1d, self.l1i = cache("l1d"), cache("l1i")
        self.outer = [(cache(name), number(f"{name}.line")) for name in ("l2", "l3") if f"{name}.size" in figures]
        self.line, self.code_line = number("l1d.line"), number("l1i.line")
        self.dtlb, self.itlb = tlb("dtlb1"), tlb("itlb1")
        self.tlb2 = tlb("tlb2") if "tlb2.entries" in figures else None
        self.happened: Counter[str] = Counter()
        self.fetched = -1
        self.levels = ("L2", "L3", "MEMORY") if len(self.outer) > 1 else ("L2", "MEMORY")

    def request(self, what: str, address: int) -> None:
        """A line that L1 does not have: READ, OWN or FETCH of it."""
        self.had = 0
        self.below(address)
        self.happened[f"CORE_{what}_{self.levels[self.had]}"] += 1

    def below(self, address: int, level: int = 0) -> None:
        """A line that the level above does not have."""
        cache, line = self.outer[level]
        last = level == len(self.outer) - 1
        self.happened["CORE_LLC_REFERENCE"] += last
        if cache.use(address // line):
            return
        self.happened["CORE_LLC_MISS"] += last
        self.had = level + 1
        if not last:
            self.below(address, level + 1)
        self.write_back(cache.fill(address // line), line, level + 1)

    def write_back(self, gone: int | None, line: int, level: int) -> None:
        """A modified line goes to a level, which is no use of it there."""
        self.happened["CORE_L2_WRITTEN"] += gone is not None and level == 1
        if gone is None or level == len(self.outer):
            return
        cache, own = self.outer[level]
        number = gone * line // own
        if number not in cache.held[number % cache.sets]:
            self.write_back(cache.fill(number), own, level + 1)
        cache.modified.add(number)

    def data(self, address: int, size: int, kind: int) -> None:
        for line in range(address // self.line, (address + size - 1) // self.line + 1):
            page = line * self.line >> 12
            if not self.dtlb.use(page):
                self.dtlb.fill(page)
                which = "LOAD" if kind & AccessKind.READ else "STORE"
                if self.tlb2 and self.tlb2.use(page):
                    self.happened[f"CORE_{which}_SECOND_TLB"] += 1
                else:
                    self.happened[f"CORE_{which}_WALK"] += 1
                    if self.tlb2:
                        self.tlb2.fill(page)
            if not self.l1d.use(line):
                self.happened["CORE_L1D_READ_MISS" if kind & AccessKind.READ else "CORE_L1D_WRITE_MISS"] += 1
                self.request("READ" if kind & AccessKind.READ else "OWN", line * self.line)
                self.write_back(self.l1d.fill(line), self.line, 0)
            if kind & AccessKind.WRITE:
                self.l1d.modified.add(line)

    def code(self, first: int, last: int) -> None:
        for line in range(first, last + 1):
            if line == self.fetched:
                continue
            self.fetched = line
            page = line * self.code_line >> 12
            if not self.itlb.use(page):
                self.itlb.fill(page)
                self.happened["CORE_ITLB_MISS"] += 1
            if not self.l1i.use(line):
                self.happened["CORE_L1I_MISS"] += 1
                self.request("FETCH", line * self.code_line)
                self.l1i.fill(line)


class Touched(NamedTuple):
    """A block's first byte and its last, and its accesses: the instruction, the kind, the bytes."""

    first: int
    last: int
    made: list[tuple[int, int, int]]


def touched(block: BlockRecord) -> Touched:
    last = block.instructions[-1]
    made = [
        (i, kind, one.size) for i, one in enumerate(block.instructions) for kind in (one.access, one.second) if kind
    ]
    return Touched(block.ip, last.address + last.length - 1, made)


def modelled(figures: MachineFigures, table: BlockTable, words: Sequence[int]) -> Counter[str]:
    """What the plain caches make of the words."""
    caches, at, blocks = Caches(figures), 0, {}
    while at < len(words):
        word = words[at]
        at += 1
        if word >> 63:
            continue
        number = word & 0xFFFFFFFF
        if number not in blocks:
            blocks[number] = touched(table.block(number))
        first, last, made = blocks[number]
        caches.code(first // caches.code_line, last // caches.code_line)
        marks, behind = {}, at + len(made)
        while behind < len(words) and words[behind] >> 63:
            if words[behind] >> 56 & 0x7F == Mark.STRING:
                marks[words[behind] >> 32 & 0xFF] = words[behind] & 0xFFFFFFFF
            behind += 1
        for number, (instruction, kind, size) in enumerate(made):
            caches.data(words[at + number], max(size, 1) + marks.get(instruction, 0), kind)
        at += len(made)
    return caches.happened
