/* System calls of the guest: most go to the kernel as they are. */

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/signal.h>

#include "performance/performance.h"
#include "root/root.h"
#include "runtime.h"
#include "signals/signals.h"
#include "tasks/following.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "waits/waits.h"
#include "world/world.h"

static const uint64_t SYSTEM_CALL_BYTES = 2;

static void take_arguments(uint64_t *a) {
    const uint64_t *r = state->registers;
    a[0] = r[RDI];
    a[1] = r[RSI];
    a[2] = r[RDX];
    a[3] = r[R10];
    a[4] = r[R8];
    a[5] = r[R9];
}

/* ---------------------------------------------------------------- other programs, and the end */

static int64_t execute(int64_t number, const uint64_t *a) {
    int64_t result;
    hand_over_words();
    publish_silent();
    publish_count();
    if (!in_child)
        area->executing = EXECUTES_NATIVELY;
    give_timer_to_host(true);
    use_own_mask();
    result = is_executed_by_runtime() ? execute_translated(number, a) : execute_natively(number, a);
    apply_mask();
    give_timer_to_host(false);
    if (!in_child)
        area->executing = NOT_EXECUTING;
    return result;
}

static void end_process(int64_t number, uint64_t status) {
    if (!in_child)
        area->status = EXITED | (uint32_t)(status & 0xFF);
    publish_silent();
    publish_count();
    leave_run();
    KERNEL1(number, status);
}

/* ---------------------------------------------------------------- all calls */

static int64_t set_base(const uint64_t *a) {
    int64_t result = KERNEL2(__NR_arch_prctl, a[0], a[1]);
    if (result == 0 && a[0] == ARCH_SET_FS)
        state->fs = a[1];
    else if (result == 0 && a[0] == ARCH_SET_GS)
        state->gs = a[1];
    return result;
}

/* Let the kernel execute a call, unless signals wait. */
int64_t pass_on(int64_t number, const uint64_t *a) {
    const uint64_t call[7] = {(uint64_t)number, a[0], a[1], a[2], a[3], a[4], a[5]};
    publish_count();
    return guarded_call(call);
}

static int64_t execute_call(int64_t number, uint64_t *a) {
    int64_t result;
    if (is_map_call(number))
        return map_call(number, a);
    if (is_signal_call(number))
        return signal_call(number, a);
    if (threaded)
        name_process(number, a);
    if (root.confined)
        name_own_process(number, a);
    if (thread_call(number, a, &result))
        return result;
    if ((root.confined && guard_root(number, a, &result)) || path_call(&number, a, &result) || socket_call(number, a, &result)
        || root_call(number, a, &result) || world_call(number, a, &result) || clock_call(number, a, &result)
        || sent_signal_call(number, a, &result) || id_call(number, a, &result) || timer_call(number, a, &result)
        || directory_call(number, a, &result) || random_call(number, a, &result) || timed_wait_call(number, a, &result)
        || shared_wait_call(number, a, &result) || endless_wait_call(number, a, &result))
        return result;
    switch (number) {
    case __NR_clone: case __NR_fork: case __NR_vfork:
        return clone_call(number, a);
    case __NR_clone3: case __NR_rseq:
        return -ENOSYS;          /* C libraries use older calls then */
    case __NR_execve: case __NR_execveat:
        return execute(number, a);
    case __NR_exit:
        end_process(number, shares_memory ? a[0] : end_thread(a[0]));
        return 0;
    case __NR_exit_group:
        leave_robust_lists();
        end_process(number, a[0]);
        return 0;
    case __NR_arch_prctl:
        return set_base(a);
    case __NR_ptrace: case __NR_process_vm_readv: case __NR_process_vm_writev: case __NR_pidfd_getfd:
        return -EPERM;           /* they reach the runtime's memory and files */
    case __NR_pkey_alloc:        /* the processor has no protection keys */
        return -ENOSPC;
    case __NR_pkey_free:
        return -EINVAL;
    case __NR_seccomp:           /* a filter would filter the runtime's calls, too */
        return -EINVAL;
    case __NR_prctl:
        if (a[0] == PR_SET_PDEATHSIG)
            return set_parent_death_signal(a);
        return a[0] == PR_SET_SECCOMP ? -EINVAL : pass_on(number, a);
    default:
        if (threaded && blocking_call(number, a, &result))
            return result;
        return next_timer() == NEVER || threaded || others_exist() ? pass_on(number, a) : call_until_timer(number, a);
    }
}

int64_t call_kernel(int64_t number, uint64_t *a) {
    int64_t result;
    bool loses_event;
    if (performance_call(number, a, &result))
        return result;
    loses_event = may_lose_event(number, a);
    result = execute_call(number, a);
    if (loses_event)
        release_lost_events(number, a, result);
    return result;
}

/* Execute the system call in the guest's registers; returns where to go on. */
uint64_t system_call(uint64_t next_ip, uint64_t instruction) {
    int64_t number = (int64_t)state->registers[RAX], result;
    bool ends_turn = threaded && has_woken();
    uint64_t a[6];
    if (state->pending)
        return next_ip - SYSTEM_CALL_BYTES;      /* a signal has just arrived: its handler runs first */
    take_arguments(a);
    note_effect(number, a);
    stand_at(next_ip);
    state->registers[RCX] = next_ip;
    state->registers[R11] = state->flags;
    put_mark(MARK_SYSTEM_CALL, area->totals ? NO_INSTRUCTION : instruction, (uint64_t)number);
    note_region_call(number, a);
    if (number == __NR_rt_sigreturn)
        return return_from_handler();
    result = check_call(number, a);
    if (result == 0)
        result = without_memory_file(number, call_kernel(number, a));
    close_held();
    keep_line(number);
    after_call();
    if (state->pending && result == -EINTR && wants_restart(number))
        return next_ip - SYSTEM_CALL_BYTES;
    state->registers[RAX] = (uint64_t)result;
    if (ends_turn)
        end_turn();
    return next_ip;
}
