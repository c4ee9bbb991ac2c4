/* The files of /proc and /sys that the runtime makes, since the host's would show the host or the runtime: each is made when it
   is opened, as a file in memory. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>

#include "proc_files.h"

static void put_memory_of_system(struct text *to) {
    uint64_t kilobytes = MEMORY_BYTES >> KILO;
    put_field(to, "MemTotal:       ", kilobytes, " kB\n");
    put_field(to, "MemFree:        ", kilobytes / 2, " kB\n");
    put_field(to, "MemAvailable:   ", kilobytes / 2, " kB\n");
    put_text(to, "Buffers:        0 kB\nCached:         0 kB\nSwapCached:     0 kB\nActive:         0 kB\nInactive:       0 kB\n"
                 "SwapTotal:      0 kB\nSwapFree:       0 kB\nShmem:          0 kB\nSReclaimable:   0 kB\n");
}

static void put_memory_of_node(struct text *to) {
    uint64_t kilobytes = MEMORY_BYTES >> KILO;
    put_field(to, "Node 0 MemTotal:        ", kilobytes, " kB\n");
    put_field(to, "Node 0 MemFree:         ", kilobytes / 2, " kB\n");
    put_field(to, "Node 0 MemUsed:         ", kilobytes / 2, " kB\n");
}

static void put_times(struct text *to, const char *name) {
    put_text(to, name);
    put_field(to, " ", instructions_retired() / TICK, " 0 0 ");
    put_field(to, "", clock_time(1) / TICK, " 0 0 0 0 0 0\n");
}

static void put_statistics(struct text *to) {
    put_times(to, "cpu ");
    put_times(to, "cpu0");
    put_field(to, "intr 0\nctxt 0\nbtime ", world.epoch - world.boot, "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
}

static void put_uptime(struct text *to) {
    uint64_t hundredths = clock_time(1) / (BILLION / 100);
    put_field(to, "", hundredths / 100, ".");
    put_digits(to, hundredths % 100, 10, 2);
    put_field(to, " ", world.boot, ".00\n");
}

static void put_load_average(struct text *to) {
    put_field(to, "0.00 0.00 0.00 1/1 ", process_id(), "\n");
}

static void put_release(struct text *to) {
    put_text(to, (const char *)world.release);
    put_text(to, "\n");
}

static void put_version(struct text *to) {
    put_text(to, "Linux version ");
    put_text(to, (const char *)world.release);
    put_text(to, " " SYSTEM_VERSION "\n");
}

/* A UUID of version 4 (RFC 9562, 5.4). */
static void put_identifier(struct text *to, uint64_t *seed) {
    uint64_t high = next_random(seed), low = next_random(seed);
    put_digits(to, high >> 32, 16, 8);
    put_text(to, "-");
    put_digits(to, high >> 16 & 0xFFFF, 16, 4);
    put_text(to, "-");
    put_digits(to, 0x4000 | (high & 0xFFF), 16, 4);
    put_text(to, "-");
    put_digits(to, 0x8000 | (low >> 48 & 0x3FFF), 16, 4);
    put_text(to, "-");
    put_digits(to, low & 0xFFFFFFFFFFFF, 16, 12);
    put_text(to, "\n");
}

static void put_uuid(struct text *to) {
    put_identifier(to, &world.seed);
}

static void put_boot(struct text *to) {
    uint64_t seed = world.boot;
    put_identifier(to, &seed);
}

/* Without a PMU perf_event_open is refused, as Debian's kernel does at level 3. */
static void put_paranoia(struct text *to) {
    put_text(to, world.flags & HAS_PMU ? "2\n" : "3\n");
}

struct proc_file {
    const char *path;
    void (*put)(struct text *);
    const char *content;         /* without `put` */
    uint64_t unless;             /* HOST_...: the host's file is shown then */
};

static const struct proc_file own_files[] = {
    {"cmdline", put_arguments, 0, 0}, {"comm", put_comm, 0, 0}, {"environ", put_environment, 0, 0},
    {"auxv", put_auxiliary, 0, 0}, {"maps", put_mappings, 0, 0}, {"stat", put_stat, 0, 0}, {"statm", put_statm, 0, 0},
    {"status", put_status, 0, 0}, {"cgroup", 0, "0::/\n", HOST_IDS},
};

static const struct proc_file other_files[] = {      /* of other processes of the run */
    {"cmdline", put_other_arguments, 0, 0}, {"stat", put_other_stat, 0, 0}, {"status", put_other_status, 0, 0},
};

static const struct proc_file system_files[] = {
    {"/proc/cpuinfo", put_processor, 0, 0},
    {"/proc/meminfo", put_memory_of_system, 0, 0},
    {"/proc/stat", put_statistics, 0, HOST_CLOCK},
    {"/proc/uptime", put_uptime, 0, HOST_CLOCK},
    {"/proc/loadavg", put_load_average, 0, 0},
    {"/proc/version", put_version, 0, 0},
    {"/proc/cgroups", 0, "#subsys_name\thierarchy\tnum_cgroups\tenabled\n", HOST_IDS},
    {"/proc/sys/kernel/osrelease", put_release, 0, 0},
    {"/proc/sys/kernel/ostype", 0, "Linux\n", 0},
    {"/proc/sys/kernel/version", 0, SYSTEM_VERSION "\n", HOST_IDS},
    {"/proc/sys/kernel/hostname", 0, HOST_NAME "\n", HOST_IDS},
    {"/proc/sys/kernel/domainname", 0, "(none)\n", HOST_IDS},
    {"/proc/sys/kernel/pid_max", 0, "32768\n", 0},
    {"/proc/sys/kernel/random/uuid", put_uuid, 0, HOST_RANDOM},
    {"/proc/sys/kernel/random/boot_id", put_boot, 0, HOST_IDS},
    {"/proc/sys/kernel/perf_event_paranoid", put_paranoia, 0, 0},
    {"/proc/sys/kernel/perf_event_max_sample_rate", 0, "100000\n", 0},
    {"/proc/sys/kernel/perf_event_mlock_kb", 0, "516\n", 0},
    {"/proc/sys/kernel/perf_event_max_stack", 0, "127\n", 0},
    {"/proc/sys/kernel/perf_cpu_time_max_percent", 0, "0\n", 0},
    {"/proc/sys/kernel/nmi_watchdog", 0, "0\n", 0},
    {"/proc/sys/vm/overcommit_memory", 0, "0\n", 0},
    {"/sys/devices/system/cpu/online", 0, "0\n", 0},
    {"/sys/devices/system/cpu/possible", 0, "0\n", 0},
    {"/sys/devices/system/cpu/present", 0, "0\n", 0},
    {"/sys/devices/system/node/online", 0, "0\n", 0},
    {"/sys/devices/system/node/possible", 0, "0\n", 0},
    {"/sys/devices/system/node/node0/meminfo", put_memory_of_node, 0, 0},
    {"/sys/devices/system/node/node0/cpumap", 0, "1\n", 0},
    {"/sys/devices/system/node/node0/cpulist", 0, "0\n", 0},
};

/* A descriptor of a file with that content, for reading. */
static int64_t open_made(const struct proc_file *it, uint64_t flags) {
    static struct text content, path;
    int64_t made = KERNEL2(__NR_memfd_create, "pfmon", MFD_CLOEXEC), file;
    if (failed(made))
        return made;
    begin_text(&content, (int)made);
    if (it->put)
        it->put(&content);
    else
        put_text(&content, it->content);
    end_text(&content);
    file = KERNEL3(__NR_open, name_of_descriptor((int)made, &path), O_RDONLY | O_CLOEXEC, 0);
    if (failed(file)) {
        KERNEL1(__NR_close, made);
        return file;
    }
    KERNEL3(__NR_dup3, file, made, flags & O_CLOEXEC);
    KERNEL1(__NR_close, file);
    return made;
}

static bool open_of(const struct proc_file *files, size_t count, const char *path, uint64_t flags, int64_t *result) {
    size_t i;
    for (i = 0; i < count; i++)
        if (!strcmp(files[i].path, path) && !(world.flags & files[i].unless)) {
            *result = open_made(&files[i], flags);
            return true;
        }
    return false;
}

/* Open a file that the runtime makes; `own`: the path in the process's directory, or NULL. False: it is another file. */
bool open_proc_file(const char *path, const char *own, uint64_t flags, int64_t *result) {
    const char *other = own ? NULL : other_part(path);
    if (own)
        return open_of(own_files, sizeof(own_files) / sizeof(own_files[0]), own, flags, result);
    if (other)
        return open_of(other_files, sizeof(other_files) / sizeof(other_files[0]), other, flags, result);
    return open_of(system_files, sizeof(system_files) / sizeof(system_files[0]), path, flags, result);
}
