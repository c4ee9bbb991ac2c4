"""Parts of a stream end exactly where they are wanted, and together they are the whole: instruction by instruction."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import pytest
from example_counts import examples
from grids import diagonal, each, few
from guests import guest, quiet
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import BREAK, CODE
from ia64_fuzz import Fuzz
from ia64_machine import DATA, Machine
from tables import NO_INSTRUCTION, blocks, some_words
from totals import EVERYTHING, signal_totals

from pfmon.counting._counting import CountAccumulator, DataRangeTally, Gate, Increments, Tally, add_totals
from pfmon.pmu.qualify.filters import FilteredSignal
from pfmon.signals.signal_terms import available
from pfmon.stream._stream import AccessKind, BlockTable, Consumer, Cut, Failure, Ia64Kind, Recorder
from pfmon.stream.marks import Mark
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

SIGNALS = sorted(available())
PROGRAMS = {"epic": [], "fib": ["9"], "sort": ["60"], "strings": ["20"], "nbody": ["1"]}


class Happened(NamedTuple):
    """An instruction that retired, with its access and its marks; or a mark that stands for itself."""

    instruction: InstructionRecord | None
    executed: bool
    address: int | None
    marks: tuple[int, ...]


def expanded(words: Sequence[int], table: BlockTable, traced: bool) -> list[Happened]:
    """A stream instruction by instruction; conditions and numbers of instructions are resolved."""
    known: dict[int, BlockRecord] = {}
    found: list[Happened] = []
    first = 0
    length = 0
    rest = iter(words)
    owner = NO_INSTRUCTION
    for word in rest:
        if word >> 63:
            kind = word >> 56 & 0x7F
            owner = owner if kind == Mark.RSE_ADDRESS else word >> 32 & 0xFF
            if owner < length:
                plain = word if kind == Mark.RSE_ADDRESS else word & ~(0xFF << 32)
                one = found[first + owner]
                found[first + owner] = one._replace(marks=(*one.marks, plain))
            else:
                found.append(Happened(None, False, None, (word,)))
            continue
        number = word & 0xFFFFFFFF
        block = known.setdefault(number, table.block(number)) if number not in known else known[number]
        first, length = len(found), len(block.instructions)
        for one in block.instructions:
            held = one.condition is None or bool(word >> 32 + one.condition & 1)
            address = next(rest) if traced and one.access and held else None
            found.append(Happened(one._replace(condition=None), held, address, ()))
    return found


def retiring(stream: Sequence[Happened]) -> list[Happened]:
    return [one for one in stream if one.instruction]


@cache
def example(name: str, trace: bool) -> tuple[Recorder, BlockTable]:
    program = guest(name, PROGRAMS[name], trace=trace)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    return recorder, program.table


@cache
def random_code(seed: int, trace: bool) -> tuple[Recorder, BlockTable]:
    fuzz = Fuzz(random.Random(seed), trace=trace)
    fuzz.tally = recorder = Recorder()
    for _ in range(3):
        fuzz.new_program()
        fuzz.run(1500)
    return recorder, fuzz.cpu.table


def stream_of(source: str | int, trace: bool) -> tuple[Recorder, BlockTable]:
    return example(source, trace) if isinstance(source, str) else random_code(source, trace)


QUICK = ("epic", "fib")
SOURCES = [
    *(name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS),
    *range(4),
]


def some_triggers(
    stream: Sequence[Happened], pick: random.Random, traced: bool
) -> tuple[list[int], list[tuple[int, bool, bool]]]:
    """Code addresses, in any slot, and bytes that are accessed."""
    code = [one.instruction.address for one in pick.choices(retiring(stream), k=pick.randrange(6)) if one.instruction]
    data = []
    if traced:
        accesses = [one.address for one in stream if one.address is not None]
        for address in pick.choices(accesses, k=pick.randrange(4)) if accesses else ():
            reads = pick.random() < 0.7
            data.append((address + pick.randrange(8) & 2**64 - 1, reads, not reads or pick.random() < 0.5))
    return code, data


def places(stream: Sequence[Happened], pick: random.Random) -> list[int]:
    """Numbers of retired instructions, in order."""
    count = len(retiring(stream))
    chosen = {pick.randrange(count) for _ in range(pick.choice((0, 3, 40, 400)))}
    return sorted(chosen | {place + 1 for place in list(chosen)[::3] if place + 1 < count})


class Stops:
    """Alarms at some numbers of retired instructions; ``seen``: where the gate stood, and before which address."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self._wanted = list(wanted)
        self.gate: Gate | None = None
        self.seen: list[tuple[int, int]] = []

    @property
    def first(self) -> int | None:
        return self._wanted[0] if self._wanted else None

    def due(self) -> int | None:
        assert self.gate
        self.seen.append((self.gate.retired, self.gate.next_address))
        self._wanted.pop(0)
        return self.first


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("traced", few([False, True], 6))
@pytest.mark.parametrize("source", few(SOURCES, 6))
def test_parts_are_the_whole_instruction_by_instruction(source: str | int, traced: bool) -> None:
    recorder, table = stream_of(source, traced)
    whole = expanded(recorder.words(), table, traced)
    pick = random.Random(f"{source} {traced}")
    for _ in range(4):
        code, data = some_triggers(whole, pick, traced)
        stops = Stops(places(whole, pick))
        parts = Recorder()
        stops.gate = Gate(
            table, [parts], traced=traced, code=code, data=data, due=stops.first, on_due=stops.due, witness=Recorder()
        )
        wanted = list(stops._wanted)
        recorder.replay(stops.gate)
        assert stops.gate.failure == Failure.NO_FAILURE and stops.gate.error is None
        assert expanded(parts.words(), table, traced) == whole
        assert stops.gate.retired == len(retiring(whole))
        # Every alarm rings exactly where it should.
        addresses = [one.instruction.address for one in retiring(whole) if one.instruction]
        assert stops.seen == [(place, addresses[place]) for place in wanted]


@pytest.mark.parametrize("source", SOURCES)
def test_totals_of_parts_are_totals_of_the_whole(source: str | int) -> None:
    """Every signal, instruction by instruction, with and without data ranges."""
    for traced in (False, True):
        recorder, table = stream_of(source, traced)
        whole = expanded(recorder.words(), table, traced)
        pick = random.Random(f"{source} {traced}")
        code, data = some_triggers(whole, pick, traced)
        used = [one.address for one in whole if one.address is not None] or [0]
        ranges = [(pick.choice(used) & -64, 2**56 - 64) for _ in range(3)]
        for make in (
            lambda t=table, r=traced: Tally(t, r),
            *([lambda t=table, r=ranges: DataRangeTally(t, r)] * traced),
        ):
            together, apart = make(), make()
            recorder.replay(together)
            stops = Stops(places(whole, pick))
            stops.gate = Gate(table, [apart], traced=traced, code=code, data=data, due=stops.first, on_due=stops.due)
            recorder.replay(stops.gate)
            ranged = isinstance(together, DataRangeTally)
            assert by_address(apart, table, ranged) == by_address(together, table, ranged)
            assert signal_totals(SIGNALS, table, apart) == signal_totals(SIGNALS, table, together)
            assert apart.instructions() == together.instructions() == len(retiring(whole))


def by_address(tally: Tally, table: BlockTable, ranged: bool) -> dict[int, list[int]]:
    sink = CountAccumulator(len(SIGNALS), table, by_place=True)
    add_totals(tally, Increments([FilteredSignal(signal, EVERYTHING, ranged) for signal in SIGNALS]), sink)
    return {address: counts for address, counts in sink.by_address().items() if any(counts)}


@pytest.mark.slow
@examples(60)
@given(st.lists(blocks(20), min_size=1, max_size=6), st.integers(0, 2**32), st.booleans())
def test_made_up_blocks_are_split_anywhere(made: list[BlockRecord], seed: int, traced: bool) -> None:
    table = BlockTable(payload_bytes=4)
    for one in made:
        table.enter(one)
    pick = random.Random(seed)
    stream, parts = Recorder(), Recorder()
    stream.load(some_words(made, pick, 60, traced=traced))
    whole = expanded(stream.words(), table, traced)
    stops = Stops(places(whole, pick))
    code, data = some_triggers(whole, pick, traced)
    stops.gate = Gate(table, [parts], traced=traced, code=code, data=data, due=stops.first, on_due=stops.due)
    stream.replay(stops.gate)
    assert expanded(parts.words(), table, traced) == whole
    for number in table.numbers()[len(table) :]:
        part = table.block(number)
        block = table.block(part.whole)
        end = part.offset + len(part.instructions)
        assert [one._replace(condition=None) for one in part.instructions] == [
            one._replace(condition=None) for one in block.instructions[part.offset : end]
        ]
        assert part.cut == (block.cut if end == len(block.instructions) else Cut.PART)
        assert part.ip == part.instructions[0].address


# --- who counts


class Rule(NamedTuple):
    """A trigger: where, and what it does."""

    address: int
    reads: bool
    writes: bool
    data: bool
    starts: bool
    repeats: bool


def reached(one: Happened, rule: Rule) -> bool:
    """Whether a trigger is reached before an instruction."""
    assert one.instruction
    if not rule.data:
        return one.instruction.address == rule.address
    if one.address is None or one.instruction.access == AccessKind.FETCH_LINE:
        return False
    if (rule.address - one.address) % 2**64 >= one.instruction.size:
        return False
    kinds = [mark >> 56 & 0x7F for mark in one.marks]
    if one.instruction.isa_kind & Ia64Kind.LOAD_CHECK and Mark.ALAT_MISS not in kinds:
        return False
    if any(mark >> 56 & 0x7F == Mark.DEFERRED and mark & 0xFFFFFFFF == 2 for mark in one.marks):
        return False
    return bool(
        (rule.reads and one.instruction.access & AccessKind.READ)
        or (rule.writes and one.instruction.access & AccessKind.WRITE)
    )


def counted(stream: Sequence[Happened], rules: Sequence[Rule]) -> Iterator[tuple[Happened, bool]]:
    """Everything that happened, and whether counting is on then."""
    on = not any(rule.starts for rule in rules)
    spent: set[tuple[bool, bool]] = set()
    for one in stream:
        for rule in rules if one.instruction else ():
            if reached(one, rule) and on != rule.starts and (rule.data, rule.starts) not in spent:
                on = rule.starts
                spent |= set() if rule.repeats else {(rule.data, rule.starts)}
        yield one, on


def some_rules(stream: Sequence[Happened], pick: random.Random) -> list[Rule]:
    code, data = some_triggers(stream, pick, traced=True)
    repeats = [pick.random() < 0.5, pick.random() < 0.5]
    rules = [Rule(address, True, True, False, pick.random() < 0.5, repeats[0]) for address in dict.fromkeys(code)]
    return rules + [
        Rule(address, reads, writes, True, pick.random() < 0.5, repeats[1]) for address, reads, writes in data
    ]


@pytest.mark.slow
@pytest.mark.parametrize("source", few(SOURCES, 4))
def test_counting_is_on_exactly_between_triggers(source: str | int) -> None:
    recorder, table = stream_of(source, True)
    whole = expanded(recorder.words(), table, True)
    pick = random.Random(f"rules {source}")
    partial = 0
    for _ in range(12):
        rules = some_rules(whole, pick)
        seen = Recorder()
        gate = Gate(
            table,
            [seen],
            traced=True,
            code=[rule.address for rule in rules if not rule.data],
            data=[(rule.address, rule.reads, rule.writes) for rule in rules if rule.data],
            actions=[(rule.starts, int(rule.data), rule.repeats) for rule in rules],
            on=not any(rule.starts for rule in rules),
        )
        recorder.replay(gate)
        wanted = [one for one, on in counted(whole, rules) if on]
        assert expanded(seen.words(), table, True) == wanted
        assert gate.trigger_hits() == [sum(reached(one, rule) for one in retiring(whole)) for rule in rules]
        partial += 0 < len(wanted) < len(whole)
    assert partial


# --- by hand: a bundle has three instructions here

WALK = ["loop:", "st4 [r6]=r8,4", "(p6) ld8 r9=[r7]", "adds r8=1,r8", "br.cloop.sptk.few loop", BREAK]


def hits(m: Machine, code: Sequence[int] = (), data: Sequence[tuple[int, bool, bool]] = ()) -> list[int]:
    """How often triggers are reached while a program runs."""
    count = len(code) + len(data)
    gate = Gate(
        m.cpu.table, [Consumer()], traced=True, code=code, data=data, actions=[(False, 0, True)] * count, on=True
    )
    m.cpu.run(gate)
    return gate.trigger_hits()


@pytest.mark.parametrize("max_block", [96, 1])
def test_code_triggers_are_reached_whenever_control_comes_there(max_block: int) -> None:
    m = Machine(WALK, max_block=max_block, trace=True).set({6: DATA, 7: DATA}, lc=9)
    assert hits(m, [CODE, CODE + 16, CODE + 17, CODE + 48, CODE + 160]) == [10, 10, 10, 10, 0]


@diagonal
@each("max_block", [96, 1])
@each(("reads", "writes"), [(True, True), (True, False), (False, True)])
def test_data_triggers_are_reached_by_accesses_of_their_byte(reads: bool, writes: bool, max_block: int) -> None:
    m = Machine(WALK, max_block=max_block, trace=True).set({6: DATA, 7: DATA + 8}, lc=9, pr=1 | 1 << 6)
    # ld8 of bytes 8 to 15 every round; st4 reaches byte 15 in round 3 and byte 16 in round 4, one after the other.
    assert hits(m, data=[(DATA + 15, reads, writes), (DATA + 16, reads, writes)]) == [10 * reads + writes, int(writes)]


def test_an_access_that_touches_several_triggers_reaches_all() -> None:
    m = Machine(["st8 [r6]=r0", BREAK], trace=True).set({6: DATA})
    data = [(DATA + 7, True, True), (DATA + 8, True, True), (DATA, True, True), (DATA - 1, True, True)]
    assert hits(m, [CODE], data) == [1, 1, 0, 1, 0]


def test_predicated_off_and_check_loads_without_access_touch_nothing() -> None:
    lines = ["(p6) ld8 r9=[r7]", "ld8.a r10=[r7]", "ld8.c.nc r10=[r7]", "st8 [r7]=r0", "ld8.c.nc r10=[r7]", BREAK]
    # ld8.a, and the check load behind the store, which removed its ALAT entry.
    assert hits(Machine(lines, trace=True).set({7: DATA}), data=[(DATA, True, False)]) == [2]


def test_triggers_beyond_what_there_is_room_for_are_refused() -> None:
    table = BlockTable()
    with pytest.raises(ValueError, match="33 triggers"):
        Gate(table, [Consumer()], traced=True, code=[0] * 20, data=[(0, True, True)] * 13)
    with pytest.raises(ValueError, match="triggers"):
        Gate(table, [Consumer()], traced=True, actions=[(True, 0, False)] * 33)
    with pytest.raises(ValueError, match="addresses"):
        Gate(table, [Consumer()], traced=False, data=[(0, True, True)])


def test_alarms_come_in_order_and_their_errors_are_kept() -> None:
    recorder, table = example("fib", False)
    stops = Stops(range(1, 500))
    stops.gate = Gate(table, [Recorder()], traced=False, due=1, on_due=stops.due)
    recorder.replay(stops.gate)
    assert all(after == before + 1 for (before, _), (after, _) in pairwise(stops.seen)) and len(stops.seen) == 499

    def wrong() -> int | None:
        raise RuntimeError("of the caller's")

    seen = Recorder()
    gate = Gate(table, [seen], traced=False, due=50, on_due=wrong)
    recorder.replay(gate)
    assert isinstance(gate.error, RuntimeError)
    # The run goes on.
    assert expanded(seen.words(), table, False) == expanded(recorder.words(), table, False)
