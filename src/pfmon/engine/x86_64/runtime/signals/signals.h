/* The guest's signal handling, which a process that shares the memory changes for itself; frames of handlers. */

#ifndef PFMON_X86_64_SIGNALS_H
#define PFMON_X86_64_SIGNALS_H

#include <linux/signal.h>
#include <stdbool.h>
#include <stdint.h>

struct block;
struct ucontext;

enum { SIGNALS = 64 };

#define BIT(number) ((uint64_t)1 << ((number) - 1))      /* of a signal, in a mask */

struct action {                  /* of a signal, in the kernel's layout */
    uint64_t handler, flags, restorer, mask;
};

struct signals {                 /* the guest's actions, mask and alternate stack */
    struct action actions[SIGNALS + 1];
    uint64_t mask;
    stack_t stack;
};

struct guest_thread;

struct thread_signals {          /* what each thread has for itself */
    uint64_t mask, suspended_mask;
    bool suspended;
    stack_t stack;
};

struct interruption {            /* what a handler's frame keeps of the guest, besides its registers */
    const siginfo_t *info;
    uint64_t ip, mask;
    const stack_t *stack;
};

/* alternate_stack.c */
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
void copy_signals(struct thread_signals *to);
void leave_signals(struct thread_signals *to);
void enter_signals(const struct thread_signals *from);
void apply_mask(void);
void use_own_mask(void);
void force_signal(const siginfo_t *info);
bool is_fault_signal(int number);
bool is_ignored(int number);

/* pending_signals.c */
bool add_signal(const siginfo_t *info, struct guest_thread *to);
bool take_signal(siginfo_t *to);
const siginfo_t *next_signal(void);
bool has_signal_for(const struct guest_thread *thread);
void set_pending(void);
void direct_signals(void);
void forget_signals(void);
void forget_signals_of(const struct guest_thread *thread);
uint64_t waiting_signals(const struct guest_thread *thread);
bool take_waiting_signal(const struct guest_thread *thread, uint64_t set, siginfo_t *to);
void begin_own_signals(void);
void end_own_signals(void);
uint64_t mask_of(const struct guest_thread *thread);
uint64_t common_mask(void);

/* host_signals.c */
void handle_signal(int number, siginfo_t *info, struct ucontext *context);

#endif
