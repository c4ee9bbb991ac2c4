/* Two threads add 20000 times to a counter each; the counters are DISTANCE bytes apart.
   usage: counters [DISTANCE] */
#include "rt.h"

#define TURNS 20000
static char memory[256] __attribute__((aligned(128)));
static char stack[16384] __attribute__((aligned(16)));
static volatile int alive = 1; /* the kernel clears it when the second thread ends (CLONE_CHILD_CLEARTID) */

__attribute__((noipa)) void work(volatile long *counter)
{
    for (int i = 0; i < TURNS; i++)
        *counter += 1;
}

/* clone(2): a thread on a stack of its own, which works and exits. */
static void start_thread(long *counter)
{
    long flags = 0x50f00 | 0x200000; /* VM FS FILES SIGHAND THREAD SYSVSEM, CHILD_CLEARTID */
    long result = 56;
    register volatile int *cleared __asm__("r10") = &alive;
    __asm__ volatile("syscall\n\t"
                     "test %%eax, %%eax\n\t"
                     "jnz 1f\n\t"
                     "mov %[counter], %%rdi\n\t"
                     "call work\n\t"
                     "mov $60, %%eax\n\t" /* exit */
                     "xor %%edi, %%edi\n\t"
                     "syscall\n"
                     "1:"
                     : "+a"(result)
                     : "D"(flags), "S"(stack + sizeof stack), "d"(0L), "r"(cleared), [counter] "b"(counter)
                     : "rcx", "r11", "memory");
}

static void wait_for_thread(void)
{
    while (alive) {
        long result = 202; /* futex(2), FUTEX_WAIT */
        register long timeout __asm__("r10") = 0;
        __asm__ volatile("syscall"
                         : "+a"(result)
                         : "D"(&alive), "S"(0L), "d"(1L), "r"(timeout)
                         : "rcx", "r11", "memory");
    }
}

int main(int argc, char **argv)
{
    long distance = arg(argc, argv, 1, 8);
    start_thread((long *)(memory + distance));
    work((long *)memory);
    wait_for_thread();
    return 0;
}
