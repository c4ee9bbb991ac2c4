/* Makes system calls with pointers into the memory of the x86_64 engine's runtime. Arguments: nothing, for given calls, whose
   results it prints; or a seed and a number of random calls, after which it ends with status 3. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "x86_64_areas.h"

enum { FILE_IN_MEMORY = 9 };

enum { LOW = 8 };
static uint64_t places[] = {0x60000000, 0x60001000, 0x60400000, 0x70000000, 0x7D010000, 0x7E000000, 0x7E000090, 0x7E100000,
                            0x6FFFFFFFF000, 0x700000000000, 0x700100000000, 0x710000000000};

/* The memory map's addresses become those of this run. */
static void find_areas(void) {
    uint64_t slide = slide_of_areas();
    int i;
    for (i = 1; i < LOW; i++)
        places[i] += slide;
    if (slide)
        places[10] = data_of_runtime(image_of_runtime(slide));
}

static void show(const char *name, long result) {
    printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

#define TRY(name, ...) show(#name, syscall(SYS_##name, __VA_ARGS__))

static void give_pointers(long own) {
    int ends[2], pair[2];
    struct iovec inside = {(void *)own, 8};
    struct msghdr message = {.msg_iov = &inside, .msg_iovlen = 1};
    struct ifconf list = {.ifc_len = 64, .ifc_buf = (char *)own};
    char *words[] = {(char *)own, 0};
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        exit(1);
    if (write(ends[1], "12345678", 8) != 8 || write(pair[0], "12345678", 8) != 8)
        exit(1);
    TRY(read, ends[0], own, 8);
    TRY(readv, ends[0], &inside, 1);
    TRY(readv, ends[0], own, 1);
    TRY(write, ends[1], own, 8);
    TRY(writev, ends[1], &inside, 1);
    TRY(recvfrom, pair[1], own, 8, 0, 0, 0);
    TRY(recvmsg, pair[1], &message, 0);
    TRY(sendmsg, pair[1], &message, 0);
    TRY(ioctl, socket(AF_INET, SOCK_DGRAM, 0), SIOCGIFCONF, &list);
    TRY(clock_gettime, 0, own);
    TRY(gettimeofday, own, 0);
    TRY(getrandom, own, 8, 0);
    TRY(getcwd, own, 64);
    TRY(uname, own);
    TRY(rt_sigprocmask, 0, 0, own, 8);
    TRY(rt_sigaction, 10, own, 0, 8);
    TRY(stat, "/", own);
    TRY(stat, own, &message);
    TRY(poll, own, 1, 0);
    TRY(select, 1, own, 0, 0, 0);
    TRY(pipe2, own, 0);
    TRY(execve, "/bin/true", words, 0);
    TRY(mprotect, own & -4096l, 4096, 3);
    TRY(process_vm_readv, getpid(), &inside, 1, &inside, 1, 0);
    TRY(ptrace, 0, 0, 0, 0);
    TRY(io_uring_setup, 1, &message);
    TRY(userfaultfd, 0);
    TRY(read, ends[0], words, 8);
    TRY(read, pair[1], words, 8);
}

static void open_files(void) {
    static const char *const names[] = {"mem", "../self/mem", "task/1000/mem", "smaps", "pagemap", "maps"};
    char path[64];
    unsigned i;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "/proc/self/%s", names[i]);
        show(path, open(path, O_RDONLY));
        show(names[i], openat(open("/proc/self", O_PATH), names[i], O_RDONLY));
    }
}

static uint64_t drawn;

static uint64_t draw(uint64_t below) {       /* xorshift */
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn % below;
}

/* Calls that change nothing but memory, and a file in memory. */
static const int numbers[] = {
    SYS_read, SYS_write, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2,
    SYS_stat, SYS_lstat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access, SYS_faccessat, SYS_readlink,
    SYS_readlinkat, SYS_getcwd, SYS_getdents, SYS_getdents64, SYS_getxattr, SYS_fgetxattr, SYS_listxattr, SYS_flistxattr,
    SYS_rt_sigpending, SYS_getitimer, SYS_gettimeofday, SYS_clock_gettime, SYS_clock_getres, SYS_times, SYS_time, SYS_getrusage,
    SYS_getrlimit, SYS_sysinfo, SYS_uname, SYS_getgroups, SYS_getresuid, SYS_getresgid, SYS_capget, SYS_getcpu, SYS_getrandom,
    SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getattr, SYS_sched_rr_get_interval, SYS_get_mempolicy, SYS_mincore,
    SYS_getsockname, SYS_getpeername, SYS_getsockopt, SYS_recvfrom, SYS_recvmsg, SYS_sendmsg, SYS_poll, SYS_sendfile,
    SYS_copy_file_range, SYS_name_to_handle_at, SYS_timer_gettime, SYS_timerfd_gettime, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_ptrace, SYS_userfaultfd, SYS_io_uring_setup, SYS_get_robust_list, SYS_io_getevents, SYS_inotify_rm_watch,
};

static uint64_t draw_argument(void) {
    static const uint64_t sizes[] = {0, 1, 8, 16, 4096, 1 << 20};
    static uint64_t room[512];
    switch (draw(4)) {
    case 0:
        return sizes[draw(sizeof(sizes) / sizeof(sizes[0]))];
    case 1:
        return (uint64_t)room;
    default:
        return places[draw(sizeof(places) / sizeof(places[0]))] + draw(4) * 1024;
    }
}

static void make_random_calls(int count) {
    for (; count; count--)
        syscall(numbers[draw(sizeof(numbers) / sizeof(numbers[0]))], draw(2) ? draw_argument() : FILE_IN_MEMORY, draw_argument(),
                draw_argument(), draw_argument(), draw_argument(), draw_argument());
}

int main(int argc, char **argv) {
    find_areas();
    if (argc == 3) {
        drawn = strtoull(argv[1], 0, 0) * 0x9E3779B97F4A7C15u + 1;
        if (dup2(memfd_create("file", 0), FILE_IN_MEMORY) != FILE_IN_MEMORY || ftruncate(FILE_IN_MEMORY, 1 << 16))
            return 1;
        make_random_calls(atoi(argv[2]));
        _exit(3);
    }
    give_pointers((long)places[5] + 0x100);
    open_files();
    return 0;
}
