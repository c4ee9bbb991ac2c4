"""The registers of a processor that the ABI of IA-64 names (SDM volume 1, chapter 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pfmon.engine.linux.process.engine_interface import Registers


class Ia64Registers(Registers, Protocol):
    """The application state of an IA-64 processor; ``ip``: bundle address, with the slot in bits 0 and 1."""

    def gr(self, n: int) -> int: ...
    def set_gr(self, n: int, value: int, nat: bool = False) -> None: ...
    def nat(self, n: int) -> bool: ...
    def br(self, n: int) -> int: ...
    def set_br(self, n: int, value: int) -> None: ...
    @property
    def pr(self) -> int: ...
    def set_pr(self, value: int) -> None: ...
    def ar(self, name: str) -> int: ...
    def set_ar(self, name: str, value: int) -> None: ...
    @property
    def cfm(self) -> int:
        """Packed as in CFM (SDM volume 1, 3.1.7): sof, sol, sor, rrb.gr, rrb.fr, rrb.pr."""

    def set_cfm(self, value: int) -> None: ...
    def set_ip(self, value: int) -> None: ...
    @property
    def um(self) -> int: ...
    def set_um(self, value: int) -> None: ...
    def set_secure(self, value: bool) -> None:
        """PSR.sp: the program neither reads performance data registers nor changes PSR.up."""

    def fr_spill(self, n: int) -> bytes:
        """The 16 bytes that stf.spill stores."""

    def set_fr_spill(self, n: int, data: bytes) -> None: ...
    def out_argument(self, i: int) -> int:
        """Output register i of the current frame: an argument of a system call."""

    def cover_and_flush(self) -> int | None:
        """Write all stacked registers to the backing store; leaves an empty frame.

        Returns ar.bsp, None if the backing store cannot be written.
        """

    def restore_frame(self, bsp: int, cfm: int) -> bool:
        """Restore the frame covered when ar.bsp was bsp; its registers come from the backing store.

        ar.rnat holds the NaT bits of the last group. False if the backing store cannot be read.
        """

    @property
    def cpuid(self) -> Sequence[int]:
        """The processor identification registers."""

    def begin_stack(self, base: int) -> None:
        """Start a register stack: the current frame is its first, the backing store begins at ``base``."""


def previous_slot(ip: int) -> int:
    """The instruction before ip, as straight-line code has it."""
    return ip - 1 if ip & 3 else ip - 16 | 2
