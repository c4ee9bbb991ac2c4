/* What a handler finds of the floating-point and vector state in the frame of its signal, and what the program finds of it
   behind the handler. Prints the same natively on a processor and under an engine that gives it that processor. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum { LOW_HALVES = 160, CONTROL = 24, SOFTWARE = 464, HAS_XSAVE = 1 };

static void on_signal(int number, siginfo_t *info, void *context) {
    ucontext_t *it = context;
    uint8_t *state = (uint8_t *)it->uc_mcontext.fpregs;
    struct _fpx_sw_bytes *software = (void *)(state + SOFTWARE);
    uint32_t magic = 0;
    (void)number, (void)info;
    if (it->uc_flags & HAS_XSAVE)
        memcpy(&magic, state + software->xstate_size, 4);
    printf("flags %lx, magic %x %x, components %lx, %u and %u bytes, aligned %d\n", it->uc_flags, software->magic1, magic,
           (unsigned long)software->xstate_bv, software->xstate_size, software->extended_size, (uintptr_t)state % 64 == 0);
    printf("mxcsr %x, xmm3 %02x, xmm4 %02x, x87 %x\n", *(uint32_t *)(state + CONTROL), state[LOW_HALVES + 16 * 3],
           state[LOW_HALVES + 16 * 4], *(uint16_t *)state);
    state[LOW_HALVES + 16 * 4]++;
    *(uint32_t *)(state + CONTROL) |= 0x8000;    /* flush to zero */
    __asm__ volatile("fninit\n pxor %%xmm3, %%xmm3\n pxor %%xmm4, %%xmm4" : : : "xmm3", "xmm4");
}

int main(void) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    uint8_t before[2][16], after[2][16];
    uint16_t control = 0x27F;    /* 53 bits */
    uint32_t mxcsr;
    memset(before[0], 0x33, 16);
    memset(before[1], 0x44, 16);
    sigaction(SIGUSR1, &action, NULL);
    __asm__ volatile("fldcw %[control]\n movdqu %[three], %%xmm3\n movdqu %[four], %%xmm4\n"
                     "mov $39, %%eax\n syscall\n mov %%eax, %%edi\n mov $10, %%esi\n mov $62, %%eax\n syscall\n"    /* kill */
                     "movdqu %%xmm3, %[three_then]\n movdqu %%xmm4, %[four_then]\n stmxcsr %[mxcsr]\n fnstcw %[control]\n"
                     : [three_then] "=m"(after[0]), [four_then] "=m"(after[1]), [mxcsr] "=m"(mxcsr), [control] "+m"(control)
                     : [three] "m"(before[0]), [four] "m"(before[1])
                     : "rax", "rdi", "rsi", "rcx", "r11", "xmm3", "xmm4", "memory");
    printf("behind: xmm3 %02x %02x, xmm4 %02x %02x, mxcsr %x, x87 %x\n", after[0][0], after[0][15], after[1][0], after[1][15],
           mxcsr, control);
    return 0;
}
