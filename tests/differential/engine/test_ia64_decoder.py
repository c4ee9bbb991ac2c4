"""Decoder and disassembler agree with GNU objdump, with the rows' declarations, and with themselves."""

import gzip
import importlib.util
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest
from example_counts import examples
from grids import each, first_quick
from hypothesis import given
from hypothesis import strategies as st

from pfmon.isa.ia64 import _encodings as decoder
from pfmon.isa.ia64.assemble import encode
from pfmon.isa.ia64.bundle import slots
from pfmon.isa.ia64.disassemble import disassemble
from pfmon.isa.ia64.instruction import Row
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS

DATA = Path(__file__).parents[2] / "data" / "engine"
UNITS = "MIFBX"

# Where objdump (binutils 2.40) and the manuals differ: what objdump prints ("": rejected), what we print ("":
# reserved), as patterns, and why. Formats: SDM volume 3, chapter 4.
DIFFERENCES = (
    (r"clz .*|mpy4 .*|mpyshl4 .*|tf\..*", "", "newer than Montecito"),
    (
        r"lfetch\.count.*",
        r"lfetch.*",
        "newer than Montecito, where the bits that make the difference are ignored",
    ),
    (r"(ld|st|lfetch)\S*\.d[4-7] .*", r"(ld|st|lfetch).*", "likewise: a third hint bit"),
    (r"mov dahr.*", r"hint\.m .*", "likewise: some immediates of hint.m"),
    (
        r"(hint\.m \d+)?",
        r"hint\.m .*",
        "likewise, and objdump takes the rest of those for reserved or decimal",
    ),
    (r"mov.*cr\.iib.*", r"mov.*cr2[67].*", "control registers newer than Montecito"),
    (r"mov.*msr\[.*|mov.*=dahr\[.*", "", "not in the manual, or newer than Montecito"),
    (r"mux1 .*,0x.*", "", "permutations other than the five that have a name are reserved"),
    (r"psh[lr]add2 .*,4,.*", "", "the count field's value 3 is reserved"),
    (r"cmp4?\.(gt|ge|le|lt)\..*=r0,.*", "", "A7: the r2 field has to be 0"),
    (r"popcnt .*", "", "I9: the r2 field has to be 0"),
    (r"br\.(cloop|ctop|cexit)\..*", "", "B2: counted branches cannot be predicated"),
    (r"alloc .*|flushrs|loadrs", "", "M25, M34: cannot be predicated"),
    (r"cover|clrrrb|clrrrb\.pr|rfi|bsw\.[01]|epc|vmsw\.[01]", "", "B8: cannot be predicated"),
    (
        r"(break|nop|hint)\.x .*",
        r"(break|nop|hint)\.x .*",
        "imm62 is i:imm41:imm20a; objdump puts i below imm41",
    ),
    (
        "",
        r"(ld|st|xchg|fetchadd|cmpxchg|cmp8xchg16|mov)\S*\.d[123]\b.*",
        "unused hint values mean nothing, 4.1",
    ),
)


@cache
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("opcodes", DATA / "opcodes.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(path: Path) -> list[str]:
    """Of a compressed file."""
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


Example = tuple[str, int, int, int, str]  # unit, encoding, L slot, bundle address, objdump's text


@cache
def encodings(unit: str) -> list[Example]:
    """All encodings of ``unit`` with what objdump prints."""
    opcodes = maker()
    found = []
    for index, (slot, text) in enumerate(zip(opcodes.systematic(), lines(opcodes.SYSTEMATIC), strict=True)):
        if slot[0] == unit:
            found.append((*slot, opcodes.address(index), text))
    for index, line in enumerate(lines(opcodes.ROWS)):
        name, encoding, extension, text = line.split("\t")
        if name == unit:
            found.append((unit, int(encoding, 16), int(extension, 16), opcodes.address(index), text))
    return found


def declaration(text: str, ours: str) -> tuple[str, str] | None:
    """The patterns of the declared difference that covers this one."""
    text, ours = (re.sub(r"^\(p\d\d\) ", "", line) for line in (text, ours))
    for theirs, expected, _ in DIFFERENCES:
        if re.fullmatch(theirs, text) and re.fullmatch(expected, ours):
            return theirs, expected
    return None


@pytest.mark.parametrize("unit", first_quick(UNITS))
def test_agrees_with_objdump_but_for_declared_differences(unit: str) -> None:
    differences = []
    for name, encoding, extension, address, text in encodings(unit):
        ours = disassemble(name, encoding, extension, address) or ""
        if ours != text and not declaration(text, ours):
            differences.append(f"{encoding:011x} {extension:x}: objdump {text!r}, ours {ours!r}")
    assert not differences, "\n".join(differences[:20])


@pytest.mark.slow
def test_no_declared_difference_is_stale() -> None:
    seen = set()
    for unit in UNITS:
        for name, encoding, extension, address, text in encodings(unit):
            ours = disassemble(name, encoding, extension, address) or ""
            if ours != text:
                seen.add(declaration(text, ours))
    assert {(theirs, ours) for theirs, ours, _ in DIFFERENCES} == seen


@pytest.mark.parametrize("unit", UNITS)
def test_every_row_was_shown_to_objdump(unit: str) -> None:
    found = [decoder.find(*example[:3]) for example in encodings(unit)]
    shown = {row.number for row in found if row}
    missing = [row.text for row in INSTRUCTIONS if unit in row.units and row.number not in shown]
    assert not missing, "run tests/data/engine/opcodes.py"


def test_compiled_code_reads_as_objdump_prints_it() -> None:
    for line in lines(DATA / "compiled.tsv.gz"):
        unit, slot, extension, address, text = line.split("\t")
        if unit in UNITS:
            assert disassemble(unit, int(slot, 16), int(extension or "0", 16), int(address, 16)) == text


def overlap(a: Row, b: Row) -> bool:
    """Whether some encoding has the fixed bits of both."""
    return bool(set(a.units) & set(b.units)) and not (a.value ^ b.value) & a.mask & b.mask


def settled_by_a_third(a: Row, b: Row) -> bool:
    """Whether everything that a and b share belongs to a row that is a special case of both."""
    return any(
        a.text in row.over and b.text in row.over and not row.mask & ~(a.mask | b.mask)
        for row in INSTRUCTIONS
        if overlap(a, row) and overlap(b, row)
    )


@pytest.mark.slow
def test_overlapping_rows_are_declared() -> None:
    undeclared = [
        (a.text, b.text)
        for op in range(16)
        for a, b in combinations([row for row in INSTRUCTIONS if row.value >> 37 == op], 2)
        if overlap(a, b) and a.text not in b.over and b.text not in a.over and not settled_by_a_third(a, b)
    ]
    assert not undeclared


@each("row", [row for row in INSTRUCTIONS if row.over], ids=lambda row: row.text)
def test_declared_overlap_is_a_special_case_of_the_other_row(row: Row) -> None:
    for text in row.over:
        general = [other for other in INSTRUCTIONS if other.text == text and overlap(row, other)]
        assert general, f"nothing called {text} overlaps"
        for other in general:
            assert row.tie or not other.mask & ~row.mask
            assert row.tie or row.mask != other.mask


slot_bits = st.integers(0, (1 << 41) - 1)


@pytest.mark.slow
@given(st.integers(0, (1 << 128) - 1), st.integers(0, (1 << 60) - 1).map(lambda n: n * 16))
@examples(400)
def test_any_128_bits_decode_to_instructions_or_nothing(bundle: int, address: int) -> None:
    for slot in slots(bundle) or ():
        row = decoder.find(slot.unit, slot.encoding, slot.extension)
        text = disassemble(slot.unit, slot.encoding, slot.extension, address)
        assert (row is None) == (text is None)
        if row is not None:
            assert slot.encoding & row.mask == row.value
            assert slot.unit in row.units


@pytest.mark.slow
@given(st.sampled_from("MIFBX"), slot_bits)
@examples(300)
def test_a_slot_is_reserved_only_when_no_row_matches_it(unit: str, encoding: int) -> None:
    matches = [
        row for row in INSTRUCTIONS if unit in row.units and encoding & row.mask == row.value and row.tie is None
    ]
    row = decoder.find(unit, encoding)
    assert (row is not None) >= bool(matches)
    if row is not None and row.tie is None:
        assert row in matches
        assert not any(row.text in other.over for other in matches)


@pytest.mark.slow
@given(st.sampled_from(INSTRUCTIONS), st.integers(0, 63), st.data())
@examples(300)
def test_an_assembled_instruction_has_its_operands(row: Row, qp: int, data: st.DataObject) -> None:
    widths = {register.field: row.layout.fields[register.field].width for register in row.registers}
    operands = {name: data.draw(st.integers(0, (1 << width) - 1), name) for name, width in widths.items()}
    if not row.layout.predicated:
        qp = 0
    try:
        unit, encoding, extension = encode(
            row.text,
            qp=qp,
            **operands,
            **{name: way.table[0] if way.table else way.base for _, name, way in row.immediates},
        )
    except ValueError:
        return  # the operands drawn contradict bits that the row fixes
    found = decoder.find(unit, encoding, extension)
    assert found is not None
    if found.text == row.text:
        values = decoder.extract(found.number, encoding, extension)
        for register in row.registers:
            assert values[f"r{register.place + 1}"] == operands[register.field]
        assert values["qp"] == qp
    else:
        assert row.text in found.over
