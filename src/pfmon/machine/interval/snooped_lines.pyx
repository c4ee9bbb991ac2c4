"""Responses of other cores to an access (coherent_caches.pyx): ownership of a line that L1D shares, and lines that come later since
another core was asked for them.
"""


cdef void own_line(MissEvents self, IntervalBlock* plan, uint32_t number, uint64_t line) noexcept nogil:
    """Becomes the owner of a line that L1D shares with other cores, for a store."""
    cdef HierarchyAccess served
    cdef const IntervalAccess* access = &accesses_of(plan)[number]
    self.caches.own(line << self.shift, self.now, &served)
    self.record_last_level(plan, access.instruction, &served)
    if self.recording:
        record_request(self, plan, access.instruction, EVENT_OWN_L2, EVENT_OWN_CYCLE, &served)
    if self.core is None:
        return
    if access.reads and not access.locked:           # the load need not wait
        respond(&self.responses, number, RESPONSE_OWNERSHIP, self.ticks * (served.ready - self.now))
    else:
        respond(&self.responses, number, RESPONSE_SECOND_LEVEL + served.level - LEVEL_L2, 0)
        respond_snooped(self, number, access, &served)


cdef void respond_snooped(MissEvents self, uint32_t number, const IntervalAccess* access,
                          const HierarchyAccess* served) noexcept nogil:
    """Lets a line come later for which another core was asked."""
    cdef int64_t usual = self.caches.l2_latency if served.level == LEVEL_L2 else self.caches.l3_latency
    cdef int64_t written = self.core.state.committed - self.core.state.dispatch
    if served.snoop == SNOOP_HITM and access.reads:
        self.taken_back = number + 1
    elif served.snoop == SNOOP_HITM and written > 0:         # not before the stores so far are in L1D
        respond(&self.responses, number, RESPONSE_IN_FLIGHT, written + self.ticks * (served.ready - self.now))
    if access.reads and access.writes:
        respond(&self.responses, number, RESPONSE_OWNERSHIP, self.ticks * (served.ready - self.now))
    if served.ready > self.now + usual:
        respond(&self.responses, number, RESPONSE_SNOOP, self.ticks * (served.ready - self.now - usual))
