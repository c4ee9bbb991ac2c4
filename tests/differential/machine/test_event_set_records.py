"""Slots: what the machine records while one is in force, and that all of them are what one would have been."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from grids import diagonal, each, first_quick
from machine_runs import EXAMPLES, PROGRAMS, machine_and_guest

from pfmon.counting._counting import Gate
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.machine._machine import Machine
from pfmon.program.symbols import SymbolTable
from pfmon.stream._stream import Consumer, Pipe, Recorder

MACHINES = ["itanium", "itanium2", "montecito"]
SIGNALS = str(EXAMPLES.parent.parent / "tests" / "data" / "linux" / "signals")
Action = Callable[[Machine, Gate], None]


class Stops:
    """Alarms at certain numbers of retired instructions: ``act`` gets the machine and the gate before it."""

    def __init__(self, machine: Machine, places: Iterable[int], act: Action) -> None:
        self._machine, self._places, self._act = machine, list(places), act
        self.gate: Gate | None = None

    @property
    def first(self) -> int | None:
        return self._places[0] if self._places else None

    def reached(self) -> int | None:
        assert self.gate and self.gate.retired == self._places.pop(0)
        self._act(self._machine, self.gate)
        return self.first


@dataclass(frozen=True)
class Records:
    """All that a machine recorded in some event sets."""

    cycles: Counter[object]
    occurrences: Counter[object]
    bubbles: Counter[object]
    levels: Counter[object]
    time: tuple[int, int]

    def __add__(self, other: "Records") -> "Records":
        counters = [mine + its for mine, its in zip(self.counters, other.counters, strict=True)]
        return Records(*counters, (self.time[0] + other.time[0], self.time[1] + other.time[1]))

    @property
    def counters(self) -> tuple[Counter[object], ...]:
        return self.cycles, self.occurrences, self.bubbles, self.levels


def recorded(machine: Machine, event_sets: Iterable[int] | None = None) -> Records:
    event_sets = None if event_sets is None else tuple(event_sets)
    bubbles = Counter({(kind, *key): n for kind in range(5) for *key, n in machine.records.bubbles(kind, event_sets)})
    levels = {
        (name, value): n for name, cycles in machine.levels(event_sets).items() for value, n in enumerate(cycles) if n
    }
    assert all(0 < n < 1 << 60 for n in levels.values()), {k: n - (1 << 64) for k, n in levels.items() if n >> 60}
    groups: Counter[object] = Counter()
    for parts, count in machine.groups(event_sets):
        groups[parts] += count
    return Records(groups, Counter(machine.occurrences(event_sets)), bubbles, Counter(levels), machine.time(event_sets))


def run(
    program: str,
    machine: str,
    places: Iterable[int],
    act: Action,
    *,
    event_sets: int = 1,
    memo: bool = True,
    threaded: bool = False,
    arguments: list[str] | None = None,
) -> Machine:
    """The machine after the program has run; ``act`` is called at every place."""
    found, guest = machine_and_guest(program, machine, memo=memo, event_sets=event_sets, arguments=arguments)
    stops = Stops(found, places, act)
    stops.gate = gated(guest, found, event_sets, due=stops.first, on_due=stops.reached)
    with Pipe(stops.gate, threaded=threaded) as pipe:
        guest.run(pipe)
    found.finish()
    guest.close()
    assert stops.gate.error is None
    return found


def gated(guest: Ia64Guest, machine: Machine, event_sets: int, **given: Any) -> Gate:
    """A gate before a machine alone."""
    return Gate(guest.table, [Consumer()] * event_sets, traced=True, machine=machine, **given)


def nothing(machine: Machine, gate: Gate) -> None:
    """The program's blocks are cut where those of another run are."""


def somewhere(seed: int, most: int = 60_000, count: int = 60) -> list[int]:
    """Places to stop at, some of them close to each other."""
    pick = random.Random(seed)
    places = {pick.randrange(1, limit) for limit in (most // 30, most) for _ in range(count // 2)}
    return sorted(places | {place + pick.randrange(1, 4) for place in places})


def in_turn(event_sets: int, settles: float = 0.3) -> Action:
    """A random event set each time; ``settles``: how often the records are brought up to date besides."""
    turns = random.Random(event_sets)

    def act(machine: Machine, gate: Gate) -> None:
        gate.choose(turns.randrange(event_sets))
        if turns.random() < settles:
            machine.update_records(gate.next_address)

    return act


@pytest.mark.slow
@diagonal
@each("machine", MACHINES)
@each("program", ["fib", "sort", "hashmap"])
def test_all_event_sets_together_are_the_whole_run(program: str, machine: str) -> None:
    _check_sum(program, machine)


@pytest.mark.slow
@diagonal
@each("machine", MACHINES)
@each("program", sorted(PROGRAMS))
def test_all_event_sets_together_are_the_whole_run_on_any_example(program: str, machine: str) -> None:
    _check_sum(program, machine)


def _check_sum(program: str, machine: str) -> None:
    places = somewhere(len(program))
    whole = recorded(run(program, machine, places, nothing))
    found = run(program, machine, places, in_turn(4), event_sets=4)
    parts = [recorded(found, [event_set]) for event_set in range(4)]
    assert all(part.time[0] > 0 and part.cycles and part.bubbles for part in parts)
    assert parts[0] + parts[1] + parts[2] + parts[3] == whole == recorded(found)
    assert recorded(found, [1, 3]) == parts[1] + parts[3]


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["a", "f", "m", "o"])
def test_event_sets_of_programs_with_signals_are_the_whole_run(letter: str) -> None:
    """Borders before instructions that fault, in handlers, and at returns from them."""
    places = somewhere(6, 60_000, 600)
    whole = recorded(run(SIGNALS, "montecito", places, nothing, arguments=[letter]))
    found = run(SIGNALS, "montecito", places, in_turn(3, settles=0), event_sets=3, arguments=[letter])
    parts = [recorded(found, [event_set]) for event_set in range(3)]
    assert parts[0] + parts[1] + parts[2] == whole


@pytest.mark.slow
@each("machine", MACHINES)
@each("program", ["fib", "sort"])
def test_event_sets_do_not_depend_on_the_memo_nor_on_threads(program: str, machine: str) -> None:
    places = somewhere(7)
    plain, simulated, threaded = (
        run(program, machine, places, in_turn(3), event_sets=3, memo=memo, threaded=threaded)
        for memo, threaded in ((True, False), (False, False), (True, True))
    )
    assert plain.repeated and not simulated.repeated
    for event_set in range(3):
        assert recorded(plain, [event_set]) == recorded(simulated, [event_set]) == recorded(threaded, [event_set])


@pytest.mark.parametrize("machine", MACHINES)
def test_an_event_set_has_the_cycles_of_its_time_but_for_those_that_borders_cut(machine: str) -> None:
    places = somewhere(3)
    found = run("lz", machine, places, in_turn(3), event_sets=3)
    for event_set in range(3):
        part = recorded(found, [event_set])
        cycles = sum(n for parts, n in part.cycles.items() if parts[-1][1] <= parts[-1][2])
        bubbles = sum(n for key, n in part.bubbles.items() if key[0] == 0)
        assert abs(cycles + bubbles - part.time[0]) <= len(places)
        stack = sum(n for (name, _), n in part.levels.items() if name == "RSE_DIRTY_REGS")
        assert abs(stack - part.time[0]) <= 64 * len(places)


@pytest.mark.parametrize("machine", first_quick(MACHINES))
def test_what_is_settled_on_the_way_grows_to_the_whole_and_changes_no_time(machine: str) -> None:
    seen: list[Records] = []

    def look(found: Machine, gate: Gate) -> None:
        found.update_records(gate.next_address)
        seen.append(recorded(found))

    places = somewhere(5)
    found = run("queens", machine, places, look)
    assert recorded(found) == recorded(run("queens", machine, places, nothing))
    for before, after in zip(seen, [*seen[1:], recorded(found)], strict=True):
        for earlier, later in zip(before.counters, after.counters, strict=True):
            assert not earlier - later


STARTS_AND_STOPS = {"fib": ("fib", 0, "fib", 0x50), "sort": ("quicksort", 0, "search", 0)}
"""Example -> function and offset of the triggers that start and stop."""


def trigger_addresses(program: str) -> list[int]:
    symbols = {one.name: one.address for one in SymbolTable((EXAMPLES / program).read_bytes()).symbols()}
    start, first, stop, second = STARTS_AND_STOPS[program]
    return [symbols[start] + first, symbols[stop] + second]


def reached(program: str, triggers: list[int]) -> list[tuple[int, int]]:
    """At how many retired instructions control came to which trigger: from the recorded stream."""
    _, guest = machine_and_guest(program, "itanium2", trace=False)
    recorder = Recorder()
    guest.run(recorder)
    code = [[one.address for one in guest.table.block(number).instructions] for number in range(len(guest.table))]
    addresses = chain.from_iterable(code[word & 0xFFFFFFFF] for word in recorder.words() if not word >> 63)
    found = [(retired, triggers.index(at)) for retired, at in enumerate(addresses) if at in triggers]
    guest.close()
    return found


@diagonal
@each("memo", [True, False])
@each("repeats", [True, False])
@each("program", ["fib", pytest.param("sort", marks=pytest.mark.slow)])
def test_triggers_switch_where_stops_at_the_same_instructions_do(program: str, repeats: bool, memo: bool) -> None:
    triggers = trigger_addresses(program)
    changes: list[tuple[int, int]] = []
    for place, number in reached(program, triggers):
        if number == (changes[-1][1] ^ 1 if changes else 0) and (repeats or len(changes) < 2):
            changes.append((place, number))
    assert len(changes) == 2 if not repeats else len(changes) > 2 or program == "sort"
    by_hand = iter(changes)

    def act(machine: Machine, gate: Gate) -> None:
        _, number = next(by_hand)
        assert gate.next_address == triggers[number]
        gate.choose(number)

    found = []
    for in_stream in (False, True):
        machine, guest = machine_and_guest(program, "montecito", memo=memo, event_sets=2)
        stops = Stops(machine, [place for place, _ in changes], act)
        if (
            in_stream
        ):  # event_set 0 while counting is on, event_set 1 while it is off; the parts end where they do by hand
            stops = Stops(machine, [place for place, _ in changes], nothing)
            actions = [(True, 0, repeats), (False, 0, repeats)]
            stops.gate = gated(guest, machine, 1, code=triggers, actions=actions, on=False, due=stops.first,
                               on_due=stops.reached)  # fmt: skip
        else:  # triggers that never change anything: parts end at all of them
            actions = [(True, 0, True), (True, 0, True)]
            stops.gate = gated(guest, machine, 2, code=triggers, actions=actions, due=stops.first, on_due=stops.reached)
            stops.gate.choose(1)
        with Pipe(stops.gate) as pipe:
            guest.run(pipe)
        machine.finish()
        guest.close()
        assert stops.gate.error is None
        found.append([recorded(machine, [event_set]) for event_set in range(2)])
    assert found[0] == found[1]
    assert all(part.cycles and part.time[0] for part in found[0])
    assert next(by_hand, None) is None
