"""Describes x86 instructions: kinds and accesses, registers, and the form (isa/x86/x86_operands.pxd).

capstone's lists of registers lack some, which x86_registers.py adds, as it does flags, of which capstone knows only all
together, and x87's registers.
"""

from pfmon.stream._stream cimport (
    FORM_AT, FORM_MAX_OPERANDS, FORM_OPERAND_BITS, FormBit, OPERANDS_AT, OperandForm, STACK_BASE, FLAG_CARRY, FLAGS_OTHER,
    X86Kind)

cdef enum:
    PREFIX_REPNE = 0xF2
    PREFIX_REPE = 0xF3
    PREFIX_OPERAND_SIZE = 0x66
    PREFIX_ADDRESS_SIZE = 0x67
    VEX_2 = 0xC5                 # the first bytes of instructions with VEX and EVEX
    VEX_3 = 0xC4
    EVEX = 0x62
    MOFFS_FIRST = 0xA0           # opcodes of mov with the whole address in the code
    MOFFS_LAST = 0xA3
    X87_FIRST = 0xD8             # opcodes of x87
    X87_LAST = 0xDF
    X87_POPPING = 0xDE           # the opcode of faddp, and of others
    FADDP_FIRST = 0xC0           # its bytes ModRM
    FADDP_LAST = 0xC7
    SHIFT_BY_ONE = 0xD0          # of 8 bits; of others 0xD1
    FAR = 2048                   # a displacement from 0 up to here is near
    FLAG_BITS = 1 << FLAG_CARRY | 1 << FLAGS_OTHER


cdef inline bint is_legacy_prefix(uint8_t byte) noexcept nogil:
    return byte in (0x66, 0x67, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65, 0xF0, PREFIX_REPNE, PREFIX_REPE)


cdef OperandForm memory_form(uint8_t size) noexcept nogil:
    """The form of an operand of so many bytes in memory."""
    if size == 1:
        return OperandForm.FORM_M8
    if size == 2:
        return OperandForm.FORM_M16
    if size == 4:
        return OperandForm.FORM_M32
    if size == 8:
        return OperandForm.FORM_M64
    if size == 10:
        return OperandForm.FORM_M80
    if size == 16:
        return OperandForm.FORM_M128
    if size == 32:
        return OperandForm.FORM_M256
    return OperandForm.FORM_M512 if size == 64 else OperandForm.FORM_M_OTHER


cdef class X86Describer(Describer):
    """Describes x86-64 and IA-32 instructions."""

    cdef void instruction(self, BlockInstruction* described, const uint8_t* code, uint8_t size,
                          uint64_t address) noexcept nogil:
        """Describe one instruction; one unknown to capstone has no kinds."""
        cdef const InstructionFacts* facts
        memset(described, 0, sizeof(BlockInstruction))
        described.address, described.length, described.condition, described.privilege = address, size, ALWAYS, 3
        if not self.decode(code, size, address) or self.decoded.id >= MAX_CAPSTONE_IDS:
            self.decoded.id = 0
            return
        if memcmp(self.decoded.mnemonic, b"vcmp", 4) == 0:   # capstone adds the condition to the number
            self.decoded.id -= (<const Detail*>self.decoded.detail).avx_condition
        facts = &self.facts[self.decoded.id]
        described.kind, described.branch, described.isa_kind = facts.kind, facts.branch, facts.isa_kind
        self.operands(described, facts)

    cdef void operands(self, BlockInstruction* described, const InstructionFacts* facts) noexcept nogil:
        """Derive from the operands: memory accesses, and whether a branch is direct."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef const Operand* operand
        cdef bint reads = facts.kind & Kind.LOAD != 0, writes = facts.kind & Kind.STORE != 0
        cdef uint32_t i, in_memory = 0
        cdef uint8_t access
        for i in range(detail.operand_count):
            operand = &detail.operands[i]
            if operand.type != OPERAND_MEMORY or facts.rule == MnemonicRule.NO_ACCESSES:
                continue
            in_memory += 1
            described.size = max(described.size, operand.size)
            access = facts.first if i == 0 else AccessKind.READ
            reads |= access & AccessKind.READ != 0 and facts.rule != MnemonicRule.FETCHES
            writes |= access & AccessKind.WRITE != 0 and facts.rule != MnemonicRule.FETCHES
        if facts.isa_kind & X86Kind.FP_PACKED and detail.operand_count:
            described.isa_kind |= vector_length(detail.operands[0].size)
        described.isa_kind |= self.register_file_kind()
        if in_memory > 1:                # a string instruction: movsd and cmpsd each name two
            described.kind &= ~<uint32_t>(Kind.FLOAT | Kind.FP_OPERATION)
        if facts.rule == MnemonicRule.JUMPS or facts.rule == MnemonicRule.CONDITIONAL:
            self.branch(described, facts)
        if facts.rule == MnemonicRule.CONDITIONAL:
            described.condition = 0
        for i in range(detail.group_count):
            if detail.groups[i] == GROUP_PRIVILEGED:
                described.kind |= Kind.PRIVILEGED
        if in_memory and (detail.prefix[0] == PREFIX_LOCK or facts.rule == MnemonicRule.EXCHANGES):
            described.kind |= Kind.ATOMIC
            reads = writes = True
        if in_memory and facts.rule == MnemonicRule.FETCHES:
            described.access = AccessKind.FETCH_LINE
        if reads:
            described.kind |= Kind.LOAD
            described.access |= AccessKind.READ
        if writes:
            described.kind |= Kind.STORE
            described.access |= AccessKind.WRITE
        if facts.size:
            described.size = facts.size
        if described.access and described.size == 0:
            described.size = self.width

    cdef uint32_t register_file_kind(self) noexcept nogil:
        """Return whether an operand is in a vector register, or else in one of MMX, as X86Kind."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef uint32_t i, found = 0
        cdef OperandForm form
        for i in range(detail.operand_count):
            form = self.operand_form(&detail.operands[i])
            if OperandForm.FORM_XMM <= form <= OperandForm.FORM_ZMM:
                return X86Kind.VECTOR
            if form == OperandForm.FORM_MM:
                found = X86Kind.MMX
        return found

    cdef void branch(self, BlockInstruction* described, const InstructionFacts* facts) noexcept nogil:
        """Set whether a jump or call is direct."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef bint direct = detail.operand_count > 0 and detail.operands[0].type == OPERAND_IMMEDIATE
        cdef bint calls = facts.kind & Kind.CALL != 0
        if direct:
            described.kind |= Kind.RELATIVE
            described.branch = BranchKind.DIRECT_CALL if calls else BranchKind.DIRECT
        else:
            described.kind |= Kind.INDIRECT
            described.branch = BranchKind.INDIRECT_CALL if calls else BranchKind.INDIRECT_JUMP

    cdef void dataflow(self, RegisterMasks* described, uint64_t* form) noexcept nogil:
        cdef const Instruction* one = self.decoded
        cdef const Detail* detail = <const Detail*>one.detail
        cdef const Address* address
        cdef uint16_t read[64]
        cdef uint16_t written[64]
        cdef uint8_t reads = 0, writes = 0
        cdef uint32_t i
        if one.id == 0 or self.read_registers(self.handle, one, read, &reads, written, &writes):
            return
        for i in range(reads):
            described.read |= self.bit(read[i])
        for i in range(writes):
            described.written |= self.bit(written[i])
        for i in range(detail.operand_count):
            if detail.operands[i].type == OPERAND_MEMORY:
                address = <const Address*>detail.operands[i].value
                described.addressed |= self.bit(address.base) | self.bit(address.index)
        self.correct(described, &self.more[one.id])
        form[0] = self.form_of(&self.more[one.id])

    cdef uint64_t bit(self, uint32_t number) noexcept nogil:
        """The bit of capstone's register in RegisterMasks; 0: nothing waits for it."""
        return bit_of(self.registers[number % MAX_CAPSTONE_REGISTERS])

    cdef uint64_t operand_bit(self, const Operand* operand) noexcept nogil:
        """The bit of an operand in a register; 0: it is in none."""
        return self.bit((<const uint32_t*>operand.value)[0]) if operand.type == OPERAND_REGISTER else 0

    cdef void correct(self, RegisterMasks* described, const X86Registers* more) noexcept nogil:
        """Add the registers that capstone's lists lack."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef const Operand* operands = detail.operands
        cdef uint64_t first = self.operand_bit(&operands[0]) if detail.operand_count else 0
        cdef uint32_t i, stack
        described.read |= more.read
        described.written |= more.written
        for i in range(detail.operand_count):
            if operands[i].access == 0:
                described.read |= self.operand_bit(&operands[i])
        if first and not described.written and self.vector_encoded() and not more.rules & X86Rule.WRITES_NOTHING:
            self.write_first(described, first)
        if more.rules & X86Rule.READS_DESTINATION or self.is_masked():
            described.read |= first
        if more.rules & X86Rule.WRITES_FIRST:
            described.written |= first
        if more.rules & X86Rule.CLEARS_MASK:
            self.clear_mask(described)
        if self.by_cl(more) or more.rules & X86Rule.REPEATS and detail.prefix[0]:
            described.read |= described.written & FLAG_BITS     # which a count of 0 leaves as they are
        if X87_FIRST <= detail.opcode[0] <= X87_LAST:
            stack = self.stack[(detail.opcode[0] & 7) << 8 | detail.modrm]
            described.read |= <uint64_t>(stack & 0xFF) << STACK_BASE
            described.written |= <uint64_t>(stack >> 8) << STACK_BASE
        if more.rules & X86Rule.KEEPS_VECTORS:
            described.read = described.written = 0

    cdef void write_first(self, RegisterMasks* described, uint64_t first) noexcept nogil:
        """An instruction writes its first operand that capstone takes for a source, and reads it only if it is one of the others, too."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef uint32_t i
        described.written |= first
        described.read &= ~first
        for i in range(1, detail.operand_count):
            described.read |= self.operand_bit(&detail.operands[i])

    cdef bint is_masked(self) noexcept nogil:
        """Whether an opmask says which elements of the first operand, a vector, are written."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef OperandForm first = self.operand_form(&detail.operands[0])
        return (detail.operand_count > 1 and OperandForm.FORM_XMM <= first <= OperandForm.FORM_ZMM
            and self.operand_form(&detail.operands[1]) == OperandForm.FORM_OPMASK)

    cdef void clear_mask(self, RegisterMasks* described) noexcept nogil:
        """A gather or scatter clears its mask: an opmask, or the last register."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef uint32_t i, mask = detail.operand_count - 1
        for i in range(detail.operand_count):
            if self.operand_form(&detail.operands[i]) == OperandForm.FORM_OPMASK:
                mask = i
        if detail.operand_count:
            described.written |= self.operand_bit(&detail.operands[mask])

    cdef bint by_cl(self, const X86Registers* more) noexcept nogil:
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        return (more.rules & X86Rule.SHIFTS and detail.operand_count > 1
            and detail.operands[detail.operand_count - 1].type == OPERAND_REGISTER)

    cdef OperandForm operand_form(self, const Operand* operand) noexcept nogil:
        if operand.type == OPERAND_REGISTER:
            return <OperandForm>self.forms[(<const uint32_t*>operand.value)[0] % MAX_CAPSTONE_REGISTERS]
        if operand.type == OPERAND_IMMEDIATE:
            return OperandForm.FORM_IMMEDIATE
        return memory_form(operand.size) if operand.type == OPERAND_MEMORY else OperandForm.FORM_OTHER

    cdef uint64_t form_of(self, const X86Registers* more) noexcept nogil:
        """The form of the last instruction."""
        cdef const Instruction* one = self.decoded
        cdef const Detail* detail = <const Detail*>one.detail
        cdef uint64_t form = one.id | self.register_bits()
        cdef uint32_t i
        for i in range(min(<uint32_t>detail.operand_count, <uint32_t>FORM_MAX_OPERANDS)):
            form |= <uint64_t>self.operand_form(&detail.operands[i]) << (
                FormBit.FORM_OPERANDS + FORM_OPERAND_BITS * i)
            if detail.operands[i].type == OPERAND_MEMORY:
                form |= self.address_bits(<const Address*>detail.operands[i].value)
                if detail.prefix[0] == PREFIX_LOCK or self.facts[one.id].rule == MnemonicRule.EXCHANGES:
                    form |= <uint64_t>1 << FormBit.FORM_LOCKED
        if more.rules & X86Rule.REPEATS and detail.prefix[0] in (PREFIX_REPE, PREFIX_REPNE):
            form |= <uint64_t>(1 if detail.prefix[0] == PREFIX_REPE else 2) << FormBit.FORM_REPEATED
        form |= <uint64_t>self.length_changed(more) << FormBit.FORM_LENGTH_CHANGED
        form |= <uint64_t>self.by_cl(more) << FormBit.FORM_BY_CL
        if more.rules & X86Rule.SHIFTS and detail.opcode[0] & 0xFE == SHIFT_BY_ONE:
            form |= <uint64_t>1 << FormBit.FORM_BY_ONE
        if detail.opcode[0] == X87_POPPING and FADDP_FIRST <= detail.modrm <= FADDP_LAST:
            form |= <uint64_t>1 << FormBit.FORM_POPS
        return form | <uint64_t>self.vector_encoded() << FormBit.FORM_VEX

    cdef uint64_t register_bits(self) noexcept nogil:
        """Of a form: whether its registers are the same."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef uint32_t i, last = 0, before = 0
        cdef uint64_t found = 0, first = 0
        for i in range(detail.operand_count):
            if detail.operands[i].type == OPERAND_MEMORY:
                return 0
            if detail.operands[i].type == OPERAND_REGISTER:
                before, last = last, (<const uint32_t*>detail.operands[i].value)[0]
                if first and self.bit(last) == first:
                    found = <uint64_t>1 << FormBit.FORM_OWN_SOURCE
                first = first or self.bit(last)
        return found | (<uint64_t>1 << FormBit.FORM_SAME if last and before == last else 0)

    cdef uint64_t address_bits(self, const Address* address) noexcept nogil:
        """Of a form: the parts of an address."""
        cdef bint relative = self.rip_number != 0 and address.base == self.rip_number
        cdef bint displaced = (<const Detail*>self.decoded.detail).displacement_size != 0
        return (<uint64_t>(address.base != 0 and not relative) << FormBit.FORM_BASE
            | <uint64_t>(address.index != 0) << FormBit.FORM_INDEX
            | <uint64_t>(displaced or address.displacement != 0) << FormBit.FORM_DISPLACED
            | <uint64_t>relative << FormBit.FORM_RIP_RELATIVE
            | <uint64_t>(address.index != 0 and address.scale != 1) << FormBit.FORM_SCALED
            | <uint64_t>(not 0 <= address.displacement < FAR) << FormBit.FORM_FAR)

    cdef bint length_changed(self, const X86Registers* more) noexcept nogil:
        """Whether a prefix changes the length of an immediate or an address."""
        cdef const Detail* detail = <const Detail*>self.decoded.detail
        cdef bint in_memory = False
        cdef uint32_t i
        if detail.prefix[2] == PREFIX_OPERAND_SIZE and detail.immediate_size == 2 and not self.vector_encoded():
            return not more.rules & X86Rule.KEEPS_LENGTH
        for i in range(detail.operand_count):
            in_memory |= detail.operands[i].type == OPERAND_MEMORY
        return (in_memory and detail.prefix[3] == PREFIX_ADDRESS_SIZE and not more.rules & X86Rule.REPEATS
            and (self.width == 4 or MOFFS_FIRST <= detail.opcode[0] <= MOFFS_LAST))

    cdef bint vector_encoded(self) noexcept nogil:
        """Whether the instruction has VEX or EVEX; in 32-bit mode, other instructions have their first bytes, too."""
        cdef const uint8_t* code = self.decoded.bytes
        cdef uint32_t i = 0
        while i < 14 and is_legacy_prefix(code[i]):
            i += 1
        return code[i] in (VEX_2, VEX_3, EVEX) and (self.width == 8 or code[i + 1] >= 0xC0)

    def set_registers(self, registers, forms, stack):
        """Set what x86_registers.py knows. ``registers``: registers read and written, and rules, by mnemonic;
        ``forms``: the OperandForm of a register by name; ``stack``: x87's registers by opcode."""
        cdef unsigned int number
        for number, name in enumerate(self.names(b"cs_insn_name", MAX_CAPSTONE_IDS), 1):
            if name in registers:
                read, written, rules = registers[name]
                self.more[number] = X86Registers(read, written, rules)
        for number, name in enumerate(self.names(b"cs_reg_name", MAX_CAPSTONE_REGISTERS), 1):
            self.forms[number] = forms(name)
            if name in ("rip", "eip"):
                self.rip_number = number
        for number in range(STACK_OPCODES):
            self.stack[number] = stack[number]

    def registers_of(self, bytes code):
        """Return the masks of the registers that an instruction reads, writes, and addresses memory with, and its
        form, as payloads have them."""
        cdef RegisterMasks masks
        cdef BlockInstruction described
        cdef uint64_t form = 0
        memset(&masks, 0, sizeof(masks))
        self.instruction(&described, code, <uint8_t>len(code), 0)
        self.dataflow(&masks, &form)
        return masks.read, masks.written, masks.addressed, form
