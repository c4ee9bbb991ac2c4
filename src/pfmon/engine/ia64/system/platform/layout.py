"""Where things are in the physical addresses of the platform that a Linux kernel boots on.

Memory begins at 0, and all of the firmware is at its end: a kernel with flat memory (CONFIG_FLATMEM) takes whatever
lies below the highest page that is its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.engine.ia64.system.devices import interrupt_block, io_ports, power_switch
from pfmon.engine.ia64.system.firmware.efi_tables import (
    AT_RUNTIME,
    CONVENTIONAL,
    DEVICES,
    PAL_CODE,
    PORTS,
    RUNTIME_CODE,
    RUNTIME_DATA,
    UNCACHED,
    WRITE_BACK,
    MemoryRange,
)
from pfmon.engine.ia64.system.physical_memory import FIRMWARE_BYTES

PART = 64 << 10
"""PAL's code, that of the services, and then the tables are in parts of this size or more: a page of the kernel, of
whatever size, has one kind of memory."""
SERVICES, TABLES = PART, 2 * PART
REGISTER_STACK = FIRMWARE_BYTES // 2
MEMORY_STACK = FIRMWARE_BYTES - 16
"""Offsets from the beginning of the firmware: the tables end where the stacks of the kernel's first steps are."""
UART, IOSAPIC, POWER = 0xF000_0000, 0xFEC0_0000, 0xFED0_0000
UNCLAIMED = POWER + power_switch.BYTES
"""Up to the interrupt block no device answers: Linux with several processors sends an interrupt to the one behind the
last (ia64_mca_late_init), which is below the block."""
IO_PORTS = (1 << 44) - io_ports.BYTES
"""The highest that all Itaniums have."""
UART_LINE = 20
"""Its line of the I/O SAPIC: no interrupt of a PC's old devices."""
HIGHEST_UART = (1 << 32) - PART
GRANULE = 16 << 20
"""Linux maps memory in pieces of this size, and leaves out what does not fill one."""


def memory_ranges(firmware: int, uart: int) -> Sequence[MemoryRange]:
    """All of the platform, as EFI describes it; ``firmware``: where that begins."""
    last = firmware + FIRMWARE_BYTES
    port = uart & -PART
    devices = [
        MemoryRange(DEVICES, port, port + PART, UNCACHED),
        MemoryRange(DEVICES, IOSAPIC, interrupt_block.ADDRESS + interrupt_block.BYTES, UNCACHED),
    ]
    return [
        MemoryRange(CONVENTIONAL, 0, firmware, WRITE_BACK),
        MemoryRange(PAL_CODE, firmware, firmware + SERVICES, WRITE_BACK | AT_RUNTIME),
        MemoryRange(RUNTIME_CODE, firmware + SERVICES, firmware + TABLES, WRITE_BACK | AT_RUNTIME),
        MemoryRange(RUNTIME_DATA, firmware + TABLES, last, WRITE_BACK | AT_RUNTIME),
        *sorted(devices, key=lambda one: one.start),
        MemoryRange(PORTS, IO_PORTS, IO_PORTS + io_ports.BYTES, UNCACHED | AT_RUNTIME),
    ]
