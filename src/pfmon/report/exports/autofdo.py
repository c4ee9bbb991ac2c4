"""AutoFDO's profile as text, which LLVM reads (-fprofile-sample-use, llvm-profdata): how often lines of functions
executed, from the ranges between last branches (LLVM, SampleProfReader.h; Chen, Moseley, Li, AutoFDO, CGO 2016).

The code from a branch's target to the next branch's source executed once. Such ranges, line tables and inlined
functions cut code into pieces with one count and one place each. A place executed as often as the most frequent of its
pieces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pfmon.errors import PfmonError
from pfmon.program.function_scopes import FunctionScopes, Scope
from pfmon.program.loaded_objects import ObjectFile
from pfmon.report.exports.sample_export import SampleExport, utf8
from pfmon.session.profile.call_rows import ExactCalls
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.exports.sample_export import ExportSubject


ARCHITECTURES = ("x86_64", "i386")
LINE_MASK = 0xFFFF
"""Of a line's distance from its function's (llvm::FunctionSamples::getOffset)."""

Piece = tuple[int, int, int]
"""Start, end, and how often it executed."""


class FunctionProfile:
    """The counts of a function, or of one inlined at a line. ``head``: branches to its first instruction."""

    def __init__(self) -> None:
        self.lines: Counter[int] = Counter()
        self.targets: dict[int, Counter[str]] = {}
        self.inlined: dict[tuple[int, str], FunctionProfile] = {}
        self.head = 0

    @property
    def total(self) -> int:
        """The sum over its lines, those of inlined functions included."""
        return self.lines.total() + sum(one.total for one in self.inlined.values())

    def text(self, indentation: str = " ") -> Iterator[str]:
        """Yield its lines."""
        for line in sorted(self.lines):
            targets = self.targets.get(line, Counter())
            called = "".join(
                f" {name}:{targets[name]}" for name in sorted(targets, key=lambda one: (-targets[one], one))
            )
            yield f"{indentation}{line}: {self.lines[line]}{called}"
        for (line, name), profile in sorted(self.inlined.items()):
            yield f"{indentation}{line}: {name}:{profile.total}"
            yield from profile.text(indentation + " ")


class Autofdo(SampleExport):
    """Functions with DWARF, those with the largest totals first; without discriminators. Without samples the counts are
    exact."""

    def __init__(self, subject: ExportSubject) -> None:
        super().__init__(subject)
        self._branches = subject.branches
        if subject.architecture not in ARCHITECTURES:
            raise PfmonError("--export=autofdo: a profile is of an x86-64 or i386 program")
        if not subject.exact and (self._branches is None or not self._branches.has_all):
            raise PfmonError(
                "--export=autofdo wants all last branches in samples: -b (--branch-any); without samples it is exact"
            )
        self._ranges: Counter[tuple[int, int]] = Counter()
        self._edges: Counter[tuple[int, int]] = Counter()

    def take(self, samples: Sequence[Sample]) -> bytes:
        assert self._branches
        for sample in samples:
            edges = self._branches.edges(dict(sample.pmds))
            self._edges.update((edge.source, edge.target) for edge in edges)
            for edge, following in pairwise(edges):
                if edge.target <= following.source:  # else a signal was delivered between them
                    self._ranges[edge.target, following.source + 1] += 1
        return b""

    def take_calls(self, calls: ExactCalls) -> bytes:
        """Take how often each instruction executed, and each branch was taken."""
        self._ranges = Counter({(address, address + 1): counts[-1] for address, counts in calls.own.items()})
        self._edges = Counter(calls.edges)
        return b""

    def finish(self) -> bytes:
        profiles: dict[str, FunctionProfile] = {}
        for file, starts in self._by_file().items():
            self._add(file, starts, profiles)
        rows = sorted(profiles.items(), key=lambda one: (-one[1].total, one[0]))
        lines = [line for name, one in rows for line in (f"{name}:{one.total}:{one.head}", *one.text())]
        return utf8("".join(f"{line}\n" for line in lines))

    def _by_file(self) -> dict[ObjectFile, list[int]]:
        """Return the starts of ranges by the file that has the code, in order."""
        found: dict[ObjectFile, list[int]] = {}
        for start in sorted({start for start, _ in self._ranges}):
            if file := self.names.file(start):
                found.setdefault(file, []).append(start)
        return found

    def _add(self, file: ObjectFile, starts: Sequence[int], profiles: dict[str, FunctionProfile]) -> None:
        """Add a file's functions."""
        image = file.named
        if image is None:
            return
        scopes = FunctionScopes(file.units, image.bias, image.lines_path, starts)
        within = {*starts}
        ranges = {one: count for one, count in self._ranges.items() if one[0] in within}
        borders = {*scopes.boundaries(), *file.lines.starts_around(starts)}
        for start, _, count in pieces(ranges, borders):
            found, line = _place(profiles, scopes.stack(start), file, start)
            if found:
                found.lines[line] = max(found.lines[line], count)
        for (source, target), count in self._edges.items():
            self._add_edge(file, scopes, profiles, source, target, count)

    def _add_edge(
        self,
        file: ObjectFile,
        scopes: FunctionScopes,
        profiles: dict[str, FunctionProfile],
        source: int,
        target: int,
        count: int,
    ) -> None:
        """Add a branch, if it is to the first instruction of a function: a call."""
        callee, symbol = scopes.stack(target), self.names.symbol(target)
        if callee and callee[0].start == target:
            name = callee[0].name
            profiles.setdefault(name, FunctionProfile()).head += count
        elif symbol and symbol.address == target and not callee:
            name = symbol.name
        else:
            return
        found, line = _place(profiles, scopes.stack(source), file, source)
        if name and found and found.lines[line]:
            found.targets.setdefault(line, Counter())[name] += count


def pieces(ranges: dict[tuple[int, int], int], borders: set[int]) -> Iterator[Piece]:
    """Yield the pieces into which the ranges' limits and ``borders`` cut the ranges' code, in order; none that did not
    execute."""
    steps: Counter[int] = Counter()
    for (start, end), count in ranges.items():
        steps[start] += count
        steps[end] -= count
    running = 0
    for start, end in pairwise(sorted({*steps, *borders})):
        running += steps[start]
        if running:
            yield start, end, running


def _place(
    profiles: dict[str, FunctionProfile], stack: Sequence[Scope], file: ObjectFile, address: int
) -> tuple[FunctionProfile | None, int]:
    """Return where an instruction counts: the innermost function, and its line's distance from that; None: nowhere."""
    code = file.lines.at(address)
    if not stack or code is None or not code.line:
        return None, 0
    found = profiles.setdefault(stack[0].name, FunctionProfile())
    for outer, inner in pairwise(stack):
        where = (inner.call_line - outer.line) & LINE_MASK, inner.name
        found = found.inlined.setdefault(where, FunctionProfile())
    return found, (code.line - stack[-1].line) & LINE_MASK
