"""The predictor of Itanium 2 as a plain model."""

from dataclasses import dataclass, field

from branches import (
    CALL,
    CLOOP,
    CTOP,
    DPTK,
    INDIRECT,
    INDIRECT_CALL,
    LONG_CALL,
    RETURN,
    SPNT,
    SPTK,
    TAKEN,
    UNKNOWN,
    WRONG_PATH,
    WRONG_TARGET,
)


@dataclass
class PlainTwoLevel:
    """Itanium 2, with lists and dictionaries; windows of 32 bytes, as many as L1I has, behind them more of them.

    Whether an indirect branch finds its register in time is the pipeline's to know.
    """

    history: int = 4
    first: dict[int, list[dict]] = field(default_factory=dict)
    second: dict[int, list[dict]] = field(default_factory=dict)
    counters: dict[int, int] = field(default_factory=dict)
    stack: list[int] = field(default_factory=lambda: [0] * 8)
    forced: int | None = None

    def counter(self, address: int, history: int) -> tuple[int, int]:
        place = (((address // 16) * 3 + address % 16) * 16 + history) % 16384
        known = 3 if history == 15 else 0 if history == 0 else 1 + history % 2
        return place, self.counters.get(place, known)

    def window(self, number: int, make: bool) -> dict | None:
        rows = self.first.setdefault(number % 128, [])
        for row in rows:
            if row["number"] == number:
                rows.remove(row)
                rows.append(row)
                return row
        behind = self.second.setdefault(number % 2048, [])
        found = next((row for row in behind if row["number"] == number), None)
        if found is None and not make:
            return None
        if found:
            behind.remove(found)
            behind.append(found)
        new = {"number": number, "trigger": None, "branches": {}}
        if found:
            new["branches"] = {slot: dict(branch) for slot, branch in found["branches"].items()}
        if len(rows) == 4:
            old = rows.pop(0)
            if old["branches"]:
                place = self.second.setdefault(old["number"] % 2048, [])
                place[:] = [*[row for row in place if row["number"] != old["number"]][-3:], old]
        rows.append(new)
        return new

    def run(self, address: int, taken: bool, target: int, kind: int, whether: int) -> tuple[int, int]:
        number, slot = address // 32, address % 32
        window = self.window(number, make=False)
        branch = window["branches"].get(slot) if window else None
        unknown = self.forced is not None and address // 16 == self.forced // 16 and address > self.forced
        if unknown:
            predicted = False
        elif kind in (CLOOP, CTOP):
            predicted = taken
        elif whether in (SPTK, SPNT):
            predicted = whether == SPTK
        elif branch is None:
            predicted = whether == DPTK
        else:
            predicted = self.counter(address, branch["history"])[1] >= 2
        flags = (TAKEN if predicted else 0) | (UNKNOWN if unknown else 0)
        cost = 0
        if predicted != taken:
            flags |= WRONG_PATH
        elif taken:
            cost = self.target_cost(kind, window, branch, slot)
            known = self.stack[-1] if kind == RETURN else target
            if known != target:
                flags |= WRONG_TARGET
                cost = 0
        if taken and kind == RETURN:
            self.stack.insert(0, self.stack.pop())
        elif taken and kind in (CALL, INDIRECT_CALL, LONG_CALL):
            self.stack = [*self.stack[1:], address // 16 * 16 + 16]
        self.learn(number, slot, address, taken, kind, whether)
        self.forced = address if (predicted or unknown) and not taken else None
        return flags, cost

    @staticmethod
    def target_cost(kind: int, window: dict | None, branch: dict | None, slot: int) -> int:
        if kind == RETURN:
            return 1
        if kind in (INDIRECT, INDIRECT_CALL):
            return 2
        if branch is None or window is None:
            return 2
        return 0 if window["trigger"] == slot else 1

    def learn(self, number: int, slot: int, address: int, taken: bool, kind: int, whether: int) -> None:
        window = self.window(number, make=False)
        branch = window["branches"].get(slot) if window else None
        if branch is None:
            if whether == SPNT or (whether == SPTK and (not taken or kind in (RETURN, INDIRECT, INDIRECT_CALL))):
                return
            window = window or self.window(number, make=True)
            assert window is not None
            if len(window["branches"]) == 3:
                return
            branch = window["branches"][slot] = {"history": 15 if whether == DPTK else 0}
        assert window is not None
        if taken and kind not in (RETURN, INDIRECT, INDIRECT_CALL):
            window["trigger"] = slot
        if whether >= DPTK:
            place, value = self.counter(address, branch["history"])
            self.counters[place] = min(3, value + 1) if taken else max(0, value - 1)
            branch["history"] = (branch["history"] * 2 + taken) % 16
