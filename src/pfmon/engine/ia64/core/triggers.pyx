"""Triggers: addresses of code at which blocks begin that the driver announces, and of data that accesses are compared
with. Both become TRIGGER marks in the stream (docs/stream.md)."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t

from pfmon.engine.ia64.core.alat cimport alat_find, float_tag, general_tag
from pfmon.engine.ia64.core.cpu cimport STATUS_EDGE, Watch, get_nat, go
from pfmon.stream.ia64 cimport LOAD_CHECK
from pfmon.stream.kinds cimport FLOAT, LOAD, STORE
from pfmon.stream.stream cimport MARK_TRIGGER, NO_INSTRUCTION, indexed, mark_word


cdef enum:
    READS = 1                    # what a watched access does
    WRITES = 2
    CHECKS = 4                   # it reads if its ALAT entry is gone,
    FLOATS = 8                   # which is a floating-point register's


cdef bint is_trigger(Blocks* blocks, uint64_t ip) noexcept nogil:
    """Whether a code trigger is at ``ip``."""
    cdef uint32_t i
    for i in range(blocks.trigger_count):
        if blocks.triggers[i] == ip:
            return True
    return False


cdef void announce(Cpu* cpu, Blocks* blocks) noexcept nogil:
    """Mark in the stream that control is at the code triggers that are at cpu.ip."""
    cdef uint64_t i
    for i in range(blocks.trigger_count):
        if blocks.triggers[i] == cpu.ip:
            cpu.out[0] = mark_word(MARK_TRIGGER, indexed(i, NO_INSTRUCTION))
            cpu.out += 1


cdef int watch(Cpu* cpu, Op* op) noexcept nogil:
    """Leave the block if the memory access that follows touches a watched address (``imm``: its size)."""
    cdef uint32_t i
    if cpu.pass_watch:
        cpu.pass_watch = 0
        return go(cpu, op)
    for i in range(cpu.watch_count):
        if cpu.watches[i].address - cpu.gr[op.r3] < <uint64_t>op.imm and accesses(cpu, op, &cpu.watches[i]):
            cpu.touched |= 1 << i
    if cpu.touched == 0:
        return go(cpu, op)
    cpu.pass_watch = 1
    cpu.fault_op = op
    return STATUS_EDGE


cdef bint accesses(Cpu* cpu, Op* op, Watch* wanted) noexcept nogil:
    """Whether the instruction behind ``op`` reads or writes as a trigger wants it. A check load that finds its ALAT
    entry and a speculative load from a NaT address access nothing."""
    if not (op.x & READS and wanted.reads or op.x & WRITES and wanted.writes):
        return False
    if op.x & CHECKS:
        return alat_find(cpu, float_tag(cpu, op.r1) if op.x & FLOATS else general_tag(cpu, op.r1)) < 0
    return not get_nat(cpu, op.r3)


cdef uint16_t watched_kinds(Row* row) noexcept nogil:
    cdef uint16_t kinds = 0
    if row.kind & LOAD:
        kinds |= READS
    if row.kind & STORE:
        kinds |= WRITES
    if row.isa_kind & LOAD_CHECK:
        kinds |= CHECKS
    if row.kind & FLOAT:
        kinds |= FLOATS
    return kinds
