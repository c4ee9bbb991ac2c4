"""PowerPC programs under qemu: what they retire, by hand and by qemu's own log; how they run and end."""

from collections import Counter
from pathlib import Path

import pytest
from grids import each, few, first_quick, sampled
from guests import SMALL
from ppc_programs import (
    CODE,
    DATA,
    HEADERS,
    PPC_ASSEMBLER,
    QEMU_PPC64,
    READ_ONLY,
    TARGETS,
    Target,
    executed,
    has_qemu,
    is_load,
    is_store,
    machine_code,
    machine_codes,
    ppc_program,
    write_elf,
)
from qemu_guests import EXAMPLES, expected, faults, run, run_example

import pfmon
from pfmon.engine.api import ExitReport
from pfmon.program.symbols import SymbolTable
from pfmon.stream._stream import InstructionSet, Kind

pytestmark = [QEMU_PPC64]

NAMES = sorted(set(SMALL) - {"epic"})
EXIT = "li 0, 1\n li 3, 0\n sc\n"


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the three, if qemu is here for it."""
    name: str = request.param
    if not has_qemu(name):
        pytest.skip(f"qemu-{name} is not here (package qemu-user)")
    return TARGETS[name]


@sampled(7)
@each("name", sorted(expected("ppc64")))
def test_example_gives_its_output_and_status(name: str, tmp_path: Path) -> None:
    status, output = expected("ppc64")[name]
    ran, printed = run_example("ppc64", name, tmp_path)
    assert printed == output
    assert ran.ending == ExitReport(status)
    assert ran.tally.instructions() == ran.retired
    assert ran.guest.instruction_set == InstructionSet.PPC64


def is_branch(word: int) -> bool:
    """By the primary opcodes b and bc, and bclr and bcctr of 19."""
    return word >> 26 in (16, 18) or (word >> 26 == 19 and word >> 1 & 1023 in (16, 528))


def is_floating(word: int) -> bool:
    """Primary opcodes 59 and 63 have all floating-point instructions but loads and stores."""
    return word >> 26 in (59, 63)


def is_integer(word: int) -> bool:
    """tdi, twi, mulli ... addis, rlwimi ... andis., rldicl ...; of 31 all that does not access memory."""
    primary = word >> 26
    if primary == 31:
        return not (is_load(word) or is_store(word))
    return primary in (2, 3, 7, 8, *range(10, 16), 20, 21, *range(23, 31))


EVENTS = {
    "instructions_completed": lambda word: True,
    "branches_completed": is_branch,
    "loads_completed": is_load,
    "fp_instructions_completed": is_floating,
    "integer_instructions_completed": is_integer,
}
QUICK = ("fib", "nbody", "sort")


@pytest.mark.parametrize(
    "name", first_quick(few([pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in NAMES], 3))
)
def test_events_are_what_qemu_says_it_executes(name: str, tmp_path: Path) -> None:
    """qemu's log of blocks, whose instructions are told by opcode here."""
    command = [str(EXAMPLES / "ppc64" / name), *SMALL[name]]
    counts = dict.fromkeys(EVENTS, 0)
    stores = 0
    for block, runs in Counter(map(tuple, executed(command, tmp_path))).items():
        words = [word for _, word in block]
        stores += runs * sum(map(is_store, words))
        for event, is_meant in EVENTS.items():
            counts[event] += runs * sum(map(is_meant, words))
    for pmu in ("ppc604e", "ibm1994"):
        done = pfmon.run(command, events=[*counts], unlimited=True, pmu=pmu, stdout=pfmon.DEVNULL)
        assert {one.name.lower(): one.value for one in done.counts} == counts
    ran = run(command)
    table = ran.guest.table
    found = sum(
        ran.tally.runs(n) for n in table.numbers() for one in table.block(n).instructions if one.kind & Kind.STORE
    )
    assert found == stores


@pytest.mark.parametrize("name", first_quick(["lz", "strings"]))
def test_counts_are_the_same_twice_and_instruction_by_instruction(name: str) -> None:
    command = [EXAMPLES / "ppc64" / name, *SMALL[name]]
    runs = [run(command), run(command), run(command, slow=True)]
    assert len({ran.retired for ran in runs}) == 1
    assert runs[0].words == runs[1].words
    assert all(ran.tally.instructions() == ran.retired for ran in runs)


def test_functions_and_triggers_are_found_through_descriptors() -> None:
    command = [str(EXAMPLES / "ppc64" / "queens"), "5"]
    done = pfmon.run(command, events="instructions_completed", stdout=pfmon.DEVNULL, per_function=True)
    data = Path(command[0]).read_bytes()
    main = SymbolTable(data).find("main")
    assert main is not None and main.address == 0x10000180  # in .text: readelf -SW; the descriptor's first word
    started = pfmon.run(
        command, events="instructions_completed", stdout=pfmon.DEVNULL, trigger_code_start_addresses="main"
    )
    # _start has 6 instructions before main (start-ppc64.S), its prologue's `bl main` among them.
    assert started.counts[0].value == done.counts[0].value - 6


RETIRING = {
    "a loop by the count register": ("li 4, 5\n mtctr 4\n 1: nop\n bdnz 1b", 2 + 10),
    "a loop that counts and tests": ("li 4, 5\n mtctr 4\n cmpwi 4, 5\n 1: nop\n bdnzt 2, 1b", 3 + 10),
    "a branch always by bc": ("bc 20, 0, 1f\n trap\n 1: nop", 2),
    "a call and its return": ("b 2f\n 1: nop\n blr\n 2: bl 1b", 4),
    "its own address": ("bcl 20, 31, 1f\n 1: mflr 5", 2),
    "a call through the count register": ("bcl 20, 31, 1f\n 1: mflr 5\n addi 5, 5, 28\n mtctr 5\n bctrl\n b 2f\n"
                                          " trap\n trap\n blr\n 2: nop", 8),
    "a conditional return": ("b 2f\n 1: cmpwi 3, 0\n beqlr\n nop\n blr\n"
                             " 2: li 3, 0\n bl 1b\n li 3, 1\n bl 1b", 1 + 4 + 6),
    "multiple registers": ("stmw 28, 0(9)\n lmw 28, 0(9)", 2),
    "strings": ("stswi 4, 9, 10\n lswi 4, 9, 10\n nop", 3),
    "a reservation": ("1: lwarx 5, 0, 9\n addi 5, 5, 1\n stwcx. 5, 0, 9\n bne 1b", 4),
    "caches and order": ("dcbt 0, 9\n dcbz 0, 9\n dcbst 0, 9\n dcbf 0, 9\n icbi 0, 9\n sync\n isync\n eieio", 8),
    "traps that do not trap": ("li 4, 1\n tweq 4, 9\n twi 4, 4, 9\n nop", 4),
    "floating point": ("lfd 1, 0(9)\n fadd 2, 1, 1\n fmr 3, 2\n fcmpu 0, 1, 2\n stfd 3, 8(9)\n fcmpo 0, 1, 2", 6),
    "sums with overflow": ("li 4, 1\n .long 0x7c842614\n .long 0x7ca42450\n .long 0x7cc425d6\n .long 0x7ce427d6", 5),
    "the condition register": ("mfcr 4\n mtcrf 255, 4\n crand 0, 1, 2\n mcrf 0, 1\n cror 3, 3, 3", 5),
    "a system call that fails": ("li 0, 6\n li 3, -1\n sc\n nop", 4),
    "a loop of system calls": ("li 14, 3\n 1: li 0, 20\n sc\n addic. 14, 14, -1\n bne 1b", 1 + 12),
}  # fmt: skip
"""Code, and how many instructions it retires; r9 has the address of zeros."""

START = f"lis 9, {DATA >> 16}\n"


def retiring(target: Target) -> dict[str, bytes]:
    """The programs of that target by name, assembled together."""
    texts = {name: f"{START} {text}\n {EXIT}" for name, (text, _) in RETIRING.items() if is_for(target, name)}
    codes = machine_codes(tuple(texts.values()), target)
    return {name: codes[text] for name, text in texts.items()}


def is_for(target: Target, name: str) -> bool:
    """Multiple registers and strings are for big-endian programs."""
    return target.order == ">" or not ("multiple" in name or name == "strings")


@pytest.mark.slow
@PPC_ASSEMBLER
@pytest.mark.parametrize("code", RETIRING)
def test_instructions_retire(code: str, target: Target, tmp_path: Path) -> None:
    _, retired = RETIRING[code]
    if not is_for(target, code):
        pytest.skip("these are for big-endian programs")
    program = write_elf(tmp_path / "program", retiring(target)[code], target)
    for slow in (False, True):
        ran = run([program], slow=slow)
        assert ran.ending == ExitReport(0)
        assert ran.retired == ran.tally.instructions() == 1 + retired + 3
        assert faults(ran) == 0


FAULTING = {
    "a store in the middle": ("li 4, 5\n lwz 5, 0(9)\n stw 4, 0(0)\n nop", 2, 11),
    "the first instruction": ("b 1f\n 1: lwz 4, 0(0)\n nop", 1, 11),
    "a store to a page for reading": (f"lis 4, {READ_ONLY >> 16}\n stw 4, 8(4)\n nop", 1, 11),
    "a branch's target": ("li 4, 0\n mtctr 4\n bctr", 3, 11),
    "a return's target": ("li 4, 0\n mtlr 4\n blr", 3, 11),
    "a trap": ("nop\n trap", 1, 5),
    "a trap on a condition": ("li 4, 5\n twi 4, 4, 5\n nop", 1, 5),
    "an illegal instruction": ("nop\n .long 0\n nop", 1, 4),
    "a privileged instruction": ("nop\n mfmsr 4\n nop", 1, 4),
    "a load of multiple registers": ("li 4, 8\n lmw 30, 0(4)\n nop", 1, 11),
}


def faulting(target: Target) -> dict[str, bytes]:
    """The programs of that target by name, assembled together."""
    texts = {name: f"{START} {text}\n b ." for name, (text, *_) in FAULTING.items() if is_for(target, name)}
    codes = machine_codes(tuple(texts.values()), target)
    return {name: codes[text] for name, text in texts.items()}


@pytest.mark.slow
@PPC_ASSEMBLER
@pytest.mark.parametrize("code", FAULTING)
def test_instruction_that_faults_does_not_retire(code: str, target: Target, tmp_path: Path) -> None:
    _, retired, signal = FAULTING[code]
    if not is_for(target, code):
        pytest.skip("these are for big-endian programs")
    ran = run([write_elf(tmp_path / "program", faulting(target)[code], target)])
    assert ran.ending is not None and ran.ending.signal == signal
    assert ran.retired == ran.tally.instructions() == 1 + retired
    assert faults(ran) == 1


@PPC_ASSEMBLER
@pytest.mark.parametrize("invalid", [False, True], ids=["masked", "enabled"])
def test_floating_point_exception_that_is_enabled_is_a_fault(invalid: bool, tmp_path: Path) -> None:
    """FPSCR[VE], bit 24: zero by zero is then a program interrupt (Power ISA, book I, section 4.4.1)."""
    enable = "mtfsb1 24" if invalid else "mtfsb0 24"
    ran = run([ppc_program(tmp_path, f"{START} {enable}\n lfd 1, 0(9)\n fdiv 2, 1, 1\n nop\n nop\n {EXIT}")])
    assert ran.ending is not None and ran.ending.signal == (8 if invalid else 0)
    assert ran.retired == ran.tally.instructions() == (3 if invalid else 9)


@pytest.mark.slow
@PPC_ASSEMBLER
@each("length", [254, 255, 256, 511, 512, 513, 700])
def test_long_block_retires_up_to_its_fault(length: int, tmp_path: Path) -> None:
    """qemu's blocks are longer than those of the stream."""
    ran = run([ppc_program(tmp_path, f".rept {length}\n addi 4, 4, 1\n .endr\n stw 4, 0(0)\n nop\n b .")])
    assert ran.retired == ran.tally.instructions() == length


@PPC_ASSEMBLER
@pytest.mark.parametrize("last", first_quick(["addi 4, 4, 1", "stw 4, 0(9)", "fadd 1, 1, 1"]))
def test_block_that_ends_with_its_page_retires_once(last: str, tmp_path: Path) -> None:
    before = (4096 - HEADERS) // 4 - 3
    text = f"{START} b 1f\n .rept {before}\n nop\n .endr\n 1: {last}\n nop\n nop\n {EXIT}"
    ran = run([ppc_program(tmp_path, text)])
    assert ran.retired == ran.tally.instructions() == 2 + 3 + 3
    assert faults(ran) == 0


HANDLED = f"""
        bcl 20, 31, 1f
1:      mflr 5
        addi 5, 5, handler-1b
        ST 5, 0(9)               # the action: handler, flags, restorer, mask
        li 0, 173                # rt_sigaction(SIGSEGV)
        li 3, 11
        mr 4, 9
        li 5, 0
        li 6, 8
        sc
        lis 14, {READ_ONLY >> 16}
        nop
        FAULTING
        {EXIT}
handler: li 0, 125               # mprotect
        lis 3, {READ_ONLY >> 16}
        li 4, 4096
        li 5, 3
        sc
        blr
"""
FAULTING_ONCE = [
    ("stw 3, 0(14)", 1),
    ("nop\n stw 3, 0(14)\n nop", 3),
    (
        "1: lwarx 5, 0, 14\n stwcx. 5, 0, 14\n bne 1b",
        6,
    ),  # the reservation is lost, so that it is stored the second time
]


@PPC_ASSEMBLER
@pytest.mark.parametrize(("faulting", "retired"), first_quick(FAULTING_ONCE))
def test_instruction_that_faults_and_is_run_again_retires_once(
    faulting: str, retired: int, target: Target, tmp_path: Path
) -> None:
    """The kernel's return from the handler has two instructions."""
    store = "std" if target.bits == 64 else "stw"
    ran = run(
        [ppc_program(tmp_path, START + HANDLED.replace("FAULTING", faulting).replace("ST 5", f"{store} 5"), target)]
    )
    assert ran.ending == ExitReport(0)
    assert ran.retired == ran.tally.instructions() == 1 + 12 + 6 + 2 + retired + 3
    assert faults(ran) == 1


CHANGING = f"""
        lis 5, {CODE >> 16}
        ori 5, 5, {HEADERS} + 48 # the address of the second `addi`, which becomes `addi 4, 4, 16`
        lis 6, 0x3884
        ori 6, 6, 16
        li 4, 0
        li 7, 2
        mtctr 7
        b 1f
        nop
        nop
        nop
        nop
1:      addi 4, 4, 1
        stw 6, 0(5)
        icbi 0, 5
        sync
        isync
        bdnz 1b
        li 0, 1
        mr 3, 4
        sc
"""


@PPC_ASSEMBLER
def test_code_that_changes_itself(target: Target, tmp_path: Path) -> None:
    ran = run([ppc_program(tmp_path, CHANGING, target)])
    assert ran.ending is not None and ran.ending.status == 17
    assert ran.retired == ran.tally.instructions() == 8 + 2 * 6 + 3
    assert faults(ran) == 0


FORKING = f"""
        li 0, 2                  # fork
        sc
        cmpwi 3, 0
        beq 1f
        li 0, 114                # wait4
        li 4, 0
        li 5, 0
        li 6, 0
        sc
        {EXIT}
1:      lis 4, 1
        mtctr 4
2:      bdnz 2b
        {EXIT}
"""


@PPC_ASSEMBLER
def test_children_of_the_program_do_not_count(target: Target, tmp_path: Path) -> None:
    ran = run([ppc_program(tmp_path, FORKING, target)])
    assert ran.ending == ExitReport(0)
    assert ran.retired == ran.tally.instructions() == 12


THREADS = """
        li 0, 120                # clone, as a thread
        lis 3, 5
        ori 3, 3, 0xf00          # CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM
        addi 4, 9, 0x4000
        sc
        cmpwi 3, 0
        beq 2f
1:      lwz 5, 0(9)
        cmpwi 5, 1000
        bne 1b
        li 0, 234                # exit_group
        li 3, 7
        sc
2:      li 4, 1000
        mtctr 4
3:      lwarx 5, 0, 9
        addi 5, 5, 1
        stwcx. 5, 0, 9
        bne 3b
        bdnz 3b
4:      b 4b
"""


@PPC_ASSEMBLER
def test_threads_at_the_same_time_lose_nothing(target: Target, tmp_path: Path) -> None:
    ran = run([ppc_program(tmp_path, START + THREADS, target)])
    assert ran.ending is not None and ran.ending.status == 7
    assert ran.tally.instructions() == ran.retired
    table = ran.guest.table
    loop = CODE + HEADERS + 4 * (1 + 19)  # of bdnz
    runs = sum(ran.tally.runs(n) for n in table.numbers() for one in table.block(n).instructions if one.address == loop)
    assert runs in (999, 1000)  # the last may not have been counted yet when the program ended


@PPC_ASSEMBLER
@pytest.mark.parametrize("fixed", first_quick([True, False]), ids=["fixed", "position-independent"])
def test_dynamic_program_is_where_its_image_says(fixed: bool, target: Target, tmp_path: Path) -> None:
    """An interpreter of the test's own goes to the program's entry, which is on the stack (AT_ENTRY, 9), behind one
    argument and no environment."""
    wide = target.bits == 64
    loads, word = ("ldu", "ld", "cmpldi") if wide else ("lwzu", "lwz", "cmplwi"), target.bits // 8
    find = (
        f"addi 4, 1, {2 * word}\n 1: {loads[0]} 5, {2 * word}(4)\n {loads[2]} 5, 9\n bne 1b\n {loads[1]} 5, {word}(4)"
    )
    loader = machine_code(f"{find}\n mtctr 5\n bctr", target)
    interpreter = write_elf(tmp_path / "loader", loader, target, fixed=False)
    code = machine_code(f"nop\n {EXIT}", target)
    ran = run([write_elf(tmp_path / "dynamic", code, target, fixed=fixed, interpreter=str(interpreter))])
    assert ran.ending == ExitReport(0)
    image = ran.guest._wanted.program
    assert image.interpreter is not None
    ips = [ran.guest.table.block(number).ip for number in ran.guest.table.numbers()]
    assert ips[0] == image.interpreter.entry
    assert ips[-1] == image.image.entry


@PPC_ASSEMBLER
def test_program_that_becomes_another_says_so(tmp_path: Path) -> None:
    notices: list[str] = []
    name = "bcl 20, 31, 1f\n 1: mflr 3\n addi 3, 3, 2f-1b\n std 3, 0(9)"
    code = f'{START} {name}\n li 0, 11\n mr 4, 9\n li 5, 0\n sc\n trap\n 2: .asciz "/bin/false"'
    ran = run([ppc_program(tmp_path, code)], notices=notices)
    assert ran.ending is not None and ran.ending.status == 1
    assert notices == ["the program executed another one, which was not counted"]


@PPC_ASSEMBLER
def test_place_of_a_fault_is_said(target: Target, tmp_path: Path) -> None:
    ran = run([ppc_program(tmp_path, "nop\n stw 3, 0(0)\n nop", target)])
    assert ran.ending is not None and ran.ending.where == f"{CODE + HEADERS + 4:#x}"


@PPC_ASSEMBLER
def test_listing_is_that_of_the_code_that_ran(target: Target, tmp_path: Path) -> None:
    ran = run([ppc_program(tmp_path, f"addi 4, 4, 1\n {EXIT}", target)])
    start = ran.guest._wanted.program.entry
    listed = [text for _, text in ran.guest.listing(start, start + 100)]
    assert listed == ["addi r4, r4, 1", "li r0, 1", "li r3, 0", "sc"]
