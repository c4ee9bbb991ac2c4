"""Branches of a run by its log, and a model of a branch buffer after the Montecito manual, section 3.3.10.1."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from instruction_log import Step, is_branch

BREAK_VECTOR = 0xA000000100000000 + 0x2C00
"""Where Linux has its interruption vectors, and the offset of break's (SDM volume 2, table 5-1)."""
COUNTED = ("cloop", "ctop", "cexit", "wtop", "wexit")


class Flow(NamedTuple):
    """A change of flow; ``place``: bundle | slot; ``target``: the bundle where control went, of a branch that was not
    taken 0; ``before``: instructions that had retired before it; ``kind``: iprel, ret, ind, break or check."""

    place: int
    taken: bool
    target: int
    before: int
    kind: str


class Captured(NamedTuple):
    """A change of flow that was captured, with what its prediction came to and its cycle; not ``counted``: there is one
    entry, which was counted, for it and for the branch before it."""

    flow: Flow
    wrong: bool
    flushed: bool
    cycle: int
    counted: bool = True


def flows(steps: Sequence[Step]) -> list[Flow]:
    """Every branch of a run, failed checks, and system calls: their instruction does not retire."""
    found = [flow for number, pair in enumerate(pairwise(steps)) for flow in _between(number, *pair)]
    last = _behind(steps[-1])
    return [*found, Flow(last, True, BREAK_VECTOR, len(steps), "break")]  # exit


def _between(number: int, step: Step, following: Step) -> Iterator[Flow]:
    place, after = _place(step), following.bundle
    taken = _taken(step, following)
    if is_branch(step):
        yield Flow(place, taken, after if taken else 0, number, _kind(step))
    elif taken:
        yield Flow(place, True, after, number, "check")
    expected = after if taken else _behind(step)
    if expected != _place(following):
        yield Flow(expected, True, BREAK_VECTOR, number + 1, "break")


def _place(step: Step) -> int:
    return step.bundle | step.number


def _behind(step: Step) -> int:
    """The instruction behind one."""
    return step.bundle + 16 if step.number == 2 or _is_long(step) else _place(step) + 1


def _is_long(step: Step) -> bool:
    """Whether it fills two slots."""
    return step.head in ("movl", "brl") or step.text.startswith(("nop.x", "break.x", "hint.x"))


def _taken(step: Step, following: Step) -> bool:
    if step.head == "chk":
        return following.bundle not in (step.bundle, step.bundle + 16)
    if not is_branch(step):
        return False
    if any(part in step.text for part in COUNTED):
        return following.bundle != step.bundle and _behind(step) != _place(following)
    return step.executed


def _kind(step: Step) -> str:
    name, _, operands = step.text.partition(" ")
    if ".ret" in name:
        return "ret"
    return "ind" if operands.rpartition("=")[2].startswith("b") else "iprel"


def written(captured: Iterable[Captured]) -> list[tuple[str, Captured]]:
    """The entries that are written: a source for each; its target before the next one, unless that is in the target's
    bundle and in the next clock at the latest. Branches of one bundle in one clock are one source."""
    entries: list[tuple[str, Captured]] = []
    due: Captured | None = None
    last: Captured | None = None
    for one in captured:
        if due and not (one.flow.place >> 4 == due.flow.target >> 4 and one.cycle <= due.cycle + 1):
            entries.append(("target", due))
        if last and not last.flow.taken and last.cycle == one.cycle and last.flow.place >> 4 == one.flow.place >> 4:
            _, before = entries.pop()
            wrong, flushed = before.wrong or one.wrong, before.flushed or one.flushed
            entries.append(("source", one._replace(wrong=wrong, flushed=flushed)))
        else:
            entries.append(("source", one))
        last = one
        due = one if one.flow.taken else None
    if due:
        entries.append(("target", due))
    return entries
