"""Timing of the register stack engine: its stores and loads, in the pipeline and in memory."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    COLLECTION = 0x1F8           # of an address: bits 3 to 8, all ones where the NaT bits of 63 registers are stored
    REGISTERS_A_PART = 64        # whose events are recorded together


cdef void move_registers(Pipeline pipeline, uint64_t number, uint32_t instruction, uint32_t registers, uint64_t address,
                         uint32_t cause) noexcept nogil:
    cdef bint store = cause == RSE_OVERFLOW
    cdef uint32_t i
    cdef int64_t began = pipeline.earliest
    cdef AccessResult served
    pipeline.stall(number, instruction, cause, (registers + pipeline.rse_rate - 1) // pipeline.rse_rate)
    for i in range(registers):
        while address & COLLECTION == COLLECTION:
            address += 8
        pipeline.event_log.context = (<uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
                                  | in_ranges(&pipeline.ranges, address) << EVENT_RANGED_SHIFT)
        pipeline.data.access(&pipeline.event_log, address, 8, ACCESS_SPILL if store else ACCESS_FILL, 0,
                             began + i // pipeline.rse_rate, &served)
        if pipeline.listener is not None:
            pipeline.notify_access(number, instruction, address, &served, True)
        address += 8
        if (i + 1) % REGISTERS_A_PART == 0:
            pipeline.record_unattributed(number, instruction)
    pipeline.record_unattributed(number, instruction)
    if store:
        pipeline.frames.dirty -= registers
        if pipeline.frames.dirty < 0:
            pipeline.frames.dirty = 0
    elif cause == RSE_LOADRS:    # registers loaded by loadrs are dirty; those loaded by a return are in its frame
        pipeline.frames.dirty += registers
