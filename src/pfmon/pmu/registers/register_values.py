"""Complete register contents: given values, and the reset state of other registers."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.pmu.registers.register_tables import RegisterSet


class RegisterValues:
    """The contents of a PMU's registers. A register that is not given is in the reset state."""

    def __init__(self, registers: RegisterSet, values: Mapping[str, int]) -> None:
        """``values``: by name, as written; bits that a register lacks are dropped."""
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
        """Return one field of a register."""
        return self.registers[register].field(name).get(self._held[register])

    def fields(self, register: str) -> dict[str, int]:
        """Return all fields of a register."""
        return self.registers[register].decode(self._held[register])
