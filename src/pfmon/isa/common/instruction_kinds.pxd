"""Kinds of instructions as bit flags that any instruction set may have (IA-64's own: isa/ia64/ia64_kinds.pxd)."""

cpdef enum Kind:                 # all that apply are set
    NOP = 1 << 0                 # nop and hint: retires, does nothing
    LOAD = 1 << 1                # reads memory when it executes (atomic ones included; prefetches not)
    STORE = 1 << 2               # writes memory when it executes (atomic ones included)
    ATOMIC = 1 << 3              # reads and writes memory atomically: xchg, cmpxchg, fetchadd, cmp8xchg16
    PREFETCH = 1 << 4            # line prefetch: lfetch
    FLOAT = 1 << 5               # uses floating-point registers (FP loads and stores as well)
    FP_OPERATION = 1 << 6        # computes in the floating-point unit
    BRANCH = 1 << 7              # any branch, taken or not
    RELATIVE = 1 << 8            # ... to an address relative to its own
    RETURN = 1 << 9              # ... from a procedure
    CALL = 1 << 10               # ... to a procedure
    INDIRECT = 1 << 11           # ... to an address in a register (returns included)
    SYSTEM = 1 << 12             # enters the operating system: break
    PRIVILEGED = 1 << 13         # faults at privilege levels other than the highest
    SERIALIZE = 1 << 14          # later instructions are fetched again: srlz.i
