/* A program that monitors itself by perf_event_open (linux/perf_event.h): the first argument names what it does. Regions of
   code are made of instructions whose number is known: they begin behind the system call that enables an event and end
   with the one that disables it, which counts, too. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, CONDITIONAL_BRANCHES = 0x1C4 };

static void say(const char *what, long result) {
    printf("%s %ld %s\n", what, result < 0 ? result : 0, result < 0 ? strerror(errno) : "");
}

static int open_event(uint32_t type, uint64_t config, int group, uint64_t period, uint64_t read_format) {
    struct perf_event_attr attributes = {.type = type, .size = sizeof(attributes), .config = config, .sample_period = period,
                                         .read_format = read_format, .disabled = group == -1, .exclude_kernel = 1};
    attributes.sample_type = period ? PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD : 0;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, group, 0);
}

/* 1 + 2 * rounds + 4 instructions, of which `rounds` are conditional branches. */
static void count_down(int file, uint64_t flags, uint64_t rounds) {
    long number = SYS_ioctl, request = PERF_EVENT_IOC_ENABLE;
    __asm__ volatile("syscall\n"
                     "mov %[rounds], %%rbx\n"
                     "1: dec %%rbx\n"
                     "jnz 1b\n"
                     "mov %[ioctl], %%eax\n"
                     "mov %[disable], %%esi\n"
                     "mov %[flags], %%rdx\n"
                     "syscall"
                     : "+a"(number), "+S"(request)
                     : "D"(file), "d"(flags), [rounds] "r"(rounds), [flags] "r"(flags), [ioctl] "i"(SYS_ioctl),
                       [disable] "i"(PERF_EVENT_IOC_DISABLE)
                     : "rbx", "rcx", "r11", "memory", "cc");
}

static uint64_t read_one(int file) {
    uint64_t value = 0;
    if (read(file, &value, sizeof(value)) != sizeof(value))
        perror("read");
    return value;
}

static void regions(void) {
    static const uint64_t rounds[] = {1, 2, 7, 1000, 70001};
    size_t i;
    for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        int instructions = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0);
        int branches = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, instructions, 0, 0);
        int taken = open_event(PERF_TYPE_RAW, 0x20C4, instructions, 0, 0);   /* BR_INST_RETIRED.NEAR_TAKEN */
        count_down(instructions, PERF_IOC_FLAG_GROUP, rounds[i]);
        printf("%lu %lu %lu %lu\n", rounds[i], read_one(instructions), read_one(branches), read_one(taken));
        close(taken);
        close(branches);
        close(instructions);
    }
}

static void formats(void) {
    uint64_t all = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PERF_FORMAT_GROUP;
    uint64_t words[16] = {0}, id = 0;
    int leader = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, all);
    int clock = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, leader, 0, 0);
    long bytes;
    count_down(leader, PERF_IOC_FLAG_GROUP, 100);
    bytes = read(leader, words, sizeof(words));
    ioctl(clock, PERF_EVENT_IOC_ID, &id);
    printf("%ld %lu %lu %lu %lu %lu %d\n", bytes, words[0], words[1], words[2], words[3], words[5], words[6] == id);
    say("room", read(leader, words, (size_t)bytes - 1));
    ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    read(leader, words, sizeof(words));
    printf("%lu %lu %lu\n", words[1], words[3], words[5]);
    prctl(PR_TASK_PERF_EVENTS_ENABLE);
    prctl(PR_TASK_PERF_EVENTS_DISABLE);
    read(leader, words, sizeof(words));
    printf("%d\n", words[3] > 0 && words[3] < 100);
}

/* rdpmc, some instructions, rdpmc, and read, of an enabled event. */
static void counter(void) {
    int file = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0);
    struct perf_event_mmap_page *page = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint32_t low[2], high[2], index;
    uint64_t value[2], read_value = 0, offset;
    long number = SYS_read;
    ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
    index = page->index;
    offset = (uint64_t)page->offset;
    __asm__ volatile("rdpmc\n mov %%eax, %[low0]\n mov %%edx, %[high0]\n"
                     ".rept 11\n nop\n .endr\n"
                     "rdpmc\n mov %%eax, %[low1]\n mov %%edx, %[high1]\n"
                     "mov %[read], %%eax\n mov $8, %%edx\n syscall"
                     : [low0] "=&r"(low[0]), [high0] "=&r"(high[0]), [low1] "=&r"(low[1]), [high1] "=&r"(high[1]), "+a"(number)
                     : "c"(index - 1), "D"(file), "S"(&read_value), [read] "i"(SYS_read)
                     : "rdx", "r11", "memory");
    value[0] = (low[0] | (uint64_t)high[0] << 32) + offset;
    value[1] = (low[1] | (uint64_t)high[1] << 32) + offset;
    printf("%d %d %d\n", (int)page->cap_user_rdpmc, (int)page->cap_user_time, page->pmc_width);
    printf("%lu %lu\n", value[1] - value[0], read_value - value[1]);
    ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
    printf("%u %d\n", page->index, (uint64_t)page->offset == read_one(file));
}

static void multiplexed(void) {
    static const uint64_t umasks[] = {0x00, 0x01, 0x02, 0x08, 0x10, 0x20};   /* of BR_INST_RETIRED */
    enum { EVENTS = sizeof(umasks) / sizeof(umasks[0]) };
    uint64_t value[3];
    int files[EVENTS], i;
    for (i = 0; i < EVENTS; i++)
        files[i] = open_event(PERF_TYPE_RAW, umasks[i] << 8 | 0xC4, -1, 0,
                              PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    prctl(PR_TASK_PERF_EVENTS_ENABLE);
    count_down(-1, 0, 7000000);
    prctl(PR_TASK_PERF_EVENTS_DISABLE);
    for (i = 0; i < EVENTS; i++) {
        read(files[i], value, sizeof(value));
        printf("%lu %lu %lu\n", value[0], value[1], value[2]);
    }
}

/* ---------------------------------------------------------------- overflows */

static volatile long signals, hangups, wrong;
static volatile uint64_t last_ip;

static void handler(int number, siginfo_t *info, void *context) {
    signals++;
    hangups += info->si_code == POLL_HUP;
    wrong += info->si_fd;
    last_ip = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)number;
}

static void notify(int file) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0);
    fcntl(file, F_SETSIG, SIGUSR1);
    fcntl(file, F_SETOWN, getpid());
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_ASYNC);
}

static void overflows(uint64_t config, uint64_t period, uint64_t rounds) {
    int file = open_event(PERF_TYPE_RAW, config, -1, period, 0);
    notify(file);
    count_down(file, 0, rounds);
    printf("%ld %ld %d %lu\n", signals, hangups, wrong == signals * file, read_one(file));
}

/* REFRESH: two overflows, then the event is disabled. */
static void refresh(void) {
    int file = open_event(PERF_TYPE_RAW, CONDITIONAL_BRANCHES, -1, 1000, 0);
    notify(file);
    printf("%d\n", ioctl(file, PERF_EVENT_IOC_REFRESH, 2));
    count_down(-1, 0, 10000);
    printf("%ld %ld %lu\n", signals, hangups, read_one(file));
}

struct record {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t process, thread;
    uint64_t time, period;
};

/* Read all records: how many samples, lost ones, samples at the address of the first; whether they are in order. */
static void read_ring(int file, uint8_t *mapped, int pages) {
    static uint64_t first, last;
    struct perf_event_mmap_page *page = (void *)mapped;
    struct pollfd wanted = {.fd = file, .events = POLLIN};
    uint64_t at, samples = 0, lost = 0, places = 0, in_order = 1;
    int ready = poll(&wanted, 1, 0);
    for (at = page->data_tail; at < page->data_head;) {
        struct record it;
        uint64_t i;
        for (i = 0; i < sizeof(it); i++)
            ((uint8_t *)&it)[i] = mapped[PAGE + (at + i) % (uint64_t)(pages * PAGE)];
        if (it.header.type == PERF_RECORD_SAMPLE) {
            in_order &= it.time > last && it.process == (uint32_t)getpid() && it.period == 500;
            first = first ? first : it.ip;
            places += it.ip == first;
            last = it.time;
            samples++;
        } else if (it.header.type == PERF_RECORD_LOST)
            lost += *(uint64_t *)&it.process;
        at += it.header.size;
    }
    page->data_tail = at;
    printf("%d %d %lu %lu %lu %lu\n", ready, wanted.revents, samples, lost, places, in_order);
}

static void ring(int pages) {
    int file = open_event(PERF_TYPE_RAW, CONDITIONAL_BRANCHES, -1, 500, 0);
    uint8_t *mapped = mmap(0, (size_t)(1 + pages) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    read_ring(file, mapped, pages);
    count_down(file, 0, 100000);
    read_ring(file, mapped, pages);
    count_down(file, 0, 1000);
    read_ring(file, mapped, pages);
    close(file);
    munmap(mapped, (size_t)(1 + pages) * PAGE);
}

/* ---------------------------------------------------------------- refusals */

/* What a kernel refuses, whatever it counts. */
static void errors(void) {
    struct perf_event_attr good = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(good), .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .exclude_kernel = 1}, bad;
    int file = (int)syscall(SYS_perf_event_open, &good, 0, -1, -1, 0);
    uint64_t word = 0;
    char *room = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#define OPEN(what, task, processor, group, flags) \
    say(what, syscall(SYS_perf_event_open, &bad, task, processor, group, flags)); bad = good
    bad = good;
    say("address", syscall(SYS_perf_event_open, 8, 0, -1, -1, 0));
    munmap(room + PAGE, PAGE);
    memcpy(room + PAGE - 64, &good, 64);
    say("part of it", syscall(SYS_perf_event_open, room + PAGE - 64, 0, -1, -1, 0));
    OPEN("flags", 0, -1, -1, 1 << 20);
    OPEN("group", 0, -1, 77, 0);
    OPEN("group of another kind", 0, -1, 1, 0);
    OPEN("task", 99999999, -1, -1, 0);
    OPEN("everything", -1, -1, -1, 0);
    OPEN("processor", 0, 5000, -1, 0);
    bad.size = 8;
    OPEN("small", 0, -1, -1, 0);
    bad.size = 5000;
    OPEN("large", 0, -1, -1, 0);
    bad.sample_type = 1ull << 40;
    OPEN("sample", 0, -1, -1, 0);
    bad.read_format = 1 << 10;
    OPEN("format", 0, -1, -1, 0);
    bad.config = 1000;
    OPEN("software", 0, -1, -1, 0);
    bad.freq = 1, bad.sample_freq = 1ull << 40;
    OPEN("frequency", 0, -1, -1, 0);
    bad.sample_period = 1ull << 63;
    OPEN("period", 0, -1, -1, 0);
    bad.type = PERF_TYPE_HARDWARE, bad.config = 77;
    OPEN("hardware", 0, -1, -1, 0);
    bad.type = PERF_TYPE_HW_CACHE, bad.config = 0x0F0F0F;
    OPEN("cache", 0, -1, -1, 0);
    bad.type = 999;
    OPEN("type", 0, -1, -1, 0);
    say("room", read(file, &word, 7));
    say("to nowhere", syscall(SYS_read, file, 8, 8));
    say("write", write(file, &word, 8));
    say("request", ioctl(file, 0x12345, 0));
    say("period without", ioctl(file, PERF_EVENT_IOC_PERIOD, &word));
    say("period nowhere", ioctl(file, PERF_EVENT_IOC_PERIOD, (void *)8));
    say("id nowhere", ioctl(file, PERF_EVENT_IOC_ID, (void *)8));
    say("refresh", ioctl(file, PERF_EVENT_IOC_REFRESH, 1));
    say("output", ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, 1));
    say("private", (long)mmap(0, PAGE, PROT_READ, MAP_PRIVATE, file, 0));
    say("three pages", (long)mmap(0, 4 * PAGE, PROT_READ, MAP_SHARED, file, 0));
    say("offset", (long)mmap(0, PAGE, PROT_READ, MAP_SHARED, file, 8 * PAGE));
    say("signal", fcntl(file, F_SETSIG, 100));
    say("owner", fcntl(file, F_SETOWN, 99999999));
    say("seek", lseek(file, 0, SEEK_SET));
    close(file);
    say("closed", read(file, &word, 8));
}

/* Of the modelled PMU. */
static void refused(void) {
    static const struct { const char *what; uint32_t type; uint64_t config; } events[] = {
        {"no generic", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
        {"no cache event", PERF_TYPE_HW_CACHE, 0x10100},
        {"no code", PERF_TYPE_RAW, 0xFFFF},
        {"any thread", PERF_TYPE_RAW, 0xC0 | 1 << 21},
        {"tracepoint", PERF_TYPE_TRACEPOINT, 1},
    };
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE, .size = sizeof(attributes), .config = 1};
    int leader, i, failed = 0;
    for (i = 0; i < 5; i++)
        say(events[i].what, open_event(events[i].type, events[i].config, -1, 0, 0));
    say("kernel", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
    attributes.exclude_kernel = 1;
    say("all tasks", syscall(SYS_perf_event_open, &attributes, -1, 0, -1, 0));
    attributes.precise_ip = 1;
    say("precise", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
    leader = open_event(PERF_TYPE_RAW, 0x00C4, -1, 0, 0);
    for (i = 0; i < 6; i++)      /* of different unit masks, on four general counters */
        failed += open_event(PERF_TYPE_RAW, (uint64_t)"\x01\x02\x08\x10\x20\x40"[i] << 8 | 0xC4, leader, 0, 0) < 0;
    printf("%d %s\n", failed, strerror(errno));
}

/* ---------------------------------------------------------------- descriptors and processes */

static void descriptors(void) {
    int file = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0), copy = dup(file), i;
    uint64_t word;
    count_down(file, 0, 10);
    close(file);
    printf("%lu\n", read_one(copy));
    dup2(copy, 30);
    close(copy);
    count_down(30, 0, 10);
    printf("%lu\n", read_one(30));
    close(30);
    say("closed", read(30, &word, 8));
    for (i = 0; i < 3000; i++) {         /* each is released when it is closed */
        file = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0);
        if (file < 0)
            break;
        close(file);
    }
    printf("%d\n", i);
    for (i = 0; open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, -1, 0, 0) >= 0; i++)
        ;
    printf("%d %s\n", i > 100, strerror(errno));
}

static void child(void) {
    int file = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0), status, child;
    count_down(file, 0, 10);
    child = fork();
    if (child == 0) {
        say("child", open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0));
        fflush(stdout);
        _exit(3);
    }
    waitpid(child, &status, 0);
    printf("%d %lu\n", WEXITSTATUS(status), read_one(file));
}

/* Three counts of a region, or 0: they differ. */
static void *count_in_thread(void *rounds) {
    int file = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0), i;
    uint64_t counts[3];
    for (i = 0; i < 3; i++) {
        ioctl(file, PERF_EVENT_IOC_RESET, 0);
        count_down(file, 0, (uint64_t)rounds);
        counts[i] = read_one(file);
    }
    return (void *)(counts[0] == counts[1] && counts[1] == counts[2] ? counts[0] : 0);
}

static void threads(void) {
    pthread_t all[4];
    void *count;
    uint64_t i;
    for (i = 0; i < 4; i++)
        pthread_create(&all[i], 0, count_in_thread, (void *)(10000 * (i + 1)));
    for (i = 0; i < 4; i++) {
        pthread_join(all[i], &count);
        printf("%lu %lu\n", 10000 * (i + 1), (uint64_t)count);
    }
}

/* Count a program that a child executes, from its first instruction on, and a program that this executes. */
static void count_command(char **command) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE, .size = sizeof(attributes), .disabled = 1,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .enable_on_exec = 1,
                                         .inherit = 1};
    int ends[2], child, file, status;
    char byte;
    if (pipe(ends))
        exit(1);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        status = (int)read(ends[0], &byte, 1);
        execv(command[0], command);
        _exit(9);
    }
    file = (int)syscall(SYS_perf_event_open, &attributes, child, -1, -1, 0);
    close(ends[1]);
    waitpid(child, &status, 0);
    printf("%d %lu\n", WEXITSTATUS(status), read_one(file));
}

/* A child reads its parent's event; parts of mappings are replaced; samples have the process's number. */
static void inherited(void) {
    int file = open_event(PERF_TYPE_RAW, CONDITIONAL_BRANCHES, -1, 500, 0), status, child;
    uint8_t *mapped = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint64_t word;
    count_down(file, 0, 1000);
    child = fork();
    if (child == 0) {
        say("read", read(file, &word, 8));
        say("map", (long)mmap(0, PAGE, PROT_READ, MAP_SHARED, file, 0));
        fflush(stdout);
        _exit(close(file));
    }
    waitpid(child, &status, 0);
    printf("%d %d\n", WEXITSTATUS(status), ((struct record *)(mapped + PAGE))->process == (uint32_t)getpid());
    munmap(mapped, PAGE);
    count_down(file, 0, 1000);
    mapped = mmap(mapped, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0);
    count_down(file, 0, 1000);
    printf("%d %lu\n", mapped != MAP_FAILED, read_one(file));
}

static void fault(int number, siginfo_t *info, void *context) {
    printf("%d %d %p\n", number, info->si_code, info->si_addr);
    exit(0);
    (void)context;
}

static void forbidden(uint32_t index) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    uint32_t low, high;
    sigaction(SIGSEGV, &action, 0);
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    printf("%u\n", low);
}

static void forbidden_when_mapped(uint32_t index) {
    int file = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0);
    mmap(0, PAGE, PROT_READ, MAP_SHARED, file, 0);
    forbidden(index);
}

static void identify(void) {
    uint32_t eax = 0xA, ebx, ecx = 0, edx;
    __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    printf("%x %x %x %x\n", eax, ebx, ecx, edx);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    uint64_t first = count > 2 ? strtoull(words[2], 0, 0) : 0, second = count > 3 ? strtoull(words[3], 0, 0) : 0;
    uint64_t third = count > 4 ? strtoull(words[4], 0, 0) : 0;
    if (!strcmp(what, "regions"))
        regions();
    else if (!strcmp(what, "formats"))
        formats();
    else if (!strcmp(what, "counter"))
        counter();
    else if (!strcmp(what, "multiplexed"))
        multiplexed();
    else if (!strcmp(what, "overflows"))
        overflows(first, second, third);
    else if (!strcmp(what, "refresh"))
        refresh();
    else if (!strcmp(what, "ring"))
        ring((int)first);
    else if (!strcmp(what, "errors"))
        errors();
    else if (!strcmp(what, "refused"))
        refused();
    else if (!strcmp(what, "descriptors"))
        descriptors();
    else if (!strcmp(what, "child"))
        child();
    else if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "command"))
        count_command(words + 2);
    else if (!strcmp(what, "inherited"))
        inherited();
    else if (!strcmp(what, "forbidden"))
        forbidden((uint32_t)first);
    else if (!strcmp(what, "forbidden_when_mapped"))
        forbidden_when_mapped((uint32_t)first);
    else if (!strcmp(what, "identify"))
        identify();
    else
        return 2;
    return 0;
}
