/* The plugin that qemu loads: says what retires, as words of the stream (docs/stream.md, docs/qemu.md).

   qemu executes translation blocks, and calls the plugin before each. That a block begins does not say that it retires
   whole: an instruction in it may fault. So translated code itself adds to `progress` whenever it has passed an
   instruction that may fault; when the next block begins and the sum is not what whole blocks make of it, the block
   before is settled: its word is still in the buffer, and becomes that of the part which retired. */

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
    MOST_PARTS = 3,
    CUT_WHOLE = 0, CUT_FAULT = 2, CUT_EDGE = 3,
    MARK_SYSTEM_CALL = 1, MARK_FAULT = 2,
    NO_INSTRUCTION = 255,
    COMMIT = 1 << 18,            /* bytes of the area that get memory at once, */
    POPULATE = 23                /* ... which madvise does since Linux 5.14 (MADV_POPULATE_WRITE) */
};

static const uint64_t ACCESS = (uint64_t)1 << 32;     /* what a counted access adds to `progress` */
static const uint64_t LOOK = (uint64_t)1 << 48;       /* expected in vain: the next block settles this one */
static const uint64_t TAKEN = (uint64_t)1 << 32;      /* in a block's word: condition 0 */

EXPORTED int qemu_plugin_version = 1;

struct block {                   /* a translation block */
    uint64_t number;             /* of its first part */
    uint64_t ip, last_ip, next_ip;
    uint64_t whole;              /* what it adds to `progress` */
    uint64_t taken;              /* bit of its word that says that its branch was taken, or 0 */
    uint32_t length, parts;
    uint8_t tail, accesses;
    const uint8_t *sizes[MOST_PARTS];
    const uint8_t *bytes[MOST_PARTS];
    struct block *next;          /* of those with the same hash */
    uint64_t hash;
    uint8_t cut;
};

static struct ring *ring;
static struct area *area;
static uint64_t area_used = AREA_HEAD, area_committed;
static struct ring_buffer *buffer;
static struct block *last;       /* the block that began last */
static struct block nothing;
static uint64_t numbers;         /* of blocks, given so far */
static bool is_64, is_child;

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
        buffer->count = 0;
        return;
    }
    ring->filling++;
    sem_post(&ring->full);
    while (sem_wait(&ring->empty))
        ;                        /* a signal's handler ran */
    buffer = &ring->buffers[ring->filling % RING_BUFFERS];
}

static void put(uint64_t word) {
    if (buffer->count == RING_BUFFER_WORDS)
        hand_over();
    buffer->words[buffer->count] = word;
    buffer->count++;
}

static void put_mark(int kind, uint64_t instruction, uint64_t value) {
    put((uint64_t)1 << 63 | (uint64_t)kind << 56 | instruction << 32 | (value & 0xFFFFFFFF));
}

/* ---------------------------------------------------------------- announcing blocks */

enum { BUCKETS = 1 << 16 };
static struct block *buckets[BUCKETS];

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

/* Announce one part of a block; where its sizes are kept. */
static const uint8_t *announce(uint64_t ip, const uint8_t *sizes, uint32_t length, const uint8_t *bytes, uint32_t count,
                               int cut, int tail, int parts_before) {
    uint64_t room = (sizeof(struct announcement) + length + count + 7) & ~(uint64_t)7;
    struct announcement *it = area_room(room);
    uint8_t *place = (uint8_t *)(it + 1);
    it->ip = ip;
    it->bytes = count;
    it->length = (uint16_t)length;
    it->cut = (uint8_t)cut;
    it->tail = (uint8_t)tail;
    it->parts_before = (uint8_t)parts_before;
    memcpy(place, sizes, length);
    memcpy(place + length, bytes, count);
    area_used += room;
    __atomic_store_n(&area->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
    numbers++;
    return place;
}

static bool is_same(const struct block *block, uint64_t ip, const uint8_t *sizes, uint32_t length, const uint8_t *bytes,
                    int cut) {
    uint32_t part, done = 0;
    if (block->ip != ip || block->length != length || block->cut != cut)
        return false;
    for (part = 0; part < block->parts; part++) {
        uint32_t here = length - done < MOST_LENGTH ? length - done : MOST_LENGTH;
        uint32_t i, count = 0;
        for (i = 0; i < here; i++)
            count += block->sizes[part][i] & SIZE_BITS;
        if (memcmp(block->sizes[part], sizes + done, here) || memcmp(block->bytes[part], bytes, count))
            return false;
        bytes += count;
        done += here;
    }
    return true;
}

static uint32_t sum_of(const uint8_t *sizes, uint32_t length) {
    uint32_t i, sum = 0;
    for (i = 0; i < length; i++)
        sum += sizes[i] & SIZE_BITS;
    return sum;
}

/* The block that consists of these instructions: one that was announced, or a new one. */
static struct block *block_of(uint64_t ip, const uint8_t *sizes, uint32_t length, const uint8_t *bytes, int cut,
                              struct code end) {
    uint32_t count = sum_of(sizes, length), done = 0;
    uint64_t hash = hash_of(ip, sizes, length, bytes, count, cut), at = ip;
    struct block **bucket = &buckets[hash % BUCKETS], *block;
    for (block = *bucket; block; block = block->next)
        if (block->hash == hash && is_same(block, ip, sizes, length, bytes, cut))
            return block;
    block = calloc(1, sizeof(struct block));
    if (!block)
        give_up(NO_MEMORY);
    block->number = numbers;
    block->ip = ip;
    block->next_ip = ip + count;
    block->last_ip = block->next_ip - (sizes[length - 1] & SIZE_BITS);
    block->taken = end.conditional ? TAKEN : 0;
    block->length = length;
    block->tail = end.tail;
    block->accesses = end.accesses;
    block->hash = hash;
    block->cut = (uint8_t)cut;
    while (done < length) {
        uint32_t here = length - done < MOST_LENGTH ? length - done : MOST_LENGTH;
        uint32_t size = sum_of(sizes + done, here);
        block->sizes[block->parts] = announce(at, sizes + done, here, bytes, size, cut, end.tail, (int)block->parts);
        block->bytes[block->parts] = block->sizes[block->parts] + here;
        block->parts++;
        done += here;
        bytes += size;
        at += size;
    }
    block->next = *bucket;
    *bucket = block;
    return block;
}

/* ---------------------------------------------------------------- blocks that did not retire whole */

static uint8_t size_at(const struct block *block, uint32_t i) {
    return block->sizes[i / MOST_LENGTH][i % MOST_LENGTH];
}

/* How many instructions of a block retired, of whose markers `done` were passed, before the one that faulted. */
static uint32_t retired_before_fault(const struct block *block, uint32_t done) {
    while (done < block->length - 1 && !(size_at(block, done) & MAY_FAULT))
        done++;
    return done;
}

/* The last block retired only so far: make its words those of the part that did. */
static void cut_last(uint32_t retired, uint64_t next_ip) {
    uint8_t sizes[MOST_PARTS * MOST_LENGTH], bytes[MOST_PARTS * MOST_LENGTH * 15];
    uint32_t i, count, done = retired - retired % MOST_LENGTH;
    uint64_t at = last->ip;
    int cut;
    struct code end = {false, false, CERTAIN, 0};
    buffer->count -= last->parts;
    for (i = 0; i < retired / MOST_LENGTH; i++)
        put(last->number + i);
    area->retired -= last->length - retired;
    for (i = 0; i < retired; i++)
        at += size_at(last, i) & SIZE_BITS;
    cut = at == next_ip ? CUT_EDGE : CUT_FAULT;   /* code that was changed goes on where it was left */
    if (retired > done) {
        uint32_t part = retired / MOST_LENGTH;
        memcpy(sizes, last->sizes[part], retired - done);
        count = sum_of(sizes, retired - done);
        memcpy(bytes, last->bytes[part], count);
        put(block_of(at - count, sizes, retired - done, bytes, cut, end)->number);
    }
    if (cut == CUT_FAULT)
        put_mark(MARK_FAULT, NO_INSTRUCTION, 0);
}

/* What became of the last block, now that one at `next_ip` begins. False: that one is another iteration of a string
   instruction, and is nothing new. */
static __attribute__((noinline)) bool settle(uint64_t next_ip) {
    uint64_t passed = area->progress - (area->expected - last->whole);
    uint32_t done = (uint32_t)passed, markers = (uint32_t)last->whole;
    bool whole;
    if (done < markers)
        cut_last(retired_before_fault(last, done), next_ip);
    else {
        switch (last->tail) {
        case COUNTED:
            whole = passed >> 32 >= last->accesses;
            break;
        case REPEATED:
            if (next_ip == last->last_ip) {
                area->expected = area->progress + LOOK;
                area->whole = last->whole;
                return false;
            }
            whole = next_ip == last->next_ip;
            break;
        case SUCCESSOR:
            whole = next_ip == last->next_ip;
            break;
        default:
            whole = true;
        }
        if (!whole)
            cut_last(last->length - 1, next_ip);
    }
    area->expected = area->progress;
    last = &nothing;
    return true;
}

/* ---------------------------------------------------------------- what qemu calls */

static void on_block(unsigned int cpu, void *own) {
    struct block *block = own;
    uint64_t count, number;
    (void)cpu;
    if (__builtin_expect(area->progress != area->expected, 0) && !settle(block->ip))
        return;
    count = buffer->count;
    if (last->taken && block->ip != last->next_ip)
        buffer->words[count - 1] |= last->taken;
    if (__builtin_expect(count + block->parts > RING_BUFFER_WORDS, 0)) {
        hand_over();
        count = 0;
    }
    number = block->number;
    buffer->words[count++] = number;
    while (__builtin_expect(number - block->number + 1 < block->parts, 0))
        buffer->words[count++] = ++number;
    buffer->count = count;
    area->expected += block->whole;
    area->whole = block->whole;
    area->retired += block->length;
    last = block;
}

static void on_syscall(plugin_id id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    (void)id, (void)cpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    put_mark(MARK_SYSTEM_CALL, (last->length - 1) % MOST_LENGTH, (uint64_t)number);
    area->expected = area->progress;
    area->executing = is_64 ? number == 59 || number == 322 : number == 11 || number == 358;
    last = &nothing;
}

static void on_syscall_return(plugin_id id, unsigned int cpu, int64_t number, int64_t result) {
    (void)id, (void)cpu, (void)number, (void)result;
    area->executing = 0;
}

static void on_thread(plugin_id id, unsigned int cpu) {
    (void)id;
    if (cpu > 0 && !is_child)
        give_up(SECOND_THREAD);
}

/* Translated code adds to `progress` before the instruction behind each that may fault: the sum is the number of the
   first instruction that is not known to have retired. */
static void on_translate(plugin_id id, struct qemu_plugin_tb *tb) {
    uint8_t sizes[MOST_PARTS * MOST_LENGTH], bytes[MOST_PARTS * MOST_LENGTH * 15];
    uint32_t length = (uint32_t)qemu_plugin_tb_n_insns(tb), i, count = 0, marked = 0;
    struct code code = {false, false, CERTAIN, 0};
    struct block *block;
    (void)id;
    if (length == 0)
        return;
    for (i = 0; i < length; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(instruction);
        if (code.may_fault) {    /* the one before */
            qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, &area->progress, i - marked);
            marked = i;
        }
        memcpy(bytes + count, qemu_plugin_insn_data(instruction), size);
        code = x86_code(bytes + count, size, is_64);
        sizes[i] = (uint8_t)(size | (code.may_fault ? MAY_FAULT : 0));
        count += (uint32_t)size;
        if (i == length - 1 && code.tail == COUNTED && code.accesses > 0)
            qemu_plugin_register_vcpu_mem_inline(instruction, READS | WRITES, ADD, &area->progress, ACCESS);
    }
    block = block_of(qemu_plugin_tb_vaddr(tb), sizes, length, bytes, CUT_WHOLE, code);
    block->whole = marked + (code.tail == COUNTED ? code.accesses * ACCESS : 0)
        + (code.tail == SUCCESSOR || code.tail == REPEATED ? LOOK : 0);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, block);
}

/* ---------------------------------------------------------------- setting up */

/* A child of the program goes on with memory of its own in the place of what is shared. */
static void in_child(void) {
    is_child = true;
    if (mmap(ring, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
             -1, 0) == MAP_FAILED
        || mmap(area, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
            == MAP_FAILED)
        _exit(127);
    last = &nothing;
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
    buffer = &ring->buffers[0];
    last = &nothing;
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
