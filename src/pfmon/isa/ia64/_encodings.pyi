"""Types of pfmon.isa.ia64._encodings, by file."""

from enum import IntEnum
from typing import Any

from pfmon.isa.ia64.instruction import Row

# attributes.pxd

class Operation(IntEnum):
    OP_ALU = 0
    OP_MULTIMEDIA = 1
    OP_TRANSLATE = 2
    OP_GETF = 3
    OP_SETF = 4
    OP_FMAC = 5
    OP_FMISC = 6
    OP_COMPARE = 7
    OP_FCMP = 8
    OP_FRCPA = 9
    OP_LOAD = 10
    OP_LOAD_FLOAT = 11
    OP_FROM_BRANCH = 12
    OP_TO_PREDICATES = 13
    OP_FROM_LOOP = 14
    OP_FROM_OTHER = 15
    OP_FROM_STATUS = 16
    OP_FROM_CLOCK = 17
    OP_FROM_INDIRECT = 18
    OP_TO_BRANCH = 19
    OP_TO_LOOP = 20
    OP_TO_REGISTER = 21
    OP_STORE = 22
    OPERATIONS = 23

class Use(IntEnum):
    USE_PREDICATE = 0
    USE_BRANCH_PREDICATE = 1
    USE_ALU = 2
    USE_ADDRESS = 3
    USE_MULTIMEDIA = 4
    USE_STORE = 5
    USE_FMAC = 6
    USE_FMISC = 7
    USE_GETF = 8
    USE_SETF = 9
    USE_BRANCH = 10
    USE_APPLICATION = 11
    USES = 12

class AccessType(IntEnum):
    ACCESS_LOAD = 0
    ACCESS_FLOAT_LOAD = 1
    ACCESS_STORE = 2
    ACCESS_FLOAT_STORE = 3
    ACCESS_SEMAPHORE = 4
    ACCESS_LFETCH = 5
    ACCESS_FILL = 6
    ACCESS_SPILL = 7
    ACCESS_FLUSH = 8
    ACCESS_KINDS = 9

class AccessFlag(IntEnum):
    ACCESS_ACQUIRE = 1
    ACCESS_RELEASE = 2
    ACCESS_SPECULATIVE = 4
    ACCESS_ADVANCED = 8
    ACCESS_CHECK = 16
    ACCESS_EXCLUSIVE = 32
    ACCESS_NT1 = 64
    ACCESS_NT2 = 128
    ACCESS_NTA = 256
    ACCESS_SPILL_FILL = 512
    ACCESS_FAULTING = 1024

class BranchType(IntEnum):
    BRANCH_RELATIVE = 0
    BRANCH_CALL = 1
    BRANCH_RETURN = 2
    BRANCH_INDIRECT = 3
    BRANCH_INDIRECT_CALL = 4
    BRANCH_CLOOP = 5
    BRANCH_WTOP = 6
    BRANCH_LONG = 7
    BRANCH_LONG_CALL = 8
    BRANCH_CTOP = 9
    BRANCH_KINDS = 10

class Whether(IntEnum):
    STATIC_TAKEN = 0
    STATIC_NOT_TAKEN = 1
    DYNAMIC_TAKEN = 2
    DYNAMIC_NOT_TAKEN = 3

class Effect(IntEnum):
    EFFECT_NONE = 0
    EFFECT_ALLOC = 1
    EFFECT_ROTATE = 2
    EFFECT_SERIALIZE = 3
    EFFECT_ALL_PREDICATES = 4
    EFFECT_COVER = 5
    EFFECT_CLEAR_ROTATION = 6
    EFFECT_LOADRS = 7
    EFFECT_FENCE = 8
    EFFECT_PAUSE = 9
    EFFECT_HINT = 10
    EFFECT_IMPORTANT_HINT = 11
    EFFECT_FLUSH_LINE = 12

class Place(IntEnum):
    PLACE_QP = 4
    FIXED = 8

class RegisterIndex(IntEnum):
    GR_FIRST = 0
    RING_FIRST = 32
    FR_FIRST = 160
    PR_FIRST = 288
    BR_FIRST = 352
    AR_LC = 360
    AR_EC = 361
    AR_PFS = 362
    AR_CCV = 363
    AR_UNAT = 364
    AR_FPSR = 365
    AR_OTHER = 366
    CR_ANY = 367
    PR_ALL = 368
    AR_RSE = 369
    REGISTER_COUNT = 370

# decode/decoder.pyx

UNIT_LETTERS: str

def find(unit: str, encoding: int, extension: int = 0) -> Row | None: ...
def extract(number: int, encoding: int, extension: int = 0, bundle_address: int = 0) -> dict[str, int]: ...
def attributes(number: int) -> dict[str, Any]: ...

# fault_codes.pxd

class Fault(IntEnum):
    FAULT_NONE = 0
    FAULT_ILLEGAL_OPERATION = 1
    FAULT_PRIVILEGED_OPERATION = 2
    FAULT_PRIVILEGED_REGISTER = 3
    FAULT_RESERVED_REGISTER_FIELD = 4
    FAULT_REGISTER_NAT_CONSUMPTION = 5
    FAULT_NAT_PAGE_CONSUMPTION = 6
    FAULT_UNALIGNED_REFERENCE = 7
    FAULT_DATA_PAGE_NOT_PRESENT = 8
    FAULT_DATA_ACCESS_RIGHTS = 9
    FAULT_INST_PAGE_NOT_PRESENT = 10
    FAULT_INST_ACCESS_RIGHTS = 11
    FAULT_FP_FAULT = 12
    FAULT_FP_TRAP = 13
    FAULT_DISABLED_FP = 14
    FAULT_UNSUPPORTED_DATA_REFERENCE = 15
    FAULT_BREAK = 16
    FAULT_ILLEGAL_DEPENDENCY = 17
    FAULT_UNIMPLEMENTED_ADDRESS = 18
    FAULT_BACKING_STORE = 19

# row_choices.pxd

class Nat(IntEnum):
    NAT_PROPAGATE = 0
    NAT_CONSUME = 1
    NAT_COMPARE = 2
    NAT_OWN = 3

class Predicated(IntEnum):
    PREDICATED_GUARD = 0
    PREDICATED_OWN = 1
    PREDICATED_NONE = 2

class Emit(IntEnum):
    EMIT_PLAIN = 0
    EMIT_BRANCH = 1
    EMIT_MEMORY = 2
    EMIT_CHECK = 3
    EMIT_ALLOC = 4
    EMIT_BREAK = 5
    EMIT_END = 6

class Ctype(IntEnum):
    CTYPE_NO_COMPARISON = 0
    CTYPE_NONE = 1
    CTYPE_UNC = 2
    CTYPE_AND = 3
    CTYPE_OR = 4
    CTYPE_OR_ANDCM = 5

class RegisterFile(IntEnum):
    FILE_NONE = 0
    FILE_GR = 1
    FILE_FR = 2
    FILE_PR = 3
    FILE_BR = 4
    FILE_AR = 5
    FILE_CR = 6
