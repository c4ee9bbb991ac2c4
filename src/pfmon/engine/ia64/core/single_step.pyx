"""Runs one instruction on a state given as a dictionary, for row tests. No translator, no driver, no memory."""

from pfmon.isa.ia64._encodings import UNIT_LETTERS
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport PREDICATED_GUARD, Operands, Row, decode, operands


cdef int step_done(Cpu* cpu, Op* op) noexcept nogil:
    return STATUS_DONE


cdef void _load_state(Cpu* cpu, dict state) except *:
    """Fill a zeroed Cpu; constants (f0, f1, p0) in place."""
    cpu.pr = 1
    cpu.secure = 1
    store_level(cpu, 3)
    cpu.sof = 96
    cpu.fr[1].significand = <uint64_t>1 << 63
    cpu.fr[1].exponent = 0xFFFF
    for number, value in state.get("gr", {}).items():
        cpu.gr[number] = value & 0xFFFFFFFFFFFFFFFF
    for number in state.get("nat", ()):
        set_nat(cpu, number, True)
    for number, (sign, exponent, significand) in state.get("fr", {}).items():
        cpu.fr[number].sign, cpu.fr[number].exponent, cpu.fr[number].significand = sign, exponent, significand
    for number, value in state.get("br", {}).items():
        cpu.br[number] = value & 0xFFFFFFFFFFFFFFFF
    cpu.pr = state.get("pr", 1) | 1
    for name, value in state.items():
        _set_scalar(cpu, name, value)


cdef void _set_scalar(Cpu* cpu, str name, value) except *:
    if name in ("gr", "nat", "fr", "br", "pr"):
        return
    elif name == "lc": cpu.lc = value
    elif name == "ec": cpu.ec = value
    elif name == "pfs": cpu.pfs = value
    elif name == "unat": cpu.unat = value
    elif name == "ccv": cpu.ccv = value
    elif name == "csd": cpu.csd = value
    elif name == "ssd": cpu.ssd = value
    elif name == "fpsr": cpu.fpsr = value
    elif name == "rsc": cpu.rsc = value
    elif name == "um": cpu.um = value
    elif name == "sof": cpu.sof = value
    elif name == "sol": cpu.sol = value
    elif name == "sor": cpu.sor = value
    elif name == "rrb_gr": cpu.rrb_gr = value
    elif name == "rrb_fr": cpu.rrb_fr = value
    elif name == "rrb_pr": cpu.rrb_pr = value
    else:
        raise KeyError(f"no state called {name}")


cdef dict _store(Cpu* cpu):
    return {
        "gr": {n: cpu.gr[n] for n in range(128) if cpu.gr[n]},
        "nat": {n for n in range(128) if get_nat(cpu, n)},
        "fr": {n: (cpu.fr[n].sign, cpu.fr[n].exponent, cpu.fr[n].significand) for n in range(128)
               if cpu.fr[n].sign or cpu.fr[n].exponent or cpu.fr[n].significand},
        "br": {n: cpu.br[n] for n in range(8) if cpu.br[n]},
        "pr": cpu.pr, "lc": cpu.lc, "ec": cpu.ec, "pfs": cpu.pfs, "unat": cpu.unat, "ccv": cpu.ccv,
        "csd": cpu.csd, "ssd": cpu.ssd, "fpsr": cpu.fpsr, "rsc": cpu.rsc, "um": cpu.um,
        "sof": cpu.sof, "sol": cpu.sol, "sor": cpu.sor,
        "rrb_gr": cpu.rrb_gr, "rrb_fr": cpu.rrb_fr, "rrb_pr": cpu.rrb_pr,
        "fault": cpu.fault, "fault_code": cpu.fault_code,
        "fault_address": cpu.fault_address, "fault_info": cpu.fault_info, "ip": cpu.ip, "mask": cpu.mask,
    }


def step(str unit, uint64_t encoding, dict state, uint64_t extension=0, uint64_t bundle_address=0, bint checked=False):
    """Run a slot of ``unit`` (M, I, F, B, X) and return (status, state after); status 7 is a plain end.

    State in: ``gr``, ``br`` {number: value}, ``fr`` {number: (sign, exponent, significand)}, ``nat`` numbers of
    the general registers whose NaT bit is set, ``pr`` as one integer, and lc, ec, pfs, unat, ccv, csd, ssd, fpsr,
    rsc, um, sof (default 96), sol, sor, rrb_gr, rrb_fr, rrb_pr. State out: the same, registers that are 0 left
    out, and fault, fault_code, fault_address, fault_info, ip, mask (bit 32 is the instruction's condition).
    The qualifying predicate is honoured; NaT policies are not (the driver applies them). ``checked``: run the handler
    as the driver does instruction by instruction. ValueError: reserved encoding.
    """
    load_handlers()
    cdef Row* row = decode(UNIT_LETTERS.index(unit), encoding, extension)
    cdef Operands instruction
    cdef Op chain[2]
    cdef Cpu* cpu
    cdef int status = STATUS_DONE
    if row == NULL:
        raise ValueError(f"reserved encoding {encoding:#x} in a slot of unit {unit}")
    memset(&instruction, 0, sizeof(instruction))
    memset(chain, 0, sizeof(chain))
    operands(row, encoding, extension, bundle_address, &instruction)
    chain[0].run = <Handler>row.run
    chain[0].imm = instruction.imm
    chain[0].r1, chain[0].r2, chain[0].r3, chain[0].r4 = instruction.r1, instruction.r2, instruction.r3, instruction.r4
    chain[0].qp = instruction.qp
    chain[0].x = instruction.x
    chain[0].y = instruction.y
    if row.predicated != PREDICATED_GUARD and row.y.count == 0:
        chain[0].y = <int64_t>1 << 32
    chain[1].run = done
    cpu = <Cpu*>calloc(1, sizeof(Cpu))
    if cpu == NULL:
        raise MemoryError
    try:
        _load_state(cpu, state)
        cpu.checked = checked
        if row.predicated != PREDICATED_GUARD or (cpu.pr >> instruction.qp) & 1:
            with nogil:
                status = (<Handler>row.run)(cpu, chain)
        return status, _store(cpu)
    finally:
        free(cpu)
