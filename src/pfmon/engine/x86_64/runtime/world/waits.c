/* Calls that wait. The guest's time passes at once when nothing but time can end a wait; where input may come from outside, the
   host's time passes, at most until the wait or a timer of the guest ends, and only a wait without input takes time of the
   guest. */

#include <asm/unistd.h>
#include <linux/errno.h>

#include "tasks/schedule.h"
#include "waits.h"

const struct __kernel_timespec *time_of(uint64_t nanoseconds, struct __kernel_timespec *to) {
    to->tv_sec = (int64_t)(nanoseconds / BILLION);
    to->tv_nsec = (long long)(nanoseconds % BILLION);
    return nanoseconds == NEVER ? NULL : to;
}

static int64_t rest(uint64_t nanoseconds) {
    struct __kernel_timespec time;
    return call(__NR_ppoll, 0, 0, (uint64_t)time_of(nanoseconds, &time), 0, 0, 0);
}

/* Let the host's time pass, unless a signal arrives; returns 0. */
int64_t rest_for(uint64_t nanoseconds) {
    rest(nanoseconds);
    return 0;
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

/* Wait until an attempt succeeds, a signal arrives, or time reaches the deadline. */
int64_t wait_until(const struct wait *it, uint64_t deadline) {
    uint64_t now, end;
    int64_t result;
    for (;;) {
        fire_timers();
        result = it->attempt(it, 0);
        if (result != it->nothing)
            return result;
        if (state->pending)
            return -EINTR;
        now = elapsed();
        if (now >= deadline)
            return result;
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
    return rest(limit);
}

/* Wait for a signal, or until time reaches the deadline. */
int64_t wait_for_signal(uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_nothing, .is_inside = without_children};
    if (world.flags & HOST_CLOCK)
        return rest(NEVER);
    return wait_until(&wait, deadline);
}
