"""Runs single operations of the engine on given registers, for tests and benchmarks."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

from pfmon.engine.ia64.cpu cimport STATUS_DONE, Cpu, Handler, Op


cdef int done(Cpu* cpu, Op* op) noexcept nogil:
    return STATUS_DONE


cdef void fill(Op* op, size_t handler, tuple registers, int qp, int x, int64_t imm, int64_t y) except *:
    op.run = <Handler><void*>handler
    op.r1, op.r2, op.r3, op.r4 = registers
    op.qp = qp
    op.x = x
    op.imm = imm
    op.y = y


cdef void load(Cpu* cpu, dict fr) except *:
    cpu.fr[1].exponent = 0xFFFF
    cpu.fr[1].significand = <uint64_t>1 << 63
    for number, (sign, exponent, significand) in fr.items():
        cpu.fr[<int>number].sign = sign
        cpu.fr[<int>number].exponent = exponent
        cpu.fr[<int>number].significand = significand


def execute(
    size_t handler, tuple registers, dict fr, *, uint64_t fpsr=0x9804C0270033F, uint64_t pr=1, int qp=0, int x=0,
    int64_t imm=0, int64_t y=0
):
    """Run one operation: ``registers`` are Op.r1 to r4, ``fr`` maps numbers to (sign, exponent, significand).

    Returns (fr[r1], FPSR, predicates, status, fault, ISR.code, condition mask); status 0 when it went on.
    """
    cdef Cpu* cpu = <Cpu*>calloc(1, sizeof(Cpu))
    cdef Op* ops = <Op*>calloc(2, sizeof(Op))
    cdef int status
    if cpu == NULL or ops == NULL:
        free(cpu)
        free(ops)
        raise MemoryError
    try:
        fill(&ops[0], handler, registers, qp, x, imm, y)
        ops[1].run = done
        load(cpu, fr)
        cpu.fpsr = fpsr
        cpu.pr = pr
        status = ops[0].run(cpu, &ops[0])
        target = cpu.fr[ops[0].r1]
        return (
            (target.sign, target.exponent, target.significand),
            cpu.fpsr,
            cpu.pr,
            0 if status == STATUS_DONE else status,
            cpu.fault,
            cpu.fault_code,
            cpu.mask,
        )
    finally:
        free(cpu)
        free(ops)


def repeat(size_t handler, tuple registers, dict fr, *, uint64_t fpsr=0x9804C0270033F, int x=0, int64_t imm=0,
           int count=1000):
    """Run a chain of 100 equal operations ``count`` times; returns the status of the last."""
    cdef Cpu* cpu = <Cpu*>calloc(1, sizeof(Cpu))
    cdef Op* ops = <Op*>calloc(101, sizeof(Op))
    cdef int i
    cdef int status = 0
    if cpu == NULL or ops == NULL:
        free(cpu)
        free(ops)
        raise MemoryError
    try:
        for i in range(100):
            fill(&ops[i], handler, registers, 0, x, imm, 0)
        ops[100].run = done
        load(cpu, fr)
        cpu.fpsr = fpsr
        cpu.pr = 1
        with nogil:
            for i in range(count):
                status = ops[0].run(cpu, ops)
        return status
    finally:
        free(cpu)
        free(ops)
