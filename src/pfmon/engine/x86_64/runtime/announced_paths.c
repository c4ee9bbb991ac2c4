/* Announces paths: blocks that executed one behind the other, whose record has one word (layout.h). A path is another path, or
   a block, and one more block: its number, its counter and its announcement stand for the blocks up to that one. */

#include "runtime.h"

enum { BUCKETS = 1 << 16, MORE = 1 << 12 };

static struct path *buckets[BUCKETS];
static const struct path **numbered;
static uint32_t paths, capacity;

static void keep(const struct path *path) {
    if (paths == capacity) {
        const struct path **more = reserve((capacity + MORE) * 2 * sizeof(*more));
        memcpy(more, numbered, paths * sizeof(*more));
        numbered = more;
        capacity = (capacity + MORE) * 2;
    }
    numbered[paths++] = path;
}

/* The instructions of a block's or a path's word, and the addresses that its record has in a traced stream. */
void measure_word(uint64_t word, uint64_t *instructions, uint64_t *slots) {
    uint32_t number = (uint32_t)word & (TAKEN_IN_LINE - 1);
    if (word & PATH_IN_LINE) {
        *instructions = numbered[number]->instructions;
        *slots = numbered[number]->slots;
    } else {
        *instructions = announcement_numbered(number)->instructions;
        *slots = announcement_numbered(number)->slots;
    }
}

static struct path *announce_new(uint32_t word_before, const struct announcement *block) {
    struct announcement *it = area_room(sizeof(*it));
    struct path *path = reserve(sizeof(*path));
    uint64_t instructions, slots;
    measure_word(word_before, &instructions, &slots);
    path->word_before = word_before;
    path->block = (uint32_t)block->number;
    path->number = paths;
    path->instructions = (uint32_t)(instructions + block->instructions);
    path->slots = (uint32_t)(slots + block->slots);
    path->counter = area->totals ? new_counter(path->instructions) : NULL;
    memset(it, 0, sizeof(*it));
    it->number = paths;
    it->ip = word_before;
    it->last_ip = block->number;
    publish_announcement(sizeof(*it));
    keep(path);
    return path;
}

/* The path of a block behind another one's: an announced one, or a new one. `taken`: the branch between them was. */
const struct path *announce_path(const struct block *before, bool taken, const struct announcement *block) {
    uint32_t word_before = before->word | (taken ? (uint32_t)TAKEN_IN_LINE : 0);
    uint64_t hash = (word_before ^ block->number << 32) * 0x9E3779B97F4A7C15u;
    struct path **bucket = &buckets[hash >> 48], *path;
    for (path = *bucket; path; path = path->next)
        if (path->word_before == word_before && path->block == block->number) {
            if (area->totals && !path->counter)
                path->counter = new_counter(path->instructions);
            return path;
        }
    path = announce_new(word_before, block);
    path->next = *bucket;
    *bucket = path;
    return path;
}
