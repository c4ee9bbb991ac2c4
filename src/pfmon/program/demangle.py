"""C++ names as programmers write them (Itanium C++ ABI, chapter 5: external names begin with _Z)."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MANGLED = "_Z"
QUALIFIERS = (" const", " volatile", " &", " &&", "&")
CLONE = " [clone "
OPERATOR = r"operator\s*(?:<=>|<<=?|>>=?|->\*?|[<>]=?|,)"
"""Operators whose names look like brackets or commas."""
OPENING, CLOSING = "(<[{", ")>]}"


def demangled(name: str) -> str:
    """``geometry::Circle::area() const`` for ``_ZNK8geometry6Circle4areaEv``; a name that is not mangled, or cannot be
    demangled, as it is."""
    return _demangler()(name) if name.startswith(MANGLED) else name


def plain_name(name: str) -> str:
    """``geometry::Circle::area`` for ``geometry::Circle::area() const``: a demangled name without parameters,
    qualifiers, ABI tags (``[abi:cxx11]``), what a compiler says of a copy of its own (``[clone .cold]``) and, of a
    template, the type that it returns."""
    name = name.partition(CLONE)[0]
    while end := next((end for end in QUALIFIERS if name.endswith(end)), ""):
        name = name.removesuffix(end)
    if name.endswith(")") and (cut := _opening(name)) > 0:
        name = name[:cut]
    while name.endswith("]") and (cut := name.rfind("[abi:")) > 0:
        name = name[:cut]
    return name[_last_word(name) :]


def brackets(name: str) -> Iterator[tuple[str, int]]:
    """The signs of a name, each with the number of brackets that are open before it; those that an operator's name
    consists of are none."""
    depth = 0
    for sign in re.sub(OPERATOR, lambda found: "o" * len(found[0]), name):
        depth -= sign in CLOSING
        yield sign, depth
        depth += sign in OPENING


def _opening(name: str) -> int:
    """Where the parenthesis is that the last one closes."""
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if depth == 0:
            return place
    return -1


def _last_word(name: str) -> int:
    """Where the name begins behind a type: behind the last space that is in no brackets, and not of an operator's name
    (``operator new``)."""
    before, sign, _ = name.rpartition("operator")
    limit = len(before) if sign and not name[len(before) - 1 : len(before)].isalnum() else len(name)
    spaces = (place for place, (sign, depth) in enumerate(brackets(name[:limit])) if sign == " " and depth == 0)
    return max(spaces, default=-1) + 1


@cache
def _demangler() -> Callable[[str], str]:
    """That of the host's C++ library, through cxxfilt, which is loaded when the first mangled name comes: it looks for
    that library. Without the one or the other names stay mangled."""
    try:
        cxxfilt = import_module("cxxfilt")
    except (ImportError, OSError):
        return str

    def demangle(name: str) -> str:
        try:
            return str(cxxfilt.demangle(name))
        except (cxxfilt.Error, ValueError):
            return name

    return demangle
