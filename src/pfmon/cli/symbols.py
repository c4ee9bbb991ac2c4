"""Names in ranges: looked up in the program that is to run, and only if there are any."""

from collections.abc import Sequence

from pfmon.cli.programming import NO_SYMBOLS, Symbols
from pfmon.errors import PfmonError


def symbols_of(command: Sequence[str], sysroot: str | None) -> Symbols:
    """How names become addresses in the program of ``command``."""
    return Symbols(_not_yet, _not_yet) if command else NO_SYMBOLS


def _not_yet(name: str) -> tuple[int, int]:
    raise PfmonError(f"{name}: this version does not look up symbols; give the range as numbers, START-END")
