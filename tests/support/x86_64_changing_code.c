/* Code that changes while it executes, by the program's stores and by the kernel's: prints what each piece returns, which is
   the same natively and under an engine. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

static uint8_t *code;            /* three pages: writable, then two of code */

typedef int function(uint8_t *, uint64_t);

/* mov $value, %eax; ret */
static void put_constant(uint8_t *at, uint32_t value) {
    at[0] = 0xB8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xC3;
}

static int call(uint8_t *at, uint8_t *argument, uint64_t value) {
    return ((function *)(void *)at)(argument, value);
}

static uint8_t *put(uint8_t *at, const char *bytes, size_t count) {
    memcpy(at, bytes, count);
    return at + count;
}

#define PUT(at, text) put(at, text, sizeof(text) - 1)

/* A store changes the constant of the next instruction but one. */
static void store(uint8_t *at) {
    uint8_t *end = PUT(at, "\x90\x89\x37\x90");              /* nop; mov %esi, (%rdi); nop */
    put_constant(end, 1);
    for (int i = 0; i < 4; i++)
        printf("store %d\n", call(at, end + 1, 100 + i));
}

/* A repeated string instruction writes over the rest of its block, from the page before. */
static void repeated(uint8_t *at) {
    uint8_t source[16], *end;
    end = PUT(at, "\xB9\x10\0\0\0\xF3\xA4\x90");         /* mov $16, %ecx; rep movsb; nop */
    for (int i = 0; i < 3; i++) {
        memset(source, 0x90, sizeof(source));
        put_constant(source + 10, 200 + i);
        put_constant(end, 2);
        printf("repeated %d\n", call(at, end, (uint64_t)source));
    }
}

/* A call pushes its address over instructions behind it. */
static void pushed(uint8_t *at) {
    uint8_t *end = PUT(at, "\x48\x89\xE0\x48\x8D\x67\x08\xE8\0\0\0\0\x48\x89\xC4");  /* mov %rsp, %rax; lea 8(%rdi), %rsp; call .; mov %rax, %rsp */
    put_constant(end, 3);
    end[6] = 0x90;
    for (int i = 0; i < 2; i++) {
        memset(end + 8, 0x11, 8);
        printf("pushed %d", call(at, end + 8, 0));
        printf(" %d\n", (int)(end[8] == (uint8_t)(uintptr_t)(at + 12)));
        at[7] = 0xE8;
    }
}

/* A store that crosses into the next page, both of code that was executed. */
static void across(uint8_t *edge) {
    uint8_t *at = edge - 12, *end = PUT(at, "\x48\x89\x37");  /* mov %rsi, (%rdi) */
    uint64_t value = 0;
    memset(end, 0x90, 16);
    put_constant(end + 6, 4);
    for (int i = 0; i < 3; i++) {
        uint8_t bytes[8];
        put_constant(bytes, 300 + i);
        bytes[6] = bytes[7] = 0xC3;
        memcpy(&value, bytes, 8);
        printf("across %d\n", call(at, end + 6, value));
    }
}

static void fill(int file, uint32_t value) {
    uint8_t bytes[PAGE + 8];
    memset(bytes, 0, sizeof(bytes));
    put_constant(bytes + PAGE, value);
    if (write(file, bytes, sizeof(bytes)) < 0)
        _exit(1);
}

/* The kernel writes to pages of code, from the page before on. */
static void by_the_kernel(uint8_t *at) {
    int ends[2];
    struct iovec parts[2] = {{at - PAGE, PAGE}, {at, 8}};
    if (pipe(ends))
        _exit(1);
    put_constant(at, 5);
    printf("kernel %d\n", call(at, 0, 0));
    for (int i = 0; i < 3; i++) {
        fill(ends[1], 400 + i);
        long bytes = i < 2 ? read(ends[0], at - PAGE, PAGE + 8) : readv(ends[0], parts, 2);
        printf("kernel %ld %d\n", bytes, call(at, 0, 0));
    }
    printf("readlink %ld\n", (long)readlink("/proc/self/exe", (char *)at + 64, 3));
    madvise(at, PAGE, MADV_DONTNEED);
    put_constant(at, 6);
    printf("zeroed %d\n", call(at, 0, 0));
}

/* Code that is written through another mapping, and through the file. */
static void elsewhere(void) {
    int file = memfd_create("code", 0);
    uint8_t *to, *from, bytes[6];
    if (ftruncate(file, PAGE))
        _exit(1);
    to = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    from = mmap(0, PAGE, PROT_READ, MAP_SHARED, file, 0);
    mprotect(from, PAGE, PROT_READ | PROT_EXEC);
    for (int i = 0; i < 3; i++) {
        put_constant(to, (uint32_t)(600 + i));
        printf("elsewhere %d\n", call(from, 0, 0));
    }
    put_constant(bytes, 700);
    if (pwrite(file, bytes, sizeof(bytes), 0) < 0)
        _exit(1);
    printf("elsewhere %d\n", call(from, 0, 0));
}

static volatile sig_atomic_t handled;

static void handle(int number) {
    handled += number == SIGUSR1;
}

/* A signal's frame is in a page of code. */
static void framed(uint8_t *at) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = at, .ss_size = 2 * PAGE}, none = {.ss_flags = SS_DISABLE};
    sigaction(SIGUSR1, &action, 0);
    sigaltstack(&stack, 0);
    for (int i = 0; i < 3; i++) {
        put_constant(at + 2 * PAGE - 64, 500 + i);
        printf("framed %d", call(at + 2 * PAGE - 64, 0, 0));
        raise(SIGUSR1);
        printf(" %d\n", (int)handled);
    }
    sigaltstack(&none, 0);
}

int main(void) {
    code = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    store(code + PAGE);
    repeated(code + PAGE + 512);
    pushed(code + PAGE + 1024);
    across(code + 2 * PAGE);
    by_the_kernel(code + PAGE);
    framed(code + PAGE);
    elsewhere();
    for (int i = 0; i < 600; i++) {
        mprotect(code, PAGE, PROT_READ | (i & 1 ? PROT_EXEC : 0) | PROT_WRITE);
        put_constant(code, (uint32_t)i);
        if (i & 1 && call(code, 0, 0) != i)
            return 1;
    }
    return 0;
}
