"""The predictor of Itanium: target registers, adaptive tables and address calculators, in three stages.

Stage 1, when the address is generated: four target address registers that brp.imp fills; no bubble. Stage 2, one cycle
later: histories of branches (a table for bundles with one branch, another for bundles with several), the target address
cache and the return stack. Stage 3, at rotation for the third slot and at expansion for the others: the address
calculators, which decode the branch, follow its hint, and predict the end of counted loops. (Sharangpani and Arora,
Itanium Processor Microarchitecture, IEEE Micro 20(5), 2000, branch prediction.)
"""

from collections.abc import Mapping

cimport cython
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free


cdef enum:
    MAX_TARGET_REGISTERS = 16

cdef struct Table:               # set-associative, least recently used replaced first
    uint32_t sets
    uint32_t ways
    uint64_t clock
    uint32_t latest              # the entry used last
    uint64_t* tags               # key + 1; 0: empty
    uint64_t* used
    uint64_t* values


cdef int make_table(Table* table, uint32_t entries, uint32_t ways) except -1:
    table.sets = 1
    while table.sets * 2 * ways <= entries:
        table.sets *= 2
    table.ways = ways
    table.tags = <uint64_t*>calloc(entries, sizeof(uint64_t))
    table.used = <uint64_t*>calloc(entries, sizeof(uint64_t))
    table.values = <uint64_t*>calloc(entries, sizeof(uint64_t))
    if not table.tags or not table.used or not table.values:
        raise MemoryError("no memory for the branch predictor")
    return 0


cdef void free_table(Table* table) noexcept:
    free(table.tags)
    free(table.used)
    free(table.values)


cdef inline uint32_t table_set(const Table* table, uint64_t bundle) noexcept nogil:
    return <uint32_t>(bundle & (table.sets - 1))


cdef inline uint64_t* look_up(Table* table, uint64_t bundle, uint64_t key) noexcept nogil:
    cdef uint32_t start = table_set(table, bundle) * table.ways, i
    if table.tags[table.latest] == key + 1:
        return &table.values[table.latest]
    for i in range(start, start + table.ways):
        if table.tags[i] == key + 1:
            table.clock += 1
            table.used[i] = table.clock
            table.latest = i
            return &table.values[i]
    return NULL


cdef uint64_t* put_in(Table* table, uint64_t bundle, uint64_t key, uint64_t value) noexcept nogil:
    cdef uint32_t start = table_set(table, bundle) * table.ways, i, oldest = start
    for i in range(start + 1, start + table.ways):
        if table.used[i] < table.used[oldest]:
            oldest = i
    table.clock += 1
    table.used[oldest] = table.clock
    table.latest = oldest
    table.tags[oldest] = key + 1
    table.values[oldest] = value
    return &table.values[oldest]


cdef inline uint32_t late_cause(const Branch* branch, uint32_t code) noexcept nogil:
    """Returns the front-end cause of a branch that is correctly predicted taken."""
    if branch.kind == BRANCH_RETURN or is_indirect(branch.kind):
        return FRONT_BRANCH
    if code & CODE_THIRD_STAGE:
        return FRONT_PLP if is_counted(branch.kind) else FRONT_BI
    return FRONT_BUBBLE


cdef uint8_t* make_counters(uint32_t groups, uint32_t history_bits) except NULL:
    cdef uint32_t i, size = groups << history_bits
    cdef uint8_t* counters = <uint8_t*>calloc(size, 1)
    if not counters:
        raise MemoryError("no memory for the branch predictor")
    for i in range(size):
        counters[i] = fresh_counter(i & ((1 << history_bits) - 1), history_bits)
    return counters


@cython.final
cdef class MercedPredictor(BranchPredictor):
    """Reads l1i.latency, frontend.taken_bubbles (of stage 2) and ``predictor.``: history, counters, ways, multiway,
    multiway_ways, targets, target_ways, registers, return_stack, loop, rotate_bubbles, expand_bubbles.
    """

    cdef Table singles           # histories of single branches of a bundle
    cdef Table multiway          # ... of bundles with several: a byte per slot
    cdef Table targets           # the target address cache
    cdef ReturnStack returns
    cdef uint8_t* counters       # [set of singles][history]
    cdef uint8_t* multiway_counters   # [set of multiway][slot][history]
    cdef uint32_t history_bits
    cdef uint32_t register_bubbles, adaptive_bubbles, rotate_bubbles, expand_bubbles
    cdef bint perfect_loops
    cdef uint32_t registers, next_register, filled
    cdef uint64_t register_bundles[MAX_TARGET_REGISTERS]      # bundle number + 1; 0: empty
    cdef uint64_t register_targets[MAX_TARGET_REGISTERS]
    cdef uint64_t forced         # this branch was wrongly predicted taken: later ones of its bundle are unknown

    def __cinit__(self, config: Mapping):
        fetch = config["l1i.latency"] - 1
        self.register_bubbles = fetch
        self.history_bits = config["predictor.history"]
        self.adaptive_bubbles = config["frontend.taken_bubbles"] + fetch
        self.rotate_bubbles = config["predictor.rotate_bubbles"] + fetch
        self.expand_bubbles = config["predictor.expand_bubbles"] + fetch
        self.perfect_loops = config["predictor.loop"] == "perfect"
        self.returns.depth = config["predictor.return_stack"]
        self.registers = config["predictor.registers"]
        if not 1 <= self.returns.depth <= MAX_RETURN_ADDRESSES or not 0 <= self.registers <= MAX_TARGET_REGISTERS:
            raise ValueError(f"predictor.return_stack is at most {MAX_RETURN_ADDRESSES}, predictor.registers "
                             f"at most {MAX_TARGET_REGISTERS}")
        make_table(&self.singles, config["predictor.counters"], config["predictor.ways"])
        make_table(&self.multiway, config["predictor.multiway"], config["predictor.multiway_ways"])
        make_table(&self.targets, config["predictor.targets"], config["predictor.target_ways"])
        self.counters = make_counters(self.singles.sets, self.history_bits)
        self.multiway_counters = make_counters(self.multiway.sets * 3, self.history_bits)

    def __dealloc__(self):
        free_table(&self.singles)
        free_table(&self.multiway)
        free_table(&self.targets)
        free(self.counters)
        free(self.multiway_counters)

    cdef uint64_t next_return(self) noexcept nogil:
        return self.returns.addresses[self.returns.top]

    cdef void hint(self, uint64_t address, uint64_t target, bint important) noexcept nogil:
        """Executes brp.imp: fills a target register, the oldest one; any other brp is ignored."""
        cdef uint32_t i
        cdef uint64_t bundle = (address >> 4) + 1
        if not important or not self.registers:
            return
        for i in range(self.registers):
            if self.register_bundles[i] == bundle:
                self.register_targets[i] = target
                return
        self.register_bundles[self.next_register] = bundle
        self.register_targets[self.next_register] = target
        self.next_register = (self.next_register + 1) % self.registers
        self.filled = max(self.filled, self.next_register) if self.next_register else self.registers

    cdef bint _registered(self, const Branch* branch, uint64_t* target) noexcept nogil:
        """Whether a target register is for this branch: of its bundle, and with its target."""
        cdef uint32_t i
        cdef uint64_t bundle = (branch.address >> 4) + 1
        for i in range(self.filled):
            if self.register_bundles[i] == bundle:
                target[0] = self.register_targets[i]
                return is_indirect(branch.kind) or branch.kind == BRANCH_RETURN or target[0] == branch.target
        return False

    cdef uint64_t* _history(self, const Branch* branch, uint32_t* shift, uint8_t** counters) noexcept nogil:
        """Returns the entry with the branch's history, its first bit, and the counters of its set; NULL: none."""
        cdef uint64_t bundle = branch.address >> 4
        cdef uint32_t slot = branch.address & 3
        if branch.multiway:
            shift[0] = slot * 8
            counters[0] = &self.multiway_counters[(table_set(&self.multiway, bundle) * 3 + slot) << self.history_bits]
            return look_up(&self.multiway, bundle, bundle)
        shift[0] = 0
        counters[0] = &self.counters[table_set(&self.singles, bundle) << self.history_bits]
        return look_up(&self.singles, bundle, bundle)

    cdef inline uint32_t _calculator_bubbles(self, const Branch* branch) noexcept nogil:
        return self.rotate_bubbles if branch.address & 3 == 2 else self.expand_bubbles

    cdef Prediction run(self, const Branch* branch, bint taken, uint64_t target) noexcept nogil:
        cdef uint64_t bundle = branch.address >> 4, predicted_target = 0
        cdef uint64_t key = bundle << 2 | (branch.address & 3)
        cdef uint32_t code = 0, shift = 0, bubbles = 0
        cdef uint8_t* counters = NULL
        cdef bint counted = self.perfect_loops and is_counted(branch.kind)
        cdef bint dynamic = branch.whether >= DYNAMIC_TAKEN and not counted
        cdef uint64_t* entry = self._history(branch, &shift, &counters) if dynamic else NULL
        cdef uint64_t* cached = look_up(&self.targets, bundle, key)
        cdef bint unknown = branch.address - self.forced - 1 < 2, predicted
        cdef bint registered = self._registered(branch, &predicted_target)
        if unknown:
            predicted = False
            code = CODE_UNKNOWN_PATH
        elif counted:
            predicted = taken
            if not taken:            # rotation detects the loop's end and undoes the resteer
                code = CODE_THIRD_STAGE
                bubbles = self.rotate_bubbles if registered or cached else 0
        elif registered:
            predicted = True
        elif entry:
            predicted = counters[entry[0] >> shift & ((1 << self.history_bits) - 1)] >= 2
        else:
            predicted = branch.whether == STATIC_TAKEN or branch.whether == DYNAMIC_TAKEN
            if not predicted:
                code = CODE_THIRD_STAGE
        if predicted:
            if registered:
                code |= CODE_FIRST_STAGE
                bubbles = self.register_bubbles
            elif branch.kind == BRANCH_RETURN:
                bubbles = self.adaptive_bubbles
            elif cached:
                predicted_target = cached[0]
                bubbles = self.adaptive_bubbles
            else:
                code |= CODE_THIRD_STAGE
                bubbles = self._calculator_bubbles(branch)
                predicted_target = branch.target if not is_indirect(branch.kind) else 0
        if taken and branch.kind == BRANCH_RETURN:
            if registered and predicted:
                pop_return(&self.returns)
            else:
                predicted_target = pop_return(&self.returns)
        elif taken and is_call(branch.kind):
            push_return(&self.returns, branch.fall_through)
        if predicted != taken:
            code |= CODE_WRONG_PATH
        elif taken and predicted_target != target:
            code |= CODE_WRONG_TARGET
        self._learn(branch, entry, shift, counters, taken, target)
        self.forced = branch.address if (predicted or unknown) and not taken else 0
        if code & (CODE_WRONG_PATH | CODE_WRONG_TARGET):
            bubbles = 0
        return prediction(code, predicted, taken, bubbles,
                          FRONT_PLP if counted and not taken else late_cause(branch, code))

    cdef void _learn(self, const Branch* branch, uint64_t* entry, uint32_t shift, uint8_t* counters, bint taken,
                     uint64_t target) noexcept nogil:
        cdef uint64_t bundle = branch.address >> 4, key = bundle << 2 | (branch.address & 3)
        cdef uint64_t fresh, mask = (1 << self.history_bits) - 1
        cdef uint64_t* cached
        cdef Table* table = &self.multiway if branch.multiway else &self.singles
        cdef bint counted = self.perfect_loops and is_counted(branch.kind)
        if branch.clear or branch.whether == STATIC_NOT_TAKEN:
            return
        if taken and branch.kind != BRANCH_RETURN:
            cached = look_up(&self.targets, bundle, key)
            if cached:
                cached[0] = target
            else:
                put_in(&self.targets, bundle, key, target)
        if branch.whether < DYNAMIC_TAKEN or counted:
            return
        if not entry:
            fresh = mask if branch.whether == DYNAMIC_TAKEN else 0
            entry = put_in(table, bundle, bundle, fresh | fresh << 8 | fresh << 16)
        train(&counters[entry[0] >> shift & mask], taken)
        fresh = longer_history(<uint32_t>(entry[0] >> shift & mask), self.history_bits, taken)
        entry[0] = (entry[0] & ~(mask << shift)) | fresh << shift

    cdef void record_outcome(self, EventLog* event_log, const Branch* branch, bint taken, uint32_t code) noexcept nogil:
        cdef uint32_t first = PREDICTED_STAGE2_CORRECT_NOT_TAKEN
        if code & CODE_FIRST_STAGE:
            first = PREDICTED_STAGE1_CORRECT_NOT_TAKEN
        elif code & CODE_THIRD_STAGE:
            first = PREDICTED_STAGE3_CORRECT_NOT_TAKEN
        record(event_log, first + outcome(taken, code), 1)
        BranchPredictor.record_outcome(self, event_log, branch, taken, code)
