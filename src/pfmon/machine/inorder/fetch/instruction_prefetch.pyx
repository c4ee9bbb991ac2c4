"""Prefetch of instructions: streams from the targets of branches with .many, and lines named by brp.

A taken branch with .many prefetches the lines after its target one after the other (a stream) until the next taken
branch; brp prefetches its target's line, through the prefetch virtual address buffer (PVAB). Prefetches never walk:
without a translation in the first-level TLB they are dropped (Montecito manual 4.10).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    DEMAND_REQUESTS = 1          # of the RAB's entries: not used by prefetches (Montecito manual, table 2-9)


cdef inline uint32_t present_in_row(InstructionFetch fetch, uint64_t number, uint64_t most) noexcept nogil:
    """Counts the consecutive lines from a line number on that are present or in flight, up to a limit or the end of the
    group of lines; the caller continues in the next group."""
    return <uint32_t>min(lines_in_row(fetch.group_of(number), number), most)


cdef inline bint stream_present(InstructionFetch fetch, uint64_t target) noexcept nogil:
    """Whether all lines that a stream from the target would request are present or in flight."""
    cdef uint64_t number = (target >> fetch.line_shift) + 1
    cdef uint32_t left = fetch.stream_lines, found
    while left:
        found = present_in_row(fetch, number, left)
        if found == 0:
            return False
        number += found
        left -= found
    return True


cdef void redirect(InstructionFetch fetch, EventLog* event_log, uint64_t target, bint many, int64_t now) noexcept nogil:
    if is_due(fetch, now):
        pump(fetch, event_log, now)
    fetch.stream.left, fetch.stream.active = 0, 0
    if not many or not fetch.stream_lines:
        return
    if stream_present(fetch, target):
        record(event_log, Occurrence.L1I_PREFETCH, fetch.stream_lines)
        record(event_log, Occurrence.L1I_STREAM_PREFETCH, fetch.stream_lines)
        return
    fetch.stream.next = ((target >> fetch.line_shift) + 1) << fetch.line_shift
    fetch.stream.left, fetch.stream.active = fetch.stream_lines, 1
    fetch.stream.since = now + 1


cdef int64_t prefetch_room(InstructionFetch fetch, int64_t now) noexcept nogil:
    """Returns the first cycle from ``now`` on in which a prefetch may be sent: a demand fetch's entry stays free."""
    cdef uint32_t most = fetch.requests.capacity - DEMAND_REQUESTS if fetch.requests.capacity > DEMAND_REQUESTS else 1
    release_entries(&fetch.requests, now)
    if fetch.requests.count < most:
        return now
    return fetch.requests.leaves[fetch.requests.count - most]


cdef inline bint is_translated(InstructionFetch fetch, uint64_t address) noexcept nogil:
    """Whether the address' page has an entry in the first-level TLB; the page used last always has."""
    return (address >> fetch.tlb_shift == fetch.last_page
            or quick_find(fetch.tlb1.tags, address | fetch.thread) != ABSENT)


cdef void pump(InstructionFetch fetch, EventLog* event_log, int64_t now) noexcept nogil:
    """Sends the stream's requests up to now, a line a cycle."""
    cdef int64_t at
    cdef uint32_t lines = 0, sent = 0, there
    while is_due(fetch, now):
        at = fetch.stream.since
        there = present_in_row(fetch, fetch.stream.next >> fetch.line_shift,
                               min(<uint64_t>(now - at + 1), <uint64_t>fetch.stream.left))
        if there == 0:
            there = 1
            if not is_translated(fetch, fetch.stream.next):
                fetch.stream.left, fetch.stream.active = 0, 0
                break
            at = prefetch_room(fetch, at)
            if at > now:
                break
            if at > fetch.stream.since:
                record(event_log, Occurrence.PREFETCH_STALL_STREAM, <uint32_t>(at - fetch.stream.since))
            send_prefetch(fetch, event_log, fetch.stream.next, at)
            sent += 1
        lines += there
        fetch.stream.next += there * fetch.line
        fetch.stream.left -= there
        fetch.stream.since = at + there
    if sent:
        record_sent(fetch, event_log, sent)
    if lines:
        record(event_log, Occurrence.L1I_PREFETCH, lines)
        record(event_log, Occurrence.L1I_STREAM_PREFETCH, lines)


cdef void hint(InstructionFetch fetch, EventLog* event_log, uint64_t target, int64_t now) noexcept nogil:
    cdef uint64_t line = target >> fetch.line_shift << fetch.line_shift
    cdef int64_t at
    if is_due(fetch, now):
        pump(fetch, event_log, now)
    if fetch.present(line):
        record(event_log, Occurrence.L1I_PREFETCH, 1)
        return
    if first_free_cycle(&fetch.hints, now) > now:
        record(event_log, Occurrence.PVAB_OVERFLOW, 1)
        return
    at = now if now > fetch.prefetch_free else fetch.prefetch_free
    record(event_log, Occurrence.L1I_PREFETCH, 1)
    if quick_find(fetch.tlb1.tags, target | fetch.thread) != ABSENT:
        at = prefetch_room(fetch, at)
        send_prefetch(fetch, event_log, line, at)
        record_sent(fetch, event_log, 1)
    if at > now:
        record(event_log, Occurrence.PREFETCH_STALL_HINT, <uint32_t>(at - now))
        enter_queue(&fetch.hints, now, at)
    fetch.prefetch_free = at + 1


cdef void drop_prefetches(InstructionFetch fetch, int64_t now) noexcept nogil:
    fetch.stream.left, fetch.stream.active = 0, 0
    while fetch.hints.count and fetch.hints.leaves[fetch.hints.count - 1] > now:
        fetch.hints.count -= 1
    fetch.prefetch_free = now + 1
    fetch.last_page = NO_PAGE


cdef void send_prefetch(InstructionFetch fetch, EventLog* event_log, uint64_t line, int64_t now) noexcept nogil:
    """Requests a line ahead (see record_sent)."""
    keep_line(fetch, line, fetch.request_line(event_log, line, REQUEST_FETCH_PREFETCH, now), now)


cdef void record_sent(InstructionFetch fetch, EventLog* event_log, uint32_t lines) noexcept nogil:
    """Records the prefetch requests of so many lines as one event: equal event lists are stored once."""
    fetch.record_lines(event_log, lines)
    record(event_log, Occurrence.L2_PREFETCH_SENT, lines)


cdef void keep_line(InstructionFetch fetch, uint64_t line, int64_t ready, int64_t now) noexcept nogil:
    """Puts a line into the streaming buffer."""
    cdef uint64_t evicted = enter_buffer(&fetch.buffer, line, ready, now)
    if evicted != NO_LINE:
        remove_line(fetch.groups, evicted >> fetch.line_shift)
    line_arrives(fetch.groups, line >> fetch.line_shift)
