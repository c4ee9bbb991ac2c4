"""The register stack engine (SDM volume 2, chapter 6) and register rotation (volume 1, 4.5.1).

``gr[32:]`` always holds the current frame in the order in which the program sees it. Frames below it are a ring of
saved registers, numbered by a running count: ``bof`` is the number of the current r32, registers from ``store`` to
``bof`` are dirty, from ``clean`` to ``store`` clean, those below ``clean`` are in the backing store only. At most 96
registers, current frame included, are outside the backing store.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memmove


cdef enum:
    RING_MASK = STACKED_RING - 1
    CHUNK = 8                    # registers moved at a time by calls and returns

cdef struct Chunk:
    uint64_t registers[CHUNK]

cdef int fill_slowly(Cpu* cpu, int64_t wanted) noexcept nogil
cdef int make_frame_room(Cpu* cpu, int64_t sof) noexcept nogil
cdef int flush_registers(Cpu* cpu) noexcept nogil
cdef int load_registers(Cpu* cpu) noexcept nogil
cdef void cover_frame(Cpu* cpu) noexcept nogil
cdef bint complete_frame(Cpu* cpu) noexcept nogil
cdef bint restore_covered_frame(Cpu* cpu, uint64_t cfm) noexcept nogil
cdef void mark_frame(Cpu* cpu) noexcept nogil
cdef void mark_return(Cpu* cpu) noexcept nogil
cdef void physical_order(Cpu* cpu) noexcept nogil
cdef void program_order(Cpu* cpu, uint64_t cfm) noexcept nogil
cdef void rotate_predicates(Cpu* cpu, uint64_t by) noexcept nogil
cdef void save_nats(Cpu* cpu, int64_t count) noexcept nogil
cdef void restore_nats(Cpu* cpu, int64_t sol, int64_t outputs) noexcept nogil
cdef void rotate_nats(Cpu* cpu) noexcept nogil
cdef void lower_store(Cpu* cpu) noexcept nogil
cdef void set_clean(Cpu* cpu, int64_t clean) noexcept nogil
cdef void set_backing_store(Cpu* cpu, uint64_t address) noexcept nogil
cdef void empty_frame(Cpu* cpu, int64_t sol) noexcept nogil


cdef inline uint64_t register_address(uint64_t address, int64_t count) noexcept nogil:
    """Backing-store address ``count`` registers above ``address``; every 64th word is a NaT collection."""
    cdef int64_t slot = (address >> 3) & 0x3F
    cdef int64_t delta = slot + count
    if count < 0:
        delta -= 62
    return address + ((count + delta // 63) << 3 if delta >= 0 else (count - (-delta) // 63) << 3)


cdef inline uint64_t bsp(Cpu* cpu) noexcept nogil:
    """AR[BSP]: the backing-store address of r32."""
    return register_address(cpu.bspstore, cpu.bof - cpu.store)


cdef inline uint64_t pack_cfm(Cpu* cpu) noexcept nogil:
    """The current frame marker as in SDM volume 1, figure 3-2."""
    return (cpu.sof | cpu.sol << 7 | (cpu.sor >> 3) << 14 | cpu.rrb_gr << 18 | <uint64_t>cpu.rrb_fr << 25
            | <uint64_t>cpu.rrb_pr << 32)


cdef inline bint nat_anywhere(Cpu* cpu) noexcept nogil:
    """Whether a register in or below the current frame has its NaT bit set."""
    return (cpu.nat[0] | cpu.nat[1] | cpu.stacked_nats[0] | cpu.stacked_nats[1]) != 0


cdef inline bint fits(Cpu* cpu, int64_t bottom, int64_t sof, int64_t sol) noexcept nogil:
    """Whether a frame is valid for a return: an alloc can have made its marker, and the registers above ``bottom`` need
    only places of clean ones (volume 2, 6.5.5)."""
    return sof <= STACKED_PHYSICAL and sol <= sof and bottom + sof - STACKED_PHYSICAL <= min(bottom, cpu.store)


cdef inline bint in_chunks(int64_t place, int64_t sol, int64_t outputs) noexcept nogil:
    """Whether a frame can be moved in whole chunks, which end within the ring and the registers. Excess writes then
    land outside the frame or in unused places: at most 96 of the ring's 128 hold a register."""
    return place + sol <= STACKED_RING - CHUNK and sol <= STACKED_PHYSICAL - CHUNK and outputs <= CHUNK


cdef inline void save_frame(Cpu* cpu, int64_t sol, int64_t outputs) noexcept nogil:
    """Save the locals to the ring and move the outputs down to r32."""
    cdef int64_t place = cpu.bof & RING_MASK, i = 0
    cdef Chunk moved
    if likely(in_chunks(place, sol, outputs)):
        while i < sol:
            (<Chunk*>&cpu.stacked[place + i])[0] = (<Chunk*>&cpu.gr[32 + i])[0]
            i += CHUNK
        moved = (<Chunk*>&cpu.gr[32 + sol])[0]
        (<Chunk*>&cpu.gr[32])[0] = moved
        return
    for i in range(sol):
        cpu.stacked[(cpu.bof + i) & RING_MASK] = cpu.gr[32 + i]
    for i in range(outputs):
        cpu.gr[32 + i] = cpu.gr[32 + sol + i]


cdef inline void bring_back_frame(Cpu* cpu, int64_t sol, int64_t outputs) noexcept nogil:
    """Move the registers from r32 on back to the outputs and load the locals from the ring."""
    cdef int64_t place = (cpu.bof - sol) & RING_MASK, i = 0
    cdef Chunk moved
    if likely(in_chunks(place, sol, outputs)):
        moved = (<Chunk*>&cpu.gr[32])[0]
        while i < sol:
            (<Chunk*>&cpu.gr[32 + i])[0] = (<Chunk*>&cpu.stacked[place + i])[0]
            i += CHUNK
        (<Chunk*>&cpu.gr[32 + sol])[0] = moved
        return
    memmove(&cpu.gr[32 + sol], &cpu.gr[32], outputs << 3)
    for i in range(sol):
        cpu.gr[32 + i] = cpu.stacked[(cpu.bof - sol + i) & RING_MASK]


cdef inline void push_frame(Cpu* cpu) noexcept nogil:
    """br.call: the outputs of the current frame become the new one. AR[PFS] gets the old marker and AR[EC]."""
    cdef int64_t sol = cpu.sol, outputs = cpu.sof - cpu.sol
    cpu.pfs = pack_cfm(cpu) | cpu.ec << 52 | cpu.ppl
    if unlikely((cpu.rrb_gr | cpu.rrb_fr | cpu.rrb_pr) != 0):
        physical_order(cpu)
    if unlikely(nat_anywhere(cpu)):
        save_nats(cpu, sol)
    save_frame(cpu, sol, outputs)
    cpu.bof += sol
    cpu.sof = <uint32_t>outputs
    cpu.sol = 0
    cpu.sor = 0


cdef inline int pop_frame(Cpu* cpu) noexcept nogil:
    """br.ret: restore the frame of AR[PFS]. 0 when the backing store is unreadable."""
    cdef int64_t sof = cpu.pfs & 0x7F, sol = (cpu.pfs >> 7) & 0x7F
    cdef int64_t outputs
    if unlikely(not fits(cpu, cpu.bof - sol, sof, sol)):
        empty_frame(cpu, sol)
        cpu.ec = (cpu.pfs >> 52) & 0x3F
        return 1
    if unlikely(cpu.bof - sol < cpu.clean):
        if not fill_slowly(cpu, cpu.bof - sol):
            if cpu.system == NULL:
                return 0
            cpu.system.incomplete_frame = cpu.system.frame_pending = 1
            cpu.limit = NULL
    outputs = sof - sol
    if unlikely((cpu.rrb_gr | cpu.rrb_fr | cpu.rrb_pr) != 0):
        physical_order(cpu)
    if unlikely(nat_anywhere(cpu)):
        restore_nats(cpu, sol, outputs)
    if sol:
        bring_back_frame(cpu, sol, outputs)
        cpu.bof -= sol
        if unlikely(cpu.store > cpu.bof) and not (cpu.system != NULL and cpu.system.incomplete_frame):
            lower_store(cpu)
    cpu.sof = <uint32_t>sof
    cpu.sol = <uint32_t>sol
    cpu.ec = (cpu.pfs >> 52) & 0x3F
    if unlikely(cpu.bof + sof - cpu.clean > STACKED_PHYSICAL):
        set_clean(cpu, cpu.bof + sof - STACKED_PHYSICAL)
    if unlikely((cpu.pfs >> 14) & 0xFFFFFF != 0):
        program_order(cpu, cpu.pfs)
    else:
        cpu.sor = 0
    return 1


cdef inline void rotate(Cpu* cpu) noexcept nogil:
    """Rotation of a modulo-scheduled branch: register n becomes n + 1."""
    cdef uint64_t last, i
    cdef FloatRegister kept
    cdef uint32_t sor = cpu.sor
    if sor:
        cpu.rrb_gr = cpu.rrb_gr - 1 if cpu.rrb_gr else sor - 1
        last = cpu.gr[32 + sor - 1]
        for i in range(sor - 1, 0, -1):
            cpu.gr[32 + i] = cpu.gr[31 + i]
        cpu.gr[32] = last
        if unlikely((cpu.nat[0] | cpu.nat[1]) != 0):
            rotate_nats(cpu)
    cpu.rrb_fr = cpu.rrb_fr - 1 if cpu.rrb_fr else 95
    if cpu.high_fr:
        kept = cpu.fr[127]
        memmove(&cpu.fr[33], &cpu.fr[32], 95 * sizeof(FloatRegister))
        cpu.fr[32] = kept
    cpu.rrb_pr = cpu.rrb_pr - 1 if cpu.rrb_pr else 47
    cpu.pr = (cpu.pr & 0xFFFF) | ((cpu.pr & <uint64_t>0xFFFFFFFFFFFF0000) << 1) | ((cpu.pr >> 63) << 16)
