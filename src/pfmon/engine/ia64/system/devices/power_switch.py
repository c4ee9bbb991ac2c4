"""The sleep registers of a platform that has no other fixed hardware (ACPI specification 4.8.3.7)."""

from __future__ import annotations

from collections.abc import Callable

BYTES = 1 << 20
"""Up to the interrupt block: a kernel for more processors than there are sends interrupt messages to number -1, whose
address is just before that, and which are lost (Linux, ia64_mca_cpe_int_caller: NR_CPUS for nr_cpu_ids)."""
CONTROL, STATUS = 0, 1
"""Offsets of the registers, of a byte each."""
TYPE_SHIFT, TYPE_MASK = 2, 7
ENABLE = 1 << 5
OFF = 5
"""The sleep type of S5, as the DSDT says it."""


class PowerSwitch:
    """Switches the system off. ``switch_off``: does it."""

    def __init__(self, switch_off: Callable[[], None]) -> None:
        self._switch_off = switch_off

    def read(self, offset: int, size: int) -> int:
        """The system never sleeps: no bit of the status is set."""
        return 0

    def write(self, offset: int, size: int, value: int) -> None:
        """The control register: enter the state of this type."""
        if offset == CONTROL and value & ENABLE and value >> TYPE_SHIFT & TYPE_MASK == OFF:
            self._switch_off()
