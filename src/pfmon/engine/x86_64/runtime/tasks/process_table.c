/* The processes of a run: their places in the table that they share (schedule.h), and their numbers. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>

#include "runtime.h"
#include "schedule.h"
#include "world/world.h"

struct schedule *schedule;
uint32_t own_place;
uint32_t new_number;             /* of the latest process that this one has made */

bool others_exist(void) {
    return schedule && schedule->on && schedule->live > 1;
}

/* ---------------------------------------------------------------- places and numbers */

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

/* What the process has borrowed is its lender's again (vfork). */
void return_to_lender(struct process *it) {
    if (it->lender)
        schedule->processes[it->lender - 1].stage = ABLE;
    it->lender = 0;
}

/* A process is dead: its place is free. */
void remove_process(uint32_t place) {
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
    return NO_PLACE;
}

/* A process of the schedule, by the host's number; NULL: it is none. */
const struct process *process_of_host(uint32_t host) {
    uint32_t place = schedule->on ? place_of_host(host) : NO_PLACE;
    return place == NO_PLACE ? NULL : &schedule->processes[place];
}

/* A child has been waited for. */
void reaped(uint32_t host) {
    uint32_t place = schedule ? place_of_host(host) : NO_PLACE;
    if (place != NO_PLACE)
        remove_process(place);
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
    if (own_place == NO_PLACE)
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
