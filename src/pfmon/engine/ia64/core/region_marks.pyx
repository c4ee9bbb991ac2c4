"""Marks of regions of the program: a nop with a number that compilers and assemblers do not choose (docs/regions.md).

It is a block of its own, whether regions are wanted or not, so that cycles are the same. The mark of a start stands
behind the block, that of a stop before it, so that neither nop is in the region.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

from pfmon.isa.ia64._encodings cimport EFFECT_PAUSE, Row
from pfmon.stream._stream cimport MAX_REGION_NAME, NOP, NO_INSTRUCTION, Mark, indexed, mark_word

cdef enum:
    REGION_STARTS = 0x7066B      # immediates of the nop: "pf" and the first letters of begin and end
    REGION_STOPS = 0x7066E
    NAME_REGISTER = 14           # has the address of the name


cdef inline bint is_region_mark(const Row* row, const Instruction* ins) noexcept nogil:
    """Whether an instruction is such a nop, of any unit."""
    return (row.kind & NOP != 0 and row.attributes.effect != EFFECT_PAUSE
            and (ins.imm == REGION_STARTS or ins.imm == REGION_STOPS))


cdef uint32_t read_region_name(Cpu* cpu, uint64_t address, uint8_t* name) noexcept nogil:
    """Reads the text up to its 0; returns its bytes, 0: it is too long, or not all of it can be read."""
    cdef int32_t fault = cpu.fault
    cdef uint64_t fault_address = cpu.fault_address
    cdef uint32_t bytes = 0
    cdef uint8_t* host
    while True:
        host = probe(cpu, address + bytes, PROTECT_READ)
        if host == NULL or (bytes == MAX_REGION_NAME and host[0]):
            cpu.fault, cpu.fault_address = fault, fault_address
            return 0
        if host[0] == 0:
            return bytes
        name[bytes] = host[0]
        bytes += 1


cdef uint32_t region_words(uint64_t* to, int kind, const uint8_t* name, uint32_t bytes) noexcept nogil:
    """Writes the marks of a start or a stop; returns their number."""
    cdef uint32_t at = 0, count = 0, part
    while at < bytes:
        part = 0
        memcpy(&part, name + at, min(bytes - at, <uint32_t>sizeof(part)))
        to[count] = mark_word(Mark.REGION_NAME, indexed(part, NO_INSTRUCTION))
        at += sizeof(part)
        count += 1
    to[count] = mark_word(kind, indexed(bytes, NO_INSTRUCTION))
    return count + 1


cdef int mark_region(Cpu* cpu, Op* op) noexcept nogil:
    """Puts the marks of a nop into the stream, before or behind the word of its block."""
    if op.imm == REGION_STARTS:
        append_region_start(cpu)
    else:
        put_region_stop(cpu)
    return next_op(cpu, op)


cdef void append_region_start(Cpu* cpu) noexcept nogil:
    cdef uint8_t name[MAX_REGION_NAME]
    cdef uint64_t words[MAX_REGION_NAME]
    cdef uint32_t k, bytes = 0
    if not get_nat(cpu, NAME_REGISTER):
        bytes = read_region_name(cpu, cpu.gr[NAME_REGISTER], name)
    for k in range(region_words(words, Mark.REGION_START, name, bytes)):
        append_mark(cpu, words[k])


cdef void put_region_stop(Cpu* cpu) noexcept nogil:
    """Moves the place of the block's word, which nothing follows yet, behind the marks."""
    cdef uint8_t name[MAX_REGION_NAME]
    cdef uint32_t bytes = 0
    if not get_nat(cpu, NAME_REGISTER):
        bytes = read_region_name(cpu, cpu.gr[NAME_REGISTER], name)
    cpu.block_word += region_words(cpu.block_word, Mark.REGION_STOP, name, bytes)
    cpu.out = cpu.block_word + 1
