/* The places of an announcement's parts in the area, and that of a file (layout.h). */

#ifndef PFMON_QEMU_ANNOUNCEMENT_H
#define PFMON_QEMU_ANNOUNCEMENT_H

#include <string.h>

#include "code.h"
#include "layout.h"
#include "x86_gather.h"

static const uint64_t TAKEN = (uint64_t)1 << 32;      /* in a block's word: condition 0 */

static inline uint8_t *sizes_of(const struct announcement *block) {
    return (uint8_t *)(block + 1);
}

/* Bytes of an announcement without its counters. */
static inline uint64_t room_of(uint32_t length, uint32_t bytes) {
    return (sizeof(struct announcement) + length + bytes + 7) & ~(uint64_t)7;
}

static inline uint64_t *counters_of(const struct announcement *block) {
    return (uint64_t *)((uint8_t *)block + room_of(block->length, block->bytes));
}

/* The number of an instruction's addresses in its size byte. */
static inline uint8_t slots_code(const struct code *code) {
    return code->elements ? GATHER_SLOTS : code->slots;
}

/* The number of addresses of an instruction with that size byte. */
static inline uint32_t slots_of_size(uint8_t size, const uint8_t *bytes) {
    uint32_t slots = size >> SLOTS_SHIFT & 3;
    return slots == GATHER_SLOTS ? x86_gather_of(bytes, size & SIZE_BITS).elements : slots;
}

/* Fill the announcement of a file that is mapped executable: its address, file offset, and path as code. */
static inline void fill_file(struct announcement *it, uint64_t start, uint64_t end, uint64_t offset, const char *path) {
    memset(it, 0, sizeof(struct announcement));
    it->ip = start;
    it->last_ip = end;
    it->next_ip = offset;
    it->bytes = (uint32_t)strlen(path);
    memcpy(it + 1, path, it->bytes);
}

#endif
