"""The register stack engine's slow paths: spills, fills, rotation across frames, NaT bits (see rse.pxd)."""

from pfmon.stream._stream cimport Mark, mark_word, packed_address


cdef extern from *:
    uint64_t byteswap "__builtin_bswap64"(uint64_t) nogil

cdef enum:
    RSC_BE = 1 << 4


cdef inline bint is_collection(uint64_t address) noexcept nogil:
    """Whether a backing-store word is a NaT collection."""
    return (address & 0x1F8) == 0x1F8


cdef inline bint other_order(Cpu* cpu) noexcept nogil:
    """Whether the byte order of the RSE, RSC.be, differs from that of data accesses, in the user mask."""
    return ((cpu.rsc & RSC_BE) != 0) != ((cpu.um & UM_BE) != 0)


cdef inline bint as_data(Cpu* cpu) noexcept nogil:
    """Whether RSE references are translated as the data references of instructions are."""
    return (cpu.system == NULL or ((cpu.rsc >> 2) & 3 == cpu.level
                                   and (cpu.system.psr & PSR_RT != 0) == (cpu.system.psr & PSR_DT != 0)))


cdef int store_word(Cpu* cpu, uint64_t address, uint64_t* value) noexcept nogil:
    cdef uint8_t* host = writable(cpu, address, 8) if as_data(cpu) else NULL
    cdef uint64_t word = byteswap(value[0]) if other_order(cpu) else value[0]
    if host == NULL and cpu.system != NULL:
        return backing_store_word(cpu, address, value, True)
    if host != NULL:
        (<uint64_t*>host)[0] = word
        return 1
    if write_slowly(cpu, address, <uint8_t*>&word, 8):
        return 1
    cpu.fault = FAULT_BACKING_STORE
    return 0


cdef int load_word(Cpu* cpu, uint64_t address, uint64_t* value) noexcept nogil:
    cdef uint8_t* host = readable_in_place(cpu, address, 8) if as_data(cpu) else NULL
    if host == NULL and cpu.system != NULL:
        return backing_store_word(cpu, address, value, False)
    if host == NULL:
        host = read_slowly(cpu, address, 8)
    if host == NULL:
        cpu.fault = FAULT_BACKING_STORE
        return 0
    value[0] = (<uint64_t*>host)[0]
    if other_order(cpu):
        value[0] = byteswap(value[0])
    return 1


cdef inline uint64_t ring_bit(int64_t number) noexcept nogil:
    return <uint64_t>1 << (number & 63)


cdef inline bint stacked_nat(Cpu* cpu, int64_t number) noexcept nogil:
    return (cpu.stacked_nats[(number & RING_MASK) >> 6] & ring_bit(number)) != 0


cdef inline void set_stacked_nat(Cpu* cpu, int64_t number, bint nat) noexcept nogil:
    if nat:
        cpu.stacked_nats[(number & RING_MASK) >> 6] |= ring_bit(number)
    else:
        cpu.stacked_nats[(number & RING_MASK) >> 6] &= ~ring_bit(number)


cdef void set_clean(Cpu* cpu, int64_t clean) noexcept nogil:
    """Registers below ``clean`` and their NaT bits are in the backing store only."""
    if (cpu.stacked_nats[0] | cpu.stacked_nats[1]) == 0:
        cpu.clean = clean
    while cpu.clean < clean:
        set_stacked_nat(cpu, cpu.clean, False)
        cpu.clean += 1
    cpu.clean = clean


cdef void empty_frame(Cpu* cpu, int64_t sol) noexcept nogil:
    """br.ret to an invalid frame: an empty frame, below the ``sol`` registers of its locals, becomes current
    (volume 2, 6.5.5: bad PFS)."""
    physical_order(cpu)
    cpu.nat[0] &= 0xFFFFFFFFULL
    cpu.nat[1] = 0
    while sol > 0 and cpu.bof > cpu.clean:
        cpu.bof -= 1
        sol -= 1
        set_stacked_nat(cpu, cpu.bof, False)
    cpu.bof -= sol
    if cpu.store > cpu.bof:
        lower_store(cpu)
    cpu.sof = cpu.sol = cpu.sor = 0
    mark_frame(cpu)


cdef void mark_traffic(Cpu* cpu, int kind, uint64_t words, uint64_t lowest) noexcept nogil:
    """Append a mark of registers stored or loaded, with their lowest address if the stream has addresses."""
    mark(cpu, kind, words)
    if cpu.traced:
        append_mark(cpu, mark_word(Mark.RSE_ADDRESS, packed_address(lowest)))


cdef int spill(Cpu* cpu, int64_t until) noexcept nogil:
    """Store dirty registers below the one numbered ``until``."""
    cdef uint64_t stored = 0, bit        # registers in bits 0-15, NaT collections in bits 16-31
    cdef uint64_t first = cpu.bspstore
    cdef int done = 1
    while cpu.store < until and done:
        if is_collection(cpu.bspstore):
            cpu.rnat &= ~(<uint64_t>1 << 63)
            done = store_word(cpu, cpu.bspstore, &cpu.rnat)
            if done:
                cpu.bspstore += 8
                stored += 1 << 16
            continue
        done = store_word(cpu, cpu.bspstore, &cpu.stacked[cpu.store & RING_MASK])
        if done:
            bit = <uint64_t>1 << ((cpu.bspstore >> 3) & 63)
            if stacked_nat(cpu, cpu.store):
                cpu.rnat |= bit
            else:
                cpu.rnat &= ~bit
            cpu.bspstore += 8
            cpu.store += 1
            stored += 1
    if done and is_collection(cpu.bspstore):
        # BSPSTORE does not stay at a collection: the next register goes above it.
        done = store_word(cpu, cpu.bspstore, &cpu.rnat)
        if done:
            cpu.bspstore += 8
            stored += 1 << 16
    if stored:
        mark_traffic(cpu, Mark.SPILL, stored, first)
    return done


cdef int make_frame_room(Cpu* cpu, int64_t sof) noexcept nogil:
    """Make room for a frame of ``sof`` registers: drop clean registers, then spill dirty ones."""
    cdef int64_t clean = cpu.bof + sof - STACKED_PHYSICAL
    if clean <= cpu.clean:
        return 1
    if clean > cpu.store and not spill(cpu, clean):
        return 0
    set_clean(cpu, clean)
    return 1


cdef int fill_slowly(Cpu* cpu, int64_t wanted) noexcept nogil:
    """Load registers down to the one numbered ``wanted``."""
    cdef uint64_t address, collection, rnat, loaded = 0, lowest = 0
    cdef int done = 1
    while cpu.clean > wanted:
        address = register_address(cpu.bspstore, cpu.clean - 1 - cpu.store)
        done = load_word(cpu, address, &cpu.stacked[(cpu.clean - 1) & RING_MASK])
        if not done:
            break
        collection = address | 0x1F8
        rnat = cpu.rnat
        if collection < cpu.bspstore:
            done = load_word(cpu, collection, &rnat)
            if not done:
                break
        loaded += 1 + (is_collection(address - 8) << 16)
        lowest = address
        set_stacked_nat(cpu, cpu.clean - 1, (rnat >> ((address >> 3) & 63)) & 1)
        cpu.clean -= 1
    if loaded:
        mark_traffic(cpu, Mark.FILL, loaded, lowest)
    return done


cdef void lower_store(Cpu* cpu) noexcept nogil:
    """Registers from the backing store are in the current frame again: BSPSTORE follows BSP down."""
    cdef uint64_t address = register_address(cpu.bspstore, cpu.bof - cpu.store)
    cdef uint64_t rnat
    if (address | 0x1F8) != (cpu.bspstore | 0x1F8):
        if load_word(cpu, address | 0x1F8, &rnat):
            cpu.rnat = rnat
        else:
            cpu.fault = 0
    cpu.bspstore = address
    cpu.store = cpu.bof
    if cpu.clean > cpu.store:
        cpu.clean = cpu.store


cdef int flush_registers(Cpu* cpu) noexcept nogil:
    """flushrs: store all dirty registers, which become clean."""
    return spill(cpu, cpu.bof)


cdef void set_backing_store(Cpu* cpu, uint64_t address) noexcept nogil:
    """Write AR[BSPSTORE]: the dirty registers stay, now above the new address; all others below the current frame, and
    their ALAT entries, are replaced by those in memory there (volume 2, 6.5.3)."""
    cpu.bspstore = address & ~<uint64_t>7
    set_clean(cpu, cpu.store)
    alat_clear(cpu)
    if cpu.system != NULL:
        cpu.system.known_frames = cpu.bof


cdef int64_t registers_between(uint64_t low, uint64_t high) noexcept nogil:
    """The number of registers (not collections) in the backing-store words from ``low`` up to ``high``."""
    return <int64_t>((high - low) >> 3) - <int64_t>((high >> 9) - (low >> 9))


cdef int load_registers(Cpu* cpu) noexcept nogil:
    """loadrs: exactly the RSC.loadrs bytes below BSP are in registers, and dirty; all others are in memory only."""
    cdef uint64_t top = bsp(cpu)
    cdef uint64_t point = top - ((cpu.rsc >> 16) & 0x3FF8)
    cdef int64_t wanted = cpu.bof - registers_between(point, top)
    cdef uint64_t rnat
    if cpu.bof - wanted > STACKED_PHYSICAL:
        cpu.fault = FAULT_ILLEGAL_OPERATION
        return 0
    if wanted < cpu.clean and not fill_slowly(cpu, wanted):
        return 0
    if (point | 0x1F8) != (cpu.bspstore | 0x1F8):
        if point < cpu.bspstore:
            if not load_word(cpu, point | 0x1F8, &rnat):
                return 0
            cpu.rnat = rnat
    cpu.bspstore = point
    cpu.store = wanted
    set_clean(cpu, wanted)
    mark_frame(cpu)
    return 1


cdef void cover_frame(Cpu* cpu) noexcept nogil:
    """cover: the whole frame becomes dirty, and an empty one current."""
    cdef uint64_t pfs = cpu.pfs
    if cpu.system != NULL and not cpu.system.psr & PSR_IC:   # (volume 3, cover)
        cpu.system.cr[CR_IFS] = pack_cfm(cpu) | IFS_VALID
    cpu.sol = cpu.sof
    push_frame(cpu)
    cpu.pfs = pfs
    if cpu.system != NULL:
        cpu.system.incomplete_frame = 0
        mark_frame(cpu)


cdef bint complete_frame(Cpu* cpu) noexcept nogil:
    """The mandatory loads that a br.ret or rfi has left (volume 2, 6.6): the frame becomes complete. False: one of them
    faults, and the frame stays incomplete."""
    cdef uint64_t marker = pack_cfm(cpu)
    cdef int64_t i, missing = cpu.store - cpu.bof
    if not fill_slowly(cpu, cpu.bof):
        return False
    physical_order(cpu)
    for i in range(min(missing, <int64_t>cpu.sof)):
        cpu.gr[32 + i] = cpu.stacked[(cpu.bof + i) & RING_MASK]
        set_nat(cpu, <unsigned int>(32 + i), stacked_nat(cpu, cpu.bof + i))
        set_stacked_nat(cpu, cpu.bof + i, False)
    program_order(cpu, marker)
    cpu.system.incomplete_frame = 0
    if cpu.store > cpu.bof:
        lower_store(cpu)
    return True


cdef bint restore_covered_frame(Cpu* cpu, uint64_t cfm) noexcept nogil:
    """rfi with a valid IFS: the frame below the current one, all of whose registers were covered, becomes current
    (volume 3, rfi). False when the backing store is unreadable."""
    cdef uint64_t pfs = cpu.pfs, ec = cpu.ec
    cdef bint done
    physical_order(cpu)
    cpu.nat[0] &= 0xFFFFFFFFULL
    cpu.nat[1] = 0
    cpu.sof = cpu.sol = cpu.sor = 0
    cpu.pfs = (cfm & 0x7F) | (cfm & 0x7F) << 7
    done = pop_frame(cpu)
    cpu.pfs, cpu.ec = pfs, ec
    if done and cpu.sof == cfm & 0x7F and possible_marker(cfm):
        cpu.sol = (cfm >> 7) & 0x7F
        program_order(cpu, cfm)
    return done


# --- frames in a traced stream of system mode

cdef void mark_frame(Cpu* cpu) noexcept nogil:
    """Put the current frame into the stream, at the running instruction: those below it are not of calls in the
    stream."""
    cdef uint64_t dirty = <uint64_t>max(cpu.bof - cpu.store, 0)      # negative: the frame is incomplete
    if cpu.system == NULL or not cpu.traced:
        return
    mark(cpu, Mark.FRAME, cpu.sof | cpu.sol << 7 | cpu.sor << 14 | dirty << 21)
    cpu.system.known_frames = cpu.bof


cdef void mark_return(Cpu* cpu) noexcept nogil:
    """Put the frame of a return into the stream, unless a call in it has left the frame. One without locals may have
    been left or not."""
    cdef int64_t known = cpu.system.known_frames
    if cpu.bof < known or (cpu.bof == known and cpu.sol == 0):
        mark_frame(cpu)


cdef void reverse_words(uint64_t* words, int64_t low, int64_t high) noexcept nogil:
    cdef uint64_t kept
    while low < high:
        kept = words[low]
        words[low] = words[high]
        words[high] = kept
        low += 1
        high -= 1


cdef void rotate_words(uint64_t* words, int64_t count, int64_t by) noexcept nogil:
    """words[(i + by) % count] = words[i], in place."""
    if count and by:
        reverse_words(words, 0, count - 1)
        reverse_words(words, 0, by - 1)
        reverse_words(words, by, count - 1)


cdef void rotate_floats(Cpu* cpu, int64_t by) noexcept nogil:
    cdef FloatRegister old[96]
    cdef int64_t i
    if not by or not cpu.high_fr:
        return
    for i in range(96):
        old[i] = cpu.fr[32 + i]
    for i in range(96):
        cpu.fr[32 + (i + by) % 96] = old[i]


cdef void rotate_predicates(Cpu* cpu, uint64_t by) noexcept nogil:
    """p(16 + (i + by) mod 48) = p(16 + i)."""
    cdef uint64_t rotating = cpu.pr >> 16
    if by:
        rotating = (rotating << by | rotating >> (48 - by)) & 0xFFFFFFFFFFFFULL
        cpu.pr = (cpu.pr & 0xFFFF) | rotating << 16


cdef void rotate_stacked_nats(Cpu* cpu, int64_t count, int64_t by) noexcept nogil:
    cdef uint8_t old[96]
    cdef int64_t i
    if not by or not (cpu.nat[0] | cpu.nat[1]):
        return
    for i in range(count):
        old[i] = get_nat(cpu, <unsigned int>(32 + i))
    for i in range(count):
        set_nat(cpu, <unsigned int>(32 + (i + by) % count), old[i])


cdef void physical_order(Cpu* cpu) noexcept nogil:
    """Undo renaming (rename bases become 0): GR[32 + i] moves to (i + rrb) mod sor (volume 1, 4.5.1)."""
    rotate_stacked_nats(cpu, cpu.sor, cpu.rrb_gr)
    rotate_words(&cpu.gr[32], cpu.sor, cpu.rrb_gr)
    rotate_floats(cpu, cpu.rrb_fr)
    rotate_predicates(cpu, cpu.rrb_pr)
    cpu.rrb_gr = cpu.rrb_fr = cpu.rrb_pr = 0


cdef void program_order(Cpu* cpu, uint64_t cfm) noexcept nogil:
    """Set the rotating size and rename bases of ``cfm`` and order the registers (now physical) by them."""
    cpu.sor = ((cfm >> 14) & 0xF) << 3
    if cpu.sor > cpu.sof:
        cpu.sor = 0
    cpu.rrb_gr = (cfm >> 18) & 0x7F
    cpu.rrb_fr = (cfm >> 25) & 0x7F
    cpu.rrb_pr = (cfm >> 32) & 0x3F
    if cpu.rrb_gr >= cpu.sor:
        cpu.rrb_gr = 0
    if cpu.rrb_fr >= 96:
        cpu.rrb_fr = 0
    if cpu.rrb_pr >= 48:
        cpu.rrb_pr = 0
    if cpu.rrb_gr:
        rotate_stacked_nats(cpu, cpu.sor, cpu.sor - cpu.rrb_gr)
        rotate_words(&cpu.gr[32], cpu.sor, cpu.sor - cpu.rrb_gr)
    if cpu.rrb_fr:
        rotate_floats(cpu, 96 - cpu.rrb_fr)
    if cpu.rrb_pr:
        rotate_predicates(cpu, 48 - cpu.rrb_pr)


cdef void save_nats(Cpu* cpu, int64_t count) noexcept nogil:
    """br.call, cover: save the NaT bits of ``count`` locals; those of the outputs move down."""
    cdef int64_t i
    for i in range(count):
        set_stacked_nat(cpu, cpu.bof + i, get_nat(cpu, <unsigned int>(32 + i)))
    for i in range(96):
        set_nat(cpu, <unsigned int>(32 + i), i + count < cpu.sof and get_nat(cpu, <unsigned int>(32 + i + count)))


cdef void restore_nats(Cpu* cpu, int64_t sol, int64_t outputs) noexcept nogil:
    """br.ret: restore the NaT bits of the locals, move those of the outputs up, clear those beyond the frame."""
    cdef int64_t i
    for i in range(95, -1, -1):
        if i >= sol + outputs:
            set_nat(cpu, <unsigned int>(32 + i), False)
        elif i >= sol:
            set_nat(cpu, <unsigned int>(32 + i), i - sol < cpu.sof and get_nat(cpu, <unsigned int>(32 + i - sol)))
        else:
            set_nat(cpu, <unsigned int>(32 + i), stacked_nat(cpu, cpu.bof - sol + i))
            set_stacked_nat(cpu, cpu.bof - sol + i, False)


cdef void rotate_nats(Cpu* cpu) noexcept nogil:
    """Rotate the NaT bits once."""
    rotate_stacked_nats(cpu, cpu.sor, 1)
