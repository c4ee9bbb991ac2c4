"""--print-syms: the symbols of a program, by address."""

from __future__ import annotations

from collections.abc import Iterable

from pfmon.program.demangle import demangled
from pfmon.program.symbols import Symbol

LETTERS = {"function": "T", "object": "D", "label": "-"}
"""Of kinds of symbols, as nm has them."""


def symbol_lines(symbols: Iterable[Symbol], demangle: bool) -> str:
    """A line for each: address, size, T for a function, D for data, - where the file says neither, and the name."""
    return "".join(
        f"{one.address:#018x} {one.size:10} {LETTERS[one.kind]} {demangled(one.name) if demangle else one.name}\n"
        for one in symbols
    )
