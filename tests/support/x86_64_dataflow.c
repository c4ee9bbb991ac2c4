/* Executes each line of hexadecimal bytes, one instruction without memory operands, from random states, and again with the
   bits of one register inverted. Prints the registers that it changes, and those on which others, or changed ones, depend:
   general registers in bits 0-15, carry in 16, the other arithmetic flags but OF in 17, vectors from 32 on; or "no" for an
   instruction that does not execute. Third, the registers that depend on what they were before: of vectors, only the lower
   16 bytes count, as all instructions without VEX keep the upper ones. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GENERAL = 16, VECTORS = 16, RSP = 4, CARRY = 1, OTHERS = 0xD4, STATES = 6 };

struct state {
    uint64_t general[GENERAL], flags;
    uint8_t vector[VECTORS][32];
};

struct state before, after;
uint64_t kept_stack, room[512];
extern uint8_t hole[];
void run(void);

__asm__(".text\n .globl run, hole\n run:\n"
        "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp, kept_stack\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqu before+136+32*\\n, %ymm\\n\n .endr\n"
        "mov $room+2048, %rsp\n push before+128\n popfq\n"
        "mov before, %rax\n mov before+8, %rcx\n mov before+16, %rdx\n mov before+24, %rbx\n"
        "mov before+40, %rbp\n mov before+48, %rsi\n mov before+56, %rdi\n"
        ".irp n, 8,9,10,11,12,13,14,15\n mov before+8*\\n, %r\\n\n .endr\n"
        "hole:\n .rept 16\n nop\n .endr\n"
        "mov %rax, after\n mov %rcx, after+8\n mov %rdx, after+16\n mov %rbx, after+24\n"
        "mov %rbp, after+40\n mov %rsi, after+48\n mov %rdi, after+56\n"
        ".irp n, 8,9,10,11,12,13,14,15\n mov %r\\n, after+8*\\n\n .endr\n"
        "mov $room+2048, %rsp\n pushfq\n pop after+128\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqu %ymm\\n, after+136+32*\\n\n .endr\n"
        "cld\n mov kept_stack, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");

static sigjmp_buf back;
static uint64_t seed = 88172645463325252u;

static void handle(int number) {
    siglongjmp(back, number);
}

/* xorshift64 (Marsaglia, Xorshift RNGs, 2003) */
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* The registers in which two states differ; of vectors, the first bytes. */
static uint64_t differing(const struct state *one, const struct state *other, size_t bytes) {
    uint64_t found = 0;
    for (int i = 0; i < GENERAL; i++)
        found |= (uint64_t)(one->general[i] != other->general[i]) << i;
    found |= (uint64_t)(((one->flags ^ other->flags) & CARRY) != 0) << 16;
    found |= (uint64_t)(((one->flags ^ other->flags) & OTHERS) != 0) << 17;
    for (int i = 0; i < VECTORS; i++)
        found |= (uint64_t)(memcmp(one->vector[i], other->vector[i], bytes) != 0) << (32 + i);
    return found;
}

static void invert(struct state *state, int bit) {
    if (bit < 16)
        state->general[bit] ^= next_random() | 1;
    else if (bit < 32)
        state->flags ^= bit == 16 ? CARRY : OTHERS;
    else
        for (int i = 0; i < 32; i++)
            state->vector[bit - 32][i] ^= (uint8_t)(next_random() | 1);
}

static void randomise(struct state *state) {
    uint8_t *bytes = (uint8_t *)state;
    for (size_t i = 0; i < sizeof(*state); i++)
        bytes[i] = (uint8_t)next_random();
    state->general[RSP] = 0;
    state->flags = 0x202 | (next_random() & (CARRY | OTHERS));
}

static void observe(uint64_t *written, uint64_t *depended, uint64_t *own) {
    struct state first, base;
    for (int round = 0; round < STATES; round++) {
        randomise(&first);
        before = first;
        run();
        after.general[RSP] = 0;
        *written |= differing(&first, &after, 32);
        base = after;
        for (int bit = 0; bit < 48; bit++) {
            if (bit == RSP || (bit > 17 && bit < 32))
                continue;
            before = first;
            invert(&before, bit);
            run();
            after.general[RSP] = 0;
            uint64_t itself = (uint64_t)1 << bit;
            *depended |= differing(&base, &after, 32) & ~itself ? itself : 0;
            *own |= differing(&base, &after, 16) & itself;
        }
    }
}

int main(void) {
    static const int signals[] = {SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTRAP};
    static uint8_t stack[1 << 16];
    stack_t own_stack = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    uintptr_t page = (uintptr_t)hole & ~(uintptr_t)4095;
    char line[128];
    alarm(60);
    sigaltstack(&own_stack, 0);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, 0);
    mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    while (fgets(line, sizeof(line), stdin)) {
        static uint64_t written, depended, own;
        unsigned count = 0, byte;
        written = depended = own = 0;
        memset(hole, 0x90, 16);
        while (count < 15 && sscanf(line + 2 * count, "%2x", &byte) == 1)
            hole[count++] = (uint8_t)byte;
        if (sigsetjmp(back, 1)) {
            puts("no");
            continue;
        }
        observe(&written, &depended, &own);
        printf("%llx %llx %llx\n", (unsigned long long)written, (unsigned long long)depended, (unsigned long long)own);
    }
    return 0;
}
