"""What software empties of a whole system's machine: TLBs by purges and insertions, caches by firmware."""

from collections import Counter

from grids import each
from ia64_assembly import CODE, Line
from system_machine import DT, END, IC, code, occurrences, on_machine

from pfmon.engine.ia64._ia64 import BREAK
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.stream.marks import Mark

PAGE, FRAME = 0x20_0000_0000_4000, 0x30_0000
ELSEWHERE = 0x20_0000_0010_4000
PAGE_4K, WRITABLE = 12 << 2, 0x661
"""ITIR.ps; a present page that is cacheable, accessed, dirty, readable and writable at level 0."""


def load_from(address: int, times: int = 1) -> list[Line]:
    return [f"movl r12={address}", *["ld8 r13=[r12]", "adds r14=1,r13"] * times]


# --- purges (volume 2, 4.1.1.4): what stays in a translation register is a miss of the first level alone

IT, PAGE_64K = 1 << 36, 16 << 2
ON = ["mov r21=psr", f"movl r20={DT}", "or r21=r20,r21", "mov psr.l=r21", "srlz.d"]
SAME_RANGE_OF_ANOTHER_REGION = 7 << 61 | PAGE & (1 << 61) - 1


def in_register(address: int, frame: int = FRAME, kind: str = "d") -> list[Line]:
    """Inserts the translation of a page of 64 KB into a translation register."""
    return [
        f"movl r8={address}", f"movl r9={PAGE_64K}", f"movl r10={frame | WRITABLE}", "addl r11=1,r0",
        "mov cr.ifa=r8", "mov cr.itir=r9", f"itr.{kind} {kind}tr[r11]=r10", "srlz.i",
    ]  # fmt: skip


def purging(instruction: str, address: int, size: int = PAGE_4K) -> list[Line]:
    return [f"movl r15={address}", f"movl r16={size}", f"{instruction} r15,r16", "srlz.i"]


PURGES: dict[str, tuple[list[Line], int]] = {
    "nothing": ([], 0),
    "ptc.l": (purging("ptc.l", PAGE), 1),
    "ptc.g": (purging("ptc.g", PAGE), 1),
    "ptc.ga": (purging("ptc.ga", PAGE), 1),
    "ptc.e": (["ptc.e r0", "srlz.i"], 1),
    "larger": (purging("ptc.l", PAGE & ~0xFFFFF, 20 << 2), 1),
    "other page": (purging("ptc.l", PAGE + 0x8000), 0),
    "below": (purging("ptc.l", PAGE - 0x100000, 20 << 2), 0),
    "same identifier": (purging("ptc.l", SAME_RANGE_OF_ANOTHER_REGION), 1),
    "other identifier": (
        [f"movl r17={7 << 61}", f"movl r18={5 << 8 | PAGE_4K}", "mov rr[r17]=r18", "srlz.d",
         *purging("ptc.l", SAME_RANGE_OF_ANOTHER_REGION)], 0),
    "code alone": (purging("ptr.i", PAGE), 0),
    "itr over it": (in_register(PAGE), 1),
    "itr beside it": (
        ["addl r11=2,r0", f"movl r8={ELSEWHERE}", "mov cr.ifa=r8", "itr.d dtr[r11]=r10",
         "srlz.i"], 0),
}  # fmt: skip


@each("machine", ITANIUMS)
@each("purge", list(PURGES))
def test_purges_empty_the_first_data_tlb(purge: str, machine: str) -> None:
    lines, more = PURGES[purge]
    made = on_machine(code([*in_register(PAGE), *ON, *load_from(PAGE, 3), *lines,
                            *load_from(PAGE, 3)]), machine)  # fmt: skip
    found = occurrences(made)
    assert (found["L1DTLB_MISS"], found["L1DTLB_TRANSFER"], found["L2DTLB_MISS"]) == (1 + more, 1 + more, 0)
    if load(machine)["l1d.prevalidated"]:
        assert found["L1D_READ_MISS"] == 1 + more


def test_ptr_leaves_nothing_of_a_translation() -> None:
    """The next access misses both levels; the first one does when its handler has inserted the page."""
    handler = [*in_register(PAGE)[:-1], "rfi"]
    lines = [*in_register(PAGE), *ON, *load_from(PAGE), *purging("ptr.d", PAGE),
             f"ssm {IC}", "srlz.d", *load_from(PAGE)]  # fmt: skip
    found = occurrences(on_machine(code(lines, {0x1000: handler})))
    assert (found["L2DTLB_MISS"], found["L1DTLB_MISS"], found["L1D_READ_MISS"]) == (1, 2, 2)


@each("machine", ["itanium2", "montecito"])
@each("purge", ["nothing", "ptc.l", "ptc.e", "ptr.d", "other page"])
def test_purges_empty_the_first_instruction_tlb_and_its_lines(purge: str, machine: str) -> None:
    purges: dict[str, tuple[list[Line], int]] = {
        "nothing": ([], 0), "ptc.l": (purging("ptc.l", CODE & ~0xFFF), 1), "ptc.e": (["ptc.e r0", "srlz.i"], 1),
        "ptr.d": (purging("ptr.d", CODE & ~0xFFF), 0), "other page": (purging("ptc.l", CODE + 0x10000), 0),
    }  # fmt: skip
    lines, more = purges[purge]
    enter: list[Line] = [
        *in_register(CODE & ~0xFFFF, CODE & ~0xFFFF, "i"), "mov r22=psr", f"movl r23={IT}", "or r22=r22,r23",
        "mov cr.ipsr=r22", "mov r24=ip", "adds r24=64,r24", "mov cr.iip=r24", "rfi",
    ]  # fmt: skip
    found = occurrences(on_machine(code([*enter, *lines, "nop.m 0"]), machine))
    both = purge == "ptc.e"  # also the entry of the code before rfi, which is physical
    assert (found["ITLB1_MISS"], found["ITLB2_MISS"], found["L1I_PURGED"]) == (1 + more, 0, more + both)


# --- flushes of caches by firmware (volume 2, 11.10.3, PAL_CACHE_FLUSH)

CODE_CACHES, DATA_CACHES, ALL_CACHES, COHERENT = range(1, 5)
INVALIDATES = 8
LINES, LINE = 64, 128


STORES: list[Line] = [
    f"movl r12={FRAME}", f"addl r9={LINES - 1},r0", "mov.i ar.lc=r9", "fill:", f"st8 [r12]=r0,{LINE}",
    "br.cloop.sptk.few fill", "mf", END,
]  # fmt: skip
LOADS: list[Line] = [
    f"movl r12={FRAME}", f"addl r9={LINES - 1},r0", "mov.i ar.lc=r9", "read:", "ld8 r13=[r12]", f"adds r12={LINE},r12",
    "br.cloop.sptk.few read", END,
]  # fmt: skip
AGAIN: list[Line] = ["again:", *["nop.m 0"] * 40, END, "br.cond.sptk.few again"]


def between_breaks(lines: list[Line], machine: str, value: int) -> Counter[str]:
    """What happens between the first break and the second; caches are flushed at the first, if the value is not 0."""
    system = code(lines)
    made = Machine(load(machine), system.table, ())
    assert system.run(made) == BREAK
    made.update_records(system.ip)
    before = occurrences(made)
    if value:
        system.emit_mark(made, Mark.CACHE_FLUSH, value)
    assert system.run(made) == BREAK
    made.finish()
    assert not made.failure
    return occurrences(made) - before


@each("machine", ITANIUMS)
def test_flushed_data_come_from_memory(machine: str) -> None:
    values = (0, DATA_CACHES | INVALIDATES, COHERENT | INVALIDATES)
    kept, gone, code_alone = (between_breaks([*STORES, *LOADS], machine, value) for value in values)
    assert (kept["BUS_READ_DATA"], gone["BUS_READ_DATA"], code_alone["BUS_READ_DATA"]) == (0, LINES, 0)


@each("machine", ITANIUMS)
def test_flushed_code_is_fetched_again(machine: str) -> None:
    """A unified L2 and L3 hold instructions, too; a flush of caches of instructions alone leaves them there."""
    values = (0, ALL_CACHES | INVALIDATES, COHERENT, ALL_CACHES)
    kept, gone, coherent, cleaned = (between_breaks(AGAIN, machine, value) for value in values)
    assert kept["L1I_DEMAND_MISS"] < min(coherent["L1I_DEMAND_MISS"], gone["L1I_DEMAND_MISS"])
    assert coherent["BUS_READ_FETCH"] == kept["BUS_READ_FETCH"] < gone["BUS_READ_FETCH"]
    assert cleaned == kept, "lines that are clean stay"
