"""Counts against an independent recount: the log of a run, one word an instruction, read by mnemonic.

The recount knows nothing of kinds and weights: it disassembles each instruction and goes by its text, as a person
with a listing would.
"""

from collections import Counter

from grids import each
from guests import guest, quiet
from totals import signal_totals

from pfmon.counting._counting import Tally
from pfmon.engine.ia64.translation.decoded_blocks import DecodedInstruction
from pfmon.isa.ia64.disassemble import disassemble
from pfmon.stream._stream import Recorder

PROGRAMS = {"epic": [], "fib": ["8", "60"], "queens": ["4"], "nbody": ["2"], "strings": ["20"], "lz": ["300"]}


def text_of(instruction: DecodedInstruction) -> str:
    """The instruction as objdump prints it, whatever slot type it is in."""
    for unit in "MIFBX":
        if instruction.row is not None and (unit in instruction.row.units):
            text = disassemble(unit, instruction.encoding, instruction.extension, instruction.address & ~15) or ""
            return text.partition(") ")[2] if text.startswith("(") else text
    return ""


def recount(name: str, arguments: list[str]) -> Counter[str]:
    """Signals by name, from the log of a run instruction by instruction."""
    program = guest(name, arguments, slow=True)
    log = Recorder()
    with quiet():
        program.run(log)
    program.close()
    texts: dict[int, tuple[DecodedInstruction, str]] = {}
    counts: Counter[str] = Counter()
    for word in log.words():
        if word >> 63:
            add_mark(counts, word >> 56 & 0x7F, word & (1 << 32) - 1)
            continue
        number = word & 0xFFFFFFFF
        if number not in texts:
            block = program.processor.block(number)
            assert len(block.instructions) == 1
            texts[number] = (block.instructions[0], text_of(block.instructions[0]))
        instruction, text = texts[number]
        add_instruction(counts, instruction, text, bool(word >> 32 & 1))
    return counts


def add_instruction(counts: Counter[str], instruction: DecodedInstruction, text: str, bit: bool) -> None:
    mnemonic = text.split(" ")[0]
    head = mnemonic.split(".")[0]
    executed = instruction.condition is None or bit
    counts["inst_retired"] += 1
    if head == "nop" or head == "hint":
        counts["nops_retired"] += executed
    is_branch = head in ("br", "brl")
    if is_branch:
        counts["branches.all"] += 1
        counts["branches.nottaken"] += not executed
        counts["branches.return"] += ".ret" in mnemonic
        counts[f"branches.taken.slot{instruction.address & 3}"] += executed
        counts["rse_event_retired"] += executed and (".call" in mnemonic or ".ret" in mnemonic)
    elif instruction.qp and instruction.row is not None and instruction.row.units != ("B",):
        counts["predicate_squashed"] += not executed
    if head in ("ld1", "ld2", "ld4", "ld8", "ld16", "ldfs", "ldfd", "ldfe", "ldf8", "ldf", "ldfps", "ldfpd", "ldfp8"):
        checks = ".c." in mnemonic
        counts["inst_chka_ldc.all"] += executed and checks
        counts["loads_retired"] += executed and not checks
        counts["data_references"] += executed
    elif head.startswith("st") and head[2:] in ("1", "2", "4", "8", "16", "fs", "fd", "fe", "f8", "f"):
        counts["stores_retired"] += executed
        counts["data_references"] += executed
    elif mnemonic.startswith("chk.a"):
        counts["inst_chka_ldc.all"] += executed
    elif head in ("alloc", "flushrs", "loadrs", "cover"):
        counts["rse_event_retired"] += executed
    elif head in ("fma", "fms", "fnma"):
        counts["fp_ops_retired"] += 2 * executed
    elif head in ("fmpy", "fadd", "fsub", "fnmpy", "fnorm", "fcmp", "fcvt", "frcpa", "frsqrta", "fmin", "fmax"):
        counts["fp_ops_retired"] += executed


def add_mark(counts: Counter[str], kind: int, value: int) -> None:
    if kind == 4:
        registers = value & 0xFFFF
        counts["rse_references.store"] += registers
        counts["stores_retired"] += registers
        counts["data_references"] += registers
    elif kind == 5:
        registers = value & 0xFFFF
        counts["rse_references.load"] += registers
        counts["loads_retired"] += registers
        counts["data_references"] += registers
    elif kind == 6:
        counts["inst_failed_chka_ldc.all"] += 1
        counts["loads_retired"] += value in (0, 1)


SIGNALS = [
    "inst_retired",
    "nops_retired",
    "predicate_squashed",
    "branches.all",
    "branches.nottaken",
    "branches.return",
    "branches.taken.slot0",
    "branches.taken.slot1",
    "branches.taken.slot2",
    "loads_retired",
    "stores_retired",
    "data_references",
    "fp_ops_retired",
    "inst_chka_ldc.all",
    "inst_failed_chka_ldc.all",
    "rse_event_retired",
    "rse_references.load",
    "rse_references.store",
]


@each("name", PROGRAMS)
def test_counts_equal_a_recount_from_the_instruction_log(name: str) -> None:
    program = guest(name, PROGRAMS[name])
    tally = Tally(program.processor.table)
    with quiet():
        program.run(tally)
    program.close()
    counted = signal_totals(SIGNALS, program.table, tally)
    again = recount(name, PROGRAMS[name])
    assert counted == {signal: again[signal] for signal in SIGNALS}


def test_deep_recursion_spills_and_fills_registers() -> None:
    # epic's part 6: 40 nested frames of 24 registers do not fit into 96.
    program = guest("epic")
    tally = Tally(program.processor.table)
    with quiet():
        program.run(tally)
    program.close()
    counted = signal_totals(["rse_references.load", "rse_references.store"], program.table, tally)
    assert counted["rse_references.store"] >= 40 * 23 - 96
    assert counted["rse_references.load"] == counted["rse_references.store"]
