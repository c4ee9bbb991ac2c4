"""A recorded system counts as the system that runs: every event, with each machine, at each level."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import system_images

import pfmon
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu

PRIVILEGES = Path(system_images.FOLDER.parent, "engine", "privileges.elf")
LEVELS = {"0123": 0b1111, "0": 0b0001}


@cache
def events_of(pmu: str, plm: int) -> tuple[str, ...]:
    """The events that a system's run counts at some levels."""

    def counts(name: str) -> bool:
        try:
            ProgrammedPmu(get(pmu), Request((EventRequest(name, plm=plm),), whole_system=True))
        except PfmonError:
            return False
        return True

    return tuple(event.name for event in get(pmu).events if counts(event.name))


def wanted(pmu: str, plm: str) -> dict[str, Any]:
    events = events_of(pmu, LEVELS[plm])
    assert len(events) > 100
    return {"pmu": pmu, "events": events, "priv_levels": ",".join([plm] * len(events)), "unlimited": True}


def values(run: pfmon.Run) -> list[tuple[str, int | float | None]]:
    return [(count.name, count.value) for count in run.counts]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["pages", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("privileges", "stack", "speculation"))],
)
def test_a_recording_counts_as_the_run(name: str, tmp_path: Path) -> None:
    path = str(PRIVILEGES if name == "privileges" else system_images.image(name))
    kept = tmp_path / "recording"
    pfmon.record(kept, (), system=path, pmu="itanium2", events=["IA64_INST_RETIRED"], capture=True)
    for pmu, plm in (("itanium", "0123"), ("montecito", "0123"), ("montecito", "0")):
        live = values(pfmon.run((), system=path, capture=True, **wanted(pmu, plm)))
        assert values(pfmon.replay(kept, **wanted(pmu, plm))) == live, (pmu, plm)
        assert sum(bool(value) for _, value in live) > 50
