/* System calls about threads, which the kernel does not know: numbers, names, signals for one thread, turns. */

#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/prctl.h>

#include "tasks/schedule.h"
#include "thread.h"

enum { ROBUST_LIST_BYTES = 24 };

/* ---------------------------------------------------------------- signals for one thread */

static int64_t send(struct guest_thread *to, const siginfo_t *info) {
    bool added;
    if (is_ignored(info->si_signo) && !(mask_of(to) & BIT(info->si_signo)))
        return 0;
    block_signals();
    added = add_signal(info, to);
    apply_mask();
    set_pending();
    wake_interrupted();
    return added ? 0 : -EAGAIN;
}

/* A signal for a thread of this process; its timers send such ones, too. */
int64_t send_to_thread(uint32_t id, const siginfo_t *info) {
    struct guest_thread *to = thread_of(id);
    return to ? send(to, info) : -ESRCH;
}

static bool is_for_process(uint64_t signal) {
    return signal == SIGKILL || signal == SIGSTOP;
}

/* tkill, tgkill, rt_tgsigqueueinfo; `given`: what the signal carries, or NULL. False: the kernel does it. */
static bool signal_thread(uint64_t id, uint64_t signal, const siginfo_t *given, int64_t *result) {
    struct guest_thread *to = (int32_t)id > 0 ? thread_of((uint32_t)id) : NULL;
    siginfo_t info;
    if (!to)
        return false;
    if (is_for_process(signal))
        return sent_signal_call(__NR_kill, (const uint64_t[6]){process_id(), signal}, result);
    if (signal > SIGNALS) {
        *result = -EINVAL;
        return true;
    }
    memset(&info, 0, sizeof(info));
    info.si_code = SI_TKILL;
    info.si_pid = (int)process_id();
    info.si_uid = user_id();
    if (given)
        info = *given;
    info.si_signo = (int)signal;
    *result = signal ? send(to, &info) : 0;
    return true;
}

static bool is_own_process(uint64_t process) {
    return (uint32_t)process == process_id();
}

static bool signal_call_of_thread(int64_t number, const uint64_t *a, int64_t *result) {
    if (!threaded)
        return false;
    if (number == __NR_tkill)
        return signal_thread(a[0], a[1], NULL, result);
    if (!is_own_process(a[0]))
        return false;
    if ((int32_t)a[1] > 0 && !thread_of((uint32_t)a[1])) {
        *result = -ESRCH;
        return true;
    }
    if (number == __NR_tgkill)
        return signal_thread(a[1], a[2], NULL, result);
    if (are_readable(a[3], sizeof(siginfo_t)))
        return signal_thread(a[1], a[2], (const siginfo_t *)a[3], result);
    *result = -EFAULT;
    return true;
}

/* Signals that wait in the kernel, and here. */
static int64_t show_pending(const uint64_t *a) {
    uint64_t set;
    int64_t result;
    if (a[1] > sizeof(set))
        return -EINVAL;
    result = KERNEL2(__NR_rt_sigpending, &set, sizeof(set));
    if (result)
        return result;
    set |= waiting_signals(running);
    if (!is_writable(a[0], a[1]))
        return -EFAULT;
    memcpy((void *)a[0], &set, a[1]);
    return 0;
}

/* ---------------------------------------------------------------- names, lists */

static int64_t set_name(uint64_t from) {
    uint32_t i;
    memset(running->name, 0, sizeof(running->name));
    for (i = 0; i < sizeof(running->name) - 1; i++) {
        if ((i == 0 || (from + i) % PAGE == 0) && !is_readable(from + i))
            return -EFAULT;
        if (!*(const char *)(from + i))
            break;
        running->name[i] = *(const char *)(from + i);
    }
    if (!running->runtime_stack || !threaded)
        KERNEL2(__NR_prctl, PR_SET_NAME, running->name);
    return 0;
}

static int64_t get_name(uint64_t to) {
    if (!is_writable(to, sizeof(running->name)))
        return -EFAULT;
    take_name_of(running, (char *)to);
    return 0;
}

static bool name_call(const uint64_t *a, int64_t *result) {
    if (a[0] == PR_SET_NAME)
        *result = set_name(a[1]);
    else if (a[0] == PR_GET_NAME)
        *result = get_name(a[1]);
    else
        return false;
    return true;
}

static int64_t set_list(const uint64_t *a) {
    if (a[1] != ROBUST_LIST_BYTES)
        return -EINVAL;
    running->robust_list = a[0];
    return 0;
}

static int64_t get_list(const uint64_t *a) {
    const struct guest_thread *thread = thread_of((uint32_t)a[0]);
    if (!thread)
        return -ESRCH;
    if (!is_writable(a[1], 8) || !is_writable(a[2], 8))
        return -EFAULT;
    *(uint64_t *)a[1] = thread->robust_list;
    *(uint64_t *)a[2] = ROBUST_LIST_BYTES;
    return 0;
}

/* ---------------------------------------------------------------- numbers of threads */

/* Calls whose argument of that number may be a thread's, where the first one has this value (ANY: whatever it is). */
enum { ANY = -1, PROCESS = 0 /* PRIO_PROCESS */, IO_PROCESS = 1 /* IOPRIO_WHO_PROCESS */ };

static const struct {
    int16_t number;
    int8_t at, first;
} numbered[] = {
    {__NR_kill, 0, ANY}, {__NR_getpgid, 0, ANY}, {__NR_getsid, 0, ANY}, {__NR_setpgid, 0, ANY}, {__NR_prlimit64, 0, ANY},
    {__NR_sched_setaffinity, 0, ANY}, {__NR_sched_getaffinity, 0, ANY}, {__NR_sched_setparam, 0, ANY},
    {__NR_sched_getparam, 0, ANY}, {__NR_sched_setscheduler, 0, ANY}, {__NR_sched_getscheduler, 0, ANY},
    {__NR_sched_setattr, 0, ANY}, {__NR_sched_getattr, 0, ANY}, {__NR_sched_rr_get_interval, 0, ANY},
    {__NR_getpriority, 1, PROCESS}, {__NR_setpriority, 1, PROCESS}, {__NR_ioprio_get, 1, IO_PROCESS},
    {__NR_ioprio_set, 1, IO_PROCESS}, {__NR_process_vm_readv, 0, ANY}, {__NR_process_vm_writev, 0, ANY},
    {__NR_move_pages, 0, ANY}, {__NR_migrate_pages, 0, ANY},
};

/* The kernel knows the process alone. */
void name_process(int64_t number, uint64_t *a) {
    uint32_t i;
    for (i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
        uint64_t *it = &a[numbered[i].at];
        if (numbered[i].number == number && (numbered[i].first == ANY || (int32_t)a[0] == numbered[i].first) && (int32_t)*it > 0
            && thread_of((uint32_t)*it))
            *it = process_id();
    }
}

/* ---------------------------------------------------------------- all calls */

static int64_t set_id_address(uint64_t address) {
    running->clear_id = address;
    if (!threaded)
        KERNEL1(__NR_set_tid_address, address);
    return running->id;
}

bool thread_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_gettid:
        *result = running->id;
        return true;
    case __NR_set_tid_address:
        *result = set_id_address(a[0]);
        return true;
    case __NR_set_robust_list:
        *result = set_list(a);
        return true;
    case __NR_get_robust_list:
        *result = get_list(a);
        return true;
    case __NR_sched_yield:
        yield_turn();
        end_turn();
        *result = 0;
        return true;
    case __NR_prctl:
        return name_call(a, result);
    case __NR_tkill: case __NR_tgkill: case __NR_rt_tgsigqueueinfo:
        return signal_call_of_thread(number, a, result);
    case __NR_rt_sigpending:
        *result = show_pending(a);
        return true;
    case __NR_futex:
        return thread_futex_call(a, result);
    case __NR_futex_waitv:
        *result = -ENOSYS;
        return true;
    default:
        return false;
    }
}
