"""EFI's runtime services (UEFI specification 2.10, chapter 8)."""

from __future__ import annotations

import calendar
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Protocol

from pfmon.engine.ia64.system.firmware import efi_tables
from pfmon.engine.ia64.system.firmware.efi_tables import AT_RUNTIME, DESCRIPTOR, DESCRIPTOR_VERSION, PAGE, EfiPlaces
from pfmon.engine.ia64.system.firmware.firmware_calls import ENTRY_BYTES, Arguments, Procedure, load, store
from pfmon.engine.ia64.system.snapshots.kept_fields import BIT, Range

ERROR = 1 << 63
INVALID_PARAMETER, UNSUPPORTED, NOT_FOUND = ERROR | 2, ERROR | 3, ERROR | 14
"""Statuses (appendix D); 0: done."""
TIME = struct.Struct("<HBBBBBxIhBx")
"""EFI_TIME (8.3): year, month, day, hour, minute, second, nanosecond, time zone, daylight."""
CAPABILITIES = struct.Struct("<II?")
"""Resolution in hertz, accuracy in parts of 10^12, and whether setting the time clears what is below a second."""
RESOLUTION, ACCURACY = 1_000_000_000, 0
UNSPECIFIED_TIMEZONE = 0x7FF
MOST_MINUTES = 1440
DAYLIGHT = 3
YEARS = range(1900, 10_000)
SECOND = 10**9
MOST_MAP_BYTES = 1 << 16
COUNTER_HIGH = 32
MOST_OFFSET = 1 << 70
"""Nanoseconds: more than there are between two years."""


class EfiHost(Protocol):
    """The system as the services reach it."""

    @property
    def nanoseconds(self) -> int:
        """Its time, since 1970."""

    def reset(self) -> None:
        """The system is reset, or switched off: the run ends."""

    def write_memory(self, address: int, content: bytes) -> bool:
        """Write physical memory."""


class VirtualRange(NamedTuple):
    """A range of physical addresses of the firmware, and its virtual address."""

    start: int
    end: int
    virtual: int


class Efi:
    """The services of a platform, and what they have been told. ``code``: physical address of the entry points."""

    KEPT: ClassVar[Mapping[str, Range]] = {
        "offset": (-MOST_OFFSET, MOST_OFFSET),
        "timezone": (-MOST_MINUTES, UNSPECIFIED_TIMEZONE),
        "daylight": (0, DAYLIGHT),
        "counter": (0, (1 << COUNTER_HIGH) - 1),
        "is_virtual": BIT,
    }

    def __init__(self, host: EfiHost, places: EfiPlaces, code: int) -> None:
        self.host, self.places, self.code = host, places, code
        self.offset = 0
        """Nanoseconds between the time that SetTime has set and the system's."""
        self.timezone, self.daylight = UNSPECIFIED_TIMEZONE, 0
        self.counter = 0
        """The high half of the monotonic counter."""
        self.is_virtual = False

    @property
    def services(self) -> Mapping[int, Callable[[Arguments], Procedure]]:
        """By the number of the entry point."""
        return {number: _bound(self, service) for number, service in enumerate(SERVICES, 1)}


Service = Callable[[Efi, Arguments], Procedure]


def _bound(efi: Efi, service: Service) -> Callable[[Arguments], Procedure]:
    return lambda arguments: service(efi, arguments)


def get_time(efi: Efi, given: Arguments) -> Procedure:
    """GetTime (time, capabilities or 0)."""
    if not given[0]:
        return (INVALID_PARAMETER,)
    seconds, rest = divmod(efi.host.nanoseconds + efi.offset, SECOND)
    now = time.gmtime(seconds)
    fields = (now.tm_year, now.tm_mon, now.tm_mday, now.tm_hour, now.tm_min, now.tm_sec)
    yield from store(given[0], TIME.pack(*fields, rest, efi.timezone, efi.daylight))
    if given[1]:
        yield from store(given[1], CAPABILITIES.pack(RESOLUTION, ACCURACY, False))
    return (0,)


def set_time(efi: Efi, given: Arguments) -> Procedure:
    """SetTime (time)."""
    if not given[0]:
        return (INVALID_PARAMETER,)
    fields = TIME.unpack((yield from load(given[0], TIME.size)))
    *date, nanosecond, timezone, daylight = fields
    if not _is_date(date) or nanosecond >= SECOND or daylight & ~DAYLIGHT:
        return (INVALID_PARAMETER,)
    if abs(timezone) > MOST_MINUTES and timezone != UNSPECIFIED_TIMEZONE:
        return (INVALID_PARAMETER,)
    efi.offset = calendar.timegm((*date, 0, 0, 0)) * SECOND + nanosecond - efi.host.nanoseconds
    efi.timezone, efi.daylight = timezone, daylight
    return (0,)


def _is_date(fields: Sequence[int]) -> bool:
    year, month, day, hour, minute, second = fields
    if year not in YEARS or not 1 <= month <= 12:
        return False
    return 1 <= day <= calendar.monthrange(year, month)[1] and hour < 24 and minute < 60 and second < 60


def set_virtual_address_map(efi: Efi, given: Arguments) -> Procedure:
    """SetVirtualAddressMap (bytes of the map, bytes and version of a descriptor, map): the pointers in the firmware's
    tables and function descriptors become virtual ones (8.4). Only the first call does it."""
    size, step, version, address = given[:4]
    if efi.is_virtual:
        return (UNSUPPORTED,)
    if version != DESCRIPTOR_VERSION or step < DESCRIPTOR.size or size > MOST_MAP_BYTES or size % step:
        return (INVALID_PARAMETER,)
    content = yield from load(address, size)
    ranges = _ranges(content, step)
    for needed in (efi.code, efi.places.system):
        if _virtual(ranges, needed) is None:
            return (NOT_FOUND,)
    _make_virtual(efi, ranges)
    efi.is_virtual = True
    return (0,)


def _ranges(content: bytes, step: int) -> list[VirtualRange]:
    found = []
    for at in range(0, len(content), step):
        _, _, start, virtual, pages, attributes = DESCRIPTOR.unpack_from(content, at)
        if attributes & AT_RUNTIME:
            found.append(VirtualRange(start, start + (pages << PAGE), virtual))
    return found


def _virtual(ranges: Sequence[VirtualRange], physical: int) -> int | None:
    return next((physical - one.start + one.virtual for one in ranges if one.start <= physical < one.end), None)


def _make_virtual(efi: Efi, ranges: Sequence[VirtualRange]) -> None:
    def virtual(physical: int) -> int:
        found = _virtual(ranges, physical)
        return physical if found is None else found & (1 << 64) - 1

    places, write = efi.places, efi.host.write_memory
    for number, descriptor in enumerate(places.descriptors, 1):
        write(descriptor, struct.pack("<QQ", virtual(efi.code + number * ENTRY_BYTES), 0))
    write(places.runtime, efi_tables.runtime_table([virtual(one) for one in places.descriptors]))
    pointers = (virtual(places.vendor), virtual(places.runtime), virtual(places.configuration))
    write(places.system, efi_tables.system_table(*pointers, places.tables))


def get_variable(_: Efi, given: Arguments) -> Procedure:
    """GetVariable: there are none."""
    return (NOT_FOUND if given[0] and given[1] and given[3] else INVALID_PARAMETER,)
    yield


def get_next_variable_name(_: Efi, given: Arguments) -> Procedure:
    """GetNextVariableName: there is none."""
    return (NOT_FOUND if given[0] and given[1] and given[2] else INVALID_PARAMETER,)
    yield


def get_next_high_monotonic_count(efi: Efi, given: Arguments) -> Procedure:
    """GetNextHighMonotonicCount (count): the high half of the counter, one higher at each call."""
    if not given[0]:
        return (INVALID_PARAMETER,)
    efi.counter = efi.counter + 1 & (1 << COUNTER_HIGH) - 1
    yield from store(given[0], efi.counter.to_bytes(4, "little"))
    return (0,)


def reset_system(efi: Efi, _: Arguments) -> Procedure:
    """ResetSystem: of whatever type, the run ends."""
    efi.host.reset()
    return (0,)
    yield


def unsupported(_: Efi, __: Arguments) -> Procedure:
    """A service that the platform has not: it wakes nobody, keeps no variables, takes no capsules; pointers are made
    virtual by SetVirtualAddressMap alone."""
    return (UNSUPPORTED,)
    yield


SERVICES: Sequence[Service] = (
    get_time,
    set_time,
    unsupported,  # GetWakeupTime
    unsupported,  # SetWakeupTime
    set_virtual_address_map,
    unsupported,  # ConvertPointer
    get_variable,
    get_next_variable_name,
    unsupported,  # SetVariable
    get_next_high_monotonic_count,
    reset_system,
    unsupported,  # UpdateCapsule
    unsupported,  # QueryCapsuleCapabilities
    unsupported,  # QueryVariableInfo
)
"""In the order of their table (4.5)."""
