/* Announces blocks to the reader, each once: the same code at the same address keeps its number (layout.h). */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "runtime.h"

enum { COMMIT = 1 << 18, COMMIT_COUNTERS = 1 << 16, BUCKETS = 1 << 16, MAX_PART = 255 };

struct known {                   /* an announced block */
    struct known *next;          /* with the same hash */
    uint64_t hash;
    const struct announcement *block;
};

struct area *area;
#define shared_area ((struct area *)AREA_AT)     /* what is announced is there, whoever counts */
static uint64_t area_bytes, area_used = AREA_HEAD, area_committed = AREA_HEAD, counters_committed, numbers, counters;
static struct known *buckets[BUCKETS];
static const struct announcement **numbered;
static uint64_t **block_counters;    /* by number */
static uint16_t *lengths;        /* instructions, by counter */

static void map_area(int file, int flags, uint64_t bytes) {
    int64_t place = KERNEL6(__NR_mmap, AREA_AT, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, 0);
    if (place != (int64_t)AREA_AT)
        KERNEL1(__NR_exit_group, 127);
    keep_from_guest(AREA_AT, AREA_HEAD, PROT_READ | PROT_WRITE);
    area = (struct area *)AREA_AT;
    area_bytes = bytes;
    area->base = area;
    area->threads[0].last = &area->nothing;
    numbered = reserve(bytes / sizeof(struct announcement) * sizeof(*numbered));
    block_counters = reserve(bytes / sizeof(struct announcement) * sizeof(*block_counters));
    lengths = reserve(bytes / sizeof(struct announcement) * sizeof(*lengths));
}

void area_begin(int file) {
    int64_t bytes = KERNEL3(__NR_lseek, file, 0, 2);
    map_area(file, MAP_SHARED, failed(bytes) ? 0 : (uint64_t)bytes);
}

/* Of a program that is not counted: nobody reads it. */
void begin_private_area(void) {
    map_area(-1, MAP_PRIVATE | MAP_ANONYMOUS, AREA_ROOM);
    area->totals = 1;
}

const struct announcement *announcement_numbered(uint64_t number) {
    return numbered[number];
}

/* The counter of a block's runs; where the stream has those of other times, it is there from its first use on. */
uint64_t *counter_of(const struct announcement *block) {
    if (!block_counters[block->number])
        block_counters[block->number] = new_counter(block->instructions);
    return block_counters[block->number];
}

/* Instructions retired, by the counters. */
uint64_t count_runs(void) {
    const uint64_t *last = (const uint64_t *)(AREA_AT + area_bytes) - 1;
    uint64_t sum = 0, i;
    for (i = 0; i < counters; i++)
        sum += *(last - i) * lengths[i];
    return sum;
}

/* Whether the kernel has memory for a part of the area, of which stores could otherwise raise SIGBUS. */
static void commit(uint64_t offset, uint64_t bytes) {
    if (KERNEL3(__NR_madvise, AREA_AT + offset, bytes, MADV_POPULATE_WRITE) == -12)
        give_up(NO_MEMORY);
}

/* Memory after the announcements. */
void *area_room(uint64_t bytes) {
    if (area_used + bytes + COMMIT + counters_committed > area_bytes)
        give_up(AREA_FULL);
    if (area_used + bytes > area_committed) {
        commit(area_committed, COMMIT);
        keep_from_guest(AREA_AT + area_committed, COMMIT, PROT_READ | PROT_WRITE);
        area_committed += COMMIT;
    }
    return (uint8_t *)AREA_AT + area_used;
}

static void commit_counters(void) {
    counters_committed += COMMIT_COUNTERS;
    if (area_committed + counters_committed > area_bytes)
        give_up(AREA_FULL);
    commit(area_bytes - counters_committed, COMMIT_COUNTERS);
}

/* The counter of what is announced next, of that many instructions. */
uint64_t *new_counter(uint32_t instructions) {
    if ((counters + 1) * sizeof(uint64_t) > counters_committed)
        commit_counters();
    lengths[counters++] = (uint16_t)instructions;
    return (uint64_t *)(AREA_AT + area_bytes) - counters;
}

/* The reader finds what was written last. */
void publish_announcement(uint64_t bytes) {
    if (area != shared_area)
        memcpy((uint8_t *)area + area_used, (uint8_t *)AREA_AT + area_used, bytes);
    area_used += bytes;
    __atomic_store_n(&shared_area->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
    if (area != shared_area)
        __atomic_store_n(&area->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
}

static uint64_t hash_of(const struct code_block *it) {
    uint64_t hash = (it->ip ^ (uint64_t)it->cut << 56) * 0x9E3779B97F4A7C15u;
    uint32_t i;
    for (i = 0; i + 8 <= it->bytes; i += 8) {
        uint64_t part;
        __builtin_memcpy(&part, it->code + i, 8);
        hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; i < it->bytes; i++)
        hash = (hash ^ it->code[i]) * 0x100000001B3u;
    return hash ^ hash >> 31;
}

static bool is_same(const struct announcement *block, const struct code_block *wanted) {
    return block->ip == wanted->ip && block->length == wanted->length && block->bytes == wanted->bytes
        && block->cut == wanted->cut && block->file == wanted->file
        && !memcmp(sizes_of(block), wanted->sizes, wanted->length)
        && !memcmp(sizes_of(block) + block->length, wanted->code, wanted->bytes);
}

/* A block of less than MAX_PART instructions is announced in one part. */
static const struct announcement *announce_new(const struct code_block *wanted) {
    uint64_t bytes = room_of(wanted->length, wanted->bytes);
    struct announcement *it = area_room(bytes);
    if (area->totals)
        block_counters[numbers] = new_counter(wanted->length);
    numbered[numbers] = it;
    it->number = numbers++;
    it->ip = wanted->ip;
    it->next_ip = wanted->ip + wanted->bytes;
    it->last_ip = it->next_ip - (wanted->sizes[wanted->length - 1] & SIZE_BITS);
    it->taken = wanted->conditional ? TAKEN : 0;
    it->instructions = wanted->length;
    it->bytes = wanted->bytes;
    it->length = (uint16_t)wanted->length;
    it->parts = 1;
    it->cut = (uint8_t)wanted->cut;
    it->tail = CERTAIN;
    it->file = wanted->file;
    it->slots = (uint16_t)wanted->slots;
    memcpy(sizes_of(it), wanted->sizes, wanted->length);
    memcpy(sizes_of(it) + wanted->length, wanted->code, wanted->bytes);
    publish_announcement(bytes);
    return it;
}

/* The block with these instructions: an announced one, or a new one. */
const struct announcement *announce(const struct code_block *wanted) {
    uint64_t hash = hash_of(wanted);
    struct known **bucket = &buckets[hash % BUCKETS], *known;
    for (known = *bucket; known; known = known->next)
        if (known->hash == hash && is_same(known->block, wanted))
            return known->block;
    known = reserve(sizeof(struct known));
    known->block = announce_new(wanted);
    known->hash = hash;
    known->next = *bucket;
    *bucket = known;
    return known->block;
}

/* The first `length` instructions of a block, of which the next did not retire. */
const struct announcement *announce_start(const struct announcement *block, uint32_t length, int cut) {
    static struct code_block part;
    const uint8_t *sizes = sizes_of(block);
    uint32_t i;
    part.ip = block->ip;
    part.length = length;
    part.bytes = part.slots = 0;
    part.cut = cut;
    part.conditional = false;
    part.file = block->file;
    for (i = 0; i < length; i++) {
        part.sizes[i] = sizes[i];
        part.slots += slots_of_size(sizes[i], sizes + block->length + part.bytes);
        part.bytes += sizes[i] & SIZE_BITS;
    }
    memcpy(part.code, sizes + block->length, part.bytes);
    return announce(&part);
}

/* Announce a file that is mapped executable, in place of a block. */
void announce_file(uint64_t start, uint64_t end, uint64_t offset, const char *path) {
    uint64_t room = room_of(0, (uint32_t)strlen(path));
    fill_file(area_room(room), start, end, offset, path);
    publish_announcement(room);
}

/* Announce a function of a Python program: `bytes` of text, of which `name` are its name, the others its file's. */
void announce_function(uint64_t first_line, uint64_t name, const char *text, uint32_t bytes) {
    uint64_t room = room_of(0, bytes);
    struct announcement *it = area_room(room);
    memset(it, 0, sizeof(*it));
    it->number = ANNOUNCES_FUNCTION;
    it->ip = first_line;
    it->last_ip = name;
    it->bytes = bytes;
    memcpy(it + 1, text, bytes);
    publish_announcement(room);
}

/* A child of the program has a private copy of the announcements, since its code still counts there, and of the words
   behind `threads`. */
void forget_area(void) {
    enum { WORDS_AT = offsetof(struct area, announced), WORDS = sizeof(struct area) - WORDS_AT };
    uint64_t bytes = area_used - AREA_HEAD, counted = area_bytes - counters_committed;
    uint8_t *copy = reserve(WORDS + bytes + counters_committed), *at = (uint8_t *)AREA_AT;
    memcpy(copy, at + WORDS_AT, WORDS);
    memcpy(copy + WORDS, at + AREA_HEAD, bytes);
    memcpy(copy + WORDS + bytes, at + counted, counters_committed);
    KERNEL6(__NR_mmap, AREA_AT, area_bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    keep_from_guest(AREA_AT, area_committed, PROT_READ | PROT_WRITE);
    memcpy(at + WORDS_AT, copy, WORDS);
    memcpy(at + AREA_HEAD, copy + WORDS, bytes);
    memcpy(at + counted, copy + WORDS + bytes, counters_committed);
}

/* Map a child's own area, with the announcements so far. */
static struct area *map_inheriting(int file) {
    int64_t place = KERNEL6(__NR_mmap, own_address(area_bytes), area_bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0);
    struct area *it = (struct area *)place;
    uint64_t bytes = area_used - AREA_HEAD;
    if (failed(place) || (bytes && KERNEL3(__NR_madvise, place + AREA_HEAD, whole_pages(bytes), MADV_POPULATE_WRITE) == -12))
        give_up(NO_MEMORY);
    keep_from_guest((uint64_t)place, area_bytes, PROT_READ | PROT_WRITE);
    memcpy((uint8_t *)it + AREA_HEAD, (const uint8_t *)AREA_AT + AREA_HEAD, bytes);
    it->inherited = bytes;
    it->threads[0].last = &it->nothing;
    __atomic_store_n(&it->announced, bytes, __ATOMIC_RELEASE);
    it->base = it;
    return it;
}

/* Copy what was announced meanwhile. */
static void catch_up(struct area *it) {
    uint64_t from = AREA_HEAD + it->announced;
    memcpy((uint8_t *)it + from, (const uint8_t *)AREA_AT + from, area_used - from);
    __atomic_store_n(&it->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
}

/* Of a counted child that has a copy of the memory: its area takes the place of its parent's. */
void take_area(int file) {
    struct area *it = map_inheriting(file);
    use_area(shared_area);
    KERNEL2(__NR_munmap, it, area_bytes);
    if (failed(KERNEL6(__NR_mmap, AREA_AT, area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0)))
        give_up(NO_MEMORY);
    area_committed = AREA_HEAD + whole_pages(area_used - AREA_HEAD);
    keep_from_guest(AREA_AT, area_committed, PROT_READ | PROT_WRITE);
}

/* Of a counted child that shares the memory: what it announces is in its parent's area, too. */
void take_second_area(int file) {
    area = map_inheriting(file);
}

/* Go on with the area of before. */
void use_area(struct area *before) {
    if (area != before && area != shared_area)
        KERNEL2(__NR_munmap, area, area_bytes);
    area = before;
    if (area != shared_area)
        catch_up(area);
}
