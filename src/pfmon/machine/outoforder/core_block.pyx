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
from libc.string cimport memset

from pfmon.stream._stream cimport (
    AccessKind, BANKS, BANK_MASK, BANK_SHIFT, BlockAccess, BlockHead, BlockInstruction, OPERANDS_AT, RegisterMasks,
    further_kind, is_second, max_accesses)

cdef enum:
    FORM_AT = OPERANDS_AT + sizeof(RegisterMasks)    # bytes of a payload before the instruction's form
    CODE_WINDOW = 32             # bytes of code that lines of the µop cache hold
    ACCESS_SHIFT = 62            # core_timings.py
    LINE = 64                    # bytes of a line of L1D

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


cdef void free_block(CoreBlock* block) noexcept nogil:
    """Frees a block; NULL: nothing."""
    cdef uint32_t i
    if block != NULL:
        for i in range(block.part_count):
            free_graphs(&block.parts[i])
        free(block.parts)
        free(block.store)
        free(block.ticks)
        free(block.history)
        free(block)


cdef int32_t ticks_of(int32_t width) noexcept:
    """Returns the ticks of a cycle: µops that dispatch, and quarters, take a whole number of them."""
    cdef int32_t ticks = QUARTER
    while ticks % width:
        ticks += QUARTER
    return ticks


cdef int put_uop(CoreUop* to, ports) except -1:
    """Sets the ports of a µop."""
    cdef uint32_t i
    to.busy, to.count = 1, min(len(ports), MAX_UOP_PORTS)
    for i in range(to.count):
        to.port[i] = ports[i]
    return 0


cdef inline bint begins_part(const CoreInstruction* one, uint32_t slots) noexcept nogil:
    """Tests whether a part of a block begins with an instruction, behind so many µops: there is no room, or it waits for commits."""
    return slots and (one.kind & CORE_FENCES_STORES or slots + one.slots > PART_SLOTS)


cdef inline void use_unit(UnitLoads* loads, uint32_t unit, int32_t begin, int32_t ticks) noexcept nogil:
    """Adds work for a unit that dispatches at ``begin``."""
    if loads.load[unit] == 0 or begin < loads.begin[unit]:
        loads.begin[unit] = begin
    loads.last[unit] = max(loads.last[unit], begin)
    loads.load[unit] += ticks


cdef void spread(const CoreUop* uop, int32_t begin, int32_t ticks, UnitLoads* loads) noexcept nogil:
    """Spreads a µop over its ports, tick by tick over the least loaded one."""
    cdef int32_t tick
    cdef uint32_t best, k
    for tick in range(uop.busy * ticks):
        best = uop.port[0]
        for k in range(1, uop.count):
            if loads.load[uop.port[k]] < loads.load[best]:
                best = uop.port[k]
        use_unit(loads, best, begin, 1)


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
        self.ticks = ticks_of(front_end["width"])
        self.slot_ticks = self.ticks // self.front_end.width
        self.commit_ticks = self.ticks // front_end["commits"]
        put_uop(&self.load[0], front_end["load_ports"])
        put_uop(&self.load[1], front_end["vector_load_ports"])
        put_uop(&self.store_address[0], front_end["store_address_ports"])
        put_uop(&self.store_address[1], front_end["indexed_ports"])
        put_uop(&self.store_data, front_end["store_data_ports"])

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
        to.instruction.slots, to.instruction.kind, to.instruction.indexed = found.slots, found.kind, found.indexed
        to.instruction.vector = found.vector
        to.instruction.latency, to.instruction.latency2 = self.ticks * found.latency, self.ticks * found.latency2
        to.instruction.divider, to.instruction.busy = self.ticks * found.divider, self.ticks * found.busy
        to.instruction.load_latency, to.instruction.forward = self.ticks * found.load_latency, self.ticks * found.forward
        to.instruction.string_start = self.ticks * found.string_start
        to.instruction.string_cycles = self.ticks * found.string_cycles
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
        if not self.put_parts(block):
            free_block(block)
            return NULL
        return block

    # --- parts

    cdef bint put_parts(self, CoreBlock* block) noexcept nogil:
        """Divides a block into parts; False: out of memory."""
        cdef uint32_t i, slots = 0, parts = 1
        cdef CorePart* part
        for i in range(block.length):
            if begins_part(&instructions_of(block)[i], slots):
                parts, slots = parts + 1, 0
            slots += instructions_of(block)[i].slots
        block.parts = part = <CorePart*>calloc(parts, sizeof(CorePart))
        if part == NULL:
            return False
        block.part_count = <uint8_t>parts
        for i in range(block.length):
            if begins_part(&instructions_of(block)[i], part.slots):
                part.end = <uint8_t>i
                part += 1
                part.first = <uint8_t>i
            part.slots += instructions_of(block)[i].slots
        part.end = <uint8_t>block.length
        block.store = <uint16_t*>calloc(block.accesses + 1, sizeof(uint16_t))
        if block.store == NULL:
            return False
        for i in range(parts):
            block.parts[i].first_store = block.stores
            self.describe_part(block, &block.parts[i])
        return True

    cdef void describe_part(self, CoreBlock* block, CorePart* part) noexcept nogil:
        """Counts what a part takes of buffers and units, and lists its stores. µops with few ports are given theirs first, so that the others find
        the ports that are left; each is spread over its ports, the least loaded first."""
        cdef const CoreInstruction* one
        cdef UnitLoads loads
        cdef uint32_t i, k, ports
        cdef int32_t begin = 0
        memset(&loads, 0, sizeof(loads))
        for i in range(part.first, part.end):
            one = &instructions_of(block)[i]
            part.alone |= one.kind & (CORE_SERIALIZING | CORE_FENCES_STORES | CORE_LOCKED) != 0
            part.waiting += max(one.uops + one.accesses, 1)
            if one.accesses:
                if part.end_access == 0:
                    part.first_access = one.first_access
                part.end_access = one.first_access + one.accesses
            for k in range(one.first_access, one.first_access + one.accesses):
                part.loads += core_accesses_of(block)[k].reads
                if core_accesses_of(block)[k].writes:
                    block.store[block.stores] = <uint16_t>k
                    block.stores, part.stores = block.stores + 1, part.stores + 1
                    part.commits += self.ticks if core_accesses_of(block)[k].alone else self.commit_ticks
        part.entries[REORDER_BUFFER], part.entries[LOAD_BUFFER], part.entries[STORE_BUFFER] = part.slots, part.loads, part.stores
        for i in range(CORE_BUFFERS):
            part.half[i] = (part.entries[i] + 1) // 2
        part.half[RESERVATION_STATION] = (part.waiting + 1) // 2
        for ports in range(1, MAX_UOP_PORTS + 1):
            begin = 0
            for i in range(part.first, part.end):
                one = &instructions_of(block)[i]
                self.load_units(block, one, ports, begin, &loads)
                begin += one.slots * self.slot_ticks
        for i in range(PORTS):
            part.port_end[i] = NEVER
        for i in range(CORE_UNITS):
            if loads.load[i] and part.units < MAX_UNIT_USES:
                part.unit[part.units].unit, part.unit[part.units].load = <uint8_t>i, loads.load[i]
                part.unit[part.units].end = max(loads.begin[i] + loads.load[i], loads.last[i] + self.ticks)
                if i < PORTS:
                    part.port_load[i], part.port_end[i] = loads.load[i], part.unit[part.units].end
                    part.ports += 1
                part.units += 1

    cdef void load_units(self, CoreBlock* block, const CoreInstruction* one, uint32_t ports, int32_t begin,
                         UnitLoads* loads) noexcept nogil:
        """Loads units with the µops of an instruction that so many ports can execute; it dispatches at ``begin``."""
        cdef const CoreAccess* access = core_accesses_of(block) + one.first_access
        cdef uint32_t k
        for k in range(one.uops):
            if uops_of(block)[one.first_uop + k].count == ports:
                spread(&uops_of(block)[one.first_uop + k], begin, self.ticks, loads)
        for k in range(one.accesses):
            if access[k].reads and self.load[one.vector].count == ports:
                spread(&self.load[one.vector], begin, self.ticks, loads)
            if access[k].writes and self.store_address[one.indexed].count == ports:
                spread(&self.store_address[one.indexed], begin, self.ticks, loads)
            if access[k].writes and self.store_data.count == ports:
                spread(&self.store_data, begin, self.ticks, loads)
        if one.divider and ports == 1:
            use_unit(loads, UNIT_DIVIDER, begin, one.divider)

    cdef int spread_part(self, CoreBlock* block, const CorePart* part, list to) except -1:
        """Adds, by instruction, the ticks for which each unit works for a part: those of `describe_part`, one instruction after the other."""
        cdef UnitLoads loads, before
        cdef uint32_t i, k, ports
        cdef int32_t begin
        memset(&loads, 0, sizeof(loads))
        for ports in range(1, MAX_UOP_PORTS + 1):
            begin = 0
            for i in range(part.first, part.end):
                before = loads
                self.load_units(block, &instructions_of(block)[i], ports, begin, &loads)
                begin += instructions_of(block)[i].slots * self.slot_ticks
                for k in range(CORE_UNITS):
                    if loads.load[k] != before.load[k]:
                        to[i][k] = to[i].get(k, 0) + loads.load[k] - before.load[k]
        return 0

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
            core_accesses_of(block)[k].alone = instructions[accesses[k].instruction].size >= LINE
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
        for k in range(first_access, first_access + accesses):
            core_accesses_of(block)[k].alone |= one.kind & CORE_STREAMING != 0
        if one.kind & CORE_PREFETCH and accesses and one.uops:
            one.uops -= 1                # its access is that µop
        one.address[0] = one.address[1] = NO_OPERAND
        put_registers(one.address, &count, 2, masks.addressed, block.top)
        if not timing.ignores_sources:
            put_registers(one.source, &one.sources, MAX_SOURCES, data_sources(one, masks, timing), block.top)
        put_registers(one.result, &one.results, MAX_RESULTS,
                      masks.written & ~timing.kept, block.top)
        block.top += timing.top
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
            block.heavy += one.slots if one.slots > 1 else 0
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
        for i in range(CODE_SOURCES):
            block.cost[0][i] = <uint16_t>(block.cost[0][i] * self.ticks // QUARTER)
            block.cost[1][i] = <uint16_t>(block.cost[1][i] * self.ticks // QUARTER)
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
