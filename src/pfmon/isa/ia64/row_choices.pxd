"""Enumerated arguments of a row; instruction.py has the words for them, with their meaning."""

cpdef enum Nat:
    NAT_PROPAGATE = 0
    NAT_CONSUME = 1
    NAT_COMPARE = 2
    NAT_OWN = 3

cpdef enum Predicated:
    PREDICATED_GUARD = 0
    PREDICATED_OWN = 1
    PREDICATED_NONE = 2          # no qp field

cpdef enum Emit:
    EMIT_PLAIN = 0
    EMIT_BRANCH = 1
    EMIT_MEMORY = 2
    EMIT_CHECK = 3
    EMIT_ALLOC = 4
    EMIT_BREAK = 5
    EMIT_END = 6                 # ends its block: CFM or mode changes

cpdef enum Ctype:
    CTYPE_NO_COMPARISON = 0
    CTYPE_NONE = 1
    CTYPE_UNC = 2
    CTYPE_AND = 3
    CTYPE_OR = 4
    CTYPE_OR_ANDCM = 5

cpdef enum RegisterFile:
    FILE_NONE = 0
    FILE_GR = 1
    FILE_FR = 2
    FILE_PR = 3
    FILE_BR = 4
    FILE_AR = 5
    FILE_CR = 6
