"""i386 programs under qemu: what they retire, by hand, by gdb and by Valgrind; how they run and end."""

import subprocess
from pathlib import Path

import pytest
from grids import each, sampled
from guests import SMALL
from host_programs import needs
from independent_counts import instructions_by_valgrind, steps
from qemu_guests import ASSEMBLER, EXAMPLES, assemble, expected, faults, instructions, run, run_example

from pfmon.engine.api import ExitReport
from pfmon.program.symbols import SymbolTable
from pfmon.stream._stream import AccessKind, BranchKind, Cut, InstructionSet, Kind

QEMU_I386 = needs("qemu-i386")
pytestmark = [QEMU_I386, ASSEMBLER]

NAMES = sorted(set(SMALL) - {"epic"})
EXIT = "mov $1, %eax\n xor %ebx, %ebx\n int $0x80\n"


def program(directory: Path, text: str, *options: str) -> Path:
    """A static i386 program that begins at _start."""
    return assemble(directory, text, "-m32", *options)


@sampled(6)
@each("name", sorted(expected("i386")))
def test_example_gives_its_output_and_status(name: str, tmp_path: Path) -> None:
    status, output = expected("i386")[name]
    ran, printed = run_example("i386", name, tmp_path)
    assert printed == output
    assert ran.ending == ExitReport(status)
    assert ran.tally.instructions() == ran.retired
    assert ran.guest.instruction_set == InstructionSet.I386


REPEATED = {"sha256": 8}
"""Valgrind counts every iteration of a repeated string instruction, and that there are none left: sha256 has one, of 8
words."""


@pytest.mark.slow
@each("name", NAMES)
@needs("valgrind")
def test_examples_retire_what_valgrind_counts(name: str) -> None:
    command = [str(EXAMPLES / "i386" / name), *SMALL[name]]
    assert run(command).retired == instructions_by_valgrind(*command) - REPEATED.get(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("noploop", "5"), ("queens", "3"), ("hashmap", "8")])
@needs("gdb")
def test_programs_retire_as_many_as_steps_are_made(name: str, size: str, tmp_path: Path) -> None:
    command = [str(EXAMPLES / "i386" / name), size]
    assert run(command).retired == steps(command, tmp_path)


RETIRING = {
    "one-byte inc and dec": ("inc %eax\n inc %edi\n dec %eax\n dec %edi", 4),
    "all registers pushed and popped": ("pushal\n nop\n popal", 3),
    "all halves pushed and popped": ("pushaw\n nop\n popaw", 3),
    "a frame entered and left": ("enter $8, $0\n nop\n leave", 3),
    "bounds that hold": ("mov $5, %eax\n bound %eax, limits\n nop", 3),
    "no overflow": ("xor %eax, %eax\n into\n nop", 3),
    "prefixes of segments": ("mov %ds:limits, %eax\n mov %ss:(%esp), %ebx\n nop", 3),
    "decimal adjustments": ("mov $9, %al\n add $9, %al\n daa\n das\n aaa\n aas\n aam\n aad", 8),
    "a segment register saved": ("push %es\n pop %es\n nop", 3),
    "a far call and its return": ("mov %cs, 4+far\n lcall *far\n jmp 2f\n there: nop\n lret\n 2:", 5),
    "a far jump to a constant": ("ljmp $0x23, $1f\n hlt\n 1: nop", 2),
    "a far return to itself": ("push %cs\n push $1f\n lret\n hlt\n 1: nop", 4),
    "a repeated string instruction": ("mov $limits, %esi\n mov $far, %edi\n mov $8, %ecx\n rep movsb", 4),
    "a loop by ecx": ("mov $3, %ecx\n 1: nop\n loop 1b\n jecxz 2f\n hlt\n 2:", 8),
    "a thunk that reads the address": ("call 1f\n 1: pop %eax\n add $5, %eax", 3),
    "16-bit addresses": ("mov $8, %bx\n lea 2(%bx), %cx\n nop", 3),
    "a system call that fails": ("mov $6, %eax\n mov $-1, %ebx\n int $0x80\n nop", 4),
}
"""Code, and how many instructions it retires."""

LIMITS = "\n .data\n limits: .long 1, 9\n far: .long there, 0\n"


@pytest.mark.slow
@each(("code", "retired"), RETIRING.values(), ids=RETIRING.keys())
def test_instructions_of_i386_retire(code: str, retired: int, tmp_path: Path) -> None:
    unused = "" if "there:" in code else "there: hlt"
    made = program(tmp_path, f"_start: nop\n {code}\n {EXIT}\n {unused} {LIMITS}")
    for slow in (False, True):
        ran = run([made], slow=slow)
        assert ran.ending == ExitReport(0)
        assert ran.retired == ran.tally.instructions() == 1 + retired + 3
        assert faults(ran) == 0


FAULTING = {
    "a store in the middle": ("mov $5, %eax\n xor %ebx, %ebx\n mov (%esp), %edx\n mov %eax, (%ebx)\n inc %eax", 3, 11),
    "a push of all registers": ("mov $64, %esp\n nop\n pushal\n inc %eax", 2, 11),
    "a frame's first store": ("mov $64, %esp\n enter $8, $0\n inc %eax", 1, 11),
    "bounds that do not hold": ("mov $50, %eax\n bound %eax, limits\n nop", 1, 11),
    "a return": ("mov $5, %eax\n xor %esp, %esp\n ret", 2, 11),
    "a call's target": ("xor %eax, %eax\n call *%eax", 2, 11),
    "a division": ("xor %edx, %edx\n xor %ecx, %ecx\n div %ecx\n nop", 2, 8),
    "an undefined instruction": ("mov $5, %eax\n nop\n ud2", 2, 4),
    "sysenter, which user programs have no stack for": ("nop\n nop\n sysenter", 2, 11),
    "an interrupt that is not theirs": ("nop\n int $0x21\n nop", 1, 11),
    "a breakpoint, which is a trap": ("nop\n int3", 2, 5),
    "a breakpoint of two bytes, which is a trap": ("nop\n .byte 0xcd, 3\n nop", 2, 5),
}


@pytest.mark.slow
@each(("code", "retired", "signal"), FAULTING.values(), ids=FAULTING.keys())
def test_instruction_that_faults_does_not_retire(code: str, retired: int, signal: int, tmp_path: Path) -> None:
    ran = run([program(tmp_path, f"_start: {code}\n jmp _start\n there: nop {LIMITS}")])
    assert ran.ending is not None and ran.ending.signal == signal and ran.ending.status == 128 + signal
    assert ran.retired == ran.tally.instructions() == retired
    assert faults(ran) == 1


HANDLED = """
_start: mov $174, %eax           # rt_sigaction(SIGSEGV)
        mov $11, %ebx
        mov $action, %ecx
        xor %edx, %edx
        mov $8, %esi
        int $0x80
        xor %edi, %edi
        nop
        FAULTING
        mov $1, %eax
        xor %ebx, %ebx
        int $0x80
handler: mov 12(%esp), %ecx      # the third argument: the context
        movl $cell, 36(%ecx)     # its edi
        ret
restorer: mov $173, %eax         # rt_sigreturn
        int $0x80
        .data
        .balign 8
action: .long handler, 0x44000000 | 4, restorer, 0, 0
cell:   .long 7, 7, 7, 7, 7, 7, 7, 7
"""


@pytest.mark.parametrize(
    ("faulting", "retired"),
    [("mov (%edi), %eax", 1), ("lock incl (%edi)", 1), ("mov $4, %ecx\n rep stosl", 2), ("mov %edi, (%edi)\n nop", 2)],
)
def test_instruction_that_faults_and_is_run_again_retires_once(faulting: str, retired: int, tmp_path: Path) -> None:
    ran = run([program(tmp_path, HANDLED.replace("FAULTING", faulting))])
    assert ran.ending == ExitReport(0)
    assert ran.retired == ran.tally.instructions() == 8 + 3 + 2 + retired + 3
    assert faults(ran) == 1


CHANGING = """
_start: mov $3, %ecx
1:      nop
        movb $0x43, 2f           # makes it inc %ebx
        nop
2:      inc %eax
        dec %ecx
        jnz 1b
        mov $1, %eax
        int $0x80
"""


def test_code_that_changes_itself(tmp_path: Path) -> None:
    """The block is left before the store into it, which is executed first in another; that is no fault."""
    ran = run([program(tmp_path, CHANGING, "-Wl,-N")])
    assert ran.ending is not None and ran.ending.status == 3
    assert ran.retired == ran.tally.instructions() == 1 + 3 * 6 + 2
    assert faults(ran) == 0
    assert Cut.EDGE in {ran.guest.table.block(number).cut for number in ran.guest.table.numbers()}


FORKING = f"""
_start: mov $2, %eax             # fork
        int $0x80
        test %eax, %eax
        jz child
        mov %eax, %ebx
        mov $7, %eax             # waitpid
        mov $status, %ecx
        xor %edx, %edx
        int $0x80
        movzbl status+1, %ebx
        mov $1, %eax
        int $0x80
child:  mov $100000, %ecx
1:      loop 1b
        mov $9, %ebx
        mov $1, %eax
        int $0x80
        {EXIT}
        .data
status: .long 0
"""


def test_children_of_the_program_do_not_count(tmp_path: Path) -> None:
    ran = run([program(tmp_path, FORKING)])
    assert ran.ending is not None and ran.ending.status == 9
    assert ran.retired == ran.tally.instructions() == 12


THREADS = """
_start: mov $120, %eax           # clone, as a thread
        mov $0x50f00, %ebx       # CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM
        mov $stack, %ecx
        int $0x80
        test %eax, %eax
        jz thread
1:      cmpl $0, done
        je 1b
        mov $252, %eax           # exit_group
        mov sum, %ebx
        int $0x80
thread: mov $1000, %ecx
2:      lock incl sum
        loop 2b
        movl $232, sum           # 1000 is 232 modulo 256
        movl $1, done
        mov $1, %eax
        int $0x80
        .data
        .space 4096
stack:  .long 0
sum:    .long 0
done:   .long 0
"""


def test_threads_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    ran = run([program(tmp_path, THREADS)])
    assert ran.ending is not None and ran.ending.status == 232
    assert ran.tally.instructions() == ran.retired
    runs: dict[str, int] = {}
    for number in ran.guest.table.numbers():
        for one in ran.guest.table.block(number).instructions:
            name = one.payload[: one.length].hex()
            runs[name] = runs.get(name, 0) + ran.tally.runs(number)
    assert runs["e2f7"] == 1000  # loop; the instruction before it has 7 bytes


def test_program_that_becomes_another_says_so(tmp_path: Path) -> None:
    notices: list[str] = []
    code = "mov $11, %eax\n mov $name, %ebx\n mov $words, %ecx\n xor %edx, %edx\n int $0x80\n hlt"
    data = '.data\n name: .asciz "/bin/false"\n words: .long name, 0'
    ran = run([program(tmp_path, f"_start: {code}\n {data}")], notices=notices)
    assert ran.ending is not None and ran.ending.status == 1
    assert notices == ["the program executed another one, which was not counted"]


PASSED_ON = """
_start: mov (%esp), %ebp         # argc: argv[1], then the first variable
        mov 8(%esp), %ecx
        call write
        lea 8(%esp, %ebp, 4), %ecx
        mov (%ecx), %ecx
        call write
        mov $3, %eax             # what is read is written
        xor %ebx, %ebx
        mov $buffer, %ecx
        mov $4, %edx
        int $0x80
        call write
        mov %ebp, %ebx
        mov $1, %eax
        int $0x80
write:  mov $4, %eax
        mov $1, %ebx
        mov $4, %edx
        int $0x80
        ret
        .bss
buffer: .space 8
"""


def test_arguments_environment_and_standard_streams_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("read")
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as out:
        files = (given.fileno(), out.fileno(), 2)
        ran = run([program(tmp_path, PASSED_ON), "-x,y", "z"], environment=[b"AB=1", b"C=2"], files=files)
    assert (tmp_path / "out").read_text() == "-x,yAB=1read"
    assert ran.ending == ExitReport(3)


@pytest.mark.parametrize("link", [("-no-pie",), ("-pie", "-fPIE")], ids=["fixed", "position-independent"])
def test_dynamic_program_is_where_its_image_says(link: tuple[str, ...], tmp_path: Path) -> None:
    """An interpreter of the test's own goes to the program's entry, which is on the stack (AT_ENTRY, 9), behind one
    argument and no environment."""
    (tmp_path / "source").mkdir()
    find = "lea 8(%esp), %eax\n 1: add $8, %eax\n cmpl $9, (%eax)\n jne 1b\n jmp *4(%eax)"
    loader = assemble(tmp_path / "source", f"_start: {find}", "-m32", "-static-pie", "-Wl,-z,norelro")
    options = [*link, f"-Wl,-dynamic-linker={loader}", "-Wl,-e,_start"]
    source = tmp_path / "main.S"
    source.write_text(f".globl _start, main\n .type main, @function\n _start: nop\n main: {EXIT}")
    library = tmp_path / "libnone.so"
    subprocess.run(["cc", "-m32", "-shared", "-nostdlib", "-o", library, source], check=True, capture_output=True)
    needed = ["-Wl,--no-as-needed", library]
    made = tmp_path / "dynamic"
    subprocess.run(["cc", "-m32", "-nostdlib", *options, "-o", made, source, *needed], check=True, capture_output=True)
    ran = run([made])
    assert ran.ending == ExitReport(0)
    image = ran.guest._wanted.program
    assert image.interpreter is not None
    ips = [ran.guest.table.block(number).ip for number in ran.guest.table.numbers()]
    assert ips[0] == image.interpreter.entry
    assert image.image.entry in ips
    main = SymbolTable(image.image.data, image.image.bias).find("main")
    assert main is not None and main.address == image.image.entry + 1


L, S, B = Kind.LOAD, Kind.STORE, Kind.BRANCH
ACCESS = {0: AccessKind.NO_ACCESS, L: AccessKind.READ, S: AccessKind.WRITE, L | S: AccessKind.READ_WRITE}
INSTRUCTIONS = {
    "push %eax": (S, 4), "pop %eax": (L, 4), "pushl 8(%esp)": (L | S, 4), "pushal": (S, 32), "pushfl": (S, 4),
    "inc %eax": (0, 0), "dec %edi": (0, 0), "enter $8, $0": (S, 4), "leave": (L, 4), "incl (%esp)": (L | S, 4),
    "bound %eax, limits": (L, 8), "fldt (%esp)": (L | Kind.FLOAT, 10), "movsl": (L | S, 4),
    "fadd %st(1), %st": (Kind.FLOAT | Kind.FP_OPERATION, 0), "cpuid": (Kind.SERIALIZE, 0),
    "mov limits, %eax": (L, 4), "lea 4(%esp), %eax": (0, 0), "xlatb": (L, 1),
}  # fmt: skip


@sampled(8)
@each("code", INSTRUCTIONS)
def test_instruction_is_described(code: str, tmp_path: Path) -> None:
    before = "sub $2048, %esp\n mov %esp, %ebp\n mov %esp, %esi\n mov %esp, %edi\n mov %esp, %ebx\n mov $5, %eax"
    ran = run([program(tmp_path, f"_start: {before}\n {code}\n {EXIT} there: nop {LIMITS}")])
    assert ran.ending is not None and ran.ending.status == 0
    one = sorted(instructions(ran).items())[6][1]
    kinds, size = INSTRUCTIONS[code]
    assert (Kind(one.kind), one.size, one.access | one.second) == (Kind(kinds), size, ACCESS[kinds & (L | S)])


BRANCHES = {
    "jmp there": (B | Kind.RELATIVE, BranchKind.DIRECT),
    "jecxz there": (B | Kind.RELATIVE, BranchKind.DIRECT),
    "call there": (B | Kind.RELATIVE | Kind.CALL | S, BranchKind.DIRECT_CALL),
    "call *far": (B | Kind.INDIRECT | Kind.CALL | S | L, BranchKind.INDIRECT_CALL),
    "jmp *%eax": (B | Kind.INDIRECT, BranchKind.INDIRECT_JUMP),
    "push %eax\n ret": (B | Kind.INDIRECT | Kind.RETURN | L, BranchKind.RETURN_BRANCH),
    "int $0x80": (Kind.SYSTEM, BranchKind.NO_BRANCH),
}


@each("code", BRANCHES)
def test_branches_are_described(code: str, tmp_path: Path) -> None:
    ran = run([program(tmp_path, f"_start: mov $there, %eax\n {code}\n there: {EXIT} {LIMITS}")])
    last = ran.guest.table.block(0).instructions[-1]
    assert (Kind(last.kind), last.branch) == (Kind(BRANCHES[code][0]), BRANCHES[code][1])
    assert last.condition == (0 if code == "jecxz there" else None)


def test_listing_is_that_of_the_code_that_ran(tmp_path: Path) -> None:
    ran = run([program(tmp_path, f"_start: inc %eax\n {EXIT}")])
    start = ran.guest._wanted.program.entry
    texts = ["inc eax", "mov eax, 1", "xor ebx, ebx", "int 0x80"]
    assert [text for _, text in ran.guest.listing(start, start + 100)] == texts
