"""The architectural state of one IA-64 processor at user level, and the operations of translated blocks.

Names follow the IA-64 Software Developer's Manual, volume 1, chapter 3 (registers) and volume 3.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport (
    FAULT_ALTERNATE_DATA_TLB, FAULT_ALTERNATE_INST_TLB, FAULT_BACKING_STORE, FAULT_BREAK, FAULT_DATA_ACCESS_BIT,
    FAULT_DATA_ACCESS_RIGHTS, FAULT_DATA_DEBUG, FAULT_DATA_KEY_MISS, FAULT_DATA_NESTED_TLB,
    FAULT_DATA_PAGE_NOT_PRESENT, FAULT_DATA_TLB, FAULT_DIRTY_BIT, FAULT_DISABLED_FP, FAULT_EXTERNAL_INTERRUPT,
    FAULT_FP_FAULT, FAULT_FP_TRAP, FAULT_ILLEGAL_DEPENDENCY, FAULT_ILLEGAL_OPERATION, FAULT_INST_ACCESS_BIT,
    FAULT_INST_ACCESS_RIGHTS, FAULT_INST_DEBUG, FAULT_INST_KEY_MISS, FAULT_INST_KEY_PERMISSION, FAULT_INST_NAT_PAGE,
    FAULT_INST_PAGE_NOT_PRESENT, FAULT_INST_TLB, FAULT_KEY_PERMISSION, FAULT_MACHINE_CHECK,
    FAULT_NAT_PAGE_CONSUMPTION, FAULT_NONE, FAULT_PRIVILEGED_OPERATION, FAULT_PRIVILEGED_REGISTER,
    FAULT_REGISTER_NAT_CONSUMPTION, FAULT_RESERVED_REGISTER_FIELD, FAULT_TRAP, FAULT_UNALIGNED_REFERENCE,
    FAULT_UNIMPLEMENTED_ADDRESS, FAULT_UNIMPLEMENTED_INST, FAULT_UNSUPPORTED_DATA_REFERENCE, FAULT_VHPT_TRANSLATION,
    FAULT_VIRTUALIZATION)
from pfmon.stream._stream cimport indexed, mark_word

cdef extern from *:
    """
    #define pfmon_likely(x) __builtin_expect(!!(x), 1)
    #define pfmon_unlikely(x) __builtin_expect(!!(x), 0)
    """
    bint likely "pfmon_likely"(bint) nogil
    bint unlikely "pfmon_unlikely"(bint) nogil

cdef enum:
    PAGE_SHIFT = 14              # Linux for IA-64 uses 16 KB pages
    PAGE_SIZE = 1 << PAGE_SHIFT
    TLB_SIZE = 1024              # host-side translation cache, not the modelled TLB
    JUMP_CACHE_SIZE = 4096
    ALAT_SIZE = 32
    ALAT_REGISTERS = 128         # classes of registers; entries are counted by class
    ALAT_LINES = 256
    STACKED_PHYSICAL = 96        # physical stacked registers
    STACKED_RING = 128           # ring that holds saved ones; a power of two >= STACKED_PHYSICAL
    MAX_BLOCK = 96               # instructions in a block
    MAX_CONDITIONS = 31          # conditional instructions in a block: bits 32-62 of its word
    MAX_MARKS = 8 * MAX_BLOCK    # an instruction writes at most four in user mode, eight in system mode
    NO_CONDITION = 255           # Instruction.condition of an unpredicated one

# Why a chain of operations returned to the driver.
cdef enum Status:
    STATUS_LIMIT = 1             # the stream buffer is full, marks are pending, or a stop is requested
    STATUS_MISS = 2              # the next block has no translation yet: cpu.ip (and cpu.miss_link)
    STATUS_CHECKED = 3           # continue instruction by instruction: a NaT bit is set, or the frame is too small
    STATUS_FAULT = 4             # cpu.fault at op.index of cpu.block; before any effect of that instruction
    STATUS_CUT = 5               # leave the block after op.index and continue at cpu.ip (failed check, code written)
    STATUS_BREAK = 6             # break: the number is in cpu.fault_info; the block is complete up to it
    STATUS_DONE = 7              # end of a single-instruction chain
    STATUS_EDGE = 8              # leave the block before op.index: an exact stop
    STATUS_PMD = 9               # leave before op.index: it reads the performance data register cpu.fault_info

# Interruption vectors that user code can cause (SDM volume 2, chapter 8: names of the vectors).
# The 82-bit floating-point register format (SDM volume 1, 5.1): value =
# (-1)^sign * significand * 2^(exponent - 65535 - 63). NaTVal: sign 0, exponent 0x1FFFE, significand 0.
cdef struct FloatRegister:
    uint64_t significand
    uint32_t exponent            # 17 bits, biased by 65535
    uint32_t sign                # 0 or 1

cdef struct Translation:
    uint64_t read_tag            # page address, or an odd value that matches nothing
    uint64_t write_tag
    uint64_t addend              # host address minus guest address
    uint64_t spare

cdef struct AlatEntry:
    uint64_t address
    uint32_t size                # bytes; 0: entry is free
    uint32_t tag                 # register: alat.pxd, general_tag and float_tag

ctypedef int (*Handler)(Cpu*, Op*) noexcept nogil

# One operation of a translated block. Most instructions are one operation; a predicated one has a guard before
# it, a traced memory access a trace operation.
cdef struct Op:
    Handler run
    int64_t imm                  # immediate operand, assembled and sign-extended; a pointer in branches
    uint8_t r1                   # r1, f1, p1, b1: the target's register number as encoded (not yet renamed)
    uint8_t r2                   # r2, f2, b2
    uint8_t r3                   # r3, f3, ar3
    uint8_t r4                   # f4, p2
    uint8_t qp
    uint8_t index                # number of the instruction in its block
    uint16_t x                   # row-specific: sf, len, completer
    int64_t y                    # row-specific: second immediate

cdef struct Instruction:         # one decoded instruction of a block
    uint64_t encoding            # 41 bits
    uint64_t extension           # the L slot of an X-unit instruction
    uint64_t address             # bundle address | slot
    void* row                    # decoder.Row
    uint16_t first_op            # its operations in the block
    uint16_t op_count
    uint8_t condition            # bit of the block word that says that it executed; 255: unconditional
    uint8_t r1, r2, r3, r4, qp
    uint8_t stop                 # followed by a stop
    uint8_t accesses             # memory accesses when it executes: 0 or 1
    uint8_t extended             # L+X: takes two slots
    uint8_t multiway             # its bundle holds more than one branch
    uint8_t first_floats         # user mask bits that it is to set: PSR.mfl, PSR.mfh
    uint8_t disabled_floats      # ISR.code of the Disabled FP Register fault that it causes; 0: none
    uint8_t unit                 # of its slot: decoder.Unit, or NO_UNIT
    uint8_t begins_pair          # executed by a pair's handler, with the next one
    uint16_t x
    int64_t imm
    int64_t y

cdef struct Link:
    Block* block                 # NULL until the target was translated
    uint64_t ip                  # target bundle | slot

cdef struct Exit:                # operand of a block's last operation
    uint64_t id                  # of the block
    uint32_t length              # instructions
    uint32_t need_sof            # smallest CFM.sof that covers all the block's targets
    uint64_t return_ip           # the bundle after its last one
    Link taken
    Link next

cdef struct Block:               # ops and exit, used by every run, fill one line of the host's cache
    Op* ops
    Exit exit
    Instruction* instructions
    uint64_t ip                  # bundle | slot of its first instruction
    uint32_t length              # instructions
    uint32_t op_count
    uint32_t conditions          # conditional instructions
    uint32_t accesses            # memory accesses in one run, at most
    uint32_t cut                 # the first instructions of a block that was left in its middle: 1 after a failed
                                 # check (its last instruction), 2 before a fault, 3 before an edge
    uint64_t physical            # physical address of its first bundle; 0 in user mode
    uint32_t mode                # Cpu.mode in which it runs; 0 in user mode
    Block* same                  # the next one in its chain of Blocks.by_code
    Block* beside                # while translated: the next one in its chain of Blocks.by_ip
    Block* translated            # the next one of all translated blocks

cdef struct Jump:                # target of an indirect branch to ``ip``
    uint64_t ip                  # | mode_tag
    Block* block

cdef struct Cpu:
    uint64_t gr[128]             # r32 upwards: the current frame, in the order that the program sees
    uint64_t pr                  # bit n = p n; in the order that the program sees; p0 is 1
    uint64_t br[8]
    uint64_t mask                # conditions of the running block that held so far (bits 32-62)
    uint64_t* out                # next free word of the stream buffer
    uint64_t* limit              # no block starts at or after this
    uint64_t* block_word         # where the running block's word goes
    Block* block                 # the running block
    uint64_t nat[2]              # NaT bits of gr
    uint64_t retired             # instructions retired in completed blocks
    uint64_t ip                  # bundle | slot, valid when the driver has control
    Link* miss_link
    uint32_t alat_used           # entries in use
    uint32_t level               # current privilege level
    uint32_t mode                # what translated blocks depend on (system_state.pxd); 0 in user mode
    uint64_t mode_tag            # of entries of jump_cache in this mode; 0 in user mode
    uint64_t ppl                 # the level as AR[PFS].ppl has it
    uint64_t first_pfs           # the least AR[PFS] of a return that lowers the privilege; 0 if all returns are looked at
                                 # (traced streams of system mode)
    SystemState* system          # NULL: user mode
    # current frame marker
    uint32_t sof
    uint32_t sol
    uint32_t sor                 # in registers (a multiple of 8)
    uint32_t rrb_gr
    uint32_t rrb_fr
    uint32_t rrb_pr
    # application registers
    uint64_t lc
    uint64_t ec
    uint64_t pfs
    uint64_t unat
    uint64_t ccv
    uint64_t csd
    uint64_t ssd
    uint64_t fpsr
    uint64_t rsc
    uint64_t rnat
    uint64_t bspstore
    uint64_t um                  # user mask: be 1, up 2, ac 3, mfl 4, mfh 5 (bit positions of PSR)
    uint64_t kr[8]
    uint64_t cpuid[8]
    uint64_t itc_offset          # ar.itc = retired + itc_offset, unless the host's clock is used
    uint64_t ia32[8]             # fcr, eflag, csd.., fsr, fir, fdr: kept, unused
    # register stack engine: saved frames as a ring, indexed by running numbers
    uint64_t stacked[STACKED_RING]
    uint64_t stacked_nats[2]     # their NaT bits; 0 for places that hold no register
    uint32_t high_fr             # a translated instruction writes f32-f127: rotation has to move them
    int64_t bof                  # running number of r32
    int64_t store                # registers below this are in the backing store (at bspstore)
    int64_t clean                # registers below this are in the backing store only
    # fault information
    int32_t fault
    int32_t fault_code           # ISR.code
    uint64_t fault_address
    uint64_t fault_info
    Op* fault_op
    # unaligned references that the operating system has completed
    uint64_t unaligned           # how many
    uint64_t unaligned_address   # of the first one: its data address
    uint64_t unaligned_ip        # and its instruction
    # marks of the running block, written after it
    uint64_t marks[MAX_MARKS]
    uint32_t mark_count
    uint32_t index               # of the instruction whose memory or RSE slow path runs
    uint32_t traced              # the stream has addresses
    uint32_t checked             # the driver runs instruction by instruction
    uint32_t stop                # a stop is requested: return at the next block
    uint32_t secure              # PSR.sp: the program neither reads performance data nor changes PSR.up
    uint32_t regions             # marks of regions are in the stream (region_marks.pyx)
    uint32_t pmd_known           # pmd_value holds the result of the read that is repeated
    uint64_t pmd_value
    Op edge                      # index: where an exact stop leaves a block
    void* memory                 # memory.AddressSpace's C part
    uint8_t bounce[32]           # data of accesses that are not done in place
    FloatRegister fr[128]        # f32 upwards in the order that the program sees
    AlatEntry alat[ALAT_SIZE]
    uint32_t alat_next
    uint8_t alat_registers[ALAT_REGISTERS]  # entries by class of their register
    uint8_t alat_latest[ALAT_REGISTERS]     # the youngest of them
    uint8_t alat_lines[ALAT_LINES]          # entries by class of a line that they touch
    Translation tlb[TLB_SIZE]
    Jump jump_cache[JUMP_CACHE_SIZE]


cdef extern from *:
    const uint64_t NO_PFS "UINT64_MAX"   # bits 51-38 of AR[PFS] are reserved


cdef inline void store_level(Cpu* cpu, uint32_t level) noexcept nogil:
    """Set the privilege level."""
    cpu.level = level
    cpu.ppl = <uint64_t>level << 62
    cpu.first_pfs = 0 if cpu.system != NULL and cpu.traced else cpu.ppl + (<uint64_t>1 << 62) if level < 3 else NO_PFS


cdef inline int next_op(Cpu* cpu, Op* op) noexcept nogil:
    """Continue with the next operation."""
    return op[1].run(cpu, op + 1)


cdef inline int fault(Cpu* cpu, Op* op, int number) noexcept nogil:
    """Leave the block with a fault at this instruction, before any of its effects."""
    cpu.fault = number
    cpu.fault_op = op
    return STATUS_FAULT


cdef inline int checked(Cpu* cpu, Op* op) noexcept nogil:
    """This operation set a NaT bit: continue after it instruction by instruction, tracking NaT bits."""
    if cpu.checked:
        return next_op(cpu, op)
    cpu.fault_op = op
    return STATUS_CHECKED


cdef inline void append_mark(Cpu* cpu, uint64_t word) noexcept nogil:
    """Append a mark to the running block's marks."""
    if cpu.mark_count < MAX_MARKS:
        cpu.marks[cpu.mark_count] = word
        cpu.mark_count += 1
    cpu.limit = NULL             # the end of the block returns to the driver, which writes them


cdef inline void mark(Cpu* cpu, int kind, uint64_t value) noexcept nogil:
    """Append a mark of the instruction numbered cpu.index."""
    append_mark(cpu, mark_word(kind, indexed(value, cpu.index)))


cdef inline void mark_at(Cpu* cpu, Op* op, int kind, uint64_t value) noexcept nogil:
    """Append a mark of an instruction."""
    cpu.index = op.index
    mark(cpu, kind, value)


cdef inline void set_nat(Cpu* cpu, unsigned int r, bint value) noexcept nogil:
    cdef uint64_t bit = <uint64_t>1 << (r & 63)
    if value:
        cpu.nat[r >> 6] |= bit
    else:
        cpu.nat[r >> 6] &= ~bit


cdef inline bint get_nat(Cpu* cpu, unsigned int r) noexcept nogil:
    return (cpu.nat[r >> 6] >> (r & 63)) & 1


cdef inline uint32_t register_number(Instruction* ins, int place) noexcept nogil:
    """The register number of an instruction's operand at a place (0..3)."""
    return ins.r1 if place == 0 else ins.r2 if place == 1 else ins.r3 if place == 2 else ins.r4
