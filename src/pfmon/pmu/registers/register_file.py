"""The register file of one PMU instance: register contents, reads and writes, and counting.

`RegisterFile` is the base class of all families; that of the Itaniums is in ia64_file.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pfmon.pmu.qualify.filters import ALL_PRIVILEGES

if TYPE_CHECKING:
    from pfmon.pmu.registers.register_tables import RegisterSet


class CounterBank(NamedTuple):
    """The PMDs that are event counters, and their width in bits."""

    numbers: tuple[int, ...]
    width: int


class RegisterFile(ABC):
    """All registers of one PMU, with the hardware's contents.

    `read` and `write` take names (`pmc4`, `ia32_pmc0`, `mmcr0`) and values. Data registers have numbers as well
    (`CounterBank`); the counting path calls `add` and `add_together`, which add any number of increments at once.
    """

    def __init__(self, registers: RegisterSet, bank: CounterBank) -> None:
        self.registers = registers
        self.bank = bank
        self.interrupt = False
        self.configured = 0
        """Changes at each write of a register that controls counting; not of a counter or a status register."""
        self._held = dict(registers.resets)
        self._limit = 1 << bank.width

    # Implemented by a family.

    @abstractmethod
    def read(self, name: str, cpl: int = 0) -> int:
        """Return the result of a read at a privilege level. BadValueError: it faults."""

    @abstractmethod
    def write(self, name: str, value: int, cpl: int = 0) -> None:
        """Write a register as the hardware does. BadValueError: the write faults."""

    @abstractmethod
    def data_register(self, number: int) -> str | None:
        """Return the name of a data register: a counter or a capture register. None: there is none of that number."""

    @abstractmethod
    def read_data(self, number: int, cpl: int) -> int:
        """Return the value that a program at a privilege level reads from a data register."""

    @property
    @abstractmethod
    def frozen(self) -> bool:
        """Whether counting is frozen."""

    @abstractmethod
    def stop(self) -> None:
        """Stop all counting, as a driver does."""

    def freeze(self, frozen: bool) -> None:
        """Stop all counting, as a driver does before it programs the registers anew; they decide again afterwards."""
        if frozen:
            self.stop()

    @abstractmethod
    def enabled(self, pmd: int) -> bool:
        """Return whether the counter counts in the current state."""

    def may_count(self, pmd: int) -> bool:
        """Return whether the counter counts in the current state, now or when another counter triggers it."""
        return self.enabled(pmd)

    def enabled_in_kernel(self, pmd: int) -> bool:
        """Return whether the counter counts while the operating system runs for a program."""
        return False

    @property
    def event_triggered(self) -> bool:
        """Whether counters start or stop others, which requires live counting."""
        return False

    @property
    def whole_system(self) -> bool:
        """Whether the registers count a whole processor's code, at all its privileges (`Ia64File.run_system`)."""
        return False

    def privileges(self, plm: int, pm: bool) -> int:
        """Return the privileges at which a monitor with these fields counts, a bit each (pmu/qualify/filters.py); all
        where the code has one privilege alone, which `enabled` judges."""
        return ALL_PRIVILEGES

    @abstractmethod
    def run_program(self) -> None:
        """Enter the state in which a monitored program runs."""

    def enable_interrupts(  # noqa: B027  # most PMUs' programmings do
        self, counters: Collection[int], controls: Mapping[str, int]
    ) -> None:
        """Enable the overflow interrupt of sampled counters, unless their configuration does so already. PfmonError:
        one of ``controls`` disables it."""

    @abstractmethod
    def set_secure(self, secure: bool) -> None:
        """Set whether the program may not read its counters."""

    @abstractmethod
    def _overflow(self, pmd: int) -> None:
        """Handle a wrapped counter: status, interrupt, freeze."""

    @abstractmethod
    def take_overflows(self) -> list[int]:
        """Return the counters that have overflowed; clear the status and the interrupt, as a handler does."""

    # Common to all.

    def reset(self) -> None:
        """Enter the state after processor reset (Montecito manual section 3.3.12).

        State that a manual leaves undefined is zero here.
        """
        self.interrupt = False
        self.configured += 1
        self._held = dict(self.registers.resets)

    def field(self, name: str, field: str) -> int:
        """Return one field of a register."""
        register = self.registers[name]
        return register.field(field).get(self._held[register.name])

    def set_field(self, name: str, field: str, value: int) -> None:
        """Write one field, keeping the others."""
        register = self.registers[name]
        spec = register.field(field)
        self.write(name, (self._held[register.name] & ~spec.mask) | spec.put(register.name, value))

    def contents(self) -> dict[str, int]:
        """Return the registers' contents, by name."""
        return dict(self._held)

    def peek(self, name: str) -> int:
        """Return a register's contents, without the effects of a read."""
        return self._held[name]

    def store(self, values: Mapping[int, int]) -> None:
        """Store values in data registers, as the PMU itself does."""
        self._held.update({self._data(number): value for number, value in values.items()})

    def _data(self, number: int) -> str:
        """Return the name of an existing data register."""
        name = self.data_register(number)
        if name is None:
            raise KeyError(f"there is no data register {number}")
        return name

    def count(self, pmd: int) -> int:
        """Return the counter's count bits as an unsigned number."""
        return self._held[self._data(pmd)] & (self._limit - 1)

    def headroom(self, pmd: int) -> int:
        """Return the number of increments after which the counter wraps."""
        return self._limit - self.count(pmd)

    def add(self, pmd: int, increment: int) -> bool:
        """Add to a counter and handle its overflow; return whether it wrapped. A frozen PMU counts nothing. The caller
        checks that the monitor is enabled (`enabled`)."""
        if self.frozen or not increment:
            return False
        wraps = self._advance(pmd, increment)
        if wraps:
            self._overflow(pmd)
        return wraps

    def add_together(self, increments: Mapping[int, int]) -> list[int]:
        """Add to several counters at once, as one instruction or cycle does: all counters are added before an overflow
        freezes them. Return the counters that wrapped."""
        if self.frozen:
            return []
        wrapped = [pmd for pmd, increment in increments.items() if self._advance(pmd, increment)]
        for pmd in wrapped:
            self._overflow(pmd)
        return wrapped

    def _advance(self, pmd: int, increment: int) -> bool:
        """Add to a counter; return whether there was a carry out of it."""
        name = self._data(pmd)
        count = (self._held[name] & (self._limit - 1)) + increment
        self._held[name] = count & (self._limit - 1)
        return count >= self._limit
