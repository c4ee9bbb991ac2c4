/* Calls that wait. The guest's time passes at once when nothing but time can end a wait; where input may come from outside, the
   host's time passes, at most until the wait or a timer of the guest ends, and only a wait without input takes time of the
   guest. */

#include <asm/unistd.h>
#include <linux/errno.h>

#include "signals/signals.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "waits.h"

const struct __kernel_timespec *time_of(uint64_t nanoseconds, struct __kernel_timespec *to) {
    to->tv_sec = (int64_t)(nanoseconds / BILLION);
    to->tv_nsec = (long long)(nanoseconds % BILLION);
    return nanoseconds == NEVER ? NULL : to;
}

/* Let the host's time pass; -EINTR: a signal arrived. */
int64_t rest_for(uint64_t nanoseconds) {
    struct __kernel_timespec time;
    return call(__NR_ppoll, 0, 0, (uint64_t)time_of(nanoseconds, &time), 0, 0, 0);
}

/* Let other processes execute, or the host's time pass. Returns the attempt's result, or `nothing`: try again. */
static int64_t wait_beside_others(const struct wait *it, uint64_t now, uint64_t end) {
    uint64_t slice;
    int64_t result;
    outside_may_end = !it->is_inside(it);
    if (pass_turn(end))
        return it->nothing;
    slice = idle_slice(end - now);
    result = it->attempt(it, slice);
    if (result == it->nothing)
        pass_time(slice);
    return result;
}

static bool is_interrupted(void) {
    if (state->pending)
        set_pending();           /* it may be for another thread */
    return state->pending;
}

static void wait_among_threads(const struct wait *it, uint64_t deadline) {
    running->wait = it;
    running->text = it->text;
    wait_in_schedule(deadline);
    running->wait = NULL;
}

/* An attempt has succeeded while another thread was running. */
static int64_t take_result(void) {
    running->has_result = false;
    return running->result;
}

/* Wait until an attempt succeeds, a signal arrives, or time reaches the deadline. */
int64_t wait_until(const struct wait *it, uint64_t deadline) {
    uint64_t now, end;
    int64_t result;
    for (;;) {
        fire_timers();
        if (running->has_result)
            return take_result();
        result = it->attempt(it, 0);
        if (is_interrupted())
            return result != it->nothing ? result : -EINTR;
        if (result != it->nothing && result != -EINTR)
            return result;
        now = elapsed();
        if (now >= deadline)
            return it->nothing;
        if (threaded) {
            wait_among_threads(it, deadline);
            continue;
        }
        end = next_timer();
        if (deadline < end)
            end = deadline;
        if (others_exist()) {
            result = wait_beside_others(it, now, end);
            if (result != it->nothing)
                return result;
            continue;
        }
        if (end == NEVER || !it->is_inside(it)) {
            result = it->attempt(it, end == NEVER ? NEVER : end - now);
            if (result != it->nothing || end == NEVER)
                return result;
        }
        pass_time(end - now);
    }
}

uint64_t after(uint64_t nanoseconds) {
    uint64_t now;
    if (nanoseconds == NEVER)
        return NEVER;
    now = elapsed();
    return nanoseconds < NEVER - now ? now + nanoseconds : NEVER;
}

uint64_t time_until(uint64_t deadline) {
    uint64_t now = elapsed();
    return deadline > now ? deadline - now : 0;
}

static int64_t attempt_nothing(const struct wait *it, uint64_t limit) {
    (void)it;
    return rest_for(limit);
}

/* Wait for a signal, or until time reaches the deadline. */
int64_t wait_for_signal(uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_nothing, .is_inside = without_children, .for_signals = true,
                              .text = deadline == NEVER ? "for a signal" : "for time to pass"};
    if (world.flags & HOST_CLOCK && !threaded)
        return rest_for(NEVER);
    return wait_until(&wait, deadline);
}
