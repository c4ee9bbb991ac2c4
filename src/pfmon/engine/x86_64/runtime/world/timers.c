/* The guest's timers, on the guest's clocks, and when its perf events are looked at. While one of them may be set, each block
   takes its instructions off `state->countdown` and leaves to the runtime when they are more than remain; the instructions
   up to the expiry then execute as a block of their own (translate.c, dispatch.c). So signals come at exact instructions. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/signal.h>
#include <linux/time.h>

#include "countdown.h"
#include "performance/performance.h"
#include "runtime.h"
#include "signals/signals.h"
#include "threads/thread.h"
#include "timers.h"
#include "waits/waits.h"
#include "world.h"

enum { MICROSECOND = 1000 };

struct times {
    uint64_t elapsed, processor;
};

struct timer timers[MAX_TIMERS] = {
    {.kind = INTERVAL, .clock = 1, .signal = SIGALRM},
    {.kind = INTERVAL, .clock = 2, .signal = SIGVTALRM, .of_processor = true},
    {.kind = INTERVAL, .clock = 2, .signal = SIGPROF, .of_processor = true},
};

static uint64_t look_at;         /* instructions retired at which the guest's events are looked at; 0: never */

static struct times times_now(void) {
    uint64_t processor = instructions_retired();
    return (struct times){elapsed_at(processor), processor};
}

static uint64_t now_of(const struct timer *it, const struct times *now) {
    return it->of_processor ? now->processor : now->elapsed;
}

/* When the next timer that goes on while the guest waits expires, in time elapsed; NEVER. */
uint64_t next_timer(void) {
    uint64_t next = NEVER;
    int i;
    for (i = 0; counting_down && i < MAX_TIMERS; i++)
        if (timers[i].kind && !timers[i].of_processor && timers[i].expiry && timers[i].expiry < next)
            next = timers[i].expiry;
    return next;
}

static uint64_t sooner(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t from_to(uint64_t now, uint64_t end) {
    return end > now ? end - now : 0;
}

/* What is left up to the first expiry, or look at the events; NEVER: there is none. */
static uint64_t left_to_first(const struct times *now) {
    uint64_t left = NEVER;
    int i;
    for (i = 0; i < MAX_TIMERS; i++)
        if (timers[i].kind && timers[i].expiry)
            left = sooner(left, from_to(now_of(&timers[i], now), timers[i].expiry));
    return look_at && !in_child ? sooner(left, from_to(now->processor, look_at)) : left;
}

/* Set the countdown to the next expiry, or the end of the turn. */
static void set_countdown(const struct times *now) {
    uint64_t left = left_to_first(now), turn = turn_left();
    if (left != NEVER)
        count_down_blocks();
    count_down_from(sooner(left, turn));
}

void update_countdown(void) {
    struct times now;
    if (!counts_down())
        return;
    now = times_now();
    set_countdown(&now);
}

/* What is left up to the expiry of a timer; 0: it is not set. */
uint64_t time_left(const struct timer *it) {
    struct times now = times_now();
    uint64_t left = from_to(now_of(it, &now), it->expiry);
    return it->expiry && !left ? 1 : left;
}

/* ---------------------------------------------------------------- expiry */

/* The number by which the kernel knows an eventfd; false: the descriptor is none. */
bool eventfd_number(int file, uint64_t *number) {
    static struct text info;
    const char *at;
    begin_text(&info, NO_FILE);
    path_of_file(file, &info);
    if (strcmp(info.bytes, "anon_inode:[eventfd]") || !read_descriptor_info(file, &info))
        return false;
    at = value_of_field(info.bytes, "eventfd-id:");
    *number = at ? take_number(&at) : 0;     /* kernels before 5.2 do not tell */
    return true;
}

/* Signals that wait where a timer's goes. */
static uint64_t waiting_for(const struct timer *it) {
    const struct guest_thread *thread = it->thread ? thread_of(it->thread) : NULL;
    uint64_t pending = 0;
    if (thread)
        return waiting_signals(thread);
    KERNEL2(__NR_rt_sigpending, &pending, 8);
    return pending;
}

static void signal_expiries(struct timer *it, uint64_t times) {
    uint64_t pending = waiting_for(it);
    siginfo_t info;
    if (it->sent && pending >> (it->signal - 1) & 1) {
        it->overrun += times;
        return;
    }
    it->overrun = times - 1;
    if (it->signal == NO_SIGNAL)
        return;
    memset(&info, 0, sizeof(info));
    info.si_signo = it->signal;
    info.si_code = SI_KERNEL;
    if (it->kind == POSIX) {
        info.si_code = SI_TIMER;
        info.si_tid = (int)(it - timers - INTERVAL_TIMERS);
        info.si_overrun = (int)it->overrun;
        info.si_value.sival_ptr = (void *)it->value;
        it->sent = true;
    }
    if (it->thread) {
        send_to_thread(it->thread, &info);
        return;
    }
    publish_count();             /* it may end the process */
    KERNEL3(__NR_rt_sigqueueinfo, KERNEL0(__NR_getpid), it->signal, &info);
}

static void show_expiries(struct timer *it, uint64_t times) {
    uint64_t number;
    if (!eventfd_number(it->file, &number) || number != it->file_id)
        it->kind = UNUSED;       /* it was closed */
    else
        KERNEL3(__NR_write, it->file, &times, sizeof(times));
}

static void fire(struct timer *it, uint64_t now) {
    uint64_t times = 1;
    if (it->interval) {
        times += (now - it->expiry) / it->interval;
        it->expiry += times * it->interval;
    } else
        it->expiry = 0;
    if (it->kind == TIMER_FILE)
        show_expiries(it, times);
    else
        signal_expiries(it, times);
}

/* Send the signals of the timers that have expired. */
void fire_timers(void) {
    struct times now;
    int i;
    if (!counting_down)
        return;
    now = times_now();
    if (look_at && look_at <= now.processor && !in_child) {
        look_at_events();
        now = times_now();
    }
    for (i = 0; i < MAX_TIMERS; i++)
        if (timers[i].kind && timers[i].expiry && timers[i].expiry <= now_of(&timers[i], &now))
            fire(&timers[i], now_of(&timers[i], &now));
    set_countdown(&now);
}

/* Look at the events when that many instructions have retired; 0: never. */
void set_look(uint64_t retired) {
    struct times now;
    if (retired == look_at && !retired)
        return;
    look_at = retired;
    now = times_now();
    set_countdown(&now);
}

void forget_look(void) {
    look_at = 0;
}

/* A child has no timers of its parent. */
void forget_timers(void) {
    int i;
    for (i = 0; i < MAX_TIMERS; i++)
        timers[i].expiry = 0;
    memset(timers + INTERVAL_TIMERS, 0, sizeof(timers) - INTERVAL_TIMERS * sizeof(timers[0]));
    count_down_from(LONGEST_COUNT);
}

void save_timers(struct timer *to) {
    memcpy(to, timers, sizeof(timers));
}

/* After a child that shared the memory, which may have waited. */
void restore_timers(const struct timer *from) {
    memcpy(timers, from, sizeof(timers));
    fire_timers();
}

/* Before the process executes a program, which keeps ITIMER_REAL, and after it could not. */
void give_timer_to_host(bool to_host) {
    uint64_t left = 0, value[4] = {0};
    if (world.flags & HOST_CLOCK)
        return;
    if (timers[0].expiry) {
        left = timers[0].expiry - elapsed();
        left = (int64_t)left < MICROSECOND ? MICROSECOND : left;
    }
    if (to_host) {
        value[0] = timers[0].interval / BILLION;
        value[1] = timers[0].interval % BILLION / MICROSECOND;
        value[2] = left / BILLION;
        value[3] = left % BILLION / MICROSECOND;
    }
    if (left)
        KERNEL3(__NR_setitimer, ITIMER_REAL, value, 0);
}

/* What is left of ITIMER_REAL, 0: it is not set; and its interval. */
uint64_t alarm_left(uint64_t *interval) {
    *interval = timers[0].interval;
    return time_left(&timers[0]);
}

/* ---------------------------------------------------------------- setting */

/* Whether a timer that is not set has an interval all the same (kernel/time). */
static bool keeps_interval(const struct timer *it) {
    return it->kind == TIMER_FILE || (it->kind == INTERVAL && it->of_processor);
}

void set_timer(struct timer *it, uint64_t interval, uint64_t value, bool absolute) {
    struct times now = times_now();
    uint64_t start = clock_start(it->clock);
    if (value == 0)
        it->expiry = 0;
    else if (!absolute)
        it->expiry = value < NEVER - now_of(it, &now) ? now_of(it, &now) + value : NEVER;
    else
        it->expiry = value > start ? value - start : 1;
    it->interval = value || keeps_interval(it) ? interval : 0;
    it->overrun = 0;
    if (it->expiry <= now_of(it, &now) && it->expiry)
        fire(it, now_of(it, &now));
    set_countdown(&now);
}

/* Set ITIMER_REAL as the program before had it; 0: it had none. */
void keep_alarm(uint64_t left, uint64_t interval) {
    if (!left)
        return;
    count_down_blocks();
    set_timer(&timers[0], interval, left, false);
}
