"""One IA-64 processor: its registers for the system-call layer, and the loop that drives blocks.

``Processor.run`` executes until a system call, a fault or a requested stop, and passes the retirement stream to a
Consumer, a buffer at a time, without the interpreter lock.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from pfmon.isa.ia64._encodings cimport Row
from pfmon.stream._stream cimport (
    BlockInstruction, BlockTable, Consumer, Ia64Payload, NO_INSTRUCTION, indexed, mark_word)

from pfmon.isa.ia64._encodings import UNIT_LETTERS
from pfmon.engine.ia64.registers.cpuid import cpuid
from pfmon.engine.ia64.translation.decoded_blocks import DecodedBlock, DecodedInstruction
from pfmon.stream._stream import Cut, InstructionSet

BUFFER_WORDS = 1 << 15                   # 256 KB: stays in the second-level cache
cdef enum:
    BUFFERS_PER_POLL = 16                # some ten milliseconds
    SLACK = MAX_BLOCK + MAX_MARKS + 8  # room for one block with all its addresses and marks

BREAK, FAULT, STOP, PMD, CHECK = WHY_BREAK, WHY_FAULT, WHY_STOP, WHY_PMD, WHY_CHECK


cdef class Processor:
    """One processor that runs in ``memory``.

    ``max_block``: instructions in a block, at most; 1 makes every instruction a block (the slow path).
    ``trace``: put the addresses of memory accesses in the stream. ``table``: for its blocks; None: one of its own.
    ``regions``: put the program's marks of regions in the stream.
    """

    def __cinit__(self, AddressSpace memory, *, int max_block=MAX_BLOCK, bint trace=False, BlockTable table=None,
                  bint regions=False):
        load_handlers()
        self.cpu = <Cpu*>calloc(1, sizeof(Cpu))
        self.blocks = <BlockCache*>calloc(1, sizeof(BlockCache))
        self.buffer = <uint64_t*>malloc(BUFFER_WORDS * sizeof(uint64_t))
        if self.cpu == NULL or self.blocks == NULL or self.buffer == NULL:
            raise MemoryError
        self.buffer_end = self.buffer + <int64_t>BUFFER_WORDS
        self.memory = memory
        self.table = BlockTable(InstructionSet.IA64, sizeof(Ia64Payload)) if table is None else table
        self.traced = trace
        self.stop_at = self.exact_at = ~<uint64_t>0
        self.blocks.table = &self.table.c
        memory.attach(self.cpu)
        store_level(self.cpu, 3)
        self.blocks.max_block = min(max(1, max_block), MAX_BLOCK)
        self.blocks.trace = trace
        self.cpu.traced = trace
        self.cpu.regions = regions
        self.cpu.secure = 1
        self.cpu.out = self.buffer
        self.cpu.pr = 1
        self.set_cpuid(cpuid("itanium2"))
        self.cpu.fr[1].significand = <uint64_t>1 << 63
        self.cpu.fr[1].exponent = 0xFFFF

    def __dealloc__(self):
        if self.memory is not None:
            self.memory.detach()
        if self.blocks != NULL:
            free_blocks(self.blocks)
        free(self.blocks)
        if self.cpu != NULL:
            free(self.cpu.system)
        free(self.cpu)
        free(self.buffer)

    def set_files(self, files):
        """Set the files mapped where code may be: start, end and number of each. Blocks from different files differ."""
        cdef MappedFile* fresh = <MappedFile*>malloc((len(files) + 1) * sizeof(MappedFile))
        if fresh == NULL:
            raise MemoryError
        for i, (start, end, number) in enumerate(files):
            fresh[i] = MappedFile(start, end, number)
        free(self.blocks.files)
        self.blocks.files, self.blocks.file_count = fresh, len(files)

    def run(self, Consumer consumer):
        """Execute until a system call (BREAK), a fault (FAULT), a stop (STOP) or a read of performance data (PMD);
        ``consumer`` gets the stream of retired instructions.

        After BREAK ``ip`` follows the break, whose number is ``fault_info``; after FAULT ``ip`` is the instruction that
        faulted, ``fault`` the vector, ``fault_address`` the data address.
        """
        cdef int why
        with nogil:
            why = self.drive(consumer, False)
        if self.raised is not None:
            error, self.raised = self.raised, None
            raise error
        return why

    def step(self, Consumer consumer):
        """Execute one block, instruction by instruction, and stop; otherwise as ``run``."""
        return self.drive(consumer, True)

    def request_stop(self):
        """Make ``run`` return at the next block; from any thread or a signal handler."""
        self.cpu.stop = 1
        self.cpu.limit = NULL

    cdef uint64_t* next_limit(self, uint64_t exact) noexcept nogil:
        """The buffer position at which the chain returns: the end of the buffer, or before ``stop_at`` or ``exact`` can
        be passed (a block takes a word and has at most MAX_BLOCK instructions)."""
        cdef uint64_t* limit = self.buffer_end - SLACK
        cdef uint64_t blocks = (min(self.stop_at, exact) - self.cpu.retired) // MAX_BLOCK
        if blocks < <uint64_t>(limit - self.cpu.out):
            limit = self.cpu.out + max(<uint64_t>1, blocks)
        return limit

    cdef void poll(self) noexcept nogil:
        """Run Python's signal handlers from time to time, in the main thread; an exception of one ends the run."""
        self.polls += 1
        if self.polls % BUFFERS_PER_POLL == 0:
            with gil:
                try:
                    PyErr_CheckSignals()
                except BaseException as error:
                    self.raised = error
                    self.cpu.stop = 1

    cdef int drive(self, Consumer consumer, bint single) noexcept nogil:
        cdef Cpu* cpu = self.cpu
        cdef Block* block
        cdef int why = 0
        if cpu.system != NULL:
            return drive_system(self, consumer, single)
        while why == 0:
            if cpu.mark_count:
                write_marks(cpu)
            if cpu.out >= self.buffer_end - SLACK:
                consumer.consume(self.buffer, cpu.out - self.buffer)
                cpu.out = self.buffer
                self.poll()
            if (<MemoryMap*>cpu.memory).code_written:
                forget_translations(cpu, self.blocks)
                forget_code(cpu)
            if cpu.stop or cpu.retired >= self.stop_at or cpu.retired >= self.exact_at:
                why = WHY_STOP
                break
            block = next_block(cpu, self.blocks)
            if block == NULL:
                cpu.fault_code = 0
                why = WHY_FAULT
                break
            cpu.limit = self.next_limit(self.exact_at)
            if single:
                cpu.stop = 1
                why = handle_status(cpu, self.blocks, run_checked(cpu, block, 0, MAX_BLOCK))
            elif self.exact_at - cpu.retired < block.length:
                why = handle_status(
                    cpu, self.blocks, run_checked(cpu, block, 0, <uint32_t>(self.exact_at - cpu.retired)))
            else:
                why = handle_status(cpu, self.blocks, run_block(cpu, block))
        if single or why == WHY_STOP:
            cpu.stop = 0                 # served; a request that came with a break or fault applies to the next run
        write_marks(cpu)
        consumer.consume(self.buffer, cpu.out - self.buffer)
        cpu.out = self.buffer
        return why

    def stop_when_retired(self, count):
        """Make ``run`` stop at the first block boundary with ``count`` instructions retired; None: never."""
        self.stop_at = ~<uint64_t>0 if count is None else count

    def stop_exactly_at(self, count):
        """Make ``run`` stop when exactly ``count`` instructions have retired, within a block too; None: never."""
        self.exact_at = ~<uint64_t>0 if count is None else count

    @property
    def secure(self) -> bool:
        """PSR.sp: the program reads performance data registers as 0 and cannot change PSR.up."""
        return bool(self.cpu.secure)

    def set_secure(self, bint value):
        """Set PSR.sp. While it is clear, ``run`` returns PMD where the program reads a performance data register."""
        self.cpu.secure = value

    def answer_pmd(self, uint64_t value):
        """Set the result of the read of register ``fault_info``, after ``run`` returned PMD."""
        self.cpu.pmd_value = value
        self.cpu.pmd_known = 1

    def emit_mark(self, Consumer consumer, int kind, uint64_t value):
        """Put a mark into the stream between two runs (system call, signal, exit)."""
        cdef uint64_t word = mark_word(kind, indexed(value, NO_INSTRUCTION))
        with nogil:                      # the thread that has to read first may need the GIL
            consumer.consume(&word, 1)

    def emit_region_mark(self, Consumer consumer, bint starts, bytes name):
        """Put the mark of a region that the program starts or stops by a system call into the stream. ``name``: b"": it
        has no valid one."""
        cdef uint64_t words[MAX_REGION_NAME]
        cdef uint32_t count
        name = name if len(name) <= MAX_REGION_NAME else b""
        count = region_words(words, Mark.REGION_START if starts else Mark.REGION_STOP, name, len(name))
        with nogil:
            consumer.consume(words, count)

    # --- thread switches

    def context(self):
        """A copy of the running thread's registers."""
        cdef ThreadContext made = ThreadContext()
        save_registers(self.cpu, &made.c)
        return made

    def resume(self, ThreadContext context):
        """Load a thread's registers."""
        restore_registers(self.cpu, &context.c)

    def begin_stack(self, uint64_t base):
        """Start a register stack: the current frame is its first, the backing store begins at ``base``."""
        begin_stack(self.cpu, base)

    def set_time(self, uint64_t instructions):
        """Set ar.itc as if this many instructions had retired by now."""
        self.cpu.itc_offset = instructions - self.cpu.retired

    # --- blocks

    def block_count(self):
        """The number of blocks."""
        return self.blocks.count

    def block(self, uint64_t number):
        """The record of block ``number``."""
        from pfmon.isa.ia64.instruction_set import instruction

        if number >= self.blocks.count or self.blocks.by_number[number] == NULL:
            raise IndexError(f"no block {number}")
        cdef Block* block = self.blocks.by_number[number]
        cdef Instruction* ins
        cdef const BlockInstruction* code
        cdef uint32_t i
        records = []
        for i in range(block.length):
            ins = &block.instructions[i]
            code = &self.table.c.instructions[self.table.c.heads[number].first + i]
            records.append(DecodedInstruction(
                address=ins.address, encoding=ins.encoding, extension=ins.extension,
                slots=2 if ins.extended else 1,
                row=None if ins.row == NULL else instruction((<Row*>ins.row).number),
                condition=None if ins.condition == NO_CONDITION else ins.condition, qp=ins.qp, stop=bool(ins.stop),
                multiway=bool(ins.multiway), kind=code.kind, isa_kind=code.isa_kind,
                unit=UNIT_LETTERS[ins.unit:ins.unit + 1], begins_pair=bool(ins.begins_pair)))
        return DecodedBlock(number, block.ip, tuple(records), Cut(block.cut))

    # --- registers, for the system-call layer and tests

    def set_cpuid(self, values):
        """Set the processor identification registers from CPUID[0] on, at most eight."""
        for number, value in enumerate(values):
            self.cpu.cpuid[number & 7] = value

    @property
    def retired(self) -> int:
        """Instructions retired so far."""
        return self.cpu.retired

    @property
    def cpuid(self):
        """The processor identification registers."""
        return [self.cpu.cpuid[number] for number in range(8)]

    @property
    def unaligned(self):
        """Completed unaligned references: their number, the first one's data address and instruction."""
        return self.cpu.unaligned, self.cpu.unaligned_address, self.cpu.unaligned_ip

    @property
    def fault(self) -> int:
        """The vector of the last fault (fault_codes.pxd, Fault)."""
        return self.cpu.fault

    @property
    def fault_code(self) -> int:
        """ISR.code of the last fault."""
        return self.cpu.fault_code

    @property
    def fault_address(self) -> int:
        """The data address of the last fault."""
        return self.cpu.fault_address

    @property
    def fault_info(self) -> int:
        """The immediate of the last break."""
        return self.cpu.fault_info

    def gr(self, unsigned int number):
        """General register ``number`` as the program sees it."""
        return self.cpu.gr[number & 127]

    def set_gr(self, unsigned int number, uint64_t value, bint nat=False):
        """Set a general register and its NaT bit; r0 stays 0."""
        if number:
            self.cpu.gr[number & 127] = value
            set_nat(self.cpu, number & 127, nat)

    def nat(self, unsigned int number):
        """The NaT bit of a general register."""
        return bool(get_nat(self.cpu, number & 127))

    def br(self, unsigned int number):
        """Branch register ``number``."""
        return self.cpu.br[number & 7]

    def set_br(self, unsigned int number, uint64_t value):
        """Set a branch register."""
        self.cpu.br[number & 7] = value

    @property
    def pr(self) -> int:
        """The predicates: bit n is p n as the program sees it."""
        return self.cpu.pr

    def set_pr(self, uint64_t value):
        """Set the predicates; p0 stays 1."""
        self.cpu.pr = value | 1

    def fr_spill(self, unsigned int number):
        """Floating-point register ``number`` as stf.spill writes it: 16 bytes."""
        cdef FloatRegister* register = &self.cpu.fr[number & 127]
        return int(register.significand | <object>to_spill(register[0]) << 64).to_bytes(16, "little")

    def set_fr_spill(self, unsigned int number, bytes data):
        """Set a floating-point register from the 16 bytes of stf.spill; f0 and f1 stay."""
        if len(data) != 16:
            raise ValueError("a spilled floating-point register has 16 bytes")
        if number >= 2:
            self.cpu.fr[number & 127] = from_spill(
                int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little"))
            if number >= 32:
                self.cpu.high_fr = 1

    def ar(self, str name):
        """Application register by name (rsc, bsp, bspstore, rnat, ccv, unat, fpsr, pfs, lc, ec, csd, ssd)."""
        cdef Cpu* c = self.cpu
        values = {
            "rsc": c.rsc, "bsp": bsp(c), "bspstore": c.bspstore, "rnat": c.rnat, "ccv": c.ccv, "unat": c.unat,
            "fpsr": c.fpsr, "pfs": c.pfs, "lc": c.lc, "ec": c.ec, "csd": c.csd, "ssd": c.ssd,
        }
        return values[name]

    def set_ar(self, str name, uint64_t value):
        """Set an application register; a new bspstore places the frames below the current one in memory there."""
        cdef Cpu* c = self.cpu
        if name == "rsc": c.rsc = value
        elif name == "bspstore": set_backing_store(c, value)
        elif name == "rnat": c.rnat = value
        elif name == "ccv": c.ccv = value
        elif name == "unat": c.unat = value
        elif name == "fpsr": c.fpsr = value
        elif name == "pfs": c.pfs = value
        elif name == "lc": c.lc = value
        elif name == "ec": c.ec = value & 63
        elif name == "csd": c.csd = value
        elif name == "ssd": c.ssd = value
        else: raise KeyError(name)

    @property
    def cfm(self) -> int:
        """The current frame marker, packed (SDM volume 1, 3.1.7)."""
        return pack_cfm(self.cpu)

    def set_cfm(self, uint64_t value):
        """Set the frame marker in place (register contents stay as the program sees them). ValueError for an impossible
        one."""
        cdef Cpu* c = self.cpu
        if not possible_marker(value):
            raise ValueError(f"no frame has the marker {value:#x}")
        c.index = NO_INSTRUCTION
        physical_order(c)
        make_frame_room(c, value & 0x7F)
        c.sof = value & 0x7F
        c.sol = (value >> 7) & 0x7F
        program_order(c, value)
        mark_frame(c)

    @property
    def ip(self) -> int:
        """Bundle address | slot of the next instruction."""
        return self.cpu.ip

    def set_ip(self, uint64_t value):
        """Set the next instruction: bundle address | slot."""
        self.cpu.ip = value
        self.cpu.miss_link = NULL

    @property
    def um(self) -> int:
        """The user mask (PSR bits 0-5)."""
        return self.cpu.um

    def set_um(self, uint64_t value):
        """Set the user mask."""
        if self.cpu.um & ~value & (UM_MFL | UM_MFH):
            self.memory.c.code_written = 1   # as the instructions that clear them do
        self.cpu.um = value & 0x3E
        self.memory.attach(self.cpu)

    def out_argument(self, unsigned int number):
        """System-call argument: output register ``number`` of the current frame."""
        if number >= 8 or self.cpu.sol + number >= self.cpu.sof:
            return 0
        return self.cpu.gr[32 + self.cpu.sol + number]

    def cover_and_flush(self):
        """Write the current frame and all below it to the backing store; an empty frame remains. Returns bsp, or None
        when the backing store is unwritable."""
        self.cpu.index = NO_INSTRUCTION
        cover_frame(self.cpu)
        if not flush_registers(self.cpu):
            return None
        return bsp(self.cpu)

    def restore_frame(self, uint64_t address, uint64_t cfm):
        """Restore the frame that ends at backing-store ``address`` with marker ``cfm``, as rfi does. False when the
        backing store is unreadable."""
        return bool(restore_frame(self.cpu, address, cfm))
