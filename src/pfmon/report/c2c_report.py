"""Lines that threads share, as text: a table of lines, and for each the instructions that access it."""

from __future__ import annotations

from collections.abc import Iterator

from pfmon.session.profile.shared_lines import SharedLine, SharedLinesReport

LINES, ACCESSES = 20, 10
"""Maximum number of lines, and of accesses of a line, listed."""


def c2c_text(report: SharedLinesReport) -> str:
    """Return the report as text."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: SharedLinesReport) -> Iterator[str]:
    yield f"# lines of {report.line_bytes} bytes that threads share and store to: {len(report.lines)}"
    yield "# moved: accesses that fetch the line from another thread, which stored to it last"
    yield "# false: those of them to bytes that the other thread had not stored to"
    hitm = ""
    if report.cores > 1:
        yield f"# hitm: accesses that get the line from another one of {report.cores} cores, which has modified it"
        hitm = "    hitm"
    yield f"#  moved    false    loads   stores{hitm} threads line               data"
    for line in report.lines[:LINES]:
        counts = (
            f"{line.moved:8} {line.unrelated:8} {line.loads:8} {line.stores:8}{_hitm(line.hitm)} {len(line.threads):7}"
        )
        data = ", ".join(line.data) + " (false sharing)" * line.falsely_shared
        yield f"{counts} {line.address:#018x} {data}".rstrip()
        yield from _accesses(line)
    if len(report.lines) > LINES:
        yield f"# {len(report.lines) - LINES} lines more"


def _hitm(count: int | None) -> str:
    return "" if count is None else f" {count:8}"


def _accesses(line: SharedLine) -> Iterator[str]:
    for one in line.accesses[:ACCESSES]:
        counts = f"{one.moved:8} {one.unrelated:8} {one.loads:8} {one.stores:8}{_hitm(one.hitm)}"
        where = f"thread {one.thread} offset {one.offset:3} size {one.size:2} {one.data}"
        yield f"{counts}   {where}: {one.instruction:#x} {one.place}".rstrip()
    if len(line.accesses) > ACCESSES:
        yield f"{'':37}{len(line.accesses) - ACCESSES} accesses more"
