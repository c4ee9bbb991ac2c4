"""Default capture mode of an event address register for events that count captures without selecting one."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import EarRequest, Request

EVERY_MISS = {"dear": ("LAT4",), "iear": ("LAT0", "LAT4")}
"""Suffixes of the events that capture every cache miss; the first that the PMU has is used."""


def with_captures(model: PmuModel, request: Request) -> Request:
    """DATA_EAR_EVENTS and similar events count captures; without a capture mode, select every cache miss.

    Otherwise the registers would be off and the count 0.
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
    """Return the unit mask that captures every cache miss."""
    masks = {event.name.rpartition("_")[2]: event.umask for event in model.events if event.ear == f"{kind}_cache"}
    return next(masks[name] for name in EVERY_MISS[kind] if name in masks)


def mixes_captures(model: PmuModel, events: Sequence[Event]) -> bool:
    """Return whether one event selects a capture mode and another counts all captures of the same register."""
    return any(
        {event.ear != "-" for event in events if model.events.ear_kind(event.code) == kind} == {True, False}
        for kind in EVERY_MISS
    )
