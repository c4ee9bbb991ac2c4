from collections.abc import Iterable, Mapping
from enum import IntEnum

from pfmon.engine.qemu.block_describer import Describer

class PpcRule(IntEnum):
    NO_RULE = 0
    WORDS = 1
    BYTES = 2
    SOME = 3
    LINE = 4

class PpcDescriber(Describer):
    """Describes PowerPC instructions."""

    def take_undecoded(self, rows: Iterable[tuple[int, int, tuple[int, int, int, int, int, int]]]) -> None: ...
    def take_forms(self, extensions: Mapping[int, tuple[int, int]], rows: Iterable[tuple[int, int, int]]) -> None: ...
