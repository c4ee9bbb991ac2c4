"""The compilation units of a file's DWARF, by the code that they describe; only the needed ones are read.

The section .debug_aranges lists the code of units; other units give it in their first entry, or not at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Range = tuple[int, int]


def import_line_reader() -> None:
    """Import pyelftools, which takes long, before a run whose code is shown with source lines."""
    import_module("elftools.elf.elffile")


class CompilationUnits:
    """The units of one ELF file; none without DWARF. On a damaged file methods raise any exception of pyelftools."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._dwarf: Any = None
        self._listed: list[tuple[int, int, Any]] | None = None
        """Start and end of code, and the unit."""
        self._unlisted: list[tuple[list[Range], Any]] = []
        """Units with the code given in their entry; empty if not given."""

    @property
    def dwarf(self) -> Any:
        """pyelftools' DWARF information of the file; False: it has no DWARF."""
        if self._dwarf is None:
            self._dwarf = self._open()
        return self._dwarf

    def _open(self) -> Any:
        if not self._data.startswith(b"\x7fELF") or b".debug_" not in self._data:  # names of DWARF sections
            return False
        from elftools.elf.elffile import ELFFile

        elf = ELFFile(BytesIO(self._data))
        return elf.get_dwarf_info() if elf.has_dwarf_info(strict=True) else False

    def everything(self) -> Iterator[Any]:
        """All units."""
        if self.dwarf:
            yield from self.dwarf.iter_CUs()

    def around(self, first: int, beyond: int) -> list[Any]:
        """Return the units with code in a range of linked addresses, and those whose code is unknown."""
        if self._listed is None:
            self._list()
        assert self._listed is not None
        found = {unit.cu_offset: unit for start, end, unit in self._listed if start < beyond and first < end}
        for ranges, unit in self._unlisted:
            if not ranges or any(start < beyond and first < end for start, end in ranges):
                found[unit.cu_offset] = unit
        return list(found.values())

    def with_code_at(self, addresses: Sequence[int]) -> list[Any]:
        """Return the units with code at some linked addresses, which are in order, the one with most of them first;
        those whose code is unknown are last."""
        if self._listed is None:
            self._list()
        assert self._listed is not None
        found: dict[int, tuple[int, Any]] = {}
        known = [((start, end), unit) for start, end, unit in self._listed]
        for (start, end), unit in [*known, *((one, unit) for ranges, unit in self._unlisted for one in ranges)]:
            if count := bisect_left(addresses, end) - bisect_left(addresses, start):
                found[unit.cu_offset] = found.get(unit.cu_offset, (0, unit))[0] + count, unit
        ordered = [unit for _, unit in sorted(found.values(), key=lambda one: (-one[0], one[1].cu_offset))]
        return [*ordered, *(unit for ranges, unit in self._unlisted if not ranges)]

    def _list(self) -> None:
        self._listed = []
        table = self.dwarf.get_aranges() if self.dwarf else None
        code: dict[int, list[Range]] = {}
        for entry in table.entries if table else ():
            code.setdefault(entry.info_offset, []).append((entry.begin_addr, entry.begin_addr + entry.length))
        for unit in self.everything():
            if unit.cu_offset in code:
                self._listed += [(start, end, unit) for start, end in code[unit.cu_offset]]
            else:
                self._unlisted.append((list(self.ranges(unit.get_top_DIE())), unit))

    def ranges(self, entry: Any) -> Iterator[Range]:
        """Yield the code ranges of an entry: one range, or a list of ranges relative to a base (DWARF 5, section
        2.17)."""
        if "DW_AT_ranges" in entry.attributes:
            yield from self._listed_ranges(entry)
            return
        low, high = value(entry, "DW_AT_low_pc"), value(entry, "DW_AT_high_pc")
        if low is not None and high is not None:
            yield low, high if entry.attributes["DW_AT_high_pc"].form == "DW_FORM_addr" else low + high

    def _listed_ranges(self, entry: Any) -> Iterator[Range]:
        lists = self.dwarf.range_lists()
        base = value(entry.cu.get_top_DIE(), "DW_AT_low_pc") or 0
        for one in lists.get_range_list_at_offset(value(entry, "DW_AT_ranges"), cu=entry.cu) if lists else ():
            if hasattr(one, "base_address"):
                base = one.base_address
            else:
                shift = 0 if getattr(one, "is_absolute", False) else base
                yield one.begin_offset + shift, one.end_offset + shift


def value(entry: Any, name: str) -> Any:
    """Return the value of an entry's attribute; None: it has none."""
    attribute = entry.attributes.get(name)
    return None if attribute is None else attribute.value
