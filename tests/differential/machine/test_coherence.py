"""Two cores whose programs share memory: MESI between their caches (Montecito manual 2.5), against a plain model."""

import random
from collections import Counter
from itertools import count

import pytest
from core_runs import Both, assembled
from enumerated import members
from grids import each
from machine_code import loop

from pfmon.machine._machine import Machine, Occurrence, RequestKind
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.coupled.coupled_run import TwoCores
from pfmon.stream._stream import BlockTable, InstructionSet

READ, WRITE, FETCH = members(RequestKind, "REQUEST", "READ WRITE FETCH")
LINE, START = 128, 1 << 20
SAME_SET = 1 << 20
"""Bytes between lines that go to the same set of L2D (256 sets) and of L3 (8192)."""
ANSWERS = ("SNOOPED_MISS", "SNOOPED_HIT", "SNOOPED_HITM", "SNOOPED_CODE")
NONE_OF_CODE_AND_QUEUES = {"SNOOPED_L2I_HIT": 0, "SNOOPED_WRITE": 0, "SNOOPED_CASTOUT": 0}


class PlainMesi:
    """One line in two caches that never replace it."""

    def __init__(self) -> None:
        self.states = ["I", "I"]
        self.answers = {"hit": 0, "hitm": 0, "own hitm": 0, "invalidate hitm": 0}
        self.asked = [Counter[str](), Counter[str]()]
        """Answers of each core, by the state that it had the line in."""

    def read(self, core: int) -> None:
        its = self.states[1 - core]
        if self.states[core] != "I":
            return
        self.asked[1 - core][its] += 1
        if its == "I":
            self.states[core] = "E"
            return
        self.answers["hitm" if its == "M" else "hit"] += 1
        self.states = ["S", "S"]

    def write(self, core: int) -> None:
        its = self.states[1 - core]
        if self.states[core] in "IS":
            self.asked[1 - core][its] += 1
        if its == "M":
            self.answers["own hitm"] += 1
        self.states[core], self.states[1 - core] = "M", "I"


def two_machines() -> list[Machine]:
    machines = [Machine(load("montecito"), BlockTable(InstructionSet.IA64, 4)) for _ in range(2)]
    machines[0].share_memory(machines[1])
    return machines


@pytest.mark.slow
@each("seed", range(20))
def test_states_are_those_of_a_plain_model(seed: int) -> None:
    """Reads and writes of both cores at random, one long after the other."""
    chance, machines = random.Random(seed), two_machines()
    lines = {START + number * LINE: PlainMesi() for number in range(5)}
    noted: dict[int, int] = {}
    for now in count(1000, 1000):
        address, core = chance.choice([*lines]), chance.randrange(2)
        kind = chance.choice([READ, WRITE])
        *_, notes = machines[core].l2.request_at(address, kind, now)
        for what, times in notes:
            noted[what] = noted.get(what, 0) + times
        (lines[address].write if kind == WRITE else lines[address].read)(core)
        for at, model in lines.items():
            found = [one.l2.stores()["data"].probe(at) for one in machines]
            assert [state[0] if state else "I" for state in found] == model.states
        if now == 400_000:
            break
    for name, occurrence in {
        "hit": Occurrence.BUS_READ_HIT,
        "hitm": Occurrence.BUS_READ_HITM,
        "own hitm": Occurrence.BUS_READ_OWN_HITM,
        "invalidate hitm": Occurrence.BUS_INVALIDATE_HITM,
    }.items():
        assert noted.get(int(occurrence), 0) == sum(model.answers[name] for model in lines.values()), name
    for core, machine in enumerate(machines):
        asked = sum((model.asked[core] for model in lines.values()), Counter[str]())
        answers = [asked["I"], asked["S"] + asked["E"], asked["M"], asked.total()]
        assert machine.responses() == {**dict(zip(ANSWERS, answers, strict=True)), **NONE_OF_CODE_AND_QUEUES}


def test_a_request_takes_the_line_from_the_others_instruction_caches() -> None:
    """Section 2.3.3.2: any coherence request invalidates the line in L2I; 2.7.4: instruction requests make none."""
    machines = two_machines()
    code = [one.l2.stores()["code"] for one in machines]
    machines[0].l2.request_at(START, FETCH, 1000)
    machines[1].l2.request_at(START, FETCH, 2000)
    assert all(one.probe(START) for one in code)
    machines[1].l2.request_at(START + LINE, FETCH, 3000)
    machines[0].l2.request_at(START + LINE, READ, 5000)
    assert code[1].probe(START + LINE) is None
    assert all(one.probe(START) for one in code)
    answers = machines[1].responses()
    assert (answers["SNOOPED_CODE"], answers["SNOOPED_L2I_HIT"]) == (1, 1)  # the read; fetches ask for no code
    assert answers["SNOOPED_HIT"] + answers["SNOOPED_MISS"] == 2


WRITE_BACK = int(Occurrence.BUS_WRITE_BACK)


@pytest.mark.parametrize(("later", "met"), [(1, 1), (100_000, 0)])
def test_a_request_meets_a_line_that_waits_to_be_written(later: int, met: int) -> None:
    """Figure 2-3's write address queue: lines of one set of L2 and L3, written until one has to go to memory."""
    machines = two_machines()
    own, its = machines
    stores = own.l2.stores()
    for number, now in enumerate(count(1000, 1000)):
        *_, notes = own.l2.request_at(START + number * SAME_SET, WRITE, now)
        if WRITE_BACK in dict(notes):
            break
    written = [START + k * SAME_SET for k in range(number + 1)]
    (gone,) = [one for one in written if not stores["data"].probe(one) and not stores["l3"].probe(one)]
    its.l2.request_at(gone, READ, now + later)
    its.l2.request_at(START - LINE, READ, now + later + 10)
    assert own.responses()["SNOOPED_WRITE"] == met


def test_a_core_notes_what_it_answered_as_long_as_it_runs() -> None:
    """The core that ran longer was asked whatever the other one asked."""
    programs = [loop(["st8 [r20]=r0"], 3000), loop(["st8 [r21]=r0"], 12000)]
    both = assembled(programs, ["vhpt.software=0"], kind=shared_memory)  # no level is counted in the operating system
    first, second = (happened(one) for one in both.threads)
    asked = sum(first[name] for name in ("BUS_READ_DATA", "BUS_READ_FETCH", "BUS_READ_OWN", "BUS_INVALIDATE"))
    assert asked == sum(second[name] for name in ANSWERS[:3]) > 20
    assert second["SNOOPED_HITM"] == sum(first[name] for name in (*TAKEN, "BUS_INVALIDATE_HITM")) > 10
    levels = both.threads[1].levels()["SNOOPQ"]
    assert sum(entries * cycles for entries, cycles in enumerate(levels)) == asked * load("montecito")["bus.in_order"]


def test_fc_takes_the_line_from_the_other_core() -> None:
    """Each is an invalidation on the bus, which the core that writes the line answers; it asks for the line anew."""
    flushes, wait = 100, ["nop.m 0"] * 800
    both = assembled([loop(["st8 [r20]=r0"], 100_000), loop(["fc r20", *wait], flushes)], kind=shared_memory)
    first, second = (happened(one) for one in both.threads)
    assert second["L1I_SNOOPED"] == second["BUS_INVALIDATE"] == flushes
    asked = sum(second[name] for name in ("BUS_READ_DATA", "BUS_READ_FETCH", "BUS_READ_OWN", "BUS_INVALIDATE"))
    assert asked == sum(first[name] for name in ANSWERS[:3])
    assert first["SNOOPED_HITM"] == second["BUS_INVALIDATE_HITM"] > flushes // 2
    assert first["BUS_READ_OWN"] >= second["BUS_INVALIDATE_HITM"]


def happened(machine: Machine) -> Counter[str]:
    """How often what happened."""
    found: Counter[str] = Counter()
    for (_, _, what, _), times in machine.occurrences().items():
        found[Occurrence(what).name] += times
    return found


TAKEN = ("BUS_READ_OWN_HITM", "BUS_READ_HITM")


def shared_memory(figures: MachineFigures) -> TwoCores:
    return TwoCores(figures, same_program=True)


def times(both: Both, *names: str) -> int:
    """How often something happened on both cores."""
    return sum(happened(one)[name] for one in both.threads for name in names)


def test_a_line_that_both_write_goes_to_and_fro() -> None:
    """False sharing: words of one line; with a line each nothing is taken."""
    mine, its = loop(["st8 [r20]=r0"], 3000), loop(["st8 [r21]=r0"], 3000)  # 64 bytes behind: the same line of L2
    shared = assembled([mine, its], kind=shared_memory)
    far = loop(["adds r23=4096,r20", "st8 [r23]=r0"], 3000)
    apart = assembled([mine, far], kind=shared_memory)
    assert times(shared, *TAKEN) > 10
    assert times(apart, *TAKEN) == 0
    assert max(one.cycles for one in shared.threads) > max(one.cycles for one in apart.threads)


def test_a_line_that_both_read_is_shared() -> None:
    reading = loop(["ld8 r4=[r20]"], 3000)
    both = assembled([reading, reading], kind=shared_memory)
    assert times(both, *TAKEN) == 0
    assert times(both, "BUS_READ_HIT") >= 1
    assert times(both, "BUS_INVALIDATE") == 0


def test_programs_that_share_nothing_do_not_see_each_other() -> None:
    """Two programs at the same addresses are at different places of memory: each is asked, and misses."""
    mine = loop(["st8 [r20]=r0"], 3000)
    both = assembled([mine, loop(["st8 [r20]=r0"], 6000)], kind=TwoCores)
    assert times(both, *TAKEN, "SNOOPED_HIT", "SNOOPED_HITM") == 0
    first, second = (happened(one) for one in both.threads)
    assert second["SNOOPED_MISS"] == first["BUS_READ_DATA"] + first["BUS_READ_FETCH"] + first["BUS_READ_OWN"] > 2
