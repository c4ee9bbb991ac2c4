"""Counting that starts when another event has happened so often."""

from functools import cache
from pathlib import Path

import pytest
from grids import each

import pfmon
from pfmon.errors import PfmonError

COMMAND = [str(Path(__file__).resolve().parents[3] / "examples" / "ia64" / "hashmap"), "60"]
EVENTS = "ia64_inst_retired,loads_retired,nops_retired"


@cache
def stamps(event: str, period: int) -> list[int]:
    """How many instructions had retired whenever the event had happened ``period`` more times."""
    run = pfmon.run(COMMAND, events=event, long_smpl_periods=period, stdout=pfmon.DEVNULL)
    return [sample.retired for sample in run.samples or ()]


@cache
def stamps_of(event: str) -> list[int]:
    return stamps(event, 1)


@pytest.mark.slow
@each("trigger", ["ia64_inst_retired", "loads_retired", "nops_retired"])
@each("times", [1, 2, 77, 500])
def test_what_happens_behind_the_trigger_counts(trigger: str, times: int) -> None:
    start = stamps(trigger, times)[0]
    run = pfmon.run(COMMAND, events=EVENTS, trigger_event=f"{trigger}:{times}", stdout=pfmon.DEVNULL)
    assert [count.value for count in run.counts] == [
        sum(stamp > start for stamp in stamps_of(event)) for event in EVENTS.split(",")
    ]


def test_the_machine_starts_to_count_at_the_same_instruction() -> None:
    start = stamps("loads_retired", 50)[0]
    options = {"events": "ia64_inst_retired,cpu_cycles", "stdout": pfmon.DEVNULL}
    whole = pfmon.run(COMMAND, **options)
    part = pfmon.run(COMMAND, trigger_event="loads_retired:50", **options)
    assert whole.retired - start == part.counts[0].value
    assert 0 < part.counts[1].value < whole.counts[1].value


@pytest.mark.slow
@pytest.mark.parametrize("events", ["ia64_inst_retired", "ia64_inst_retired,cpu_cycles"])
def test_samples_begin_behind_the_trigger(events: str) -> None:
    start = stamps("stores_retired", 9)[0]
    run = pfmon.run(COMMAND, events=events, long_smpl_periods=1, trigger_event="stores_retired:9", stdout=pfmon.DEVNULL)
    assert run.samples
    assert [sample.retired for sample in run.samples[:5]] == [start + number for number in range(1, 6)]


def test_a_trigger_that_is_never_reached_is_told() -> None:
    run = pfmon.run(COMMAND, events="loads_retired", trigger_event="loads_retired:123456789", stdout=pfmon.DEVNULL)
    assert run.counts[0].value == 0
    assert any("never reached" in note for note in run.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cpu_cycles:10", "the machine decides"),
        ("loads_retired", "EVENT:N"),
        ("loads_retired:0", "from 1"),
        ("loads_retired:x", "whole number"),
        ("loads:3", "unknown"),
    ],
)
def test_what_cannot_trigger_is_refused(text: str, said: str) -> None:
    with pytest.raises(PfmonError, match=said):
        pfmon.run(COMMAND, events="loads_retired", trigger_event=text, stdout=pfmon.DEVNULL)
