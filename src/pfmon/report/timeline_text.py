"""The timeline of a block as text."""

from __future__ import annotations

from collections.abc import Iterable

from pfmon.report.timeline_picture import picture
from pfmon.session.profile.timeline import BlockTimeline, TimedInstruction

CAUSES = 6
"""Most causes that are listed."""
WIDEST = 48
"""Characters that the texts of instructions are filled up to, at most."""


def timeline_text(timeline: BlockTimeline) -> str:
    """Return the throughput of a block and what bounds it, the work of the ports, and the picture."""
    parts = [_heading(timeline), _bounds(timeline)]
    if timeline.ports:
        parts.append(_ports(timeline))
    return "\n".join([*parts, _picture(timeline)])


def place_text(timeline: BlockTimeline) -> str:
    """Return where a block is."""
    source = f" ({timeline.source})" if timeline.source else ""
    return f"{timeline.function} {timeline.address:#x}{source}"


def executions_text(timeline: BlockTimeline) -> str:
    """Return which executions of a block are shown."""
    count = len(timeline.iterations)
    if not timeline.repeats:
        return f"execution {timeline.execution} of {timeline.executions}, which does not run again soon"
    if count == 1:
        return f"execution {timeline.execution} of {timeline.executions}"
    return f"executions {timeline.execution} to {timeline.execution + count - 1} of {timeline.executions}"


def _heading(timeline: BlockTimeline) -> str:
    return (
        f"# timeline of {place_text(timeline)} on {timeline.machine}\n"
        f"# {executions_text(timeline)}; the block has {timeline.ticks // timeline.cycle} cycles in the run\n"
    )


def _bounds(timeline: BlockTimeline) -> str:
    each = " ".join(f"{ticks / timeline.cycle:.2f}" for ticks in timeline.iterations)
    lines = [f"{timeline.cycles:10.2f}  cycles an iteration: {each}", f"{'':10}  bottleneck: {timeline.bottleneck}"]
    lines += [f"{cycles:10.2f}  at least, for {name}" for name, cycles in timeline.bounds.items()]
    causes = list(timeline.causes.items())
    lines += [f"{timeline.of_iteration(ticks):10.2f}  {cause}" for cause, ticks in causes[:CAUSES]]
    if len(causes) > CAUSES:
        lines.append(f"{timeline.of_iteration(sum(ticks for _, ticks in causes[CAUSES:])):10.2f}  other causes")
    return "\n".join(lines) + "\n"


def first_iteration(timeline: BlockTimeline) -> list[TimedInstruction]:
    """Return the instructions of the first iteration."""
    return [one for one in timeline.instructions if one.iteration == 0]


def _ports(timeline: BlockTimeline) -> str:
    """Return the cycles of each port in an iteration, and for each instruction of the first one."""
    names = list(timeline.ports)
    heads = "".join(f"{name:>8}" for name in ["µops", *names])
    whole = _cells([sum(one.slots for one in timeline.instructions) / len(timeline.iterations)])
    lines = [
        f"{heads}  work of the ports, in cycles",
        whole + _cells(timeline.of_iteration(timeline.ports[name]) for name in names) + "  an iteration",
    ]
    for one in first_iteration(timeline):
        cells = [one.slots, *(one.ports.get(name, 0) / timeline.cycle for name in names)]
        lines.append(f"{_cells(cells)}  {one.address:x}  {one.text}")
    return "\n".join(lines) + "\n"


def _cells(values: Iterable[float]) -> str:
    return "".join(f"{value:8.2f}" if value else f"{'-':>8}" for value in values)


def _picture(timeline: BlockTimeline) -> str:
    drawn = picture(timeline)
    wide = min(WIDEST, max(len(one.text) for one in timeline.instructions))
    index = len(str(len(timeline.iterations) - 1))
    lines = [f"{'':{index + wide}}    {drawn.ruler}"]
    before = 0
    for one, row in zip(timeline.instructions, drawn.rows, strict=True):
        if one.iteration != before:
            lines.append("")
        before = one.iteration
        waits = waits_text(one, timeline.cycle)
        lines.append(f"{one.iteration:{index}}  {one.text:{wide}}  {row}{f'  ; {waits}' if waits else ''}".rstrip())
    said = ", ".join(f"{letter} {meaning}" for letter, meaning in drawn.legend)
    cut = "; ~~ cycles in which nothing changes" if drawn.cut else ""
    return "\n".join([*lines, f"# {said}{cut}"]) + "\n"


def waits_text(one: TimedInstruction, cycle: int) -> str:
    """Return why an instruction retired later than the one before, in cycles, but for what each takes; and whether it
    was mispredicted."""
    stalls = [wait for wait in one.waits if wait.stalls]
    said = [f"{wait.ticks / cycle:.4g} {wait.shown}{' behind it' if wait.behind else ''}" for wait in stalls]
    return ", ".join([*said, *(["mispredicted"] if one.mispredicted else [])])
