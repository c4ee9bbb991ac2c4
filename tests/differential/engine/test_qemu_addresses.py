"""Addresses of memory accesses under qemu and the x86_64 engine: as Valgrind traces them in the examples, as written in
small programs."""

import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from grids import diagonal, each, few, sampled
from guests import SMALL
from host_programs import needs
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, Access, accesses, assemble, run
from x86_64_host import HERE

from pfmon.stream._stream import AccessKind

pytestmark = [QEMU, ASSEMBLER]

VALGRIND = needs("valgrind")
ENGINES = ["qemu", "x86_64"] if HERE else ["qemu"]
KINDS = {"L": AccessKind.READ, "S": AccessKind.WRITE, "M": AccessKind.READ_WRITE}
EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
SECTIONS = ".data\n .balign 64\n .globl from, to\n from: .fill 4096, 1, 1\n to: .fill 4096, 1, 1\n .text\n"
NO_STACK = 1 << 32
"""Addresses below are of a static program itself."""


@cache
def traced(*command: str) -> list[Access]:
    """What Valgrind's lackey says of a program's accesses."""
    with NamedTemporaryFile("r") as file:
        options = ["--vex-guest-chase=no", "--tool=lackey", "--trace-mem=yes", f"--log-file={file.name}"]
        subprocess.run(["valgrind", *options, *command], capture_output=True, check=True)
        lines = re.findall(r"(?m)^(?:(I)  |  ?([LSM]) )([0-9a-f]+),(\d+)$", Path(file.name).read_text())
    found, ip = [], 0
    for instruction, kind, address, size in lines:
        if instruction:
            ip = int(address, 16)
        else:
            found.append(Access(ip, KINDS[kind], int(address, 16), int(size)))
    return found


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("name", few(sorted(set(SMALL) - {"epic"}), 3))
@VALGRIND
@pytest.mark.parametrize("engine", ENGINES)
def test_examples_access_what_valgrind_traces(name: str, engine: str) -> None:
    command = [str(EXAMPLES / "x86_64" / name), *SMALL[name]]
    made = list(accesses(run(command, addresses=True, engine=engine)))
    expected = traced(*command)
    assert len(made) == len(expected) > 10
    assert [one._replace(address=0) for one in made] == [one._replace(address=0) for one in expected]
    own = [(a.address, b.address) for a, b in zip(made, expected, strict=True) if b.address < NO_STACK]
    assert own and all(a == b for a, b in own)
    stack = {a.address - b.address for a, b in zip(made, expected, strict=True) if b.address >= NO_STACK}
    assert len(stack) <= 2  # both stacks are elsewhere, and so is the memory behind the program (brk)


def accessed(code: str, directory: Path, engine: str) -> list[tuple[int, str, int, int]]:
    """Kind, symbol, offset and size of a program's accesses of its own data."""
    program = assemble(directory, f"{SECTIONS} _start: {code}\n {EXIT}")
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    places = {name: int(address, 16) for address, _, name in (line.split() for line in symbols.splitlines())}
    found = []
    for one in accesses(run([program], addresses=True, engine=engine)):
        for name in ("to", "from"):
            if places[name] <= one.address < places[name] + 4096:
                found.append((one.kind, name, one.address - places[name], one.size))
    return found


@sampled(6)
@each("engine", ENGINES)
@each(
    ("code", "expected"),
    [
        ("mov from+8, %eax", [(1, "from", 8, 4)]),
        ("addl $1, to+4", [(3, "to", 4, 4)]),
        ("movups from+3, %xmm0", [(1, "from", 3, 16)]),
        ("fxsave to", [(2, "to", 0, 512)]),
        ("push from+8\n pop to+16", [(1, "from", 8, 8), (2, "to", 16, 8)]),
        ("mov $from+8, %esi\n mov $to, %edi\n movsl", [(1, "from", 8, 4), (2, "to", 0, 4)]),
        ("mov $from, %esi\n mov $to, %edi\n cmpsb", [(1, "from", 0, 1), (1, "to", 0, 1)]),
        ("mov $from, %esi\n mov $to, %edi\n mov $9, %ecx\n rep movsq", [(1, "from", 0, 72), (2, "to", 0, 72)]),
        ("mov $to, %edi\n mov $4096, %ecx\n rep stosb", [(2, "to", 0, 4096)]),
        ("mov $to, %edi\n mov $1, %ecx\n rep stosb", [(2, "to", 0, 1)]),
        ("mov $to+40, %edi\n mov $5, %ecx\n std\n rep stosq", [(2, "to", 8, 40)]),
        ("mov $from, %edi\n mov $50, %ecx\n xor %eax, %eax\n repe scasb", [(1, "from", 0, 1)]),
        ("mov $to, %edi\n xor %ecx, %ecx\n rep stosb", []),
        ("prefetcht0 from\n lea from, %rax\n nopl from\n clflush from", []),
        ("mov $1f, %eax\n mov %rax, to\n jmp *to\n 1:", [(2, "to", 0, 8), (1, "to", 0, 8)]),
        ("lock cmpxchg %eax, to", [(3, "to", 0, 4)]),
        ("movabs from+8, %eax", [(1, "from", 8, 4)]),
    ],
)
def test_accesses_are_where_the_program_says(
    code: str, expected: list[tuple[int, str, int, int]], engine: str, tmp_path: Path
) -> None:
    found = accessed(code, tmp_path, engine)
    assert (sorted(found) if "cmps" in code else found) == expected  # Intel gives no order to the reads of cmps


def test_a_call_through_memory_reads_it_and_pushes(tmp_path: Path) -> None:
    program = assemble(tmp_path, f".data\n to: .quad 1f\n .text\n _start: call *to\n 1: {EXIT}")
    read, pushed = accesses(run([program], addresses=True))
    assert (read.kind, pushed.kind) == (AccessKind.READ, AccessKind.WRITE) and pushed.address > read.address


def test_an_access_that_faults_was_not_made(tmp_path: Path) -> None:
    program = assemble(tmp_path, f"{SECTIONS} _start: mov from, %eax\n mov %eax, to\n mov %eax, 8\n {EXIT}")
    ran = run([program], addresses=True)
    assert ran.ending is not None and ran.ending.signal == 11
    assert [one.kind for one in accesses(ran)] == [AccessKind.READ, AccessKind.WRITE]


def test_slow_and_whole_blocks_make_the_same_accesses(tmp_path: Path) -> None:
    code = "mov $from, %esi\n mov $to, %edi\n mov $9, %ecx\n rep movsq\n push %rax\n call 1f\n 1: pop %rax"
    program = assemble(tmp_path, f"{SECTIONS} _start: {code}\n {EXIT}")
    whole, slow = (list(accesses(run([program], addresses=True, slow=slow))) for slow in (False, True))
    assert whole == slow and len(whole) == 5
