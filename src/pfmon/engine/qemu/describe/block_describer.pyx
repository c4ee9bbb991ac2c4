"""Describes announced blocks: their instructions, with kinds and accesses.

capstone decodes instructions, by its C interface (version 5): the library of its Python package is loaded, and the few
records used here are declared. A table by mnemonic (x86_mnemonics.py, ppc_mnemonics.py) has the rest, such as which
instructions compute with floating-point numbers. `X86Describer` (x86_describer.pyx) is for x86, `PpcDescriber`
(ppc_describer.pyx) for PowerPC.
"""

import os

from libc.string cimport memcmp, memcpy, memset

from pfmon.errors import PfmonError
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.mapped_files import MappedFile

from pfmon.stream._stream cimport (
    ALWAYS, AccessKind, BlockHead, BranchKind, FORM_AT, Failure, Kind, OPERANDS_AT, Table, enter_block, fresh_instruction,
    further_accesses, make_room)

cdef extern from "<dlfcn.h>" nogil:
    void* dlopen(const char*, int)
    void* dlsym(void*, const char*)
    char* dlerror()
    int RTLD_NOW, RTLD_LOCAL

cdef enum:                       # capstone's numbers
    MODE_64 = 1 << 3
    OPTION_DETAIL = 2
    OPTION_ON = 3
    GROUP_PRIVILEGED = 6
    OPERAND_REGISTER = 1
    OPERAND_IMMEDIATE = 2
    OPERAND_MEMORY = 3
    PREFIX_LOCK = 0xF0
    VERSION = 5

cdef struct Detail:
    uint16_t registers_read[20]
    uint8_t registers_read_count
    uint16_t registers_written[20]
    uint8_t registers_written_count
    uint8_t groups[8]
    uint8_t group_count
    uint8_t writes_back
    uint8_t padding[3]
    uint8_t prefix[4]
    uint8_t opcode[4]
    uint8_t rex
    uint8_t address_size
    uint8_t modrm
    uint8_t other[33]
    uint32_t avx_condition       # of vcmp, from 1 on; else 0
    uint8_t more_others[16]
    uint8_t operand_count
    uint8_t more_padding[7]
    Operand operands[8]
    uint8_t encoding[2]
    uint8_t displacement_size
    uint8_t immediate_at
    uint8_t immediate_size

ctypedef uint32_t (*version_function)(int*, int*) noexcept nogil
ctypedef int (*open_function)(int, int, size_t*) noexcept nogil
ctypedef int (*close_function)(size_t*) noexcept nogil
ctypedef int (*option_function)(size_t, int, size_t) noexcept nogil
ctypedef void* (*allocate_function)(size_t) noexcept nogil
ctypedef void (*free_function)(void*, size_t) noexcept nogil
ctypedef bint (*decode_function)(size_t, const uint8_t**, size_t*, uint64_t*, Instruction*) noexcept nogil
ctypedef const char* (*name_function)(size_t, unsigned int) noexcept nogil

cdef decode_function decode_next = NULL


cdef void* function(void* library, const char* name) except NULL:
    cdef void* found = dlsym(library, name)
    if found == NULL:
        raise PfmonError(f"the capstone library has no function {name.decode()}")
    return found


cdef inline uint64_t bit_of(uint8_t number) noexcept nogil:
    """The bit of a register in Operands; registers that no instruction waits for have none."""
    return <uint64_t>1 << number if number < 64 else 0


cdef inline uint32_t vector_length(uint8_t size) noexcept nogil:
    """The kind of an instruction on vectors of so many bytes."""
    return X86Kind.WIDE_256 if size == 32 else X86Kind.WIDE_512 if size == 64 else 0


cdef void fit_accesses(BlockInstruction* described, uint32_t slots, const uint8_t* code, uint8_t size) noexcept nogil:
    """Give an instruction as many accesses as it has addresses in the stream. Of two the first reads, unless both
    write: a call through memory, and pushes, pops and moves from memory to memory. Those of a gather or a scatter are
    alike."""
    cdef x86_gather gather
    if slots == GATHER_SLOTS:
        gather = x86_gather_of(code, size)
        described.access = described.access or AccessKind.READ
        described.second = further_accesses(described.access, gather.elements)
        described.size = <uint16_t>gather.bytes
        return
    if slots == 0:
        described.access = AccessKind.NO_ACCESS
    elif described.access == AccessKind.NO_ACCESS:
        described.access = AccessKind.READ   # capstone does not know the instruction
    if slots == 2:
        described.second = AccessKind.WRITE if described.access & AccessKind.WRITE else AccessKind.READ
        described.access = AccessKind.READ


cdef class Describer:
    """Enters blocks into ``table``. ``path``: the capstone library; ``facts``: properties of a mnemonic, ``registers``:
    bit of a register, by name (x86_mnemonics.py, ppc_mnemonics.py); ``architecture`` and ``mode``: capstone's.
    PfmonError: the library is missing, or of another version."""

    def __cinit__(self, BlockTable table, path, facts, registers, int architecture, uint32_t mode):
        global decode_next
        cdef int major = 0, minor = 0
        self.table = table
        self.announced = Announcements()
        self.found = []
        self.functions = []
        encoded = path.encode()
        self.library = dlopen(encoded, RTLD_NOW | RTLD_LOCAL)
        if self.library == NULL:
            raise PfmonError(f"the capstone library cannot be loaded: {dlerror().decode()}")
        (<version_function>function(self.library, b"cs_version"))(&major, &minor)
        if major != VERSION:
            raise PfmonError(f"version {VERSION} of capstone is needed, and {path} is version {major}")
        if (<open_function>function(self.library, b"cs_open"))(architecture, <int>mode, &self.handle):
            raise PfmonError("capstone was built without the instructions of this program")
        (<option_function>function(self.library, b"cs_option"))(self.handle, OPTION_DETAIL, OPTION_ON)
        self.decoded = <Instruction*>(<allocate_function>function(self.library, b"cs_malloc"))(self.handle)
        decode_next = <decode_function>function(self.library, b"cs_disasm_iter")
        self.width = 8 if mode & MODE_64 else 4
        self.read_registers = <registers_function>function(self.library, b"cs_regs_access")
        self.index_mnemonics(facts)
        self.index_registers(registers)

    def __dealloc__(self):
        if self.decoded != NULL:
            (<free_function>function(self.library, b"cs_free"))(self.decoded, 1)
        if self.handle:
            (<close_function>function(self.library, b"cs_close"))(&self.handle)

    def index_mnemonics(self, facts):
        """Index the mnemonics' facts by capstone's instruction numbers."""
        cdef unsigned int number
        self.table.instruction_names = self.names(b"cs_insn_name", MAX_CAPSTONE_IDS)
        for number, name in enumerate(self.table.instruction_names, 1):
            kind, branch, rule, first, size, isa_kind = facts(name)
            self.facts[number] = InstructionFacts(kind, branch, rule, first, size, isa_kind)

    def index_registers(self, registers):
        """Index the registers' bits by capstone's register numbers."""
        cdef unsigned int number
        self.registers[0] = NO_REGISTER
        for number, name in enumerate(self.names(b"cs_reg_name", MAX_CAPSTONE_REGISTERS), 1):
            self.registers[number] = registers(name)

    def names(self, symbol, unsigned int most):
        """capstone's names, in the order of its numbers from 1 on, below ``most``."""
        cdef name_function name_of = <name_function>function(self.library, symbol)
        cdef const char* name
        cdef unsigned int number
        found = []
        for number in range(1, most):
            name = name_of(self.handle, number)
            if name == NULL:
                break
            found.append(name.decode())
        return found

    def begin_as(self, BlockTable parent):
        """Describe the inherited beginning of a child's area from its parent's table."""
        self.parent = parent

    cdef bint describe(self) noexcept nogil:
        """Enter all announced blocks; False: out of memory, or invalid data in the area, as the table's failure
        says."""
        cdef Announced what = self.announced.next()
        cdef bint files = False
        while what != Announced.NOTHING_NEW and what != Announced.DAMAGED and what != Announced.NO_ROOM:
            if what == Announced.A_FILE:
                files = True
                with gil:
                    self.keep_file()
            elif what == Announced.A_FUNCTION:
                with gil:
                    self.keep_function()
            elif what == Announced.A_BLOCK and not self.enter():
                return False
            what = self.announced.next()
        if what != Announced.NOTHING_NEW:
            self.table.c.header.failure = Failure.BAD_STREAM if what == Announced.DAMAGED else Failure.OUT_OF_MEMORY
            return False
        if files and self.on_mapped is not None:
            with gil:
                self.on_mapped()
        return True

    def keep_file(self):
        """Keep the last announced file."""
        cdef const announcement* it = &self.announced.head
        path = (<const char*>self.announced.body)[:it.bytes]
        self.found.append(MappedFile(it.ip, it.last_ip, it.next_ip, os.fsdecode(path)))

    def keep_function(self):
        """Keep the last announced function."""
        cdef const announcement* it = &self.announced.head
        text = (<const char*>self.announced.body)[:it.bytes]
        name, file = text[:it.last_ip], text[it.last_ip:]
        self.functions.append(GuestFunction(name.decode(errors="replace"), file.decode(errors="replace"), it.ip))

    def files(self):
        """The files that the program has mapped executable so far, in the order of their numbers, from 1 on
        (mapped.c)."""
        return self.found

    cdef bint enter(self) noexcept nogil:
        """Enter the last announced block."""
        cdef const announcement* it = &self.announced.head
        cdef const uint8_t* sizes = self.announced.body
        cdef const uint8_t* code = sizes + it.length
        cdef uint64_t address = it.ip, first
        cdef uint32_t i
        cdef uint8_t size
        cdef uint8_t* payload
        if not make_room(&self.table.c, 0, it.length):
            return False
        first = fresh_instruction(&self.table.c, 0)
        if self.inherit(first):
            return self.is_plain(it.number)
        for i in range(it.length):
            size = sizes[i] & SIZE_BITS
            self.instruction(&self.table.c.instructions[first + i], code, size, address)
            fit_accesses(&self.table.c.instructions[first + i], sizes[i] >> SLOTS_SHIFT & 3, code, size)
            payload = self.table.c.payloads + (first + i) * PAYLOAD_BYTES
            memset(payload, 0, PAYLOAD_BYTES)
            memcpy(payload, code, min(size, OPERANDS_AT))
            if self.traced:
                self.dataflow(<RegisterMasks*>(payload + OPERANDS_AT), <uint64_t*>(payload + FORM_AT))
            code += size
            address += size
        enter_block(&self.table.c, 0, it.ip, it.length, it.cut, it.file)
        return self.is_plain(it.number)

    cdef bint is_plain(self, uint64_t number) noexcept nogil:
        """Whether a block reaches the same number of addresses in each run, as every block does that ends in a jump or
        without a branch; records that number."""
        cdef const BlockHead* head = &self.table.c.heads[number]
        self.announced.paths.block_sizes[number] = BlockSize(<uint16_t>head.accesses, <uint16_t>head.length)
        if head.access_mask:
            self.table.c.header.failure = Failure.BAD_STREAM
        return head.access_mask == 0

    cdef bint inherit(self, uint64_t first) noexcept nogil:
        """Enter the last announced block from the parent's table; False: it is not there."""
        cdef const announcement* it = &self.announced.head
        cdef const Table* parent
        cdef const BlockHead* head
        if self.parent is None or self.announced.done > read_once(&self.announced.shared.inherited):
            return False
        parent = &self.parent.c
        if it.number >= read_once(&parent.header.bank[0].blocks):
            return False
        head = &parent.heads[it.number]
        if head.ip != it.ip or head.length != it.length:
            return False
        memcpy(&self.table.c.instructions[first], &parent.instructions[head.first],
               it.length * sizeof(BlockInstruction))
        memcpy(self.table.c.payloads + first * PAYLOAD_BYTES, parent.payloads + head.first * PAYLOAD_BYTES,
               it.length * PAYLOAD_BYTES)
        enter_block(&self.table.c, 0, it.ip, it.length, it.cut, it.file)
        return True

    cdef bint decode(self, const uint8_t* code, uint8_t size, uint64_t address) noexcept nogil:
        cdef size_t left = size
        cdef uint64_t at = address
        return decode_next(self.handle, &code, &left, &at, self.decoded)

    cdef void instruction(self, BlockInstruction* described, const uint8_t* code, uint8_t size,
                          uint64_t address) noexcept nogil:
        """Describe one instruction; overridden by instruction set."""

    cdef void dataflow(self, RegisterMasks* described, uint64_t* form) noexcept nogil:
        """The registers that the last instruction reads, writes, and uses in addresses; none, if unknown. ``form``: of
        x86's (x86_operands.pxd)."""
