/* Prints what a program finds of the vector registers in a signal's frame, by the offsets that CPUID gives for xsave's
   standard format; changes them there, and prints what it finds in the registers afterwards. Then the same of xsave. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static unsigned offset_of(unsigned component) {
    unsigned eax, ebx = 0, ecx, edx;
    __cpuid_count(0xD, component, eax, ebx, ecx, edx);
    return ebx;
}

static uint64_t word(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

/* zmm3: its four quarters by words 0, 2, 4; zmm19, k5 */
static void show(const char *name, const uint8_t *area) {
    printf("%s: features %llx, zmm3 %llx %llx %llx, zmm19 %llx, k5 %llx\n", name, (unsigned long long)(word(area + 512) & 0xE6),
           (unsigned long long)word(area + 160 + 3 * 16), (unsigned long long)word(area + offset_of(2) + 3 * 16),
           (unsigned long long)word(area + offset_of(6) + 3 * 32), (unsigned long long)word(area + offset_of(7) + 3 * 64 + 56),
           (unsigned long long)word(area + offset_of(5) + 5 * 8));
}

static void handle(int number, siginfo_t *info, void *context) {
    ucontext_t *it = context;
    uint8_t *area = (uint8_t *)it->uc_mcontext.fpregs;
    uint32_t end;
    (void)number, (void)info;
    memcpy(&end, area + 464 + 4, 4);
    end -= 4;
    show("frame", area);
    printf("end of the frame: %x, features %llx\n", *(uint32_t *)(area + end), (unsigned long long)word(area + 464 + 8) & 0xE7);
    memset(area + offset_of(7) + 3 * 64 + 56, 0x33, 8);
    memset(area + offset_of(5) + 5 * 8, 0x44, 8);
    memset(area + offset_of(6) + 3 * 32, 0x55, 8);
    __asm__ volatile("vpxorq %%zmm3, %%zmm3, %%zmm3\n vpxorq %%zmm19, %%zmm19, %%zmm19\n kxorq %%k5, %%k5, %%k5\n" : : : "memory");
    it->uc_mcontext.gregs[REG_RIP] += 2;
}

static uint8_t area[8192] __attribute__((aligned(64)));

int main(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    uint64_t pattern[24], after[24], k = 0x1122334455667788, mask;
    unsigned i;
    for (i = 0; i < 24; i++)
        pattern[i] = 0x0101010101010101 * (i + 1);
    sigaction(SIGILL, &action, 0);
    __asm__ volatile("vmovdqu64 (%[from]), %%zmm3\n vmovdqu64 64(%[from]), %%zmm19\n kmovq %[k], %%k5\n ud2\n"
                     "vmovdqu64 %%zmm3, (%[to])\n vmovdqu64 %%zmm19, 64(%[to])\n kmovq %%k5, %[mask]\n"
                     : [mask] "=r"(mask)
                     : [from] "r"(pattern), [to] "r"(after), [k] "r"(k)
                     : "memory");
    for (i = 0; i < 16; i++)
        printf("%llx ", (unsigned long long)after[i]);
    printf("%llx\n", (unsigned long long)mask);
    for (i = 0; i < 2; i++) {
        memset(area, 0, sizeof(area));
        __asm__ volatile("vmovdqu64 (%[from]), %%zmm3\n vmovdqu64 64(%[from]), %%zmm19\n kmovq %[k], %%k5\n xsave64 (%[area])\n"
                         "vzeroall\n vpxorq %%zmm19, %%zmm19, %%zmm19\n kxorq %%k5, %%k5, %%k5\n xrstor64 (%[area])\n"
                         "vmovdqu64 %%zmm3, (%[to])\n vmovdqu64 %%zmm19, 64(%[to])\n kmovq %%k5, %[mask]\n"
                         : [mask] "=r"(mask)
                         : [from] "r"(pattern), [to] "r"(after), [k] "r"(k), [area] "r"(area), "a"(i ? 0xC6 : -1), "d"(i ? 0 : -1)
                         : "memory");
        show("xsave", area);
        printf("%llx %llx %llx\n", (unsigned long long)after[0], (unsigned long long)after[15], (unsigned long long)mask);
    }
    return 0;
}
