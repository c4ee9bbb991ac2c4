"""Caches and TLBs as lists, for a stream of blocks: what out-of-order machines miss."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.stream._stream import AccessKind, BlockTable, Mark, X86Kind
from pfmon.stream.recording.block_records import BlockRecord


class LeastRecent:
    """Sets as lists, least recently used first; a line may be modified."""

    def __init__(self, size: int, ways: int, line: int) -> None:
        self.ways, self.line, self.sets = ways, line, size // (ways * line)
        self.held: list[list[int]] = [[] for _ in range(self.sets)]
        self.modified: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number in self.held[number % self.sets]

    def use(self, number: int) -> bool:
        """Whether it was there; it is the most recent one, then."""
        held = self.held[number % self.sets]
        if number not in held:
            return False
        held.remove(number)
        held.append(number)
        return True

    def fill(self, number: int) -> tuple[int, bool] | None:
        """Bring a line in; the one that made room for it, and whether it was modified."""
        held = self.held[number % self.sets]
        held.append(number)
        return self._gone(held.pop(0)) if len(held) > self.ways else None

    def remove(self, number: int) -> None:
        """Invalidate a line."""
        if number in self:
            self.held[number % self.sets].remove(number)
            self._gone(number)

    def _gone(self, number: int) -> tuple[int, bool]:
        modified = number in self.modified
        self.modified.discard(number)
        return number, modified


class Stream:
    """Lines that are accessed one after the other in a page; ``sure``: steps in the same direction."""

    def __init__(self, page: int, line: int) -> None:
        self.page, self.line, self.direction, self.sure = page, line, 0, 0

    def step(self, line: int) -> int:
        """Go on to a line; the direction, if two steps were in it."""
        if line == self.line:
            return 0
        direction = 1 if line > self.line else -1
        self.sure = self.sure + 1 if direction == self.direction else 1
        self.line, self.direction = line, direction
        return direction if self.sure >= 2 else 0


REQUESTS = {
    AccessKind.READ: "READ",
    AccessKind.READ_WRITE: "READ",
    AccessKind.WRITE: "OWN",
    AccessKind.NO_ACCESS: "PREFETCH",
}
"""What an access that misses L1D asks L2 for; locked ones, which ask to own the line, are not told apart."""


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
        self.outer = [cache(name) for name in ("l2", "l3") if f"{name}.size" in figures]
        self.dtlb, self.itlb = tlb("dtlb1"), tlb("itlb1")
        self.tlb2 = tlb("tlb2") if "tlb2.entries" in figures else None
        self.code_tlb2 = self.tlb2 if self.tlb2 and figures["tlb2.instructions"] else None
        self.inclusive, self.adjacent = bool(figures["memory.inclusive"]), bool(figures["prefetch.adjacent"])
        self.degree, self.stream_count = number("prefetch.degree"), number("prefetch.streams")
        self.streams: dict[int, Stream] = {}
        self.happened: Counter[str] = Counter()
        self.fetched = -1
        self.levels = ("L2", "L3", "MEMORY") if len(self.outer) > 1 else ("L2", "MEMORY")

    def request(self, what: str, address: int) -> None:
        """A line that L1 does not have: READ, OWN or FETCH of it, or PREFETCH by software."""
        self.happened[f"CORE_{what}_{self.levels[self.below(address)]}"] += 1

    def below(self, address: int, level: int = 0, demand: bool = True) -> int:
        """A line that the level above does not have; the level that has it."""
        cache = self.outer[level]
        last = level == len(self.outer) - 1
        self.happened["CORE_LLC_REFERENCE"] += last and demand
        if cache.use(address // cache.line):
            return level
        self.happened["CORE_LLC_MISS"] += last and demand
        had = level + 1 if last else self.below(address, level + 1, demand)
        self.put(level, address // cache.line)
        if level == 0 and demand and self.adjacent:
            self.prefetch(address ^ cache.line)
        return had

    def put(self, level: int, number: int) -> None:
        """Bring a line into a level behind the first; what makes room for it is written back, and gone above."""
        cache = self.outer[level]
        gone = cache.fill(number)
        if gone is None:
            return
        self.happened["CORE_L2_WRITTEN"] += level == 0 and gone[1]
        if level < len(self.outer) - 1:
            self.write_back(gone, cache.line, level + 1)
        elif self.inclusive:
            self.drop_above(gone[0] * cache.line, cache.line)

    def write_back(self, gone: tuple[int, bool] | None, line: int, level: int) -> None:
        """A modified line goes to a level, which is no use of it there."""
        if gone is None or not gone[1]:
            return
        cache = self.outer[level]
        number = gone[0] * line // cache.line
        if number not in cache:
            self.put(level, number)
        cache.modified.add(number)

    def drop_above(self, address: int, size: int) -> None:
        """These bytes are in no cache but the last level any more."""
        for cache in (self.l1d, self.l1i, *self.outer[:-1]):
            for number in range(address // cache.line, (address + size - 1) // cache.line + 1):
                cache.remove(number)

    def prefetch(self, address: int) -> None:
        """A line that L2 shall have."""
        if address // self.outer[0].line not in self.outer[0]:
            self.below(address, demand=False)

    def follow(self, line: int) -> None:
        """Fetch the next lines of a stream that missed L1D, within its page."""
        page = line * self.l1d.line >> 12
        stream = self.streams.get(page % self.stream_count)
        if stream is None or stream.page != page:
            self.streams[page % self.stream_count] = Stream(page, line)
            return
        direction = stream.step(line)
        for ahead in range(1, self.degree + 1 if direction else 0):
            address = (line + ahead * direction) * self.l1d.line
            if address >> 12 == page:
                self.prefetch(address)

    def translate(self, first: LeastRecent, second: LeastRecent | None, page: int) -> str | None:
        """What had the translation if the first-level TLB did not: SECOND_TLB, or a WALK; all have it from now on."""
        if first.use(page):
            return None
        first.fill(page)
        if second is None:
            return "WALK"
        if second.use(page):
            return "SECOND_TLB"
        second.fill(page)
        return "WALK"

    def translate_data(self, page: int, kind: int) -> None:
        """The page of an access; prefetches miss nothing."""
        had = self.translate(self.dtlb, self.tlb2, page)
        if had and kind & AccessKind.READ_WRITE:
            self.happened[f"CORE_{'LOAD' if kind & AccessKind.READ else 'STORE'}_{had}"] += 1

    def data(self, address: int, size: int, kind: int) -> None:
        for line in range(address // self.l1d.line, (address + size - 1) // self.l1d.line + 1):
            self.translate_data(line * self.l1d.line >> 12, kind)
            if not self.l1d.use(line):
                if kind & AccessKind.READ_WRITE:
                    self.happened["CORE_L1D_READ_MISS" if kind & AccessKind.READ else "CORE_L1D_WRITE_MISS"] += 1
                self.request(REQUESTS[kind & AccessKind.READ_WRITE], line * self.l1d.line)
                self.write_back(self.l1d.fill(line), self.l1d.line, 0)
                if kind & AccessKind.WRITE:
                    self.l1d.modified.add(line)
                self.follow(line)
            elif kind & AccessKind.WRITE:
                self.l1d.modified.add(line)

    def bypass(self, address: int, size: int, kind: int) -> None:
        """A store past the caches, or clflush."""
        for line in range(address // self.l1d.line, (address + size - 1) // self.l1d.line + 1):
            self.translate_data(line * self.l1d.line >> 12, kind)
            self.drop_above(line * self.l1d.line, self.l1d.line)
            self.outer[-1].remove(line * self.l1d.line // self.outer[-1].line)

    def code(self, first: int, last: int) -> None:
        for line in range(first, last + 1):
            if line == self.fetched:
                continue
            self.fetched = line
            had = self.translate(self.itlb, self.code_tlb2, line * self.l1i.line >> 12)
            self.happened["CORE_ITLB_MISS"] += had == "WALK"
            if not self.l1i.use(line):
                self.happened["CORE_L1I_MISS"] += 1
                self.request("FETCH", line * self.l1i.line)
                self.l1i.fill(line)


class Touched(NamedTuple):
    """A block's first byte and its last, and its accesses: instruction, kind, bytes, whether past the caches."""

    first: int
    last: int
    made: list[tuple[int, int, int, bool]]


def touched(block: BlockRecord) -> Touched:
    last = block.instructions[-1]
    made = [
        (i, kind, one.size, bool(one.isa_kind & X86Kind.BYPASSES_CACHES and not kind & AccessKind.READ))
        for i, one in enumerate(block.instructions)
        for kind in (one.access, *[one.second & 7] * (1 + (one.second >> 3)))
        if kind
    ]
    return Touched(block.ip, last.address + last.length - 1, made)


def modelled(figures: MachineFigures, table: BlockTable, words: Sequence[int]) -> Counter[str]:
    """What the plain caches make of the words."""
    caches = Caches(figures)
    run_words(table, words, lambda thread: caches)
    return caches.happened


def run_words(table: BlockTable, words: Sequence[int], caches_of: Callable[[int], Caches]) -> None:
    """Fetch the blocks of the words and make their accesses, in the caches that a thread has."""
    caches, at, blocks = caches_of(0), 0, {}
    while at < len(words):
        word = words[at]
        at += 1
        if word >> 63:
            if word >> 56 & 0x7F == Mark.THREAD:
                caches = caches_of(word & 0xFFFFFFFF)
            continue
        number = word & 0xFFFFFFFF
        if number not in blocks:
            blocks[number] = touched(table.block(number))
        first, last, made = blocks[number]
        caches.code(first // caches.l1i.line, last // caches.l1i.line)
        marks, behind = {}, at + len(made)
        while behind < len(words) and words[behind] >> 63:
            if words[behind] >> 56 & 0x7F == Mark.STRING:
                marks[words[behind] >> 32 & 0xFF] = words[behind] & 0xFFFFFFFF
            behind += 1
        for place, (instruction, kind, size, past) in enumerate(made):
            address = words[at + place]
            if address:  # else it was not made
                access = caches.bypass if past else caches.data
                access(address, max(size, 1) + marks.get(instruction, 0), kind)
        at += len(made)
