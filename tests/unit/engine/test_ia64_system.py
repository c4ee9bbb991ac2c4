"""Application registers, user mask, probes, identification, privileged instructions (SDM volume 1, 3.1; volume 3)."""

import pytest
from grids import each
from ia64_assembly import BREAK
from ia64_machine import (
    ACCESS_RIGHTS,
    DATA,
    ILLEGAL_OPERATION,
    MASK,
    NOT_PRESENT,
    PAGE,
    PRIVILEGED_OPERATION,
    PRIVILEGED_REGISTER,
    READ_ONLY,
    RESERVED_REGISTER_FIELD,
    UM_AC,
    UM_BE,
    UM_UP,
    UNMAPPED,
    Machine,
)

from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.isa.ia64.operands import CONTROL_REGISTERS
from pfmon.stream._stream import Kind
from pfmon.stream.marks import Mark

WRITABLE = {"M": ["ar.csd", "ar.ssd", "ar.ccv", "ar.unat", "ar.fcr", "ar.fsr", "ar.fir", "ar.fdr"], "I": ["ar.lc"]}
RESERVED = [*range(8, 16), 20, 22, 23, 31, *range(33, 36), *range(37, 40), *range(41, 44), 46, 47]


@each("value", [0, 0x123456789ABCDEF0, MASK])
@each(("unit", "name"), [("m", n) for n in WRITABLE["M"]] + [("i", n) for n in WRITABLE["I"]])
def test_application_register_keeps_what_is_written(unit: str, name: str, value: int) -> None:
    m = Machine([f"mov.{unit} {name}=r8", f"mov.{unit} r9={name}", BREAK]).set({8: value}).until_break()
    assert m.cpu.gr(9) == value


@each("value", [-128, -1, 0, 127])
@each(("unit", "name"), [("m", "ar.ccv"), ("m", "ar.unat"), ("i", "ar.lc")])
def test_immediate_to_an_application_register_is_sign_extended(unit: str, name: str, value: int) -> None:
    m = Machine([f"mov.{unit} {name}={value}", f"mov.{unit} r9={name}", BREAK]).until_break()
    assert m.cpu.gr(9) == value & MASK


@each("unit", ["m", "i"])
@each("number", [48, 63, 112, 127])
def test_ignored_application_registers_read_as_zero(unit: str, number: int) -> None:
    m = Machine([f"mov.{unit} ar{number}=r8", f"mov.{unit} r9=ar{number}", BREAK]).set({8: 5, 9: 5}).until_break()
    assert m.cpu.gr(9) == 0


@each("number", RESERVED)
def test_reserved_application_registers_are_illegal(number: int) -> None:
    Machine([f"mov.m r9=ar{number}", BREAK]).until_fault(ILLEGAL_OPERATION)
    Machine([f"mov.m ar{number}=r9", BREAK]).until_fault(ILLEGAL_OPERATION)


@pytest.mark.parametrize(
    "text", ["mov.i r9=ar.ccv", "mov.i ar.ccv=r9", "mov.m r9=ar.lc", "mov.m ar.lc=r9", "mov.m ar.ec=1"]
)
def test_application_register_of_the_other_unit_is_illegal(text: str) -> None:
    Machine([text, BREAK]).until_fault(ILLEGAL_OPERATION)


@each("name", ["ar.itc", "ar.cflg", *(f"ar.k{n}" for n in range(8))])
def test_privileged_application_registers_cannot_be_written(name: str) -> None:
    Machine([f"mov.m {name}=r9", BREAK]).until_fault(PRIVILEGED_REGISTER)
    Machine([f"mov.m r9={name}", BREAK]).until_break()


def test_bsp_is_read_only() -> None:
    Machine(["mov.m ar.bsp=r9", BREAK]).until_fault(ILLEGAL_OPERATION)


FPSR = 0x9804C0270033F
RESERVED_VALUES = (
    [("mov.m ar.rsc=r8", 1 << bit) for bit in (5, 15, 30, 63)]
    + [("mov.m ar.fpsr=r8", FPSR | 1 << bit) for bit in (12, 58, 63)]
    + [("mov.m ar.fpsr=r8", FPSR & ~(3 << 8 + 13 * field) | 1 << 8 + 13 * field) for field in range(4)]
    + [("mov.i ar.pfs=r8", 1 << bit) for bit in (38, 51, 58, 61)]
)


@each(("text", "value"), RESERVED_VALUES)
def test_reserved_fields_fault(text: str, value: int) -> None:
    m = Machine([text, BREAK]).set({8: value}, rsc=0xC, pfs=7, fpsr=FPSR).until_fault(RESERVED_REGISTER_FIELD)
    assert (m.cpu.ar("rsc"), m.cpu.ar("pfs"), m.cpu.ar("fpsr")) == (0xC, 7, FPSR)


def test_rsc_privilege_level_stays_that_of_the_program() -> None:
    m = Machine(["mov.m ar.rsc=0", "mov.m r8=ar.rsc", "mov.m ar.rsc=r9", "mov.m r10=ar.rsc", BREAK])
    m.set({9: 0x3FFF0013}).until_break()
    assert (m.cpu.gr(8), m.cpu.gr(10)) == (0xC, 0x3FFF001F)


def test_ec_has_six_bits_and_rnat_sixty_three() -> None:
    lines = ["mov.i ar.ec=r8", "mov.i r9=ar.ec", "mov.m ar.rnat=r8", "mov.m r10=ar.rnat", BREAK]
    m = Machine(lines).set({8: MASK}, rsc=0).until_break()
    assert (m.cpu.gr(9), m.cpu.gr(10)) == (63, MASK >> 1)


# --- user mask


def test_user_mask_bits_are_set_cleared_and_moved() -> None:
    lines = ["sum 0xc", "mov r8=psr.um", "rum 0x4", "mov r9=psr.um", "mov psr.um=r10", "mov r11=psr.um", BREAK]
    m = Machine(lines).set({10: UM_UP})
    m.cpu.set_secure(False)
    m.until_break()
    assert (m.cpu.gr(8), m.cpu.gr(9), m.cpu.gr(11)) == (UM_UP | UM_AC, UM_AC, UM_UP)
    assert m.tally.marks(Mark.MODE).marks == 3


@pytest.mark.parametrize("up", [0, UM_UP])
def test_secure_programs_do_not_change_psr_up(up: int) -> None:
    # SDM volume 3, sum, rum, mov to PSR.um: only while PSR.sp is 0.
    lines = ["sum 0xc", "mov r8=psr.um", "rum 0x4", "mov r9=psr.um", "mov psr.um=r10", "mov r11=psr.um", BREAK]
    m = Machine(lines).set({10: up ^ UM_UP}, um=up).until_break()
    assert (m.cpu.gr(8), m.cpu.gr(9), m.cpu.gr(11)) == (up | UM_AC, up | UM_AC, up)


@pytest.mark.parametrize("text", ["sum 0x1", "rum 0x40", "sum 0x800000", "mov psr.um=r8"])
def test_reserved_user_mask_bits_fault(text: str) -> None:
    Machine([text, BREAK]).set({8: 1 << 6}).until_fault(RESERVED_REGISTER_FIELD)


def test_byte_order_and_alignment_check_apply_to_the_next_access() -> None:
    lines = [
        "ld4 r8=[r6]",
        "sum 0x2",
        "ld4 r9=[r6]",
        "st4 [r7]=r9",
        "rum 0x2",
        "ld4 r10=[r6]",
        "sum 0x8",
        "ld4 r11=[r12]",
    ]
    m = Machine([*lines, BREAK]).set({6: DATA, 7: DATA + 8, 12: DATA + 1})
    m.memory.write(DATA, bytes([1, 2, 3, 4]))
    m.until_fault(7)
    assert (m.cpu.gr(8), m.cpu.gr(9), m.cpu.gr(10)) == (0x04030201, 0x01020304, 0x04030201)
    assert m.memory.read(DATA + 8, 4) == bytes([1, 2, 3, 4])
    assert m.cpu.um & UM_BE == 0


# --- probes and cache


@pytest.mark.parametrize(("address", "read", "write"), [(DATA, 1, 1), (READ_ONLY, 1, 0)])
def test_probe_tells_the_rights(address: int, read: int, write: int) -> None:
    lines = ["probe.r r8=r6,3", "probe.w r9=r6,3", "probe.r r10=r6,r7", "probe.w r11=r6,r7", BREAK]
    m = Machine(lines).set({6: address}).until_break()
    assert [m.cpu.gr(n) for n in (8, 9, 10, 11)] == [read, write, read, write]


@pytest.mark.parametrize("text", ["probe.r r8=r6,3", "probe.w.fault r6,3", "fc r6", "fc.i r6", "lfetch.fault [r6]"])
def test_probe_of_an_unmapped_page_faults(text: str) -> None:
    m = Machine([text, BREAK]).set({6: UNMAPPED}).until_fault(NOT_PRESENT)
    assert m.cpu.fault_address == UNMAPPED


@pytest.mark.parametrize(("text", "fails"), [("r", False), ("w", True), ("rw", True)])
def test_faulting_probe(text: str, fails: bool) -> None:
    m = Machine([f"probe.{text}.fault r6,3", BREAK]).set({6: READ_ONLY})
    if fails:
        m.until_fault(ACCESS_RIGHTS)
    else:
        m.until_break()


@pytest.mark.parametrize("text", ["lfetch [r6],-5", "lfetch.excl.nt1 [r6],-5", "lfetch.nta [r6],r7"])
def test_line_prefetch_updates_its_base_and_never_faults(text: str) -> None:
    m = Machine([text, BREAK]).set({6: UNMAPPED, 7: -5}).until_break()
    assert m.cpu.gr(6) == UNMAPPED - 5


def test_translation_hash_is_an_entry_of_the_regions_linear_table() -> None:
    m = Machine(["thash r8=r6", "thash r9=r7", "ttag r10=r6", BREAK])
    m.set({6: 2 << 61 | 5 * PAGE + 17, 7: 2 << 61 | 6 * PAGE}).until_break()
    assert m.cpu.gr(9) - m.cpu.gr(8) == 8
    assert m.cpu.gr(8) >> 61 == 2


def test_processor_identifies_itself() -> None:
    lines = [f"mov r{8 + n}=cpuid[r{16 + n}]" for n in range(5)]
    m = Machine([*lines, BREAK]).set({16 + n: n for n in range(5)}).until_break()
    assert (m.cpu.gr(8) | m.cpu.gr(9) << 64).to_bytes(16, "little").rstrip(b"\0") == b"GenuineIntel"
    assert m.cpu.gr(11) & 0xFF == 4
    assert m.cpu.gr(11) >> 24 & 0xFF == 0x1F  # family: Itanium 2
    assert m.cpu.gr(12) & 1  # it has brl
    Machine(["mov r8=cpuid[r9]", BREAK]).set({9: 5}).until_fault(RESERVED_REGISTER_FIELD)


# --- privileged instructions

OPERANDS = {"cr3": "cr.iva", "r1": "r8", "r2": "r9", "r3": "r10", "imm24": "0x2"}


def concrete(text: str) -> str:
    """A row's text with registers in place of operand names."""
    mnemonic, _, operands = text.partition(" ")
    for name, value in OPERANDS.items():
        operands = operands.replace(name, value)
    return f"{mnemonic} {operands}".strip()


PRIVILEGED = sorted({concrete(row.text) for row in INSTRUCTIONS if row.kind & Kind.PRIVILEGED})


def test_there_are_privileged_instructions() -> None:
    assert len(PRIVILEGED) > 30
    assert CONTROL_REGISTERS[2] == "iva"


@each("text", PRIVILEGED)
def test_privileged_instruction_faults(text: str) -> None:
    m = Machine([text, BREAK]).until_fault(PRIVILEGED_OPERATION)
    assert m.cpu.retired in (0, 2)
