/* A guest that executes code of its own behind the back of the x86_64 engine: it overwrites the address at which translated code
   goes to the runtime (runtime/state.h). That code makes system calls itself, and prints what they give. Then it executes the
   runtime anew, as one that confines nothing, for itself. "native": without an engine. The second argument is a directory with a
   file "secret" and a socket, which is outside of the root. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "x86_64_areas.h"


static char secret[4096], folder[4096], made[4096], stack[1 << 16], line[256];
static int is_native, is_again, own_file;

static long raw(long number, long a, long b, long c, long d, long e) {
    register long fourth __asm__("r10") = d, fifth __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
    return result;
}

static void show(const char *what, long result) {
    char digits[24];
    int length = 0, count = 0;
    long value = result < 0 ? -result : result;
    while (*what)
        line[length++] = *what++;
    line[length++] = ' ';
    if (result < 0)
        line[length++] = '-';
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        line[length++] = digits[--count];
    line[length++] = '\n';
    raw(SYS_write, 1, (long)line, length, 0, 0);
}

#define TRY(name, a, b, c, d, e) show(#name, raw(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)))

static struct stat status;
static struct open_how plain = {.flags = O_RDONLY}, path_only = {.flags = O_PATH};
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct timespec times[2];
static long limits[2];

static void files(void) {
    TRY(open, secret, O_RDONLY, 0, 0, 0);
    TRY(open, secret, O_PATH, 0, 0, 0);
    TRY(open, made, O_CREAT | O_WRONLY, 0600, 0, 0);
    TRY(openat, AT_FDCWD, secret, O_RDONLY, 0, 0);
    TRY(openat2, AT_FDCWD, secret, &plain, sizeof(plain), 0);
    TRY(openat2, AT_FDCWD, secret, &path_only, sizeof(path_only), 0);
    TRY(stat, secret, &status, 0, 0, 0);
    TRY(newfstatat, AT_FDCWD, secret, &status, 0, 0);
    TRY(access, secret, 0, 0, 0, 0);
    TRY(chmod, secret, 0777, 0, 0, 0);
    TRY(fchmodat, AT_FDCWD, secret, 0777, 0, 0);
    TRY(chown, secret, -1, -1, 0, 0);
    TRY(utimensat, AT_FDCWD, secret, times, 0, 0);
    TRY(setxattr, secret, "user.x", "y", 1, 0);
    TRY(truncate, secret, 3, 0, 0, 0);
    TRY(chdir, folder, 0, 0, 0, 0);
    TRY(inotify_add_watch, raw(SYS_inotify_init1, 0, 0, 0, 0, 0), secret, 2, 0, 0);
    TRY(mkdirat, AT_FDCWD, made, 0700, 0, 0);
    TRY(unlinkat, AT_FDCWD, made, AT_REMOVEDIR, 0, 0);
    TRY(mknodat, AT_FDCWD, made, S_IFREG | 0600, 0, 0);
    TRY(unlinkat, AT_FDCWD, made, 0, 0, 0);
    TRY(symlinkat, "x", AT_FDCWD, made, 0, 0);
    TRY(renameat2, AT_FDCWD, made, AT_FDCWD, secret, 0);
    TRY(linkat, AT_FDCWD, secret, AT_FDCWD, made, 0);
    TRY(unlinkat, AT_FDCWD, made, 0, 0, 0);
}

static void others(void) {
    int pair[2];
    long file = raw(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0, 0);
    TRY(connect, file, &address, sizeof(address), 0, 0);
    strcpy(address.sun_path, made);
    TRY(bind, raw(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0, 0), &address, sizeof(address), 0, 0);
    TRY(socket, AF_UNIX, SOCK_DGRAM, 0, 0, 0);
    TRY(socketpair, AF_UNIX, SOCK_DGRAM, 0, pair, 0);
    TRY(socket, AF_INET, SOCK_STREAM, 0, 0, 0);
    TRY(socket, AF_NETLINK, SOCK_RAW, 0, 0, 0);
    TRY(kill, raw(SYS_getppid, 0, 0, 0, 0, 0), 0, 0, 0, 0);
    TRY(prlimit64, raw(SYS_getppid, 0, 0, 0, 0, 0), 7, 0, limits, 0);
    TRY(setpriority, 1, 0, 1, 0, 0);
    TRY(ptrace, PTRACE_TRACEME, 0, 0, 0, 0);
    TRY(unshare, 0, 0, 0, 0, 0);
    TRY(name_to_handle_at, AT_FDCWD, "/", line, line, 1);
    TRY(io_uring_setup, 1, stack, 0, 0, 0);
    TRY(shmget, 0, 4096, 0600, 0, 0);
    TRY(prctl, 22, 0, 0, 0, 0);
    if (!is_native)
        TRY(execve, "/bin/true", 0, 0, 0, 0);
}

/* The names that the filter knows: their pages, the beginning, the end. */
static void names(void) {
    unsigned long at, seen = 0;
    for (at = 0x700000000000; at < 0x700000200000; at += 4096) {
        if (raw(SYS_mprotect, (long)at, 4096, PROT_READ | PROT_WRITE, 0, 0) == 0)
            continue;
        if (raw(SYS_mincore, (long)at, 4096, (long)line, 0, 0))
            continue;            /* nothing is there */
        seen++;
        if (raw(SYS_mmap, (long)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) >= 0
            || raw(SYS_munmap, (long)at, 4096, 0, 0, 0) == 0)
            show("replaced", (long)at);
    }
    show("sealed", (long)seen);
}

/* Where the runtime has these bytes, among names that the filter knows. */
static char *find(const void *bytes, int count) {
    char *at = (char *)0x700000000000;
    while (memcmp(at, bytes, count))
        at = raw(SYS_mincore, (long)at & -4096l, 4096, (long)line, 0, 0) ? at + 4096 : at + 32;
    return at;
}

/* Names that the filter takes, for other files than the runtime's. */
static void use_names(void) {
    struct open_how through = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    char *how = find(&through, sizeof(through)), *names = find("/proc/self/fd/0", 16);
    long inside = raw(SYS_openat2, AT_FDCWD, (long)"../../../../..", (long)how, sizeof(through), 0);
    show("inside", inside);
    TRY(openat2, AT_FDCWD, secret, how, sizeof(through), 0);
    TRY(openat2, inside, secret, how, sizeof(through), 0);
    TRY(openat2, inside, "../private/secret", how, sizeof(through), 0);
    TRY(openat2, inside, "/directory/secret", how, sizeof(through), 0);
    TRY(openat2, AT_FDCWD, secret, how + 8, sizeof(through), 0);
    TRY(open, names + 1, O_PATH, 0, 0, 0);
    TRY(open, how, O_PATH, 0, 0, 0);
    TRY(openat2, inside, "..", how, 2 * sizeof(through), 0);
    TRY(clone, 0x10000000, 0, 0, 0, 0);
    TRY(fchmodat, inside, "/secret", 0777, 0, 0);
}

/* The runtime again, without its flag for --confine (runtime/arguments.h). */
static void execute_again(void) {
    static char number[] = {0, 0};
    char *words[] = {"x", "", "", "1", "8388608", "128", "32", "0", "0", "6.1.0", "x86-64-v3", "268435456", "0", "", "/hostile",
                     "/hostile", "", "0", "0", "0", "0", number, "", "0", "0", "0", "0", "0", "", "0", "", "", "100000", "0",
                     "0", "0", "0", "0", "", "0", "hostile", "again", folder, 0};
    number[0] = (char)('0' + own_file);
    show("execve", raw(SYS_execve, (long)find("/proc/self/exe", 15), (long)words, 0, 0, 0));
}

static void act(void) {
    files();
    others();
    if (!is_native) {
        int child = raw(SYS_fork, 0, 0, 0, 0, 0);
        names();
        if (child == 0)
            raw(SYS_exit_group, 0, 0, 0, 0, 0);
        raw(SYS_wait4, child, 0, 0, 0, 0);
    }
    if (!is_native)
        use_names();
    if (!is_native && !is_again)
        execute_again();
    raw(SYS_exit_group, 7, 0, 0, 0, 0);
    __builtin_trap();
}

/* Where translated code goes instead of the runtime. */
__asm__("enter: lea stack+65536-64(%rip), %rsp\n call act\n");
void enter(void) __asm__("enter");
void act(void) __asm__("act") __attribute__((used));

int main(int count, char **words) {
    is_native = !strcmp(words[1], "native");
    is_again = !strcmp(words[1], "again");
    own_file = open("/hostile", O_RDONLY);
    strcpy(folder, words[2]);
    strcat(strcpy(secret, folder), "/secret");
    strcat(strcpy(made, folder), "/made");
    strcat(strcpy(address.sun_path, folder), "/socket");
    if (is_native)
        act();
    *(volatile uint64_t *)(FIRST_WAYS + slide_of_areas()) = (uint64_t)enter;   /* ways->on_exit */
    syscall(SYS_getppid);
    return 1;
}
