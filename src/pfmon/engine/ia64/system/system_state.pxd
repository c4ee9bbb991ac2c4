"""The privileged state of one processor in system mode (IA-64 manual volume 2, chapters 3 to 5).

`Cpu.system` points to it; it is NULL for a program under Linux's interface, where all of this is the kernel's.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t, uint8_t

cdef extern from *:
    """
    #define PFMON_PSR(bit) (1ULL << (bit))
    """
    uint64_t PSR_BE "PFMON_PSR(1)"       # the user mask: these five are kept in Cpu.um
    uint64_t PSR_UP "PFMON_PSR(2)"
    uint64_t PSR_AC "PFMON_PSR(3)"
    uint64_t PSR_MFL "PFMON_PSR(4)"
    uint64_t PSR_MFH "PFMON_PSR(5)"
    uint64_t PSR_IC "PFMON_PSR(13)"
    uint64_t PSR_I "PFMON_PSR(14)"
    uint64_t PSR_PK "PFMON_PSR(15)"
    uint64_t PSR_DT "PFMON_PSR(17)"
    uint64_t PSR_DFL "PFMON_PSR(18)"
    uint64_t PSR_DFH "PFMON_PSR(19)"
    uint64_t PSR_SP "PFMON_PSR(20)"
    uint64_t PSR_PP "PFMON_PSR(21)"
    uint64_t PSR_DI "PFMON_PSR(22)"
    uint64_t PSR_SI "PFMON_PSR(23)"
    uint64_t PSR_DB "PFMON_PSR(24)"
    uint64_t PSR_LP "PFMON_PSR(25)"
    uint64_t PSR_TB "PFMON_PSR(26)"
    uint64_t PSR_RT "PFMON_PSR(27)"
    uint64_t PSR_CPL "(3ULL << 32)"
    uint64_t PSR_IS "PFMON_PSR(34)"
    uint64_t PSR_MC "PFMON_PSR(35)"
    uint64_t PSR_IT "PFMON_PSR(36)"
    uint64_t PSR_ID "PFMON_PSR(37)"
    uint64_t PSR_DA "PFMON_PSR(38)"
    uint64_t PSR_DD "PFMON_PSR(39)"
    uint64_t PSR_SS "PFMON_PSR(40)"
    uint64_t PSR_RI "(3ULL << 41)"
    uint64_t PSR_ED "PFMON_PSR(43)"
    uint64_t PSR_BN "PFMON_PSR(44)"
    uint64_t PSR_IA "PFMON_PSR(45)"
    uint64_t PSR_VM "PFMON_PSR(46)"
    uint64_t PSR_RESERVED "(~0x7FFFULL << 32 | 0xF0011FC1ULL)"   # bits 0, 6-12, 16, 28-31, 47-63
    uint64_t PSR_LOW "0xFFFFFFFFULL"
    uint64_t PSR_LOW_RESERVED "0xF0011FC1ULL"                    # the same of bits 31:0 (mov psr.l, ssm, rsm)
    uint64_t ISR_X "PFMON_PSR(32)"
    uint64_t ISR_W "PFMON_PSR(33)"
    uint64_t ISR_R "PFMON_PSR(34)"
    uint64_t ISR_NA "PFMON_PSR(35)"
    uint64_t ISR_SP "PFMON_PSR(36)"
    uint64_t ISR_RS "PFMON_PSR(37)"
    uint64_t ISR_IR "PFMON_PSR(38)"
    uint64_t ISR_NI "PFMON_PSR(39)"
    uint64_t ISR_ED "PFMON_PSR(43)"
    uint64_t REGION_OFFSET "((1ULL << 61) - 1)"                  # bits 60:0 of a virtual address
    uint64_t IFS_VALID "PFMON_PSR(63)"
    uint64_t NO_BREAK "(~0ULL)"                                  # no immediate of a break
    uint64_t NO_TIME "(~0ULL)"                                   # of a timer that is not set

cdef enum:
    ISR_EI_SHIFT = 41
    PSR_RI_SHIFT = 41
    PSR_CPL_SHIFT = 32

    # Control registers (volume 2, table 3-3)
    CR_DCR = 0
    CR_ITM = 1
    CR_IVA = 2
    CR_PTA = 8
    CR_IPSR = 16
    CR_ISR = 17
    CR_IIP = 19
    CR_IFA = 20
    CR_ITIR = 21
    CR_IIPA = 22
    CR_IFS = 23
    CR_IIM = 24
    CR_IHA = 25
    CR_LID = 64
    CR_IVR = 65
    CR_TPR = 66
    CR_EOI = 67
    CR_IRR0 = 68
    CR_IRR3 = 71
    CR_ITV = 72
    CR_PMV = 73
    CR_CMCV = 74
    CR_LRR0 = 80
    CR_LRR1 = 81
    CONTROL_REGISTERS = 82

    # DCR (volume 2, figure 3-10)
    DCR_PP = 1 << 0
    DCR_BE = 1 << 1
    DCR_DM = 1 << 8
    DCR_DP = 1 << 9
    DCR_DK = 1 << 10
    DCR_DX = 1 << 11
    DCR_DR = 1 << 12
    DCR_DA = 1 << 13
    DCR_DD = 1 << 14

    # Memory attributes (volume 2, table 4-11)
    MA_WB = 0
    MA_UC = 4
    MA_UCE = 5
    MA_WC = 6
    MA_NATPAGE = 7

    INSTRUCTION_SIDE = 0         # of the pairs of arrays below
    DATA_SIDE = 1
    BOTH_SIDES = 3               # a bit for each
    MAX_TRANSLATION_REGISTERS = 64
    MAX_TRANSLATION_CACHE = 128
    PROTECTION_KEYS = 16
    BREAKPOINT_REGISTERS = 8     # of each kind: four pairs of address and mask
    SMALL_PAGE = 1 << 12         # the smallest page that a processor supports
    MAX_RESERVED_BREAKS = 8
    MAX_DEVICES = 16
    MAX_PROCESSORS = 32
    MAX_FILLED = 64              # entries of the host-side translation cache that are listed for dropping

    # Bits of Cpu.mode: what a translated block depends on besides its address. Bits 0-3 are those of
    # BlockInstruction.privilege.
    MODE_UP = 1 << 2
    MODE_PP = 1 << 3
    MODE_IT = 1 << 4
    MODE_DFL = 1 << 5
    MODE_DFH = 1 << 6
    MODE_MFL = 1 << 7
    MODE_MFH = 1 << 8
    MODE_PK = 1 << 9
    PRIVILEGE_BITS = 15
    MODE_TAGS = 16               # in the low bits of a bundle's address

    # Traps that follow an instruction, as bits of ISR.code (volume 2, table 8-3)
    TRAP_FP = 1 << 0
    TRAP_LOWER_PRIVILEGE = 1 << 1
    TRAP_TAKEN_BRANCH = 1 << 2
    TRAP_SINGLE_STEP = 1 << 3
    TRAP_UNIMPLEMENTED_ADDRESS = 1 << 4

# An entry of a translation register or of a translation cache (volume 2, 4.1.1.5).
cdef struct TranslationEntry:
    uint64_t first               # bits 60:0 of the address of the page
    uint64_t last                # ... of its last byte
    uint64_t physical            # physical address of the page
    uint32_t rid
    uint32_t key
    uint8_t valid, present, accessed, dirty
    uint8_t rights               # ar
    uint8_t level                # pl
    uint8_t attribute            # ma
    uint8_t deferral             # ed

cdef struct Device:              # physical addresses that are a device's registers
    uint64_t start
    uint64_t end
    void* object                 # with read(offset, size) and write(offset, size, value)

cdef struct SystemState:
    uint64_t psr                 # without user mask, cpl and ri
    uint64_t cr[CONTROL_REGISTERS]
    uint64_t rr[8]
    uint64_t pkr[PROTECTION_KEYS]
    uint64_t ibr[BREAKPOINT_REGISTERS]
    uint64_t dbr[BREAKPOINT_REGISTERS]
    uint64_t bank[16]            # r16 to r31 of the other bank
    uint32_t bank_nats
    TranslationEntry registers[2][MAX_TRANSLATION_REGISTERS]
    TranslationEntry cache[2][MAX_TRANSLATION_CACHE]
    uint32_t register_count[2]   # of this processor
    uint32_t cache_count[2]
    uint32_t cache_next[2]       # the next one to be replaced
    uint64_t page_sizes          # bit n: pages of 2^n bytes can be inserted
    uint32_t va_msb              # highest implemented bit of a virtual address, below the region
    uint32_t pa_bits             # implemented bits of a physical address
    uint32_t rid_bits
    # external interrupts (volume 2, 5.8)
    uint64_t irr[4]
    uint64_t in_service[4]
    uint64_t timer_at            # instructions retired when ITC matches ITM, or NO_TIME
    uint32_t external_clock      # ITC is another clock's (SystemProcessor.pass_time), not the retired instructions
    uint64_t clock_read          # ... instructions retired when it was last read
    # the running instruction and its page
    uint64_t code_physical       # physical address of the small page that holds the block to be translated
    uint8_t* code_host           # its host address
    uint64_t last_address        # bundle | slot of the last instruction that retired
    uint32_t collects            # PSR.ic while the running chain executes: its instructions update IIPA
    uint32_t without_progress    # interruptions since an instruction retired
    uint64_t* run_start          # where the words of the running chain begin in the stream buffer
    # the data reference that faults
    uint64_t reference           # ISR bits: r, w, na, rs, ir, and code of a non-access
    uint32_t attribute           # memory attribute of the last reference
    uint64_t marked_page         # the last marks PAGE_ADDRESS and PAGE_FRAME of a traced stream
    uint64_t marked_frame
    int64_t known_frames         # the stream has the calls that left frames above this register (Cpu.bof)
    uint32_t deferred            # a speculative load's fault is deferred
    uint32_t ic_in_flight        # psr.ic was changed and not serialized
    uint32_t modes[MODE_TAGS]    # by tag
    uint32_t mode_count
    uint32_t fetch_changed       # translations of instruction addresses changed: links between pages do not hold
    uint32_t mode_changed        # the next block is to be looked up: links of the last one do not hold
    uint32_t incomplete_frame    # mandatory loads of a return are left (RSE.CFLE)
    uint32_t frame_pending       # ... and are to be made before the next instruction
    uint32_t returned            # the last instruction was an rfi
    uint32_t traps               # of the instruction that has retired
    # the PMU that the program sees
    uint32_t guest_pmu
    uint32_t watches_tasks       # moves to ar.k6 wait for the engine's user
    uint32_t marks_handlers      # interruptions set PSR.pp, whatever DCR.pp is
    uint32_t pmu_access          # PmuAccess
    uint64_t pmu_value
    # host side
    FilePages* file_pages        # of the files that processes execute; NULL: they have no names
    uint64_t reserved_breaks[MAX_RESERVED_BREAKS]
    uint32_t reserved_break_count
    void* processors[MAX_PROCESSORS] # the Cpu of each processor of the system
    uint32_t processor_count
    uint32_t shares_core         # ... which are hardware threads of one core
    uint32_t code_stale          # code that is translated was written by another processor
    uint64_t user_break          # the immediate that is reserved at each level, or NO_BREAK
    Device devices[MAX_DEVICES]
    uint32_t device_count
    const char* machine_check    # why the processor stopped, or NULL
    uint32_t filled_count
    uint32_t privileged_count
    uint16_t filled[MAX_FILLED]  # entries of Cpu.tlb; more than MAX_FILLED: any
    uint16_t privileged[MAX_FILLED]  # ... those that a higher privilege level filled

cdef enum PmuAccess:
    READ_PMD = 0
    WRITE_PMD = 1
    READ_PMC = 2
    WRITE_PMC = 3
    WRITE_IBR = 4
    WRITE_DBR = 5
    USE_CLOCK = 6                # ITC or ITM is accessed, and ITC is another clock's
    SET_TASK = 7                 # ar.k6 is written
