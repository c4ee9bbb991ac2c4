"""Switch-on-event multithreading of two hardware threads of a core, as in Montecito (manual 2.4.1).

The foreground thread has the pipeline; the background thread waits. L3 misses and returns change the urgency of their
thread. At each change the urgencies are compared: the foreground thread is switched out when its urgency is lower, at
the end of its quantum, at hint@pause, and when it becomes idle.

Each thread has a machine and reads a stream of its own (coupled_machines.pyx).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t


POLICIES = {"performance": PERFORMANCE_POLICY, "fairness": FAIRNESS_POLICY, "high-priority": HIGH_PRIORITY_POLICY,
            "exclusive": EXCLUSIVE_POLICY}
"""Values of smt.policy."""

cdef class ThreadSwitch(CoupledMachines):
    """The figures [smt] of ``config``. `run` runs two machines to the end of their streams."""

    def __cinit__(self, config):
        self.switch_cycles, self.quantum = config["smt.switch"], config["smt.quantum"]
        self.policy, self.priority = POLICIES[config["smt.policy"]], config["smt.priority"]
        self.data_entries, self.fetch_entries = config["smt.dtlb2"], config["smt.itlb2"]
        self.urgency[0] = self.urgency[1] = NOMINAL_URGENCY
        self.quantum_end = self.quantum
        self.paused = NEVER
        self.stores = {}
        self.running = self.priority if self.policy >= HIGH_PRIORITY_POLICY else 0
        self.look_ahead()

    def begin_with_one(self):
        """Thread 1 is idle until thread 0 wakes it."""
        self.begin_asleep()
        self.running = 0
        self.quantum_end = NEVER
        self.look_ahead()

    # --- events

    cdef void l3_miss(self, int64_t found, int64_t back) noexcept nogil:
        if self.is_absent(1 - self.running):     # there is no other thread to compare with
            if self.whole_system and self.asleep[1 - self.running]:
                self.gated += 1
                self.next_event = -1
            return
        self.add_event(found, self.running, 0)
        self.add_event(back if back > found else found, self.running, 1)
        self.look_ahead()

    cdef void add_event(self, int64_t at, uint32_t thread, uint8_t is_return) noexcept nogil:
        cdef uint32_t i = self.event_count
        if i == MAX_L3_EVENTS:
            self.lost = True
            return
        while i > 0 and self.events[i - 1].at > at:
            self.events[i] = self.events[i - 1]
            i -= 1
        self.events[i].at, self.events[i].thread, self.events[i].is_return = at, <uint8_t>thread, is_return
        self.event_count += 1

    cdef void pause(self, int64_t now) noexcept nogil:
        if not self.is_absent(1 - self.running):
            self.paused = now
            self.look_ahead()

    cdef void look_ahead(self) noexcept nogil:
        """Computes the next cycle in which an event may take the core from the running thread."""
        self.next_event = self.quantum_end
        if self.event_count and self.events[0].at < self.next_event:
            self.next_event = self.events[0].at
        if self.paused < self.next_event:
            self.next_event = self.paused
        if self.owes:
            self.next_event = -1

    cdef bint wants_switch(self, int64_t at) noexcept nogil:
        """Whether in cycle ``at`` the urgencies give the other thread the core."""
        cdef uint32_t other = 1 - self.running
        cdef uint8_t own = self.urgency[self.running], its = self.urgency[other]
        if self.is_absent(other):
            return False
        if self.policy == EXCLUSIVE_POLICY:
            return other == self.priority
        if own == its:
            if self.policy == HIGH_PRIORITY_POLICY:
                return other == self.priority
            if self.policy == FAIRNESS_POLICY:
                return <int64_t>self.active[other] < <int64_t>self.active[self.running] + at - self.handed_over
        return own < its

    cdef int64_t take_event(self) noexcept nogil:
        """Processes the first of the L3 misses and returns; returns its cycle."""
        cdef L3Event event = self.events[0]
        cdef uint32_t i
        self.event_count -= 1
        for i in range(self.event_count):
            self.events[i] = self.events[i + 1]
        if event.is_return:
            raise_urgency(&self.urgency[event.thread])
        else:
            lower_urgency(&self.urgency[event.thread])
        return event.at

    cdef int64_t decide(self, int64_t issued, int64_t issues, uint32_t* why, uint32_t* held_back,
                        uint32_t* missed_ones) noexcept nogil:
        cdef int64_t at
        cdef bint progressed = issued >= self.handed_over + self.switch_cycles
        held_back[0] = missed_ones[0] = 0
        if self.owes and progressed:
            self.owes = False
            if self.wants_switch(issued):
                why[0] = BY_L3
                return issued
            missed_ones[0] += 1
            self.look_ahead()
        while True:
            if self.paused < issues:
                at, self.paused = self.paused, NEVER
                why[0] = BY_HINT
                return at
            if self.event_count and self.events[0].at < issues and self.events[0].at <= self.quantum_end:
                at = self.take_event()
                if not self.wants_switch(at) or self.owes:
                    continue
                if progressed:
                    why[0] = BY_L3
                    return at if at > issued else issued
                self.owes = True                 # it retires an instruction first
                held_back[0] += 1
                continue
            if self.quantum_end < issues:
                at = self.quantum_end
                if self.is_absent(1 - self.running) or self.policy == EXCLUSIVE_POLICY:
                    self.quantum_end = NEVER
                    continue
                self.quantum_end = at + self.quantum
                if not progressed:
                    continue
                if issues <= at + 1:             # it was not stalled
                    self.urgency[self.running] = MAX_URGENCY
                why[0] = BY_TIMER
                return at if at > issued else issued
            self.look_ahead()
            return -1

    # --- the switch

    cdef void hand_over(self, int64_t at) noexcept nogil:
        """Hands the core to the other thread after cycle ``at``."""
        self.active[self.running] += <uint64_t>(at - self.handed_over)
        self.switching[1 - self.running] += <uint64_t>(self.switch_cycles - 1)
        self.handed_over = at
        self.quantum_end = at + self.quantum
        self.paused = NEVER
        self.owes = False
        if self.is_absent(self.running):     # there is no other thread to compare with
            self.quantum_end = NEVER
            self.event_count = 0
        self.look_ahead()

    cdef void switch_away(self, int64_t at, uint32_t why) noexcept nogil:
        cdef uint32_t own = self.running
        self.switches[own][why] += 1
        if own:
            self.second.lose_core(at)
        else:
            self.first.lose_core(at)
        self.hand_over(at)
        self.yield_to_other()
        if own:
            self.second.get_core(self.handed_over)
        else:
            self.first.get_core(self.handed_over)

    cdef bint is_absent(self, uint32_t thread) noexcept nogil:
        """Whether a thread is idle."""
        return self.ended[thread] or self.asleep[thread] or self.starved[thread]

    cdef void on_sleep(self, SwitchedThread thread) noexcept nogil:
        if self.whole_system and self.asleep[self.running]:
            thread.record_low_power()
        self.switch_away(thread.drain_pipeline(), BY_LOW_POWER)

    cdef void on_wake(self, SwitchedThread thread) noexcept nogil:
        if not self.is_absent(1 - self.running):
            self.quantum_end = thread.drain_pipeline() + self.quantum
            self.look_ahead()

    cdef void set_policy(self, uint32_t policy) noexcept nogil:
        self.policy, self.priority = <SwitchPolicy>policy, self.running
        self.look_ahead()

    cdef void on_interrupt(self) noexcept nogil:
        self.urgency[1 - self.running] = max(<uint8_t>INTERRUPT_URGENCY, self.urgency[1 - self.running])

    cdef void on_begin(self, SwitchedThread thread) noexcept nogil:
        if self.handed_over:
            thread.get_core(self.handed_over)

    cdef void on_end(self, SwitchedThread thread, int64_t now) noexcept nogil:
        thread.lose_core(now)
        if self.ended[1 - self.running]:
            self.active[self.running] += <uint64_t>(now - self.handed_over)
            return
        self.switches[self.running][<int>BY_LOW_POWER] += 1
        self.hand_over(now)

    # --- interface for Python

    @property
    def active_cycles(self):
        """Cycles that each thread has had the core, including those of switches to it."""
        return [self.active[0], self.active[1]]

    @property
    def switching_cycles(self):
        """... those from a switch until the thread could issue again."""
        return [self.switching[0], self.switching[1]]

    # For tests and tools.

    def urgencies(self):
        """Urgencies of both threads."""
        return [self.urgency[0], self.urgency[1]]

    def l3_miss_at(self, found: int, back: int) -> None:
        """Records an L3 miss of the running thread."""
        self.l3_miss(found, back)

    def pause_at(self, now: int) -> None:
        """Executes hint@pause in the running thread."""
        self.pause(now)

    def end_other(self) -> None:
        """Makes the background thread idle."""
        self.ended[1 - self.running] = True

    def decide_at(self, issued: int, issues: int) -> tuple[int, int, int, int]:
        """Calls decide(): the cycle of the switch (-1: none), its cause, switches held back and missed."""
        cdef uint32_t why = 0, held_back, missed_ones
        cdef int64_t at = self.decide(issued, issues, &why, &held_back, &missed_ones)
        return at, why, held_back, missed_ones

    def interrupt_other(self) -> None:
        """An external interrupt arrives at the background thread."""
        self.on_interrupt()

    def set_policy_of_running(self, policy: int) -> None:
        """Firmware is told how the threads share the core, by the running one."""
        self.set_policy(policy)

    def hand_over_at(self, at: int) -> int:
        """Hands the core to the other thread; returns its number."""
        self.hand_over(at)
        self.running = 1 - self.running
        return self.running

    def evictions(self, thread):
        """Misses of a thread by structure, on lines that the other one had evicted."""
        cdef TagStore store
        found = {}
        for name, one in self.stores.items():
            store = one
            self.lost |= store.evictions.lost
            found[name] = store.evictions.misses(thread)
        return found

    def account_evictions(self, name, TagStore store):
        """Begins to track evictions between the threads in a cache or TLB."""
        store.evictions = ThreadEvictions()
        self.stores[name] = store

    def switch_counts(self):
        """By thread: number of times that it lost the core, by SwitchCause."""
        cdef int thread, cause
        return [[self.switches[thread][cause] for cause in range(<int>SWITCH_CAUSES)] for thread in range(<int>THREADS)]
