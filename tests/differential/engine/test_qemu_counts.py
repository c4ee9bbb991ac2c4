"""What qemu's programs retire: as counted by hand in small programs, and by Valgrind in the examples."""

from pathlib import Path

import pytest
from grids import each, first_quick, sampled
from guests import SMALL
from host_programs import needs
from independent_counts import instructions_by_valgrind, steps, valgrind
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, assemble, counted, faults, run

from pfmon.engine.api import ExitReport
from pfmon.stream._stream import Cut, Kind

pytestmark = [QEMU, ASSEMBLER]

EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"


VALGRIND = needs("valgrind")
NAMES = sorted(set(SMALL) - {"epic"})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@VALGRIND
def test_examples_retire_what_valgrind_counts(name: str) -> None:
    command = [str(EXAMPLES / "x86_64" / name), *SMALL[name]]
    assert counted(command).retired == instructions_by_valgrind(*command)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@VALGRIND
def test_loads_stores_and_branches_are_what_valgrind_counts(name: str) -> None:
    """Cachegrind takes what changes a place in memory (``add %eax, (%rdi)``) for a read alone."""
    command = [str(EXAMPLES / "x86_64" / name), *SMALL[name]]
    options = ["--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--cachegrind-out-file=/dev/null"]
    number = r"([\d,]+)"
    pattern = rf"D\s+refs:.*\(\s*{number} rd\s*\+\s*{number} wr\)[\s\S]*Branches:.*\(\s*{number} cond"
    ran = run(command)
    counts = [0, 0, 0]
    for block in map(ran.guest.table.block, ran.guest.table.numbers()):
        for one in block.instructions:
            changes = one.kind & Kind.LOAD and not one.kind & Kind.BRANCH
            signs = (one.kind & Kind.LOAD, one.kind & Kind.STORE and not changes, one.condition is not None)
            for place, sign in enumerate(signs):
                counts[place] += ran.tally.runs(block.number) if sign else 0
    assert counts == valgrind(pattern, *options, *command)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("noploop", "5"), ("queens", "3"), ("hashmap", "8")])
@needs("gdb")
def test_programs_retire_as_many_as_steps_are_made(name: str, size: str, tmp_path: Path) -> None:
    command = [str(EXAMPLES / "x86_64" / name), size]
    assert run(command).retired == steps(command, tmp_path)


@pytest.mark.parametrize("name", first_quick(["lz", "sort", "strings"]))
def test_counts_are_the_same_twice_and_instruction_by_instruction(name: str) -> None:
    command = [EXAMPLES / "x86_64" / name, *SMALL[name]]
    runs = [run(command), run(command), run(command, slow=True)]
    assert len({ran.retired for ran in runs}) == 1
    assert runs[0].words == runs[1].words
    for ran in runs:
        assert ran.tally.instructions() == ran.retired


FAULTING = {
    "a store in the middle": ("mov $5, %eax\n xor %ebx, %ebx\n mov (%rsp), %rdx\n mov %eax, (%rbx)\n inc %eax", 3, 11),
    "the first instruction": ("jmp 1f\n 1: mov %rax, 0\n nop", 1, 11),
    "the store of add": ("mov $1, %eax\n nop\n add %eax, _start(%rip)\n nop", 2, 11),
    "a return": ("mov $5, %eax\n xor %esp, %esp\n ret", 2, 11),
    "a call's store": ("mov $16, %esp\n nop\n call *1f(%rip)\n 1: .quad _start", 2, 11),
    "a call's target": ("xor %eax, %eax\n call *%rax", 2, 11),
    "a return's target": ("xor %eax, %eax\n push %rax\n ret", 3, 11),
    "a division": ("xor %edx, %edx\n xor %ecx, %ecx\n div %ecx\n nop", 2, 8),
    "an undefined instruction": ("mov $5, %eax\n nop\n ud2", 2, 4),
    "a privileged instruction": ("mov $5, %eax\n hlt", 1, 11),
    "a string instruction": ("lea _start-64(%rip), %rdi\n mov $9, %ecx\n rep stosq\n nop", 2, 11),
    "a breakpoint, which is a trap": ("nop\n int3", 2, 5),
}


@sampled(6)
@each(("code", "retired", "signal"), FAULTING.values(), ids=FAULTING.keys())
def test_instruction_that_faults_does_not_retire(code: str, retired: int, signal: int, tmp_path: Path) -> None:
    ran = counted([assemble(tmp_path, f"_start: {code}\n jmp _start")])
    assert ran.ending is not None and ran.ending.signal == signal and ran.ending.status == 128 + signal
    assert ran.retired == ran.tally.instructions() == retired
    assert faults(ran) == 1


def test_place_of_a_fault_is_named(tmp_path: Path) -> None:
    ran = run([assemble(tmp_path, "_start: nop\n here: nop\n mov %eax, 0\n nop")])
    assert ran.ending is not None and ran.ending.where.endswith("(here+0x1)")
    assert ran.ending.text == "Segmentation fault"


@pytest.mark.slow
@each("length", [254, 255, 256, 300, 510, 511, 512, 513, 700])
def test_long_block_retires_up_to_its_fault(length: int, tmp_path: Path) -> None:
    """qemu's blocks are longer than those of the stream."""
    ran = counted([assemble(tmp_path, f"_start: .rept {length}\n inc %eax\n .endr\n mov %eax, 0\n nop\n jmp _start")])
    assert ran.retired == ran.tally.instructions() == length


EDGES = {"rol $17, %rax": 4, "movabs $0x123456789abcdef, %rax": 10, "mov %eax, 0x1234(%rsp,%rbx,4)": 7, "push $1000": 5}
"""Instructions, and their bytes."""


@pytest.mark.slow
@each(("crossing", "before"), [(one, before) for one, size in EDGES.items() for before in range(size + 1)])
def test_instruction_across_the_end_of_a_page_retires_once(crossing: str, before: int, tmp_path: Path) -> None:
    """qemu ends a block before it, and reports what it read of it as part of that block."""
    start = f"sub $65536, %rsp\n xor %ebx, %ebx\n jmp 1f\n .balign 4096\n .skip 4096 - {before} - 12, 0x90"
    code = f"{start}\n 1: mov (%rsp), %ecx\n nop\n mov %ecx, 0x40(%rsp)\n nop\n nop\n nop\n nop"
    ran = counted([assemble(tmp_path, f"_start: {code}\n {crossing}\n nop\n {EXIT}")])
    assert ran.ending == ExitReport(0)
    assert ran.retired == ran.tally.instructions() == 3 + 7 + 1 + 1 + 3
    assert faults(ran) == 0


@sampled(6)
@each("count", [0, 1, 1000])
@each("instruction", ["rep movsb", "rep stosq", "repne scasb", "repe cmpsb", "rep lodsl"])
def test_repeated_string_instruction_retires_once(instruction: str, count: int, tmp_path: Path) -> None:
    code = f"_start: lea buffer(%rip), %rsi\n lea buffer+9000(%rip), %rdi\n mov ${count}, %ecx\n {instruction}\n {EXIT}"
    ran = counted([assemble(tmp_path, f"{code}\n .bss\n buffer: .space 20000")])
    assert ran.ending == ExitReport(0)
    assert ran.retired == ran.tally.instructions() == 7


def test_string_instruction_that_is_jumped_to_retires_every_time(tmp_path: Path) -> None:
    loop = "mov $4, %edx\n 1: mov $3, %ecx\n 2: rep stosb\n mov $2, %ecx\n dec %edx\n jnz 2b\n"
    ran = counted([assemble(tmp_path, f"_start: lea buffer(%rip), %rdi\n {loop} {EXIT}\n .bss\n buffer: .space 64")])
    assert ran.retired == 3 + 4 * 4 + 3


HANDLED = """
_start: lea action(%rip), %rsi
        mov $13, %eax            # rt_sigaction(SIGSEGV)
        mov $11, %edi
        xor %edx, %edx
        mov $8, %r10d
        syscall
        xor %edi, %edi
        lea cell(%rip), %rsp
        sub $2048, %rsp
        nop
        FAULTING
        mov $60, %eax
        xor %edi, %edi
        syscall
handler: lea cell(%rip), %rcx
        mov %rcx, 112(%rsp)      # rdi in the signal frame
        ret
restorer: mov $15, %eax          # rt_sigreturn
        syscall
        .data
        .balign 8
action: .quad handler, 0x44000000 | 4, restorer, 0
        .space 16384
cell:   .quad 7, 7, 7, 7, 7, 7, 7, 7
"""


@pytest.mark.parametrize(
    ("faulting", "retired"),
    [("mov (%rdi), %rax", 1), ("lock incl (%rdi)", 1), ("mov $4, %ecx\n rep stosq", 2), ("mov %edi, (%rdi)\n nop", 2)],
)
def test_instruction_that_faults_and_is_run_again_retires_once(faulting: str, retired: int, tmp_path: Path) -> None:
    program = assemble(tmp_path, HANDLED.replace("FAULTING", faulting))
    ran = run([program]) if "rep" in faulting else counted([program])
    assert ran.ending == ExitReport(0)
    assert ran.retired == ran.tally.instructions() == 10 + 3 + 2 + retired + 3
    assert faults(ran) == 1


CHANGING = """
_start: mov $3, %ecx
1:      nop
        movb $0xc3, 2f+1(%rip)   # makes it inc %ebx
        nop
2:      inc %eax
        dec %ecx
        jnz 1b
        mov %ebx, %edi
        mov $60, %eax
        syscall
"""


def test_code_that_changes_itself(tmp_path: Path) -> None:
    """A store into its own block ends that before it; where it goes on there is no fault."""
    ran = counted([assemble(tmp_path, CHANGING, "-Wl,-N")])
    assert ran.ending is not None and ran.ending.status == 3
    assert ran.retired == ran.tally.instructions() == 1 + 3 * 6 + 3
    assert faults(ran) == 0
    table = ran.guest.table
    assert Cut.EDGE in {table.block(number).cut for number in table.numbers()}


def test_conditional_branches_are_taken_or_not(tmp_path: Path) -> None:
    ran = counted([assemble(tmp_path, f"_start: mov $10, %ecx\n 1: dec %ecx\n jnz 1b\n 2: {EXIT}")])
    table = ran.guest.table
    taken = {}
    for number in table.numbers():
        block = table.block(number)
        if block.instructions[-1].condition is not None:
            address = block.instructions[-1].address
            runs, times = taken.get(address, (0, 0))
            taken[address] = runs + ran.tally.runs(number), times + ran.tally.executed(number)[0]
    assert list(taken.values()) == [(10, 9)]
