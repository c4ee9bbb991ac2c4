"""The state of a processor between two instructions as words, for snapshots: all that programs can see, and what is left
to be done before the next instruction. The ALAT is empty then, and what the host holds of translations is not part of it.

Words come from a file: each one is checked before anything executes.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

cdef enum:
    EXPONENT_BITS = 17
    BANK_NATS = 0xFFFF
    RESERVED_VECTORS = 0xFFFA            # 1 and 3 to 15
    FEW_TRAPS = 1 << 5
    FAR_REGISTERS = 60                   # running numbers of the RSE stay below 2^60

cdef struct StateWords:
    uint64_t* words                      # NULL: they are counted
    uint32_t at
    bint loads
    bint wrong                           # a word was out of its range


cdef void move_word(StateWords* state, uint64_t* place) noexcept nogil:
    """Save a word, or load it."""
    if state.words != NULL:
        if state.loads:
            place[0] = state.words[state.at]
        else:
            state.words[state.at] = place[0]
    state.at += 1


cdef void move_words(StateWords* state, uint64_t* place, uint32_t count) noexcept nogil:
    cdef uint32_t i
    for i in range(count):
        move_word(state, &place[i])


cdef void move_limited(StateWords* state, uint32_t* place, uint64_t most) noexcept nogil:
    """The same of a number that is ``most`` at most."""
    cdef uint64_t word = place[0]
    move_word(state, &word)
    if word > most:
        state.wrong = True
        word = 0
    place[0] = <uint32_t>word


cdef void move_byte(StateWords* state, uint8_t* place, uint64_t most) noexcept nogil:
    cdef uint32_t word = place[0]
    move_limited(state, &word, most)
    place[0] = <uint8_t>word


cdef void move_signed(StateWords* state, int64_t* place) noexcept nogil:
    move_word(state, <uint64_t*>place)
    if not -(<int64_t>1 << FAR_REGISTERS) < place[0] < <int64_t>1 << FAR_REGISTERS:
        state.wrong = True
        place[0] = 0


cdef void move_frame(Cpu* cpu, StateWords* state) noexcept nogil:
    """The current frame, and the registers of lower ones."""
    move_words(state, cpu.gr, 128)
    move_words(state, cpu.nat, 2)
    move_limited(state, &cpu.sof, STACKED_PHYSICAL)
    move_limited(state, &cpu.sol, STACKED_PHYSICAL)
    move_limited(state, &cpu.sor, STACKED_PHYSICAL)
    move_limited(state, &cpu.rrb_gr, STACKED_PHYSICAL)
    move_limited(state, &cpu.rrb_fr, 95)
    move_limited(state, &cpu.rrb_pr, 47)
    move_words(state, cpu.stacked, STACKED_RING)
    move_words(state, cpu.stacked_nats, 2)
    move_signed(state, &cpu.bof)
    move_signed(state, &cpu.store)
    move_signed(state, &cpu.clean)
    move_limited(state, &cpu.system.incomplete_frame, 1)
    move_limited(state, &cpu.system.frame_pending, 1)


cdef void move_applications(Cpu* cpu, StateWords* state) noexcept nogil:
    """Predicates, branch registers, application registers, floating-point registers."""
    cdef uint32_t i
    move_word(state, &cpu.pr)
    move_words(state, cpu.br, 8)
    move_word(state, &cpu.ip)
    move_word(state, &cpu.lc)
    move_word(state, &cpu.ec)
    move_word(state, &cpu.pfs)
    move_word(state, &cpu.unat)
    move_word(state, &cpu.ccv)
    move_word(state, &cpu.csd)
    move_word(state, &cpu.ssd)
    move_word(state, &cpu.fpsr)
    move_word(state, &cpu.rsc)
    move_word(state, &cpu.rnat)
    move_word(state, &cpu.bspstore)
    move_word(state, &cpu.um)
    move_limited(state, &cpu.level, 3)
    move_words(state, cpu.kr, 8)
    move_words(state, cpu.ia32, 8)
    for i in range(128):
        move_word(state, &cpu.fr[i].significand)
        move_limited(state, &cpu.fr[i].exponent, (1 << EXPONENT_BITS) - 1)
        move_limited(state, &cpu.fr[i].sign, 1)


cdef void move_entry(StateWords* state, TranslationEntry* entry) noexcept nogil:
    move_word(state, &entry.first)
    move_word(state, &entry.last)
    move_word(state, &entry.physical)
    move_limited(state, &entry.rid, 0xFFFFFF)
    move_limited(state, &entry.key, 0xFFFFFF)
    move_byte(state, &entry.valid, 1)
    move_byte(state, &entry.present, 1)
    move_byte(state, &entry.accessed, 1)
    move_byte(state, &entry.dirty, 1)
    move_byte(state, &entry.rights, 7)
    move_byte(state, &entry.level, 3)
    move_byte(state, &entry.attribute, 7)
    move_byte(state, &entry.deferral, 1)


cdef void move_system(SystemState* system, StateWords* state) noexcept nogil:
    """Privileged registers, translations, pending interrupts."""
    cdef uint32_t side, i
    move_word(state, &system.psr)
    move_words(state, system.cr, CONTROL_REGISTERS)
    move_words(state, system.rr, 8)
    move_words(state, system.pkr, PROTECTION_KEYS)
    move_words(state, system.ibr, BREAKPOINT_REGISTERS)
    move_words(state, system.dbr, BREAKPOINT_REGISTERS)
    move_words(state, system.bank, 16)
    move_limited(state, &system.bank_nats, BANK_NATS)
    for side in range(2):
        for i in range(MAX_TRANSLATION_REGISTERS):
            move_entry(state, &system.registers[side][i])
        for i in range(MAX_TRANSLATION_CACHE):
            move_entry(state, &system.cache[side][i])
        move_limited(state, &system.cache_next[side], MAX_TRANSLATION_CACHE - 1)
    move_words(state, system.irr, 4)
    move_words(state, system.in_service, 4)
    move_word(state, &system.last_address)
    move_limited(state, &system.ic_in_flight, 1)
    move_limited(state, &system.traps, FEW_TRAPS - 1)


cdef void move_state(Cpu* cpu, StateWords* state) noexcept nogil:
    """Save or load all of it: the time of ITC, and how much of it is left to its match of ITM."""
    cdef SystemState* system = cpu.system
    cdef uint64_t now = system.clock_read if system.external_clock else cpu.retired
    cdef uint64_t time = now + cpu.itc_offset
    cdef uint64_t left = NO_TIME if system.timer_at == NO_TIME else system.timer_at - now
    move_frame(cpu, state)
    move_applications(cpu, state)
    move_system(system, state)
    move_word(state, &time)
    move_word(state, &left)
    if state.loads:
        cpu.itc_offset = time - now
        system.timer_at = left if left > NO_TIME - now else now + left


cdef uint32_t count_state(Cpu* cpu) noexcept nogil:
    """How many words they are."""
    cdef StateWords state
    memset(&state, 0, sizeof(state))
    move_state(cpu, &state)
    return state.at


cdef bint possible_frame(Cpu* cpu) noexcept nogil:
    """Whether the RSE can have such numbers (see rse.pxd): those of registers that are nowhere but in memory are lower
    than all others, and the others are 96 at most. Loads that are left may be of all registers of a frame."""
    cdef bint incomplete = cpu.system.incomplete_frame
    cdef int64_t most = STACKED_PHYSICAL if incomplete else 0
    if cpu.sol > cpu.sof or cpu.sor > cpu.sof or cpu.sor & 7 or cpu.rrb_gr >= max(<uint32_t>1, cpu.sor):
        return False
    if cpu.clean > cpu.store or cpu.store - cpu.bof > most or cpu.clean - cpu.bof > most:
        return False
    return cpu.bof + <int64_t>cpu.sof - cpu.clean <= STACKED_PHYSICAL and (incomplete or not cpu.system.frame_pending)


cdef bint possible_applications(Cpu* cpu) noexcept nogil:
    """Whether no field is reserved (as write_ar has it), and what is constant has its value."""
    if cpu.gr[0] or cpu.nat[0] & 1 or not cpu.pr & 1 or cpu.ip & 15 > 2:
        return False
    if cpu.fr[0].significand or cpu.fr[0].exponent or cpu.fr[0].sign:
        return False
    if cpu.fr[1].significand != <uint64_t>1 << 63 or cpu.fr[1].exponent != 0xFFFF or cpu.fr[1].sign:
        return False
    if cpu.rsc & ~<uint64_t>0x3FFF001F or reserved_fpsr(cpu.fpsr) or cpu.pfs & 0x3C0FFFC000000000ULL or cpu.ec > 0x3F:
        return False
    return cpu.rnat >> 63 == 0 and cpu.bspstore & 7 == 0 and cpu.um & ~<uint64_t>USER_MASK_BITS == 0


cdef bint possible_entry(SystemState* system, const TranslationEntry* entry) noexcept nogil:
    cdef uint64_t size = entry.last - entry.first
    if entry.first > entry.last or entry.last > REGION_OFFSET or size & (size + 1) or entry.first & size:
        return False
    if not (size + 1) & system.page_sizes or entry.rid >> system.rid_bits or entry.key >> system.rid_bits:
        return False
    return entry.physical & size == 0 and implemented_physical(system, entry.physical)


cdef bint possible_entries(SystemState* system, uint32_t side) noexcept nogil:
    """Whether all valid translations of a side can be, and are those that the processor has room for."""
    cdef uint32_t i
    for i in range(MAX_TRANSLATION_REGISTERS):
        if system.registers[side][i].valid and (
                i >= system.register_count[side] or not possible_entry(system, &system.registers[side][i])):
            return False
    for i in range(MAX_TRANSLATION_CACHE):
        if system.cache[side][i].valid and (
                i >= system.cache_count[side] or not possible_entry(system, &system.cache[side][i])):
            return False
    return system.cache_next[side] < system.cache_count[side]


cdef bint possible_controls(SystemState* system) noexcept nogil:
    """Whether control, region and key registers have values that they take."""
    cdef uint32_t i
    for i in range(CONTROL_REGISTERS):
        if system.cr[i] and (not CONTROL_FIELDS[i].exists or system.cr[i] & CONTROL_FIELDS[i].reserved):
            return False
    if reserved_pta(system, system.cr[CR_PTA]):
        return False
    for i in range(8):
        if system.rr[i] & RR_RESERVED_LOW or system.rr[i] >> (8 + system.rid_bits):
            return False
        if not system.page_sizes >> (system.rr[i] >> 2 & 0x3F) & 1:
            return False
    for i in range(PROTECTION_KEYS):
        if system.pkr[i] & PKR_RESERVED_LOW or system.pkr[i] >> (8 + system.rid_bits):
            return False
    return True


cdef bint possible_system(SystemState* system) noexcept nogil:
    """Whether the privileged state can be."""
    if system.psr & (PSR_RESERVED | PSR_CPL | PSR_RI | USER_MASK_BITS):
        return False
    if (system.irr[0] | system.in_service[0]) & RESERVED_VECTORS:
        return False
    return possible_controls(system) and possible_entries(system, 0) and possible_entries(system, 1)


cdef bytes save_state(Cpu* cpu):
    """The words of a processor."""
    cdef StateWords state
    memset(&state, 0, sizeof(state))
    found = PyBytes_FromStringAndSize(NULL, count_state(cpu) * sizeof(uint64_t))
    state.words = <uint64_t*>PyBytes_AS_STRING(found)
    move_state(cpu, &state)
    return found


cdef bint load_state(Cpu* cpu, bytes words):
    """Load the words of a processor of the same kind, which has executed nothing. False: they are of none."""
    cdef StateWords state
    memset(&state, 0, sizeof(state))
    if len(words) != count_state(cpu) * sizeof(uint64_t):
        return False
    state.words, state.loads = <uint64_t*>PyBytes_AS_STRING(words), True
    move_state(cpu, &state)
    if state.wrong or not (possible_frame(cpu) and possible_applications(cpu) and possible_system(cpu.system)):
        return False
    cpu.high_fr = 1
    cpu.miss_link = NULL
    cpu.system.known_frames = <int64_t>1 << FAR_REGISTERS    # each return marks its frame, until one is marked
    store_level(cpu, cpu.level)
    alat_clear(cpu)
    flush_tlb(cpu)
    cpu.mode = ~<uint32_t>0
    update_mode(cpu)
    return True
