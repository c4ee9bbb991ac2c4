"""What an instruction is, as bit flags: the part of its description that counting needs."""

from enum import IntFlag


class Kind(IntFlag):
    """Kinds of instructions; an instruction has as many as apply."""

    NOP = 1 << 0
    """nop.m, nop.i, nop.f, nop.b, nop.x and hints: retires, does nothing."""
    LOAD = 1 << 1
    """Reads memory when it executes (semaphores included; lfetch not)."""
    STORE = 1 << 2
    """Writes memory when it executes (semaphores included)."""
    SEMAPHORE = 1 << 3
    """xchg, cmpxchg, fetchadd, cmp8xchg16."""
    LFETCH = 1 << 4
    """Line prefetch."""
    FLOAT = 1 << 5
    """Works on floating-point registers (FP loads and stores as well)."""
    FP_OPERATION = 1 << 6
    """Computes in the floating-point unit (F-unit arithmetic)."""
    BRANCH = 1 << 7
    """Any branch, taken or not."""
    RELATIVE = 1 << 8
    """IP-relative branch."""
    RETURN = 1 << 9
    """br.ret."""
    CALL = 1 << 10
    """br.call, brl.call."""
    INDIRECT = 1 << 11
    """Branch through a branch register (br.ret included)."""
    LOOP = 1 << 12
    """br.cloop, ctop, cexit, wtop, wexit."""
    SPECULATIVE = 1 << 13
    """Control-speculative load: ld.s, ld.sa."""
    ADVANCED = 1 << 14
    """Data-speculative load: ld.a, ld.sa."""
    LOAD_CHECK = 1 << 15
    """ld.c.clr, ld.c.nc, ldf.c: reads memory only when the ALAT check fails."""
    CHECK_ALAT = 1 << 16
    """chk.a.clr, chk.a.nc."""
    CHECK_NAT = 1 << 17
    """chk.s."""
    CHECK_FLAGS = 1 << 18
    """fchkf."""
    SPILL_FILL = 1 << 19
    """st8.spill, ld8.fill, stf.spill, ldf.fill."""
    BREAK = 1 << 20
    """break."""
    PRIVILEGED = 1 << 21
    """Faults at privilege levels other than 0."""
    ALLOC = 1 << 22
    """alloc."""
    EPC = 1 << 23
    """epc."""
    PREFETCH_HINT = 1 << 24
    """brp and other hints to the front end."""
