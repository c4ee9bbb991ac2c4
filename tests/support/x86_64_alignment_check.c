/* Executes instructions that the engine executes itself, branches and a handler with the flag AC set, in the first thread and in a
   second one, and prints what the flags were. */

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum { ALIGNMENT_CHECK = 0x40000, BYTES_OF_LOAD = 3 };

static volatile unsigned long in_frame;

static void take(int number, siginfo_t *info, void *context) {
    ucontext_t *it = context;
    unsigned long flags;
    __asm__ volatile("pushfq; pop %0; mov %0, %%rax; and $~0x40000, %%rax; push %%rax; popfq" : "=&r"(flags) : : "rax", "cc");
    (void)number, (void)info;
    in_frame = (unsigned long)it->uc_mcontext.gregs[REG_EFL] & flags & ALIGNMENT_CHECK;
    it->uc_mcontext.gregs[REG_RIP] += BYTES_OF_LOAD;
}

static void *try_flag(void *name) {
    unsigned long flags, rounds = 300;
    __asm__ volatile(
        "pushfq; orl $0x40000, (%%rsp); popfq\n"
        "1: xor %%eax, %%eax; push %%rcx; cpuid; rdtsc; pop %%rcx\n"
        "test $1, %%cl; jz 2f; nop; 2: dec %%rcx; jnz 1b\n"
        "xor %%esi, %%esi; mov (%%rsi), %%rax\n"
        "pushfq; pop %0; mov %0, %%rax; and $~0x40000, %%rax; push %%rax; popfq"
        : "=&r"(flags), "+c"(rounds) : : "rax", "rbx", "rdx", "rsi", "memory", "cc");
    printf("%s %lx %lx\n", (const char *)name, flags & ALIGNMENT_CHECK, in_frame);
    in_frame = 0;
    return 0;
}

int main(void) {
    struct sigaction action;
    pthread_t thread;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = take;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    try_flag("alone");
    if (pthread_create(&thread, 0, try_flag, "thread") || pthread_join(thread, 0))
        return 1;
    try_flag("again");
    return 0;
}
