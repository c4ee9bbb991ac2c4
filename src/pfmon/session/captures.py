"""What an event address register captures when an event that counts captures says nothing of it."""

from __future__ import annotations

from pfmon.pmu.request import EarRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.pmu.event import Event
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.request import Request

EVERY_MISS = {"dear": ("LAT4",), "iear": ("LAT0", "LAT4")}
"""The event of a kind that captures every cache miss ends in one of these, the first that the PMU has."""


def with_captures(model: PmuModel, request: Request) -> Request:
    """DATA_EAR_EVENTS and its like count what the register captures; where nobody says what, every cache miss.

    The registers would be off otherwise, and the count 0.
    """
    events = [model.events[event.name] for event in request.events]
    for kind in EVERY_MISS:
        counts = any(event.ear == "-" and model.events.ear_kind(event.code) == kind for event in events)
        said = getattr(request, kind) or any(event.ear.startswith(kind) for event in events)
        if counts and not said:
            ear = EarRequest("cache", _every_miss(model, kind))
            request = request._replace(dear=ear) if kind == "dear" else request._replace(iear=ear)
    return request


def _every_miss(model: PmuModel, kind: str) -> int:
    """The unit mask that captures every cache miss."""
    masks = {event.name.rpartition("_")[2]: event.umask for event in model.events if event.ear == f"{kind}_cache"}
    return next(masks[name] for name in EVERY_MISS[kind] if name in masks)


def mixes_captures(model: PmuModel, events: Sequence[Event]) -> bool:
    """Whether an event says what is captured, and another one counts captures of that register in general."""
    return any(
        {event.ear != "-" for event in events if model.events.ear_kind(event.code) == kind} == {True, False}
        for kind in EVERY_MISS
    )
