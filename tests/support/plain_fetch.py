"""Instruction fetch as a plain model, from lists and dictionaries."""

from collections import Counter

from enumerated import members

from pfmon.machine._machine import L2, RequestKind
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import Value

FETCH, AHEAD, WALK = members(RequestKind, "REQUEST", "FETCH FETCH_PREFETCH WALK")


class Plain:
    """The same from lists and dictionaries; L2 and what is below are a second machine's."""

    def __init__(self, name: str) -> None:
        self.config: dict[str, Value] = dict(load(name))
        self.l2 = L2(self.config)
        self.line = self.figure("l1i.line")
        self.sets = self.figure("l1i.size") // self.line // self.figure("l1i.ways")
        self.piece = min(self.figure("itlb1.page"), self.figure("vhpt.page"))
        self.l1i: dict[int, list[int]] = {}
        self.comes: dict[int, int] = {}
        self.tlb1: list[int] = []
        self.tlb2: list[int] = []
        self.pages: set[int] = set()
        self.ring: list[tuple[int, int] | None] = [None] * self.figure("l1i.streaming_buffer")
        self.next_place = 0
        self.under_way: list[int] = []
        self.hints: list[int] = []
        self.stream: list[int] = []
        self.stream_from = self.stream_next = 0
        self.streams = False
        self.prefetch_from = 0
        self.seen: Counter[str] = Counter()

    def figure(self, name: str) -> int:
        return int(self.config[name])

    def lookup(self, entries: list[int], page: int, size: int) -> bool:
        if page in entries:
            entries.remove(page)
            entries.append(page)
            return True
        return False

    def walk(self, address: int, now: int) -> int:
        size = self.figure("vhpt.page")
        region, offset = address >> 61 << 61, address & (1 << 61) - 1
        entry = region + 0x1FF8000000000000 + offset // size * 8
        level2 = "l2.latency" if "l2.latency" in self.config else "l2d.latency"
        now = self.l2.request_at(entry, WALK, now)[0] + self.figure("vhpt.walk") - self.figure(level2)
        if address // size in self.pages:
            self.seen["ITLB_WALKED"] += 1
            return now
        self.seen["ITLB_FILLED"] += 1
        self.pages.add(address // size)
        return now + self.figure("vhpt.software")

    def translate(self, address: int, now: int) -> int:
        page = address // self.piece
        if self.lookup(self.tlb1, page, self.piece):
            return now
        self.seen["ITLB1_MISS"] += 1
        if "itlb2.entries" not in self.config:
            now = self.walk(address, now)
        elif self.lookup(self.tlb2, address // self.figure("vhpt.page"), 0):
            now += self.figure("itlb2.penalty")
        else:
            self.seen["ITLB2_MISS"] += 1
            now = self.walk(address, now)
            if len(self.tlb2) == self.figure("itlb2.entries"):
                self.tlb2.pop(0)
            self.tlb2.append(address // self.figure("vhpt.page"))
        if len(self.tlb1) == self.figure("itlb1.entries"):
            gone = self.tlb1.pop(0)
            if self.config["l1i.prevalidated"]:
                self.seen["L1I_PURGED"] += 1
                for line in range(gone * self.piece, (gone + 1) * self.piece, self.line):
                    self.drop(line)
        self.tlb1.append(page)
        return now

    def drop(self, line: int) -> None:
        ways = self.l1i.get(line // self.line % self.sets, [])
        if line in ways:
            ways.remove(line)
        self.ring = [None if entry and entry[0] == line else entry for entry in self.ring]

    def room(self, now: int, most: int) -> int:
        waiting = sorted(ready for ready in self.under_way if ready > now)
        return now if len(waiting) < most else waiting[len(waiting) - most]

    def ask(self, line: int, kind: int, now: int) -> int:
        at = self.room(now, self.figure("l1i.fills"))
        ready = self.l2.request_at(line, kind, at)[0]
        self.under_way = [other for other in self.under_way if other > at] + [ready]
        self.seen["ISB_LINE_IN"] += 1
        brought = max(self.line, self.figure("l1i.brought"))
        self.seen["ISB_PAIR_IN"] += brought // 32
        begin = line // brought * brought
        for part in range(begin, begin + brought, self.line):
            if part != line and not self.present(part):
                self.keep(part, ready, at)
        return ready

    def present(self, line: int) -> bool:
        return line in self.l1i.get(line // self.line % self.sets, []) or any(e and e[0] == line for e in self.ring)

    def prefetch(self, line: int, now: int) -> None:
        ready = self.ask(line, AHEAD, now)
        self.seen["L2_PREFETCH_SENT"] += 1
        self.keep(line, ready, now)

    def keep(self, line: int, ready: int, now: int) -> None:
        places = [(self.next_place + i) % len(self.ring) for i in range(len(self.ring))]
        free = [place for place in places if (entry := self.ring[place]) is None or entry[1] <= now]
        place = (free or places[-1:])[0]
        self.ring[place] = (line, ready)
        self.next_place = (place + 1) % len(self.ring)

    def pump(self, now: int) -> None:
        while self.stream and self.stream_from <= now:
            at, line = self.stream_from, self.stream[0]
            if not self.present(line):
                if line // self.piece not in self.tlb1:
                    self.stream, self.streams = [], False
                    return
                at = self.room(at, self.figure("l1i.fills") - 1)
                if at > now:
                    return
                self.seen["PREFETCH_STALL_STREAM"] += at - self.stream_from
                self.prefetch(line, at)
            self.seen["L1I_PREFETCH"] += 1
            self.seen["L1I_STREAM_PREFETCH"] += 1
            self.stream = self.stream[1:]
            self.stream_from = at + 1

    def fetch(self, address: int, now: int) -> int:
        self.pump(now)
        self.seen["L1I_READ"] += 1
        now = self.translate(address, now)
        line = address // self.line * self.line
        ways = self.l1i.setdefault(line // self.line % self.sets, [])
        if line in ways:
            ways.remove(line)
            ways.append(line)
            if self.comes[line] > now:
                self.seen["L1I_RAB_HIT"] += 1
            return max(now, self.comes[line])
        entry = next((entry for entry in self.ring if entry and entry[0] == line), None)
        if entry is None:
            self.seen["L1I_DEMAND_MISS"] += 1
            ready = self.ask(line, FETCH, now)
        else:
            self.ring = [None if other == entry else other for other in self.ring]
            if self.streams:
                self.stream.append(self.stream_next)
                self.stream_next += self.line
                if len(self.stream) == 1 and self.stream_from <= now:
                    self.stream_from = now + 1
            self.seen["L1I_RAB_HIT" if entry[1] > now else "L1I_ISB_HIT"] += 1
            ready = max(entry[1], now)
        self.seen["L1I_FILL"] += 1
        if len(ways) == self.figure("l1i.ways"):
            ways.pop(0)
        ways.append(line)
        self.comes[line] = ready
        return ready

    def redirect(self, target: int, many: bool, now: int) -> None:
        self.pump(now)
        line = target // self.line * self.line
        lines = [line + self.line * (i + 1) for i in range(self.figure("l1i.stream"))]
        self.stream, self.streams = [], False
        if many and all(self.present(other) for other in lines):
            self.seen["L1I_PREFETCH"] += len(lines)
            self.seen["L1I_STREAM_PREFETCH"] += len(lines)
        elif many:
            self.stream, self.stream_from = lines, now + 1
            self.streams, self.stream_next = True, lines[-1] + self.line

    def hint(self, target: int, now: int) -> None:
        self.pump(now)
        line = target // self.line * self.line
        self.hints = [leaves for leaves in self.hints if leaves > now]
        if not self.present(line):
            if len(self.hints) >= self.figure("l1i.hints"):
                self.seen["PVAB_OVERFLOW"] += 1
                return
            at = max(now, self.prefetch_from)
            if target // self.piece in self.tlb1:
                at = self.room(at, self.figure("l1i.fills") - 1)
                self.prefetch(line, at)
            if at > now:
                self.seen["PREFETCH_STALL_HINT"] += at - now
                self.hints.append(at)
            self.prefetch_from = at + 1
        self.seen["L1I_PREFETCH"] += 1
