/* Code in whose loops blocks follow each other in changing orders: prints what it computes. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static uint32_t number = 1;

static uint32_t next_number(void) {
    number = number * 1664525 + 1013904223;
    return number >> 16;
}

/* A function that returns behind the instruction after its call, every fourth time. */
__asm__("elsewhere: testl $3, %edi\n jne 1f\n addq $2, (%rsp)\n 1: ret\n");

static uint32_t return_elsewhere(uint32_t turns) {
    uint32_t sum = 0, i;
    for (i = 0; i < turns; i++)
        __asm__ volatile("lea -128(%%rsp), %%rsp\n mov %1, %%edi\n call elsewhere\n incl %0\n lea 128(%%rsp), %%rsp\n"
                         : "+a"(sum) : "r"(i) : "rdi", "cc", "memory");
    return sum;
}

static uint32_t word = 5, faults;

static void mend(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    faults++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RDI] = (greg_t)&word;
}

/* A load that faults every seventh time, behind two branches and a push, in registers that the engine needs itself. */
static uint32_t fault_in_later_blocks(uint32_t turns) {
    uint32_t sum = 0, i;
    struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (i = 0; i < turns; i++)
        __asm__ volatile("lea -128(%%rsp), %%rsp\n mov %1, %%rdi\n mov %2, %%r11d\n mov $3, %%r10d\n test $1, %%r11d\n"
                         "jz 1f\n add $10, %0\n 1: push %%rdi\n test $2, %%r11d\n jz 2f\n add (%%rsp), %%r10b\n"
                         "2: add (%%rdi), %0\n pop %%rdi\n add %%r11d, %0\n lea 128(%%rsp), %%rsp\n"
                         : "+a"(sum) : "r"(i % 7 ? &word : NULL), "r"(i) : "rdi", "r10", "r11", "cc", "memory");
    return sum;
}

static uint32_t fold(uint32_t n) {
    return n < 2 ? n : n % 3 ? fold(n - 1) + 1 : fold(n - 2) ^ fold(n / 3);
}

static uint32_t branch_at_random(uint32_t turns) {
    uint32_t sum = 0, i;
    for (i = 0; i < turns; i++) {
        uint32_t one = next_number();
        if (one & 1)
            sum += one & 2 ? 3 : fold(one & 31);
        switch (one >> 4 & 7) {
        case 0: sum ^= one; break;
        case 1: sum += 7; break;
        case 2: sum -= one & 64 ? 1 : 2; break;
        case 3: sum = sum << 1 | sum >> 31; break;
        case 5: sum *= 5; break;
        case 6: continue;
        }
        sum++;
    }
    return sum;
}

/* In a page: store the low byte of edi into the code of the next page, jump to a jump to there. There: mov eax, number; ret */
static uint32_t change_code_ahead(uint32_t turns) {
    uint8_t first[] = {0x40, 0x88, 0x3D, 0, 0, 0, 0, 0xEB, 2, 0x90, 0x90, 0xE9, 0, 0, 0, 0};
    const uint8_t second[] = {0xB8, 1, 0, 0, 0, 0xC3};
    int32_t to_store = 4096 + 1 - 7, to_second = 4096 - 16;
    uint32_t sum = 0, i;
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(first + 3, &to_store, 4);
    memcpy(first + 12, &to_second, 4);
    memcpy(pages, first, sizeof(first));
    memcpy(pages + 4096, second, sizeof(second));
    for (i = 0; i < turns; i++)
        sum = sum * 3 + ((uint32_t (*)(uint32_t))(void *)pages)(i);
    return sum;
}

/* Far from everything: call 2f; add eax, edi; ret; 2: mov eax, edi; ret */
static uint32_t call_far_away(uint32_t turns) {
    const uint8_t code[] = {0xE8, 3, 0, 0, 0, 0x01, 0xF8, 0xC3, 0x89, 0xF8, 0xC3};
    uint32_t sum = 0, i;
    uint8_t *page = mmap((void *)0x234500000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(page, code, sizeof(code));
    for (i = 0; i < turns; i++)
        sum = sum * 5 + ((uint32_t (*)(uint32_t))(void *)page)(i);
    return sum;
}

int main(void) {
    printf("returns %u\n", return_elsewhere(203));
    printf("sum %u\n", fault_in_later_blocks(301));
    printf("faults %u\n", faults);
    printf("branches %u\n", branch_at_random(20000));
    printf("code %u\n", change_code_ahead(50));
    printf("far %u\n", call_far_away(100));
    printf("branches %u\n", branch_at_random(5000));
    return 0;
}
