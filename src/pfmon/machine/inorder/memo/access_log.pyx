"""The access log of a block: see access_log.pxd. A result is a word, more if needed, and its events."""

cdef enum:
    LATEST = 1 << 30             # maximum distance of an event from its block's begin


cdef inline void copy_words(uint64_t* to, const uint64_t* words, uint32_t count) noexcept nogil:
    """Copies results of a few words: a call of memcpy would take longer."""
    cdef uint32_t i
    for i in range(count):
        to[i] = words[i]


cdef inline bint is_next(AccessLog* log) noexcept nogil:
    """Whether the next event's result is already logged."""
    return log.next < log.count


cdef inline const uint64_t* logged_result(AccessLog* log, EventLog* event_log, uint32_t heading) noexcept nogil:
    """Returns the next event's result, of so many words before its events, which are recorded."""
    cdef const uint64_t* words = log.words + log.starts[log.next]
    cdef uint32_t count = log.starts[log.next + 1] - log.starts[log.next] - heading
    if event_log.count + count > MAX_LOGGED_EVENTS:
        event_log.lost = True
    else:
        copy_words(event_log.items + event_log.count, words + heading, count)
        event_log.count += count
    log.next += 1
    return words


cdef inline uint64_t* add(AccessLog* log, const MemoryEvent* event, int64_t now, uint32_t words) noexcept nogil:
    """Appends an event with so many words of result; NULL: it is not kept."""
    cdef int64_t at = now - log.began
    cdef uint64_t* result
    if not log.on:
        return NULL
    if log.count == MAX_MEMORY_EVENTS or log.starts[log.count] + words > MAX_LOG_WORDS or at < -LATEST or at > LATEST:
        log.on, log.lost = False, True
        return NULL
    result = log.words + log.starts[log.count]
    log.events[log.count] = event[0]
    log.events[log.count].at = <int32_t>at           # not earlier: the host is slow to read words written in pieces
    log.count += 1
    log.next = log.count
    log.starts[log.count] = log.starts[log.count - 1] + words
    return result


cdef inline void add_occurrences(uint64_t* result, const EventLog* event_log, uint32_t before) noexcept nogil:
    copy_words(result, event_log.items + before, event_log.count - before)


cdef void request_fetch_window(AccessLog* log, InstructionFetch fetch, EventLog* event_log, const MemoryEvent* event,
                               uint64_t window, int64_t now,
                    Fetched* out) noexcept nogil:
    cdef uint32_t before = event_log.count
    cdef const uint64_t* known
    cdef uint64_t* result
    if is_next(log):
        known = logged_result(log, event_log, 2)
        out.ready = now + <int32_t>known[0]
        out.second_cycles, out.kernel = <uint32_t>known[1], <int64_t>(known[1] >> 32)
        out.cause, out.second_cause = <uint16_t>(known[0] >> 32), <uint16_t>(known[0] >> 48)
        return
    fetch.fetch(event_log, window, now, out)
    result = add(log, event, now, 2 + event_log.count - before)
    if result != NULL:
        result[0] = <uint32_t>(out.ready - now) | <uint64_t>out.cause << 32 | <uint64_t>out.second_cause << 48
        result[1] = out.second_cycles | <uint64_t>out.kernel << 32
        add_occurrences(result + 2, event_log, before)


cdef void request_access(AccessLog* log, DataMemory data, EventLog* event_log, const MemoryEvent* event,
                         uint64_t address,
                     int64_t now, AccessResult* out) noexcept nogil:
    cdef uint32_t before = event_log.count, i
    cdef const uint64_t* known
    cdef uint64_t* result
    if is_next(log):
        out.stalls = <uint8_t>(log.words[log.starts[log.next]] >> 32)
        known = logged_result(log, event_log, 1 + out.stalls)
        out.ready = now + <int32_t>known[0]
        for i in range(out.stalls):
            out.cause[i], out.cycles[i] = <uint32_t>(known[1 + i] >> 32), <uint32_t>known[1 + i]
        return
    if event.kind == EVENT_FENCE:
        data.fence(now, out)
    else:
        data.access(event_log, address, event.size, event.access_kind, event.flags, now, out)
    result = add(log, event, now, 1 + out.stalls + event_log.count - before)
    if result != NULL:
        result[0] = <uint32_t>(out.ready - now) | <uint64_t>out.stalls << 32
        for i in range(out.stalls):
            result[1 + i] = <uint64_t>out.cause[i] << 32 | out.cycles[i]
        add_occurrences(result + 1 + out.stalls, event_log, before)


cdef void log_event(AccessLog* log, DataMemory data, const MemoryEvent* event, uint64_t address,
                    int64_t now) noexcept nogil:
    if is_next(log):
        log.next += 1
        return
    if event.kind == EVENT_STORE:
        enter_store(&data.store_conflicts, address, event.size, now)
    if event.flags & OCCUPIES_BANK:
        data.l2.issue_early(address, event.kind == EVENT_BANK, event.flags >> REISSUE_SHIFT, now)
    add(log, event, now, 0)
