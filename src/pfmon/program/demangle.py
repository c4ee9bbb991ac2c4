"""Demangling of C++ names (Itanium C++ ABI, chapter 5: external names begin with _Z)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

MANGLED = "_Z"
QUALIFIERS = (" const", " volatile", " &", " &&", "&")
CLONE = " [clone "
OPERATOR = r"operator\s*(?:<=>|<<=?|>>=?|->\*?|[<>]=?|,)"
"""Operators whose names contain brackets or commas."""
OPENING, CLOSING = "(<[{", ")>]}"


def demangled(name: str) -> str:
    """Return ``geometry::Circle::area() const`` for ``_ZNK8geometry6Circle4areaEv``; other names unchanged."""
    return _demangler()(name) if name.startswith(MANGLED) else name


def plain_name(name: str) -> str:
    """Return ``geometry::Circle::area`` for ``geometry::Circle::area() const``: a demangled name without parameters,
    qualifiers, ABI tags (``[abi:cxx11]``), a compiler's clone suffix (``[clone .cold]``) and a template's return
    type."""
    name = name.partition(CLONE)[0]
    while end := next((end for end in QUALIFIERS if name.endswith(end)), ""):
        name = name.removesuffix(end)
    if name.endswith(")") and (cut := _opening(name)) > 0:
        name = name[:cut]
    while name.endswith("]") and (cut := name.rfind("[abi:")) > 0:
        name = name[:cut]
    return name[_last_word(name) :]


def brackets(name: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a name, each with the number of brackets open before it; characters of an operator's name
    open none."""
    depth = 0
    for sign in re.sub(OPERATOR, lambda found: "o" * len(found[0]), name):
        depth -= sign in CLOSING
        yield sign, depth
        depth += sign in OPENING


def _opening(name: str) -> int:
    """Return the index of the parenthesis that the last one closes."""
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if depth == 0:
            return place
    return -1


def _last_word(name: str) -> int:
    """Return the start of the name after a type: after the last space outside brackets that is not part of an
    operator's name (``operator new``)."""
    before, sign, _ = name.rpartition("operator")
    limit = len(before) if sign and not name[len(before) - 1 : len(before)].isalnum() else len(name)
    spaces = (place for place, (sign, depth) in enumerate(brackets(name[:limit])) if sign == " " and depth == 0)
    return max(spaces, default=-1) + 1


@cache
def _demangler() -> Callable[[str], str]:
    """Return the demangler of the host's C++ library, through cxxfilt, which searches for that library and is loaded
    for the first mangled name. Without either, names stay mangled."""
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
