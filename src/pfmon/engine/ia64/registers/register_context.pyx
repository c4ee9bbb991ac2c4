"""Registers of threads that do not run, and restored frames (see register_context.pxd).

The engine's caches stay with the processor: they belong to the address space, not to a thread.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from pfmon.stream._stream cimport NO_INSTRUCTION


cdef class ThreadContext:
    """The registers of a thread that does not run; made by Processor.context."""

cdef void save_registers(const Cpu* cpu, SavedRegisters* to) noexcept nogil:
    """Save the registers of the running thread."""
    memcpy(to.gr, cpu.gr, sizeof(to.gr))
    memcpy(to.br, cpu.br, sizeof(to.br))
    memcpy(to.nat, cpu.nat, sizeof(to.nat))
    memcpy(to.ia32, cpu.ia32, sizeof(to.ia32))
    memcpy(to.stacked, cpu.stacked, sizeof(to.stacked))
    memcpy(to.stacked_nats, cpu.stacked_nats, sizeof(to.stacked_nats))
    memcpy(to.fr, cpu.fr, sizeof(to.fr))
    to.pr, to.ip, to.um, to.secure, to.high_fr = cpu.pr, cpu.ip, cpu.um, cpu.secure, cpu.high_fr
    to.sof, to.sol, to.sor = cpu.sof, cpu.sol, cpu.sor
    to.rrb_gr, to.rrb_fr, to.rrb_pr = cpu.rrb_gr, cpu.rrb_fr, cpu.rrb_pr
    to.lc, to.ec, to.pfs, to.unat, to.ccv = cpu.lc, cpu.ec, cpu.pfs, cpu.unat, cpu.ccv
    to.csd, to.ssd, to.fpsr = cpu.csd, cpu.ssd, cpu.fpsr
    to.rsc, to.rnat, to.bspstore = cpu.rsc, cpu.rnat, cpu.bspstore
    to.bof, to.store, to.clean = cpu.bof, cpu.store, cpu.clean


cdef void restore_registers(Cpu* cpu, const SavedRegisters* source) noexcept nogil:
    """Load a thread's registers. The ALAT is cleared: its entries are the previous thread's. PSR.mfl and mfh stay set:
    they may be set without a write (SDM volume 2, 3.3.2), and translations rely on them.
    """
    cdef uint64_t kept = cpu.um & (UM_MFL | UM_MFH)
    cdef bint turned = (cpu.um ^ source.um) & UM_BE != 0
    memcpy(cpu.gr, source.gr, sizeof(source.gr))
    memcpy(cpu.br, source.br, sizeof(source.br))
    memcpy(cpu.nat, source.nat, sizeof(source.nat))
    memcpy(cpu.ia32, source.ia32, sizeof(source.ia32))
    memcpy(cpu.stacked, source.stacked, sizeof(source.stacked))
    memcpy(cpu.stacked_nats, source.stacked_nats, sizeof(source.stacked_nats))
    memcpy(cpu.fr, source.fr, sizeof(source.fr))
    cpu.pr, cpu.ip, cpu.um, cpu.secure = source.pr, source.ip, source.um | kept, source.secure
    cpu.high_fr |= source.high_fr
    cpu.sof, cpu.sol, cpu.sor = source.sof, source.sol, source.sor
    cpu.rrb_gr, cpu.rrb_fr, cpu.rrb_pr = source.rrb_gr, source.rrb_fr, source.rrb_pr
    cpu.lc, cpu.ec, cpu.pfs, cpu.unat, cpu.ccv = source.lc, source.ec, source.pfs, source.unat, source.ccv
    cpu.csd, cpu.ssd, cpu.fpsr = source.csd, source.ssd, source.fpsr
    cpu.rsc, cpu.rnat, cpu.bspstore = source.rsc, source.rnat, source.bspstore
    cpu.bof, cpu.store, cpu.clean = source.bof, source.store, source.clean
    cpu.miss_link = NULL
    alat_clear(cpu)
    if turned:
        flush_tlb(cpu)


cdef void forget_frames(Cpu* cpu, uint64_t address) noexcept nogil:
    """Mark all registers below the current frame, which begins at backing-store ``address``, as held in memory only."""
    cpu.bof = cpu.store = 0
    cpu.stacked_nats[0] = cpu.stacked_nats[1] = 0
    set_clean(cpu, 0)
    cpu.bspstore = address & ~<uint64_t>7


cdef void begin_stack(Cpu* cpu, uint64_t base) noexcept nogil:
    """Start a register stack: the current frame is its first, the backing store begins at ``base``."""
    forget_frames(cpu, base)
    cpu.rnat = 0


cdef bint possible_marker(uint64_t cfm) noexcept nogil:
    """Whether a frame can have this size and number of locals."""
    return cfm & 0x7F <= STACKED_PHYSICAL and (cfm >> 7) & 0x7F <= cfm & 0x7F


cdef bint restore_frame(Cpu* cpu, uint64_t address, uint64_t cfm) noexcept nogil:
    """Restore the frame that ends at backing-store ``address`` with marker ``cfm``, as rfi does. False when the backing
    store is unreadable."""
    if not possible_marker(cfm):
        cfm = 0                          # as rfi does with a bad IFS
    cpu.index = NO_INSTRUCTION
    physical_order(cpu)
    alat_clear(cpu)
    memset(&cpu.gr[32], 0, 96 * sizeof(uint64_t))
    forget_frames(cpu, address)
    return restore_covered_frame(cpu, cfm)
