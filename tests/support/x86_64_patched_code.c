/* Generates functions that call and jump to each other, changes them while it executes them, some by their own stores, and prints a
   sum of their results. Each function's result is also computed without it. Arguments: the seed, the number of changes. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FUNCTIONS = 96, BYTES = 160, DATA = 32 };

enum kind { ADDS, CALLS, JUMPS, STORES, LOOPS, KINDS };

static struct {
    enum kind kind;
    uint32_t number;             /* that it adds */
    int next;                    /* function that it calls or jumps to: one behind it */
    uint32_t stored;             /* what it has in its own memory */
} functions[FUNCTIONS];

static uint8_t *code;
static uint64_t drawn;

static uint32_t draw(uint32_t below) {   /* xorshift */
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return (uint32_t)(drawn % below);
}

static uint8_t *start_of(int number) {
    return code + number * BYTES;
}

static uint8_t *put(uint8_t *at, const char *bytes, int count) {
    memcpy(at, bytes, count);
    return at + count;
}

static uint8_t *put_32(uint8_t *at, uint32_t value) {
    memcpy(at, &value, 4);
    return at + 4;
}

static uint8_t *put_branch(uint8_t *at, uint8_t opcode, int target) {
    *at++ = opcode;
    return put_32(at, (uint32_t)(start_of(target) - (at + 4)));
}

/* add $number, %eax; then what its kind does; edi: the argument */
static void write_function(int number) {
    uint8_t *at = start_of(number);
    at = put_32(put(at, "\x05", 1), functions[number].number);
    switch (functions[number].kind) {
    case CALLS:
        at = put_branch(at, 0xE8, functions[number].next);
        break;
    case JUMPS:
        put_branch(at, 0xE9, functions[number].next);
        return;
    case STORES:                 /* add DATA(%rip), %eax; add %edi, DATA(%rip): in the page of its code */
        at = put_32(put(at, "\x03\x05", 2), (uint32_t)(start_of(number) + BYTES - DATA - (at + 6)));
        at = put_32(put(at, "\x01\x3D", 2), (uint32_t)(start_of(number) + BYTES - DATA - (at + 6)));
        break;
    case LOOPS:                  /* mov $5, %ecx; 1: add $3, %eax; dec %ecx; jnz 1b */
        at = put(at, "\xB9\x05\0\0\0\x83\xC0\x03\xFF\xC9\x75\xF9", 12);
        break;
    default:
        break;
    }
    *at = 0xC3;
}

static uint32_t compute(int number, uint32_t value, uint32_t argument) {
    for (;; number = functions[number].next) {
        value += functions[number].number;
        switch (functions[number].kind) {
        case CALLS:
            return compute(functions[number].next, value, argument);
        case JUMPS:
            continue;
        case STORES:
            value += functions[number].stored;
            functions[number].stored += argument;
            return value;
        case LOOPS:
            return value + 15;
        default:
            return value;
        }
    }
}

static void draw_function(int number) {
    functions[number].kind = number < FUNCTIONS - 1 ? draw(KINDS) : ADDS;
    functions[number].number = draw(1 << 30);
    if (number < FUNCTIONS - 1)
        functions[number].next = number + 1 + (int)draw(FUNCTIONS - 1 - number);
    functions[number].stored = 0;
    memset(start_of(number) + BYTES - DATA, 0, 4);
    write_function(number);
}

static uint32_t execute(int number, uint32_t value, uint32_t argument) {
    uint32_t (*entry)(void) = (uint32_t (*)(void))start_of(number);
    __asm__ volatile("call *%[entry]" : "+a"(value), "+D"(argument) : [entry] "r"(entry) : "rcx", "memory", "cc");
    return value;
}

int main(int argc, char **argv) {
    uint64_t sum = 0;
    int i, changes;
    if (argc < 3)
        return 1;
    drawn = strtoull(argv[1], 0, 0) * 0x9E3779B97F4A7C15u + 1;
    changes = atoi(argv[2]);
    code = mmap(0, FUNCTIONS * BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (i = FUNCTIONS - 1; i >= 0; i--)
        draw_function(i);
    while (changes--) {
        int times = draw(8) ? (int)draw(4) : 120, number = (int)draw(FUNCTIONS);
        while (times--) {
            uint32_t value = draw(1000), argument = draw(100), expected = compute(number, value, argument);
            if (execute(number, value, argument) != expected) {
                printf("function %d is wrong\n", number);
                return 2;
            }
            sum = sum * 31 + expected;
        }
        draw_function((int)draw(FUNCTIONS));
    }
    printf("%016lx\n", sum);
    return 0;
}
