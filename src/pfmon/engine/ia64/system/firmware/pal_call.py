"""What PAL's procedures get and give (volume 2, 11.10.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple, Protocol

from pfmon.engine.ia64.system.snapshots.kept_fields import BIT, Range
from pfmon.engine.ia64.system.translation_sizes import TranslationSizes
from pfmon.engine.system_settings import ProcessorDescription

UNIMPLEMENTED, INVALID_ARGUMENT, FAILED, NO_INFORMATION, NO_FEATURE_SET = -1, -2, -3, -6, -8
"""Return statuses (volume 2, 11.10.3); 0: done."""
ALL_ONES = (1 << 64) - 1


class PalCall(NamedTuple):
    """The arguments of a call, unsigned, of 64 bits: GR29 to GR31, or GR33 to GR35."""

    first: int = 0
    second: int = 0
    third: int = 0


class PalResult(NamedTuple):
    """``status``: GR8; ``values``: GR9 to GR11; ``buffer``: what goes to the caller's memory at ``address``, a multiple
    of eight bytes."""

    status: int = 0
    values: tuple[int, ...] = ()
    buffer: bytes = b""
    address: int = 0


INVALID = PalResult(INVALID_ARGUMENT)


class PalHost(Protocol):
    """The system as its firmware reaches it."""

    def halt(self) -> None:
        """Let time pass until an interrupt pends; the run ends if none can."""

    def shut_down(self) -> None:
        """End the run."""

    def flush_caches(self, kind: int, invalidates: bool) -> None:
        """Flush caches of a cache_type (PAL_CACHE_FLUSH); ``invalidates``: their lines become invalid, else clean."""

    @property
    def policy(self) -> int:
        """How the hardware threads of its core share it (PAL_SET_HW_POLICY)."""

    def set_policy(self, policy: int) -> None:
        """Change this, in favour of this processor."""

    def copy_code(self, address: int) -> bool:
        """Copy PAL's code to a physical address; False: there is no memory."""

    def has_memory(self, address: int, length: int) -> bool:
        """Whether there is memory at all of these physical addresses."""

    def translation_register(self, is_data: bool, number: int) -> tuple[int, int, int, int] | None:
        """A translation register: its general register, ITIR, IFA and RR; None: it is not valid."""


class Pal:
    """PAL of one processor: what it describes, and what it has been told. ``check_expected``: whether software expects
    a machine check; ``code_bytes``: the size of its code; ``number``: the processor's."""

    KEPT: ClassVar[Mapping[str, Range]] = {"check_expected": BIT}

    def __init__(
        self, processor: ProcessorDescription, sizes: TranslationSizes, host: PalHost, code_bytes: int, number: int = 0
    ) -> None:
        self.processor = processor
        self.sizes = sizes
        self.host = host
        self.code_bytes = code_bytes
        self.number = number
        self.check_expected = False


PalFunction = Callable[[Pal, PalCall], PalResult]


def to_buffer(address: int, content: bytes, values: tuple[int, ...] = ()) -> PalResult:
    """A result in the caller's memory, which must be aligned to eight bytes."""
    return INVALID if address % 8 else PalResult(0, values, content, address)
