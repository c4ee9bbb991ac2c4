"""Functions that a compiler put into others, by address, from DWARF (version 5, section 3.3.8: inlined subroutines)."""

from __future__ import annotations

from io import BytesIO

from pfmon.errors import PfmonError
from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SUBROUTINE = "DW_TAG_inlined_subroutine"
ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")
"""Where an entry says that another one has what it lacks."""
NAMES = ("DW_AT_linkage_name", "DW_AT_name")


class InlinedCode(NamedTuple):
    """Code [start, end) that a function became elsewhere. ``offset``: of its entry in the DWARF: what was inlined into
    it is further on."""

    start: int
    end: int
    offset: int
    name: str


class Inlined:
    """Those of one ELF file, at the addresses that a load bias gives them; names are as the linker would have them."""

    def __init__(self, data: bytes, bias: int = 0, path: str = "") -> None:
        self._data = data
        self._bias = bias
        self._path = path
        self._dwarf: Any = None

    def within(self, first: int, beyond: int) -> list[InlinedCode]:
        """Those with code in a range, the innermost first. PfmonError when the DWARF is damaged."""
        if not self._data.startswith(b"\x7fELF") or b"debug_info" not in self._data:  # the name of the section
            return []
        try:
            found = list(self._read(first - self._bias, beyond - self._bias))
        except Exception as error:  # the library raises whatever its parsing meets
            raise PfmonError(f"{self._path}: its DWARF is damaged ({error})") from None
        return sorted(found, key=lambda one: (one.end - one.start, -one.offset))

    def _read(self, first: int, beyond: int) -> Iterator[InlinedCode]:
        dwarf = self._open()
        for unit in dwarf.iter_CUs() if dwarf else ():
            top = unit.get_top_DIE()
            base = _value(top, "DW_AT_low_pc") or 0
            if not any(start < beyond and first < end for start, end in _ranges(dwarf, top, base)):
                continue
            for entry in unit.iter_DIEs():
                if entry.tag != SUBROUTINE:
                    continue
                for start, end in _ranges(dwarf, entry, base):
                    if start < beyond and first < end:
                        yield InlinedCode(start + self._bias, end + self._bias, entry.offset, _name(entry))

    def _open(self) -> Any:
        if self._dwarf is None:
            from elftools.elf.elffile import ELFFile  # only who speaks of inlined code needs it, and has some

            elf = ELFFile(BytesIO(self._data))
            self._dwarf = elf.get_dwarf_info() if elf.has_dwarf_info(strict=True) else False
        return self._dwarf


def _value(entry: Any, name: str) -> Any:
    attribute = entry.attributes.get(name)
    return None if attribute is None else attribute.value


def _name(entry: Any) -> str:
    """That of the function, which an entry names itself or by another one."""
    for _ in range(len(ORIGINS) + 1):
        found = next((_value(entry, name) for name in NAMES if name in entry.attributes), None)
        if found is not None:
            return str(found.decode("utf-8", "replace"))
        origin = next((name for name in ORIGINS if name in entry.attributes), None)
        if origin is None:
            break
        entry = entry.get_DIE_from_attribute(origin)
    return "?"


def _ranges(dwarf: Any, entry: Any, base: int) -> Iterator[tuple[int, int]]:
    """The code of an entry: one range, or a list of them, which are relative to a base."""
    if "DW_AT_ranges" in entry.attributes:
        lists = dwarf.range_lists()
        for one in lists.get_range_list_at_offset(_value(entry, "DW_AT_ranges"), cu=entry.cu) if lists else ():
            if hasattr(one, "base_address"):
                base = one.base_address
            else:
                shift = 0 if getattr(one, "is_absolute", False) else base
                yield one.begin_offset + shift, one.end_offset + shift
        return
    low, high = _value(entry, "DW_AT_low_pc"), _value(entry, "DW_AT_high_pc")
    if low is not None and high is not None:
        yield low, high if entry.attributes["DW_AT_high_pc"].form == "DW_FORM_addr" else low + high
