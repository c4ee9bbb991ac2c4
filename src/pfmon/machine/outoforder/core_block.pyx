"""Blocks as an out-of-order core executes them: each instruction's µops, operands and latencies, and what the front end needs
for the block. Made once for a block, from the instruction table of the processor (config/instruction_table.py).

A block's cost for the front end, in quarters of a cycle:

- decoders: 16 aligned bytes are fetched in a cycle; of the instructions in them the first decoder takes one of up to four µops, the
  others take those of one; a length-changing prefix stops this for some cycles;
- µop cache: a line in a cycle;
- loop buffer: as many as dispatch.

A taken branch ends what is fetched in a cycle.
"""

cimport cython
from libc.stdlib cimport calloc, free, realloc

from pfmon.stream._stream cimport (
    AccessKind, BANKS, BANK_MASK, BANK_SHIFT, BlockAccess, BlockHead, BlockInstruction, OPERANDS_AT, RegisterMasks,
    further_kind, is_second, max_accesses)

cdef enum:
    FORM_AT = OPERANDS_AT + sizeof(RegisterMasks)    # bytes of a payload before the instruction's form
    CODE_WINDOW = 32             # bytes of code that lines of the µop cache hold
    ACCESS_SHIFT = 62            # core_timings.py

cdef extern from *:
    """
    #define pfmon_first_bit(bits) __builtin_ctzll(bits)
    """
    int first_bit "pfmon_first_bit"(uint64_t) nogil


cdef void put_registers(uint8_t* to, uint8_t* count, uint32_t most, uint64_t registers, int32_t top) noexcept nogil:
    """Lists registers, with the x87 ones relative to the top of the stack when the block begins."""
    cdef uint32_t one
    while registers and count[0] < most:
        one = first_bit(registers)
        registers &= registers - 1
        if X87_REGISTER <= one < X87_REGISTER + 8:
            one = X87_REGISTER + ((one - X87_REGISTER + top) & 7)
        to[count[0]] = <uint8_t>one
        count[0] += 1


@cython.final
cdef class CoreBlocks:
    """``timings``: the processor's instruction table, with ``core_timing(form and access)``; ``front_end``: figures by name."""

    def __cinit__(self, BlockTable table, timings, front_end):
        self.table, self.timings = table, timings
        self.front_end.fetch, self.front_end.decoders = front_end["fetch"], front_end["decoders"]
        self.front_end.complex, self.front_end.prefix = front_end["complex"], front_end["prefix"]
        self.front_end.prefix_line, self.partial_flags = front_end["prefix_line"], front_end["partial_flags"] > 0
        self.front_end.line, self.front_end.width = front_end["line"], front_end["width"]
        self.front_end.lines, self.front_end.taken = front_end["lines"], front_end["taken"]

    def __dealloc__(self):
        cdef uint64_t i
        for i in range(self.form_slots):
            free(self.form_timings[i])
        free(self.form_timings)
        free(self.form_keys)

    # --- forms

    cdef const CoreTiming* timing(self, uint64_t form) noexcept nogil:
        """Returns the timing of a form of instructions; NULL: out of memory."""
        cdef uint64_t place
        if self.form_count * 2 >= self.form_slots and not self.more_forms():
            return NULL
        place = mixed(0, form) & (self.form_slots - 1)
        while self.form_timings[place] != NULL:
            if self.form_keys[place] == form:
                return self.form_timings[place]
            place = (place + 1) & (self.form_slots - 1)
        self.form_timings[place] = <CoreTiming*>calloc(1, sizeof(CoreTiming))
        if self.form_timings[place] == NULL:
            return NULL
        self.form_keys[place] = form
        self.form_count += 1
        with gil:
            self.look_up(form, self.form_timings[place])
        return self.form_timings[place]

    cdef bint more_forms(self) noexcept nogil:
        """Doubles the table of forms; False: out of memory."""
        cdef uint64_t slots = self.form_slots * 2 if self.form_slots else 1024, i, place
        cdef uint64_t* keys = <uint64_t*>calloc(slots, sizeof(uint64_t))
        cdef CoreTiming** timings = <CoreTiming**>calloc(slots, sizeof(void*))
        if keys == NULL or timings == NULL:
            free(keys)
            free(timings)
            return False
        for i in range(self.form_slots):
            if self.form_timings[i] != NULL:
                place = mixed(0, self.form_keys[i]) & (slots - 1)
                while timings[place] != NULL:
                    place = (place + 1) & (slots - 1)
                keys[place], timings[place] = self.form_keys[i], self.form_timings[i]
        free(self.form_keys)
        free(self.form_timings)
        self.form_keys, self.form_timings, self.form_slots = keys, timings, slots
        return True

    cdef int look_up(self, uint64_t form, CoreTiming* to) except -1:
        """Takes a form's timing from the instruction table."""
        cdef uint32_t i = 0, k
        found = self.timings.core_timing(form)
        to.instruction.slots, to.instruction.latency, to.instruction.latency2 = found.slots, found.latency, found.latency2
        to.instruction.divider, to.instruction.kind = found.divider, found.kind
        to.instruction.load_latency, to.instruction.busy = found.load_latency, found.busy
        to.instruction.string_start, to.instruction.string_cycles = found.string_start, found.string_cycles
        to.instruction.forward, to.instruction.indexed = found.forward, found.indexed
        to.ignores_sources, to.merges, to.kept = found.ignores_sources, found.merges, found.kept
        to.fuses, to.jump, to.top, to.prefixed = found.fuses, found.jump, found.top, found.prefixed
        for ports in found.uops[:MAX_UOPS]:
            to.uop[i].busy, to.uop[i].count = 1, min(len(ports), MAX_UOP_PORTS)
            for k in range(to.uop[i].count):
                to.uop[i].port[k] = ports[k]
            i += 1
        to.instruction.uops = <uint8_t>i
        return 0

    # --- blocks

    cdef CoreBlock* make(self, uint64_t number) noexcept nogil:
        """Returns a new description of a block; NULL: out of memory."""
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef const BlockInstruction* instructions = self.table.c.instructions + head.first
        cdef const uint8_t* payloads = self.table.c.payloads + head.first * self.table.c.header.payload_bytes
        cdef uint64_t accesses = max_accesses(head), stride = self.table.c.header.payload_bytes
        cdef const CoreTiming* timing
        cdef const CoreTiming* previous
        cdef bint fused = False
        cdef CoreBlock* block
        cdef uint32_t uops = 0, i
        for i in range(head.length):
            timing = self.timing_of(&instructions[i], payloads + i * stride)
            if timing == NULL:
                return NULL
            uops += timing.instruction.uops
        block = <CoreBlock*>calloc(1, sizeof(CoreBlock) + head.length * sizeof(CoreInstruction) + uops * sizeof(CoreUop)
                                   + accesses * sizeof(CoreAccess))
        if block == NULL:
            return NULL
        block.number, block.length, block.accesses = <uint32_t>number, <uint16_t>head.length, <uint16_t>accesses
        block.uops = <uint16_t>uops
        self.put_accesses(block, self.table.c.accesses + head.first_access, instructions)
        uops = 0
        for i in range(head.length):
            timing = self.timing_of(&instructions[i], payloads + i * stride)
            if timing.jump and i and i == head.length - 1:
                previous = self.timing_of(&instructions[i - 1], payloads + (i - 1) * stride)
                fused = previous.fuses & timing.jump
            self.put_instruction(block, i, timing, <const RegisterMasks*>(payloads + i * stride + OPERANDS_AT), &uops)
        if fused:
            self.fuse(block, timing)
        self.put_costs(block, instructions, payloads)
        return block

    cdef const CoreTiming* timing_of(self, const BlockInstruction* instruction, const uint8_t* payload) noexcept nogil:
        """Returns the timing of an instruction; NULL: out of memory."""
        return self.timing((<const uint64_t*>(payload + FORM_AT))[0] | <uint64_t>(instruction.access & 3) << ACCESS_SHIFT)

    cdef void fuse(self, CoreBlock* block, const CoreTiming* jump) noexcept nogil:
        """Fuses the conditional jump at the end of a block with the instruction before it: the jump's ports execute both."""
        cdef CoreInstruction* last = &instructions_of(block)[block.length - 1]
        cdef CoreInstruction* before = last - 1
        if before.uops and jump.instruction.uops:
            uops_of(block)[before.first_uop] = jump.uop[0]
        last.slots, last.uops, last.latency = 0, 0, 0

    cdef void put_accesses(self, CoreBlock* block, const BlockAccess* accesses,
                           const BlockInstruction* instructions) noexcept nogil:
        """Describes the accesses of a block, and which instruction makes them."""
        cdef CoreInstruction* one
        cdef uint8_t kind
        cdef uint32_t k
        for k in range(block.accesses):
            one = &instructions_of(block)[accesses[k].instruction]
            kind = instructions[accesses[k].instruction].access
            if is_second(accesses, k):
                kind = further_kind(&instructions[accesses[k].instruction])
            core_accesses_of(block)[k].reads = kind & AccessKind.READ or kind == AccessKind.FETCH_LINE
            core_accesses_of(block)[k].writes = (kind & AccessKind.WRITE) >> 1
            if one.accesses == 0:
                one.first_access = <uint16_t>k
            one.accesses += 1

    cdef void put_instruction(self, CoreBlock* block, uint32_t i, const CoreTiming* timing, const RegisterMasks* masks,
                              uint32_t* uops) noexcept nogil:
        """Describes an instruction of a block."""
        cdef CoreInstruction* one = &instructions_of(block)[i]
        cdef uint16_t first_access = one.first_access
        cdef uint8_t accesses = one.accesses, count = 0
        cdef uint32_t k
        one[0] = timing.instruction
        one.first_access, one.accesses = first_access, accesses
        if one.kind & CORE_PREFETCH and accesses and one.uops:
            one.uops -= 1                # its access is that µop
        one.address[0] = one.address[1] = NO_OPERAND
        put_registers(one.address, &count, 2, masks.addressed, block.top)
        if not timing.ignores_sources:
            put_registers(one.source, &one.sources, MAX_SOURCES, data_sources(one, masks, timing), block.top)
        put_registers(one.result, &one.results, MAX_RESULTS,
                      masks.written & ~timing.kept, block.top)
        block.top += timing.top
        if masks.read >> CARRY_FLAG & masks.written >> CARRY_FLAG & 1:
            block.carries = 1
        if self.partial_flags and block.partial and masks.read >> CARRY_FLAG & 1:
            one.kind |= CORE_PARTIAL_FLAGS
            block.partial = False
        if masks.written >> CARRY_FLAG & 3:
            block.partial = masks.written >> CARRY_FLAG & 3 == 2
        one.first_uop = <uint16_t>uops[0]
        for k in range(one.uops):
            uops_of(block)[uops[0] + k] = timing.uop[k]
        uops[0] += one.uops

    cdef void put_costs(self, CoreBlock* block, const BlockInstruction* instructions, const uint8_t* payloads) noexcept nogil:
        """Computes what the front end needs for a block."""
        cdef uint64_t stride = self.table.c.header.payload_bytes
        cdef uint64_t first = instructions[0].address, last = instructions[block.length - 1].address
        cdef uint64_t window = first // CODE_WINDOW, end = last + instructions[block.length - 1].length - 1
        cdef int32_t most = 0, in_window = 0, slots = 0, decoded = 0, beside = 0, prefixes = 0
        cdef const CoreInstruction* one
        cdef uint64_t line, prefixed = 0
        cdef uint32_t i
        for i in range(block.length):
            one = &instructions_of(block)[i]
            if instructions[i].address // CODE_WINDOW != window:
                window = instructions[i].address // CODE_WINDOW
                most, in_window = max(most, in_window), 0
            in_window += one.slots
            slots += one.slots
            if self.timing_of(&instructions[i], payloads + i * stride).prefixed:
                line = instructions[i].address // self.front_end.fetch
                prefixes += not self.front_end.prefix_line or line != prefixed
                prefixed = line
            if one.slots == 0:
                continue
            if one.slots > self.front_end.complex:       # the microcode sequencer takes over
                decoded, beside = decoded + (beside > 0) + (one.slots + 3) // 4, 0
            elif beside == 0 or beside == self.front_end.decoders or one.slots > 1:
                decoded, beside = decoded + 1, 1
            else:
                beside += 1
        block.lines = <uint8_t>self.lines_of(max(most, in_window))
        prefixes *= QUARTER * self.front_end.prefix
        block.cost[1][FROM_DECODERS] = <uint16_t>max(
            QUARTER * decoded, QUARTER * <int32_t>(end // self.front_end.fetch - first // self.front_end.fetch + 1) + prefixes)
        block.cost[0][FROM_DECODERS] = <uint16_t>max(
            QUARTER * decoded - (QUARTER - QUARTER * beside // self.front_end.decoders if beside else 0),
            QUARTER * <int32_t>(end + 1 - first) // self.front_end.fetch + prefixes)
        if block.lines:
            block.cost[1][FROM_UOP_CACHE] = <uint16_t>(
                QUARTER * ((slots + self.front_end.line - 1) // self.front_end.line))
            block.cost[0][FROM_UOP_CACHE] = <uint16_t>(
                (QUARTER * slots + self.front_end.line - 1) // self.front_end.line)
        for i in range(FROM_UOP_CACHE + 1):
            block.cost[1][i] = max(block.cost[1][i], <uint16_t>(QUARTER * self.front_end.taken))
        block.cost[1][FROM_LOOP_BUFFER] = block.cost[0][FROM_LOOP_BUFFER] = <uint16_t>(
            QUARTER * slots // self.front_end.width)
        block.slots = <uint16_t>slots

    cdef int32_t lines_of(self, int32_t slots) noexcept nogil:
        """Returns the lines of the µop cache that so many µops of a window take; 0: they do not fit."""
        cdef int32_t lines = (slots + self.front_end.line - 1) // self.front_end.line if self.front_end.line else 0
        return lines if lines <= self.front_end.lines else 0


cdef uint64_t data_sources(const CoreInstruction* one, const RegisterMasks* masks, const CoreTiming* timing) noexcept nogil:
    """Returns the registers that an instruction waits for, besides those of its addresses."""
    cdef uint64_t registers = masks.read
    if timing.merges:
        registers |= masks.written & ~(<uint64_t>1 << CARRY_FLAG | <uint64_t>1 << OTHER_FLAGS)
    registers &= ~timing.kept
    return registers & ~masks.addressed if one.accesses else registers
