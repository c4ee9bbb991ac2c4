"""The front end on whole programs: every branch is in one class, every read in one place; hints do what they say."""

from collections import Counter

import pytest
from grids import diagonal, each
from machine_code import run_code
from machine_runs import EXAMPLES, PROGRAMS, run_machine
from totals import signal_totals

from pfmon.counting._counting import Tally
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.machine._machine import FrontCause, Machine, Occurrence
from pfmon.program import image
from pfmon.signals.machine_signals import meanings, select

NUMBERS = {name: int(number) for name, number in Occurrence.__members__.items()}
KINDS = ("all", "iprel", "return", "nretind")
BRANCHES = ("branches.all", "branches.iprel", "branches.return", "branches.nretind")
FAMILIES = {
    "br_mispred_detail.{}_": ("correct_pred", "wrong_path", "wrong_target"),
    "br_path_pred.{}_": ("mispred_nottaken", "mispred_taken", "okpred_nottaken", "okpred_taken"),
}
STAGES = (
    "branch_predictor.all_correct_predictions",
    "branch_predictor.all_wrong_path",
    "branch_predictor.all_wrong_target",
)
MULTIWAY = ("branches.multiway.all.correct", "branches.multiway.all.wrong_path", "branches.multiway.all.wrong_target")


def seen(machine: Machine) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    return found


def front(machine: Machine) -> Counter[str]:
    found: Counter[str] = Counter()
    for _, _, cause, cycles in machine.front_bubbles():
        found[FrontCause(cause).name] += cycles
    return found


def signal(name: str, occurrences: Counter[str]) -> int:
    if meanings()[name].kind == "never":
        return 0
    return sum(occurrences[Occurrence(number).name] for number in select(name, NUMBERS))


def retired(program: str, machine: str, signals: tuple[str, ...]) -> dict[str, int]:
    """What the architecture decides, counted without a machine."""
    guest = Ia64Guest(
        image.load(str(EXAMPLES / program), None),
        [program.encode(), *(argument.encode() for argument in PROGRAMS[program])],
        [],
        GuestSettings(),
        memory_limit=1 << 33,
        processor=machine,
    )
    tally = Tally(guest.processor.table)
    guest.run(tally)
    return signal_totals(signals, guest.table, tally)


def check(program: str, machine: str) -> None:
    occurrences = seen(run_machine(program, machine))
    counted = retired(program, machine, (*BRANCHES, "branches.multiway.all", "branches.nottaken"))
    for family, parts in FAMILIES.items():
        for kind, name in zip(KINDS, BRANCHES, strict=True):
            assert sum(signal(family.format(kind) + part, occurrences) for part in parts) == counted[name]
    assert sum(signal(name, occurrences) for name in MULTIWAY) == counted["branches.multiway.all"]
    not_taken = ("br_path_pred.all_mispred_nottaken", "br_path_pred.all_okpred_nottaken")
    assert sum(signal(name, occurrences) for name in not_taken) == counted["branches.nottaken"]
    if machine == "itanium":
        assert sum(signal(name, occurrences) for name in STAGES) == counted["branches.all"]
    missed = occurrences["L1I_DEMAND_MISS"] + occurrences["L1I_ISB_HIT"] + occurrences["L1I_RAB_HIT"]
    assert 0 < missed == occurrences["L1I_FILL"] <= occurrences["L1I_READ"]
    assert occurrences["ISB_LINE_IN"] == occurrences["L1I_DEMAND_MISS"] + occurrences["L2_PREFETCH_SENT"]
    assert occurrences["L1I_DEMAND_MISS"] == occurrences["L2_FETCH_HIT_DEMAND"] + occurrences["L2_FETCH_MISS_DEMAND"]


@each("program", ["epic", "fib", "queens", "dispatch"])
@each("machine", ["itanium", "itanium2"])
def test_every_branch_is_in_one_class_and_every_read_in_one_place(program: str, machine: str) -> None:
    check(program, machine)


@pytest.mark.slow
@diagonal
@each("machine", ["itanium", "itanium2", "montecito"])
@each("program", PROGRAMS)
def test_so_it_is_for_every_example(program: str, machine: str) -> None:
    check(program, machine)


def counted_loop(before: str) -> list[str]:
    return ["addl r9=99,r0", "mov.i ar.lc=r9", before, "loop:", "nop.m 0", "end:", "br.cloop.sptk.few loop"]


def test_itanium_an_important_hint_takes_the_bubble_from_a_loop() -> None:
    """One bubble a pass from the target address cache, none from a target register (wikichip: zero bubbles)."""
    plain, hinted, unimportant = (
        run_code(counted_loop(before), "itanium")
        for before in ("nop.b 0", "brp.sptk.imp loop,end", "brp.sptk loop,end")
    )
    passes = 98
    assert front(plain)["FRONT_BUBBLE"] - front(hinted)["FRONT_BUBBLE"] == passes
    assert front(unimportant)["FRONT_BUBBLE"] == front(plain)["FRONT_BUBBLE"]
    assert seen(hinted)["PREDICTED_STAGE1_CORRECT_TAKEN"] == passes


def test_a_loop_branch_mispredicts_its_end_only_if_it_is_not_counted() -> None:
    counted = run_code(counted_loop("nop.b 0"), "itanium2")
    compared = run_code(
        ["addl r9=99,r0", "loop:", "adds r9=-1,r9", "cmp.eq p7,p6=r0,r9", "(p6) br.cond.dptk.few loop"], "itanium2"
    )
    dynamic = run_code(counted_loop("nop.b 0"), "itanium2", ["predictor.loop=dynamic"])
    wrong = [signal("branches.mispredicted", seen(found)) for found in (counted, compared, dynamic)]
    assert wrong == [0, 1, 1]


def test_fc_is_a_snoop_if_it_executes() -> None:
    found = run_code(["cmp.eq p7,p6=r0,r0", "fc r20", "(p6) fc r20", "(p7) fc.i r20"], "itanium2")
    assert seen(found)["L1I_SNOOPED"] == 2


def test_a_stream_behind_many_saves_misses_of_straight_code() -> None:
    """The same long run of code, reached by a branch with .many and one with .few."""
    body = ["nop.i 0"] * 600
    few, many = (
        front(run_code([f"br.call.sptk.{hint} b0=there", "break.i 0", "there:", *body], "itanium2"))
        for hint in ("few", "many")
    )
    waits = [found["FRONT_IMISS"] + found["FRONT_FILL_RECIRC"] for found in (few, many)]
    assert waits[1] < waits[0]


@pytest.mark.parametrize(
    ("machine", "causes"),
    [("itanium2", {"FRONT_PLP": 2}), ("itanium", {"FRONT_PLP": 2 + 2, "FRONT_BUBBLE": 98})],
)
def test_counted_loops_that_come_late_wait_for_the_loop_predictor(machine: str, causes: dict[str, int]) -> None:
    """99 passes: the first time the branch is not known; on Itanium every other one has a bubble, and the end two."""
    found = front(run_code(counted_loop("nop.b 0"), machine))
    assert {
        name: found[name] for name in ("FRONT_PLP", "FRONT_BUBBLE", "FRONT_BI", "FRONT_BRANCH") if found[name]
    } == causes


def test_calls_returns_and_unknown_branches_wait_for_what_their_kind_waits_for() -> None:
    """Itanium 2: two cycles for the call that is not known, then none; one for each of three returns."""
    lines = [
        "addl r9=2,r0",
        "mov.i ar.lc=r9",
        "loop:",
        "br.call.sptk.few b0=there",
        "br.cloop.sptk.few loop",
        "break.i 0",
        "there:",
        "br.ret.sptk.few b0",
    ]
    found = front(run_code(lines, "itanium2"))
    assert (found["FRONT_BI"], found["FRONT_BRANCH"], found["FRONT_PLP"]) == (2, 3, 2)
