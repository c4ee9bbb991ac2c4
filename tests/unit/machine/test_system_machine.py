"""A machine on a whole system's stream: interruptions, TLBs, physical tags, uncacheable memory."""

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from grids import each
from ia64_assembly import CODE, Line
from system_machine import DT, IC, VECTORS, bubbles, code, occurrences, on_machine, run

from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.engine.ia64._ia64 import SystemProcessor
from pfmon.machine._machine import Machine, PhysicalAddresses
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu, RunData
from pfmon.session.run.system_pmu import SystemPmu
from pfmon.stream.marks import Mark

BREAK, EXTERNAL = 0x2C00, 0x3000
SKIP = ["mov r8=cr.iip", "adds r8=16,r8", "mov cr.iip=r8", "rfi"]
"""A handler that returns behind the instruction that was interrupted."""
PASSES = 200
ALIASES = (0x20_0000_0000_4000, 0x20_0000_0010_4000)
FRAME = 0x30_0000
PAGE_4K, WRITABLE = 12 << 2, 0x661
"""ITIR.ps; a present page that is cacheable, accessed, dirty, readable and writable at level 0."""
UNCACHED = 1 << 63
ELSEWHERE = 0x40_0000


def inserted(address: int, frame: int = FRAME, kind: str = "d") -> list[Line]:
    """Inserts the translation of a page of 4 KB."""
    return [
        f"movl r8={address}", f"movl r9={PAGE_4K}", f"movl r10={frame | WRITABLE}",
        "mov cr.ifa=r8", "mov cr.itir=r9", f"itc.{kind} r10", "srlz.i",
    ]  # fmt: skip


def load_from(address: int, times: int = 1) -> list[Line]:
    return [f"movl r12={address}", *["ld8 r13=[r12]", "adds r14=1,r13"] * times]


def loop(body: Sequence[Line]) -> list[Line]:
    return [f"addl r9={PASSES - 1},r0", "mov.i ar.lc=r9", "loop:", *body, "br.cloop.sptk.few loop"]


# --- interruptions


@each("machine", ITANIUMS)
def test_an_interruption_and_rfi_each_flush_the_pipeline(machine: str) -> None:
    made = on_machine(code(loop(["break.i 5"]), {BREAK: SKIP}, IC), machine)
    figures = load(machine)
    once = int(figures["pipeline.exception_flush"]) + int(figures["pipeline.serialize_flush"])
    assert bubbles(made)["XPN"] == PASSES * once


@each("machine", ITANIUMS)
def test_no_time_is_charged_for_the_kernel(machine: str) -> None:
    made = on_machine(code([*loop(["break.i 5"]), *load_from(FRAME)], {BREAK: SKIP}, IC), machine)
    assert "KERNEL" not in bubbles(made)
    assert made.kernel_clock() == 0
    assert "LEVEL_CHANGED" not in occurrences(made)


# --- TLBs


def test_a_translation_moves_to_the_first_level_once() -> None:
    lines = [*inserted(ALIASES[0]), f"movl r20={DT}", "mov r21=psr", "or r21=r20,r21", "mov psr.l=r21", "srlz.d",
             *load_from(ALIASES[0], 5)]  # fmt: skip
    found = occurrences(on_machine(code(lines)))
    assert (found["DTLB_FILLED"], found["L1DTLB_MISS"], found["L1DTLB_TRANSFER"]) == (1, 1, 1)
    assert found["L2DTLB_MISS"] == found["HPW_READ"] == found["DTLB_WALKED"] == 0
    assert (found["L1D_READ"], found["L1D_READ_MISS"]) == (5, 1)


def test_physical_references_miss_no_tlb() -> None:
    found = occurrences(on_machine(code(load_from(FRAME, 5))))
    assert found["L1D_READ"] == 5
    assert not [name for name in found if "TLB" in name]


def test_a_miss_is_counted_though_its_handler_inserts_the_page() -> None:
    """The alternate vector: without a VHPT nothing is read (volume 2, 4.1.8)."""
    page = ALIASES[0]
    handler = [f"movl r9={PAGE_4K}", f"movl r10={FRAME | WRITABLE}", "mov cr.itir=r9", "itc.d r10", "rfi"]
    lines = [f"movl r20={DT | IC}", "mov r21=psr", "or r21=r20,r21", "mov psr.l=r21", "srlz.d", *load_from(page, 3)]
    found = occurrences(on_machine(code(lines, {0x1000: handler})))
    assert (found["L2DTLB_MISS"], found["HPW_READ"], found["DTLB_WALKED"]) == (1, 0, 0)
    assert (found["DTLB_FILLED"], found["L1DTLB_TRANSFER"], found["L1D_READ"]) == (1, 1, 3)


# --- physical tags


@each("machine", ITANIUMS)
def test_aliases_of_a_frame_share_its_lines_but_not_their_translation(machine: str) -> None:
    on = ["mov r21=psr", f"movl r20={DT}", "or r21=r20,r21", "mov psr.l=r21", "srlz.d"]
    twice = [*inserted(ALIASES[0]), *inserted(ALIASES[1])]
    one = occurrences(on_machine(code([*twice, *on, *load_from(ALIASES[0]), *load_from(ALIASES[0])]), machine))
    two = occurrences(on_machine(code([*twice, *on, *load_from(ALIASES[0]), *load_from(ALIASES[1])]), machine))
    assert two["L1D_READ_MISS"] == one["L1D_READ_MISS"] == 1
    assert two["BUS_READ_DATA"] == one["BUS_READ_DATA"] == 1
    assert (one["L1DTLB_MISS"], two["L1DTLB_MISS"]) == (1, 2)


def test_a_page_with_another_frame_has_other_lines() -> None:
    on = ["mov r21=psr", f"movl r20={DT}", "or r21=r20,r21", "mov psr.l=r21", "srlz.d"]
    lines = [*inserted(ALIASES[0]), *on, *load_from(ALIASES[0]), *inserted(ALIASES[0], ELSEWHERE),
             *load_from(ALIASES[0])]  # fmt: skip
    found = occurrences(on_machine(code(lines)))
    assert (found["L1D_READ_MISS"], found["BUS_READ_DATA"], found["L1DTLB_MISS"]) == (2, 2, 2)


def test_data_ranges_are_of_virtual_addresses() -> None:
    on = ["mov r21=psr", f"movl r20={DT}", "or r21=r20,r21", "mov psr.l=r21", "srlz.d"]
    lines = [*inserted(ALIASES[0]), *on, *load_from(ALIASES[0], 3)]
    for start, inside in ((ALIASES[0], 3), (FRAME, 0)):
        system = code(lines)
        machine = Machine(load("montecito"), system.table, [(start, ~0xFFF & (1 << 64) - 1)])

        run(system, machine)
        machine.finish()
        assert sum(n for (_, _, what, ranged), n in machine.occurrences().items() if ranged and what == 1) == inside


# --- memory attributes


@each("machine", ITANIUMS)
def test_uncacheable_accesses_reach_the_bus_each_time(machine: str) -> None:
    store = [f"movl r12={UNCACHED | FRAME}", *["st8 [r12]=r0"] * 3]
    found = occurrences(on_machine(code([*load_from(UNCACHED | FRAME, 4), *store]), machine))
    assert (found["UNCACHEABLE_LOAD"], found["BUS_READ_PARTIAL"]) == (4, 4)
    assert (found["UNCACHEABLE_STORE"], found["BUS_WRITE_PARTIAL"]) == (3, 3)
    assert found["L1D_READ"] == found["L2_DATA_READ"] == found["BUS_READ_DATA"] == found["BUS_READ_OWN"] == 0


@each("machine", ITANIUMS)
def test_uncacheable_accesses_have_events(machine: str) -> None:
    store = [f"movl r12={UNCACHED | FRAME}", *["st8 [r12]=r0"] * 3]
    system = code([*load_from(UNCACHED | FRAME, 4), *store, *load_from(FRAME)])
    records = MachineRecords(on_machine(system, machine), load(machine))
    for event, times in {"UC_LOADS_RETIRED": 4, "UC_STORES_RETIRED": 3}.items():
        counting = ProgrammedPmu(get(machine), Request((EventRequest(event, plm=1),), whole_system=True))
        assert counting.totals(RunData(system.table, None, records)) == [times]


def test_an_uncacheable_load_takes_memorys_time() -> None:
    body = ["ld8 r13=[r12]", "adds r14=1,r13"]
    cached, uncached = (on_machine(code([f"movl r12={base | FRAME}", *loop(body)])) for base in (0, UNCACHED))
    latency = int(load("montecito")["memory.latency"])
    assert 0.97 * latency < (uncached.cycles - cached.cycles) / (PASSES - 1) < 1.1 * latency


def test_write_coalescing_stores_to_a_block_are_one_transaction() -> None:
    page = FRAME | WRITABLE | 6 << 2  # PTE.ma (volume 2, table 4-12)
    on = ["mov r21=psr", f"movl r20={DT}", "or r21=r20,r21", "mov psr.l=r21", "srlz.d"]
    insert = [f"movl r8={ALIASES[0]}", f"movl r9={PAGE_4K}", f"movl r10={page}", "mov cr.ifa=r8", "mov cr.itir=r9",
              "itc.d r10", "srlz.i"]  # fmt: skip
    stores: list[Line] = [f"movl r12={ALIASES[0]}", *["st8 [r12]=r0,8"] * 32]
    found = occurrences(on_machine(code([*insert, *on, *stores])))
    assert found["BUS_WRITE_PARTIAL"] == 32 * 8 // 128
    assert found["UNCACHEABLE_STORE"] == 0


# --- the table of pages


def mark(kind: int, value: int) -> int:
    return 1 << 63 | kind << 56 | value


def page(virtual: int, frame: int, region: int = 0, attribute: int = 0, covers: bool = False) -> tuple[int, int]:
    """The marks of a page."""
    named = mark(Mark.PAGE_ADDRESS, virtual >> 12 | 1 << 54 | covers << 55)
    return named, mark(Mark.PAGE_FRAME, frame >> 12 | attribute << 38 | region << 41)


PHYSICAL = (1 << 50) - 1


def test_the_latest_mark_of_a_page_holds() -> None:
    pages = PhysicalAddresses()
    for frame in (0x5000, 0x9000):
        for word in page(0x7000, frame):
            pages.mark(word)
        assert pages.address_of(0x7123) & PHYSICAL == frame | 0x123
    assert pages.address_of(0x8000) & PHYSICAL == 0x8000  # not known


def test_a_mark_may_cover_sixteen_kilobytes() -> None:
    pages = PhysicalAddresses()
    for word in page(0x16000, 0x22000, covers=True):
        pages.mark(word)
    found = [pages.address_of(0x14008 + step) & PHYSICAL for step in range(0, 0x4000, 0x1000)]
    assert found == [0x20008, 0x21008, 0x22008, 0x23008]


def test_each_virtual_page_of_a_frame_has_a_number() -> None:
    """As often as it is marked, and in each region."""
    pages, seen = PhysicalAddresses(), set()
    for virtual, region in ((0x7000, 1), (0x8000, 1), (0x7000, 2), (0x7000, 1), (0x8000, 1)):
        for word in page(virtual, 0x5000, region):
            pages.mark(word)
        seen.add(pages.address_of(virtual))
    assert len(seen) == 3 and {address & PHYSICAL for address in seen} == {0x5000}


@pytest.mark.slow
def test_many_pages_and_aliases_are_kept() -> None:
    pages = PhysicalAddresses()
    for number in range(20_000):
        for word in page(number << 12, (number % 37) << 12, number):
            pages.mark(word)
    assert all(pages.address_of(n << 12) & PHYSICAL == n % 37 << 12 for n in range(20_000))


# --- captures

TRACE = range(48, 64)
PP, UNMASKED = 1 << 21, 1 << 14
VECTOR, DCR = 0x40, 0


def traced_flow(system: SystemProcessor) -> list[tuple[int, int]]:
    """(source, target) of what the trace buffer of Montecito captures at all levels."""
    shown = SimpleNamespace(traced=True, table=system.table, retired=0, ip=CODE)
    system.set_cr(DCR, 1)  # pp: handlers are monitored, too
    monitored = SystemPmu(get("montecito"), cast(Any, shown), load("montecito"))
    with monitored.running:
        for name, value in get("montecito").program(["ETB_EVENT"], plm=15, system_wide=True).writes.items():
            monitored.access("write_pmc", int(name[3:]), value)
        monitored.next_stop()
        run(system, monitored.consumer)
        monitored.access("write_pmc", 0, 1)  # freezes
        entries = [monitored.access("read_pmd", number) for number in TRACE]
    monitored.finish()
    found = [(entry & ~15, bool(entry & 1)) for entry in entries if entry & 3]
    return [(one, other) for (one, is_source), (other, _) in pairwise(found) if is_source]


def test_exceptions_and_rfi_are_captured() -> None:
    """From the break to its handler, and back to the instruction behind it (Montecito manual 3.3.10)."""
    handler = VECTORS + BREAK
    found = traced_flow(code(["nop.m 0", "break.i 5", "nop.m 0"], {BREAK: SKIP}, IC | PP))
    back = handler + 16 * (len(SKIP) - 1)
    assert found == [(CODE + 16, handler), (back, CODE + 32)]


def test_an_external_interrupt_is_not_captured_but_its_rfi_is() -> None:
    """3.3.10: exceptions excluding asynchronous interrupts."""
    handler = ["mov r8=cr.ivr", "srlz.d", "mov cr.eoi=r0", "srlz.d", "rfi"]
    system = code(["nop.m 0", f"ssm {UNMASKED}", "srlz.d", "nop.m 0"], {EXTERNAL: handler}, IC | PP)
    system.raise_interrupt(VECTOR)
    sources = [source for source, _ in traced_flow(system)]
    assert sources == [VECTORS + EXTERNAL + 16 * (len(handler) - 1)]
