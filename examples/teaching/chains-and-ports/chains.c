/* 192000 additions or multiplications of whole numbers or doubles, in 1, 2, 4, 8 or 12 chains: an operation needs the
   result of the one before it in its chain, and of no other.
   usage: chains add|imul|addsd [CHAINS] */
#include "rt.h"

__asm__(".macro chains name, operation, turns, registers:vararg\n"
        "\\name: mov $4000, %ecx\n"
        "1:\n"
        ".rept \\turns\n"
        ".irp register, \\registers\n"
        "\\operation %\\register, %\\register\n" /* r = r + r */
        ".endr\n"
        ".endr\n"
        "dec %ecx\n"
        "jnz 1b\n"
        "ret\n"
        ".endm\n"
        ".macro whole operation\n"
        "chains \\operation\\()_1, \\operation, 48, rax\n"
        "chains \\operation\\()_2, \\operation, 24, rax, rdx\n"
        "chains \\operation\\()_4, \\operation, 12, rax, rdx, rsi, rdi\n"
        "chains \\operation\\()_8, \\operation, 6, rax, rdx, rsi, rdi, r8, r9, r10, r11\n"
        "chains \\operation\\()_12, \\operation, 4, rax, rdx, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15\n"
        ".endm\n"
        "whole add\n"
        "whole imul\n"
        "chains addsd_1, addsd, 48, xmm0\n"
        "chains addsd_2, addsd, 24, xmm0, xmm1\n"
        "chains addsd_4, addsd, 12, xmm0, xmm1, xmm2, xmm3\n"
        "chains addsd_8, addsd, 6, xmm0, xmm1, xmm2, xmm3, xmm4, xmm5, xmm6, xmm7\n"
        "chains addsd_12, addsd, 4, xmm0, xmm1, xmm2, xmm3, xmm4, xmm5, xmm6, xmm7, xmm8, xmm9, xmm10, xmm11\n");

typedef void chains(void);
chains add_1, add_2, add_4, add_8, add_12, imul_1, imul_2, imul_4, imul_8, imul_12;
chains addsd_1, addsd_2, addsd_4, addsd_8, addsd_12;

static const struct {
    const char *operation;
    int count;
    chains *run;
} known[] = {
    {"add", 1, add_1},     {"add", 2, add_2},     {"add", 4, add_4},     {"add", 8, add_8},     {"add", 12, add_12},
    {"imul", 1, imul_1},   {"imul", 2, imul_2},   {"imul", 4, imul_4},   {"imul", 8, imul_8},   {"imul", 12, imul_12},
    {"addsd", 1, addsd_1}, {"addsd", 2, addsd_2}, {"addsd", 4, addsd_4}, {"addsd", 8, addsd_8}, {"addsd", 12, addsd_12},
};

int main(int argc, char **argv)
{
    int count = arg(argc, argv, 2, 1);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (argc > 1 && count == known[i].count && !strcmp(argv[1], known[i].operation)) {
            register chains *run __asm__("rbx") = known[i].run;
            __asm__ volatile("call *%%rbx" : "+b"(run) : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
                             "r12", "r13", "r14", "r15", "memory", "cc");
            return 0;
        }
    return 2;
}
