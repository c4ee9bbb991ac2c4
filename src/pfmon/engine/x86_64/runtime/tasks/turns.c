/* Who executes: of several processes one at a time, so that the order repeats.

   A process that has to wait calls pass_turn(), and tries again when it returns. The next process in the order of their places
   that can run gets the turn; one that waits is asked whenever something has happened since it last tried. When all wait, time
   passes to the next deadline at once; where something outside of the run may end a wait, the host's time passes. Nothing can end
   any wait: a deadlock. A process that died with the turn is noticed by those that wait for it. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/signal.h>
#include <linux/time_types.h>

#include "performance/performance.h"
#include "runtime.h"
#include "schedule.h"
#include "threads/thread.h"
#include "world/world.h"

enum { FIRST_SLICE = 1000000, MOST_DOUBLED = 5 };
static const uint64_t WATCH = 20000000, SELDOM = 1000000000;     /* nanoseconds from one look at the holder to the next */

bool outside_may_end;

/* ---------------------------------------------------------------- the turn */

static int64_t futex(uint32_t *word, int what, uint32_t value, uint64_t nanoseconds) {
    struct __kernel_timespec time = {(int64_t)nanoseconds / BILLION, (int64_t)nanoseconds % BILLION};
    return KERNEL6(__NR_futex, word, what, value, nanoseconds ? &time : NULL, 0, 0);
}

/* What the process that has the turn now finds. */
static void take_up(void) {
    own_process()->turn = 0;
    own_process()->stage = ABLE;
    if (schedule->dying) {
        wait_for_death(schedule->dying);
        follow_death();
        schedule->dying = 0;
    }
    if (schedule->stopping) {
        stops_within(schedule->stopping, MOST_MOMENTS);      /* a SIGCONT before would be none */
        schedule->stopping = 0;
    }
    set_elapsed(schedule->clock);
    fire_timers();
    renew_turn();
}

/* Take the turn of a dead process; false: it lives, or another one has taken it. */
static bool take_over(void) {
    uint32_t holder = __atomic_load_n(&schedule->holder, __ATOMIC_ACQUIRE);
    struct process *it = &schedule->processes[holder];
    bool is_stopped = it->stopped && state_of(it->host) == 'T';
    if (holder == own_place || !(is_stopped || (it->host && is_dead(it->host)))
        || !__atomic_compare_exchange_n(&schedule->holder, &holder, own_place, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return false;
    it->turn = 0;
    if (!is_stopped)
        remove_process(holder);
    return true;
}

void wait_for_turn(void) {
    if (!schedule || !schedule->on)
        return;
    while (!__atomic_load_n(&own_process()->turn, __ATOMIC_ACQUIRE)) {
        int64_t result = futex(&own_process()->turn, FUTEX_WAIT, 0, schedule->giver == own_place ? WATCH : SELDOM);
        if (result == -ETIMEDOUT && !__atomic_load_n(&own_process()->turn, __ATOMIC_ACQUIRE) && take_over())
            break;
    }
    take_up();
}

/* Give a process the turn; false: it cannot run. */
static bool give_turn(uint32_t place) {
    struct process *it = &schedule->processes[place];
    char found;
    schedule->giver = own_place;
    __atomic_store_n(&schedule->holder, place, __ATOMIC_RELEASE);
    __atomic_store_n(&it->turn, 1, __ATOMIC_RELEASE);
    if (futex(&it->turn, FUTEX_WAKE, 1, 0) == 1 || !it->host)
        return true;
    found = state_of(it->host);
    if (found != 'Z' && found != 'X' && !(found == 'T' && it->stopped))
        return true;
    schedule->holder = own_place;
    it->turn = 0;
    if (found != 'T')
        remove_process(place);
    return false;
}

static bool is_ready(const struct process *it) {
    if (it->stopped || it->doomed)
        return false;
    return it->stage == ABLE || (it->stage == WAITING && (it->seen != schedule->events || it->deadline <= schedule->clock));
}

/* The next process that can run, itself as the last one; NO_PLACE. */
static uint32_t next_ready(void) {
    uint32_t k, place;
    for (k = 1; k <= schedule->places; k++) {
        place = (own_place + k) % schedule->places;
        if (is_ready(&schedule->processes[place]))
            return place;
    }
    return NO_PLACE;
}

/* ---------------------------------------------------------------- all wait */

/* Something outside may let a stopped process go on, while the first process exists. */
static bool any_stopped(void) {
    uint32_t i;
    if (is_dead(schedule->first))
        return false;
    for (i = 0; i < schedule->places; i++)
        if (schedule->processes[i].stage != NOBODY && schedule->processes[i].stopped)
            return true;
    return false;
}

/* Let time pass to the earliest deadline; false: there is none. */
static bool skip_time(void) {
    uint64_t earliest = NEVER;
    uint32_t i;
    for (i = 0; i < schedule->places; i++) {
        const struct process *it = &schedule->processes[i];
        if (it->stage == WAITING && !it->stopped && !it->doomed && it->deadline < earliest)
            earliest = it->deadline;
    }
    if (earliest == NEVER)
        return false;
    schedule->clock = earliest;
    return true;
}

/* Whether something outside of the run may end a wait; dead processes are found here. */
static bool something_outside(void) {
    bool found = false;
    uint32_t i;
    for (i = 0; i < schedule->places; i++) {
        struct process *it = &schedule->processes[i];
        if (it->stage == NOBODY || i == own_place)
            continue;
        if (it->host && is_dead(it->host))
            remove_process(i);
        else if (it->stage == OUTSIDE || (it->stage == WAITING && it->from_outside))
            found = true;
    }
    return found || own_process()->from_outside;
}

/* The process that has not waited in the host for longest, of those whose wait something outside may end; NO_PLACE. */
static uint32_t next_outside(void) {
    uint32_t i, found = NO_PLACE;
    for (i = 0; i < schedule->places; i++) {
        const struct process *it = &schedule->processes[i];
        if (it->stage == WAITING && it->from_outside && !it->stopped
            && (found == NO_PLACE || it->slices < schedule->processes[found].slices))
            found = i;
    }
    return found;
}

/* Nanoseconds of the host for a wait, longer and longer ones. */
uint64_t idle_slice(uint64_t most) {
    uint64_t slice = (uint64_t)FIRST_SLICE << schedule->idle;
    if (schedule->idle < MOST_DOUBLED)
        schedule->idle++;
    schedule->events++;          /* signals from outside are noticed */
    return slice < most ? slice : most;
}

static void sleep_idly(void) {
    uint64_t slice = idle_slice(NEVER);
    struct __kernel_timespec time = {0, (long long)slice};
    KERNEL2(__NR_nanosleep, &time, 0);
    schedule->clock += slice;
}

/* All wait. The process that is to wait in the host; NO_PLACE: time has passed, or a dead process was found. */
static uint32_t next_when_all_wait(void) {
    uint32_t next = NO_PLACE;
    if (something_outside()) {
        next = next_outside();
        if (next == NO_PLACE)
            sleep_idly();
    } else if (next_ready() == NO_PLACE && !skip_time()) {
        if (!any_stopped())
            end_run_in_deadlock();
        sleep_idly();
    }
    return next;
}

/* ---------------------------------------------------------------- giving it away */

/* What the others find: the time, and what this process has executed. */
static void show_progress(void) {
    schedule->clock = elapsed();
    hand_over_words();
    publish_count();
}

static void begin_wait(struct process *it, uint64_t deadline) {
    it->stage = WAITING;
    it->deadline = deadline;
    it->seen = schedule->events;
    it->from_outside = outside_may_end;
    it->call = (uint32_t)state->registers[RAX];
}

/* The process waits, until the deadline at most: others execute. True: it is to try again; false: it is to wait in the host, for
   an idle_slice(). */
bool pass_turn(uint64_t deadline) {
    struct process *it = own_process();
    uint32_t next;
    bool all_wait;
    if (!others_exist())
        return false;
    begin_wait(it, deadline);
    show_progress();
    for (;;) {
        next = next_ready();
        all_wait = next == NO_PLACE;
        if (all_wait)
            next = next_when_all_wait();
        if (next == own_place)
            break;
        if (next != NO_PLACE && give_turn(next)) {
            wait_for_turn();
            return true;
        }
    }
    it->stage = ABLE;
    set_elapsed(schedule->clock);
    if (all_wait)
        it->slices = ++schedule->slices;
    return !all_wait;
}

/* Whether the process has given it away, and has not waited for another one. */
static bool gave_turn;

/* The process does not go on: one that can run has the turn; false: none can. */
static bool give_turn_away(void) {
    uint32_t next;
    while ((next = next_ready()) != NO_PLACE)
        if (give_turn(next))
            return true;
    return false;
}

static void wait_if_given(void) {
    if (gave_turn || schedule->holder != own_place || own_process()->turn)
        wait_for_turn();
    gave_turn = false;
}

/* The process goes on after others that can run. */
void yield_turn(void) {
    uint32_t next;
    if (!others_exist())
        return;
    show_progress();
    while ((next = next_ready()) != own_place)
        if (give_turn(next)) {
            wait_for_turn();
            return;
        }
}

/* The first process has ended, or is this one that ends, and those that are left are stopped: nobody lets them go on. */
static bool only_stopped_are_left(void) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++) {
        const struct process *it = &schedule->processes[i];
        if (it->stage != NOBODY && !it->stopped && !it->doomed)
            return false;
    }
    return schedule->first == schedule->dying || is_dead(schedule->first);
}

/* The process is about to stop: others execute. */
void begin_stop(void) {
    own_process()->stopped = 1;
    schedule->stopping = (uint32_t)KERNEL0(__NR_getpid);
    schedule->events++;
    show_progress();
    gave_turn = give_turn_away();
    if (!gave_turn && only_stopped_are_left()) {
        kill_others();
        KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
    }
}

/* It goes on, or did not stop. */
void end_stop(void) {
    own_process()->stopped = 0;
    if (schedule->stopping == own_process()->host)
        schedule->stopping = 0;
    wait_if_given();
}

/* After each system call. */
void after_call(void) {
    if (!others_exist())
        return;
    schedule->events++;
    schedule->idle = 0;
}

/* The process ends. */
void leave_run(void) {
    if (!schedule || !schedule->on)
        return;
    schedule->clock = elapsed();
    schedule->dying = (uint32_t)KERNEL0(__NR_getpid);
    remove_process(own_place);
    doom_children(schedule->dying);
    if (!give_turn_away() && only_stopped_are_left())
        kill_others();
}

/* ---------------------------------------------------------------- vfork, exec */

/* The child at this place has the memory, and the turn. */
void lend_memory(uint32_t place) {
    if (!schedule->on)
        return;
    own_process()->stage = LENDS;
    schedule->processes[place].lender = own_place + 1;
    schedule->holder = place;
}

/* In the lender; `made`: there was a child. */
void get_memory_back(uint32_t place, bool made) {
    if (made) {
        wait_for_turn();
        return;
    }
    if (!schedule->on)
        return;
    cancel_process(place);
    schedule->holder = own_place;
    own_process()->stage = ABLE;
}

/* Before the process executes a program; `back`: it could not. */
void return_memory(bool back) {
    static uint32_t lender;
    if (!schedule->on)
        return;
    if (back) {
        own_process()->lender = lender;
        if (lender)
            schedule->processes[lender - 1].stage = LENDS;
        return;
    }
    lender = own_process()->lender;
    return_to_lender(own_process());
}

/* The host executes the process's program from here on, or, `native` being false, it could not. */
void become_native(bool native) {
    if (!schedule->on)
        return;
    schedule->natives += native ? 1 : -1;
    if (native) {
        own_process()->stage = OUTSIDE;
        schedule->events++;
        schedule->clock = elapsed();
        gave_turn = give_turn_away();
    } else {
        own_process()->stage = ABLE;
        wait_if_given();
    }
}
