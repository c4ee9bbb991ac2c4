/* The frames of signal handlers on the guest's stack, as Linux lays them out (sigreturn(2)). */

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>

#include "extended_state.h"
#include "runtime.h"
#include "signals.h"

enum { RED_ZONE = 128 };

struct frame {
    uint64_t return_address;
    struct ucontext context;
    siginfo_t info;
};

static void fill_context(struct ucontext *to, const struct interruption *from, uint64_t fpstate) {
    struct sigcontext *it = (struct sigcontext *)&to->uc_mcontext;
    const uint64_t *r = state->registers;
    bool has_address = from->info->si_signo == SIGSEGV;
    to->uc_flags = (components ? UC_FP_XSTATE : 0) | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
    to->uc_stack = *from->stack;
    it->r8 = r[R8], it->r9 = r[R9], it->r10 = r[R10], it->r11 = r[R11], it->r12 = r[R12], it->r13 = r[R13];
    it->r14 = r[R14], it->r15 = r[R15], it->rdi = r[RDI], it->rsi = r[RSI], it->rbp = r[RBP], it->rbx = r[RBX];
    it->rdx = r[RDX], it->rax = r[RAX], it->rcx = r[RCX], it->rsp = r[RSP];
    it->rip = from->ip;
    it->eflags = state->flags;
    it->cs = 0x33;
    it->ss = 0x2B;
    it->trapno = has_address ? 14 : 0;
    it->cr2 = has_address ? (uint64_t)from->info->si_addr : 0;
    it->fpstate = (void *)fpstate;
    memcpy(&to->uc_sigmask, &from->mask, sizeof(from->mask));
}

/* Push the frame of a handler, and set the registers with which it begins. False: the stack has no room. */
bool push_frame(const struct interruption *from, const struct action *action) {
    uint64_t *r = state->registers, sp = r[RSP] - RED_ZONE, fpstate;
    uint64_t top = action->flags & SA_ONSTACK ? alternate_top(from->stack) : 0;
    struct frame *frame;
    if (top)
        sp = top;
    fpstate = (sp - extended_state_room()) & -(uint64_t)64;
    frame = (struct frame *)(((fpstate - sizeof(struct frame)) & -(uint64_t)16) - 8);
    if (is_below_stack(from->stack, (uint64_t)frame, top) || !is_writable((uint64_t)frame, sp - (uint64_t)frame))
        return false;
    memset(frame, 0, sizeof(*frame));
    frame->return_address = action->restorer;
    frame->info = *from->info;
    save_extended_state((uint8_t *)fpstate);
    fill_context(&frame->context, from, fpstate);
    r[RSP] = (uint64_t)frame;
    r[RDI] = (uint64_t)from->info->si_signo;
    r[RSI] = (uint64_t)&frame->info;
    r[RDX] = (uint64_t)&frame->context;
    r[RAX] = 0;
    state->flags &= ~(uint64_t)0x500;        /* direction, trap */
    return true;
}

/* Take registers, address, mask and alternate stack from the frame that rt_sigreturn finds. False: it is not readable. */
bool pop_frame(uint64_t *ip, uint64_t *mask, stack_t *stack) {
    const struct frame *frame = (const struct frame *)(state->registers[RSP] - 8);
    const struct sigcontext *it;
    uint64_t *r = state->registers;
    if (!is_readable((uint64_t)frame) || !is_readable((uint64_t)frame + sizeof(*frame)))
        return false;
    restore_stack(stack, &frame->context.uc_stack);
    it = (const struct sigcontext *)&frame->context.uc_mcontext;
    r[R8] = it->r8, r[R9] = it->r9, r[R10] = it->r10, r[R11] = it->r11, r[R12] = it->r12, r[R13] = it->r13;
    r[R14] = it->r14, r[R15] = it->r15, r[RDI] = it->rdi, r[RSI] = it->rsi, r[RBP] = it->rbp, r[RBX] = it->rbx;
    r[RDX] = it->rdx, r[RAX] = it->rax, r[RCX] = it->rcx, r[RSP] = it->rsp;
    state->flags = (it->eflags & 0x40CD5) | 0x202;
    load_extended_state((uint64_t)it->fpstate);
    memcpy(mask, &frame->context.uc_sigmask, sizeof(*mask));
    *ip = it->rip;
    return true;
}
