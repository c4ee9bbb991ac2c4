"""Integer instructions in the whole engine: NaT bits, illegal targets, predication, whole sequences."""

from random import Random
from typing import Any

import pytest
from enumerated import members
from grids import each, sampled
from ia64_execute import CODE, execute
from ia64_forms import MASK, draw_immediate, draw_word

from pfmon.engine.ia64._ia64 import step
from pfmon.isa.ia64._encodings import Fault
from pfmon.isa.ia64.assemble import encode
from pfmon.isa.ia64.instruction import Row
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS

ILLEGAL_OPERATION, REGISTER_NAT_CONSUMPTION = members(Fault, "FAULT", "ILLEGAL_OPERATION REGISTER_NAT_CONSUMPTION")

INTEGER = [row for row in INSTRUCTIONS if row.layout.unit in "AIX" and row.emit == "plain"]
BY_TEXT = {row.text: row for row in INTEGER}


def fields(row: Row, file: str, **roles: bool) -> list[str]:
    """Names of the row's register operands in a register file and with roles (source, target)."""
    return [
        register.field
        for register in row.registers
        if register.file == file and all(getattr(register, role) == held for role, held in roles.items())
    ]


def operands(row: Row, numbers: Random) -> dict[str, int]:
    """Different registers for all operands, immediates drawn."""
    found = {"r1": 40, "r2": 41, "r3": 2, "p1": 8, "p2": 9, "b1": 6, "b2": 7, "ar3": 64}
    given = {register.field: found[register.field] for register in row.registers}
    return given | {name: draw_immediate(numbers, row, way) for name, _, way in named(row)}


def named(row: Row) -> list[tuple[str, str, Any]]:
    return [(name, place, way) for place, name, way in row.immediates]


WITH_TARGET = [text for text, row in BY_TEXT.items() if fields(row, "GR", target=True) and "ar3" not in text]


@sampled(60)
@each("text", WITH_TARGET)
def test_target_is_nat_when_and_only_when_a_source_is(text: str) -> None:
    row = BY_TEXT[text]
    given = operands(row, Random(text))
    code = [encode(text, **given)]
    for nat in [None, *fields(row, "GR", source=True)]:
        # The target's own NaT bit goes away.
        set_bits = {given["r1"]} | ({given[nat]} if nat else set())
        done, processor = execute(code, gr={given["r1"]: 5}, nat=set_bits)
        assert done
        assert processor.nat(given["r1"]) == (nat is not None)


CONSUMERS = {"mov b1=r2", "mov.sptk b1=r2,tag13", "mov pr=r2,mask17", "mov.i ar.lc=r2", "mov.i ar.pfs=r2"}


@pytest.mark.parametrize("text", sorted(CONSUMERS))
def test_nat_in_a_move_to_another_register_file_is_consumption(text: str) -> None:
    given = operands(BY_TEXT[text], Random(text))
    done, processor = execute([encode(text, **given)], nat={given["r2"]}, pr=0b11 << 8)
    assert (done, processor.fault) == (False, REGISTER_NAT_CONSUMPTION)
    assert (processor.br(6), processor.ar("lc"), processor.pr) == (0, 0, 0b11 << 8 | 1)


COMPARISONS = [text for text, row in BY_TEXT.items() if row.ctype and row.nat == "compare"]


@each("before", [0b00, 0b01, 0b10, 0b11])
@each("text", COMPARISONS[:: len(COMPARISONS) // 24])
def test_nat_in_a_comparison_clears_targets_unless_it_is_of_an_or_type(text: str, before: int) -> None:
    given = operands(BY_TEXT[text], Random(text))
    done, processor = execute([encode(text, **given)], nat={given["r3"]}, pr=1 | before << 8)
    assert done
    assert processor.pr >> 8 == (before if ".or" in text else 0)


def test_the_comparisons_tried_with_nat_have_all_types() -> None:
    tried = COMPARISONS[:: len(COMPARISONS) // 24]
    assert {BY_TEXT[text].ctype for text in tried} == {"none", "unc", "and", "or", "or.andcm"}


@each("text", WITH_TARGET)
def test_r0_as_target_is_illegal_unless_predicated_off(text: str) -> None:
    given = operands(BY_TEXT[text], Random(text)) | {"r1": 0}
    done, processor = execute([encode(text, **given)])
    assert (done, processor.fault) == (False, ILLEGAL_OPERATION)
    assert processor.ip & ~15 == CODE
    done, _ = execute([encode(text, qp=6, **given)])
    assert done


@each("text", [text for text, row in BY_TEXT.items() if row.ctype])
def test_one_predicate_as_both_targets_is_illegal(text: str) -> None:
    given = operands(BY_TEXT[text], Random(text)) | {"p1": 9}
    done, processor = execute([encode(text, **given)])
    assert (done, processor.fault) == (False, ILLEGAL_OPERATION)
    done, _ = execute([encode(text, qp=6, **given)])
    # Types unc write their targets even so.
    assert done == (".unc" not in text)


@each("text", ["add r1=r2,r3", "movl r1=imm64", "mov r1=ip"])
@each("checked", [False, True])
def test_a_target_outside_the_frame_is_illegal(text: str, checked: bool) -> None:
    for sof, target, legal in ((8, 39, True), (8, 40, False), (0, 32, False), (0, 31, True), (96, 127, True)):
        given = operands(BY_TEXT[text], Random(text)) | {"r1": target}
        done, processor = execute([encode(text, **given)], sof=sof, nat={5} if checked else ())
        assert done == legal
        assert legal or processor.fault == ILLEGAL_OPERATION


def test_mov_from_ip_is_the_bundle_that_it_stands_in() -> None:
    code = [encode("nop.i imm21", imm21=0), encode("mov r1=ip", r1=8), encode("mov r1=ip", r1=9)]
    _, processor = execute(code)
    assert (processor.gr(8), processor.gr(9)) == (CODE + 16, CODE + 32)


@pytest.mark.parametrize("nat", [False, True])
def test_chk_s_leaves_the_block_for_its_target_on_nat(nat: bool) -> None:
    code = [
        encode("chk.s.i r2,tgt25", bundle_address=CODE, r2=33, tgt25=CODE + 48),
        encode("adds r1=imm14,r3", r1=34, imm14=1, r3=34),
        encode("adds r1=imm14,r3", r1=34, imm14=10, r3=34),
    ]
    done, processor = execute(code, nat={33} if nat else ())
    assert done
    assert processor.gr(34) == (0 if nat else 11)


@pytest.mark.parametrize("nat", [False, True])
def test_tnat_and_what_follows_it_see_the_nat_bit(nat: bool) -> None:
    code = [
        encode("tnat.z p1,p2=r3", p1=7, p2=6, r3=33),
        encode("mov r1=imm22", qp=6, r1=35, imm22=1),
        encode("mov r1=imm22", qp=7, r1=35, imm22=2),
    ]
    _, processor = execute(code, nat={33} if nat else ())
    assert processor.gr(35) == (1 if nat else 2)


@pytest.mark.parametrize("max_block", [96, 7, 1])
def test_interval_time_counter_is_what_retired_before_it(max_block: int) -> None:
    code = [encode("nop.i imm21", imm21=0)] * 5 + [encode("mov.m r1=ar3", r1=8, ar3=44)]
    done, processor = execute(code, max_block=max_block)
    assert (done, processor.gr(8)) == (True, 15)


@each("number", [48, 63, 112, 127])
@each("unit", ["m", "i"])
def test_ignored_application_registers_read_as_zero_from_both_units(unit: str, number: int) -> None:
    code = [encode(f"mov.{unit} ar3=r2", r2=5, ar3=number), encode(f"mov.{unit} r1=ar3", r1=5, ar3=number)]
    done, processor = execute(code, gr={5: 77})
    assert (done, processor.gr(5)) == (True, 0)


def sequence(numbers: Random, length: int) -> list[tuple[str, int, int]]:
    """Any integer instructions, many predicated, on a few registers."""
    code = []
    while len(code) < length:
        row = numbers.choice(INTEGER)
        if "ar" in row.text or "ip" in row.text:
            continue
        given = {}
        for register in row.registers:
            match register.file:
                case "GR" if row.layout.fields[register.field].width == 2:  # addl
                    given[register.field] = 3
                case "GR":
                    given[register.field] = numbers.choice([32, 33, 34, 35, 3])
                case "PR":
                    given[register.field] = numbers.choice([1, 2] if register.field == "p1" else [3, 4])
                case _:
                    given[register.field] = numbers.choice([6, 7])
        given |= {name: draw_immediate(numbers, row, way) for name, _, way in named(row)}
        code.append(encode(row.text, qp=numbers.choice([0, 0, 1, 2, 3, 4]), **given))
    return code


@each("seed", range(12))
def test_sequences_give_what_their_instructions_give_one_by_one(seed: int) -> None:
    numbers = Random(seed)
    code = sequence(numbers, 150)
    gr = {number: draw_word(numbers) for number in (3, 32, 33, 34, 35)}
    pr = numbers.getrandbits(5) | 1
    state: dict[str, Any] = {"gr": gr, "pr": pr, "br": {6: 1, 7: 2}}
    for unit, encoding, extension in code:
        _, state = step(unit, encoding, {name: state[name] for name in ("gr", "pr", "br")}, extension)
    for max_block in (96, 7, 1):
        done, processor = execute(code, gr=gr, pr=pr, br={6: 1, 7: 2}, max_block=max_block)
        assert done
        assert {n: processor.gr(n) for n in range(1, 128) if processor.gr(n)} == state["gr"]
        assert (processor.pr & MASK, processor.br(6), processor.br(7)) == (
            state["pr"], state["br"].get(6, 0), state["br"].get(7, 0))  # fmt: skip
        # Every bundle holds two nops beside its instruction, or one beside a long one; the last, one nop before
        # its break, which faults and so does not retire.
        assert processor.retired == sum(2 if unit == "X" else 3 for unit, _, _ in code) + 1
