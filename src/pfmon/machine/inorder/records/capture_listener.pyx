"""The base class of listeners for a machine's misses and branches. It captures nothing."""

from libc.string cimport memset


cdef class CaptureListener:
    """A subclass sets the events that it subscribes to, and `capture`s some of them."""

    cdef void load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                   bint of_stack, uint32_t served) noexcept nogil:
        pass

    cdef void precise_load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                           uint32_t source) noexcept nogil:
        pass

    cdef void translation(self, uint64_t block, uint32_t instruction, uint64_t address, uint32_t level,
                          bint of_stack) noexcept nogil:
        pass

    cdef void check(self, uint64_t block, uint32_t instruction) noexcept nogil:
        pass

    cdef void fetch(self, uint64_t block, uint32_t instruction, uint64_t line, int64_t latency,
                    bint under_way) noexcept nogil:
        pass

    cdef void fetch_translation(self, uint64_t block, uint32_t instruction, uint64_t line,
                                uint32_t level) noexcept nogil:
        pass

    cdef void flow(self, const FlowChange* flow) noexcept nogil:
        pass

    cdef void no_flow_change(self) noexcept nogil:
        pass

    cdef Captured* capture(self, uint64_t block, uint32_t instruction, uint32_t occurrence) noexcept nogil:
        """Adds a capture; NULL, and `lost`, when there is no room."""
        cdef Captured* found
        if self.count == MAX_BLOCK_CAPTURES:
            self.lost = True
            return NULL
        found = &self.captured[self.count]
        self.count += 1
        memset(found, 0, sizeof(Captured))
        found.block, found.instruction, found.occurrence = block, instruction, occurrence
        return found

    cdef void begin(self) noexcept nogil:
        self.count = 0

    cdef void gather(self) noexcept nogil:
        pass


cdef class CaptureListeners(CaptureListener):
    """Notifies two listeners; either may be a pair again."""

    def __cinit__(self, CaptureListener first, CaptureListener second):
        self.first, self.second = first, second
        self.precise = first.precise or second.precise
        self.loads = first.loads or second.loads
        self.translations = first.translations or second.translations
        self.checks = first.checks or second.checks
        self.fetches = first.fetches or second.fetches
        self.fetch_translations = first.fetch_translations or second.fetch_translations
        self.flows = first.flows or second.flows

    cdef void load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                   bint of_stack, uint32_t served) noexcept nogil:
        if self.first.loads:
            self.first.load(block, instruction, address, cycle, latency, of_stack, served)
        if self.second.loads:
            self.second.load(block, instruction, address, cycle, latency, of_stack, served)

    cdef void precise_load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                           uint32_t source) noexcept nogil:
        if self.first.precise:
            self.first.precise_load(block, instruction, address, cycle, latency, source)
        if self.second.precise:
            self.second.precise_load(block, instruction, address, cycle, latency, source)

    cdef void translation(self, uint64_t block, uint32_t instruction, uint64_t address, uint32_t level,
                          bint of_stack) noexcept nogil:
        if self.first.translations:
            self.first.translation(block, instruction, address, level, of_stack)
        if self.second.translations:
            self.second.translation(block, instruction, address, level, of_stack)

    cdef void check(self, uint64_t block, uint32_t instruction) noexcept nogil:
        if self.first.checks:
            self.first.check(block, instruction)
        if self.second.checks:
            self.second.check(block, instruction)

    cdef void fetch(self, uint64_t block, uint32_t instruction, uint64_t line, int64_t latency,
                    bint under_way) noexcept nogil:
        if self.first.fetches:
            self.first.fetch(block, instruction, line, latency, under_way)
        if self.second.fetches:
            self.second.fetch(block, instruction, line, latency, under_way)

    cdef void fetch_translation(self, uint64_t block, uint32_t instruction, uint64_t line,
                                uint32_t level) noexcept nogil:
        if self.first.fetch_translations:
            self.first.fetch_translation(block, instruction, line, level)
        if self.second.fetch_translations:
            self.second.fetch_translation(block, instruction, line, level)

    cdef void flow(self, const FlowChange* flow) noexcept nogil:
        if self.first.flows:
            self.first.flow(flow)
        if self.second.flows:
            self.second.flow(flow)

    cdef void no_flow_change(self) noexcept nogil:
        self.first.no_flow_change()
        self.second.no_flow_change()

    cdef void begin(self) noexcept nogil:
        self.count = 0
        self.first.begin()
        self.second.begin()

    cdef void gather(self) noexcept nogil:
        self.first.gather()
        self.second.gather()
        self.append_captures(self.first)
        self.append_captures(self.second)

    cdef void append_captures(self, CaptureListener listener) noexcept nogil:
        """Append one listener's captures."""
        cdef uint32_t k
        cdef Captured* one
        self.lost |= listener.lost
        for k in range(listener.count):
            one = self.capture(0, 0, 0)
            if one != NULL:
                one[0] = listener.captured[k]


def combined_listener(listeners):
    """Combines listeners into one; None for none."""
    whole = None
    for listener in listeners:
        whole = listener if whole is None else CaptureListeners(whole, listener)
    return whole
