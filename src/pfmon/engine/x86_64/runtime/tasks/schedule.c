/* Who executes: of several processes one at a time, so that the order repeats.

   A process that has to wait calls pass_turn(), and tries again when it returns. The next process in the order of their places
   that can run gets the turn; one that waits is asked whenever something has happened since it last tried. When all wait, time
   passes to the next deadline at once; where something outside of the run may end a wait, the host's time passes. Nothing can end
   any wait: a deadlock. A process that died with the turn is noticed by those that wait for it. */

#include "performance/performance.h"
#include "schedule.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/signal.h>
#include <linux/time_types.h>

#include "runtime.h"
#include "threads/thread.h"
#include "world/world.h"

enum { NONE = MAX_PROCESSES, MOST_TOLD = 8, FIRST_SLICE = 1000000, MOST_DOUBLED = 5 };
static const uint64_t WATCH = 20000000, SELDOM = 1000000000;     /* nanoseconds from one look at the holder to the next */

struct schedule *schedule;
uint32_t own_place;
bool outside_may_end;
uint32_t new_number;             /* of the latest process that this one has made */

static struct process *own(void) {
    return &schedule->processes[own_place];
}

bool others_exist(void) {
    return schedule && schedule->on && schedule->live > 1;
}

/* ---------------------------------------------------------------- the table */

static uint32_t free_place(void) {
    uint32_t i;
    for (i = 0; i < MAX_PROCESSES && schedule->processes[i].stage != NOBODY; i++)
        ;
    return i;
}

/* The next number that no process of the run has. */
static uint32_t next_number(void) {
    uint32_t number;
    if (!schedule->on && schedule->begun)
        return __atomic_add_fetch(&schedule->last_number, 1, __ATOMIC_RELAXED) % MAX_NUMBERS;
    do
        number = schedule->last_number = schedule->last_number + 1 < MAX_NUMBERS ? schedule->last_number + 1 : FIRST_NUMBER + 1;
    while (schedule->hosts[number] && !is_dead(schedule->hosts[number]) && schedule->live < MAX_NUMBERS / 2);
    return number;
}

/* A number for a thread: those of threads and of processes are different. The host's own are smaller than HOST_NUMBERS. */
uint32_t new_thread_number(uint32_t threads) {
    enum { HOST_NUMBERS = 1 << 22 };
    return world.flags & HOST_IDS ? HOST_NUMBERS + threads : next_number();
}

/* A place for a child, whose number is the next one; an error. */
int64_t new_process(void) {
    uint32_t place = free_place();
    struct process *it = &schedule->processes[place];
    if (!schedule->on && schedule->begun) {
        new_number = next_number();
        return own_place;
    }
    if (place == MAX_PROCESSES)
        return -EAGAIN;
    memset(it, 0, sizeof(*it));
    it->number = new_number = next_number();
    it->stage = ABLE;
    if (place >= schedule->places)
        schedule->places = place + 1;
    schedule->live++;
    return place;
}

/* `number`: new_number when the place was given. */
void know_process(uint32_t place, uint32_t number, uint32_t host) {
    if (schedule->on || !schedule->begun)
        schedule->processes[place].host = host;
    know_number(host, number);
}

void cancel_process(uint32_t place) {
    if (!schedule->on)
        return;
    schedule->processes[place].stage = NOBODY;
    schedule->last_number--;
    schedule->live--;
}

void become_process(uint32_t place) {
    own_place = place;
}

static void return_to_lender(struct process *it) {
    if (it->lender)
        schedule->processes[it->lender - 1].stage = ABLE;
    it->lender = 0;
}

/* A process is dead. */
void bury(uint32_t place) {
    struct process *it = &schedule->processes[place];
    if (it->stage == NOBODY)
        return;
    if (it->stage == OUTSIDE)
        schedule->natives--;
    return_to_lender(it);
    it->stage = NOBODY;
    it->doomed = false;
    schedule->live--;
    schedule->events++;
}

static uint32_t place_of_host(uint32_t host) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++)
        if (schedule->processes[i].stage != NOBODY && schedule->processes[i].host == host)
            return i;
    return NONE;
}

/* A child has been waited for. */
void reaped(uint32_t host) {
    uint32_t place = schedule ? place_of_host(host) : NONE;
    if (place != NONE)
        bury(place);
}

/* ---------------------------------------------------------------- the turn */

static int64_t futex(uint32_t *word, int what, uint32_t value, uint64_t nanoseconds) {
    struct __kernel_timespec time = {(int64_t)nanoseconds / BILLION, (int64_t)nanoseconds % BILLION};
    return KERNEL6(__NR_futex, word, what, value, nanoseconds ? &time : NULL, 0, 0);
}

/* What the process that has the turn now finds. */
static void take_up(void) {
    own()->turn = 0;
    own()->stage = ABLE;
    if (schedule->dying) {
        wait_for_death(schedule->dying);
        wait_for_doomed();
        schedule->dying = 0;
    }
    if (schedule->stopping) {
        wait_for_stop(schedule->stopping);
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
        bury(holder);
    return true;
}

void wait_for_turn(void) {
    if (!schedule || !schedule->on)
        return;
    while (!__atomic_load_n(&own()->turn, __ATOMIC_ACQUIRE)) {
        int64_t result = futex(&own()->turn, FUTEX_WAIT, 0, schedule->giver == own_place ? WATCH : SELDOM);
        if (result == -ETIMEDOUT && !__atomic_load_n(&own()->turn, __ATOMIC_ACQUIRE) && take_over())
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
        bury(place);
    return false;
}

static bool is_ready(const struct process *it) {
    if (it->stopped || it->doomed)
        return false;
    return it->stage == ABLE || (it->stage == WAITING && (it->seen != schedule->events || it->deadline <= schedule->clock));
}

/* The next process that can run, itself as the last one; NONE. */
static uint32_t next_ready(void) {
    uint32_t k, place;
    for (k = 1; k <= schedule->places; k++) {
        place = (own_place + k) % schedule->places;
        if (is_ready(&schedule->processes[place]))
            return place;
    }
    return NONE;
}

/* A process that cannot go on gives the turn away; false: nobody can run. */
static bool give_to_next(void) {
    uint32_t next;
    while ((next = next_ready()) != NONE)
        if (give_turn(next))
            return true;
    return false;
}

/* Whether it has, and not yet waited for another one. */
static bool gave_turn;

static void wait_if_given(void) {
    if (gave_turn || schedule->holder != own_place || own()->turn)
        wait_for_turn();
    gave_turn = false;
}

/* ---------------------------------------------------------------- all wait */

static void put_call(struct text *to, uint32_t call) {
    static const struct { uint16_t number; const char *name; } names[] = {
        {__NR_read, "read"}, {__NR_readv, "readv"}, {__NR_write, "write"}, {__NR_writev, "writev"}, {__NR_wait4, "wait4"},
        {__NR_waitid, "waitid"}, {__NR_futex, "futex"}, {__NR_poll, "poll"}, {__NR_ppoll, "ppoll"}, {__NR_select, "select"},
        {__NR_pselect6, "pselect6"}, {__NR_epoll_wait, "epoll_wait"}, {__NR_epoll_pwait, "epoll_pwait"}, {__NR_pause, "pause"},
        {__NR_flock, "flock"}, {__NR_fcntl, "fcntl"}, {__NR_rt_sigsuspend, "rt_sigsuspend"}, {__NR_semop, "semop"},
        {__NR_rt_sigtimedwait, "rt_sigtimedwait"}, {__NR_msgrcv, "msgrcv"}, {__NR_msgsnd, "msgsnd"}, {__NR_accept, "accept"},
        {__NR_accept4, "accept4"}, {__NR_connect, "connect"}, {__NR_recvfrom, "recvfrom"}, {__NR_recvmsg, "recvmsg"},
        {__NR_sendto, "sendto"}, {__NR_sendmsg, "sendmsg"}, {__NR_open, "open"}, {__NR_openat, "openat"},
    };
    uint32_t i;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == call) {
            put_text(to, names[i].name);
            return;
        }
    put_text(to, "system call ");
    put_number(to, call);
}

static void tell_deadlock(void) {
    static struct text text;
    uint32_t i, told = 0;
    begin_text(&text, NO_FILE);
    for (i = 0; i < schedule->places; i++) {
        const struct process *it = &schedule->processes[i];
        if (it->stage != WAITING || told++ >= MOST_TOLD)
            continue;
        put_text(&text, text.length ? "; process " : "process ");
        put_number(&text, world.flags & HOST_IDS ? it->host : it->number);
        put_text(&text, " waits in ");
        put_call(&text, it->call);
    }
    if (told > MOST_TOLD) {
        put_text(&text, "; and ");
        put_number(&text, told - MOST_TOLD);
        put_text(&text, " more");
    }
    schedule->deadlock_bytes = text.length < MAX_DEADLOCK_BYTES ? text.length : MAX_DEADLOCK_BYTES;
    memcpy(schedule->deadlock, text.bytes, schedule->deadlock_bytes);
    schedule->deadlocked = 1;
}

static void kill_all_others(void) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++)
        if (i != own_place && schedule->processes[i].stage != NOBODY && schedule->processes[i].host)
            KERNEL2(__NR_kill, schedule->processes[i].host, SIGKILL);
}

/* Nothing can end any wait: all end. */
static __attribute__((noreturn)) void end_all(void) {
    while (in_child && is_dead(schedule->first))
        KERNEL0(__NR_pause);     /* what is left of a program that has ended: it ends with the run */
    tell_deadlock();
    kill_all_others();
    for (;;)
        KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
}

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
            bury(i);
        else if (it->stage == OUTSIDE || (it->stage == WAITING && it->from_outside))
            found = true;
    }
    return found || own()->from_outside;
}

/* The process that has not waited in the host for longest, of those whose wait something outside may end; NONE. */
static uint32_t next_outside(void) {
    uint32_t i, found = NONE;
    for (i = 0; i < schedule->places; i++) {
        const struct process *it = &schedule->processes[i];
        if (it->stage == WAITING && it->from_outside && !it->stopped
            && (found == NONE || it->slices < schedule->processes[found].slices))
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

/* ---------------------------------------------------------------- giving it away */

/* The process waits, until the deadline at most: others execute. True: it is to try again; false: it is to wait in the host, for
   an idle_slice(). */
bool pass_turn(uint64_t deadline) {
    struct process *it = own();
    uint32_t next;
    if (!others_exist())
        return false;
    it->stage = WAITING;
    it->deadline = deadline;
    it->seen = schedule->events;
    it->from_outside = outside_may_end;
    it->call = (uint32_t)state->registers[RAX];
    schedule->clock = elapsed();
    hand_over_words();
    publish_count();
    for (;;) {
        next = next_ready();
        if (next == NONE && something_outside()) {
            next = next_outside();
            if (next == NONE) {
                sleep_idly();
                continue;
            }
            if (next == own_place) {
                it->slices = ++schedule->slices;
                it->stage = ABLE;
                set_elapsed(schedule->clock);
                return false;
            }
        } else if (next == NONE) {
            if (next_ready() == NONE && !skip_time()) {
                if (!any_stopped())
                    end_all();
                sleep_idly();
            }
            continue;
        }
        if (next == own_place) {
            it->stage = ABLE;
            set_elapsed(schedule->clock);
            return true;
        }
        if (give_turn(next)) {
            wait_for_turn();
            return true;
        }
    }
}

/* The process goes on after others that can run. */
void yield_turn(void) {
    uint32_t next;
    if (!others_exist())
        return;
    schedule->clock = elapsed();
    hand_over_words();
    publish_count();
    while ((next = next_ready()) != own_place)
        if (give_turn(next)) {
            wait_for_turn();
            return;
        }
}

/* The first process has ended, or is this one that ends, and those that are left are stopped: nobody lets them go on. */
static bool only_stopped_are_left(void) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++)
        if (schedule->processes[i].stage != NOBODY && !schedule->processes[i].stopped)
            return false;
    return schedule->first == schedule->dying || is_dead(schedule->first);
}

/* The process is about to stop: others execute. */
void begin_stop(void) {
    own()->stopped = 1;
    schedule->stopping = (uint32_t)KERNEL0(__NR_getpid);
    schedule->events++;
    schedule->clock = elapsed();
    hand_over_words();
    publish_count();
    gave_turn = give_to_next();
    if (!gave_turn && only_stopped_are_left()) {
        kill_all_others();
        KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
    }
}

/* It goes on, or did not stop. */
void end_stop(void) {
    own()->stopped = 0;
    if (schedule->stopping == own()->host)
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
    bury(own_place);
    doom_children(schedule->dying);
    if (!give_to_next() && only_stopped_are_left())
        kill_all_others();
}

/* ---------------------------------------------------------------- vfork, exec */

/* The child at this place has the memory, and the turn. */
void lend_memory(uint32_t place) {
    if (!schedule->on)
        return;
    own()->stage = LENDS;
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
    own()->stage = ABLE;
}

/* Before the process executes a program; `back`: it could not. */
void return_memory(bool back) {
    static uint32_t lender;
    if (!schedule->on)
        return;
    if (back) {
        own()->lender = lender;
        if (lender)
            schedule->processes[lender - 1].stage = LENDS;
        return;
    }
    lender = own()->lender;
    return_to_lender(own());
}

/* The host executes the process's program from here on, or, `native` being false, it could not. */
void become_native(bool native) {
    if (!schedule->on)
        return;
    schedule->natives += native ? 1 : -1;
    if (native) {
        own()->stage = OUTSIDE;
        schedule->events++;
        schedule->clock = elapsed();
        gave_turn = give_to_next();
    } else {
        own()->stage = ABLE;
        wait_if_given();
    }
}

/* ---------------------------------------------------------------- the beginning */

static void begin_first(bool on) {
    struct stat status;
    int i;
    schedule->last_number = FIRST_NUMBER - 1;
    schedule->first = (uint32_t)KERNEL0(__NR_getpid);
    schedule->group = (uint32_t)KERNEL1(__NR_getpgid, 0);
    schedule->session = (uint32_t)KERNEL1(__NR_getsid, 0);
    schedule->reaper = (uint32_t)KERNEL0(__NR_getppid);
    for (i = 0; i < 3; i++)
        if (KERNEL2(__NR_fstat, i, &status) == 0) {
            schedule->standard[i].device = status.st_dev;
            schedule->standard[i].inode = status.st_ino;
        }
    own_place = (uint32_t)new_process();
    know_number(schedule->session, FIRST_NUMBER);
    know_number(schedule->group, FIRST_NUMBER);
    know_process(own_place, new_number, schedule->first);
    schedule->on = on;
    schedule->begun = 1;
}

/* With the file of the run's schedule; NO_FILE: this process begins one of its own. */
void run_begin(int file, bool on) {
    uint64_t bytes = whole_pages(sizeof(struct schedule));
    int64_t place = KERNEL6(__NR_mmap, own_address(bytes), bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED_NOREPLACE | (file == NO_FILE ? MAP_ANONYMOUS : 0), file, 0);
    if (failed(place))
        give_up(NO_MEMORY);
    keep_from_guest((uint64_t)place, bytes, PROT_READ | PROT_WRITE);
    schedule = (struct schedule *)place;
    if (file != NO_FILE)
        KERNEL1(__NR_close, file);
    if (!schedule->begun) {
        begin_first(on);
        return;
    }
    own_place = place_of_host((uint32_t)KERNEL0(__NR_getpid));
    if (own_place == NONE)
        give_up(INTERRUPTED);
    set_elapsed(schedule->clock);
}

/* The host's numbers of the first process, if it is another one. */
void know_first(uint32_t process, uint32_t group, uint32_t session) {
    memset(schedule->known, 0, sizeof(schedule->known));
    know_number(session, FIRST_NUMBER);
    know_number(group, FIRST_NUMBER);
    know_number(process, FIRST_NUMBER);
    schedule->first = process;
    schedule->group = group;
    schedule->session = session;
}
