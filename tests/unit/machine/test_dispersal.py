"""Which instructions issue together: ports and the rules of bundles (Montecito manual, 2.3.1)."""

import pytest
from grids import each
from machine_code import open_bundle, per_pass

LOAD, STORE, ADD, SHIFT = "ld8 r10=[r20]", "st8 [r21]=r20", "add r11=r0,r0", "shl r12=r0,r0"
FLOAT_LOAD, MULTIPLY_ADD = "ldf8 f10=[r20]", "fma.s0 f11=f6,f6,f6"
MOVE = "mov r13=b6"
SHIFT_0 = "extr r10=r0,3,4"  # I0 alone, on the Itanium 2


def cycles(*bundles: tuple[str, ...], machine: str = "itanium2") -> float:
    """Cycles that bundles without stops but the last one's add to a loop. Banks of L2 are no matter of ports."""
    banks = ["l2d.banks=0" if machine == "montecito" else "l2.banks=0"]
    body = [*(open_bundle(*bundle) for bundle in bundles[:-1]), bundles[-1]]
    passed, bubbles = per_pass(body, machine, banks)
    assert not bubbles, bubbles
    return passed - per_pass(["nop.m 0"], machine)[0] + 1


def test_two_full_bundles_issue_in_one_cycle():
    """MII MMI with everything on its port: six instructions a cycle."""
    pair = (("MMI", ADD, "add r14=r0,r0", "add r15=r0,r0"), ("MFI", "add r16=r0,r0", "", ""))
    assert cycles(*pair) == 1
    assert cycles(*pair, *pair) == 2


@each(
    ("first", "second", "expected", "why"),
    [
        (("MMI", LOAD, "ld8 r14=[r20]", ""), ("MFI", "", "", ""), 1, "two loads"),
        (("MMI", LOAD, "ld8 r14=[r20]", ""), ("MFI", "ld8 r15=[r20]", "", ""), 2, "loads go to M0 and M1 only"),
        (("MMI", STORE, "st8 [r22]=r20", ""), ("MFI", "", "", ""), 1, "two stores"),
        (("MMI", STORE, "st8 [r22]=r20", ""), ("MFI", "st8 [r21]=r0", "", ""), 2, "stores go to M2 and M3 only"),
        (("MMI", LOAD, STORE, ""), ("MMI", "ld8 r14=[r22]", "st8 [r21]=r0", ""), 1, "two loads and two stores"),
        (("MMI", FLOAT_LOAD, "ldf8 f12=[r20]", ""), ("MMI", "ldf8 f13=[r20]", "ldf8 f14=[r20]", ""), 1, "FP loads"),
        (("MMI", "getf.sig r10=f6", "", ""), ("MFI", "", "", ""), 1, "one getf"),
        (("MMI", "getf.sig r10=f6", "getf.sig r14=f6", ""), ("MFI", "", "", ""), 2, "getf goes to M2 only"),
        (("MII", "", MOVE, "mov r14=b7"), ("MFI", "", "", ""), 2, "moves from branch registers go to I0 only"),
        (("MII", "", "sxt1 r10=r0", "sxt1 r14=r0"), ("MFI", "", "", ""), 2, "three I-type instructions (a nop.i)"),
        (("MII", "", "sxt1 r10=r0", "sxt1 r14=r0"), ("MMF", "", "", ""), 1, "two I-type instructions"),
        (("MFI", "", MULTIPLY_ADD, ""), ("MFI", "", "fma.s0 f12=f6,f6,f6", ""), 1, "two multiply-adds"),
        (("MIB", "", "", ""), ("MII", "", "", ADD), 1, "nop.b does not end the group"),
        (("MBB", "", "", ""), ("MII", "", "", ""), 2, "MBB ends it"),
        (("MIB", "", "", ""), ("BBB", "", "", ""), 2, "BBB does not go with MIB"),
    ],
)
def test_ports_and_rules(first, second, expected, why):
    assert cycles(first, second) == expected, why


@each(
    ("first", "second", "expected", "why"),
    [
        (("MII", "", SHIFT_0, "sxt1 r14=r0"), ("MMF", "", "", ""), 1, "the first I slot goes to I0"),
        (("MII", "", "sxt1 r14=r0", SHIFT_0), ("MMF", "", "", ""), 2, "the second I slot goes to I1"),
        (("MII", "", ADD, SHIFT_0), ("MMF", "", "", ""), 2, "... whatever is in the first"),
        (("MMI", "", "", ADD), ("MII", "", SHIFT_0, ""), 2, "the second I slot of the group, in its second bundle"),
        (("MMF", "", "", ""), ("MMI", "", "", SHIFT_0), 1, "the first I slot of the group, in its second bundle"),
        (("MII", "", ADD, "add r14=r0,r0"), ("MII", "", "add r15=r0,r0", "add r16=r0,r0"), 1, "A-type in M ports, too"),
        (("MII", "", ADD, "add r14=r0,r0"), ("MFI", "", "", "sxt1 r15=r0"), 2, "I ports are taken in order"),
        (
            ("MMI", "add r15=r0,r0", LOAD, ""),
            ("MMI", "ld8 r14=[r22]", STORE, ""),
            1,
            "M slots are reordered between subtypes",
        ),
    ],
)
def test_ports_by_position(first, second, expected, why):
    """2.3.1: "based on the position of the instruction within the instruction group"; which, as GCC has it."""
    assert cycles(first, second) == expected, why


@pytest.mark.parametrize(("machine", "expected"), [("itanium2", 2), ("montecito", 1)])
def test_montecito_shifts_on_both_integer_ports(machine, expected):
    """Table 2-6, note 1: extr, dep, shrp, popcnt on I1 as well."""
    pair = (("MII", "", "extr r10=r0,3,4", "extr r11=r0,3,4"), ("MMF", "", "", ""))
    assert cycles(*pair, machine=machine) == expected


def test_itanium_has_two_memory_ports_and_splits_at_mmf():
    pair = (("MMI", "", "", ""), ("MMI", "", "", ""))
    assert cycles(*pair, machine="itanium2") == 1
    assert cycles(*pair, machine="itanium") == 2
    pair = (("MMF", "", "", ""), ("MII", "", "", ""))
    assert cycles(*pair, machine="itanium2") == 1
    assert cycles(*pair, machine="itanium") == 2


def test_stop_ends_the_group():
    assert per_pass(["nop.m 0"] * 4, "itanium2")[0] == per_pass(["nop.m 0"] * 3, "itanium2")[0] + 1
