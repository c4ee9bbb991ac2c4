"""A whole processor: its privileged registers, and requests from outside, for the engine's user and tests."""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef enum:
    MASKED = 1 << 16             # m of ITV, PMV, CMCV, LRR0 and LRR1
    DEFAULT_PAGE = 12 << 2       # RR.ps

PMU_ACCESSES = {READ_PMD: "read_pmd", WRITE_PMD: "write_pmd", READ_PMC: "read_pmc", WRITE_PMC: "write_pmc",
                WRITE_IBR: "write_ibr", WRITE_DBR: "write_dbr", USE_CLOCK: "use_clock", SET_TASK: "set_task"}


cdef void reset(Cpu* cpu) noexcept nogil:
    """The state in which firmware gets the processor (volume 2, 11.2.2): level 0, physical addresses, interruptions
    off, bank 1."""
    cdef SystemState* system = cpu.system
    cdef uint32_t i
    store_level(cpu, 0)
    cpu.mode = ~<uint32_t>0
    cpu.um = 0
    cpu.secure = 0
    cpu.fpsr = 0x9804C0270033F
    system.psr = PSR_BN
    system.timer_at = NO_TIME
    system.user_break = NO_BREAK
    for i in range(8):
        system.rr[i] = DEFAULT_PAGE
    system.cr[CR_PTA] = 15 << 2
    system.cr[CR_ITV] = system.cr[CR_PMV] = system.cr[CR_CMCV] = MASKED
    system.cr[CR_LRR0] = system.cr[CR_LRR1] = MASKED
    alat_clear(cpu)
    update_mode(cpu)


cdef class SystemProcessor(Processor):
    """One processor in system mode: it runs from privilege level 0; ``memory`` is physical memory. Arguments as of
    Processor.

    ``run`` returns BREAK for a reserved break alone, PMD for an access to the performance registers of a guest's PMU,
    CHECK for a machine check, and STOP; faults are interruptions of the program.
    """

    def __cinit__(self, AddressSpace memory, *, int max_block=MAX_BLOCK, bint trace=False, BlockTable table=None):
        self.cpu.system = <SystemState*>calloc(1, sizeof(SystemState))
        if self.cpu.system == NULL:
            raise MemoryError
        self.devices = []
        self.table.whole_system = True
        self.set_geometry()
        reset(self.cpu)

    def set_geometry(self, *, registers=(64, 64), cache=(128, 128), page_sizes=(12, 13, 14, 16, 18, 20, 22, 24, 26, 28, 32),
                     int va_msb=60, int pa_bits=50, int rid_bits=24):
        """Set what processors differ in: translation registers and entries of the translation caches (instructions,
        data), page sizes as powers of two, implemented address and region bits. ValueError: more than there is room
        for."""
        cdef SystemState* system = self.cpu.system
        for side in range(2):
            if not (0 < registers[side] <= MAX_TRANSLATION_REGISTERS and 0 < cache[side] <= MAX_TRANSLATION_CACHE):
                raise ValueError(f"{registers[side]} translation registers, {cache[side]} entries of the cache")
            system.register_count[side], system.cache_count[side] = registers[side], cache[side]
        system.page_sizes = sum(1 << bits for bits in page_sizes)
        system.va_msb, system.pa_bits, system.rid_bits = va_msb, pa_bits, rid_bits

    def set_reserved_breaks(self, numbers):
        """Set the immediates of break instructions for which ``run`` returns BREAK at level 0, at most eight."""
        if len(numbers) > MAX_RESERVED_BREAKS:
            raise ValueError(f"{len(numbers)} reserved breaks: there is room for {MAX_RESERVED_BREAKS}")
        for i, number in enumerate(numbers):
            self.cpu.system.reserved_breaks[i] = number
        self.cpu.system.reserved_break_count = len(numbers)

    def set_user_break(self, number):
        """Set the immediate of a break for which ``run`` returns BREAK at each level; None: there is none."""
        self.cpu.system.user_break = NO_BREAK if number is None else <uint64_t>number

    def set_device(self, uint64_t start, uint64_t end, device):
        """Let physical addresses [start, end), where no memory is, be a device: ``device.read(offset, size)`` and
        ``device.write(offset, size, value)`` are called."""
        cdef SystemState* system = self.cpu.system
        if system.device_count == MAX_DEVICES:
            raise ValueError(f"there is room for {MAX_DEVICES} devices")
        self.devices.append(device)
        system.devices[system.device_count] = Device(start, end, <void*>device)
        system.device_count += 1

    def set_executable_files(self, ExecutableFiles files):
        """Set the files that processes may execute: blocks of their code have the numbers of `placed`, as those of mapped
        files."""
        self.executable = files
        self.cpu.system.file_pages = &files.c

    def connect(self, processors, bint shares_core=False):
        """Make this one of the processors of a system, which have the same memory. All of them are connected, and live
        as long as one of them runs. ``shares_core``: they are hardware threads of one core. ValueError: more than there
        is room for."""
        cdef SystemProcessor one
        if len(processors) > MAX_PROCESSORS:
            raise ValueError(f"{len(processors)} processors: there is room for {MAX_PROCESSORS}")
        for i, one in enumerate(processors):
            self.cpu.system.processors[i] = one.cpu
        self.cpu.system.processor_count = len(processors)
        self.cpu.system.shares_core = shares_core

    def begin_turn(self):
        """Another processor has executed: its stores may be to what this one's ALAT has."""
        alat_clear(self.cpu)

    def restart_stream(self, Consumer consumer):
        """Who reads the stream from here on has not read what was before: pages are marked anew, and the frame is."""
        cdef Cpu* cpu = self.cpu
        cdef uint64_t dirty = <uint64_t>max(cpu.bof - cpu.store, 0)
        drop_filled(cpu)
        cpu.system.marked_page = cpu.system.marked_frame = 0
        if cpu.traced:
            self.emit_mark(consumer, Mark.FRAME, cpu.sof | cpu.sol << 7 | cpu.sor << 14 | dirty << 21)
            cpu.system.known_frames = cpu.bof

    # --- interrupts and time

    def raise_interrupt(self, uint32_t vector):
        """An external interrupt arrives. ValueError: no vector (0, 2, 16 to 255)."""
        if not is_vector(vector):
            raise ValueError(f"{vector} is not a vector of an external interrupt")
        pend(self.cpu, vector)

    def acknowledge(self):
        """Read IVR and write EOI, as firmware that polls does. Returns the vector."""
        vector = read_ivr(self.cpu)
        end_of_interrupt(self.cpu)
        return vector

    def raise_pmi(self):
        """The performance monitor interrupts: the vector of PMV is pending, unless it is masked (volume 2, 5.8.3.7)."""
        cdef uint64_t pmv = self.cpu.system.cr[CR_PMV]
        if not pmv & MASKED and is_vector(pmv & 0xFF):
            pend(self.cpu, pmv & 0xFF)

    @property
    def interrupt_pending(self) -> bool:
        """Whether an interrupt is pending that neither TPR nor one in service masks; PSR.i is ignored."""
        return deliverable(self.cpu.system) >= 0

    @property
    def interrupt_due(self) -> bool:
        """Whether an interrupt comes before the next instruction."""
        return self.cpu.system.psr & PSR_I != 0 and self.interrupt_pending

    @property
    def next_timer(self):
        """The number of retired instructions at which ITC matches ITM; None: never."""
        return None if self.cpu.system.timer_at == NO_TIME else self.cpu.system.timer_at

    def advance_time(self, uint64_t instructions):
        """Let ar.itc go on by so much without executing. A match of ITM on the way pends its interrupt."""
        cdef SystemState* system = self.cpu.system
        self.cpu.itc_offset += instructions
        if system.timer_at == NO_TIME:
            return
        if system.timer_at - self.cpu.retired <= instructions:
            timer_matched(self.cpu)
        else:
            system.timer_at -= instructions

    def use_external_clock(self):
        """From now on ar.itc is the time that `pass_time` gives it. ``run`` returns PMD (`pmu_access` is use_clock) before
        an instruction that accesses ar.itc or cr.itm, for the clock to be read."""
        self.cpu.system.external_clock = 1
        self.cpu.system.clock_read = self.cpu.retired

    def pass_time(self, uint64_t cycles):
        """Let ar.itc go on by the cycles since it was last called, or since `use_external_clock`. A match of ITM on the
        way pends its interrupt."""
        cdef SystemState* system = self.cpu.system
        cdef uint64_t since = self.cpu.retired - system.clock_read
        self.cpu.itc_offset -= since
        if system.timer_at != NO_TIME:
            system.timer_at = NO_TIME if system.timer_at > NO_TIME - since else system.timer_at + since
        system.clock_read = self.cpu.retired
        self.advance_time(cycles)

    # --- the guest's PMU

    def set_guest_pmu(self, bint on):
        """Whether ``run`` returns PMD for moves of performance registers. Without, they are unimplemented."""
        self.cpu.system.guest_pmu = on

    def watch_tasks(self):
        """From now on ``run`` returns PMD (`pmu_access` is set_task) before an instruction that writes ar.k6."""
        self.cpu.system.watches_tasks = 1

    def mark_handlers(self):
        """From now on an interruption sets PSR.pp, as DCR.pp = 1 has it, whatever DCR.pp is."""
        self.cpu.system.marks_handlers = 1

    @property
    def pmu_access(self):
        """(kind, number, value) of the move for which ``run`` returned PMD: read_pmd, write_pmd, read_pmc, write_pmc,
        write_ibr, write_dbr (breakpoint registers qualify events), use_clock (ar.itc or cr.itm
        is accessed; the value is 1 if it is written), set_task (ar.k6 gets the value).
        `answer_pmd` gives the value of a read, and acknowledges a write."""
        cdef SystemState* system = self.cpu.system
        return PMU_ACCESSES[system.pmu_access], self.cpu.fault_info, system.pmu_value

    # --- registers

    @property
    def machine_check(self):
        """Why ``run`` returned CHECK, or None."""
        cdef const char* text = self.cpu.system.machine_check
        return None if text == NULL else (<bytes>text).decode()

    @property
    def level(self) -> int:
        """The current privilege level."""
        return self.cpu.level

    @property
    def psr(self) -> int:
        """The processor status register, without ri."""
        return psr_of(self.cpu)

    def set_psr(self, uint64_t value):
        """Set the processor status register, without ri."""
        set_psr(self.cpu, value)

    def cr(self, uint32_t number):
        """A control register; reading IVR here has no effect."""
        if number >= CONTROL_REGISTERS:
            raise IndexError(f"no control register {number}")
        if CR_IRR0 <= number <= CR_IRR3:
            return self.cpu.system.irr[number - CR_IRR0]
        return self.cpu.system.cr[number]

    def set_cr(self, uint32_t number, uint64_t value):
        """Set a control register. ValueError: reserved fields."""
        if number >= CONTROL_REGISTERS:
            raise IndexError(f"no control register {number}")
        if write_cr(self.cpu, number, value, self.cpu.retired):
            raise ValueError(f"control register {number} does not take {value:#x}")

    def rr(self, uint32_t number):
        """A region register."""
        return self.cpu.system.rr[number & 7]

    def kr(self, uint32_t number):
        """A kernel register, ar.k0 to ar.k7."""
        return self.cpu.kr[number & 7]

    def set_kr(self, uint32_t number, uint64_t value):
        """Set a kernel register."""
        self.cpu.kr[number & 7] = value

    def translation_register(self, bint is_data, uint32_t number):
        """A translation register in the insertion format (volume 2, figure 4-5): the general register, ITIR, IFA
        without its region, and RR; None: it is not valid."""
        cdef SystemState* system = self.cpu.system
        cdef TranslationEntry* entry
        if number >= system.register_count[is_data]:
            raise IndexError(f"no translation register {number}")
        entry = &system.registers[is_data][number]
        if not entry.valid:
            return None
        bits = int(entry.last - entry.first).bit_length()
        page = (
            entry.present | entry.attribute << 2 | entry.accessed << 5 | entry.dirty << 6 | entry.level << 7
            | entry.rights << 9 | entry.physical | <uint64_t>entry.deferral << 52)
        return page, bits << 2 | <uint64_t>entry.key << 8, entry.first, bits << 2 | <uint64_t>entry.rid << 8

    def translate(self, uint64_t address):
        """The physical address of a virtual data address by the translations at hand, or None; without a walk."""
        cdef TranslationEntry* entry
        if not implemented_virtual(self.cpu.system, address):
            return None
        entry = find_translation(self.cpu.system, DATA_SIDE, address)
        if entry == NULL or not entry.present:
            return None
        return physical_of(entry, address, True)

    # --- snapshots

    def saved_state(self):
        """All of its state, between two instructions; the ALAT is cleared."""
        alat_clear(self.cpu)
        return save_state(self.cpu)

    def restore_state(self, bytes words):
        """Load the state of another processor of the same kind; this one has executed nothing yet. ValueError: no
        processor can have it."""
        if self.cpu.retired or not load_state(self.cpu, words):
            raise ValueError("no state of such a processor")
