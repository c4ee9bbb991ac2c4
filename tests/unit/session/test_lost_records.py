"""Whatever cannot be recorded makes the run's counts refused: never smaller."""

from collections.abc import Sequence
from functools import cache

import pytest
from command import example, load_everything, pfmon_here
from fed_engine import FedEngine
from grids import each, first_quick
from guests import guest, quiet
from tables import record

from pfmon.engine import registry
from pfmon.errors import LostError
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.monitoring import LOST, Monitoring, nothing_is_lost
from pfmon.stream._stream import BlockTable, Failure, Recorder

SLOT_WORDS = 1 << 15
UNKNOWN_MARK = 1 << 63 | 99 << 56


@pytest.fixture(autouse=True)
def loaded() -> None:
    """Whatever `pfmon_here` would load by runs of its own, before a test has changed what runs."""
    load_everything()


@cache
def stream(traced: bool) -> tuple[BlockTable, list[int]]:
    program = guest("fib", ["9"], trace=traced)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    return program.table, recorder.words()


def marked(words: Sequence[int], count: int) -> list[int]:
    """The same with so many marks behind the last word."""
    return [*words, *([1 << 63 | 10 << 56 | 255 << 32 | 1] * count)]


def full_table() -> BlockTable:
    table = BlockTable(payload_bytes=24, capacity=4)
    for _ in range(4):
        table.enter(record(1, payload=bytes(24)))
    with pytest.raises(MemoryError):
        table.enter(record(1, payload=bytes(24)))
    return table


def lost(failure: Failure) -> tuple[FedEngine, str]:
    """An engine whose stream some reader cannot take, and an event with which that shows."""
    exact, timed = "nops_retired", "cpu_cycles"
    match failure:
        case Failure.BAD_STREAM:
            table, words = stream(False)
            return FedEngine(table, [words, [UNKNOWN_MARK]], False), exact
        case Failure.TOO_MANY_WORDS:
            table, words = stream(True)
            return FedEngine(table, [words * (1 + SLOT_WORDS // len(words))], True), timed
        case Failure.TOO_MANY_MARKS:
            table, words = stream(True)
            return FedEngine(table, [marked(words, 5000)], True), timed
        case Failure.TOO_MANY_BLOCKS:
            return FedEngine(full_table(), [[0, 1, 2, 3]], False), exact
    raise AssertionError(failure)


FAILURES = [Failure.BAD_STREAM, Failure.TOO_MANY_WORDS, Failure.TOO_MANY_MARKS, Failure.TOO_MANY_BLOCKS]


def test_every_failure_has_words_for_it() -> None:
    assert set(LOST) == set(Failure) - {Failure.NO_FAILURE}
    nothing_is_lost([Failure.NO_FAILURE] * 3)
    for failure, words in LOST.items():
        with pytest.raises(LostError, match=f"^{words}: "):
            nothing_is_lost([Failure.NO_FAILURE, failure])


@each("controls", [Controls(), Controls(interval=1000), Controls(dont_start=True)])
@each("failure", FAILURES)
def test_counts_that_lack_something_are_refused(failure: Failure, controls: Controls) -> None:
    engine, event = lost(failure)
    if controls.dont_start and failure == Failure.BAD_STREAM:
        return  # nobody counts, so nobody reads it
    groups = [EventSets(get("itanium2"), Request((EventRequest(event.upper()),)))]
    machine = load("itanium2") if event == "cpu_cycles" else None
    monitoring = Monitoring(groups, controls, engine, machine=machine)
    with monitoring.running:
        engine.run(monitoring.consumer)
    with pytest.raises(LostError, match=LOST[failure]):
        monitoring.check()


@pytest.mark.parametrize("failure", first_quick(FAILURES))
def test_the_command_shows_no_counts_and_says_why(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, event = lost(failure)
    monkeypatch.setattr(registry, "start", lambda wanted: engine)
    done = pfmon_here("-e", event, example("fib"), "5")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == f"pfmon: {LOST[failure]}: the run's counts would lack something, so there are none\n"


def test_the_report_on_cycles_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = lost(Failure.TOO_MANY_WORDS)
    monkeypatch.setattr(registry, "start", lambda wanted: engine)
    done = pfmon_here("--report=cpi", example("fib"), "5")
    assert (done.returncode, done.stdout) == (125, ""), done
    assert LOST[Failure.TOO_MANY_WORDS] in done.stderr


def test_the_same_stream_in_pieces_that_fit_is_counted() -> None:
    table, words = stream(False)
    engine = FedEngine(table, [words], False)
    groups = [EventSets(get("itanium2"), Request((EventRequest("IA64_INST_RETIRED"),)))]
    monitoring = Monitoring(groups, Controls(), engine)
    with monitoring.running:
        engine.run(monitoring.consumer)
    monitoring.check()
    lengths = [len(table.block(word & 0xFFFFFFFF).instructions) for word in words if not word >> 63]
    assert [count.value for count in monitoring.counts()] == [sum(lengths)]
