"""Triggers: counts between start and stop agree with a recount from the log of the slow path, step by step."""

import random
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from grids import few
from guests import guest, quiet
from instruction_log import SIGNALS, Step, is_check_load, is_load, is_store, logged_steps
from monitored import monitored

from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.controls import Controls, Trigger
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.programmed_pmu import Value
from pfmon.stream._stream import Recorder

PROGRAMS = {"epic": [], "fib": ["7"], "queens": ["4"], "nbody": ["1"], "strings": ["10"], "sort": ["40"]}
EVENTS = ("IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED", "STORES_RETIRED", "PREDICATE_SQUASHED_RETIRED")
SIZES = {"ldf": 16, "stf": 16, "ldfs": 4, "stfs": 4, "ldfd": 8, "stfd": 8, "ldfe": 10, "stfe": 10, "ldfps": 8}


@cache
def log(name: str) -> list[Step]:
    program = guest(name, PROGRAMS[name], slow=True, trace=True)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    steps = list(logged_steps(iter(recorder.words()), program))
    program.close()
    return steps


def size_of(step: Step) -> int:
    """Bytes of an access (SDM volume 3, by mnemonic)."""
    head = step.head
    digits = "".join(letter for letter in head if letter.isdigit())
    return SIZES.get(head) or (16 if head.startswith(("ldfp", "cmp8xchg")) else int(digits))


def touches(step: Step, trigger: Trigger) -> bool:
    if step.address is None or step.head == "lfetch" or not step.address <= trigger.address:
        return False
    if is_check_load(step):
        return trigger.reads and bool(step.misses) and trigger.address < step.address + size_of(step)
    wanted = (trigger.reads and is_load(step)) or (trigger.writes and is_store(step))
    return wanted and trigger.address < step.address + size_of(step)


def fired(step: Step, triggers: Sequence[Trigger]) -> Iterator[Trigger]:
    """The triggers that are reached before a step."""
    yield from (t for t in triggers if not t.data and step.number == 0 and step.bundle == t.address)
    yield from (t for t in triggers if t.data and touches(step, t))


def counted(steps: Sequence[Step], triggers: Sequence[Trigger]) -> Iterator[Step]:
    """The steps while counting is on."""
    on = not any(t.starts for t in triggers)
    spent: set[tuple[bool, bool]] = set()
    for step in steps:
        for trigger in fired(step, triggers):
            group = (trigger.data, trigger.starts)
            if on != trigger.starts and group not in spent:
                on = trigger.starts
                spent |= set() if trigger.repeats else {group}
        if on:
            yield step


def recount(name: str, triggers: Sequence[Trigger]) -> list[int]:
    signals = [SIGNALS[get("montecito").events[event].signal] for event in EVENTS]
    steps = list(counted(log(name), triggers))
    return [sum(signal(step, lambda _: True) for step in steps) for signal in signals]


def count(name: str, triggers: Sequence[Trigger], *, drange: bool = False, slow: bool = False) -> list[Value]:
    """The counts of the fast path; ``drange``: with addresses in the stream."""
    addresses = drange or any(trigger.data for trigger in triggers)
    program = guest(name, PROGRAMS[name], trace=addresses, slow=slow)
    # Loads and stores are of different sets on a PMU of this kind: as many PMUs as it takes.
    groups = [EventSets(get("montecito"), Request(tuple(map(EventRequest, EVENTS))), unlimited=True)]
    monitoring = monitored(program, groups, Controls(triggers=tuple(triggers)))
    values = [count.value for count in monitoring.counts()]
    unreached = [t for t in triggers if not any(t in list(fired(step, triggers)) for step in log(name))]
    assert len(monitoring.notes()) == len(unreached)
    return values


def some_triggers(name: str, pick: random.Random) -> list[Trigger]:
    steps = log(name)
    bundles = sorted({step.bundle for step in steps if step.number == 0})
    data = sorted({step.address for step in steps if step.address is not None})
    starts, stops = [pick.random() < 0.8, True]
    made = []
    for is_data in (False, True):
        repeats = starts and pick.random() < 0.5
        reads, writes = pick.choice([(True, True), (True, False), (False, True)])
        for start in [True] * pick.randrange(3 if starts else 1) + [False] * pick.randrange(3 if stops else 1):
            address = pick.choice(data) + pick.randrange(4) if is_data else pick.choice(bundles)
            if (is_data, address) not in [(t.data, t.address) for t in made]:
                made.append(Trigger("", "", address, start, is_data, repeats, reads, writes))
    return made


def check(name: str, cases: int, seed: int) -> int:
    """So many random sets of triggers; how many counted something but not all."""
    pick = random.Random(f"{name} {seed}")
    everything = recount(name, [])
    partial = 0
    for _ in range(cases):
        triggers = some_triggers(name, pick)
        wanted = recount(name, triggers)
        assert count(name, triggers, slow=pick.random() < 0.2) == wanted, triggers
        partial += 0 < wanted[0] < everything[0]
    return partial


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_triggers_count_as_the_recount(name: str) -> None:
    assert check(name, 6, seed=1) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", few(PROGRAMS, 1))
def test_many_random_triggers_count_as_the_recount(name: str) -> None:
    assert check(name, 40, seed=2) > 10


def test_without_triggers_everything_counts() -> None:
    assert count("fib", []) == recount("fib", [])
