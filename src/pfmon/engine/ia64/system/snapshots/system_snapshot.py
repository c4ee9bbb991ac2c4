"""What a snapshot of a system has, its settings, processors, devices, firmware and memory: how it is taken and
restored."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.atomic_write import WholeFile
from pfmon.engine.ia64.system.firmware.sal_procedures import Sal
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor
from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.snapshots.kept_fields import BIT, Keeper, Range, kept, put_back
from pfmon.engine.ia64.system.snapshots.snapshot_file import (
    ADDRESS,
    MEMORY,
    PAGE,
    PART,
    PROCESSOR,
    SnapshotReader,
    SnapshotWriter,
)
from pfmon.engine.system_settings import ProcessorDescription, SystemSettings
from pfmon.errors import PfmonError, reason
from pfmon.program.image import Image
from pfmon.version import VERSION

TIME: Range = (0, (1 << 62) - 1)
MEGABYTE = 1 << 20
PROGRAM, CONSOLE = "program", "console"
"""What a system waits for: a program, or its user at the console."""


class SnapshotParts(NamedTuple):
    """The system as its snapshot has it. ``devices``: what keeps fields, by name; ``current``: the processor whose
    request has its answer when the system goes on."""

    processors: Sequence[LogicalProcessor]
    memory: PhysicalMemory
    devices: Mapping[str, Keeper]
    sal: Sal


class SystemIdentity(NamedTuple):
    """What a snapshot can go on as. ``uart``: the serial port's physical address; ``waits_for``: PROGRAM or CONSOLE."""

    system: SystemSettings
    model: str
    image: Image
    uart: int
    waits_for: str

    def described(self) -> dict[str, object]:
        """As the head of a snapshot has it."""
        return {
            "memory": self.system.memory,
            "processors": self.system.processors,
            "model": self.model,
            "processor": _processor(self.system.processor),
            "uart": self.uart,
            "kernel": [len(self.image.data), zlib.crc32(self.image.data)],
            "waits_for": self.waits_for,
        }


def _processor(of: ProcessorDescription) -> list[int]:
    return [of.frequency, of.bus_frequency, of.threads, of.cores]


def check_identity(reader: SnapshotReader, identity: SystemIdentity) -> None:
    """PfmonError: the snapshot is of another system than the one that is to go on."""
    head, wanted = reader.head, identity.described()
    if head.get("kernel") != wanted["kernel"]:
        raise reader.refused(f"is of another kernel than {identity.image.path}")
    if head.get("memory") != wanted["memory"]:
        raise _differs(reader, f"{_megabytes(head.get('memory'))} of memory", "--memory")
    if head.get("processors") != wanted["processors"]:
        raise _differs(reader, f"{_shown(head.get('processors'))} processors", "--processors")
    if head.get("model") != wanted["model"]:
        raise _differs(reader, f"another processor ({_shown(head.get('model'))})", "--pmu")
    if head.get("processor") != wanted["processor"]:
        raise _differs(reader, "other clocks, hardware threads or cores", "--machine, --smt-threads and --cores")
    if head.get("uart") != wanted["uart"]:
        raise _differs(reader, "its serial port at another address", "--uart")
    if head.get("waits_for") != wanted["waits_for"]:
        why = "waits at its console: leave the program out"
        if identity.waits_for == CONSOLE:
            why = "waits for a program: give one too"
        raise reader.refused(why)


def _differs(reader: SnapshotReader, what: str, option: str) -> PfmonError:
    return reader.refused(f"is of a system with {what}: give it the same {option}").about("--from-snapshot", option)


def _megabytes(size: object) -> str:
    return f"{size // MEGABYTE}M" if type(size) is int and 0 <= size < 1 << 50 else "another size"


def _shown(value: object) -> str:
    """A value of a file, as far as it can be printed."""
    return ascii(value)[:40].strip("'")


def take_snapshot(path: str, identity: SystemIdentity, parts: SnapshotParts, current: int) -> int:
    """Write a snapshot, whole or not at all; ``current``: the processor that goes on first. Return its bytes.
    PfmonError: it cannot be written."""
    head = {
        "pfmon": VERSION,
        "cmdline": identity.system.boot.cmdline if identity.system.boot else "",
        **identity.described(),
        "current": current,
        "devices": {name: kept(one) for name, one in parts.devices.items()},
        "handlers": parts.sal.told,
        "turns": [[int(one.halted), int(one.parked), one.time] for one in parts.processors],
    }
    try:
        whole = WholeFile(path)
        try:
            writer = SnapshotWriter(whole.file, head)
            for one in parts.processors:
                writer.processor(one.processor.saved_state())
            for address in range(0, parts.memory.size, PART):
                writer.memory(address, parts.memory.read(address, PART) or b"")
            writer.finish()
            size = whole.file.tell()
        except BaseException:
            whole.abandon()
            raise
        whole.finish()
    except OSError as error:
        raise PfmonError(f"--snapshot={path}: {reason(error)}").about("--snapshot") from None
    return size


def restore_snapshot(path: str, identity: SystemIdentity, parts: SnapshotParts) -> int:
    """Have a system, which has executed nothing, go on as a snapshot has it. Return the number of the processor that
    goes on first. PfmonError: it is none, damaged, or of another system."""
    reader = SnapshotReader(path)
    try:
        check_identity(reader, identity)
        try:
            current = _restore_head(reader.head, parts)
        except ValueError as error:
            raise reader.damaged(str(error)) from None
        _restore_pieces(reader, parts)
    finally:
        reader.close()
    return current


def _restore_head(head: Mapping[str, Any], parts: SnapshotParts) -> int:
    """ValueError: it has not what a head has."""
    devices, turns, current = head.get("devices"), head.get("turns"), head.get("current")
    if not isinstance(devices, dict) or set(devices) != set(parts.devices):
        raise ValueError("it has other devices")
    for name, device in parts.devices.items():
        put_back(device, devices[name])
    parts.sal.tell(head.get("handlers"))
    if not isinstance(turns, list) or len(turns) != len(parts.processors):
        raise ValueError("it has other processors")
    for one, turn in zip(parts.processors, turns, strict=True):
        if not isinstance(turn, list) or len(turn) != 3 or not all(map(_is_in, turn, (BIT, BIT, TIME))):
            raise ValueError("a processor has no time")
        one.resume(*turn)
    if not _is_in(current, (0, len(parts.processors) - 1)):
        raise ValueError("no processor goes on")
    return int(current)  # type: ignore[arg-type]


def _is_in(value: object, limits: Range) -> bool:
    return type(value) is int and limits[0] <= value <= limits[1]


def _restore_pieces(reader: SnapshotReader, parts: SnapshotParts) -> None:
    memory, waiting, end = parts.memory, list(parts.processors), 0
    memory.clear()
    for kind, data in reader.pieces():
        if kind == PROCESSOR:
            try:
                waiting.pop(0).processor.restore_state(data)
            except (IndexError, ValueError):
                raise reader.damaged("a processor's state is none") from None
        elif kind == MEMORY:
            address = ADDRESS.unpack_from(data)[0] if len(data) > ADDRESS.size else -1
            length = len(data) - ADDRESS.size
            if address < end or address % PAGE or length % PAGE or address + length > memory.size:
                raise reader.damaged("memory is where there is none")
            end = address + length
            memory.space.write_initial(address, memoryview(data)[ADDRESS.size :])
    if waiting:
        raise reader.damaged("a processor is missing")
