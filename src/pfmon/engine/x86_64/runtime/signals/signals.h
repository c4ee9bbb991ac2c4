/* The guest's signal handling, which a process that shares the memory changes for itself; frames of handlers. */

#ifndef PFMON_X86_64_SIGNALS_H
#define PFMON_X86_64_SIGNALS_H

#include <linux/signal.h>
#include <stdbool.h>
#include <stdint.h>

struct block;
struct ucontext;

enum { SIGNALS = 64 };

struct action {                  /* of a signal, in the kernel's layout */
    uint64_t handler, flags, restorer, mask;
};

struct signals {                 /* the guest's actions, mask and alternate stack */
    struct action actions[SIGNALS + 1];
    uint64_t mask;
    stack_t stack;
};

struct interruption {            /* what a handler's frame keeps of the guest, besides its registers */
    const siginfo_t *info;
    uint64_t ip, mask;
    const stack_t *stack;
};

/* alternate_stack.c */
bool is_on_stack(const stack_t *stack);
uint64_t alternate_top(const stack_t *stack);
bool is_below_stack(const stack_t *stack, uint64_t frame, bool enters);
void disarm_stack(stack_t *stack);
void restore_stack(stack_t *stack, const stack_t *to);
int64_t change_stack(stack_t *stack, const stack_t *to, stack_t *old);

/* signal_frames.c */
bool push_frame(const struct interruption *from, const struct action *action);
bool pop_frame(uint64_t *ip, uint64_t *mask, stack_t *stack);

/* partial_blocks.c */
void leave_block(const struct block *block, struct ucontext *context, bool trapped, int cut);

/* signals.c */
void save_signals(struct signals *to);
void restore_signals(const struct signals *from, bool without_actions);

#endif
