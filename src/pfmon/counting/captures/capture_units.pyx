"""Event address registers and trace buffers in operation: they capture a machine's misses and branches.

Two steps. First the machine reports each miss and branch, and the unit captures it or not; monitors can count the
captures. Then live counting `apply`s the captures in order, up to its position: at an overflow the registers have the
contents of that cycle (Montecito manual 3.3.8 to 3.3.10).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from pfmon.machine._machine cimport (
    CODE_FIRST_STAGE, CODE_THIRD_STAGE, CODE_UNKNOWN_PATH, CODE_WRONG_PATH, CODE_WRONG_TARGET, DATA_EAR_CAPTURED,
    FlowKind, NOTHING_HAPPENED, in_ranges, set_ranges)

cdef enum:
    CAPTURES = 3                 # occurrences of one PMU: DATA_EAR, INSTRUCTION_EAR, BRANCHES
    RANDOM_BIT = 1 << 15         # the generator's low bits have short periods
    # of Captured.detail, for branches
    WAS_TAKEN = 1
    WAS_WRONG = 2
    WAS_FLUSHED = 4
    SAME_ENTRY = 8
    MAX_ELAPSED_CYCLES = 63      # cycles: the counter has six bits and saturates
    ADDRESS_FLUSHED = 2          # f: bit 1 of an extension in IP-EAR mode
    EARLY = 1                    # ef: bit 0
    NO_ADDRESS = 0x100           # of Captured.detail, for data: of the register stack engine, without an instruction


cdef class CaptureUnits(CaptureListener):
    """``setting``: capture_setting.CaptureSetting of the PMU; ``filters``: of the instructions that the data EAR, the
    instruction EAR and the trace buffer capture; ``ranges``: (address, mask) of the data ranges, ``data_ranged``: the
    data EAR honours them; ``seed``: of the choice among loads; ``owner``: number of the PMU, if several listen;
    ``traced``: the privileges at which the trace buffer captures, a bit each."""
    def __init__(self, BlockTable table, setting, Increments filters, ranges=(), bint data_ranged=False, seed=1,
                 uint32_t owner=0, uint32_t traced=ALL_PRIVILEGES):
        self.traced = traced
        self.table, self.filters = table, filters
        self.data_ranged = data_ranged
        set_ranges(&self.ranges, ranges)
        self.tracked.random = seed
        self.first_occurrence = DATA_EAR_CAPTURED + owner * CAPTURES
        self.trace.size = setting.entries
        self.gap, self.windows = setting.gap, setting.windows
        data, fetch, branches = setting.data, setting.fetch, setting.branches
        if data is not None:
            self.loads, self.translations, self.checks = data.mode == "cache", data.mode == "tlb", data.mode == "alat"
            self.every_load = data.mode == "ops"
            self.precise = data.mode == "precise" or self.every_load
            self.least_load, self.data_levels = data.least, data.levels
        if fetch is not None:
            self.fetches, self.fetch_translations = fetch.mode == "cache", fetch.mode == "tlb"
            self.least_fetch, self.fetch_levels = fetch.least, fetch.levels
            self.of_requests = fetch.under_way
        self.traces_addresses = setting.ip_ear is not None
        self.delay = setting.ip_ear or 0
        if branches is not None:
            self.flows = True
            self.taken, self.targets, self.paths = branches.tm, branches.ptm, branches.ppm
            self.kinds, self.stages, self.exceptions = branches.kinds, branches.stages, branches.exceptions

    def set_ranges(self, ranges):
        """Sets the data ranges: (address, mask) each."""
        set_ranges(&self.ranges, ranges)

    # --- capture decisions

    cdef bint passes(self, uint32_t whose, uint64_t block, uint32_t instruction) noexcept nogil:
        """Whether an instruction's tag allows it to be captured."""
        cdef uint64_t first
        if self.filters.all_open:
            return True
        first = self.table.c.heads[block].first + instruction
        return (self.filters.passing(
            &self.table.c.instructions[first],
            self.table.c.payloads + first * self.table.c.header.payload_bytes
        ) >> self.filters.counted[whose].filter) & 1

    cdef bint is_traced(self, uint64_t block) noexcept nogil:
        """Whether the trace buffer captures at a block's privilege (Montecito manual table 3-26, plm and pm)."""
        return (self.traced >> self.table.c.instructions[self.table.c.heads[block].first].privilege) & 1

    cdef uint64_t address_of(self, uint64_t block, uint32_t instruction) noexcept nogil:
        return self.table.c.instructions[self.table.c.heads[block].first + instruction].address

    cdef void load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                   bint of_stack, uint32_t served) noexcept nogil:
        """Tracks one load at a time. If loads overlapped the tracked one, the next tracked load is chosen at random:
        otherwise it would always be the first of overlapping loads (Montecito manual 3.3.9.1)."""
        cdef TrackedLoad* tracked = &self.tracked
        cdef Captured* one
        if not self.passes(DATA_EAR, block, instruction) or (self.data_ranged and not in_ranges(&self.ranges, address)):
            return
        if cycle < tracked.until:
            tracked.overlapped = True
            return
        if tracked.overlapped:
            tracked.random = next_random(tracked.random)
            if tracked.random & RANDOM_BIT:
                return
            tracked.overlapped = False
        tracked.until = cycle + latency
        if latency < self.least_load or cycle < tracked.captured_until:
            return
        one = self.capture(block, instruction, self.first_occurrence + DATA_EAR)
        if one != NULL:
            tracked.captured_until = cycle + self.gap
            one.address, one.data, one.latency = self.address_of(block, instruction), address, latency
            one.ranged = in_ranges(&self.ranges, address)
            one.detail = NO_ADDRESS if of_stack else 0

    cdef void precise_load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                           uint32_t source) noexcept nogil:
        """Captures a load as `load` does, with its source; for samples of ops each, but one of an instruction."""
        cdef uint32_t before = self.count
        cdef Captured* one
        if self.every_load:
            one = &self.captured[before - 1]
            if before and one.block == block and one.instruction == instruction:
                return
            one = self.capture(block, instruction, self.first_occurrence + DATA_EAR)
            if one != NULL:
                one.address, one.data, one.latency = self.address_of(block, instruction), address, latency
                one.detail = source
            return
        self.load(block, instruction, address, cycle, latency, False, 0)
        if self.count > before:
            self.captured[before].detail = source

    cdef void translation(self, uint64_t block, uint32_t instruction, uint64_t address, uint32_t level,
                          bint of_stack) noexcept nogil:
        cdef Captured* one
        if not (self.data_levels >> level) & 1 or not self.passes(DATA_EAR, block, instruction) or (
                self.data_ranged and not in_ranges(&self.ranges, address)):
            return
        one = self.capture(block, instruction, self.first_occurrence + DATA_EAR)
        if one != NULL:
            one.address, one.data = self.address_of(block, instruction), address
            one.ranged = in_ranges(&self.ranges, address)
            one.detail = level | (NO_ADDRESS if of_stack else 0)

    cdef void check(self, uint64_t block, uint32_t instruction) noexcept nogil:
        cdef Captured* one
        if not self.passes(DATA_EAR, block, instruction):
            return
        one = self.capture(block, instruction, self.first_occurrence + DATA_EAR)
        if one != NULL:
            one.address = self.address_of(block, instruction)

    cdef void fetch(self, uint64_t block, uint32_t instruction, uint64_t line, int64_t latency,
                    bint under_way) noexcept nogil:
        cdef Captured* one
        if self.of_requests and not under_way or latency < self.least_fetch:
            return
        if not self.passes(INSTRUCTION_EAR, block, instruction):
            return
        one = self.capture(block, instruction, self.first_occurrence + INSTRUCTION_EAR)
        if one != NULL:
            one.address, one.latency = line, latency

    cdef void fetch_translation(self, uint64_t block, uint32_t instruction, uint64_t line,
                                uint32_t level) noexcept nogil:
        cdef Captured* one
        if not (self.fetch_levels >> level) & 1 or not self.passes(INSTRUCTION_EAR, block, instruction):
            return
        one = self.capture(block, instruction, self.first_occurrence + INSTRUCTION_EAR)
        if one != NULL:
            one.address, one.detail = line, level

    cdef bint is_captured(self, const FlowChange* flow) noexcept nogil:
        """Whether the buffer's filters pass a branch (Montecito manual 3.3.10.1.1, table 3-26)."""
        cdef uint32_t code = flow.prediction
        cdef bint wrong_path = code & CODE_WRONG_PATH or (code & CODE_UNKNOWN_PATH and flow.taken)
        cdef uint32_t stage = 1 if code & CODE_FIRST_STAGE else 4 if code & CODE_THIRD_STAGE else 2
        if flow.kind == FlowKind.FLOW_CHECK or flow.kind == FlowKind.FLOW_EXCEPTION:
            return self.exceptions and self.is_traced(flow.block)
        if not (self.taken >> (1 if flow.taken else 0)) & 1 or not (self.kinds >> flow.kind) & 1:
            return False
        if not (self.paths >> (0 if wrong_path else 1)) & 1 or not self.stages & stage:
            return False
        if self.targets != 3 and (wrong_path or not (self.targets >> (0 if code & CODE_WRONG_TARGET else 1)) & 1):
            return False         # target predictions of a mispredicted path are not recorded
        return self.passes(BRANCHES, flow.block, flow.instruction)

    cdef void flow(self, const FlowChange* flow) noexcept nogil:
        """Captures a source, and a target unless its bundle branches in the next cycle and is captured, too
        (3.3.10.1.2)."""
        cdef Captured* one
        cdef uint64_t bundle = flow.address >> 4
        cdef bint captured = self.is_captured(flow), follows
        if self.target_due:
            follows = bundle == self.target >> 4 and flow.cycle <= self.target_cycle + 1
            if not follows or (flow.taken and not captured):
                self.write_target(flow.block, flow.instruction)
                self.target_due = False
        if not captured:
            return
        self.target_due = False
        one = self.capture(flow.block, flow.instruction, self.first_occurrence + BRANCHES)
        if one == NULL:
            return
        one.address, one.data = flow.address, flow.target
        if flow.taken:
            one.detail |= WAS_TAKEN
        if flow.kind == FlowKind.FLOW_CHECK or flow.kind == FlowKind.FLOW_EXCEPTION:
            one.detail |= WAS_WRONG | (BEHIND if flow.kind == FlowKind.FLOW_EXCEPTION else 0)
        elif flow.prediction & (CODE_WRONG_PATH | CODE_WRONG_TARGET) or (
                flow.prediction & CODE_UNKNOWN_PATH and flow.taken):
            one.detail |= WAS_WRONG | WAS_FLUSHED
        if bundle == self.last_bundle and flow.cycle == self.last_cycle:
            one.detail |= SAME_ENTRY
            one.occurrence = NOTHING_HAPPENED    # counted with the first one
        self.last_bundle, self.last_cycle = 0 if flow.taken else bundle, flow.cycle
        self.target_due, self.target, self.target_cycle = flow.taken, flow.target, flow.cycle

    cdef void no_flow_change(self) noexcept nogil:
        if self.target_due:
            self.write_target(0, 0)
        self.target_due = False
        self.last_bundle = 0

    cdef void write_target(self, uint64_t block, uint32_t instruction) noexcept nogil:
        cdef Captured* one = self.capture(block, instruction, NOTHING_HAPPENED)
        if one != NULL:
            one.data = self.target

    # --- contents of the registers

    cdef void apply_until(self, uint32_t item) noexcept nogil:
        """Applies captures to the registers, up to a record of the event log."""
        while self.applied < self.count and self.captured[self.applied].item <= item:
            self.apply(&self.captured[self.applied])
            self.applied += 1

    cdef void apply(self, const Captured* one) noexcept nogil:
        cdef uint64_t entry
        cdef uint32_t extension
        cdef bint second = one.second and self.windows
        if one.occurrence == self.first_occurrence + DATA_EAR:
            self.data_held, self.data_there = one[0], True
        elif one.occurrence == self.first_occurrence + INSTRUCTION_EAR:
            self.fetch_held, self.fetch_there = one[0], True
        elif one.occurrence == NOTHING_HAPPENED and not one.detail & SAME_ENTRY:
            self.write_pending()
        else:
            entry = source_entry(one.address - 16 * second, one.detail & WAS_TAKEN, one.detail & WAS_WRONG)
            extension = (SECOND_BUNDLE if second else 0) | (FLUSHED if one.detail & WAS_FLUSHED else 0)
            if one.detail & SAME_ENTRY and (self.trace.next or self.trace.full):
                rewrite_source(&self.trace, entry, extension)
            else:
                write_entry(&self.trace, entry, extension)
            self.pending_there, self.pending = one.detail & WAS_TAKEN, one.data

    cdef void write_pending(self) noexcept nogil:
        if self.pending_there:
            write_entry(&self.trace, target_entry(self.pending), 0)
        self.pending_there = False

    # --- the IP-EAR

    cdef void pass_cycles(self, int64_t cycles, bint flush) noexcept nogil:
        """Passes cycles in which nothing retired."""
        self.elapsed += cycles
        self.flushed |= flush

    cdef void retire(self, uint64_t address) noexcept nogil:
        """Passes a cycle that retired instructions, the first in this bundle (Montecito manual tables 3-31 and
        3-33)."""
        cdef uint64_t cycles = <uint64_t>min(self.elapsed + 1, MAX_ELAPSED_CYCLES)
        write_entry(&self.trace, (cycles & 15) << 60 | address >> 4,
                    <uint32_t>(cycles >> 4 << 2) | (ADDRESS_FLUSHED if self.flushed else 0))
        self.elapsed, self.flushed = 0, False
        self.latest, self.switched = address, False

    cdef void switch_away(self, int64_t delay) noexcept nogil:
        """The thread lost the core after the last retired address, with so much of the delay left: an early freeze
        (Montecito manual table 3-33). Instructions after the switch back follow a flush."""
        if not self.switched:
            self.freeze_early(self.latest, delay)
        self.switched = self.flushed = True

    cdef void keep_trace(self) noexcept nogil:
        self.trace_kept, self.elapsed_kept, self.flushed_kept = self.trace, self.elapsed, self.flushed
        self.latest_kept, self.switched_kept = self.latest, self.switched
        self.kept = True

    cdef void restore_trace(self) noexcept nogil:
        """Restores the IP-EAR's state of `keep_trace`, if it has not been read since."""
        self.again = self.kept
        if self.kept:
            self.trace, self.elapsed, self.flushed = self.trace_kept, self.elapsed_kept, self.flushed_kept
            self.latest, self.switched = self.latest_kept, self.switched_kept
        self.kept = False

    cdef void freeze_early(self, uint64_t address, int64_t delay) noexcept nogil:
        """Disables the IP-EAR with so much of its delay left: the entry has no lower bits of the address."""
        cdef uint64_t cycles = <uint64_t>min(self.elapsed, MAX_ELAPSED_CYCLES)
        write_entry(&self.trace, (cycles & 15) << 60 | (address >> 12 << 8) | <uint64_t>(delay & 0xFF),
                    <uint32_t>(cycles >> 4 << 2) | (ADDRESS_FLUSHED if self.flushed else 0) | EARLY)
        self.elapsed, self.flushed = 0, False

    def data(self):
        """Contents of the data EAR: (address of the instruction, None for the register stack engine; whether it issued
        as the second bundle; address of the data; latency in cycles; TlbLevel, or LoadSource of a precise load). None: nothing was captured."""
        cdef Captured* one = &self.data_held
        if not self.data_there:
            return None
        return (None if one.detail & NO_ADDRESS else one.address, bool(one.second), one.data, one.latency,
                one.detail & 0xFF)

    def load_at(self, uint64_t address):
        """The load that the instruction at an address made while the current block ran, as `data` has it; None: it made none."""
        cdef uint32_t i
        cdef Captured* one
        for i in range(self.count):
            one = &self.captured[i]
            if one.address == address and one.occurrence == self.first_occurrence + DATA_EAR:
                return address, bool(one.second), one.data, one.latency, one.detail & 0xFF
        return None

    def fetched(self):
        """Contents of the instruction EAR: (address of the line, latency, TlbLevel). None: nothing was captured."""
        cdef Captured* one = &self.fetch_held
        return (one.address, one.latency, one.detail) if self.fetch_there else None

    def branches(self):
        """Contents of the trace buffer: (entries, extensions, next, full), with the target of the last branch."""
        cdef uint32_t i
        self.write_pending()
        return ([self.trace.entries[i] for i in range(self.trace.size)],
                [self.trace.extensions[i] for i in range(self.trace.size)], self.trace.next, bool(self.trace.full))

    def forget(self, bint data, bint fetch):
        """Forgets what the data EAR or the instruction EAR captured last: their registers were written."""
        self.data_there = self.data_there and not data
        self.fetch_there = self.fetch_there and not fetch

    def load_trace(self, entries, extensions, uint32_t following, bint full):
        """Sets the contents of the trace buffer, as `branches` has them: its registers were written."""
        cdef uint32_t i
        for i in range(self.trace.size):
            self.trace.entries[i], self.trace.extensions[i] = entries[i], extensions[i]
        self.trace.next, self.trace.full = following % max(1, self.trace.size), full

    def clear(self):
        """Clears all captures, as a driver does after a sample."""
        cdef uint32_t size = self.trace.size
        self.data_there = self.fetch_there = self.pending_there = False
        memset(&self.trace, 0, sizeof(TraceBuffer))
        self.trace.size = size
