"""SAL's procedures (Itanium Processor Family SAL specification, chapter 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pfmon.engine.ia64.system.firmware.firmware_calls import ALL_ONES, Arguments, Procedure, Results

UNIMPLEMENTED, INVALID_ARGUMENT, FAILED, NO_INFORMATION = -1, -2, -3, -5
"""Return statuses (9.1); 0: done."""
HERTZ = 1_000_000
PLATFORM_CLOCK, INTERVAL_CLOCK, REAL_TIME_CLOCK = range(3)
MACHINE_CHECK, INITIALIZATION, BOOT_RENDEZVOUS = range(3)
"""Vectors of SAL_SET_VECTORS."""
CORRECTED, CORRECTED_PLATFORM = 2, 3
"""Of the kinds of events, machine check, initialization, corrected ones of the processor and the platform, the last."""
STATE_BYTES = 1024
"""An error record would have no more."""
CONFIGURATION_SIZES = (1, 2, 4)
RENDEZVOUS_INTERRUPT, WAKE_UP, PLATFORM_VECTOR = 1, 2, 3
"""Parameters of SAL_MC_SET_PARAMS."""


class Handler(NamedTuple):
    """A handler of the system: physical addresses of its code and of its data."""

    address: int
    gp: int


class Sal:
    """SAL of a platform, and what it has been told. ``frequency``: MHz of the platform's clock; ``processors``: how
    many there are; ``handlers``: by the number of their vector."""

    def __init__(self, frequency: int, processors: int = 1) -> None:
        self.frequency, self.processors = frequency, processors
        self.handlers: dict[int, Handler] = {}

    @property
    def told(self) -> list[list[int]]:
        """The handlers, for a snapshot: vector, address and gp of each."""
        return [[vector, *handler] for vector, handler in sorted(self.handlers.items())]

    def tell(self, told: object) -> None:
        """Set the handlers. ValueError: there can be none such."""
        if not isinstance(told, list):
            raise ValueError("no handlers")
        handlers = {}
        for one in told:
            if not isinstance(one, list) or len(one) != 3 or not all(type(part) is int for part in one):
                raise ValueError("no handler")
            vector, address, gp = one
            if vector not in (MACHINE_CHECK, INITIALIZATION, BOOT_RENDEZVOUS) or address % 16:
                raise ValueError("no handler")
            if not (0 < address <= ALL_ONES and 0 <= gp <= ALL_ONES):
                raise ValueError("no handler")
            handlers[vector] = Handler(address, gp)
        self.handlers = handlers

    @property
    def rendezvous(self) -> Handler | None:
        """The handler that a woken application processor executes; None: the system has not set one."""
        return self.handlers.get(BOOT_RENDEZVOUS)

    def call(self, arguments: Arguments) -> Procedure:
        """SAL_PROC: the index is the first argument."""
        function = PROCEDURES.get(arguments[0])
        return function(self, arguments[1:]) if function else (UNIMPLEMENTED,)
        yield  # no procedure accesses the caller's memory


def set_vectors(sal: Sal, given: Arguments) -> Results:
    """SAL_SET_VECTORS: vector, address, gp, length and checksum of a handler. An address of 0 takes it away. Only the
    rendezvous is ever used, since machine checks end the run."""
    if given[0] not in (MACHINE_CHECK, INITIALIZATION, BOOT_RENDEZVOUS) or given[1] % 16:
        return (INVALID_ARGUMENT,)
    if given[1]:
        sal.handlers[given[0]] = Handler(given[1], given[2])
    else:
        sal.handlers.pop(given[0], None)
    return (0,)


def get_state_info(_: Sal, given: Arguments) -> Results:
    """SAL_GET_STATE_INFO: no event has left a record."""
    return (NO_INFORMATION,) if given[0] <= CORRECTED_PLATFORM and given[1] == 0 else (INVALID_ARGUMENT,)


def get_state_info_size(_: Sal, given: Arguments) -> Results:
    """SAL_GET_STATE_INFO_SIZE: the most bytes of a record."""
    return (0, STATE_BYTES) if given[0] <= CORRECTED_PLATFORM and given[1] == 0 else (INVALID_ARGUMENT,)


def clear_state_info(_: Sal, given: Arguments) -> Results:
    """SAL_CLEAR_STATE_INFO: there was none."""
    return (NO_INFORMATION,) if given[0] <= CORRECTED_PLATFORM else (INVALID_ARGUMENT,)


def mc_rendez(_: Sal, __: Arguments) -> Results:
    """SAL_MC_RENDEZ: no machine check has asked for it."""
    return (FAILED,)


def mc_set_params(_: Sal, given: Arguments) -> Results:
    """SAL_MC_SET_PARAMS: the interrupts of machine checks, of which there are none."""
    return (0,) if given[0] in (RENDEZVOUS_INTERRUPT, WAKE_UP, PLATFORM_VECTOR) else (INVALID_ARGUMENT,)


def register_physical_addr(_: Sal, given: Arguments) -> Results:
    """SAL_REGISTER_PHYSICAL_ADDR: PAL is where it was; the entry point is all that SAL would use of it."""
    return (0,) if given[0] == 0 else (INVALID_ARGUMENT,)


def cache_flush(_: Sal, given: Arguments) -> Results:
    """SAL_CACHE_FLUSH: memory is coherent with all caches."""
    return (0,) if 1 <= given[0] <= 4 else (INVALID_ARGUMENT,)


def cache_init(_: Sal, __: Arguments) -> Results:
    """SAL_CACHE_INIT: they are initialized."""
    return (0,)


def pci_config_read(_: Sal, given: Arguments) -> Results:
    """SAL_PCI_CONFIG_READ: no device answers, so that all bits are ones."""
    size = given[1]
    return (0, (1 << 8 * size) - 1) if size in CONFIGURATION_SIZES else (INVALID_ARGUMENT,)


def pci_config_write(_: Sal, given: Arguments) -> Results:
    """SAL_PCI_CONFIG_WRITE: no device listens."""
    return (0,) if given[1] in CONFIGURATION_SIZES else (INVALID_ARGUMENT,)


def freq_base(sal: Sal, given: Arguments) -> Results:
    """SAL_FREQ_BASE: hertz of the platform's clock, which has no drift. There is no other input."""
    if given[0] == PLATFORM_CLOCK:
        return (0, sal.frequency * HERTZ, 0)
    return (UNIMPLEMENTED,) if given[0] in (INTERVAL_CLOCK, REAL_TIME_CLOCK) else (INVALID_ARGUMENT,)


def update_pal(_: Sal, __: Arguments) -> Results:
    """SAL_UPDATE_PAL: there is no room for another one."""
    return (FAILED, 0, 0)


PROCEDURES: dict[int, Callable[[Sal, Arguments], Results]] = {
    0x0100_0000: set_vectors,
    0x0100_0001: get_state_info,
    0x0100_0002: get_state_info_size,
    0x0100_0003: clear_state_info,
    0x0100_0004: mc_rendez,
    0x0100_0005: mc_set_params,
    0x0100_0006: register_physical_addr,
    0x0100_0008: cache_flush,
    0x0100_0009: cache_init,
    0x0100_0010: pci_config_read,
    0x0100_0011: pci_config_write,
    0x0100_0012: freq_base,
    0x0100_0020: update_pal,
}
"""By index. What is not here is unimplemented: SAL_PHYSICAL_ID_INFO, and what vendors have."""
