/* Executes each line of hexadecimal bytes, one instruction that may access memory at rax plus a displacement, with rax at
   memory that cannot be accessed. Prints "illegal", "executes", "misaligned", or the displacement at which it faults. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 1 << 16 };

static sigjmp_buf back;
static int caught;
static char *fault_at;

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    caught = number;
    fault_at = info->si_addr;
    siglongjmp(back, 1);
}

static void execute(void (*code)(void), char *rax) {
    __asm__ volatile("call *%[code]"
                     : "+a"(rax)
                     : [code] "r"(code)
                     : "rcx", "rdx", "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}

/* All bits of the opmask registers are set, and vectors are 0, as a gather's indices have to be. */
static void prepare(void) {
    if (__builtin_cpu_supports("avx512bw"))
        __asm__ volatile(".irp k, 0,1,2,3,4,5,6,7\n kxnorq %%k\\k, %%k\\k, %%k\\k\n .endr" : : : "memory");
    if (__builtin_cpu_supports("avx2"))
        __asm__ volatile("vzeroall\n vpcmpeqd %%ymm0, %%ymm0, %%ymm0\n" : : : "memory");
}

int main(void) {
    unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *closed = mmap(0, 2 * ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), line[128];
    static char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static const int signals[] = {SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTRAP};
    unsigned i, byte;
    sigaltstack(&own, 0);
    for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, 0);
    while (fgets(line, sizeof(line), stdin)) {
        unsigned count = 0;
        while (count < 16 && sscanf(line + 2 * count, "%2x", &byte) == 1)
            code[count++] = (unsigned char)byte;
        memset(code + count, 0xC3, 16);
        caught = 0;
        if (!sigsetjmp(back, 1)) {
            prepare();
            execute((void (*)(void))code, closed + ROOM);
        }
        if (caught == SIGILL)
            puts("illegal");
        else if (caught == SIGSEGV && !fault_at)
            puts("misaligned");
        else if (caught == SIGSEGV)
            printf("%ld\n", (long)(fault_at - (closed + ROOM)));
        else
            puts("executes");
    }
    return 0;
}
