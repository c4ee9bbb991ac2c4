/* The plugin that qemu loads: says what retires, as words of the stream (docs/stream.md, docs/qemu.md).

   qemu executes translation blocks, and calls the plugin before each. That a block begins does not say that it retires
   whole: an instruction in it may fault. So its word is written when the next block begins. Translated code itself adds
   to `progress` whenever it has passed an instruction that may fault; if the sum is not what whole blocks make of it,
   the word is that of the part which retired. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"
#include "layout.h"
#include "qemu_plugin.h"

enum {
    MOST_LENGTH = 255,           /* instructions of a block in the stream; qemu's have up to 512 */
    MOST_TRANSLATED = 3 * MOST_LENGTH,
    CUT_WHOLE = 0, CUT_FAULT = 2, CUT_EDGE = 3,
    MARK_SYSTEM_CALL = 1, MARK_FAULT = 2,
    NO_INSTRUCTION = 255,
    FULL = RING_BUFFER_WORDS - 8,        /* words of a buffer that is handed over: who reads may have some to add */
    COMMIT = 1 << 18,            /* bytes of the area that get memory at once, */
    POPULATE = 23                /* ... which madvise does since Linux 5.14 (MADV_POPULATE_WRITE) */
};

static const uint64_t ACCESS = (uint64_t)1 << 32;     /* what a counted access adds to `progress` */
static const uint64_t LOOK = (uint64_t)1 << 48;       /* never added: the next block has more to do than to write a word */
static const uint64_t TAKEN = (uint64_t)1 << 32;      /* in a block's word: condition 0 */

EXPORTED int qemu_plugin_version = 1;

struct known {                   /* a block that was announced */
    struct known *next;          /* of those with the same hash */
    uint64_t hash;
    struct announcement *block;
};

static struct ring *ring;
static struct area *area;
static uint64_t *words;          /* the buffer that is filled */
static uint64_t area_used = AREA_HEAD, area_committed;
static uint64_t numbers;         /* of blocks, given so far */
static struct thread *first;     /* the first of the program's threads, which is alone at first */
static bool is_64, is_child, threaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* of everything but `first`, while that is alone */

/* ---------------------------------------------------------------- giving up */

static void give_up(enum trouble why) {
    area->trouble = why;
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* ---------------------------------------------------------------- the stream */

static __attribute__((noinline)) void hand_over(void) {
    if (is_child) {              /* nobody reads what a child of the program does */
        area->count = 0;
        return;
    }
    ring->buffers[ring->filling % RING_BUFFERS].count = area->count;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);      /* who is killed here has said what he wrote */
    area->count = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ring->filling++;
    sem_post(&ring->full);
    while (sem_wait(&ring->empty))
        ;                        /* a signal's handler ran */
    if (area->stopping)
        kill(getpid(), SIGKILL);
    words = ring->buffers[ring->filling % RING_BUFFERS].words;
}

static void put(uint64_t word) {
    if (area->count >= FULL)
        hand_over();
    words[area->count] = word;
    area->count++;
}

/* The last block retired whole. */
static __attribute__((noinline)) void put_parts(const struct announcement *block) {
    uint32_t part;
    for (part = 0; part < block->parts; part++)
        put(block->number + part);
}

static void put_mark(int kind, uint64_t instruction, uint64_t value) {
    put((uint64_t)1 << 63 | (uint64_t)kind << 56 | instruction << 32 | (value & 0xFFFFFFFF));
}

/* ---------------------------------------------------------------- announcing blocks */

enum { BUCKETS = 1 << 16 };
static struct known *buckets[BUCKETS];

static uint64_t hash_of(uint64_t ip, const uint8_t *sizes, uint32_t length, const uint8_t *bytes, uint32_t count,
                        int cut) {
    uint64_t hash = (ip ^ (uint64_t)cut << 56) * 0x9E3779B97F4A7C15u;
    uint32_t i;
    for (i = 0; i < length; i++)
        hash = (hash ^ sizes[i]) * 0x100000001B3u;
    for (i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash ^ hash >> 29;
}

struct code_block {              /* instructions that follow each other in memory */
    uint64_t ip, whole;
    uint32_t length;
    int cut;
    struct code end;             /* its last instruction */
    uint8_t sizes[MOST_TRANSLATED];
    uint8_t bytes[MOST_TRANSLATED * 15];
};

/* Room behind the announcements, with memory behind it. */
static void *area_room(uint64_t bytes) {
    uint64_t step = COMMIT;
    if (area_used + bytes > AREA_BYTES)
        give_up(AREA_FULL);
    if (area_used + bytes > area_committed) {
        if (area_committed + step > AREA_BYTES)
            step = AREA_BYTES - area_committed;
        if (madvise((char *)area + area_committed, step, POPULATE) && errno != EINVAL)
            give_up(NO_MEMORY);
        area_committed += step;
    }
    return (char *)area + area_used;
}

static uint8_t *sizes_of(const struct announcement *block) {
    return (uint8_t *)(block + 1);
}

static uint64_t room_of(uint32_t length, uint32_t bytes) {
    return (sizeof(struct announcement) + length + bytes + 7) & ~(uint64_t)7;
}

static const struct announcement *part_behind(const struct announcement *part) {
    return (const struct announcement *)((const char *)part + room_of(part->length, part->bytes));
}

static uint32_t sum_of(const uint8_t *sizes, uint32_t length) {
    uint32_t i, sum = 0;
    for (i = 0; i < length; i++)
        sum += sizes[i] & SIZE_BITS;
    return sum;
}

static uint32_t part_of(uint32_t length) {
    return length < MOST_LENGTH ? length : MOST_LENGTH;
}

static bool is_same(const struct announcement *block, const struct code_block *wanted) {
    const struct announcement *part = block;
    uint32_t done = 0, done_bytes = 0;
    if (block->ip != wanted->ip || block->instructions != wanted->length || block->cut != wanted->cut)
        return false;
    while (done < wanted->length) {
        if (memcmp(sizes_of(part), wanted->sizes + done, part->length)
            || memcmp(sizes_of(part) + part->length, wanted->bytes + done_bytes, part->bytes))
            return false;
        done += part->length;
        done_bytes += part->bytes;
        part = part_behind(part);
    }
    return true;
}

/* Announce a block, in parts; the first of them. */
static struct announcement *announce(const struct code_block *wanted) {
    uint32_t count = sum_of(wanted->sizes, wanted->length), done = 0, done_bytes = 0, part;
    uint32_t parts = (wanted->length + MOST_LENGTH - 1) / MOST_LENGTH;
    struct announcement *first = NULL;
    for (part = 0; part < parts; part++) {
        uint32_t length = part_of(wanted->length - done), bytes = sum_of(wanted->sizes + done, length);
        struct announcement *it = area_room(room_of(length, bytes));
        memset(it, 0, sizeof(struct announcement));
        it->number = numbers++;
        it->ip = wanted->ip + done_bytes;
        it->next_ip = wanted->ip + count;
        it->last_ip = it->next_ip - (wanted->sizes[wanted->length - 1] & SIZE_BITS);
        it->taken = wanted->end.conditional ? TAKEN : 0;
        it->whole = wanted->whole;
        it->instructions = wanted->length;
        it->bytes = bytes;
        it->length = (uint16_t)length;
        it->parts = (uint8_t)parts;
        it->cut = (uint8_t)wanted->cut;
        it->tail = wanted->end.tail;
        it->accesses = wanted->end.accesses;
        memcpy(sizes_of(it), wanted->sizes + done, length);
        memcpy(sizes_of(it) + length, wanted->bytes + done_bytes, bytes);
        area_used += room_of(length, bytes);
        first = first ? first : it;
        done += length;
        done_bytes += bytes;
    }
    __atomic_store_n(&area->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
    return first;
}

/* The block that consists of these instructions: one that was announced, or a new one. */
static struct announcement *block_of(const struct code_block *wanted) {
    uint64_t hash = hash_of(wanted->ip, wanted->sizes, wanted->length, wanted->bytes,
                            sum_of(wanted->sizes, wanted->length), wanted->cut);
    struct known **bucket = &buckets[hash % BUCKETS], *known;
    for (known = *bucket; known; known = known->next)
        if (known->hash == hash && is_same(known->block, wanted))
            return known->block;
    known = malloc(sizeof(struct known));
    if (!known)
        give_up(NO_MEMORY);
    known->block = announce(wanted);
    known->hash = hash;
    known->next = *bucket;
    *bucket = known;
    return known->block;
}

/* ---------------------------------------------------------------- blocks that did not retire whole */

/* The sizes and bytes of the first instructions of a block, of all its parts. */
static void copy_start(struct code_block *to, const struct announcement *from, uint32_t length) {
    uint32_t done_bytes = 0;
    to->ip = from->ip;
    to->length = 0;
    while (to->length < length) {
        uint32_t here = part_of(length - to->length), bytes = sum_of(sizes_of(from), here);
        memcpy(to->sizes + to->length, sizes_of(from), here);
        memcpy(to->bytes + done_bytes, sizes_of(from) + from->length, bytes);
        to->length += here;
        done_bytes += bytes;
        from = part_behind(from);
    }
}

/* How many instructions of a block retired, of whose markers `done` were passed, before the one that faulted. */
static uint32_t retired_before_fault(const struct announcement *block, uint32_t done) {
    static struct code_block all;
    copy_start(&all, block, block->instructions);
    while (done < all.length - 1 && !(all.sizes[done] & MAY_FAULT))
        done++;
    return done;
}

/* The last block retired only so far: put the words of the part that did. */
static void put_cut(struct thread *thread, uint32_t retired, uint64_t next_ip) {
    static struct code_block part;
    const struct announcement *last = thread->last;
    uint64_t stopped;
    area->retired -= last->instructions - retired;
    copy_start(&part, last, retired);
    stopped = part.ip + sum_of(part.sizes, retired);
    part.cut = stopped == next_ip ? CUT_EDGE : CUT_FAULT;      /* code that was changed goes on where it was left */
    part.end = (struct code){false, false, CERTAIN, 0};
    part.whole = 0;
    if (retired)
        put_parts(block_of(&part));
    if (part.cut == CUT_FAULT)
        put_mark(MARK_FAULT, NO_INSTRUCTION, 0);
    thread->last = &area->nothing;
}

/* Whether the last instruction of the last block retired, all others having done so. */
static bool is_whole(const struct announcement *last, uint64_t passed, uint64_t next_ip) {
    switch (last->tail) {
    case COUNTED:
        return passed >> 32 >= last->accesses;
    case REPEATED:
    case SUCCESSOR:
        return next_ip == last->next_ip;
    default:
        return true;
    }
}

/* What became of a thread's last block, now that one at `next_ip` begins. False: that one is another iteration of a
   string instruction, and is nothing new. */
static bool settle(struct thread *thread, uint64_t next_ip) {
    const struct announcement *last = thread->last;
    uint64_t passed = thread->progress - thread->before;
    bool all = (uint32_t)passed >= (uint32_t)last->whole;
    if (all && last->tail == REPEATED && next_ip == last->last_ip) {
        thread->before = thread->progress - (uint32_t)last->whole;
        return false;
    }
    if (is_child)
        thread->last = &area->nothing;
    else if (!all)
        put_cut(thread, retired_before_fault(last, (uint32_t)passed), next_ip);
    else if (!is_whole(last, passed, next_ip))
        put_cut(thread, last->instructions - 1, next_ip);
    return true;
}

/* ---------------------------------------------------------------- what qemu calls */

static void begin(struct thread *thread, const struct announcement *block) {
    thread->before = thread->progress;
    area->retired += block->instructions;
    thread->last = block;
}

/* The bit of the last block's word that says that its branch was taken. Without a branch of its own: the host would
   often mispredict that. */
static uint64_t taken(const struct announcement *last, uint64_t next_ip) {
    return last->taken & -(uint64_t)(next_ip != last->next_ip);
}

/* A block begins, and there may be more to do than to write the last one's word. */
static __attribute__((noinline)) void on_rare_block(struct thread *thread, const struct announcement *block) {
    const struct announcement *last;
    uint32_t part;
    if (!settle(thread, block->ip))
        return;
    last = thread->last;
    for (part = 0; part < last->parts; part++)
        put((last->number + part) | (part + 1 == last->parts ? taken(last, block->ip) : 0));
    begin(thread, block);
}

/* A block begins in a program of one thread. */
static void on_block(unsigned int cpu, void *own) {
    const struct announcement *block = own, *last = first->last;
    uint64_t count = area->count;
    (void)cpu;
    if (__builtin_expect((first->progress - first->before != last->whole) | (count >= FULL), 0)) {
        on_rare_block(first, block);
        return;
    }
    words[count] = last->number | taken(last, block->ip);
    area->count = count + 1;
    begin(first, block);
}

/* ... and in one of several. Translated code cannot add for each thread by itself, so it calls. */
static void on_block_of_thread(unsigned int cpu, void *own) {
    pthread_mutex_lock(&lock);
    on_rare_block(&area->threads[cpu], own);
    pthread_mutex_unlock(&lock);
}

static void on_marker(unsigned int cpu, void *own) {
    area->threads[cpu].progress += (uintptr_t)own;
}

static void on_counted_access(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    (void)what, (void)address, (void)own;
    area->threads[cpu].progress += ACCESS;
}

static void on_syscall(plugin_id id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    struct thread *thread = &area->threads[cpu];
    const struct announcement *last = thread->last;
    (void)id, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    pthread_mutex_lock(&lock);
    thread->last = &area->nothing;
    put_parts(last);
    put_mark(MARK_SYSTEM_CALL, last->parts ? (last->instructions - 1) % MOST_LENGTH : NO_INSTRUCTION, (uint64_t)number);
    area->executing = is_64 ? number == 59 || number == 322 : number == 11 || number == 358;
    pthread_mutex_unlock(&lock);
}

static void on_syscall_return(plugin_id id, unsigned int cpu, int64_t number, int64_t result) {
    (void)id, (void)cpu, (void)number, (void)result;
    area->executing = 0;
}

/* A thread begins. qemu translates everything anew when a program gets its second one. */
static void on_thread(plugin_id id, unsigned int cpu) {
    (void)id;
    if (cpu >= MOST_THREADS)
        give_up(TOO_MANY_THREADS);
    area->threads[cpu].last = &area->nothing;
    threaded |= cpu > 0;
}

static void mark(struct qemu_plugin_insn *instruction, uint32_t passed) {
    if (threaded)
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_marker, NO_REGISTERS, (void *)(uintptr_t)passed);
    else
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, &first->progress, passed);
}

static void mark_accesses(struct qemu_plugin_insn *instruction) {
    if (threaded)
        qemu_plugin_register_vcpu_mem_cb(instruction, on_counted_access, NO_REGISTERS, READS | WRITES, NULL);
    else
        qemu_plugin_register_vcpu_mem_inline(instruction, READS | WRITES, ADD, &first->progress, ACCESS);
}

/* Instructions of a block, without one that qemu gave up as it goes on behind the page (x86_length.c). */
static uint32_t length_of(const struct qemu_plugin_tb *tb) {
    uint32_t length = (uint32_t)qemu_plugin_tb_n_insns(tb);
    const struct qemu_plugin_insn *end;
    if (length < 2)
        return length;
    end = qemu_plugin_tb_get_insn(tb, length - 1);
    return length - !x86_is_whole(qemu_plugin_insn_data(end), qemu_plugin_insn_size(end), is_64);
}

/* Translated code adds to `progress` before the instruction behind each that may fault: the sum is the number of the
   first instruction that is not known to have retired. */
static void on_translate(plugin_id id, struct qemu_plugin_tb *tb) {
    static struct code_block wanted;
    uint32_t length = length_of(tb), i, count = 0, marked = 0;
    struct code code = {false, false, CERTAIN, 0};
    (void)id;
    if (length == 0)
        return;
    if (length > MOST_TRANSLATED)
        give_up(AREA_FULL);
    pthread_mutex_lock(&lock);
    for (i = 0; i < length; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(instruction);
        if (code.may_fault) {    /* the one before */
            mark(instruction, i - marked);
            marked = i;
        }
        memcpy(wanted.bytes + count, qemu_plugin_insn_data(instruction), size);
        code = x86_code(wanted.bytes + count, size, is_64);
        wanted.sizes[i] = (uint8_t)(size | (code.may_fault ? MAY_FAULT : 0));
        count += (uint32_t)size;
        if (i == length - 1 && code.tail == COUNTED && code.accesses > 0)
            mark_accesses(instruction);
    }
    wanted.ip = qemu_plugin_tb_vaddr(tb);
    wanted.length = length;
    wanted.cut = CUT_WHOLE;
    wanted.end = code;
    wanted.whole = marked + (code.tail == COUNTED ? code.accesses * ACCESS : 0)
        + (code.tail == SUCCESSOR || code.tail == REPEATED || length > MOST_LENGTH ? LOOK : 0);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, threaded ? on_block_of_thread : on_block, NO_REGISTERS, block_of(&wanted));
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- setting up */

/* A child of the program goes on with memory of its own in the place of what is shared. */
static void in_child(void) {
    int i;
    is_child = true;
    if (mmap(ring, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
             -1, 0) == MAP_FAILED
        || mmap(area, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
            == MAP_FAILED)
        _exit(127);
    for (i = 0; i < MOST_THREADS; i++)
        area->threads[i].last = &area->nothing;
    pthread_mutex_init(&lock, NULL);
}

static ssize_t keep_message(void *own, const char *text, size_t size) {
    size_t room = MOST_MESSAGE - area->message_length, taken = size < room ? size : room;
    (void)own;
    memcpy(area->message + area->message_length, text, taken);
    area->message_length += (uint32_t)taken;
    return (ssize_t)size;
}

static void *map_file(int file, size_t bytes) {
    struct stat status;
    void *place;
    if (fstat(file, &status) || (size_t)status.st_size != bytes)
        return NULL;
    place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    return place == MAP_FAILED ? NULL : place;
}

EXPORTED int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv) {
    static cookie_io_functions_t keeping = {NULL, keep_message, NULL, NULL};
    int ring_file = -1, area_file = -1, parent = 0, i;
    FILE *messages;
    for (i = 0; i < argc; i++)
        if (sscanf(argv[i], "ring=%d", &ring_file) + sscanf(argv[i], "area=%d", &area_file)
                + sscanf(argv[i], "parent=%d", &parent) < 0)
            continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);              /* who wanted to read has gone */
    ring = map_file(ring_file, sizeof(struct ring));
    area = map_file(area_file, AREA_BYTES);
    if (!ring || !area || memcmp(ring->magic, "pfmonrng", 8))
        return -1;
    close(ring_file);
    close(area_file);
    area_committed = AREA_HEAD;
    is_64 = strcmp(info->target, "x86_64") == 0;
    words = ring->buffers[0].words;
    area->base = area;
    first = &area->threads[0];
    first->last = &area->nothing;
    area->nothing.whole = LOOK;
    pthread_atfork(NULL, NULL, in_child);
    messages = fopencookie(NULL, "w", keeping);
    if (messages) {
        setvbuf(messages, NULL, _IONBF, 0);
        stderr = messages;       /* qemu's own words are not the program's */
    }
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
    return 0;
}
