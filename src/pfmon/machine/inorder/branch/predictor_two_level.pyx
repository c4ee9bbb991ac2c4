"""The predictor of Itanium 2 and Montecito: two-level histories, in step with L1I and in a second store.

Histories and targets are kept for windows of 32 bytes, as many as L1I holds; windows evicted with L1I's lines go to a
second store. A history selects a counter that predicts the direction. One taken branch of a window (its trigger) sends
the front end to its target without a bubble; the others' targets come later. Returns use a stack, indirect branches
their branch register as it is when they are fetched, counted loops their count. (McNairy and Soltis, Itanium 2
Processor Microarchitecture, IEEE Micro 23(2), 2003, branch prediction.)
"""

from collections.abc import Mapping

cimport cython
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free


cdef enum:
    NO_TRIGGER = 255
    WINDOW_SHIFT = 5
    WINDOW_BRANCHES = 3
    USUAL_WAYS = 4               # of L1I
    ABSENT_WINDOWS = 256         # a power of two
    NO_WAY = -1

cdef struct BranchWindow:              # prediction state of the branches in 32 bytes of code
    uint8_t count
    uint8_t slot[WINDOW_BRANCHES]     # 0-5: bundle of the window * 3 + slot
    uint8_t history[WINDOW_BRANCHES]
    uint8_t trigger              # the slot whose target is available without a bubble; NO_TRIGGER

cdef struct Entry:
    uint64_t tag                 # window number + 1; 0: empty
    BranchWindow window

cdef struct Store:               # a set-associative store of windows, least recently used replaced first
    uint32_t sets
    uint32_t ways
    uint64_t clock
    Entry** latest               # by set: the entry used last
    uint64_t* used
    Entry* entries


cdef inline int position_of(const BranchWindow* window, uint32_t slot) noexcept nogil:
    cdef int i
    for i in range(window.count):
        if window.slot[i] == slot:
            return i
    return -1


cdef int make_store(Store* store, uint32_t entries, uint32_t ways) except -1:
    cdef uint32_t i
    store.sets = 1
    while store.sets * 2 * ways <= entries:
        store.sets *= 2
    store.ways = ways
    store.latest = <Entry**>calloc(store.sets, sizeof(Entry*))
    store.used = <uint64_t*>calloc(entries, sizeof(uint64_t))
    store.entries = <Entry*>calloc(entries, sizeof(Entry))
    if not store.latest or not store.used or not store.entries:
        raise MemoryError("no memory for the branch predictor")
    for i in range(store.sets):
        store.latest[i] = &store.entries[i * ways]
    return 0


cdef void free_store(Store* store) noexcept:
    free(store.latest)
    free(store.used)
    free(store.entries)


cdef inline bint is_in_set(const Entry* entries, uint32_t ways, uint64_t tag) noexcept nogil:
    """Whether an entry of a set has the tag; usually none has."""
    cdef uint32_t way
    if ways == USUAL_WAYS:
        return (entries[0].tag == tag) | (entries[1].tag == tag) | (entries[2].tag == tag) | (entries[3].tag == tag)
    for way in range(ways):
        if entries[way].tag == tag:
            return True
    return False


cdef inline int way_in_set(const Entry* entries, uint32_t ways, uint64_t tag) noexcept nogil:
    """Returns the way that has a tag; NO_WAY: none has."""
    cdef int way = 0
    if not is_in_set(entries, ways, tag):
        return NO_WAY
    while entries[way].tag != tag:
        way += 1
    return way


cdef inline BranchWindow* find_latest(Store* store, uint64_t number) noexcept nogil:
    """Returns the window used last in its set, if it is this one."""
    cdef Entry* entry = store.latest[number & (store.sets - 1)]
    return &entry.window if entry.tag == number + 1 else NULL


cdef inline BranchWindow* find_in(Store* store, uint64_t number) noexcept nogil:
    cdef uint32_t set = <uint32_t>(number & (store.sets - 1))
    cdef Entry* entries = &store.entries[set * store.ways]
    cdef int way = way_in_set(entries, store.ways, number + 1)
    if way == NO_WAY:
        return NULL
    if store.latest[set] != &entries[way]:
        use_way(store, set, <uint32_t>way)
    return &entries[way].window


cdef inline void use_way(Store* store, uint32_t set, uint32_t way) noexcept nogil:
    store.clock += 1
    store.used[set * store.ways + way] = store.clock
    store.latest[set] = &store.entries[set * store.ways + way]


cdef BranchWindow* window_room(Store* store, uint64_t number, BranchWindow* replaced,
                               uint64_t* replaced_tag) noexcept nogil:
    """Makes an entry for the window; returns the evicted one (tag 0: none)."""
    cdef uint32_t set = <uint32_t>(number & (store.sets - 1)), start = set * store.ways, way, oldest = 0
    for way in range(1, store.ways):
        if store.used[start + way] < store.used[start + oldest]:
            oldest = way
    replaced_tag[0] = store.entries[start + oldest].tag
    replaced[0] = store.entries[start + oldest].window
    use_way(store, set, oldest)
    store.entries[start + oldest].tag = number + 1
    return &store.entries[start + oldest].window


@cython.final
cdef class TwoLevelPredictor(BranchPredictor):
    """Reads l1i.size, l1i.ways, l1i.latency (each cycle beyond the first is one more bubble for every taken branch),
    frontend.taken_bubbles and ``predictor.``: history, counters, window, second, second_ways, return_stack, loop,
    late_bubbles, static_bubbles, return_bubbles, indirect_bubbles.

    An indirect branch is predicted by its branch register at fetch; the pipeline knows whether that was written in
    time.
    """

    cdef Store first             # contains the windows of L1I's lines
    cdef Store second
    cdef ReturnStack returns
    cdef uint64_t absent[ABSENT_WINDOWS]         # by low bits of its number: number + 1 of a window in neither store
    cdef uint8_t* counters
    cdef uint32_t counter_mask
    cdef uint32_t history_bits
    cdef uint32_t capacity       # branches of a window that are kept
    cdef uint32_t taken_bubbles, late_bubbles, static_bubbles, return_bubbles, indirect_bubbles
    cdef Prediction usual_results[2]     # for a usual branch: not taken, taken
    cdef Prediction usual_late_result    # taken, with a late target
    cdef bint perfect_loops
    cdef uint64_t forced         # this branch was wrongly predicted taken: later ones of its bundle are unknown

    def __cinit__(self, config: Mapping):
        cdef uint32_t i, entries = config["predictor.counters"]
        fetch = config["l1i.latency"] - 1
        self.taken_bubbles = config["frontend.taken_bubbles"] + fetch
        self.history_bits = config["predictor.history"]
        self.capacity = config["predictor.window"]
        self.late_bubbles = config["predictor.late_bubbles"] + fetch
        self.static_bubbles = config["predictor.static_bubbles"] + fetch
        self.return_bubbles = config["predictor.return_bubbles"] + fetch
        self.indirect_bubbles = config["predictor.indirect_bubbles"] + fetch
        self.usual_results[0] = prediction(0, False, False, 0, FRONT_BUBBLE)
        self.usual_results[1] = prediction(0, True, True, self.taken_bubbles, FRONT_BUBBLE)
        self.usual_late_result = prediction(0, True, True, self.late_bubbles, FRONT_BUBBLE)
        self.perfect_loops = config["predictor.loop"] == "perfect"
        self.reads_registers = True
        self.returns.depth = config["predictor.return_stack"]
        if not 1 <= self.capacity <= WINDOW_BRANCHES or not 1 <= self.returns.depth <= MAX_RETURN_ADDRESSES:
            raise ValueError(f"predictor.window is at most {WINDOW_BRANCHES}, predictor.return_stack "
                             f"at most {MAX_RETURN_ADDRESSES}")
        make_store(&self.first, config["l1i.size"] >> WINDOW_SHIFT, config["l1i.ways"])
        make_store(&self.second, config["predictor.second"], config["predictor.second_ways"])
        self.counter_mask = entries - 1
        self.counters = <uint8_t*>calloc(entries, 1)
        if not self.counters:
            raise MemoryError("no memory for the branch predictor")
        for i in range(entries):
            self.counters[i] = fresh_counter(i & ((1 << self.history_bits) - 1), self.history_bits)

    def __dealloc__(self):
        free_store(&self.first)
        free_store(&self.second)
        free(self.counters)

    cdef inline uint8_t* _counter(self, const Branch* branch, uint32_t history) noexcept nogil:
        return &self.counters[(branch.number << self.history_bits | history) & self.counter_mask]

    cdef BranchWindow* _find(self, uint64_t number) noexcept nogil:
        """Finds the window's entry in the first store; one in the second store is moved back, without its trigger."""
        cdef BranchWindow* window = find_latest(&self.first, number)
        cdef BranchWindow* behind
        cdef BranchWindow known
        if window or self.absent[number & (ABSENT_WINDOWS - 1)] == number + 1:
            return window
        window = find_in(&self.first, number)
        if window:
            return window
        behind = find_in(&self.second, number)
        if not behind:
            self.absent[number & (ABSENT_WINDOWS - 1)] = number + 1
            return NULL
        known = behind[0]            # the evicted window may replace it
        window = self._allocate(number)
        window[0] = known
        window.trigger = NO_TRIGGER
        return window

    cdef BranchWindow* _allocate(self, uint64_t number) noexcept nogil:
        cdef BranchWindow replaced
        cdef uint64_t tag
        cdef BranchWindow* window = window_room(&self.first, number, &replaced, &tag)
        window.count = 0
        window.trigger = NO_TRIGGER
        if self.absent[number & (ABSENT_WINDOWS - 1)] == number + 1:
            self.absent[number & (ABSENT_WINDOWS - 1)] = 0
        if tag and replaced.count:
            self._keep(tag - 1, &replaced)
        return window

    cdef void _keep(self, uint64_t number, const BranchWindow* window) noexcept nogil:
        """Moves a window evicted from the first store to the second."""
        cdef BranchWindow lost
        cdef uint64_t lost_tag
        cdef BranchWindow* behind = find_in(&self.second, number)
        if not behind:
            behind = window_room(&self.second, number, &lost, &lost_tag)
        behind[0] = window[0]

    cdef uint64_t next_return(self) noexcept nogil:
        return self.returns.addresses[self.returns.top]

    cdef void exchange_returns(self, ReturnStack* stack) noexcept nogil:
        cdef uint32_t i
        self.returns.top, stack.top = stack.top, self.returns.top
        for i in range(self.returns.depth):
            self.returns.addresses[i], stack.addresses[i] = stack.addresses[i], self.returns.addresses[i]

    cdef void on_line_evicted(self, uint64_t address, uint32_t bytes) noexcept nogil:
        cdef uint64_t number
        cdef uint32_t start
        cdef int way
        for number in range(address >> WINDOW_SHIFT, (address + bytes) >> WINDOW_SHIFT):
            start = <uint32_t>(number & (self.first.sets - 1)) * self.first.ways
            way = way_in_set(&self.first.entries[start], self.first.ways, number + 1)
            if way != NO_WAY:
                self._keep(number, &self.first.entries[start + way].window)
                self.first.entries[start + way].tag = 0
                self.first.used[start + way] = 0

    cdef Prediction run(self, const Branch* branch, bint taken, uint64_t target) noexcept nogil:
        cdef BranchWindow* window = self._find(branch.address >> WINDOW_SHIFT)
        cdef int position = position_of(window, branch.slot) if window else -1
        cdef bint unknown = branch.address - self.forced - 1 < 2
        cdef uint8_t* counter
        if position >= 0 and branch.usual and not unknown:
            counter = self._counter(branch, window.history[position])
            if (counter[0] >= 2) == taken:
                return self._predict_usual(window, position, counter, taken)
        return self._predict_general(window, position, branch, unknown, taken, target)

    cdef inline Prediction _predict_usual(self, BranchWindow* window, int position, uint8_t* counter,
                                        bint taken) noexcept nogil:
        """Handles the most frequent case, a usual branch predicted correctly, with the effect of `_predict_general`."""
        cdef uint32_t history = window.history[position]
        cdef Prediction found = self.usual_results[taken]
        if taken and window.trigger != window.slot[position]:
            found = self.usual_late_result
            window.trigger = window.slot[position]
        if counter[0] == 1 or counter[0] == 2:
            train(counter, taken)
        if history != longer_history(history, self.history_bits, taken):
            window.history[position] = longer_history(history, self.history_bits, taken)
        self.forced = 0
        return found

    cdef Prediction _predict_general(self, BranchWindow* window, int position, const Branch* branch, bint unknown,
                                     bint taken,
                               uint64_t target) noexcept nogil:
        """Handles the general case; ``unknown``: an earlier branch of its bundle was wrongly predicted taken."""
        cdef uint32_t code = 0, bubbles = 0, cause = FRONT_BUBBLE
        cdef uint64_t predicted_target
        cdef bint predicted
        if unknown:
            predicted = False
            code = CODE_UNKNOWN_PATH
        else:
            predicted = self._direction(window, position, branch, taken)
        if predicted != taken:
            code |= CODE_WRONG_PATH
        elif taken and branch.kind == BRANCH_RETURN:
            bubbles, cause = self.return_bubbles, FRONT_BRANCH
        elif taken and is_indirect(branch.kind):
            bubbles, cause = self.indirect_bubbles, FRONT_BRANCH
        elif taken and position < 0:
            bubbles, cause = self.static_bubbles, FRONT_PLP if is_counted(branch.kind) else FRONT_BI
        elif taken:
            bubbles = self.taken_bubbles if window.trigger == branch.slot else self.late_bubbles
        if taken:
            if branch.kind == BRANCH_RETURN:
                predicted_target = pop_return(&self.returns)
                if predicted and predicted_target != target:
                    code |= CODE_WRONG_TARGET
            elif is_call(branch.kind):
                push_return(&self.returns, branch.fall_through)
        if position >= 0:
            self._learn(window, position, branch, taken)
        elif self._allocates(branch, taken):
            if window and window.count == self.capacity:
                code |= CODE_OVERSUBSCRIBED
            else:
                self._begin(window if window else self._allocate(branch.address >> WINDOW_SHIFT), branch, taken)
        self.forced = branch.address if (predicted or unknown) and not taken else 0
        if code & (CODE_WRONG_PATH | CODE_WRONG_TARGET):
            bubbles = 0              # hidden by the flush
        return prediction(code, predicted, taken, bubbles, cause)

    cdef inline bint _direction(self, const BranchWindow* window, int position, const Branch* branch,
                                bint taken) noexcept nogil:
        if self.perfect_loops and is_counted(branch.kind):
            return taken
        if branch.whether == STATIC_TAKEN:
            return True
        if branch.whether == STATIC_NOT_TAKEN:
            return False
        if position < 0:
            return branch.whether == DYNAMIC_TAKEN
        return self._counter(branch, window.history[position])[0] >= 2

    cdef inline bint _allocates(self, const Branch* branch, bint taken) noexcept nogil:
        """Whether to allocate: not for static hints; for taken branches unless a stack or register has the target."""
        if branch.clear or branch.whether == STATIC_NOT_TAKEN:
            return False
        if branch.whether == STATIC_TAKEN:
            return taken and branch.kind != BRANCH_RETURN and not is_indirect(branch.kind)
        return True

    cdef void _begin(self, BranchWindow* window, const Branch* branch, bint taken) noexcept nogil:
        cdef uint32_t position = window.count
        window.count += 1
        window.slot[position] = branch.slot
        window.history[position] = (1 << self.history_bits) - 1 if branch.whether == DYNAMIC_TAKEN else 0
        self._learn(window, position, branch, taken)

    cdef void _learn(self, BranchWindow* window, uint32_t position, const Branch* branch, bint taken) noexcept nogil:
        cdef uint32_t history = window.history[position]
        if taken and branch.kind != BRANCH_RETURN and not is_indirect(branch.kind):
            window.trigger = window.slot[position]
        if branch.whether >= DYNAMIC_TAKEN:
            train(self._counter(branch, history), taken)
            window.history[position] = longer_history(history, self.history_bits, taken)
