"""Register contents as a whole: what is known of some registers, the others in their reset state."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from pfmon.pmu.register import RegisterSet


class RegisterValues:
    """The contents of a PMU's registers. A register that is not given is in the reset state."""

    def __init__(self, registers: RegisterSet, values: Mapping[str, int]) -> None:
        """``values`` are by name, as they were written: bits that a register does not have are dropped."""
        self.registers = registers
        self._held = dict(registers.resets)
        for name, value in values.items():
            if self._held.get(name) == value:
                continue
            register = registers[name]
            self._held[register.name] = register.accept(value)

    def __getitem__(self, name: str) -> int:
        return self._held[name]

    def field(self, register: str, name: str) -> int:
        """One field of a register."""
        return self.registers[register].field(name).get(self._held[register])

    def fields(self, register: str) -> dict[str, int]:
        """All fields of a register."""
        return self.registers[register].decode(self._held[register])
