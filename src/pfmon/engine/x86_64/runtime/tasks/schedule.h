/* The schedule of the processes of a run, in memory that they share: one of them executes at a time, and has the turn. It gives
   the turn away when it waits, and when it ends. Only the process that has the turn changes what is here. */

#ifndef PFMON_X86_64_SCHEDULE_H
#define PFMON_X86_64_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MAX_PROCESSES = 4096,        /* at a time */
    NO_PLACE = MAX_PROCESSES,
    FIRST_NUMBER = 1000, MAX_NUMBERS = 1 << 15, KNOWN = 1 << 16, MAX_DEADLOCK_BYTES = 4088,
    NO_PROCESS = 0x7FFFFFFF      /* a number that the host never gives */
};

enum process_stage {
    NOBODY,
    ABLE,                        /* it can execute */
    WAITING,
    LENDS,                       /* its memory, until its child executes a program or ends (vfork) */
    OUTSIDE                      /* the host executes its program, whenever it can */
};

struct process {
    uint32_t number, host;       /* the run's, and the host's; 0: not known yet */
    uint32_t stage;              /* enum process_stage */
    uint32_t turn;               /* 1: it has the turn; it waits for that (futex) */
    uint64_t deadline;           /* of its wait, in time elapsed */
    uint64_t seen;               /* `events` when it last tried to end its wait */
    uint64_t slices;             /* `slices` when it last waited in the host */
    uint32_t call;               /* number of the system call that waits */
    uint8_t from_outside;        /* something outside of the run may end its wait */
    uint8_t stopped;             /* by a signal of the run */
    uint8_t doomed;              /* the kernel ends it with its parent, which is ending */
    uint8_t unused;
    uint32_t dies_with;          /* the host's number of the parent whose end kills it (PR_SET_PDEATHSIG); 0: none */
    uint32_t lender;             /* place of the process that lends it its memory, and one; 0: none */
};

struct known {                   /* a process, a group or a session */
    uint32_t host, number;
};

struct schedule {
    uint32_t deadlock_bytes;     /* of a text for the user; 0: none (x86_64_guest.py) */
    uint32_t deadlocked;
    char deadlock[MAX_DEADLOCK_BYTES];
    uint32_t begun, on;          /* on: one executes at a time */
    uint32_t holder, giver;      /* places of the process that has the turn, and of the one that gave it */
    uint32_t dying, stopping;    /* host's numbers of processes that have given it by their end, and by a stop; 0: none */
    uint32_t places, live, natives;      /* places that were used; processes; those of them that are OUTSIDE */
    uint32_t last_number;
    uint32_t first, group, session, reaper;      /* the host's numbers of the first process, its group, session and parent */
    uint32_t idle;               /* waits in the host since something happened */
    uint64_t clock;              /* time elapsed when the turn was given */
    uint64_t events;             /* system calls and ends so far */
    uint64_t slices;
    struct { uint64_t device, inode; } standard[3];      /* the run's standard files */
    struct known known[KNOWN];
    uint32_t hosts[MAX_NUMBERS];
    struct process processes[MAX_PROCESSES];
};

extern struct schedule *schedule;
extern uint32_t own_place;
extern uint32_t new_number;      /* of the latest process that this one has made */
extern bool outside_may_end;     /* the wait of the process that calls pass_turn() */

static inline struct process *own_process(void) {
    return &schedule->processes[own_place];
}

/* process_table.c */
void run_begin(int file, bool on);
void know_first(uint32_t process, uint32_t group, uint32_t session);
bool others_exist(void);
int64_t new_process(void);
uint32_t new_thread_number(uint32_t threads);
void know_process(uint32_t place, uint32_t number, uint32_t host);
void cancel_process(uint32_t place);
void become_process(uint32_t place);
void return_to_lender(struct process *it);
void remove_process(uint32_t place);
const struct process *process_of_host(uint32_t host);
void reaped(uint32_t host);

/* turns.c */
bool pass_turn(uint64_t deadline);
uint64_t idle_slice(uint64_t most);
void yield_turn(void);
void after_call(void);
void begin_stop(void);
void end_stop(void);
void wait_for_turn(void);
void leave_run(void);
void lend_memory(uint32_t place);
void get_memory_back(uint32_t place, bool made);
void return_memory(bool back);
void become_native(bool native);

/* run_deadlocks.c */
void end_run_in_deadlock(void) __attribute__((noreturn));

/* deaths.c */
enum { MOST_MOMENTS = 1000 };    /* milliseconds until a process has stopped, or ended */
bool is_dead(uint32_t host);
char state_of(uint32_t host);
void wait_for_death(uint32_t host);
bool stops_within(uint32_t host, int moments);
int64_t set_parent_death_signal(const uint64_t *a);
void doom_children(uint32_t host);
void follow_death(void);

/* sent_signals.c */
void stop_process(void);
void kill_others(void);
bool sent_signal_call(int64_t number, const uint64_t *a, int64_t *result);

/* numbers.c: numbers of processes, groups and sessions, the run's and the host's */
void know_number(uint32_t host, uint32_t number);
int64_t number_of_host(int64_t host);
uint64_t host_of_number(uint64_t number);
uint64_t host_of_group(uint64_t number);
uint64_t host_of_process_or_group(uint64_t number);
bool is_of_run(uint32_t host);

#endif
