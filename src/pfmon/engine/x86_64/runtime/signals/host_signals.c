/* The handler of the host's signals.

   A fault of translated code is mapped back to the guest's instruction, and its signal is delivered there. Any other
   signal waits until the block that is executing ends: its exits lead to the runtime then. */

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>

#include "countdown.h"
#include "performance/performance.h"
#include "runtime.h"
#include "signals.h"
#include "threads/thread.h"
#include "waits/waits.h"
#include "world/world.h"

static const struct block *signalled;        /* whose exits lead to the runtime; NULL: none */

static __u64 *host_register(struct sigcontext *it, int reg) {
    __u64 *high[] = {&it->r8, &it->r9, &it->r10, &it->r11, &it->r12, &it->r13, &it->r14, &it->r15};
    return high[reg - R8];
}

/* An instruction of a block has faulted, or trapped. */
static void take_fault(const struct block *block, siginfo_t *info, struct ucontext *context) {
    leave_block(block, context, info->si_signo == SIGTRAP, CUT_FAULT);
    put_mark(MARK_FAULT, NO_INSTRUCTION, 0);
    if (info->si_signo == SIGSEGV && is_own((uint64_t)info->si_addr, 1))
        info->si_code = SEGV_MAPERR;         /* the guest has nothing there */
    if (info->si_signo == SIGILL || info->si_signo == SIGFPE)
        info->si_addr = (void *)state->target;
    force_signal(info);
}

/* An instruction writes to the page of the block that it is in, or of one behind it: the instructions behind it may be
   others now. */
static void take_store_to_itself(const struct block *block, struct ucontext *context) {
    leave_block(block, context, false, CUT_EDGE);
    execute_one_at(state->target);
}

static bool is_in_page_of(const struct block *block, uint64_t address) {
    return block->ip / PAGE <= address / PAGE && address / PAGE <= (block->end - 1) / PAGE;
}

/* A system call that is about to begin does not. */
static void interrupt_call(struct sigcontext *host) {
    if (host->rip >= (uint64_t)guarded_begin && host->rip <= (uint64_t)guarded_syscall)
        host->rip = (uint64_t)interrupted;
}

/* The runtime takes over when the path ends that is executing. */
static void lead_to_runtime(const struct block *block) {
    if (signalled)
        return;                  /* the exits behind it lead there, too */
    signalled = block;
    unlink_blocks(block);
}

/* A block that a signal had led to the runtime is left: its exits use the table again. */
void take_signalled_block(void) {
    if (signalled) {
        relink_blocks(signalled);
        signalled = NULL;
    }
}

static void put_in_queue(const siginfo_t *info, struct guest_thread *to, struct sigcontext *host) {
    const struct block *block = block_of_code(host->rip);
    if (is_outside_blocks(host->rip) || (block && host->rip < (uint64_t)block->entry))
        block = translated_block(state->target);             /* checks of indirect branches */
    add_signal(info, to);
    state->pending = 1;
    if (block)
        lead_to_runtime(block);
    else
        interrupt_call(host);
}

/* Act on a SIGSEGV that translated code raises for the runtime: at the end of a buffer or of the countdown, at a store to a page of
   code, at rdpmc. False: it is another one. */
static bool act_on_own_fault(const struct block *block, uint64_t address, struct ucontext *context) {
    struct sigcontext *host = (struct sigcontext *)&context->uc_mcontext;
    if (block && in_guard(address)) {
        __u64 *ring_at = host_register(host, block->ring);
        continue_in_next_buffer(address, (uint64_t *)*ring_at);
        *ring_at = (uint64_t)next_words();
    } else if (block && in_countdown(block, address, host->rip)) {
        host->rip = (uint64_t)block->on_countdown;
    } else if (block && ends_countdown(block, address, host->rip)) {
        *host_register(host, block->temporary) = 0;
        lead_to_runtime(block);
    } else if (release_code(address)) {
        if (block && (block->behind || is_in_page_of(block, address)))
            take_store_to_itself(block, context);
    } else if (block && is_counter_read(block, host->rip)) {
        leave_block(block, context, false, CUT_EDGE);
        want_counter(block);
    } else
        return false;
    return true;
}

/* The handler of all signals (entry.S). */
void handle_signal(int number, siginfo_t *info, struct ucontext *context) {
    struct sigcontext *host = (struct sigcontext *)&context->uc_mcontext;
    const struct block *block = block_of_code(host->rip);
    uint64_t address = (uint64_t)info->si_addr;
    struct guest_thread *to = take_host_timer(info);
    if (to)
        put_in_queue(info, to, host);
    else if (is_interruption(info))
        interrupt_call(host);
    else if (!is_fault_signal(number) || info->si_code <= 0)
        put_in_queue(info, NULL, host);
    else if (number != SIGSEGV || !act_on_own_fault(block, address, context)) {
        if (number == SIGBUS && is_own(address, 1))
            give_up(NO_MEMORY);  /* for a page of the shared files */
        if (!block)
            give_up(INTERRUPTED);
        take_fault(block, info, context);
    }
}
