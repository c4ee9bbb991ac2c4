/* The guest's time, random numbers and names. They are fixed by default, so that runs repeat: time passes with the
   instructions that retire, one nanosecond each. */

#include <asm/unistd.h>
#include <linux/sysinfo.h>
#include <linux/time_types.h>
#include <linux/utsname.h>

#include "runtime.h"

enum {
    BILLION = 1000000000, PROCESS_ID = 1000, PARENT_ID = 999, FAULT = 14, NOT_VALID = 22,
    TICKS = 100,                 /* a second, of times(2) */
    CLOCK_REALTIME = 0, CLOCK_REALTIME_COARSE = 5, CLOCK_TAI = 11, ABSOLUTE = 1
};

static const uint64_t MEMORY_BYTES = (uint64_t)8 << 30;

struct world world;
static uint64_t slept;           /* nanoseconds that the guest has slept: they pass at once */

uint64_t next_random(uint64_t *seed) {    /* splitmix64 */
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint64_t instructions_retired(void) {
    return area->totals ? count_runs() : count_words();
}

/* Nanoseconds since the program began. */
static uint64_t elapsed(void) {
    return instructions_retired() + slept;
}

static bool is_real(uint64_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static uint64_t nanoseconds_of(uint64_t clock) {
    bool of_process = clock == 2 || clock == 3 || clock > 11;
    return elapsed() + (is_real(clock) ? world.epoch : of_process ? 0 : world.boot) * BILLION;
}

static int64_t write_time(uint64_t to, uint64_t nanoseconds, uint64_t part) {
    if (!is_writable(to, 16))
        return -FAULT;
    ((uint64_t *)to)[0] = nanoseconds / BILLION;
    ((uint64_t *)to)[1] = nanoseconds % BILLION / part;
    return 0;
}

static int64_t get_time_of_day(const uint64_t *a) {
    if (a[1] && is_writable(a[1], 8))
        *(uint64_t *)a[1] = 0;
    return a[0] ? write_time(a[0], nanoseconds_of(CLOCK_REALTIME), 1000) : 0;
}

static int64_t get_seconds(uint64_t to) {
    uint64_t seconds = nanoseconds_of(CLOCK_REALTIME) / BILLION;
    if (to && !is_writable(to, 8))
        return -FAULT;
    if (to)
        *(uint64_t *)to = seconds;
    return (int64_t)seconds;
}

/* Sleeping takes no time of the host. */
static int64_t sleep(uint64_t clock, bool absolute, const struct __kernel_timespec *time) {
    uint64_t wanted, now;
    if (!is_readable((uint64_t)time) || !is_readable((uint64_t)time + 8))
        return -FAULT;
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= BILLION)
        return -NOT_VALID;
    wanted = (uint64_t)time->tv_sec * BILLION + (uint64_t)time->tv_nsec;
    if (absolute) {
        now = nanoseconds_of(clock);
        wanted = wanted > now ? wanted - now : 0;
    }
    slept += wanted;
    return 0;
}

static int64_t fill_randomly(uint64_t to, uint64_t bytes) {
    uint64_t i, word = 0;
    if (bytes && !is_writable(to, bytes))
        return -FAULT;
    for (i = 0; i < bytes; i++) {
        if (i % 8 == 0)
            word = next_random(&world.seed);
        ((uint8_t *)to)[i] = (uint8_t)(word >> 8 * (i % 8));
    }
    return (int64_t)bytes;
}

static int64_t name_system(uint64_t to) {
    struct new_utsname *name = (struct new_utsname *)to;
    const char *release = (const char *)world.release;
    int64_t result = is_writable(to, sizeof(*name)) ? KERNEL1(__NR_uname, to) : -FAULT;
    uint64_t length = strlen(release);
    if (result)
        return result;
    memset(name->release, 0, sizeof(name->release));
    memcpy(name->release, release, length < sizeof(name->release) ? length : sizeof(name->release) - 1);
    if (!(world.flags & HOST_IDS)) {
        memset(name->nodename, 0, sizeof(name->nodename));
        memcpy(name->nodename, "pfmon", 5);
        memset(name->version, 0, sizeof(name->version));
        memcpy(name->version, "#1", 2);
    }
    return 0;
}

/* Processor time is the time since the program began; other resources are not counted. */
static int64_t get_usage(uint64_t to) {
    if (!is_writable(to, 144))
        return -FAULT;
    memset((void *)to, 0, 144);
    return write_time(to, elapsed(), 1000);
}

static int64_t get_ticks(uint64_t to) {
    uint64_t ticks = elapsed() / (BILLION / TICKS);
    if (to && !is_writable(to, 32))
        return -FAULT;
    if (to) {
        memset((void *)to, 0, 32);
        *(uint64_t *)to = ticks;
    }
    return (int64_t)(world.boot * TICKS + ticks);
}

static int64_t describe_system(uint64_t to) {
    struct sysinfo *it = (struct sysinfo *)to;
    if (!is_writable(to, sizeof(*it)))
        return -FAULT;
    memset(it, 0, sizeof(*it));
    it->uptime = (__kernel_long_t)(nanoseconds_of(1) / BILLION);
    it->totalram = MEMORY_BYTES;
    it->freeram = MEMORY_BYTES / 2;
    it->procs = 1;
    it->mem_unit = 1;
    return 0;
}

static int64_t time_call(int64_t number, const uint64_t *a, bool *emulated) {
    switch (number) {
    case __NR_clock_gettime:
        return write_time(a[1], nanoseconds_of(a[0]), 1);
    case __NR_gettimeofday:
        return get_time_of_day(a);
    case __NR_time:
        return get_seconds(a[0]);
    case __NR_getrusage:
        return get_usage(a[1]);
    case __NR_times:
        return get_ticks(a[0]);
    case __NR_sysinfo:
        return describe_system(a[0]);
    case __NR_nanosleep:
        return sleep(1, false, (const struct __kernel_timespec *)a[0]);
    case __NR_clock_nanosleep:
        return sleep(a[0], a[1] & ABSOLUTE, (const struct __kernel_timespec *)a[2]);
    default:
        *emulated = false;
        return 0;
    }
}

/* The number of this process, which calls take from the guest. */
static uint64_t own_process(uint64_t given) {
    return given == PROCESS_ID ? (uint64_t)KERNEL0(__NR_getpid) : given;
}

static int64_t id_call(int64_t number, const uint64_t *a, bool *emulated) {
    switch (number) {
    case __NR_getpid: case __NR_gettid: case __NR_set_tid_address:
        if (number == __NR_set_tid_address)
            KERNEL1(number, a[0]);
        return PROCESS_ID;
    case __NR_getppid:
        return PARENT_ID;
    case __NR_kill: case __NR_tkill: case __NR_rt_sigqueueinfo: case __NR_setpgid: case __NR_getpgid: case __NR_getsid:
    case __NR_prlimit64: case __NR_sched_getaffinity: case __NR_sched_setaffinity: case __NR_sched_getparam:
    case __NR_sched_getscheduler: case __NR_pidfd_open:
        publish_count();
        return KERNEL4(number, own_process(a[0]), a[1], a[2], a[3]);
    case __NR_tgkill: case __NR_rt_tgsigqueueinfo:
        publish_count();
        return KERNEL4(number, own_process(a[0]), own_process(a[1]), a[2], a[3]);
    default:
        *emulated = false;
        return 0;
    }
}

/* Execute a call that asks for what the host must not decide. Sets `emulated`; false: it is another call, or the host
   may. */
int64_t world_call(int64_t number, const uint64_t *a, bool *emulated) {
    int64_t result;
    *emulated = true;
    if (number == __NR_uname)
        return name_system(a[0]);
    if (number == __NR_getrandom && !(world.flags & HOST_RANDOM))
        return fill_randomly(a[0], a[1]);
    if (!(world.flags & HOST_CLOCK)) {
        result = time_call(number, a, emulated);
        if (*emulated)
            return result;
        *emulated = true;
    }
    if (!(world.flags & HOST_IDS) && !in_child)
        return id_call(number, a, emulated);
    *emulated = false;
    return 0;
}
