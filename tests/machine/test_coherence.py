"""Two cores whose programs share memory: MESI between their caches (Montecito manual 2.5), against a plain model."""

import random
from itertools import count

import pytest
from core_runs import Both, assembled
from enumerated import members
from machine_code import loop

from pfmon.machine.config import MachineFigures, load
from pfmon.machine.l2 import RequestKind
from pfmon.machine.machine import Machine
from pfmon.machine.occurrences import Occurrence
from pfmon.session.core import TwoCores
from pfmon.stream.table import BlockTable, InstructionSet

READ, WRITE, FETCH = members(RequestKind, "REQUEST", "READ WRITE FETCH")
LINE, START = 128, 1 << 20


class PlainMesi:
    """One line in two caches that never replace it."""

    def __init__(self) -> None:
        self.states = ["I", "I"]
        self.answers = {"hit": 0, "hitm": 0, "own hitm": 0, "invalidate hitm": 0}

    def read(self, core: int) -> None:
        its = self.states[1 - core]
        if self.states[core] != "I":
            return
        if its == "I":
            self.states[core] = "E"
            return
        self.answers["hitm" if its == "M" else "hit"] += 1
        self.states = ["S", "S"]

    def write(self, core: int) -> None:
        its = self.states[1 - core]
        if its == "M":
            self.answers["own hitm"] += 1
        self.states[core], self.states[1 - core] = "M", "I"


def two_machines() -> list[Machine]:
    machines = [Machine(load("montecito"), BlockTable(InstructionSet.IA64, 4)) for _ in range(2)]
    machines[0].share_memory(machines[1])
    return machines


@pytest.mark.parametrize("seed", range(20))
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


def shared_memory(figures: MachineFigures) -> TwoCores:
    return TwoCores(figures, same_program=True)


def times(both: Both, *names: str) -> int:
    """How often something happened on both cores."""
    wanted = {int(Occurrence[name]) for name in names}
    return sum(count for one in both.threads for (_, _, what, _), count in one.occurrences().items() if what in wanted)


TAKEN = ("BUS_READ_OWN_HITM", "BUS_READ_HITM")


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
    """Two programs at the same addresses are at different places of memory."""
    mine = loop(["st8 [r20]=r0"], 3000)
    assert times(assembled([mine, mine], kind=TwoCores), *TAKEN) == 0
