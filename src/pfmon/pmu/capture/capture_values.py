"""Encoding of captures in performance data registers, in the layouts of Itanium, Itanium 2 and Montecito.

The register tables give the fields' positions (targets/NAME/registers.csv).
"""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.pmu.capture.captures import branch_buffer_registers, data_ear_registers, instruction_ear_registers
from pfmon.pmu.capture.data_capture import DataCaptured
from pfmon.pmu.model.pmu_model import PmuModel

VALID = 1
FetchCaptured = tuple[int, int, int]
"""Address of the line, latency in cycles, level."""
Trace = tuple[list[int], list[int], int, bool]
"""Entries, extensions, index of the next one, whether the buffer has wrapped."""


class CaptureRegisters:
    """Encodes captures as register values of one PMU."""

    def __init__(self, model: PmuModel, ia32: bool = False) -> None:
        """``ia32``: of IA-32 code, which has no slots: an address stands for its 16 bytes."""
        self._slots = 0 if ia32 else 3
        self._data, self._fetch = data_ear_registers(model), instruction_ear_registers(model)
        self._shifts: dict[int, dict[str, tuple[int, int]]] = {}
        for number in (*self._data, *self._fetch, *branch_buffer_registers(model)):
            fields = model.registers[f"pmd{number}"].fields
            self._shifts[number] = {field.name: (field.low, (1 << field.width) - 1) for field in fields}
        buffer = branch_buffer_registers(model)
        self._entries = [number for number in buffer if "addr" in self._shifts[number]]
        self._index = next(number for number in buffer if "full" in self._shifts[number])
        extension = f"pmd{self._entries[0]}ext"
        self._extension = next((number for number in buffer if extension in self._shifts[number]), None)

    def _put(self, number: int, fields: Mapping[str, int]) -> int:
        """Return a register value with these fields."""
        shifts = self._shifts[number]
        return sum((value & shifts[name][1]) << shifts[name][0] for name, value in fields.items())

    def _latency(self, number: int, latency: int) -> dict[str, int]:
        """Return the latency field, and the overflow bit if there is one (Montecito manual tables 3-17 and 3-22)."""
        shifts = self._shifts[number]
        over = latency > shifts["latency"][1]
        return {"latency": latency, **({"ov": int(over)} if "ov" in shifts else {})}

    def data(self, captured: DataCaptured | None) -> dict[int, int]:
        """Encode a capture of the data EAR (Montecito manual tables 3-22, 3-24, 3-25)."""
        address, time, place = self._data
        if captured is None:
            return {address: 0, time: 0, place: 0}
        instruction, second, data, latency, level = captured
        fields = self._latency(time, latency)
        if "stat" in self._shifts[time]:
            fields["stat"] = level or VALID
        else:  # Itanium: TLB misses only
            fields["level"] = level
        return {address: data, time: self._put(time, fields), place: self._place(place, instruction, second)}

    def _place(self, number: int, instruction: int | None, second: bool) -> int:
        """Return the instruction's register: the first bundle of its window, and whether it is in the second; Itanium:
        its own bundle."""
        if instruction is None:
            return 0
        bundle, slot = instruction >> 4, instruction & self._slots
        if "bn" not in self._shifts[number]:
            return self._put(number, {"v": VALID, "slot": slot, "iaddr": bundle})
        return self._put(number, {"vl": VALID, "bn": int(second), "slot": slot, "iaddr": bundle - second})

    def fetch(self, captured: FetchCaptured | None) -> dict[int, int]:
        """Encode a capture of the instruction EAR (Montecito manual tables 3-17 and 3-19)."""
        line, time = self._fetch
        if captured is None:
            return {line: 0, time: 0}
        address, latency, level = captured
        state = {"stat": level or VALID} if "stat" in self._shifts[line] else {"v": VALID, "tlb": int(level == 3)}
        return {
            line: self._put(line, {"iaddr": address >> 5, **state}),
            time: self._put(time, self._latency(time, latency)),
        }

    def trace(self, trace: Trace) -> dict[int, int]:
        """Encode the trace buffer with its index (Montecito manual tables 3-27 to 3-29)."""
        entries, extensions, following, full = trace
        values = dict(zip(self._entries, entries, strict=True))
        place = "ebi" if "ebi" in self._shifts[self._index] else "bbi"
        values[self._index] = self._put(self._index, {place: following, "full": int(full)})
        if self._extension is not None:
            bits = {f"pmd{number}ext": more for number, more in zip(self._entries, extensions, strict=True)}
            values[self._extension] = values.get(self._extension, 0) | self._put(self._extension, bits)
        return values

    def trace_in(self, registers: Mapping[int, int]) -> Trace:
        """Decode register values of the trace buffer: the inverse of `trace`."""
        index = self._shifts[self._index]
        low, mask = index["ebi" if "ebi" in index else "bbi"]
        following, full = registers[self._index] >> low & mask, registers[self._index] >> index["full"][0] & 1
        extensions = [0] * len(self._entries)
        if self._extension is not None:
            places = [self._shifts[self._extension][f"pmd{number}ext"] for number in self._entries]
            extensions = [registers[self._extension] >> low & mask for low, mask in places]
        return [registers[number] for number in self._entries], extensions, following, bool(full)
