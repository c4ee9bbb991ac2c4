/* Shared declarations of the plugin's files. */

#ifndef PFMON_QEMU_PLUGIN_PARTS_H
#define PFMON_QEMU_PLUGIN_PARTS_H

#include <pthread.h>

#include "code.h"
#include "announcement.h"

enum {
    MAX_INSTRUCTION_BYTES = 15,
    MAX_BLOCK_LENGTH = 255,           /* instructions of a block in the stream; qemu's have up to 512 */
    FULL = RING_BUFFER_WORDS - MAX_TRANSLATED_SLOTS - 17    /* words of a full buffer: a block and the words that the
                                                               reader adds fit into the rest */
};

static const uint64_t ACCESS = (uint64_t)1 << 32;     /* increment of `progress` by a counted access */
static const uint64_t LOOK = (uint64_t)1 << 48;       /* never added: the next block does more than write a word */

struct code_block {              /* instructions that follow each other in memory */
    uint64_t ip, whole;
    uint32_t length;
    int cut;
    struct code end;             /* its last instruction */
    uint32_t counters;
    uint32_t file;               /* mapped.c */
    uint8_t sizes[MAX_TRANSLATED_INSTRUCTIONS];
    uint8_t bytes[MAX_TRANSLATED_INSTRUCTIONS * MAX_INSTRUCTION_BYTES];
};

enum { MAPPED_PAGE = 1 << 12 };

struct mapping {                 /* a call that maps or unmaps */
    uint64_t address, length, offset;
    uint32_t protection, flags;
    int file;
    enum { UNMAPS, MAPS, PROTECTS } kind;
};

#pragma GCC visibility push(hidden)

/* Each part uses those above it. */

/* Shared memory and the stream's buffers (stream.c). */
extern struct area *area;
extern size_t area_bytes;        /* of the whole area */
extern struct ring *ring;
extern uint64_t *words;          /* the buffer that is filled */
extern unsigned int threads;     /* maximum at a time */
extern uint32_t thread_numbers[MAX_GUEST_THREADS];  /* of those that are there, in the stream */
extern bool is_child;            /* this is a child of the program, without a reader */

_Noreturn void give_up(enum trouble why);
void hand_over(void);            /* a full buffer, to the reader */

/* Guards all but a single first thread. */
void enter(void);
void leave(void);
void fresh_lock(void);

/* Announced blocks (announce.c). */
uint32_t sum_of(const uint8_t *sizes, uint32_t length);
uint32_t part_of(uint32_t length);
const struct announcement *part_behind(const struct announcement *part);
struct announcement *block_of(const struct code_block *wanted);
void announce_file(uint64_t start, uint64_t end, uint64_t offset, const char *path);
bool copy_announcements(struct area *to);

/* Files that are mapped executable (mapped.c): the mapping calls seen by calls.c. */
uint32_t mapped_at(uint64_t address);
void before_mapping(unsigned int cpu, const struct mapping *call);
void after_mapping(unsigned int cpu, int64_t result, uint64_t most);

/* Whether this qemu reverses the order of a program's environment (interface.c). */
bool reverses_environment(void);

/* Addresses of accesses (accesses.c). */
struct qemu_plugin_insn;
void trace(struct qemu_plugin_insn *instruction, const struct code *code, bool last, uint32_t slot, bool threaded);
void put_slots(uint64_t *slots, uint32_t count);
void put_string(struct thread *thread, const struct announcement *block, uint32_t slots);
void forget_accesses(struct thread *thread);

/* Retired blocks (partial_block.c). */
void put_block(struct thread *thread, const struct announcement *block, uint64_t taken);
bool finish_last_block(struct thread *thread, uint64_t next_ip);

/* Counting without a stream (totals.c). */
struct qemu_plugin_tb;
uint32_t counters_for(uint32_t marks);
void count_block(struct qemu_plugin_tb *tb, const struct announcement *block, const struct code_block *wanted,
                 bool without_list);

/* Children (child.c). */
size_t bytes_of(int file);
void *map_file(int file, size_t bytes);
bool watch_the_end(int area_file);
void before_child(void);
void in_child(void);

#pragma GCC visibility pop

/* A word of the stream. The buffer has room: `put_block` ensures it. */
static inline void put(uint64_t word) {
    words[area->count] = word;
    area->count++;
}

static inline void put_mark(int kind, uint64_t instruction, uint64_t value) {
    put((uint64_t)1 << 63 | (uint64_t)kind << 56 | instruction << 32 | (value & 0xFFFFFFFF));
}

#endif
