"""Snapshots of a running system: when one is due, and what it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.atomic_write import check_whole
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor
from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.snapshots.kept_fields import Keeper
from pfmon.engine.system_settings import SystemSettings
from pfmon.errors import PfmonError, reason
from pfmon.program.image import Image

if TYPE_CHECKING:
    from pfmon.engine.ia64.system.platform.linux_platform import LinuxPlatform
    from pfmon.engine.ia64.system.snapshots.system_snapshot import SnapshotParts, SystemIdentity

MEGABYTE = 1_000_000


class GuestSnapshots:
    """``system``: with `boot`; ``keepers``: devices and firmware, by name."""

    def __init__(
        self,
        system: SystemSettings,
        model: str,
        image: Image,
        platform: LinuxPlatform,
        processors: Sequence[LogicalProcessor],
        memory: PhysicalMemory,
        keepers: Mapping[str, Keeper],
    ) -> None:
        assert system.boot
        self._system, self._boot, self._model, self._image = system, system.boot, model, image
        self._platform, self._processors, self._memory, self._keepers = platform, processors, memory, keepers
        self.is_due = False
        """Whether one is to be taken as soon as that can be."""
        self._is_taken = False
        if self._boot.snapshot:
            _check_place(self._boot.snapshot)

    @property
    def missing(self) -> str:
        """What is said if the run ends now: a snapshot was wanted, and is not there; "": nothing."""
        if not self._boot.snapshot or self._is_taken:
            return ""
        when = "a line of the console matched --snapshot-on" if self._boot.snapshot_on else "the system was ready"
        return f"--snapshot={self._boot.snapshot}: not written: the run has ended before {when}"

    def take(self, current: int) -> str:
        """Take a snapshot; ``current``: the processor that goes on first. Return what is said of it. PfmonError: it
        cannot be written."""
        from pfmon.engine.ia64.system.snapshots.system_snapshot import take_snapshot

        self.is_due = False
        size = take_snapshot(self._boot.snapshot, self._identity(), self._parts(), current)
        self._is_taken = True
        return f"the snapshot is in {self._boot.snapshot}: {size / MEGABYTE:.1f} MB"

    def restore(self) -> int:
        """Have the system go on from a snapshot. Return the number of the processor that goes on first. PfmonError: it
        cannot."""
        from pfmon.engine.ia64.system.snapshots.system_snapshot import restore_snapshot

        return restore_snapshot(self._boot.from_snapshot, self._identity(), self._parts())

    def _identity(self) -> SystemIdentity:
        from pfmon.engine.ia64.system.snapshots.system_snapshot import CONSOLE, PROGRAM, SystemIdentity

        waits_for = PROGRAM if self._boot.takes_programs else CONSOLE
        return SystemIdentity(self._system, self._model, self._image, self._platform.uart_address, waits_for)

    def _parts(self) -> SnapshotParts:
        from pfmon.engine.ia64.system.snapshots.system_snapshot import SnapshotParts

        return SnapshotParts(self._processors, self._memory, self._keepers, self._platform.sal)


def _check_place(path: str) -> None:
    """PfmonError: no file could be written there."""
    try:
        check_whole(path)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else "no such file"
        raise PfmonError(f"--snapshot={path}: {why}").about("--snapshot") from None
