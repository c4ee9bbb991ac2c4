/* The stream: its words go into buffers that are handed over to the reader when they are full.

   Behind each buffer is a page that cannot be accessed. Translated code does not test whether a buffer is full: its store
   into that page faults, and the signal handler moves the words of the unfinished block to the next buffer. The word behind
   the last one is 0, should this process be killed. */

#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/signal.h>

#include "runtime.h"
#include "world/world.h"

enum { WORD_BYTES = RING_BUFFER_WORDS * sizeof(uint64_t), STEP = WORD_BYTES + PAGE, ALL_BUFFERS = RING_BUFFERS + 1 };

struct ring *ring;
static uint8_t *buffers;         /* each with its guard page */
static uint64_t *counts[RING_BUFFERS];
static uint64_t *start;          /* of the buffer that is filled */
static uint64_t *private_words;  /* behind the others: a buffer for children, whose words nobody reads */
static uint64_t counted_before;  /* in a child: instructions before those in the buffer */

static void *map_part(int file, uint64_t at, uint64_t bytes, uint64_t offset) {
    int64_t place = KERNEL6(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset);
    if (failed(place))
        give_up(NO_MEMORY);
    return (void *)place;
}

static uint8_t *reserve_buffers(void) {
    int64_t room = KERNEL6(__NR_mmap, own_address(ALL_BUFFERS * STEP), ALL_BUFFERS * STEP, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (failed(room))
        give_up(NO_MEMORY);
    private_words = (uint64_t *)(room + RING_BUFFERS * STEP);
    KERNEL3(__NR_mprotect, private_words, WORD_BYTES, PROT_READ | PROT_WRITE);
    return (uint8_t *)room;
}

/* Of a program that is not counted: nobody reads its words. */
void begin_private_ring(void) {
    buffers = reserve_buffers();
    use_private_words();
}

static void map_ring(int file, uint64_t at) {
    uint32_t i;
    ring = map_part(file, at, sizeof(struct ring), 0);
    keep_from_guest((uint64_t)ring, sizeof(struct ring), PROT_READ | PROT_WRITE);
    for (i = 0; i < RING_BUFFERS; i++) {
        uint64_t offset = (uint64_t)((uint8_t *)ring->buffers[i].words - (uint8_t *)ring);
        map_part(file, (uint64_t)buffers + i * STEP, WORD_BYTES, offset);
        counts[i] = &ring->buffers[i].count;
    }
    start = (uint64_t *)buffers;
    state->ring = (uint64_t)start;
}

void ring_begin(int file) {
    buffers = reserve_buffers();
    map_ring(file, own_address(sizeof(struct ring)));
}

/* Of a counted child that has a copy of the memory: its ring takes the place of its parent's. */
void take_ring(int file) {
    map_ring(file, (uint64_t)ring);
    counted_before = 0;
}

void keep_ring(struct kept_ring *to) {
    *to = (struct kept_ring){ring, buffers, start, private_words, counted_before};
}

/* After a child that shared the memory: without the ring that it had, if it was counted. */
void restore_ring(const struct kept_ring *from) {
    uint32_t i;
    if (ring != from->ring) {
        KERNEL2(__NR_munmap, ring, sizeof(struct ring));
        KERNEL2(__NR_munmap, buffers, ALL_BUFFERS * STEP);
    }
    ring = from->ring;
    buffers = from->buffers;
    start = from->start;
    private_words = from->private_words;
    counted_before = from->counted_before;
    for (i = 0; ring && i < RING_BUFFERS; i++)
        counts[i] = &ring->buffers[i].count;
}

static void futex(uint32_t *word, int what, uint32_t value) {
    KERNEL6(__NR_futex, word, what, value, 0, 0, 0);
}

static uint64_t instructions_in(const uint64_t *word, const uint64_t *end) {
    uint64_t sum = 0;
    while (word < end) {
        uint64_t instructions, slots;
        if (*word >> 63) {
            word++;
            continue;
        }
        measure_word(*word, &instructions, &slots);
        sum += instructions;
        word += 1 + (area->traced ? slots : 0);
    }
    return sum;
}

/* Hand the words before `end` over; the next buffer is filled then. */
void hand_over(uint64_t *end) {
    uint32_t read;
    if (in_child)
        counted_before += instructions_in(start, end);
    else {
        *counts[ring->filling % RING_BUFFERS] = (uint64_t)(end - start);
        area->count = 0;
        __atomic_store_n(&ring->filling, ring->filling + 1, __ATOMIC_RELEASE);
        futex(&ring->filling, FUTEX_WAKE, 1 << 30);
        while (ring->filling - (read = __atomic_load_n(&ring->reading, __ATOMIC_ACQUIRE)) >= RING_BUFFERS)
            futex(&ring->reading, FUTEX_WAIT, read);
        if (area->stopping)
            KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
        start = (uint64_t *)(buffers + ring->filling % RING_BUFFERS * STEP);
    }
    *start = 0;
}

/* Whether words may go there: translated code gives the place. */
bool is_in_buffer(uint64_t address) {
    return address - (uint64_t)start <= WORD_BYTES && address % sizeof(uint64_t) == 0;
}

uint64_t *next_words(void) {
    return start;
}

bool in_guard(uint64_t address) {
    uint64_t offset = address - (uint64_t)buffers;
    return offset < ALL_BUFFERS * STEP && offset % STEP >= WORD_BYTES;
}

/* A block's record does not fit into the buffer: move what it has written. */
void continue_in_next_buffer(uint64_t fault, uint64_t *record) {
    uint64_t *end = (uint64_t *)(fault & -(uint64_t)PAGE);
    uint64_t words = record < end ? (uint64_t)(end - record) : 0;
    hand_over(record);
    memcpy(start, record, words * sizeof(uint64_t));
}

/* No word is at the place of the next one, where a block may have stored an address. */
void end_words(void) {
    if (!in_guard(state->ring))
        *(uint64_t *)state->ring = 0;
}

/* A word that the runtime writes itself. */
void put_word(uint64_t word) {
    uint64_t *to = (uint64_t *)state->ring;
    if (in_guard((uint64_t)to)) {
        hand_over(to);
        to = start;
    }
    *to = word;
    state->ring = (uint64_t)(to + 1);
    end_words();
}

void put_mark(int kind, uint64_t instruction, uint64_t value) {
    put_word((uint64_t)1 << 63 | (uint64_t)kind << 56 | instruction << 32 | (value & 0xFFFFFFFF));
}

/* Where the reader finds how much of the buffer is filled, should this process end. */
void publish_count(void) {
    if (!in_child)
        area->count = (uint64_t)((uint64_t *)state->ring - start);
}

/* Instructions retired, by the words of the stream: the reader knows those that it has read. */
uint64_t count_words(void) {
    uint32_t read;
    while (!in_child && ring->filling != (read = __atomic_load_n(&ring->reading, __ATOMIC_ACQUIRE)))
        futex(&ring->reading, FUTEX_WAIT, read);
    return (in_child ? counted_before : area->retired) + instructions_in(start, (const uint64_t *)state->ring);
}

/* Before the program makes a child, for whose time the instructions so far count. */
void prepare_uncounted(void) {
    if (!area->totals || world.flags & REGIONS_ALONE)
        counted_before = count_words();
}

/* Write the words of a child, which nobody reads. */
void use_private_words(void) {
    start = private_words;
    *start = 0;
    state->ring = (uint64_t)start;
}

/* A child that has a copy of the memory does not share the buffers. */
void forget_ring(void) {
    use_private_words();
    if (!ring)
        return;
    KERNEL6(__NR_mmap, buffers, RING_BUFFERS * STEP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
            0);
    KERNEL6(__NR_mmap, ring, sizeof(struct ring), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}
