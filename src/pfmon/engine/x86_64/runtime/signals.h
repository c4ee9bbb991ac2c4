/* The guest's signal handling, which a process that shares the memory changes for itself. */

#ifndef PFMON_X86_64_SIGNALS_H
#define PFMON_X86_64_SIGNALS_H

#include <asm/signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNALS = 64 };

struct action {                  /* of a signal, in the kernel's layout */
    uint64_t handler, flags, restorer, mask;
};

struct signals {                 /* the guest's actions, mask and alternate stack */
    struct action actions[SIGNALS + 1];
    uint64_t mask;
    stack_t stack;
};

void save_signals(struct signals *to);
void restore_signals(const struct signals *from, bool without_actions);

#endif
