"""The counts of a source file's lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from pfmon.program.source_texts import SourceFile, SourceTexts
from pfmon.session.profile.code_profile import Profile
from pfmon.session.profile.dataframes import frame
from pfmon.session.run.programmed_pmu import Value


class SourceLine(NamedTuple):
    """A line: its number, its text (None: the file was not found), a value for each event (None: nothing counted)."""

    number: int
    text: str | None
    counts: tuple[Value, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Return line, text (null: the file was not found), counts (null if nothing counted)."""
        return {"line": self.number, "text": self.text, "counts": self.counts and list(self.counts)}


class SourceCounts(Sequence[SourceLine]):
    """The lines of a source file in order, with the counts of their code wherever it is, also inlined. Of a file that
    was not found (``found`` is False) the lines with counts. ``file``: its path, as the compiler had it."""

    __slots__ = ("_rows", "events", "file", "found")

    def __init__(self, source: SourceFile, profile: Profile, kept: Mapping[str, str]) -> None:
        """``kept``: the texts of source files by path, of a recording."""
        counts = profile.of_source(source)
        texts = SourceTexts("", *profile.folders(source), kept=kept).lines(source.path)
        self.file = source.path
        self.events = tuple(profile.names)
        self.found = texts is not None
        if texts is None:
            self._rows = [SourceLine(number, None, values) for number, values in counts.items()]
            return
        last = max(len(texts) - (not texts[-1]), *counts, 0)
        lines = [*texts, *[""] * (last - len(texts))][:last]
        self._rows = [SourceLine(number, text, counts.get(number)) for number, text in enumerate(lines, 1)]

    @property
    def notes(self) -> list[str]:
        """A line, if the file was not found."""
        if self.found:
            return []
        where = "beside the program and in the working directory" if self.file[:1] != "/" else "there"
        return [f"{self.file}: no such file {where}; its lines are without text"]

    @overload
    def __getitem__(self, key: int) -> SourceLine: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[SourceLine]: ...
    def __getitem__(self, key: int | slice) -> SourceLine | Sequence[SourceLine]:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[SourceLine]:
        return iter(self._rows)

    def to_dict(self) -> dict[str, Any]:
        """Return file, and lines in order."""
        return {"file": self.file, "lines": [row.to_dict() for row in self._rows]}

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from pfmon.session.profile.notebook_tables import html_table

        empty = (None,) * len(self.events)
        rows = [(row.number, row.text, *(row.counts or empty)) for row in self._rows]
        return html_table(("line", self.file, *self.events), rows)

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each line, columns line, text and the events (0: nothing counted)."""
        values = {
            event: [row.counts[place] if row.counts else 0 for row in self._rows]
            for place, event in enumerate(self.events)
        }
        return frame({"line": [row.number for row in self], "text": [row.text for row in self], **values}, "line")
