/* Files of /proc and /sys that the runtime makes, since the host's would show the host or the runtime (proc(5)): each is made
   when it is opened, as a file in memory. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>

#include "runtime.h"
#include "text.h"

enum { TICK = 10000000, FIELDS = 52, MAX_LINE = 512, KILO = 10 };

static int64_t open_host_file(const char *path) {
    return KERNEL3(__NR_open, path, O_RDONLY | O_CLOEXEC, 0);
}

/* ---------------------------------------------------------------- memory */

/* Bytes of the guest's memory, as far as it can be read. */
static void put_memory(struct text *to, uint64_t start, uint64_t end) {
    uint64_t next;
    for (; start < end && is_readable(start); start = next) {
        next = (start & -(uint64_t)PAGE) + PAGE;
        put_bytes(to, (const char *)start, (next < end ? next : end) - start);
    }
}

static void put_arguments(struct text *to) {
    put_memory(to, program_stack.arguments, program_stack.environment);
}

static void put_environment(struct text *to) {
    put_memory(to, program_stack.environment, program_stack.end);
}

static void put_auxiliary(struct text *to) {
    put_bytes(to, (const char *)program_stack.auxiliary, program_stack.auxiliary_bytes);
}

static uint64_t take_address(const char **text) {
    uint64_t value = 0;
    for (;; ++*text) {
        char c = **text;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

struct mapping {
    uint64_t start, end;
    const char *rights, *offset, *name;      /* parts of its line */
};

/* Take a line of the host's maps apart; false: it is the runtime's. */
static bool take_mapping(char *line, struct mapping *it) {
    const char *at = line;
    it->start = take_address(&at);
    at++;
    it->end = take_address(&at);
    it->rights = ++at;
    it->offset = at + 5;
    it->name = it->offset;
    while (*it->name && *it->name != '/' && *it->name != '[')
        it->name++;
    return !is_own(it->start, PAGE);
}

/* Do something for each of the guest's mappings. */
static void for_mappings(void (*what)(const struct mapping *, void *), void *with) {
    static char line[MAX_LINE + TEXT_ROOM];
    static char piece[TEXT_ROOM];
    int64_t file = open_host_file("/proc/self/maps"), bytes, i;
    uint32_t length = 0;
    struct mapping it;
    if (failed(file))
        return;
    while ((bytes = KERNEL3(__NR_read, file, piece, sizeof(piece))) > 0)
        for (i = 0; i < bytes; i++) {
            if (piece[i] != '\n') {
                if (length < sizeof(line) - 1)
                    line[length++] = piece[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            if (take_mapping(line, &it))
                what(&it, with);
        }
    KERNEL1(__NR_close, file);
}

static uint64_t digits_until_space(const char *text) {
    uint64_t count = 0;
    while (text[count] && text[count] != ' ')
        count++;
    return count;
}

/* A line without the host's numbers of devices and files. */
static void put_mapping(const struct mapping *it, void *with) {
    enum { NAME_AT = 73 };
    struct text *to = with, line;
    const char *name = it->name;
    if (!*name && it->start <= heap_end() && it->end >= heap_start())
        name = "[heap]";
    else if (it->end == GUEST_STACK_END)
        name = "[stack]";
    begin_text(&line, NO_FILE);
    put_digits(&line, it->start, 16, 8);
    put_text(&line, "-");
    put_digits(&line, it->end, 16, 8);
    put_text(&line, " ");
    put_bytes(&line, it->rights, 4);
    put_text(&line, " ");
    put_bytes(&line, it->offset, digits_until_space(it->offset));
    put_text(&line, " 00:00 0 ");
    while (*name && line.length < NAME_AT)
        put_text(&line, " ");
    put_bytes(to, line.bytes, line.length);
    put_text(to, name);
    put_text(to, "\n");
}

static void put_mappings(struct text *to) {
    release_all_code();          /* whose pages are not writable else */
    for_mappings(put_mapping, to);
}

static void add_bytes(const struct mapping *it, void *with) {
    *(uint64_t *)with += it->end - it->start;
}

static uint64_t memory_bytes(void) {
    uint64_t bytes = 0;
    for_mappings(add_bytes, &bytes);
    return bytes;
}

/* ---------------------------------------------------------------- the process */

/* The name of the process, which the kernel keeps: prctl(PR_SET_NAME). */
static void put_name(struct text *to) {
    char name[16] = {0};
    KERNEL2(__NR_prctl, 16, name);
    put_text(to, name);
}

static void put_comm(struct text *to) {
    put_name(to);
    put_text(to, "\n");
}

/* The 52 fields of /proc/PID/stat; those that are not known are 0. */
static void put_stat(struct text *to) {
    uint64_t fields[FIELDS + 1] = {0}, bytes = memory_bytes();
    int i;
    fields[4] = parent_id();
    fields[5] = process_group();
    fields[6] = process_session();
    fields[14] = instructions_retired() / TICK;
    fields[18] = 20;
    fields[20] = 1;              /* threads */
    fields[22] = world.boot * (BILLION / TICK);
    fields[23] = bytes;
    fields[24] = bytes / PAGE;
    fields[25] = ~(uint64_t)0;
    fields[38] = 17;             /* SIGCHLD */
    put_number(to, process_id());
    put_text(to, " (");
    put_name(to);
    put_text(to, ") R");
    for (i = 4; i <= FIELDS; i++) {
        put_text(to, " ");
        if (i == 8)
            put_text(to, "-1");  /* no foreground group */
        else
            put_number(to, fields[i]);
    }
    put_text(to, "\n");
}

static void put_statm(struct text *to) {
    uint64_t pages = memory_bytes() / PAGE;
    put_number(to, pages);
    put_text(to, " ");
    put_number(to, pages);
    put_text(to, " 0 0 0 ");
    put_number(to, pages);
    put_text(to, " 0\n");
}

static void put_field(struct text *to, const char *name, uint64_t value, const char *end) {
    put_text(to, name);
    put_number(to, value);
    put_text(to, end);
}

static void put_four(struct text *to, const char *name, uint64_t value) {
    int i;
    put_text(to, name);
    for (i = 0; i < 4; i++)
        put_field(to, "\t", value, i == 3 ? "\n" : "");
}

static void put_mask(struct text *to, const char *name, uint64_t mask) {
    put_text(to, name);
    put_digits(to, mask, 16, 16);
    put_text(to, "\n");
}

static void put_status(struct text *to) {
    uint64_t kilobytes = memory_bytes() >> KILO;
    put_text(to, "Name:\t");
    put_name(to);
    put_text(to, "\nState:\tR (running)\n");
    put_field(to, "Tgid:\t", process_id(), "\n");
    put_field(to, "Pid:\t", process_id(), "\n");
    put_field(to, "PPid:\t", parent_id(), "\n");
    put_text(to, "TracerPid:\t0\n");
    put_four(to, "Uid:", user_id());
    put_four(to, "Gid:", group_id());
    put_field(to, "Groups:\t", group_id(), " \n");
    put_field(to, "VmSize:\t", kilobytes, " kB\n");
    put_field(to, "VmRSS:\t", kilobytes, " kB\n");
    put_text(to, "Threads:\t1\n");
    put_mask(to, "SigBlk:\t", signal_mask());
    put_text(to, "Cpus_allowed:\t1\nCpus_allowed_list:\t0\nMems_allowed:\t1\nMems_allowed_list:\t0\n");
}

/* ---------------------------------------------------------------- the processor */

struct feature_word {            /* names by bit of a CPUID register, in Linux's order (cpufeatures.h) */
    uint32_t leaf, subleaf;
    int reg;
    const char *names;           /* "-": it has none */
};

static const struct feature_word feature_words[] = {
    {1, 0, RDX, "fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov pat pse36 pn clflush - dts acpi mmx fxsr sse "
                "sse2 ss ht tm ia64 pbe"},
    {0x80000001, 0, RDX, "- - - - - - - - - - - syscall - - - - - - - - nx - mmxext - - fxsr_opt pdpe1gb rdtscp - lm 3dnowext "
                         "3dnow"},
    {1, 0, RCX, "pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 cid sdbg fma cx16 xtpr pdcm - pcid dca sse4_1 "
                "sse4_2 x2apic movbe popcnt tsc_deadline_timer aes xsave - avx f16c rdrand hypervisor"},
    {0x80000001, 0, RCX, "lahf_lm cmp_legacy svm extapic cr8_legacy abm"},
    {7, 0, RBX, "fsgsbase tsc_adjust sgx bmi1 hle avx2 - smep bmi2 erms"},
    {0xD, 1, RAX, "xsaveopt xsavec xgetbv1 xsaves"},
};

static uint32_t cpuid(uint32_t leaf, uint32_t subleaf, int reg) {
    uint64_t registers[4];
    registers[RAX] = leaf;
    registers[RCX] = subleaf;
    emulate_cpuid(registers);
    return (uint32_t)registers[reg];
}

static void put_features(struct text *to) {
    size_t i;
    for (i = 0; i < sizeof(feature_words) / sizeof(feature_words[0]); i++) {
        const struct feature_word *it = &feature_words[i];
        const char *name = it->names;
        uint32_t bits = cpuid(it->leaf, it->subleaf, it->reg);
        for (; *name; bits >>= 1) {
            uint64_t length = digits_until_space(name);
            if (bits & 1 && *name != '-') {
                put_text(to, " ");
                put_bytes(to, name, length);
            }
            name += length + (name[length] == ' ');
        }
    }
}

static void put_registers(struct text *to, uint32_t leaf, const int *regs, int count) {
    int i, j;
    for (i = 0; i < count; i++)
        for (j = 0; j < 4; j++) {
            char character = (char)(cpuid(leaf, 0, regs[i]) >> 8 * j);
            if (character)
                put_bytes(to, &character, 1);
        }
}

/* Kilobytes of the last level. */
static uint64_t cache_size(void) {
    uint32_t level, sizes, bytes = 0;
    for (level = 0; cpuid(4, level, RAX) & 0x1F; level++) {
        sizes = cpuid(4, level, RBX);
        bytes = ((sizes >> 22) + 1) * ((sizes >> 12 & 0x3FF) + 1) * ((sizes & 0xFFF) + 1) * (cpuid(4, level, RCX) + 1);
    }
    return bytes >> KILO;
}

/* The processor that the guest sees, at the nominal frequency of its time. */
static void put_processor(struct text *to) {
    static const int vendor[] = {RBX, RDX, RCX}, brand[] = {RAX, RBX, RCX, RDX};
    uint32_t signature = cpuid(1, 0, RAX), sizes = cpuid(0x80000008, 0, RAX), line = (cpuid(1, 0, RBX) >> 8 & 0xFF) * 8;
    put_text(to, "processor\t: 0\nvendor_id\t: ");
    put_registers(to, 0, vendor, 3);
    put_field(to, "\ncpu family\t: ", signature >> 8 & 15, "\n");
    put_field(to, "model\t\t: ", (signature >> 4 & 15) | (signature >> 12 & 0xF0), "\n");
    put_text(to, "model name\t: ");
    if (cpuid(0x80000002, 0, RAX))
        put_registers(to, 0x80000002, brand, 4);
    else
        put_text(to, "unknown");
    put_field(to, "\nstepping\t: ", signature & 15, "\n");
    put_field(to, "cpu MHz\t\t: 1000.000\ncache size\t: ", cache_size(), " KB\n");
    put_text(to, "physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\napicid\t\t: 0\ninitial apicid\t: 0\n");
    put_field(to, "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: ", cpuid(0, 0, RAX), "\nwp\t\t: yes\nflags\t\t:");
    put_features(to);
    put_field(to, "\nbugs\t\t:\nbogomips\t: 2000.00\nclflush size\t: ", line, "\n");
    put_field(to, "cache_alignment\t: ", line, "\n");
    put_field(to, "address sizes\t: ", sizes & 0xFF, " bits physical, ");
    put_field(to, "", sizes >> 8 & 0xFF, " bits virtual\npower management:\n\n");
}

/* ---------------------------------------------------------------- the system */

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

struct proc_file {
    const char *path;
    void (*put)(struct text *);
    const char *content;         /* without `put` */
    uint64_t unless;             /* HOST_...: the host's file is shown then */
};

static const struct proc_file own_files[] = {
    {"cmdline", put_arguments, 0, 0}, {"comm", put_comm, 0, 0}, {"environ", put_environment, 0, 0},
    {"auxv", put_auxiliary, 0, 0}, {"maps", put_mappings, 0, 0}, {"stat", put_stat, 0, 0}, {"statm", put_statm, 0, 0},
    {"status", put_status, 0, 0},
};

static const struct proc_file system_files[] = {
    {"/proc/cpuinfo", put_processor, 0, 0},
    {"/proc/meminfo", put_memory_of_system, 0, 0},
    {"/proc/stat", put_statistics, 0, HOST_CLOCK},
    {"/proc/uptime", put_uptime, 0, HOST_CLOCK},
    {"/proc/loadavg", put_load_average, 0, 0},
    {"/proc/version", put_version, 0, 0},
    {"/proc/sys/kernel/osrelease", put_release, 0, 0},
    {"/proc/sys/kernel/ostype", 0, "Linux\n", 0},
    {"/proc/sys/kernel/version", 0, SYSTEM_VERSION "\n", HOST_IDS},
    {"/proc/sys/kernel/hostname", 0, HOST_NAME "\n", HOST_IDS},
    {"/proc/sys/kernel/domainname", 0, "(none)\n", HOST_IDS},
    {"/proc/sys/kernel/pid_max", 0, "32768\n", 0},
    {"/proc/sys/kernel/random/uuid", put_uuid, 0, HOST_RANDOM},
    {"/proc/sys/kernel/random/boot_id", put_boot, 0, HOST_IDS},
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
    begin_text(&path, NO_FILE);
    put_text(&path, "/proc/self/fd/");
    put_number(&path, (uint64_t)made);
    file = KERNEL3(__NR_open, path.bytes, O_RDONLY | O_CLOEXEC, 0);
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
    return own ? open_of(own_files, sizeof(own_files) / sizeof(own_files[0]), own, flags, result)
               : open_of(system_files, sizeof(system_files) / sizeof(system_files[0]), path, flags, result);
}
