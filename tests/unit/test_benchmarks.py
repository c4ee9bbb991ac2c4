"""Benchmarks measure what their columns are called."""

from pathlib import Path

import pytest

from pfmon.pmu import get
from pfmon.pmu.model.request import Request, event_requests
from pfmon.session.run.programmed_pmu import ProgrammedPmu

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def test_counting_alone_is_measured_without_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    from speed import SIX_EVENTS  # type: ignore[import-not-found]

    unit = ProgrammedPmu(get("montecito"), Request(event_requests(SIX_EVENTS.split(",")))).unit
    assert len(unit.monitors) == 6 and not unit.wants_machine
