"""fsetc, fclrf, fchkf, break.f, nop.f on the status fields of FPSR."""

from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_step import DEFAULT_FPSR

from pfmon.engine.ia64._ia64 import step

fields = st.integers(0, 3)
RESERVED_REGISTER_FIELD = 4
CUT, BREAK, DONE, FAULT = 5, 6, 7, 4
any_fpsr = st.integers(0, (1 << 58) - 1)


def controls(fpsr: int, sf: int) -> int:
    return fpsr >> (6 + 13 * sf) & 0x7F


def flags(fpsr: int, sf: int) -> int:
    return fpsr >> (13 + 13 * sf) & 0x3F


@examples(60)
@given(fields, any_fpsr, st.integers(0, 127), st.integers(0, 127))
def test_controls_are_sf0s_masked(sf: int, fpsr: int, and_mask: int, or_mask: int) -> None:
    encoding = sf << 34 | 4 << 27 | or_mask << 20 | and_mask << 13
    status, after = step("F", encoding, {"fpsr": fpsr})
    wanted = controls(fpsr, 0) & and_mask | or_mask
    if wanted >> 2 & 3 == 1 or (sf == 0 and wanted & 0x40):
        assert (status, after["fault"], after["fpsr"]) == (FAULT, RESERVED_REGISTER_FIELD, fpsr)
    else:
        assert status == DONE
        assert controls(after["fpsr"], sf) == wanted
        assert after["fpsr"] ^ fpsr == (controls(fpsr, sf) ^ wanted) << (6 + 13 * sf)


@examples(60)
@given(fields, any_fpsr)
def test_flags_of_one_field_are_cleared(sf: int, fpsr: int) -> None:
    status, after = step("F", sf << 34 | 5 << 27, {"fpsr": fpsr})
    assert (status, after["fpsr"]) == (DONE, fpsr - (flags(fpsr, sf) << (13 + 13 * sf)))


@examples(60)
@given(fields, any_fpsr, st.integers(-(1 << 20), (1 << 20) - 1))
def test_check_branches_for_new_or_enabled_flags(sf: int, fpsr: int, bundles: int) -> None:
    here = 0x4000000000010000
    sign = 1 if bundles < 0 else 0
    encoding = sign << 36 | sf << 34 | 8 << 27 | (bundles & 0xFFFFF) << 6
    status, after = step("F", encoding, {"fpsr": fpsr}, bundle_address=here)
    suspicious = any(
        flags(fpsr, sf) >> bit & 1 and (not fpsr >> bit & 1 or not flags(fpsr, 0) >> bit & 1) for bit in range(6)
    )
    if suspicious:
        assert (status, after["ip"]) == (CUT, here + 16 * bundles)
    else:
        assert (status, after["ip"]) == (DONE, 0)
    assert after["fpsr"] == fpsr


def test_break_gives_its_number() -> None:
    number = 0x12345 | 1 << 20
    status, after = step("F", 1 << 36 | 0x12345 << 6, {"fpsr": DEFAULT_FPSR})
    assert (status, after["fault_info"]) == (BREAK, number)


def test_nop_and_hint_do_nothing() -> None:
    state = {"fpsr": DEFAULT_FPSR, "fr": {1: (0, 0xFFFF, 1 << 63)}}
    before = step("F", 1 << 27, state)
    assert before[0] == DONE
    for encoding in (1 << 27 | 0x54321 << 6, 1 << 27 | 1 << 26, 1 << 36 | 1 << 27 | 1 << 26):
        assert step("F", encoding, state) == before
