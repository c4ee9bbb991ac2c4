/* The guest's threads. The runtime has one thread of the kernel's: a guest thread is a coroutine of the runtime, with a C stack of
   its own, and has the processor until its turn is over or it waits. */

#ifndef PFMON_X86_64_THREAD_H
#define PFMON_X86_64_THREAD_H

#include "interpreter/python.h"
#include "runtime.h"
#include "signals/extended_state.h"
#include "signals/signals.h"
#include "world/world.h"

enum { MOST_THREADS = 4096, NAME_BYTES_OF_THREAD = 16 };

enum status { RUNS, READY, WAITS };

struct wait;

struct context {                 /* what a thread has in the processor and in `state`, while another one runs */
    uint64_t stack;              /* the C stack pointer in switch_stacks() */
    uint64_t registers[16], flags, target, fs, gs, runtime_stack;
    uint64_t python[4];
    struct python_stack python_stack;
    struct thread_signals signals;
    uint8_t extended[MOST_EXTENDED_BYTES] __attribute__((aligned(64)));
};

struct futex_wait {              /* of a thread that waits for a word */
    uint64_t word;               /* its address, 0: none */
    uint32_t bits;
    bool hands_over;             /* a lock with an owner (FUTEX_LOCK_PI) */
    struct guest_thread *behind;       /* which began to wait later */
};

enum { MAX_OPEN_REGIONS = 16 };

struct thread_regions {          /* that a thread is in (region_marks.c) */
    uint64_t open[MAX_OPEN_REGIONS];     /* a number for each start without a stop */
    uint32_t count;
    bool lost;                   /* there were more: nobody knows when it leaves them all */
};

struct guest_thread {
    struct guest_thread *next;         /* in order of creation */
    struct guest_thread *behind;       /* in the queue of those that can run */
    uint32_t number;             /* how many threads the process had before it */
    uint32_t id;                 /* that the guest sees */
    uint8_t status;
    bool woken;
    uint64_t deadline;           /* of its wait, in time elapsed; NEVER */
    const struct wait *wait;     /* what is tried again; NULL: nothing */
    bool has_result;             /* an attempt of its wait has succeeded */
    int64_t result;
    const char *text;            /* what it waits for */
    struct futex_wait futex;
    uint64_t clear_id;           /* an address, set to 0 when it ends (set_tid_address(2)); 0: none */
    uint64_t robust_list;
    uint64_t retired;            /* instructions before its turn */
    char name[NAME_BYTES_OF_THREAD];
    struct stack *runtime_stack; /* NULL: the process's first one */
    struct thread_regions regions;
    struct context context;
};

extern struct guest_thread *threads;   /* the first one */
extern struct guest_thread *running;
extern bool threaded;            /* there are several */
extern struct guest_thread *tried;     /* whose wait is tried: the running one's, or another one's */

/* threads.c */
void threads_begin(void);
int64_t make_thread(uint64_t flags, uint64_t stack, const uint64_t *a);
uint64_t end_thread(uint64_t status);
struct thread_list {             /* what a child that shares the memory changes */
    struct guest_thread *first, *next;
    uint32_t count, numbers, id, number;
    uint64_t clear_id, robust_list;
    bool threaded;
};

void save_threads(struct thread_list *to);
void restore_threads(const struct thread_list *from);
void forget_other_threads(void);
struct guest_thread *thread_of(uint32_t id);
const struct guest_thread *named_thread(void);       /* paths.c */
uint32_t thread_count(void);
void take_name_of(const struct guest_thread *thread, char *to);

/* contexts.c, switch.S */
void begin_thread(void);
void copy_context(struct guest_thread *to);
void switch_to(struct guest_thread *next);
void switch_stacks(uint64_t *from, uint64_t to);
extern const char first_of_thread[];

/* schedule.c */
void wake_interrupted(void);
void schedule_begin(uint64_t quantum, uint64_t seed);
void make_ready(struct guest_thread *thread);
void leave_schedule(void) __attribute__((noreturn));
bool has_woken(void);
void end_turn(void);
void wait_in_schedule(uint64_t deadline);
void forget_schedule(void);
uint64_t turn_left(void);
uint64_t turns_so_far(void);
void begin_turns(void);
void renew_turn(void);
void pass_countdown(void);
uint64_t retired_by(const struct guest_thread *thread);

/* deadlocks.c */
void end_in_deadlock(void) __attribute__((noreturn));

/* futexes.c, locks.c, robust_lists.c */
bool thread_futex_call(const uint64_t *a, int64_t *result);
int64_t wait_for_word(uint64_t word, uint32_t bits, uint64_t deadline, bool hands_over);
int64_t wake_word(uint64_t word, uint64_t most, uint32_t bits);
void wake_in_all_processes(uint64_t word);
void forget_waiters(void);
void stop_waiting_for_word(struct guest_thread *thread);
struct guest_thread *first_waiter(uint64_t word);
int64_t lock_word(uint64_t word, uint64_t deadline, bool attempt);
int64_t unlock_word(uint64_t word);
void hand_over_lock(uint64_t word, uint32_t died);
void leave_robust_list(struct guest_thread *thread);
void leave_robust_lists(void);

/* thread_calls.c */
int64_t send_to_thread(uint32_t id, const siginfo_t *info);
void name_process(int64_t number, uint64_t *a);
bool thread_call(int64_t number, const uint64_t *a, int64_t *result);

/* host_timers.c */
extern bool has_host_timers;
bool host_timer_call(int64_t number, const uint64_t *a, int64_t *result);
struct guest_thread *take_host_timer(siginfo_t *info);

#endif
