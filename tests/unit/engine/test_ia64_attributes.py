"""What the encoding rows state, against what their assembler text says: a reading of mnemonics of its own."""

import re
from typing import Any

from grids import each

from pfmon.isa.ia64._encodings import (
    AccessFlag,
    AccessType,
    BranchType,
    Effect,
    Operation,
    Place,
    RegisterIndex,
    Use,
    Whether,
    attributes,
)
from pfmon.isa.ia64.formats import FORMATS
from pfmon.isa.ia64.instruction import Row
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.stream._stream import Ia64Kind, Kind

LOADS = re.compile(r"ld(\d+|f[sde8]?|fp[sd8])$")
STORES = re.compile(r"st(\d+|f[sde8]?)$")
SEMAPHORES = re.compile(r"(xchg|cmpxchg|fetchadd|cmp8xchg)\d+$")
# F-unit instructions that only work on the status fields, and those that are no floating-point operation.
STATUS = ("fsetc", "fclrf", "fchkf")

# Floating-point operations of one instruction (names.csv, fp_ops_retired), by the mnemonic's first part.
MULTIPLY_ADDS = {
    4: ["fpma", "fpms", "fpnma", "fpmpy", "fpnmpy"],
    2: ["fma", "fms", "fnma", "fmpy", "fnmpy", "fadd", "fsub", "fnorm"],
}
FP_OPERATIONS = {
    **MULTIPLY_ADDS,
    1: ["fmin", "fmax", "famin", "famax", "fcmp", "fcvt", "frcpa", "frsqrta"],
    2: [*MULTIPLY_ADDS[2], *["fpmin", "fpmax", "fpamin", "fpamax", "fpcmp", "fpcvt", "fprcpa", "fprsqrta"]],
}


def head_of(row: Row) -> str:
    return row.text.split(" ")[0].split(".")[0]


def completers_of(row: Row) -> list[str]:
    return row.text.split(" ")[0].split(".")[1:]


def operands_of(row: Row) -> str:
    return row.text.partition(" ")[2]


def all_rows(wrong: list[str]) -> None:
    """Fails with the texts of the rows that are wrong."""
    assert not wrong


def expected_kind(row: Row) -> Kind:
    head, parts, operands = head_of(row), completers_of(row), operands_of(row)
    kind = Kind(0)
    if head in ("nop", "hint"):
        kind |= Kind.NOP
    if LOADS.match(head) or SEMAPHORES.match(head):
        kind |= Kind.LOAD
    if STORES.match(head) or SEMAPHORES.match(head):
        kind |= Kind.STORE
    if SEMAPHORES.match(head):
        kind |= Kind.ATOMIC
    if head == "lfetch":
        kind |= Kind.PREFETCH
    if row.layout.unit == "F" and head not in ("nop", "hint", "break"):
        kind |= Kind.FLOAT if head in STATUS else Kind.FLOAT | Kind.FP_OPERATION
    if row.layout.unit == "M" and re.search(r"\bf[12]\b", operands) and head != "invala":
        kind |= Kind.FLOAT
    if head in ("br", "brl"):
        kind |= Kind.BRANCH | (Kind.RELATIVE if "tgt" in operands else Kind.INDIRECT)
        kind |= {"call": Kind.CALL, "ret": Kind.RETURN}.get(parts[0], Kind(0))
    if head == "break":
        kind |= Kind.SYSTEM
    if row.text == "srlz.i":
        kind |= Kind.SERIALIZE
    return kind


def expected_isa_kind(row: Row) -> Ia64Kind:
    head, parts = head_of(row), completers_of(row)
    kind = Ia64Kind(0)
    if head == "br" and parts[0] in ("cloop", "ctop", "cexit", "wtop", "wexit"):
        kind |= Ia64Kind.LOOP
    if LOADS.match(head):
        kind |= Ia64Kind.SPECULATIVE if {"s", "sa"} & set(parts) else Ia64Kind(0)
        kind |= Ia64Kind.ADVANCED if {"a", "sa"} & set(parts) else Ia64Kind(0)
        kind |= Ia64Kind.LOAD_CHECK if "c" in parts else Ia64Kind(0)
    if head == "chk":
        kind |= Ia64Kind.CHECK_ALAT if parts[0] == "a" else Ia64Kind.CHECK_NAT
    if head == "fchkf":
        kind |= Ia64Kind.CHECK_FLAGS
    if {"spill", "fill"} & set(parts):
        kind |= Ia64Kind.SPILL_FILL
    kind |= {"alloc": Ia64Kind.ALLOC, "epc": Ia64Kind.EPC, "brp": Ia64Kind.PREFETCH_HINT}.get(head, Ia64Kind(0))
    if head in ("alloc", "loadrs", "flushrs", "cover", "rfi") or (
        head in ("br", "brl") and parts[0] in ("call", "ret")
    ):
        kind |= Ia64Kind.RSE_EVENT
    if row.layout.unit == "B":
        kind |= Ia64Kind.SLOT_B
    return kind


def test_common_kinds_are_those_of_the_mnemonic() -> None:
    all_rows([row.text for row in INSTRUCTIONS if row.kind & ~Kind.PRIVILEGED != expected_kind(row)])


def test_kinds_of_the_instruction_set_are_those_of_the_mnemonic() -> None:
    all_rows([row.text for row in INSTRUCTIONS if row.isa_kind != expected_isa_kind(row)])


def expected_access(row: Row) -> AccessType | None:
    head = head_of(row)
    if SEMAPHORES.match(head):
        return AccessType.ACCESS_SEMAPHORE
    if head == "lfetch":
        return AccessType.ACCESS_LFETCH
    if head in ("fc", "fc.i"):
        return AccessType.ACCESS_FLUSH
    if LOADS.match(head):
        return AccessType.ACCESS_FLOAT_LOAD if head.startswith("ldf") else AccessType.ACCESS_LOAD
    if STORES.match(head):
        return AccessType.ACCESS_FLOAT_STORE if head.startswith("stf") else AccessType.ACCESS_STORE
    return None


def test_access_is_that_of_the_mnemonic() -> None:
    all_rows([row.text for row in INSTRUCTIONS if row.access != expected_access(row)])


FLAGS = {
    "acq": AccessFlag.ACCESS_ACQUIRE,
    "rel": AccessFlag.ACCESS_RELEASE,
    "s": AccessFlag.ACCESS_SPECULATIVE,
    "a": AccessFlag.ACCESS_ADVANCED,
    "sa": AccessFlag.ACCESS_SPECULATIVE | AccessFlag.ACCESS_ADVANCED,
    "c": AccessFlag.ACCESS_CHECK,
    "bias": AccessFlag.ACCESS_EXCLUSIVE,
    "excl": AccessFlag.ACCESS_EXCLUSIVE,
    "fault": AccessFlag.ACCESS_FAULTING,
    "nt1": AccessFlag.ACCESS_NT1,
    "nt2": AccessFlag.ACCESS_NT2,
    "d2": AccessFlag.ACCESS_NT2,
    "nta": AccessFlag.ACCESS_NTA,
    "fill": AccessFlag.ACCESS_SPILL_FILL,
    "spill": AccessFlag.ACCESS_SPILL_FILL,
}


def test_access_flags_are_the_completers_and_xchg_acquires() -> None:
    """xchg has no completer of order: SDM volume 3 gives it acquire semantics."""
    wrong = []
    for row in INSTRUCTIONS:
        expected = FLAGS["acq"] if head_of(row).startswith("xchg") else 0
        for part in completers_of(row) if expected_access(row) is not None else ():
            expected |= FLAGS.get(part, 0)
        if row.access_flags != expected:
            wrong.append(row.text)
    all_rows(wrong)


def expected_branch(row: Row) -> BranchType | None:
    head, parts, relative = head_of(row), completers_of(row), "tgt" in operands_of(row)
    if head not in ("br", "brl"):
        return None
    call = parts[0] == "call"
    if head == "brl":
        return BranchType.BRANCH_LONG_CALL if call else BranchType.BRANCH_LONG
    if parts[0] in ("cond", "ia"):
        return BranchType.BRANCH_RELATIVE if relative else BranchType.BRANCH_INDIRECT
    if call:
        return BranchType.BRANCH_CALL if relative else BranchType.BRANCH_INDIRECT_CALL
    return {
        "ret": BranchType.BRANCH_RETURN,
        "cloop": BranchType.BRANCH_CLOOP,
        "ctop": BranchType.BRANCH_CTOP,
        "cexit": BranchType.BRANCH_CTOP,
        "wtop": BranchType.BRANCH_WTOP,
        "wexit": BranchType.BRANCH_WTOP,
    }[parts[0]]


def test_branch_kind_is_that_of_the_mnemonic() -> None:
    all_rows([row.text for row in INSTRUCTIONS if row.branch != expected_branch(row)])


def test_branch_hints_are_the_completers() -> None:
    meaning = {
        "sptk": Whether.STATIC_TAKEN,
        "spnt": Whether.STATIC_NOT_TAKEN,
        "dptk": Whether.DYNAMIC_TAKEN,
        "dpnt": Whether.DYNAMIC_NOT_TAKEN,
    }
    wrong = []
    for row in INSTRUCTIONS:
        parts = completers_of(row) if row.branch is not None else []
        whether = next((meaning[part] for part in parts if part in meaning), 0)
        if (row.whether, row.many, row.clear) != (whether, "many" in parts, "clr" in parts):
            wrong.append(row.text)
    all_rows(wrong)


def expected_effect(row: Row) -> Effect:
    head, parts, operands = head_of(row), completers_of(row), operands_of(row)
    if head == "br" and parts[0] in ("ctop", "cexit", "wtop", "wexit"):
        return Effect.EFFECT_ROTATE
    if head == "brp" and operands.startswith("tgt"):
        return Effect.EFFECT_IMPORTANT_HINT if "imp" in parts else Effect.EFFECT_HINT
    if head == "hint" and parts != ["b"]:  # which never pauses (Montecito manual, table 2-4)
        return Effect.EFFECT_PAUSE
    if row.text == "srlz.i":
        return Effect.EFFECT_SERIALIZE
    if head == "itc":
        return Effect.EFFECT_INSERT_DATA if parts == ["d"] else Effect.EFFECT_INSERT_CODE
    if head == "ptc" and parts == ["e"]:
        return Effect.EFFECT_PURGE
    if head == "mov" and operands.startswith(("pr=", "pr.rot=")):
        return Effect.EFFECT_ALL_PREDICATES
    return {
        "alloc": Effect.EFFECT_ALLOC,
        "cover": Effect.EFFECT_COVER,
        "clrrrb": Effect.EFFECT_CLEAR_ROTATION,
        "loadrs": Effect.EFFECT_LOADRS,
        "fc": Effect.EFFECT_FLUSH_LINE,
        "mf": Effect.EFFECT_FENCE,
        "rfi": Effect.EFFECT_RETURN_FROM,
    }.get(head, Effect.EFFECT_NONE)


def test_effect_on_the_pipeline_is_that_of_the_mnemonic() -> None:
    all_rows([row.text for row in INSTRUCTIONS if row.effect != expected_effect(row)])


def test_floating_point_operations_are_those_of_the_mnemonic() -> None:
    wrong = []
    for row in INSTRUCTIONS:
        head = head_of(row)
        count = next((count for count, heads in FP_OPERATIONS.items() if head in heads), 0)
        halves = any(head in heads for heads in MULTIPLY_ADDS.values())
        if (row.fp_operations, row.fp_halves) != (count, halves):
            wrong.append(row.text)
    all_rows(wrong)


FIELDS = {"r": RegisterIndex.GR_FIRST, "f": RegisterIndex.FR_FIRST, "p": RegisterIndex.PR_FIRST}
PLACES = {"r1": 0, "r2": 1, "r3": 2, "f1": 0, "f2": 1, "f3": 2, "f4": 3, "p1": 0, "p2": 3, "b1": 0, "b2": 1}
NAMED = {"lc": 360, "ec": 361, "pfs": 362, "ccv": 363, "unat": 364}
OTHER = int(RegisterIndex.AR_OTHER)


def register_of(token: str) -> tuple[int, int]:
    """An operand's place and the index where its file begins."""
    if token == "cr3":
        return int(Place.FIXED), int(RegisterIndex.CR_ANY)
    if token == "ar3":
        return 2, OTHER
    if token.startswith("ar."):
        return int(Place.FIXED), NAMED.get(token[3:], OTHER)
    first = RegisterIndex.BR_FIRST if token[0] == "b" else FIELDS[token[0]]
    return PLACES[token], int(first)


def tokens_of(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])(ar\.\w+|[rfpb][1-4]\b|ar3|cr3)", text)


def expected_targets(row: Row) -> set[tuple[int, int]]:
    operands, head, parts = operands_of(row), head_of(row), completers_of(row)
    left, equals, _ = operands.partition("=")
    found = {register_of(token) for token in tokens_of(re.sub(r"\[.*?\]", "", left))} if equals else set()
    if (LOADS.match(head) or STORES.match(head) or head == "lfetch") and re.search(
        r"\](=\w+)?,(r2|imm9|8|16)$", operands
    ):
        found.add((2, 0))  # the base register, with what is added to it
    if head == "alloc":
        found.discard(register_of("ar.pfs"))
    if parts and parts[0] == "call":
        found.add(register_of("ar.pfs"))
    return found


def test_targets_are_the_registers_left_of_the_equals_sign() -> None:
    wrong = []
    for row in INSTRUCTIONS:
        found = {(use.place, use.first) for use in row.targets}
        if found != expected_targets(row):
            wrong.append(row.text)
    all_rows(wrong)


def expected_sources(row: Row) -> set[tuple[int, int]]:
    operands, head, parts = operands_of(row), head_of(row), completers_of(row)
    left, equals, right = operands.partition("=")
    read = right + " " + " ".join(re.findall(r"\[.*?\]", left)) if equals else operands
    found = {register_of(token) for token in tokens_of(read)}
    if row.layout.predicated:
        found.add((int(Place.PLACE_QP), int(RegisterIndex.PR_FIRST)))
    if head == "br" and parts[0] in ("cloop", "ctop", "cexit", "wtop", "wexit"):
        found |= {register_of("ar.lc"), register_of("ar.ec")}
    if head == "br" and parts[0] == "ret":
        found.add(register_of("ar.pfs"))
    if operands.endswith("=pr"):
        found.add((int(Place.FIXED), int(RegisterIndex.PR_ALL)))
    return found


def test_sources_are_the_registers_right_of_the_equals_sign() -> None:
    wrong = []
    for row in INSTRUCTIONS:
        found = {(use.place, use.first) for use in row.sources}
        if found != expected_sources(row):
            wrong.append(row.text)
    all_rows(wrong)


ALU, ADDRESS, DATA = Use.USE_ALU, Use.USE_ADDRESS, Use.USE_STORE


@each(
    ("text", "sources", "targets"),
    [
        ("add r1=r2,r3", [ALU, ALU], [Operation.OP_ALU]),
        ("cmp.lt p1,p2=r2,r3", [ALU, ALU], [Operation.OP_COMPARE, Operation.OP_COMPARE]),
        ("ld8 r1=[r3]", [ADDRESS], [Operation.OP_LOAD]),
        ("ld8 r1=[r3],r2", [ADDRESS, ALU], [Operation.OP_LOAD, Operation.OP_ALU]),
        ("st8 [r3]=r2", [ADDRESS, DATA], []),
        ("fma.s0 f1=f3,f4,f2", [Use.USE_FMAC] * 3, [Operation.OP_FMAC]),
        ("br.ret.sptk.few b2", [Use.USE_BRANCH, Use.USE_BRANCH], []),
        ("mov r1=pr", [Use.USE_PREDICATE], [Operation.OP_FROM_BRANCH]),
    ],
)
def test_registers_are_used_as_the_format_says(text: str, sources: list[Use], targets: list[Operation]) -> None:
    row = next(row for row in INSTRUCTIONS if row.text == text)
    assert sorted(use.what for use in row.sources if use.place != Place.PLACE_QP) == sorted(sources)
    assert sorted(use.what for use in row.targets) == sorted(targets)


def as_struct(row: Row) -> dict[str, Any]:
    """A row's attributes as decoder.pxd's struct has them."""
    return {
        "layout": list(FORMATS).index(row.layout.name),
        "sources": len(row.sources),
        "targets": len(row.targets),
        "access": 0 if row.access is None else row.access + 1,
        "access_flags": row.access_flags,
        "size": row.size,
        "branch": 0 if row.branch is None else row.branch + 1,
        "whether": row.whether,
        "many": row.many,
        "clear": row.clear,
        "effect": row.effect,
        "fp_operations": row.fp_operations,
        "fp_halves": row.fp_halves,
    }


def test_the_tables_hold_what_the_rows_state() -> None:
    for row in INSTRUCTIONS:
        found = attributes(row.number)
        for name, uses in (("source", row.sources), ("target", row.targets)):
            count = len(uses)
            assert [tuple(use.values()) for use in found.pop(name)[:count]] == [tuple(use) for use in uses]
        assert found == as_struct(row)
