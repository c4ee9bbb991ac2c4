"""Several cores with caches as lists, which a plain MESI model keeps coherent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plain_caches import Caches, LeastRecent, run_words

from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.stream._stream import AccessKind, BlockTable

NONE, MISS, HIT, HITM = range(4)
"""Answers of other cores to a request: none was asked, they lack the line, one has it, one has it modified."""
ANSWERS = ("none", "miss", "hit", "hitm")


class Core(Caches):
    """A core with caches above the last level of its own. ``shared``: its lines that others have, too."""

    def __init__(self, figures: MachineFigures, number: int, system: Cores) -> None:
        super().__init__(figures)
        self.number, self.system = number, system
        self.shared: set[int] = set()
        self.owns = False
        """Whether the current access stores."""
        if system.cores:
            self.outer[-1] = system.cores[0].outer[-1]

    @property
    def own(self) -> list[LeastRecent]:
        """Its caches."""
        return [self.l1d, self.l1i, *self.outer[:-1]]

    def has(self, line: int) -> bool:
        return any(line in cache for cache in self.own)

    def modified(self, line: int) -> bool:
        return any(line in cache.modified for cache in self.own)

    def data(self, address: int, size: int, kind: int) -> None:
        line = self.l1d.line
        for number in range(address // line, (address + size - 1) // line + 1):
            self.owns = bool(kind & AccessKind.WRITE)
            if self.owns and number in self.l1d and number in self.shared:
                self.upgrade(number)
                self.happened[f"CORE_OWN_{self.levels[len(self.outer) - 1]}"] += 1
            super().data(number * line, 1, kind)

    def code(self, first: int, last: int) -> None:
        self.owns = False
        super().code(first, last)

    def upgrade(self, line: int) -> None:
        """Own a line that it has."""
        self.happened["CORE_LLC_REFERENCE"] += 1
        self.outer[-1].use(line)
        self.system.ask(self, line, owns=True)

    def below(self, address: int, level: int = 0, demand: bool = True) -> int:
        line, owns = address // self.l1d.line, demand and self.owns
        last = self.outer[-1]
        if level < len(self.outer) - 1:
            if owns and line in self.outer[level] and line in self.shared:
                self.outer[level].use(line)
                self.upgrade(line)
                return len(self.outer) - 1
        elif self.system.ask(self, line, owns) == HITM and line not in last:
            self.happened["CORE_LLC_REFERENCE"] += demand
            self.put(level, line)
            last.modified.add(line)
            if level == 0 and demand and self.adjacent:
                self.prefetch(address ^ last.line)
            return level
        return super().below(address, level, demand)

    def put(self, level: int, number: int) -> None:
        if level == len(self.outer) - 1:
            self.system.valid[number] = {self.number}
        super().put(level, number)

    def drop_above(self, address: int, size: int) -> None:
        for core in self.system.cores:
            super(Core, core).drop_above(address, size)


class Cores:
    """``valid``: by line of an inclusive L3, the cores that may have it."""

    def __init__(self, figures: MachineFigures, count: int) -> None:
        self.inclusive = bool(figures["memory.inclusive"]) and "l3.size" in figures
        self.valid: dict[int, set[int]] = {}
        self.counts: list[Counter[str]] = [Counter() for _ in range(count)]
        self.cores: list[Core] = []
        for number in range(count):
            self.cores.append(Core(figures, number, self))

    def asked(self, core: Core, line: int, owns: bool) -> list[Core]:
        """The cores that are asked: of an inclusive L3 only those that may have what is wanted."""
        others = [one for one in self.cores if one is not core]
        if not self.inclusive:
            return others
        valid = self.valid[line] if line in core.outer[-1] else set()
        if owns or (len(valid) == 1 and core.number not in valid):
            return [one for one in others if one.number in valid]
        return []

    def ask(self, core: Core, line: int, owns: bool) -> int:
        """A request for a line: MESI."""
        asked = self.asked(core, line, owns)
        found = [one for one in asked if one.has(line)]
        dirty = any(one.modified(line) for one in found)
        assert not any(one.modified(line) for one in self.cores if one not in found and one is not core)
        valid = self.valid.get(line, set()) if self.inclusive and line in core.outer[-1] else set()
        answer = HITM if dirty else HIT if found else MISS if asked else NONE
        self.counts[core.number][f"{'own' if owns else 'read'}_{ANSWERS[answer]}"] += 1
        if dirty and line in core.outer[-1]:
            core.outer[-1].modified.add(line)
        for one in found:
            for cache in one.own:
                if owns:
                    cache.remove(line)
                cache.modified.discard(line)
            one.shared.add(line)
            self.counts[one.number]["invalidated"] += owns
        if owns or line not in core.l1d:  # else it stays as L1D has it
            core.shared.discard(line)
        if owns:
            self.valid[line] = {core.number}
            return answer
        if found or (not asked and valid - {core.number}):
            core.shared.add(line)
        self.valid[line] = {one.number for one in found} | {core.number} | (set() if asked else valid)
        return answer


def modelled_cores(figures: MachineFigures, table: BlockTable, words: Sequence[int], count: int) -> Cores:
    """What plain coherent caches make of the words: thread n runs on core n modulo ``count``."""
    system = Cores(figures, count)
    run_words(table, words, lambda thread: system.cores[thread % count])
    return system
