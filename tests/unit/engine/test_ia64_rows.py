"""What a row's text says about its registers, and what is refused."""

from typing import Any

import pytest
from grids import each

from pfmon.isa.ia64.instruction import Row, made
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS


def the(text: str) -> Row:
    return next(one for one in INSTRUCTIONS if one.text == text)


def roles(text: str) -> dict[str, str]:
    """Register field -> s(ource), t(arget), b(ase that is updated)."""
    return {
        register.field: "s" * register.source + "t" * register.target + "b" * register.base
        for register in the(text).registers
    }


@each(
    ("text", "expected"),
    [
        ("add r1=r2,r3", {"r1": "t", "r2": "s", "r3": "s"}),
        ("cmp.eq p1,p2=r2,r3", {"p1": "t", "p2": "t", "r2": "s", "r3": "s"}),
        ("mov b1=r2", {"b1": "t", "r2": "s"}),
        ("mov pr=r2,mask17", {"r2": "s"}),
        ("ld8 r1=[r3]", {"r1": "t", "r3": "s"}),
        ("ld8 r1=[r3],r2", {"r1": "t", "r3": "stb", "r2": "s"}),
        ("st8 [r3]=r2", {"r3": "s", "r2": "s"}),
        ("st8 [r3]=r2,imm9", {"r3": "stb", "r2": "s"}),
        ("st16 [r3]=r2,ar.csd", {"r3": "s", "r2": "s"}),
        ("ldfpd f1,f2=[r3],16", {"f1": "t", "f2": "t", "r3": "stb"}),
        ("lfetch [r3],imm9", {"r3": "stb"}),
        ("fetchadd8.acq r1=[r3],inc3", {"r1": "t", "r3": "s"}),
        ("fma.d.s0 f1=f3,f4,f2", {"f1": "t", "f3": "s", "f4": "s", "f2": "s"}),
    ],
)
def test_roles_follow_from_the_text(text: str, expected: dict[str, str]) -> None:
    assert roles(text) == expected


def test_the_formats_with_base_update_and_no_others_update_a_base() -> None:
    updating = {one.layout.name for one in INSTRUCTIONS if any(register.base for register in one.registers)}
    rest = {one.layout.name for one in INSTRUCTIONS if not any(register.base for register in one.registers)}
    assert updating == {"M2", "M3", "M5", "M7", "M8", "M10", "M12", "M14", "M15"}
    assert not updating & rest


def test_rows_are_numbered_in_order() -> None:
    assert [one.number for one in INSTRUCTIONS] == list(range(len(INSTRUCTIONS)))


@each(
    ("layout", "text", "fields", "complaint"),
    [
        ("A1", "add r1=r2,r3", {"x2a": 0}, "no major opcode"),
        ("A1", "add r1=r2,r3", {"op": 8, "x6": 0}, "has no field x6"),
        ("A1", "add r1=r2,r3", {"op": 16}, "does not fit"),
        ("A1", "add r1=r2,f3", {"op": 8}, "has no field f3"),
        ("A1", "add r1=imm14,r3", {"op": 8}, "has no operand imm14"),
        ("A1", "add r1=r2,r3", {"op": 8, "nat": "sometimes"}, "nat is 'sometimes'"),
        ("I11", "shr r1=r3,count6", {"op": 5, "tie": "len6d=y"}, "differ in width"),
    ],
)
def test_a_row_that_does_not_fit_its_format_is_refused(
    layout: str, text: str, fields: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        made(0, layout, text, 0, **fields)
