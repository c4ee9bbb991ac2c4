"""Captures decoded: registers written by hand from the manuals' tables, and any capture encoded and decoded again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.pmu.capture.branch_captures import BranchBuffer, BranchEntry, IpEar
from pfmon.pmu.capture.captures import (
    Captures,
    DataEar,
    InstructionEar,
    branch_buffer_registers,
    captures_of,
    data_ear_registers,
    instruction_ear_registers,
)
from pfmon.pmu.model.request import EarRequest, IpEarRequest

ITANIUM, ITANIUM2, MONTECITO = map(pmu.get, pmu.IA64)
WORDS = st.integers(0, (1 << 64) - 1)


def test_registers_are_those_of_the_manuals() -> None:
    for model in (ITANIUM, ITANIUM2):
        assert data_ear_registers(model) == (2, 3, 17)
        assert instruction_ear_registers(model) == (0, 1)
        assert branch_buffer_registers(model) == (8, 9, 10, 11, 12, 13, 14, 15, 16)
    assert data_ear_registers(MONTECITO) == (32, 33, 36)
    assert instruction_ear_registers(MONTECITO) == (34, 35)
    assert branch_buffer_registers(MONTECITO) == (38, 39, *range(48, 64))
    assert branch_buffer_registers(pmu.get("ppc604e")) == ()


@pytest.mark.parametrize(("model", "registers"), [(ITANIUM2, (2, 3, 17)), (MONTECITO, (32, 33, 36))])
def test_data_cache_miss_has_addresses_and_latency(model: pmu.PmuModel, registers: tuple[int, int, int]) -> None:
    # Montecito manual table 3-22: latency 12:0, overflow 13, stat 15:14; slot 1:0, bn 2, vl 3.
    values = (0x6000, 1 << 14 | 1 << 13 | 0x1ABC, 0x4000_0000_0000_0100 | 1 << 3 | 1 << 2 | 1)
    found = DataEar(model, "cache").capture(dict(zip(registers, values, strict=True)))
    assert found == (True, 0x6000, 0x4000_0000_0000_0111, 0x1ABC, True, "")
    without = values[2] & ~8  # vl = 0: triggered by a load of the RSE
    assert DataEar(model, "cache").capture({registers[1]: 1 << 14, registers[2]: without}).instruction is None
    assert not DataEar(model, "cache").capture(dict.fromkeys(registers, 0)).valid


def test_data_cache_miss_of_itanium_has_its_own_layout() -> None:
    # Slot in bits 3:2, validity in bit 0 of PMD17; no overflow, no second bundle.
    found = DataEar(ITANIUM, "cache").capture({2: 0x6008, 3: 1 << 12 | 0x7FF, 17: 0x4000_0000_0000_0100 | 2 << 2 | 1})
    assert found == (True, 0x6008, 0x4000_0000_0000_0102, 0x7FF, False, "")
    assert DataEar(ITANIUM, "cache").capture({17: 0x100}) == (False, 0, None, 0, False, "")


@pytest.mark.parametrize(
    ("model", "register", "low", "words"),
    [
        (ITANIUM, 3, 62, ["", "L2", "VHPT", "SW"]),
        (ITANIUM2, 3, 14, ["", "L2DTLB", "VHPT", "FAULT"]),
        (MONTECITO, 33, 14, ["", "L2DTLB", "VHPT", "FAULT"]),
    ],
)
def test_data_tlb_miss_says_what_served_it(model: pmu.PmuModel, register: int, low: int, words: list[str]) -> None:
    found = [DataEar(model, "tlb").capture({register: level << low | 5}) for level in range(4)]
    assert [one.level for one in found] == words
    assert {one.latency for one in found} == {None}


def test_alat_miss_has_an_instruction_alone() -> None:
    found = DataEar(MONTECITO, "alat").capture({32: 7, 33: 1 << 14 | 9, 36: 0x100 | 8 | 2})
    assert found == (True, None, 0x102, None, False, "")


@pytest.mark.parametrize(("model", "first"), [(ITANIUM2, 0), (MONTECITO, 34)])
def test_instruction_misses_have_a_line(model: pmu.PmuModel, first: int) -> None:
    # Tables 3-17 and 3-19: stat 1:0, line 63:5; latency 11:0, overflow 12.
    line = 0x2000_0000_0002_3580
    found = InstructionEar(model, "cache").capture({first: line | 1, first + 1: 1 << 12 | 15})
    assert found == (True, line, 15, True, "")
    assert not InstructionEar(model, "cache").capture({first: line | 2}).valid  # x0: nothing was captured
    tlb = InstructionEar(model, "tlb")
    assert [tlb.capture({first: line | stat}).level for stat in range(4)] == ["", "L2TLB", "VHPT", "FAULT"]
    assert [tlb.capture({first: line | stat}).valid for stat in range(4)] == [False, True, True, True]
    assert tlb.capture({first: line | 2, first + 1: 15}).latency is None


def test_instruction_misses_of_itanium_have_a_valid_bit() -> None:
    tlb = InstructionEar(ITANIUM, "tlb")
    assert [tlb.capture({0: 0x40 | bits})[::4] for bits in range(4)] == [
        (False, ""),
        (True, "VHPT"),
        (False, ""),
        (True, "SW"),
    ]
    assert InstructionEar(ITANIUM, "cache").capture({0: 0x40 | 3, 1: 0xFFF}) == (True, 0x40, 0xFFF, False, "")


PAGE = {
    8: 0x200000000016A539,
    9: 0x200000000016A6D2,
    10: 0x200000000016A6F9,
    11: 0x200000000016A539,
    12: 0x200000000016A6D2,
    13: 0x200000000016A6FF,
    14: 0x200000000016A739,
    15: 0x200000000016A7B2,
    16: 1 << 3 | 2 << (4 + 4 * 5) | 1 << (4 + 4 * 6),
}
"""The example of pfmon's page (section 6): PMD13 has bru, PMD14 b1; the buffer is full, PMD8 the oldest."""


def test_branches_of_the_page_are_read_as_it_prints_them() -> None:
    buffer = BranchBuffer(ITANIUM2)
    entries = buffer.entries(PAGE)
    assert [entry.pmd for entry in entries] == [8, 9, 10, 11, 12, 13, 14, 15]
    assert [entry.address & 0xFFF for entry in entries] == [0x532, 0x6D0, 0x6F2, 0x532, 0x6D0, 0x6F0, 0x742, 0x7B0]
    assert [entry.taken for entry in entries if entry.source] == [True, True, True, False, True]
    assert [entry.mispredicted for entry in entries] == [False] * 5 + [True, False, False]
    found = buffer.branches(PAGE)
    assert [branch.source.pmd for branch in found] == [8, 10, 11, 13, 14]
    # PMD10's target is the bundle of the source that follows it.
    assert [branch.target and branch.target & 0xFFF for branch in found] == [0x6D0, 0x530, 0x6D0, None, 0x7B0]


def test_entries_come_in_the_order_in_which_they_were_written() -> None:
    buffer = BranchBuffer(ITANIUM2)

    def order(index: int) -> list[int]:
        return [entry.pmd for entry in buffer.entries({**PAGE, 16: index})]

    assert order(0) == []
    assert order(3) == [8, 9, 10]
    assert order(8 | 3) == [11, 12, 13, 14, 15, 8, 9, 10]
    montecito = dict.fromkeys(range(48, 64), 2)
    assert [e.pmd for e in BranchBuffer(MONTECITO).entries({**montecito, 38: 0x25})] == [*range(53, 64), *range(48, 53)]
    assert [e.pmd for e in BranchBuffer(MONTECITO).entries({**montecito, 38: 5})] == [48, 49, 50, 51, 52]


@pytest.mark.parametrize("model", [ITANIUM, ITANIUM2, MONTECITO])
def test_a_buffer_that_was_never_written_has_no_branches(model: pmu.PmuModel) -> None:
    values = dict.fromkeys(branch_buffer_registers(model), 0)
    assert BranchBuffer(model).entries(values) == BranchBuffer(model).branches(values) == []


def test_targets_without_their_source_are_left_out() -> None:
    values = {8: 0x102, 9: 0x201, 10: 0x302, 11: 0x401, 16: 4}
    assert [(b.source.address, b.target) for b in BranchBuffer(ITANIUM2).branches(values)] == [
        (0x200, 0x300),
        (0x400, None),
    ]
    predictions = BranchBuffer(ITANIUM2, targets=False)  # ds = 1
    assert [b.target for b in predictions.branches(values)] == [None, None]


def test_extensions_of_montecito_interleave_the_halves() -> None:
    # Table 3-29: PMD48 in 3:0, PMD56 in 7:4, PMD49 in 11:8 ...
    values = dict.fromkeys(range(48, 64), 0x101) | {38: 0x20, 39: 0x1 | 0x2 << 4 | 0x3 << 8}
    found = {e.pmd: (e.second_bundle, e.back_end) for e in BranchBuffer(MONTECITO).entries(values)}
    assert {number: bits for number, bits in found.items() if any(bits)} == {
        48: (True, False),
        56: (False, True),
        49: (True, True),
    }


def test_itanium_has_no_extensions() -> None:
    (entry,) = BranchBuffer(ITANIUM).entries({8: 0x105, 16: (1 << 64) - 16 | 1})
    assert entry == BranchEntry(8, 0x105, True, False, 1, 0x100, False, False)


def test_ips_have_their_cycles_and_early_freezes() -> None:
    # Figures 3-28 and 3-29, tables 3-31 and 3-33.
    ip = 0x4000_0000_0000_1230
    values = {48: 0x5 << 60 | ip >> 4, 49: 0xF << 60 | ip >> 12 << 8 | 0x2A, 38: 2, 39: 0xE | 0xD << 8}
    first, second = IpEar(MONTECITO).entries(values)
    assert first[2:] == (ip, 0x35, True, False, None)
    assert second[2:] == (ip & ~0xFFF, 0x3F, False, True, 0x2A)


@given(st.sampled_from([ITANIUM, ITANIUM2, MONTECITO]), st.data())
def test_any_data_capture_is_read_as_it_was_written(model: pmu.PmuModel, data: st.DataObject) -> None:
    address, window, slot = data.draw(WORDS), data.draw(WORDS) & ~15, data.draw(st.integers(0, 2))
    latency = data.draw(st.integers(0, 4095))
    registers = model.registers
    if model is ITANIUM:
        second = overflow = 0
        values = (
            address,
            registers["pmd3"].encode(latency=latency),
            registers["pmd17"].encode(v=1, slot=slot, iaddr=window >> 4),
        )
    else:
        second, overflow = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))
        names = ("pmd3", "pmd17") if model is ITANIUM2 else ("pmd33", "pmd36")
        values = (
            address,
            registers[names[0]].encode(latency=latency, ov=overflow, stat=1),
            registers[names[1]].encode(slot=slot, bn=second, vl=1, iaddr=window >> 4),
        )
    found = DataEar(model, "cache").capture(dict(zip(data_ear_registers(model), values, strict=True)))
    assert found == (True, address, window + 16 * second | slot, latency, bool(overflow), "")


ENTRIES = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3), WORDS, st.booleans(), st.booleans()))


@pytest.mark.slow
@given(st.sampled_from([ITANIUM, ITANIUM2, MONTECITO]), ENTRIES)
def test_any_branches_are_read_as_they_were_written(
    model: pmu.PmuModel, written: list[tuple[bool, bool, int, int, bool, bool]]
) -> None:
    """A log of entries, put into the registers one after the other as hardware does; what is left is its end."""
    numbers = [n for n in branch_buffer_registers(model) if n not in (16, 38, 39)]
    source_bit, extension = ("s" if model is MONTECITO else "b"), {ITANIUM2: "pmd16", MONTECITO: "pmd39"}.get(model)
    values, extensions = dict.fromkeys(numbers, 0), {}
    log = []
    for place, (source, mp, slot, address, second, back_end) in enumerate(written):
        number, bundle = numbers[place % len(numbers)], address & ~15
        fields = {source_bit: int(source), "mp": int(mp), "slot": slot, "addr": bundle >> 4}
        values[number] = model.registers[f"pmd{number}"].encode(**fields)
        extensions[f"pmd{number}ext"] = second | back_end << 1
        bits = (second, back_end) if extension else (False, False)
        log.append(BranchEntry(number, values[number], source, mp, slot, bundle, *bits))
    index = {"bbi" if model is not MONTECITO else "ebi": len(log) % len(numbers)}
    index["full"] = int(len(log) >= len(numbers))
    index_register = "pmd38" if model is MONTECITO else "pmd16"
    values[model.registers[index_register].number] = model.registers[index_register].encode(**index)
    if extension:
        more = model.registers[extension].encode(**extensions)
        values[model.registers[extension].number] = values.get(model.registers[extension].number, 0) | more
    assert BranchBuffer(model).entries(values) == log[-len(numbers) :]


@pytest.mark.parametrize("name", pmu.IA64)
def test_modes_are_read_from_the_programming(name: str) -> None:
    model = pmu.get(name)

    def of(**options: object) -> Captures:
        return captures_of(model, model.program([], **options).writes)  # type: ignore[arg-type]  # any option

    assert of() == Captures()
    for mode in ("cache", "tlb"):
        data, instruction = of(dear=EarRequest(mode, 4)).data, of(iear=EarRequest(mode, 4)).instruction
        assert data and instruction and (data.mode, instruction.mode) == (mode, mode)
    branches = captures_of(model, model.program(["BRANCH_EVENT"]).writes)
    assert branches.branches and branches.branches.targets and not branches.ips


def test_ip_ear_takes_the_place_of_the_trace_buffer() -> None:
    found = captures_of(MONTECITO, MONTECITO.program([], ip_ear=IpEarRequest(5)).writes)
    assert found.ips and not found.branches
