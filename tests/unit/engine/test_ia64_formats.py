"""The tables of instruction formats, operands and templates are consistent in themselves."""

from grids import each

from pfmon.isa.ia64.bundle import TEMPLATES, slots
from pfmon.isa.ia64.formats import FORMATS, Format
from pfmon.isa.ia64.operands import OPERANDS, operand


def test_every_format_of_the_manual_is_there() -> None:
    counts = {"A": 10, "I": 30, "M": 48, "B": 9, "F": 16, "X": 5}
    assert set(FORMATS) == {f"{unit}{n}" for unit, count in counts.items() for n in range(1, count + 1)}


@each("layout", FORMATS.values(), ids=FORMATS)
def test_fields_of_a_format_do_not_overlap(layout: Format) -> None:
    used = 0
    for name, field in layout.fields.items():
        assert not used & field.mask, name
        used |= field.mask
    assert used < 1 << (82 if layout.unit == "X" else 41)


@each("key", OPERANDS)
def test_every_way_to_encode_an_operand_belongs_to_a_format(key: str) -> None:
    layout, _, name = key.rpartition(".")
    for way in OPERANDS[key]:
        assert any(operand(form, name or key) == way for form in FORMATS.values() if layout in ("", form.name))


def test_reserved_templates_have_no_slots() -> None:
    reserved = {0x06, 0x07, 0x14, 0x15, 0x1A, 0x1B, 0x1E, 0x1F}
    assert {number for number in range(32) if slots(number) is None} == reserved


def test_odd_templates_end_with_a_stop_and_even_ones_do_not() -> None:
    for number, template in TEMPLATES.items():
        assert template.stops[2] == bool(number & 1)
        if number & 1:
            assert template.units == TEMPLATES[number - 1].units


def test_only_templates_02_03_0a_0b_have_a_stop_inside() -> None:
    inside = {number: template.stops[:2] for number, template in TEMPLATES.items() if any(template.stops[:2])}
    assert inside == {0x02: (False, True), 0x03: (False, True), 0x0A: (True, False), 0x0B: (True, False)}


def test_slots_are_cut_out_of_a_bundle() -> None:
    bundle = 0x10 | 0x1_2345_6789 << 5 | 0xAB_CDEF_0123 << 46 | 0x155_5555_5555 << 87
    found = slots(bundle)
    assert found is not None
    assert [(slot.unit, slot.encoding) for slot in found] == [
        ("M", 0x1_2345_6789),
        ("I", 0xAB_CDEF_0123),
        ("B", 0x155_5555_5555),
    ]


def test_a_long_instruction_takes_the_last_two_slots() -> None:
    found = slots(0x05 | 0x1 << 5 | 0x2 << 46 | 0x3 << 87)
    assert found is not None
    assert [(slot.number, slot.unit, slot.encoding, slot.extension, slot.stop) for slot in found] == [
        (0, "M", 1, 0, False),
        (1, "X", 3, 2, True),
    ]
