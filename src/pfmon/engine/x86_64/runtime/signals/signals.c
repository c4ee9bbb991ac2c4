/* The guest's signals: actions, masks, delivery. The kernel's mask is the guest's, without the signals of faults. */

#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>

#include "runtime.h"
#include "signals.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "waits/waits.h"
#include "world/world.h"

enum { ALTERNATE_BYTES = 1 << 17 };

#define FAULT_SIGNALS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP))
#define IGNORED_SIGNALS (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))
#define STOPPING_SIGNALS (BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define NEVER_BLOCKED (BIT(SIGKILL) | BIT(SIGSTOP))

static struct signals own;
static siginfo_t forced;
static bool is_forced;
static uint64_t suspended_mask;
static bool suspended;
static uint64_t applied = ~(uint64_t)0;      /* the kernel's mask */

bool is_fault_signal(int number) {
    return FAULT_SIGNALS & BIT(number);
}

/* The kernel blocks what all threads block. */
void apply_mask(void) {
    uint64_t host = (threaded ? common_mask() : own.mask) & ~FAULT_SIGNALS;
    if (host != applied)
        KERNEL4(__NR_rt_sigprocmask, SIG_SETMASK, &host, 0, 8);
    applied = host;
}

/* The kernel's mask is the running thread's: a program that it executes has that. */
void use_own_mask(void) {
    applied = own.mask & ~FAULT_SIGNALS;
    KERNEL4(__NR_rt_sigprocmask, SIG_SETMASK, &applied, 0, 8);
}

static void set_mask(uint64_t mask) {
    own.mask = mask & ~NEVER_BLOCKED;
    apply_mask();
    set_pending();
}

void block_signals(void) {
    uint64_t all = ~(uint64_t)0;
    applied = all;
    KERNEL4(__NR_rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
}

void unblock_signals(void) {
    set_mask(own.mask);
}

void save_signals(struct signals *to) {
    memcpy(to, &own, sizeof(own));
}

/* Before unblock_signals(): what a child that shared the memory has changed, and its signals. */
void restore_signals(const struct signals *from, bool without_actions) {
    if (without_actions) {
        own.mask = from->mask;
        own.stack = from->stack;
    } else
        memcpy(&own, from, sizeof(own));
    end_own_signals();
    applied = ~(uint64_t)0;      /* of block_signals() */
    is_forced = suspended = false;
}

/* A new thread has the mask of the one that makes it, and no alternate stack. */
void copy_signals(struct thread_signals *to) {
    *to = (struct thread_signals){.mask = own.mask, .stack = {.ss_flags = SS_DISABLE}};
}

void leave_signals(struct thread_signals *to) {
    *to = (struct thread_signals){own.mask, suspended_mask, suspended, own.stack};
}

void enter_signals(const struct thread_signals *from) {
    own.mask = from->mask;
    own.stack = from->stack;
    suspended_mask = from->suspended_mask;
    suspended = from->suspended;
}

static void set_action(int number, uint64_t handler) {
    struct action it = {handler, SA_SIGINFO | SA_ONSTACK | SA_RESTORER, (uint64_t)return_from_signal, ~(uint64_t)0};
    KERNEL4(__NR_rt_sigaction, number, &it, 0, 8);
}

/* Whether a signal ends the process by default. */
static bool is_fatal(int number) {
    return !((IGNORED_SIGNALS | STOPPING_SIGNALS | BIT(SIGSTOP)) & BIT(number));
}

static bool ends_process(int number) {
    return own.actions[number].handler == 0 && is_fatal(number) && number != SIGKILL;
}

/* Of one of several processes: it ends by a signal when it has the turn. */
void take_fatal_signals(void) {
    int number;
    for (number = 1; number <= SIGNALS; number++)
        if (ends_process(number))
            set_action(number, (uint64_t)enter_handler);
}

void signals_begin(void) {
    stack_t stack = {.ss_size = ALTERNATE_BYTES};
    int number;
    stack.ss_sp = reserve_open(ALTERNATE_BYTES);
    KERNEL2(__NR_sigaltstack, &stack, 0);
    for (number = 1; number <= SIGNALS; number++) {
        KERNEL4(__NR_rt_sigaction, number, 0, &own.actions[number], 8);
        if (is_fault_signal(number))
            set_action(number, (uint64_t)enter_handler);
    }
    if (others_exist())
        take_fatal_signals();
    KERNEL4(__NR_rt_sigprocmask, SIG_BLOCK, 0, &own.mask, 8);
    set_mask(own.mask);
}

/* ---------------------------------------------------------------- delivery */

/* A fault's signal, which is delivered before all others. */
void force_signal(const siginfo_t *info) {
    forced = *info;
    is_forced = true;
    state->pending = 1;
}

void raise_fault(int number, int code, uint64_t address) {
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = code;
    info.si_addr = (void *)address;
    force_signal(&info);
}

static __attribute__((noreturn)) void die(int number, uint64_t ip) {
    struct action standard = {0, 0, 0, 0};
    uint64_t none = 0;
    publish_count();
    if (!in_child) {
        area->fault_ip = ip;
        area->status = KILLED | (uint32_t)number;
    }
    leave_run();
    KERNEL4(__NR_rt_sigaction, number, &standard, 0, 8);
    KERNEL4(__NR_rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
    for (;;)
        KERNEL2(__NR_kill, KERNEL0(__NR_getpid), number);
}

/* Begin a handler; returns its address. */
static uint64_t begin_handler(const siginfo_t *info, uint64_t ip) {
    struct action action = own.actions[info->si_signo];
    const struct interruption from = {info, ip, suspended ? suspended_mask : own.mask, &own.stack};
    if (!push_frame(&from, &action))
        die(SIGSEGV, ip);
    disarm_stack(&own.stack);
    suspended = false;
    if (action.flags & SA_RESETHAND)
        own.actions[info->si_signo].handler = 0;
    set_mask(own.mask | action.mask | (action.flags & SA_NODEFER ? 0 : BIT(info->si_signo)));
    return action.handler;
}

/* A signal without a handler that the kernel has not acted on: a fault's, or one for a thread. */
static void act_by_default(int number, uint64_t ip) {
    if (is_fatal(number))
        die(number, ip);
    if (STOPPING_SIGNALS & BIT(number))
        stop_process();
}

/* Whether a signal has no effect when it arrives. */
bool is_ignored(int number) {
    return own.actions[number].handler == 1 || (own.actions[number].handler == 0 && IGNORED_SIGNALS & BIT(number));
}

/* Deliver what waits, before the instruction at `ip`; returns where to go on. */
uint64_t deliver_signals(uint64_t ip) {
    siginfo_t info;
    uint64_t handler;
    block_signals();
    while (is_forced || take_signal(&info)) {
        if (is_forced)
            info = forced;
        handler = own.actions[info.si_signo].handler;
        if (is_forced && (handler <= 1 || own.mask & BIT(info.si_signo)))
            die(info.si_signo, ip);
        is_forced = false;
        if (handler > 1)
            ip = begin_handler(&info, ip);
        else if (handler == 0)
            act_by_default(info.si_signo, ip);
    }
    state->pending = 0;
    set_mask(suspended ? suspended_mask : own.mask);         /* no handler has begun */
    suspended = false;
    if (threaded)
        wake_interrupted();
    return ip;
}

/* Whether an interrupted call begins anew after the handler (signal(7)). */
bool wants_restart(int64_t number) {
    const siginfo_t *next;
    switch (number) {
    case __NR_pause: case __NR_rt_sigsuspend: case __NR_rt_sigtimedwait: case __NR_nanosleep: case __NR_clock_nanosleep:
    case __NR_poll: case __NR_ppoll: case __NR_select: case __NR_pselect6: case __NR_epoll_wait: case __NR_epoll_pwait:
    case __NR_msgrcv: case __NR_msgsnd: case __NR_semop: case __NR_semtimedop:
        return false;
    case __NR_fork: case __NR_vfork: case __NR_clone:
        return true;
    case __NR_futex:
        if (state->registers[R10])
            return false;        /* it has a time limit */
        break;
    default:
        break;
    }
    next = next_signal();
    return !next || own.actions[next->si_signo].flags & SA_RESTART;
}

/* ---------------------------------------------------------------- system calls */

/* rt_sigreturn: returns where to go on. */
uint64_t return_from_handler(void) {
    uint64_t ip, mask;
    if (!pop_frame(&ip, &mask, &own.stack))
        die(SIGSEGV, 0);
    set_mask(mask);
    return ip;
}

static int64_t change_action(uint64_t number, const struct action *to, struct action *old, uint64_t size) {
    struct action before;
    if (number < 1 || number > SIGNALS || size != 8 || (to && (number == SIGKILL || number == SIGSTOP)))
        return -EINVAL;
    before = own.actions[number];
    if (to) {
        if (!is_readable((uint64_t)to) || !is_readable((uint64_t)to + sizeof(*to) - 8))
            return -EFAULT;
        own.actions[number] = *to;
        if (!is_fault_signal((int)number) && to->handler <= 1 && !(others_exist() && ends_process((int)number)))
            KERNEL4(__NR_rt_sigaction, number, to, 0, 8);
        else
            set_action((int)number, (uint64_t)enter_handler);
    }
    if (old) {
        if (!is_writable((uint64_t)old, sizeof(*old)))
            return -EFAULT;
        *old = before;
    }
    return 0;
}

static int64_t change_mask(uint64_t how, const uint64_t *set, uint64_t *old, uint64_t size) {
    uint64_t before = own.mask, wanted;
    if (size != 8)
        return -EINVAL;
    if (set) {
        if (!is_readable((uint64_t)set))
            return -EFAULT;
        wanted = *set;
        if (how > SIG_SETMASK)
            return -EINVAL;
        set_mask(how == SIG_BLOCK ? before | wanted : how == SIG_UNBLOCK ? before & ~wanted : wanted);
    }
    if (old) {
        if (!is_writable((uint64_t)old, 8))
            return -EFAULT;
        *old = before;
    }
    return 0;
}

uint64_t signal_mask(void) {
    return own.mask;
}

/* Set the mask for the time of a call that waits. */
int64_t begin_wait_mask(uint64_t at, uint64_t bytes) {
    if (bytes != 8)
        return -EINVAL;
    if (!are_readable(at, 8))
        return -EFAULT;
    suspended_mask = own.mask;
    set_mask(*(const uint64_t *)at);
    return 0;
}

/* After the call: the mask of before, or of a handler that begins now, which leads back to it. */
int64_t end_wait_mask(int64_t result) {
    suspended = state->pending;
    if (!suspended)
        set_mask(suspended_mask);
    return result;
}

static int64_t suspend(uint64_t mask, uint64_t bytes) {
    int64_t result = begin_wait_mask(mask, bytes);
    return result ? result : end_wait_mask(wait_for_signal(NEVER));
}

bool is_signal_call(int64_t number) {
    return number == __NR_rt_sigaction || number == __NR_rt_sigprocmask || number == __NR_sigaltstack
        || number == __NR_rt_sigsuspend;
}

int64_t signal_call(int64_t number, const uint64_t *a) {
    switch (number) {
    case __NR_rt_sigaction:
        return change_action(a[0], (const struct action *)a[1], (struct action *)a[2], a[3]);
    case __NR_rt_sigprocmask:
        return change_mask(a[0], (const uint64_t *)a[1], (uint64_t *)a[2], a[3]);
    case __NR_sigaltstack:
        return change_stack(&own.stack, (const stack_t *)a[0], (stack_t *)a[1]);
    default:
        return suspend(a[0], a[1]);
    }
}
