/* Mappings large, fixed, hinted and moved, the break, and the stack: prints what a program sees of them, which is the same
   natively and under an engine. The argument selects one part. */

#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define MB (1L << 20)
#define GB (1L << 30)
#define TB (1L << 40)

typedef int function(void);

static char *map(void *at, long bytes, int protection, int flags) {
    return mmap(at, (size_t)bytes, protection, ANONYMOUS | flags, -1, 0);
}

/* Use both ends of a mapping. */
static char *use(const char *name, char *at, long bytes) {
    if (at == MAP_FAILED) {
        printf("%s: error %d\n", name, errno);
        return at;
    }
    at[0] = 1;
    at[bytes - 1] = 2;
    printf("%s: %d\n", name, at[0] + at[bytes - 1]);
    return at;
}

static void put_code(char *at, char value) {
    memcpy(at, "\xB8\0\0\0\0\xC3", 6);       /* mov $value, %eax; ret */
    at[1] = value;
}

static void places(void) {
    char *at = use("hint of Go", map((void *)0xC000000000, 64 * MB, 3, 0), 64 * MB);
    printf("followed: %d\n", at == (void *)0xC000000000);
    use("low shadow", map((void *)0x7FFF8000, 0x10000000, 3, MAP_FIXED), 0x10000000);
    use("high shadow", map((void *)0x2008FFF7000, 14 * TB - 8 * GB, 3, MAP_FIXED), 14 * TB - 8 * GB);
    use("beyond 256 GB", map((void *)0x5000000000, MB, 3, MAP_FIXED), MB);
    at = use("code beyond 2 GB", map((void *)0x600000000000, MB, 7, MAP_FIXED), MB);
    put_code(at, 42);
    printf("called: %d\n", ((function *)(void *)at)());
    at = use("below 2 GB", map(0, 300 * MB, 3, MAP_32BIT), 300 * MB);
    printf("is: %d\n", (unsigned long)at + 300 * MB <= 1UL << 31);
    at = map(0, MB, 3, MAP_32BIT);
    printf("occupied: %d\n", map(at, MB, 3, MAP_FIXED_NOREPLACE) == MAP_FAILED && errno == EEXIST);
    printf("bad: %d\n", map((void *)0x7FFFFFFFF000, MB, 3, MAP_FIXED) == MAP_FAILED && errno == ENOMEM);
}

static void sizes(void) {
    int file = memfd_create("sparse", 0);
    char *at = map(0, 300 * GB, PROT_NONE, 0);
    mprotect(at + 100 * GB, 4096, 3);
    use("within 300 GB", at + 100 * GB, 4096);
    printf("unmapped: %d\n", munmap(at, 300 * GB));
    printf("20 TB: %d\n", map(0, 20 * TB, PROT_NONE, 0) != MAP_FAILED);
    printf("40 TB: %d\n", map(0, 40 * TB, PROT_NONE, 0) != MAP_FAILED);
    printf("200 TB: %d\n", map(0, 200 * TB, PROT_NONE, 0) == MAP_FAILED && errno == ENOMEM);
    if (ftruncate(file, 4 * GB) == 0)
        use("file of 4 GB", mmap(0, 4 * GB, 3, MAP_SHARED, file, 0), 4 * GB);
    use("break", sbrk(3 * GB), 3 * GB);
    printf("break down: %d\n", sbrk(-2 * GB) != (void *)-1);
    for (int i = 0; i < 3000; i++) {
        long bytes = 4096 * (1 + i % 3);
        at = map(0, bytes, i % 2 ? 1 : 3, 0);
        if (at == MAP_FAILED)
            printf("mapping %d: error %d\n", i, errno);
        if (i % 3 == 0)
            munmap(at, bytes);
    }
}

static void moves(void) {
    int id = shmget(IPC_PRIVATE, 2 * MB, IPC_CREAT | 0600);
    char *at = map(0, 2 * MB, 3, 0), *to = map(0, 128 * MB, PROT_NONE, 0);
    strcpy(at, "moved");
    munmap(at + MB, MB);
    map(at + MB, 4096, PROT_NONE, MAP_FIXED);
    at = use("grown", mremap(at, MB, 64 * MB, MREMAP_MAYMOVE), 64 * MB);
    at = use("moved", mremap(at, 64 * MB, 128 * MB, MREMAP_MAYMOVE | MREMAP_FIXED, to), 128 * MB);
    printf("shrunk: %s\n", (char *)mremap(at, 128 * MB, 4096, 0) + 1);
    at = map(0, 8192, 7, 0);
    put_code(at, 43);
    printf("called: %d\n", ((function *)(void *)at)());
    at = mremap(at, 8192, MB, MREMAP_MAYMOVE);
    printf("called: %d\n", ((function *)(void *)at)());
    put_code(at, 44);
    printf("called: %d\n", ((function *)(void *)at)());
    use("attached", shmat(id, 0, 0), 2 * MB);
    shmctl(id, IPC_RMID, 0);
}

static sigjmp_buf before;
static volatile int code, deepest;
static char *top, alternate[1 << 16];

static void handle(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    code = info->si_code;
    siglongjmp(before, 1);
}

static int descend(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    deepest = (int)((top - (char *)frame) / MB);
    return descend(depth + 1) + frame[0];
}

static void overflow(long limit) {
    struct rlimit stack;
    getrlimit(RLIMIT_STACK, &stack);
    stack.rlim_cur = (rlim_t)limit;
    printf("limit: %d\n", setrlimit(RLIMIT_STACK, &stack));
    if (!sigsetjmp(before, 1))
        descend(0);
    printf("overflow: %d MB, %d\n", deepest, code);
}

static void on_stack(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    char here, *large;
    top = &here;
    sigaltstack(&stack, 0);
    sigaction(SIGSEGV, &action, 0);
    overflow(8 * MB);
    overflow(64 * MB);
    overflow(300 * MB);
    large = alloca(200 * MB);
    for (long i = 200 * MB - 4096; i >= 0; i -= 4096)
        large[i] = 1;
    printf("large: %d\n", large[0]);
    if (!sigsetjmp(before, 1))
        ((function *)(void *)alternate)();
    printf("not executable: %d\n", code);
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    munmap((void *)(((unsigned long)&here & -4096UL) - MB), MB + 8 * 4096);
    here = 1;
}

int main(int argc, char **argv) {
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'p':
        places();
        return 0;
    case 's':
        sizes();
        return 0;
    case 'm':
        moves();
        return 0;
    default:
        on_stack();
        return 1;
    }
}
