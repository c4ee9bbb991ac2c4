"""Top-down analysis on programs: what is counted by block is what the events record by instruction, nothing is in two
nodes, and programs whose bottleneck is known have it as their largest node."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from grids import diagonal, few, first_quick
from guests import SMALL
from qemu_guests import ASSEMBLER, EXAMPLES, assemble, guest
from x86_64_host import AVX512, MARKS
from x86_64_random import random_program

import pfmon
from pfmon.machine._machine import IntervalMachine, Occurrence
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.session.profile.top_down import NODES, TopDown
from pfmon.stream._stream import Recorder

pytestmark = [*MARKS, ASSEMBLER]

MACHINES = ["skylake", "icelake", "nehalem", "core2"]
PROGRAMS = sorted({path.name for path in (EXAMPLES / "x86_64").iterdir()} & {*SMALL})


def check_slots(command: Sequence[str | Path], *changes: str) -> None:
    """Counted slots are those of the events, which are recorded apart, and leave the back end its own."""
    with Path("/dev/null").open("w") as nowhere:
        one, words = (
            guest(command, files=(0, nowhere.fileno(), nowhere.fileno()), addresses=True, engine="x86_64"),
            Recorder(),
        )
        one.run(words)
        one.close()
    for name in MACHINES:
        figures = load(name, changes)
        for graphs in (True, False):
            machine = IntervalMachine(
                figures, one.table, 1, CoreTimings(figures, one.table.instruction_names or []), graphs
            )
            machine.record_events(True, False)
            machine.count_slots()
            words.replay(machine)
            machine.finish()
            counted, slots = machine.issue_slots(), int(figures["core.width"]) * machine.cycles
            assert not machine.failure and counted is not None
            retired, heavy, undelivered, latency, mispredicted = counted
            recorded: Counter[int] = Counter()
            for (_, _, occurrence, _), times in machine.occurrences().items():
                recorded[occurrence] += times
            assert retired == recorded[Occurrence.CORE_SLOT]
            assert undelivered == recorded[Occurrence.CORE_UNDELIVERED_SLOT]
            assert latency == int(figures["core.width"]) * recorded[Occurrence.CORE_UNDELIVERED_CYCLE]
            assert 0 <= heavy <= retired and 0 <= latency <= undelivered
            # The cycle in which the program ends may not be over.
            assert retired + undelivered + mispredicted < slots + int(figures["core.width"])


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in range(1, 40))])
def test_slots_of_random_code_are_in_one_node(seed: int, tmp_path: Path) -> None:
    check_slots([random_program(seed, 200, tmp_path, passes=20)])


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(200, 220))
def test_slots_of_random_code_with_few_resources_are_in_one_node(seed: int, tmp_path: Path) -> None:
    little = ("core.window=16", "core.scheduler=8", "core.loads=4", "core.stores=4", "l1i.size=1K", "l1i.ways=2")
    check_slots([random_program(seed, 200, tmp_path, passes=20)], *little)


@pytest.mark.parametrize("name", first_quick(few(PROGRAMS, 6)))
def test_slots_of_examples_are_in_one_node(name: str) -> None:
    check_slots([EXAMPLES / "x86_64" / name, *SMALL[name]])


def analysis(command: Sequence[str], machine: str) -> TopDown:
    """That of a run; its levels, and the causes of cycles, add up."""
    cpi = pfmon.run([*command], report="cpi", machine=machine, capture=True).cpi
    assert cpi is not None and cpi.top_down is not None
    assert cpi.cycles == sum(cpi.total(part) for part in cpi.parts)
    found = cpi.top_down
    assert (
        found.slots == int(load(machine)["core.width"]) * cpi.cycles == sum(found.total(part) for part in found.parts)
    )
    return found


@diagonal
@pytest.mark.parametrize(
    "machine", first_quick(pytest.param(name, marks=AVX512) if name == "icelake" else name for name in MACHINES)
)
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_levels_of_examples_add_up(name: str, machine: str) -> None:
    analysis([str(EXAMPLES / "x86_64" / name), *SMALL[name]], machine)


EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
AREA = ".bss\n .balign 4096\n area: .skip 0x4000000\n .text\n"


def loop(times: int, body: str, before: str = "") -> str:
    return f"{AREA} _start: {before}\n mov ${times}, %ebp\n .p2align 6\n 1: {body}\n dec %ebp\n jnz 1b\n {EXIT}"


RANDOM = """
 mov %rax, %rcx\n shl $13, %rcx\n xor %rcx, %rax\n mov %rax, %rcx\n shr $7, %rcx\n xor %rcx, %rax
 mov %rax, %rcx\n shl $17, %rcx\n xor %rcx, %rax\n test $1, %al\n jz 2f\n inc %rdx\n 2:
"""
ADDS = "\n".join(f"add $1, %{name}" for name in ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9"))
KNOWN = {
    "independent additions": (loop(20000, ADDS), ("retiring", "light operations")),
    "a chain of divisions": (
        loop(5000, "xor %edx, %edx\n div %ecx\n xor %edx, %edx\n div %ecx", "mov $7, %eax\n mov $1, %ecx"),
        ("backend bound", "core bound"),
    ),
    # Each load's address depends on the one before, in another page: no prefetcher foresees it.
    "a chase through memory": (
        loop(16000, "mov (%rax), %rbx\n lea 4160(%rax,%rbx), %rax", "mov $area, %eax"),
        ("backend bound", "memory bound"),
    ),
    "an unpredictable branch": (loop(20000, RANDOM, "mov $88172645, %eax"), ("bad speculation", "branch mispredicts")),
    # 256 KB of code: eight times L1I.
    "a large loop": (
        loop(30, ".rept 32768\n .byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n .endr"),
        ("frontend bound", "fetch latency"),
    ),
}


@diagonal
@pytest.mark.parametrize("machine", ["skylake", pytest.param("icelake", marks=AVX512)])
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_bottleneck_is_the_largest_node(name: str, machine: str, tmp_path: Path) -> None:
    text, (part, component) = KNOWN[name]
    found = analysis([str(assemble(tmp_path, text))], machine)
    assert found.measured
    assert found.total(part) > 0.5 * found.slots, found
    assert (found.parts[part][component] or 0) > 0.5 * found.total(part), found


@pytest.mark.parametrize("machine", ["core2", "nehalem"])
def test_length_changing_prefixes_bind_the_front_end(machine: str, tmp_path: Path) -> None:
    """Each takes the decoders six more cycles (Intel's Optimization Reference Manual, length-changing prefixes)."""
    body = "\n".join(f"add $0x1234, %{name}" for name in ("ax", "bx", "cx", "dx", "si", "di") * 8)
    found = analysis([str(assemble(tmp_path, loop(2000, body)))], machine)
    assert not found.measured
    assert found.total("frontend bound") > 0.8 * found.slots


@pytest.mark.parametrize(("machine", "light"), [("skylake", 2), ("nehalem", 3)])
def test_instructions_of_several_uops_are_heavy(machine: str, light: int, tmp_path: Path) -> None:
    """xchg of two registers has three micro-operations (Fog, Instruction tables). The others are the move and the end
    of the loop: Skylake fuses dec with the branch, Nehalem cmp and test alone (Intel's Optimization Reference Manual,
    macro-fusion)."""
    found = [
        analysis([str(assemble(tmp_path, loop(times, "xchg %rax, %rbx\n mov %rax, %rcx")))], machine)
        for times in (1000, 3000)
    ]
    more = [(b or 0) - (a or 0) for a, b in zip(*(one.parts["retiring"].values() for one in found), strict=True)]
    assert more == [light * 2000, 3 * 2000]


def test_powerpc_has_the_model_s_figures() -> None:
    """Without a table of instructions each of them is one slot."""
    cpi = pfmon.run([str(EXAMPLES / "ppc64" / "fib"), *SMALL["fib"]], report="cpi", machine="ppc604e", capture=True).cpi
    assert cpi is not None and cpi.top_down is not None
    assert not cpi.top_down.measured and cpi.top_down.slots == int(load("ppc604e")["core.width"]) * cpi.cycles
    assert cpi.top_down.total("retiring") == cpi.instructions
    assert cpi.top_down.parts["retiring"]["heavy operations"] is None
    assert list(cpi.top_down.parts) == list(NODES)


def test_in_order_machines_have_none() -> None:
    cpi = pfmon.run([str(EXAMPLES / "ia64" / "fib"), *SMALL["fib"]], report="cpi", capture=True).cpi
    assert cpi is not None and cpi.top_down is None and cpi.to_dict()["top_down"] is None
