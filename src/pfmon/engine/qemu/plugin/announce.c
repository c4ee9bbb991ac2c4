/* Announces blocks to the reader, each once: the same code at the same address keeps its number. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "parts.h"

enum {
    COMMIT = 1 << 18,            /* bytes of the area that get memory at once */
    POPULATE = 23                /* by madvise (MADV_POPULATE_WRITE, Linux 5.14) */
};

struct known {                   /* an announced block */
    struct known *next;          /* with the same hash */
    uint64_t hash;
    struct announcement *block;
};

static uint64_t area_used = AREA_HEAD, area_committed = AREA_HEAD;
static uint64_t numbers;         /* of blocks so far */

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

/* Reserve memory after the announcements. */
static void *area_room(uint64_t bytes) {
    uint64_t step = COMMIT;
    if (area_used + bytes > area_bytes)
        give_up(AREA_FULL);
    if (area_used + bytes > area_committed) {
        if (area_committed + step > area_bytes)
            step = area_bytes - area_committed;
        if (madvise((char *)area + area_committed, step, POPULATE) && errno != EINVAL)
            give_up(NO_MEMORY);
        area_committed += step;
    }
    return (char *)area + area_used;
}

const struct announcement *part_behind(const struct announcement *part) {
    return (const struct announcement *)(counters_of(part) + part->counters);
}

uint32_t sum_of(const uint8_t *sizes, uint32_t length) {
    uint32_t i, sum = 0;
    for (i = 0; i < length; i++)
        sum += sizes[i] & SIZE_BITS;
    return sum;
}

static uint16_t slots_of(const uint8_t *sizes, const uint8_t *bytes, uint32_t length) {
    uint32_t i, sum = 0;
    for (i = 0; i < length; i++) {
        sum += slots_of_size(sizes[i], bytes);
        bytes += sizes[i] & SIZE_BITS;
    }
    return (uint16_t)sum;
}

uint32_t part_of(uint32_t length) {
    return length < MAX_BLOCK_LENGTH ? length : MAX_BLOCK_LENGTH;
}

static bool is_same(const struct announcement *block, const struct code_block *wanted) {
    const struct announcement *part = block;
    uint32_t done = 0, done_bytes = 0;
    if (block->ip != wanted->ip || block->instructions != wanted->length || block->cut != wanted->cut
            || block->file != wanted->file)
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

/* Announce a block, in parts; returns the first of them. */
static struct announcement *announce(const struct code_block *wanted) {
    uint32_t count = sum_of(wanted->sizes, wanted->length), done = 0, done_bytes = 0, part;
    uint32_t parts = (wanted->length + MAX_BLOCK_LENGTH - 1) / MAX_BLOCK_LENGTH;
    struct announcement *first = NULL;
    for (part = 0; part < parts; part++) {
        uint32_t length = part_of(wanted->length - done), bytes = sum_of(wanted->sizes + done, length);
        uint32_t counters = part == 0 ? wanted->counters : 0;
        struct announcement *it = area_room(room_of(length, bytes) + counters * sizeof(uint64_t));
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
        it->counters = counters;
        it->file = wanted->file;
        it->slots = slots_of(wanted->sizes + done, wanted->bytes + done_bytes, length);
        memcpy(sizes_of(it), wanted->sizes + done, length);
        memcpy(sizes_of(it) + length, wanted->bytes + done_bytes, bytes);
        memset(counters_of(it), 0, counters * sizeof(uint64_t));
        area_used += room_of(length, bytes) + counters * sizeof(uint64_t);
        first = first ? first : it;
        done += length;
        done_bytes += bytes;
    }
    __atomic_store_n(&area->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
    return first;
}

/* Announce a file that is mapped executable, in place of a block. */
void announce_file(uint64_t start, uint64_t end, uint64_t offset, const char *path) {
    uint64_t room = room_of(0, (uint32_t)strlen(path));
    fill_file(area_room(room), start, end, offset, path);
    area_used += room;
    __atomic_store_n(&area->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
}

/* A child continues with an area of its own, mapped in place of its parent's, which holds the same announcements. */
bool copy_announcements(struct area *to) {
    uint64_t bytes = (area_used + COMMIT - 1) & ~(uint64_t)(COMMIT - 1);
    if (bytes > AREA_HEAD && madvise((char *)to + AREA_HEAD, bytes - AREA_HEAD, POPULATE) && errno != EINVAL)
        return false;
    memcpy((char *)to + AREA_HEAD, (const char *)area + AREA_HEAD, area_used - AREA_HEAD);
    area_committed = bytes > AREA_HEAD ? bytes : AREA_HEAD;
    to->inherited = area_used - AREA_HEAD;
    __atomic_store_n(&to->announced, area_used - AREA_HEAD, __ATOMIC_RELEASE);
    return true;
}

/* The block with these instructions: an announced one, or a new one. */
struct announcement *block_of(const struct code_block *wanted) {
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
