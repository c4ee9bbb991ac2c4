/* The order in which threads have the processor: one after the other, each for a turn of `quantum` instructions or until it
   waits. Seed 0 is round-robin; any other one draws thread and length of a turn, always the same for that seed. */

#include <asm/unistd.h>
#include <linux/errno.h>

#include "countdown.h"
#include "tasks/schedule.h"
#include "thread.h"
#include "waits/waits.h"

enum {
    MULTIPLIER = 16807, MODULUS = 0x7FFFFFFF,        /* the Park-Miller generator (1988) */
    SHORT_REST = 50000, LONG_REST = 2000000          /* nanoseconds of the host from one look at files to the next */
};

static uint64_t quantum, drawn;
static struct guest_thread *first_ready, *last_ready;
static uint32_t ready_count;
static uint64_t turn_end, turn_begin;        /* instructions retired */
static uint64_t turns;
static bool woke;                /* the running thread has let another one go on, in this turn */

void schedule_begin(uint64_t instructions, uint64_t seed) {
    quantum = instructions;
    drawn = seed % MODULUS;
}

/* ---------------------------------------------------------------- those that can run */

void make_ready(struct guest_thread *thread) {
    if (thread->status == READY)
        return;
    woke = woke || thread->status == WAITS;
    thread->status = READY;
    thread->behind = NULL;
    if (first_ready)
        last_ready->behind = thread;
    else
        first_ready = thread;
    last_ready = thread;
    if (++ready_count == 1)
        update_countdown();      /* the turn of the running thread has an end now */
}

static struct guest_thread *take_first(void) {
    struct guest_thread *thread = first_ready;
    first_ready = thread->behind;
    ready_count--;
    return thread;
}

static void put_last(struct guest_thread *thread) {
    thread->status = RUNS;
    make_ready(thread);
}

static uint64_t draw(void) {
    return drawn = drawn * MULTIPLIER % MODULUS;
}

static struct guest_thread *choose(void) {
    uint64_t turns = drawn && ready_count > 1 ? draw() % ready_count : 0;
    while (turns--)
        put_last(take_first());
    return take_first();
}

/* Instructions of the next turn. */
static uint64_t turn_length(void) {
    uint64_t length = drawn ? quantum / 2 + draw() % (quantum + 1) : quantum;
    return length ? length : 1;
}

/* ---------------------------------------------------------------- those that wait */

static void wake(struct guest_thread *thread) {
    if (thread->status == WAITS)
        make_ready(thread);
}

/* Nothing is tried while signals wait: their threads are woken first. */
static bool has_succeeded(const struct wait *it, uint64_t limit, int64_t *result) {
    *result = it->attempt(it, limit);
    return *result != it->nothing && *result != -EINTR;
}

static bool attempt(struct guest_thread *thread, uint64_t limit) {
    int64_t result;
    bool succeeded;
    tried = thread;
    succeeded = has_succeeded(thread->wait, limit, &result);
    tried = running;
    if (!succeeded)
        return false;
    thread->has_result = true;
    thread->result = result;
    wake(thread);
    return true;
}

/* Whether a thread waits for what only an attempt can tell. */
static bool is_tried(const struct guest_thread *thread) {
    return thread->status == WAITS && thread->wait && !thread->wait->for_signals;
}

static bool try_waits(void) {
    struct guest_thread *it;
    bool any = false;
    for (it = threads; it; it = it->next)
        if (is_tried(it))
            any = attempt(it, 0) || any;
    return any;
}

/* The earliest end of a wait by time; NEVER. */
static uint64_t first_deadline(void) {
    const struct guest_thread *it;
    uint64_t end = NEVER;
    for (it = threads; it; it = it->next)
        if (it->status == WAITS && it->deadline < end)
            end = it->deadline;
    return end;
}

static void wake_due(void) {
    struct guest_thread *it;
    uint64_t end = first_deadline(), now;
    if (end == NEVER)
        return;
    now = elapsed();
    for (it = threads; it; it = it->next)
        if (it->status == WAITS && it->deadline <= now)
            wake(it);
}

/* Threads that wait go on with the handlers of their signals. */
void wake_interrupted(void) {
    struct guest_thread *it;
    for (it = threads; it; it = it->next)
        if (it->status == WAITS && has_signal_for(it))
            wake(it);
}

/* ---------------------------------------------------------------- nobody can run */

/* Whether something outside can end a thread's wait. */
static bool is_from_outside(const struct guest_thread *thread) {
    const struct wait *wait = thread->status == WAITS ? thread->wait : NULL;
    return wait && (!wait->is_inside(wait) || (waits_endlessly && (wait->for_signals || wait->takes_signals)));
}

/* Let the host's time pass until a wait that something outside can end has succeeded, or for so long, which the guest's
   time passes then. */
static void wait_outside(struct guest_thread *thread, bool alone, uint64_t limit) {
    uint64_t rested = 0, step = SHORT_REST;
    if (alone) {
        if (!attempt(thread, limit) && limit != NEVER && !state->pending)
            pass_time(limit);
        return;
    }
    while (rested < limit && !state->pending) {
        rest_for(step < limit - rested ? step : limit - rested);
        if (try_waits())
            return;
        rested += step;
        step = step * 2 > LONG_REST ? LONG_REST : step * 2;
    }
    if (rested >= limit && limit != NEVER)
        pass_time(limit);
}

/* Nothing but time can end a wait. */
static void let_time_pass(uint64_t nanoseconds) {
    if (world.flags & HOST_CLOCK)
        rest_for(nanoseconds);
    else
        pass_time(nanoseconds);
}

static void idle(void) {
    struct guest_thread *it, *outside = NULL;
    uint64_t end = first_deadline(), timer = next_timer(), count = 0, now;
    bool has_children = !without_children(NULL);     /* whose signals may end any wait */
    if (timer < end)
        end = timer;
    waits_endlessly = end == NEVER;
    for (it = threads; it; it = it->next)
        if (is_from_outside(it)) {
            outside = it;
            count++;
        }
    waits_endlessly = false;
    if (!outside && !has_children && end == NEVER && !has_host_timers && !others_exist())
        end_in_deadlock();
    outside_may_end = outside;
    if (others_exist() && pass_turn(end))
        return;
    now = elapsed();
    if (others_exist())
        end = now + idle_slice(end - now);
    if (outside || has_children)
        wait_outside(outside, count == 1, end == NEVER ? NEVER : end > now ? end - now : 0);
    else if (end == NEVER)
        rest_for(NEVER);
    else if (end > now)
        let_time_pass(end - now);
}

/* ---------------------------------------------------------------- turns */

/* The thread that has the next turn. */
static struct guest_thread *next_thread(void) {
    for (;;) {
        fire_timers();
        state->pending = 0;      /* what arrives from here on interrupts a wait */
        direct_signals();
        wake_interrupted();
        wake_due();
        try_waits();
        if (ready_count)
            return choose();
        idle();
    }
}

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

/* Instructions until the turn is over: without end if nobody waits for it. A thread that has slept long enough waits for that,
   too: a lock's owner that lost its turn to each of them would seldom find others waiting when it gives the lock back. */
uint64_t turn_left(void) {
    const struct guest_thread *it;
    uint64_t now = instructions_retired(), rest, end;
    bool tries = false;
    if (!threaded && !others_exist())
        return NEVER;
    for (it = threads; it; it = it->next)
        tries = tries || is_tried(it);
    rest = turn_end > now ? turn_end - now : 0;
    end = first_deadline();
    if (ready_count || tries || others_exist())
        return rest;
    return end == NEVER ? NEVER : later(rest, time_until(end));
}

/* How often a thread has been given the processor. */
uint64_t turns_so_far(void) {
    return turns;
}

static void begin_turn(struct guest_thread *thread) {
    turns++;
    woke = false;
    thread->status = RUNS;
    turn_begin = instructions_retired();
    turn_end = turn_begin + turn_length();
}

static void end_use(void) {
    running->retired += instructions_retired() - turn_begin;
    turn_begin = instructions_retired();
}

/* The process has the turn again. */
void renew_turn(void) {
    end_use();
    turn_end = turn_begin + turn_length();
    update_countdown();
}

/* Instructions of a thread. */
uint64_t retired_by(const struct guest_thread *thread) {
    return thread->retired + (thread == running ? instructions_retired() - turn_begin : 0);
}

static void give_processor_to(struct guest_thread *next) {
    end_use();
    begin_turn(next);
    switch_to(next);
    set_pending();
    update_countdown();
}

/* The running thread's turn is over. */
void end_turn(void) {
    struct guest_thread *next;
    if (!threaded)
        return;
    put_last(running);
    next = next_thread();
    give_processor_to(next);
}

/* Whether the running thread's turn ends behind its next system call, since it has woken another one: that would find a lock
   taken again otherwise which was free in between, in each of its turns. */
bool has_woken(void) {
    return woke;
}

/* The running thread has ended. */
void leave_schedule(void) {
    running->status = WAITS;
    give_processor_to(next_thread());
    for (;;)
        continue;                /* not reached */
}

/* The running thread waits until it is woken, time has reached the deadline, or a signal arrives. */
void wait_in_schedule(uint64_t deadline) {
    running->deadline = deadline;
    running->status = WAITS;
    give_processor_to(next_thread());
    running->deadline = NEVER;
}

/* A child has the running thread alone. */
void forget_schedule(void) {
    first_ready = NULL;
    ready_count = 0;
    running->status = RUNS;
}

/* Before the process has a second thread: from now on each path of blocks takes its instructions off the countdown. */
void begin_turns(void) {
    if (counting_paths)
        return;
    count_down_paths();
    end_use();
    begin_turn(running);
    update_countdown();
}

/* The countdown has run out: a timer has expired, or a turn is over. */
void pass_countdown(void) {
    fire_timers();
    if (turn_left() == 0) {
        yield_turn();
        end_turn();
        renew_turn();
    } else
        update_countdown();
}
