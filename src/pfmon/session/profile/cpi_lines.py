"""The cycle breakdown by source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pfmon.counting._counting import CountAccumulator
from pfmon.session.profile.code_profile import SYSTEM, FunctionNames, add_to_row
from pfmon.session.profile.cpi_causes import PARTS


class LineRow(NamedTuple):
    """A source line's cycles, by part in the order of PARTS, its instructions, the function that has most of these, and
    the path of its shared object."""

    file: str
    line: int
    function: str
    cycles: tuple[int, ...]
    instructions: int
    object: str = ""

    def to_dict(self, text: str | None) -> dict[str, Any]:
        """Return file, line, text (null: the file was not found), function, object (null: the program itself),
        instructions, cycles by part."""
        return {
            "file": self.file,
            "line": self.line,
            "text": text,
            "function": self.function,
            "object": self.object or None,
            "instructions": self.instructions,
            "cycles": dict(zip(PARTS, self.cycles, strict=True)),
        }


def cycle_lines(sink: CountAccumulator, lookup: FunctionNames, part_of: Callable[[int], int]) -> list[LineRow]:
    """Return the rows of all lines but those of the system's libraries, the one with most cycles first. ``sink``:
    components of the cycles, then instructions, by place; ``part_of``: the number of a component's part."""
    rows: dict[tuple[str, int, str], list[int]] = {}
    functions: dict[tuple[str, int, str], Counter[str]] = {}
    for file in sorted(sink.files()):
        for address, counts in sink.by_address(files={file}).items():
            function = lookup.function(address, of_code=True, file=file)
            source = None if function.object.startswith(SYSTEM) else lookup.source(address)
            if source is None or not any(counts):
                continue
            key = source.file, source.line, function.object
            add_to_row(rows, key, _by_part(counts, part_of))
            functions.setdefault(key, Counter())[function.name] += counts[-1]
    found = [
        LineRow(file, line, functions[file, line, path].most_common(1)[0][0], tuple(row[:-1]), row[-1], path)
        for (file, line, path), row in rows.items()
    ]
    return sorted(found, key=lambda row: (-sum(row.cycles), row.file, row.line, row.object))


def _by_part(counts: Sequence[int], part_of: Callable[[int], int]) -> list[int]:
    row = [0] * (len(PARTS) + 1)
    row[-1] = counts[-1]
    for number, cycles in enumerate(counts[:-1]):
        row[part_of(number)] += cycles
    return row
