"""detailed-ia64 prints what was captured as pfmon's page does (pfmon on Itanium 2, sections 5 and 6)."""

import textwrap

import pytest

from pfmon import pmu
from pfmon.pmu.capture.branch_captures import BranchBuffer, IpEar
from pfmon.pmu.capture.captures import Captures, DataEar, InstructionEar
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.sampling.detailed import Detailed
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.profile.code_profile import Function, FunctionNames
from pfmon.session.sampling.sampling_period import Sample

ITANIUM, ITANIUM2, MONTECITO = map(pmu.get, pmu.IA64)


class Names(FunctionNames):
    """Every address is in a function that begins at a multiple of 4096."""

    def __init__(self) -> None:
        super().__init__(LoadedObjects(None))

    def function(self, address: int, of_code: bool = False, file: int | None = None) -> Function:
        return Function(f"f{address >> 12 & 0xF:x}", address & ~0xFFF)


def printed(captures: Captures, pmds: dict[int, int], names: FunctionNames | None = None) -> str:
    """What is printed below the entry's line."""
    sample = Sample(0x200000000000D651, 0x6555120CF2A, (4,), 2000, 0, tuple(pmds.items()))
    text = Detailed(ModuleContext(4123, names, model=ITANIUM2, captures=captures)).take([sample])
    first, _, rest = text.partition("\n")
    place = "" if names is None else " <fd+0x651>"
    assert first == (
        f"entry 0 PID:4123 TID:4123 CPU:0 STAMP:0x6555120cf2a IIP:0x200000000000d651{place} OVFL:4 LAST_VAL:2000 SET:0"
    )
    assert all(line.startswith(" " * 8) for line in rest.splitlines())
    return textwrap.dedent(rest)


def test_data_cache_misses_are_printed_as_on_the_page() -> None:
    pmds = {2: 0x600000000000D348, 3: 1 << 14 | 7, 17: 0x200000000000D5F9}
    assert printed(Captures(data=DataEar(ITANIUM2, "cache")), pmds) == (
        "PMD2  : miss address=0x600000000000d348\n"
        "PMD3  : valid=Y, latency=7 cycles, latency overflow=N\n"
        "PMD17 : valid=Y, instr address=0x200000000000d5f1\n"
    )


def test_data_tlb_misses_are_printed_as_on_the_page() -> None:
    pmds = {2: 0x20000000003DC090, 3: 2 << 14 | 99, 17: 0x2000000000023E08}
    assert printed(Captures(data=DataEar(ITANIUM2, "tlb")), pmds) == (
        "PMD2  : miss address=0x20000000003dc090\n"
        "PMD3  : valid=Y, TLB:VHPT\n"
        "PMD17 : valid=Y, instr address=0x2000000000023e00\n"
    )


def test_instruction_tlb_misses_are_printed_as_on_the_page() -> None:
    pmds = {0: 0x2000000000028722, 1: 77}
    assert printed(Captures(instruction=InstructionEar(ITANIUM2, "tlb")), pmds) == (
        "PMD0  : valid=Y, cache line 0x2000000000028720, TLB:VHPT\n"
    )


def test_instruction_cache_misses_are_printed_as_on_the_page() -> None:
    pmds = {0: 0x2000000000023581, 1: 15}
    assert printed(Captures(instruction=InstructionEar(ITANIUM2, "cache")), pmds) == (
        "PMD0  : valid=Y, cache line 0x2000000000023580\nPMD1  : latency=15 cycles, latency overflow=N\n"
    )


PAGE = """\
PMD8  : 0x200000000016a539 b=1 mp=0 bru=0 b1=0 valid=y
       source addr=0x200000000016a532
       taken=y prediction=success
PMD9  : 0x200000000016a6d2 b=0 mp=1 bru=0 b1=0 valid=y
       target addr=0x200000000016a6d0
PMD10 : 0x200000000016a6f9 b=1 mp=0 bru=0 b1=0 valid=y
       source addr=0x200000000016a6f2
       taken=y prediction=success
PMD11 : 0x200000000016a539 b=1 mp=0 bru=0 b1=0 valid=y
       source addr=0x200000000016a532
       taken=y prediction=success
PMD12 : 0x200000000016a6d2 b=0 mp=1 bru=0 b1=0 valid=y
       target addr=0x200000000016a6d0
PMD13 : 0x200000000016a6ff b=1 mp=1 bru=1 b1=0 valid=y
       source addr=0x200000000016a6f0
       taken=n prediction=FE failure
PMD14 : 0x200000000016a739 b=1 mp=0 bru=0 b1=1 valid=y
       source addr=0x200000000016a742
       taken=y prediction=success
PMD15 : 0x200000000016a7b2 b=0 mp=1 bru=0 b1=0 valid=y
       target addr=0x200000000016a7b0
"""
"""Section 6, the lines below the entry."""


def page_registers() -> dict[int, int]:
    """The registers that the page shows, and PMD16 as it must have been."""
    lines = [line.split() for line in PAGE.splitlines() if line.startswith("PMD")]
    return {int(words[0][3:]): int(words[2], 16) for words in lines} | {16: 8 | 2 << 24 | 1 << 28}


def test_branches_are_printed_as_on_the_page() -> None:
    assert printed(Captures(branches=BranchBuffer(ITANIUM2)), page_registers()) == PAGE


def test_branches_are_printed_in_the_order_in_which_they_occurred() -> None:
    """The same branches, three registers on: the oldest is in PMD11."""
    shift = 3
    registers = page_registers()
    moved = {8 + (number - 8 + shift) % 8: value for number, value in registers.items() if number < 16}
    extensions = registers[16] >> 4
    turned = (extensions << 4 * shift | extensions >> 4 * (8 - shift)) & 0xFFFF_FFFF
    text = printed(Captures(branches=BranchBuffer(ITANIUM2)), {**moved, 16: 8 | shift | turned << 4})
    expected = "".join(
        f"PMD{8 + (int(line[3:5]) - 8 + shift) % 8:<3}{line[6:]}\n" if line.startswith("PMD") else f"{line}\n"
        for line in PAGE.splitlines()
    )
    assert text == expected


def test_montecito_prints_its_own_registers() -> None:
    data = {32: 0x600000000000D348, 33: 1 << 14 | 1 << 13 | 7, 36: 0x200000000000D5E0 | 8 | 4 | 1}
    assert printed(Captures(data=DataEar(MONTECITO, "cache")), data) == (
        "PMD32 : miss address=0x600000000000d348\n"
        "PMD33 : valid=Y, latency=7 cycles, latency overflow=Y\n"
        "PMD36 : valid=Y, instr address=0x200000000000d5f1\n"
    )
    # PMD39 has the extension of PMD56 in bits 7:4.
    branches = {38: 0x28, 39: 3 << 4, **dict.fromkeys(range(48, 64), 0), 56: 0x105, 57: 0x202}
    lines = printed(Captures(branches=BranchBuffer(MONTECITO)), branches).splitlines()
    assert lines[:5] == [
        "PMD56 : 0x0000000000000105 b=1 mp=0 bru=1 b1=1 valid=y",
        "       source addr=0x111",
        "       taken=y prediction=BE failure",
        "PMD57 : 0x0000000000000202 b=0 mp=1 bru=0 b1=0 valid=y",
        "       target addr=0x200",
    ]
    assert lines[5] == "PMD58 : 0x0000000000000000 b=0 mp=0 bru=0 b1=0 valid=n" and len(lines) == 19


def test_ips_are_printed_with_their_cycles() -> None:
    pmds = {38: 2, 39: 0x6 | 1 << 8, 48: 0x3000000000000123, 49: 0xF000000000001205}
    assert printed(Captures(ips=IpEar(MONTECITO)), pmds) == (
        "PMD48 : 0x3000000000000123 cycles=19 flush=y ef=n\n"
        "       addr=0x1230\n"
        "PMD49 : 0xf000000000001205 cycles=15 flush=n ef=y delay=5\n"
        "       addr=0x12000\n"
    )


def test_itanium_has_less_to_print() -> None:
    cache, tlb = Captures(data=DataEar(ITANIUM, "cache")), Captures(data=DataEar(ITANIUM, "tlb"))
    pmds = {2: 0x6000, 3: 3 << 62 | 9, 17: 0x109}
    assert printed(cache, pmds).splitlines()[1:] == [
        "PMD3  : latency=9 cycles",
        "PMD17 : valid=Y, instr address=0x102",
    ]
    assert printed(tlb, pmds).splitlines()[1] == "PMD3  : TLB:SW"
    assert printed(Captures(branches=BranchBuffer(ITANIUM)), {8: 0x107, 16: 1}).splitlines() == [
        "PMD8  : 0x0000000000000107 b=1 mp=1 valid=y",
        "       source addr=0x101",
        "       taken=y prediction=failure",
    ]


def test_what_was_not_captured_is_not_valid() -> None:
    both = Captures(DataEar(ITANIUM2, "tlb"), InstructionEar(ITANIUM2, "cache"))
    assert printed(both, {0: 0, 1: 0, 2: 0, 3: 0, 17: 0}).splitlines() == [
        "PMD0  : valid=N, cache line 0x0",
        "PMD1  : latency=0 cycles, latency overflow=N",
        "PMD2  : miss address=0x0",
        "PMD3  : valid=N, TLB:N/A",
        "PMD17 : valid=N, instr address=0x0",
    ]


def test_alat_misses_have_neither_address_nor_latency() -> None:
    pmds = {2: 5, 3: 1 << 14 | 5, 17: 0x109}
    assert printed(Captures(data=DataEar(ITANIUM2, "alat")), pmds) == (
        "PMD3  : valid=Y\nPMD17 : valid=Y, instr address=0x101\n"
    )


def test_counters_and_registers_that_are_not_in_use_are_numbers() -> None:
    pmds = {5: 7, 2: 0x6000, 8: 0x105}
    assert printed(Captures(), pmds).splitlines() == [
        "PMD5  : 0x0000000000000007",
        "PMD2  : 0x0000000000006000",
        "PMD8  : 0x0000000000000105",
    ]


@pytest.mark.parametrize(
    ("captures", "pmds", "said"),
    [
        (Captures(data=DataEar(ITANIUM2, "cache")), {2: 1, 3: 1 << 14, 17: 0xD5F9}, "instr address=0xd5f1 <fd+0x5f1>"),
        (Captures(instruction=InstructionEar(ITANIUM2, "cache")), {0: 0x3581, 1: 1}, "cache line 0x3580 <f3+0x580>"),
        (Captures(branches=BranchBuffer(ITANIUM2)), {8: 0x4105, 16: 1}, "source addr=0x4101 <f4+0x101>"),
        (Captures(branches=BranchBuffer(ITANIUM2)), {8: 0x4102, 16: 1}, "target addr=0x4100 <f4+0x100>"),
        (Captures(ips=IpEar(MONTECITO)), {48: 0x512, 38: 1, 39: 0}, "addr=0x5120 <f5+0x120>"),
    ],
)
def test_functions_stand_beside_captured_addresses(captures: Captures, pmds: dict[int, int], said: str) -> None:
    assert said in printed(captures, pmds, Names())
