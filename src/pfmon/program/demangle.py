"""C++ names as programmers write them (Itanium C++ ABI, chapter 5: external names begin with _Z)."""

from __future__ import annotations

from functools import cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MANGLED = "_Z"


def demangled(name: str) -> str:
    """``geometry::Circle::area() const`` for ``_ZNK8geometry6Circle4areaEv``; a name that is not mangled, or cannot be
    demangled, as it is."""
    return _demangler()(name) if name.startswith(MANGLED) else name


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
