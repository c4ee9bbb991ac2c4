"""What was captured, as the performance data registers have it: the layouts of Itanium, Itanium 2 and Montecito.

Fields stand where the register tables say (registers/*.csv).
"""

from __future__ import annotations

from pfmon.pmu.capture_setting import REGISTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pfmon.pmu.model import PmuModel

VALID = 1
DataCaptured = tuple[int | None, bool, int, int, int]
"""Address | slot of the instruction (None: of none), whether it was in the second bundle of its window, address of the
data, latency in cycles, level that served a TLB miss (0: not in that mode)."""
FetchCaptured = tuple[int, int, int]
"""Address of the line, latency in cycles, level."""
Trace = tuple[list[int], list[int], int, bool]
"""Entries, extensions, index of the next one, whether the buffer has wrapped."""


class CaptureRegisters:
    """Makes register values for one PMU."""

    def __init__(self, model: PmuModel) -> None:
        self._names = REGISTERS[model.name]
        self._shifts: dict[int, dict[str, tuple[int, int]]] = {}
        names = self._names
        for number in (*names.data_pmds, *names.fetch_pmds, names.index_pmd, *_some(names.extension_pmd)):
            fields = model.registers[f"pmd{number}"].fields
            self._shifts[number] = {field.name: (field.low, (1 << field.width) - 1) for field in fields}

    def _put(self, number: int, fields: Mapping[str, int]) -> int:
        """A register with these fields."""
        shifts = self._shifts[number]
        return sum((value & shifts[name][1]) << shifts[name][0] for name, value in fields.items())

    def _latency(self, number: int, latency: int) -> dict[str, int]:
        """The latency field, and the overflow bit where there is one (Montecito manual tables 3-17 and 3-22)."""
        shifts = self._shifts[number]
        over = latency > shifts["latency"][1]
        return {"latency": latency, **({"ov": int(over)} if "ov" in shifts else {})}

    def data(self, captured: DataCaptured | None) -> dict[int, int]:
        """The data EAR (Montecito manual tables 3-22, 3-24, 3-25)."""
        address, time, place = self._names.data_pmds
        if captured is None:
            return {address: 0, time: 0, place: 0}
        instruction, second, data, latency, level = captured
        fields = self._latency(time, latency)
        fields["stat" if "stat" in self._shifts[time] else "level"] = level or VALID
        return {address: data, time: self._put(time, fields), place: self._place(place, instruction, second)}

    def _place(self, number: int, instruction: int | None, second: bool) -> int:
        """The instruction: the first bundle of its window, and whether it is in the other one; Itanium: its own."""
        if instruction is None:
            return 0
        bundle, slot = instruction >> 4, instruction & 3
        if "bn" not in self._shifts[number]:
            return self._put(number, {"v": VALID, "slot": slot, "iaddr": bundle})
        return self._put(number, {"vl": VALID, "bn": int(second), "slot": slot, "iaddr": bundle - second})

    def fetch(self, captured: FetchCaptured | None) -> dict[int, int]:
        """The instruction EAR (Montecito manual tables 3-17 and 3-19)."""
        line, time = self._names.fetch_pmds
        if captured is None:
            return {line: 0, time: 0}
        address, latency, level = captured
        state = {"stat": level or VALID} if "stat" in self._shifts[line] else {"v": VALID, "tlb": int(level == 3)}
        return {
            line: self._put(line, {"iaddr": address >> 5, **state}),
            time: self._put(time, self._latency(time, latency)),
        }

    def trace(self, trace: Trace) -> dict[int, int]:
        """The trace buffer with its index (Montecito manual tables 3-27 to 3-29)."""
        entries, extensions, following, full = trace
        names = self._names
        values = dict(zip(names.entry_pmds, entries, strict=True))
        index = names.index_pmd
        own = {"ebi" if "ebi" in self._shifts[index] else "bbi": following, "full": int(full)}
        more = {f"pmd{names.entry_pmds[place]}ext": bits for place, bits in enumerate(extensions)}
        if names.extension_pmd is not None:
            values[names.extension_pmd] = self._put(names.extension_pmd, more)
        elif f"pmd{names.entry_pmds[0]}ext" in self._shifts[index]:
            own |= more
        values[index] = self._put(index, own)
        return values


def _some(number: int | None) -> Sequence[int]:
    return () if number is None else (number,)
