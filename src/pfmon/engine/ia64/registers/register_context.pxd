"""A thread's registers while another one runs; application registers (SDM volume 1, 3.1.8; volume 3, mov ar)."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef struct SavedRegisters:      # as in Cpu
    uint64_t gr[128]
    uint64_t pr
    uint64_t br[8]
    uint64_t nat[2]
    uint64_t ip
    uint32_t sof, sol, sor
    uint32_t rrb_gr, rrb_fr, rrb_pr
    uint64_t lc, ec, pfs, unat, ccv, csd, ssd, fpsr, rsc, rnat, bspstore
    uint64_t um
    uint64_t ia32[8]
    uint64_t stacked[STACKED_RING]
    uint64_t stacked_nats[2]
    uint32_t high_fr
    int64_t bof, store, clean
    uint32_t secure
    FloatRegister fr[128]

@cython.final
cdef class ThreadContext:
    cdef SavedRegisters c

cdef void save_registers(const Cpu* cpu, SavedRegisters* to) noexcept nogil
cdef void restore_registers(Cpu* cpu, const SavedRegisters* source) noexcept nogil
cdef void begin_stack(Cpu* cpu, uint64_t base) noexcept nogil
cdef bint possible_marker(uint64_t cfm) noexcept nogil
cdef bint restore_frame(Cpu* cpu, uint64_t address, uint64_t cfm) noexcept nogil

cdef uint64_t read_ar(Cpu* cpu, uint32_t number) noexcept nogil
cdef int write_ar(Cpu* cpu, uint32_t number, uint64_t value) noexcept nogil
cdef int check_read_ar(Cpu* cpu, uint32_t number, bint memory_unit) noexcept nogil
cdef int check_write_ar(Cpu* cpu, uint32_t number, bint memory_unit) noexcept nogil
