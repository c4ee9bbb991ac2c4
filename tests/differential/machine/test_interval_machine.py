"""The out-of-order machine: misses as a plain model of the same caches has them, and the time of small programs."""

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from grids import diagonal, first_quick
from guests import SMALL
from plain_caches import modelled
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, assemble, guest

from pfmon.machine._machine import Cause, IntervalMachine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, BranchKind, Recorder, Tee

pytestmark = [QEMU, ASSEMBLER]

EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
NO_PREFETCH = ("prefetch.degree=0", "prefetch.adjacent=false")


class Ran:
    """A program on a machine, with the words that it read."""

    def __init__(self, command: Sequence[str | Path], machine: str, *changes: str) -> None:
        with Path("/dev/null").open("w") as nowhere:
            one = guest(command, files=(0, nowhere.fileno(), nowhere.fileno()), addresses=True)
            self.figures, self.table, recorder = load(machine, changes), one.table, Recorder()
            self.machine = IntervalMachine(self.figures, one.table)
            one.run(Tee(recorder, self.machine))
            one.close()
        self.machine.finish()
        self.words, self.retired = recorder.words(), one.retired

    @property
    def happened(self) -> Counter[str]:
        """How often what happened."""
        found: Counter[str] = Counter()
        for (_, _, occurrence, _), times in self.machine.occurrences().items():
            found[Occurrence(occurrence).name] += times
        return found

    @property
    def mispredicted(self) -> int:
        """Branches that were mispredicted."""
        return sum(times for name, times in self.happened.items() if name.startswith("CORE_MISPREDICTED"))

    @property
    def stalled(self) -> Counter[str]:
        """Cycles by cause."""
        found: Counter[str] = Counter()
        for _, _, cause, cycles in self.machine.bubbles():
            found[Cause(cause).name] += cycles
        return found


MISSES = (
    *("CORE_L1D_READ_MISS", "CORE_L1D_WRITE_MISS", "CORE_L1I_MISS", "CORE_LLC_REFERENCE", "CORE_LLC_MISS"),
    *("CORE_LOAD_WALK", "CORE_STORE_WALK", "CORE_ITLB_MISS"),
)
SMALLER = ("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=8K", "l2.ways=4", "dtlb1.entries=2",
           "dtlb1.ways=2", "itlb1.entries=2", "itlb1.ways=2", "tlb2.entries=4", "tlb2.ways=2")  # fmt: skip


LONGER = ("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=4K", "l2.ways=2", "l3.size=16K",
          "l3.ways=4", "dtlb1.entries=4", "dtlb1.ways=4", "itlb1.entries=2", "itlb1.ways=2")  # fmt: skip


@diagonal
@pytest.mark.parametrize(
    ("machine", "changes"),
    first_quick([("core2", ()), ("core2", SMALLER), ("itanium2_ia32", ()), ("itanium2_ia32", LONGER)]),
    ids=["core2", "small caches", "three levels", "small, longer lines below"],
)
@pytest.mark.parametrize(
    "name",
    first_quick(["matmul", "fib", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sort", "lz", "strings"))]),
)
def test_misses_are_those_of_a_plain_model(name: str, machine: str, changes: tuple[str, ...]) -> None:
    ran = Ran([EXAMPLES / "x86_64" / name, *SMALL[name]], machine, *NO_PREFETCH, *changes)
    expected = modelled(ran.figures, ran.table, ran.words)
    happened = ran.happened
    assert {name: happened[name] for name in MISSES} == {name: expected[name] for name in MISSES}
    assert sum(expected.values()) > 20


class Bimodal:
    """Two-bit counters by address, the last targets, no return stack: the predictor of ppc604e."""

    def __init__(self, counters: int, targets: int) -> None:
        self.counters, self.size, self.targets, self.entries = [1] * counters, counters, targets, {}

    def direction(self, address: int, taken: bool) -> bool:
        place = (address ^ address >> 13) % self.size
        right = (self.counters[place] >= 2) == taken
        self.counters[place] = min(3, self.counters[place] + 1) if taken else max(0, self.counters[place] - 1)
        return right

    def target(self, address: int, target: int) -> bool:
        known = self.entries.pop(address, None) == target
        if len(self.entries) == self.targets:
            del self.entries[next(iter(self.entries))]
        self.entries[address] = target
        return known


@pytest.mark.slow
def test_mispredictions_are_those_of_a_plain_model() -> None:
    ran = Ran([EXAMPLES / "x86_64" / "dispatch", *SMALL["dispatch"]], "ppc604e")
    model, wrong, at = Bimodal(512, 64), 0, 0
    runs = []
    while at < len(ran.words):
        word = ran.words[at]
        at += 1
        if word >> 63 == 0:
            block = ran.table.block(word & 0xFFFFFFFF)
            at += sum((one.access != 0) + (one.second != 0) for one in block.instructions)
            runs.append((block, word >> 32 & 1))
    for (block, taken), (following, _) in zip(runs, [*runs[1:], (runs[-1][0], 0)], strict=True):
        last = block.instructions[-1]
        if last.branch == BranchKind.NO_BRANCH:
            continue
        conditional = last.condition is not None
        if conditional and not model.direction(last.address, bool(taken)):
            wrong += 1
            if taken:
                model.target(last.address, following.ip)
        elif taken or not conditional:
            known = model.target(last.address, following.ip)
            wrong += not known and last.branch in (
                BranchKind.INDIRECT_JUMP,
                BranchKind.INDIRECT_CALL,
                BranchKind.RETURN_BRANCH,
            )
    assert ran.mispredicted == wrong > 50


def looped(body: str, times: int, directory: Path, before: str = "", data: str = "") -> Path:
    """A program that does something so many times."""
    return assemble(directory, f"{data}\n .text\n _start: {before}\n mov ${times}, %ebp\n .p2align 6\n 1: {body}\n "
                    f"dec %ebp\n jnz 1b\n {EXIT}")  # fmt: skip


def test_instructions_without_misses_dispatch_at_the_width(tmp_path: Path) -> None:
    ran = Ran([looped("nop\n" * 38, 1000, tmp_path)], "core2")
    stalls = sum(ran.stalled.values())
    assert ran.machine.cycles == -(-ran.retired // 4) + stalls and stalls < 1500


CHASE = ".bss\n .balign 4096\n list: .skip 0x2000000\n"
LINK = ("mov $list, %eax\n mov $2000, %ebp\n 2: lea 0x4040(%rax), %rbx\n mov %rbx, (%rax)\n mov %rbx, %rax\n"
        " dec %ebp\n jnz 2b\n mov $list, %rax")  # fmt: skip


def memory_cycles(directory: Path, body: str, times: int) -> int:
    """Cycles that loads wait for memory, in a program that has stored into the lines before."""
    ran = Ran([looped(body, times, directory, LINK, CHASE)], "core2", *NO_PREFETCH, "l2.size=64K", "memory.walk=0")
    return ran.stalled["WINDOW_MEMORY"]


def test_a_load_whose_address_comes_from_a_miss_waits_for_it(tmp_path: Path) -> None:
    latency = int(load("core2")["memory.latency"])
    chased = memory_cycles(tmp_path, "mov (%rax), %rax", 1000)
    assert 0.9 * latency * 1000 < chased <= latency * 1000


def test_loads_in_one_window_miss_together(tmp_path: Path) -> None:
    latency, occupancy = (int(load("core2")[f"memory.{key}"]) for key in ("latency", "occupancy"))
    together = memory_cycles(tmp_path, "mov (%rax), %rbx\n add $0x4040, %rax", 1000)
    assert together < 0.3 * latency * 1000
    assert together > 0.6 * occupancy * 1000  # memory hands over one line after the other


def test_a_branch_that_waits_for_a_miss_is_found_wrong_late(tmp_path: Path) -> None:
    """A miss decides a branch whose direction a generator of random numbers gives: both stalls add up."""
    random = "imul $1103515245, %r8d, %r8d\n add $12345, %r8d\n test $0x10000, %r8d\n jz 3f\n nop\n 3:"
    alone = Ran([looped(random, 2000, tmp_path)], "core2")
    figures = load("core2")
    wrong = alone.mispredicted
    assert 600 < wrong < 1400
    assert alone.stalled["REFILL_BRANCH"] == wrong * int(figures["predictor.mispredict"])
    late = random.replace("test", "mov (%rax), %rbx\n and $0, %ebx\n add %r8d, %ebx\n add $0x4040, %rax\n test")
    late = late.replace("test $0x10000, %r8d", "test $0x10000, %ebx")
    program = looped(late, 1900, tmp_path, LINK, CHASE)
    with_misses = Ran([program], "core2", *NO_PREFETCH, "l2.size=64K", "memory.walk=0")
    per_branch = with_misses.stalled["REFILL_BRANCH"] / with_misses.mispredicted
    assert per_branch > 0.8 * int(figures["memory.latency"])


def test_streams_are_fetched_ahead(tmp_path: Path) -> None:
    body = "mov (%rax), %rbx\n add $64, %rax"
    program = looped(body, 2000, tmp_path, "mov $list, %eax", CHASE)
    without, ahead = (Ran([program], "core2", *changes) for changes in (NO_PREFETCH, ()))
    assert without.happened["CORE_LLC_MISS"] > 2000
    assert ahead.happened["CORE_LLC_MISS"] < 0.3 * without.happened["CORE_LLC_MISS"]
    assert ahead.machine.cycles < without.machine.cycles


def test_an_inclusive_cache_takes_its_lines_out_of_all_others(tmp_path: Path) -> None:
    """A line in constant use is one that L1D has and L3 sees no use of."""
    body = "mov list, %edx\n mov (%rax), %rbx\n add $64, %rax"
    program = looped(body, 4000, tmp_path, "mov $list+4096, %eax", CHASE)
    small = (*NO_PREFETCH, "l2.size=8K", "l3.size=16K")
    kept, gone = (Ran([program], "nehalem", *small, f"memory.inclusive={one}") for one in ("false", "true"))
    assert gone.happened["CORE_L1D_READ_MISS"] > kept.happened["CORE_L1D_READ_MISS"] + 5


def test_caches_of_the_host_are_those_that_linux_tells() -> None:
    figures = load("host")
    told = subprocess.run(["getconf", "LEVEL1_DCACHE_SIZE"], capture_output=True, text=True, check=True).stdout.strip()
    if told in ("", "0", "undefined"):
        pytest.skip("the C library does not know the host's caches")
    assert figures["l1d.size"] == int(told)


def test_a_machine_without_operands_takes_no_load_for_dependent() -> None:
    """Recordings of other tools may say nothing of registers."""
    table = BlockTable(2, 0)
    assert IntervalMachine(load("core2"), table).cycles == 0
