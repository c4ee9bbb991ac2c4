"""The event set in force: records, memo, levels and the capture listener belong to it."""

from libc.stdint cimport int64_t, uint32_t


cdef class EventSetSwitch:
    """``event_sets``: their number; ``shares``: the time and the levels of each."""

    def __cinit__(self, uint32_t event_sets, EventSetAccounting shares, CaptureReporting captures,
                  RecordReporting shown):
        self.listeners = [None] * event_sets
        self.shares, self.captures, self.shown, self.replay = shares, captures, shown, captures.replay

    cdef void request(self, uint32_t event_set) noexcept nogil:
        self.requested = event_set
        self.due = True

    cdef void change(self) noexcept nogil:
        self.due = False
        if self.requested == self.in_force:
            return
        self.share()
        self.in_force = self.requested
        self.replay.records.use(self.in_force)
        self.replay.memo.use(self.in_force)
        if self.shown.observer is not None:
            self.shown.observer.use_event_set(self.in_force)
        if self.has_listener:
            with gil:
                self.captures.set_listener(self.listeners[self.in_force])

    cdef void share(self) noexcept nogil:
        """The clock of the front end may be earlier than the pipeline's, and that of the prefetcher earlier than
        both."""
        cdef int64_t now = self.replay.now
        if not self.suspended:
            self.shares.share(self.in_force, now, self.replay.fetch.final_cycle(min(self.replay.front(), now)))

    cdef void suspend(self) noexcept nogil:
        cdef Frames* frames = &self.replay.pipeline.frames
        set_level(&frames.current_level, self.replay.now, frames.current_level.value)
        set_level(&frames.dirty_level, self.replay.now, frames.dirty_level.value)
        self.share()

    cdef void resume(self, int64_t now) noexcept nogil:
        cdef Frames* frames = &self.replay.pipeline.frames
        resume_level(&frames.current_level, now)    # before `skip_time`
        resume_level(&frames.dirty_level, now)
        self.shares.skip_time(now)

    def listen(self, CaptureListener listener, uint32_t event_set):
        """Sets the listener while an event set is in force; None: there is none."""
        self.listeners[event_set] = listener
        self.has_listener = self.has_listener or listener is not None
        if event_set == self.in_force:
            self.captures.set_listener(listener)
