"""What one processor of a system does to the others: they share memory and code, and global purges reach all of them
(volume 2, 4.1.1.3). One executes at a time, in turns (logical_processor.py)."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport NO_INSTRUCTION


cdef enum:
    MAX_WAITING_MARKS = MAX_MARKS // 2   # of purges by others, while a processor does not execute


cdef inline Cpu* processor_at(SystemState* system, uint32_t i) noexcept nogil:
    return <Cpu*>system.processors[i]


cdef void flush_others(Cpu* cpu) noexcept nogil:
    """Drop the host-side translations of the other processors."""
    cdef uint32_t i
    for i in range(cpu.system.processor_count):
        if processor_at(cpu.system, i) != cpu:
            flush_tlb(processor_at(cpu.system, i))


cdef void forget_written_code(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Drop this processor's translations, after a write to code by any; the others drop theirs before they execute."""
    cdef uint32_t i
    if (<MemoryMap*>cpu.memory).code_written:
        for i in range(cpu.system.processor_count):
            processor_at(cpu.system, i).system.code_stale = 1
        flush_others(cpu)
        forget_code(cpu)
    forget_translations(cpu, blocks)
    cpu.system.code_stale = 0


cdef void purge_core(Cpu* cpu) noexcept nogil:
    """ptc.e: drop the translation caches of this processor, and of the other hardware threads of its core (Montecito
    manual 2.4.3.1)."""
    cdef uint32_t i
    purge_all(cpu)
    if cpu.system.shares_core:
        for i in range(cpu.system.processor_count):
            if processor_at(cpu.system, i) != cpu:
                purge_all(processor_at(cpu.system, i))


cdef void purge_everywhere(Cpu* cpu, uint64_t address, uint32_t bits, bint alat) noexcept nogil:
    """ptc.g, and with ``alat`` ptc.ga, by the running instruction (cpu.index): purge the translation caches of all
    processors, by this one's region registers, and their ALATs."""
    cdef uint32_t rid = rid_of(cpu.system, address), i
    cdef Cpu* one
    for i in range(max(<uint32_t>1, cpu.system.processor_count)):
        one = processor_at(cpu.system, i) if cpu.system.processor_count else cpu
        purge_cache(one, DATA_SIDE, rid, address, bits)
        purge_cache(one, INSTRUCTION_SIDE, rid, address, bits)
        if alat:
            alat_clear(one)
        if one != cpu:
            one.index = NO_INSTRUCTION
            if one.mark_count >= MAX_WAITING_MARKS:
                continue                 # the machine's first-level TLBs of a processor that waits long keep entries
        mark_purge(one, BOTH_SIDES, rid, address, bits)
