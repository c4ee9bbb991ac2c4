/* The guest's timers: setitimer, timer_create and timerfd, on the guest's clocks. While one of them may be set, each block
   takes its instructions off `state->countdown` and leaves to the runtime when they are more than remain; the instructions
   up to the expiry then execute as a block of their own (translate.c, dispatch.c). So signals come at exact instructions. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/time.h>

#include "countdown.h"
#include "performance/performance.h"
#include "runtime.h"
#include "signals/signals.h"
#include "threads/thread.h"
#include "timers.h"
#include "world.h"

enum {
    MICROSECOND = 1000,
    FLAG_ABSOLUTE = 1, NO_SIGNAL = 0
};

struct times {
    uint64_t elapsed, processor;
};

static struct timer timers[MAX_TIMERS] = {
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

/* Set the countdown to the next expiry, or the end of the turn. */
static void set_countdown(const struct times *now) {
    uint64_t least = turn_left(), reached, left;
    bool any = false;
    int i;
    for (i = 0; i < MAX_TIMERS; i++)
        if (timers[i].kind && timers[i].expiry) {
            reached = now_of(&timers[i], now);
            left = timers[i].expiry > reached ? timers[i].expiry - reached : 0;
            any = true;
            least = left < least ? left : least;
        }
    if (look_at && !in_child) {
        left = look_at > now->processor ? look_at - now->processor : 0;
        any = true;
        least = left < least ? left : least;
    }
    if (any)
        count_down_blocks();
    count_down_from(least);
}

void update_countdown(void) {
    struct times now;
    if (!counts_down())
        return;
    now = times_now();
    set_countdown(&now);
}

/* ---------------------------------------------------------------- expiry */

/* The number by which the kernel knows an eventfd; false: the descriptor is none. */
static bool eventfd_number(int file, uint64_t *number) {
    static struct text info;
    const char *at;
    begin_text(&info, NO_FILE);
    path_of_file(file, &info);
    if (strcmp(info.bytes, "anon_inode:[eventfd]") || !read_descriptor_info(file, &info))
        return false;
    *number = 0;                 /* kernels before 5.2 do not tell */
    for (at = info.bytes; *at; at++)
        if (begins_with(at, "eventfd-id:")) {
            at += 11;
            while (*at == ' ')
                at++;
            *number = take_number(&at);
            break;
        }
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

static void send_signal(struct timer *it, uint64_t times) {
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
        send_signal(it, times);
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
    uint64_t now = elapsed(), expiry = timers[0].expiry;
    *interval = timers[0].interval;
    return !expiry ? 0 : expiry > now ? expiry - now : 1;
}

/* ---------------------------------------------------------------- setting */

/* Whether a timer that is not set has an interval all the same (kernel/time). */
static bool keeps_interval(const struct timer *it) {
    return it->kind == TIMER_FILE || (it->kind == INTERVAL && it->of_processor);
}

static void set_timer(struct timer *it, uint64_t interval, uint64_t value, bool absolute) {
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

static uint64_t time_left(const struct timer *it) {
    struct times now = times_now();
    uint64_t reached = now_of(it, &now);
    return !it->expiry ? 0 : it->expiry > reached ? it->expiry - reached : 1;
}

/* struct itimerval, or itimerspec; `part`: nanoseconds of the unit of its parts. */
static int64_t write_setting(const struct timer *it, uint64_t to, uint64_t part) {
    uint64_t left = time_left(it), *words = (uint64_t *)to;
    if (!is_writable(to, 32))
        return -EFAULT;
    if (left && left < part)
        left = part;
    words[0] = it->interval / BILLION;
    words[1] = it->interval % BILLION / part;
    words[2] = left / BILLION;
    words[3] = left % BILLION / part;
    return 0;
}

static int64_t read_setting(uint64_t from, uint64_t part, uint64_t *interval, uint64_t *value) {
    const int64_t *words = (const int64_t *)from;
    int i;
    if (!are_readable(from, 32))
        return -EFAULT;
    for (i = 0; i < 4; i += 2)
        if (words[i] < 0 || words[i + 1] < 0 || words[i + 1] >= (int64_t)(BILLION / part))
            return -EINVAL;
    *interval = nanoseconds_of((uint64_t)words[0], (uint64_t)words[1] * part);
    *value = nanoseconds_of((uint64_t)words[2], (uint64_t)words[3] * part);
    return 0;
}

/* Set a timer as `from` says, after its setting was written to `old`, if given. */
static int64_t change_timer(struct timer *it, uint64_t from, uint64_t old, uint64_t part, bool absolute) {
    uint64_t interval = 0, value = 0;
    int64_t result = from || it->kind != INTERVAL ? read_setting(from, part, &interval, &value) : 0;
    if (result == 0 && old)
        result = write_setting(it, old, part);
    if (result == 0)
        set_timer(it, interval, value, absolute);
    return result;
}

/* Whole seconds that were left, rounded as Linux does: no set timer has 0. */
static int64_t set_alarm(uint32_t seconds) {
    uint64_t left = time_left(&timers[0]), whole = left / BILLION, rest = left % BILLION;
    set_timer(&timers[0], 0, seconds * BILLION, false);
    return (int64_t)(whole + ((whole == 0 && rest) || rest >= BILLION / 2));
}

static struct timer *new_timer(uint8_t kind, uint64_t clock) {
    int i;
    for (i = INTERVAL_TIMERS; i < MAX_TIMERS; i++)
        if (!timers[i].kind) {
            timers[i] = (struct timer){.kind = kind, .clock = clock, .of_processor = is_processor_time(clock)};
            return &timers[i];
        }
    return NULL;
}

static int64_t create_timer(uint64_t clock, uint64_t event, uint64_t result) {
    struct sigevent wanted = {.sigev_signo = SIGALRM, .sigev_notify = SIGEV_SIGNAL};
    struct timer *it;
    int number;
    if (!is_clock(clock))
        return -EINVAL;
    if (event) {
        if (!are_readable(event, 24))
            return -EFAULT;
        memcpy(&wanted, (const void *)event, 24);
        if (wanted.sigev_notify == SIGEV_THREAD_ID && !thread_of((uint32_t)wanted._sigev_un._tid))
            return -EINVAL;
        if (wanted.sigev_notify != SIGEV_SIGNAL && wanted.sigev_notify != SIGEV_NONE
            && wanted.sigev_notify != SIGEV_THREAD_ID)
            return -EINVAL;
        if (wanted.sigev_notify != SIGEV_NONE && (wanted.sigev_signo < 1 || wanted.sigev_signo > SIGNALS))
            return -EINVAL;
    }
    if (!is_writable(result, sizeof(number)))
        return -EFAULT;
    it = new_timer(POSIX, clock);
    if (!it)
        return -EAGAIN;
    number = (int)(it - timers - INTERVAL_TIMERS);
    it->signal = wanted.sigev_notify == SIGEV_NONE ? NO_SIGNAL : wanted.sigev_signo;
    it->thread = threaded && wanted.sigev_notify == SIGEV_THREAD_ID ? (uint32_t)wanted._sigev_un._tid : 0;
    it->value = event ? (uint64_t)wanted.sigev_value.sival_ptr : (uint64_t)number;
    memcpy((void *)result, &number, sizeof(number));
    return 0;
}

static struct timer *posix_timer(uint64_t number) {
    struct timer *it = &timers[INTERVAL_TIMERS + (uint32_t)number % (MAX_TIMERS - INTERVAL_TIMERS)];
    return (uint32_t)number < MAX_TIMERS - INTERVAL_TIMERS && it->kind == POSIX ? it : NULL;
}

/* ---------------------------------------------------------------- timerfd */

static int64_t create_file(uint64_t clock, uint64_t flags) {
    struct timer *it;
    int64_t file;
    if ((clock != 0 && clock != 1 && clock != 7) || flags & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    file = KERNEL2(__NR_eventfd2, 0, flags);
    if (failed(file))
        return file;
    it = new_timer(TIMER_FILE, clock);
    if (!it || !eventfd_number((int)file, &it->file_id)) {
        KERNEL1(__NR_close, file);
        return -EMFILE;
    }
    it->file = (int)file;
    return file;
}

/* The timer of an open file; NULL: `error` says why there is none. */
static struct timer *timer_of_file(int file, int64_t *error) {
    uint64_t number;
    int i;
    *error = KERNEL3(__NR_fcntl, file, F_GETFD, 0);
    if (failed(*error))
        return NULL;
    *error = -EINVAL;
    if (!eventfd_number(file, &number))
        return NULL;
    for (i = INTERVAL_TIMERS; i < MAX_TIMERS; i++)
        if (timers[i].kind == TIMER_FILE && timers[i].file_id == number && (number || timers[i].file == file)) {
            timers[i].file = file;
            return &timers[i];
        }
    return NULL;
}

static int64_t set_file(const uint64_t *a) {
    int64_t result;
    uint64_t count;
    struct timer *it = timer_of_file((int)a[0], &result);
    struct pollfd wanted = {.fd = (int)a[0], .events = POLLIN};
    if (!it)
        return result;
    if (KERNEL3(__NR_poll, &wanted, 1, 0) == 1)      /* earlier expiries are forgotten */
        KERNEL3(__NR_read, a[0], &count, sizeof(count));
    return change_timer(it, a[2], a[3], 1, a[1] & FLAG_ABSOLUTE);
}

static int64_t get_file(const uint64_t *a) {
    int64_t result;
    struct timer *it = timer_of_file((int)a[0], &result);
    return it ? write_setting(it, a[1], 1) : result;
}

/* ---------------------------------------------------------------- system calls */

static bool interval_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_alarm:
        *result = set_alarm((uint32_t)a[0]);
        return true;
    case __NR_setitimer:
        *result = (uint32_t)a[0] < INTERVAL_TIMERS ? change_timer(&timers[(uint32_t)a[0]], a[1], a[2], MICROSECOND, false)
                                                   : -EINVAL;
        return true;
    case __NR_getitimer:
        *result = (uint32_t)a[0] < INTERVAL_TIMERS ? write_setting(&timers[(uint32_t)a[0]], a[1], MICROSECOND) : -EINVAL;
        return true;
    case __NR_timerfd_create:
        *result = create_file((uint32_t)a[0], (uint32_t)a[1]);
        return true;
    case __NR_timerfd_settime:
        *result = set_file(a);
        return true;
    case __NR_timerfd_gettime:
        *result = get_file(a);
        return true;
    default:
        return false;
    }
}

static bool posix_call(int64_t number, const uint64_t *a, int64_t *result) {
    struct timer *it = posix_timer(a[0]);
    if (number == __NR_timer_create) {
        *result = create_timer((uint32_t)a[0], a[1], a[2]);
        return true;
    }
    if (number != __NR_timer_settime && number != __NR_timer_gettime && number != __NR_timer_getoverrun
        && number != __NR_timer_delete)
        return false;
    if (!it)
        *result = -EINVAL;
    else if (number == __NR_timer_settime)
        *result = change_timer(it, a[2], a[3], 1, a[1] & FLAG_ABSOLUTE);
    else if (number == __NR_timer_gettime)
        *result = write_setting(it, a[1], 1);
    else if (number == __NR_timer_getoverrun)
        *result = (int64_t)(it->overrun < 0x7FFFFFFF ? it->overrun : 0x7FFFFFFF);
    else {
        memset(it, 0, sizeof(*it));
        *result = 0;
    }
    return true;
}

bool timer_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK)
        return host_timer_call(number, a, result);
    return interval_call(number, a, result) || posix_call(number, a, result);
}
