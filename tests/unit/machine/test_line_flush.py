"""fc and fc.i: the line leaves all caches, a modified one is written back, and code is fetched anew.

Montecito manual 2.3.3.2, 2.7.4: a coherence request takes the line from L1I and L2I.
"""

from collections import Counter

import pytest
from enumerated import members
from ia64_assembly import BREAK, CODE
from ia64_machine import DATA
from ia64_machine import Machine as Guest
from machine_code import loop, run_code

from pfmon.isa.ia64._encodings import AccessType
from pfmon.machine._machine import L2, DataMemory, Machine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.stream._stream import Failure, Pipe, Recorder

LOAD, STORE, FLUSH = members(AccessType, "ACCESS", "LOAD STORE FLUSH")
LINE, LONG = 1 << 20, 10_000
SAME_SET = 1 << 15
PASSES = 50


@pytest.fixture(params=ITANIUMS)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def memory_of(machine: str) -> DataMemory:
    config = load(machine)
    found = DataMemory(config, L2(config))
    for step in range(2):
        found.access_at(LINE, LOAD, LONG * step)
    return found


def noted(memory: DataMemory, kind: int, now: int, address: int = LINE) -> Counter[str]:
    _, _, notes = memory.access_at(address, kind, now)
    return Counter({Occurrence(what).name: times for what, times in notes})


def held(memory: DataMemory) -> dict[str, bool]:
    stores = {**memory.stores(), **memory.l2.stores()}
    return {name: stores[name].probe(LINE) is not None for name in ("l1d", "data", "l3")}


def test_a_flushed_line_is_in_no_cache_and_comes_from_memory(machine: str) -> None:
    memory = memory_of(machine)
    assert held(memory) == {"l1d": True, "data": True, "l3": True}
    noted(memory, FLUSH, 10 * LONG)
    assert not any(held(memory).values())
    ready, _, _ = memory.access_at(LINE, LOAD, 11 * LONG)
    assert ready - 11 * LONG >= int(load(machine)["memory.latency"])


def test_all_parts_of_a_line_of_l2_leave_l1d(machine: str) -> None:
    memory, config = memory_of(machine), load(machine)
    size = int(config["l2d.line" if machine == "montecito" else "l2.line"])
    parts = range(LINE, LINE + size, int(config["l1d.line"]))
    for step, part in enumerate(parts):
        memory.access_at(part, LOAD, LONG * (2 + step))
    noted(memory, FLUSH, 10 * LONG, LINE + size - 1)
    assert [memory.stores()["l1d"].probe(part) for part in parts] == [None] * len(parts)
    assert memory.stores()["l1d"].probe(LINE + size) is None


def test_only_what_was_changed_is_written_back(machine: str) -> None:
    for kind, written in ((LOAD, 0), (STORE, 1)):
        memory = memory_of(machine)
        memory.access_at(LINE, kind, 5 * LONG)
        assert noted(memory, FLUSH, 10 * LONG)["BUS_WRITE_BACK"] == written
        assert noted(memory, FLUSH, 11 * LONG)["BUS_WRITE_BACK"] == 0


def test_what_l3_alone_has_changed_is_written_back() -> None:
    memory = memory_of("montecito")
    memory.access_at(LINE, STORE, 5 * LONG)
    for way in range(1, 20):
        memory.access_at(LINE + way * SAME_SET, LOAD, (5 + way) * LONG)
    assert held(memory) == {"l1d": False, "data": False, "l3": True}
    assert noted(memory, FLUSH, 50 * LONG)["BUS_WRITE_BACK"] == 1


def test_every_flush_is_a_snoop_of_l1i(machine: str) -> None:
    memory = memory_of(machine)
    assert [noted(memory, FLUSH, 10 * LONG, LINE + 4096 * step)["L1I_SNOOPED"] for step in range(3)] == [1, 1, 1]


# --- programs


def seen(found: Machine) -> Counter[str]:
    total: Counter[str] = Counter()
    for (_, _, occurrence, _), times in found.occurrences().items():
        total[Occurrence(occurrence).name] += times
    return total


@pytest.mark.parametrize("text", ["fc", "fc.i"])
@pytest.mark.parametrize("dirty", [0, 1])
def test_a_loop_that_flushes_what_it_reads_waits_for_memory(text: str, dirty: int, machine: str) -> None:
    """The load behind fc in the same block misses all caches, in each pass."""
    body = ["st8 [r20]=r20" if dirty else "nop.m 0", f"{text} r20", "mf", "ld8 r11=[r20]", "add r12=r11,r11"]
    found = run_code(loop(body, PASSES), machine)
    assert seen(found)["L1I_SNOOPED"] == PASSES
    assert seen(found)["BUS_READ_DATA"] >= PASSES
    assert PASSES - 1 <= seen(found)["BUS_WRITE_BACK"] <= PASSES if dirty else seen(found)["BUS_WRITE_BACK"] == 0
    assert found.cycles > PASSES * int(load(machine)["memory.latency"])
    plain = run_code(loop(body, PASSES), machine, memo=False)
    assert (found.cycles, found.occurrences()) == (plain.cycles, plain.occurrences())


def test_a_flush_whose_predicate_is_false_does_nothing(machine: str) -> None:
    body = ["cmp.eq p6,p7=r0,r0", "(p7) fc r20", "ld8 r11=[r20]"]
    found = run_code(loop(body, PASSES), machine)
    assert seen(found)["L1I_SNOOPED"] == 0
    assert seen(found)["BUS_READ_DATA"] <= 2


def test_flushed_code_is_fetched_anew(machine: str) -> None:
    """A function in lines of its own, which is flushed before each call: its line comes from memory each time."""
    far = 64
    lines = [
        f"movl r23={CODE + far * 16:#x}",
        *loop(["fc.i r23", "br.call.sptk.few b0=there", "nop.m 0"], PASSES),
        "br.cond.sptk.few done",
    ]
    lines += ["nop.m 0"] * (far - sum(not line.endswith(":") for line in lines))  # a bundle each
    code = [*lines, "there:", "nop.m 0", "br.ret.sptk.few b0", *["nop.m 0"] * 16, "done:", "nop.m 0"]
    flushed, kept = (run_code(text, machine) for text in (code, [line.replace("fc.i r23", "nop.m 0") for line in code]))
    fetched = seen(flushed)["BUS_READ_FETCH"] - seen(kept)["BUS_READ_FETCH"]
    assert PASSES - 2 <= fetched <= PASSES
    if machine == "montecito":
        assert PASSES - 2 <= seen(flushed)["SNOOPED_L2I_HIT"] <= PASSES
    assert seen(kept)["SNOOPED_L2I_HIT"] == 0
    assert flushed.cycles - kept.cycles > (PASSES - 2) * int(load(machine)["memory.latency"])


def test_lines_of_other_addresses_stay(machine: str) -> None:
    found = run_code(
        ["ld8 r11=[r20]", f"movl r23={DATA + 4096:#x}", *loop(["fc r23", "ld8 r12=[r20]"], PASSES)], machine
    )
    assert seen(found)["BUS_READ_DATA"] <= 3


def test_a_recording_that_does_not_say_the_line_has_a_snoop_alone() -> None:
    """Earlier versions had no address of fc in the stream."""
    guest = Guest(["fc r9", BREAK], trace=True)
    guest.set({9: DATA})
    guest.cpu.run(Recorder())
    block = guest.cpu.table.block(guest.cpu.table.numbers()[0])
    old = block._replace(instructions=tuple(one._replace(access=0) for one in block.instructions))
    found, recorder = Machine(load("montecito"), guest.cpu.table), Recorder()
    recorder.load([guest.cpu.table.enter(old)])
    recorder.replay(Pipe(found, threaded=False))
    found.finish()
    assert (found.failure, seen(found)["L1I_SNOOPED"], seen(found)["L1DTLB_MISS"]) == (Failure.NO_FAILURE, 1, 0)
