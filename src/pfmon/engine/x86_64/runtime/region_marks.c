/* Marks of regions of the program (docs/regions.md): a nop of several bytes whose displacement no compiler and no assembler
   chooses and whose base register has the address of the region's name, or a write to a file that does not exist.

   The nop is a block of its own, whether regions are wanted or not, so that cycles are the same. The marks of the stream stand
   between blocks: that of a start behind the nop's, that of a stop before it. So neither nop is in the region. */

#include <asm/unistd.h>

#include "countdown.h"
#include "interpreter/python.h"
#include "runtime.h"
#include "threads/thread.h"
#include "world/world.h"

enum {
    START = 0x2B6D6670, STOP = 0x2D6D6670,           /* "pfm+", "pfm-" in memory */
    LONG_NOP = 0x1F,
    NAME_PART = 4,               /* bytes of a name in a mark */
    MOST_CHANGES = 1000          /* each empties the table of indirect branches: from then on all code writes the stream */
};

struct name {
    uint32_t bytes;              /* 0: none that is valid */
    uint8_t text[MAX_REGION_NAME];
};

bool wants_regions(void) {
    return world.flags & HAS_REGIONS && (!area->totals || world.flags & REGIONS_ALONE);
}

/* ---------------------------------------------------------------- outside of regions */

static uint32_t changes;         /* between inside and outside */

/* Where nobody looks at what is outside of regions, code there writes no stream: the blocks' counters alone, for the clock. */
void record_as_region_wants(void) {
    const struct thread_regions *own = &running->regions;
    uint32_t silent = own->count == 0 && !own->lost && changes < MOST_CHANGES;
    if (!(world.flags & REGIONS_ALONE) || in_child || area->totals == silent)
        return;
    changes++;
    area->totals = silent;
    choose_translations(shares_memory);
}

/* The instructions that the stream lacks, when the process ends. */
void publish_silent(void) {
    if (world.flags & REGIONS_ALONE && !in_child)
        area->silent = count_runs();
}

/* Follow the running thread into a region, or out of it. A mark that is not valid only makes the stream longer. */
static void follow_region(int kind, const struct name *name) {
    struct thread_regions *own = &running->regions;
    uint64_t hash = 0xCBF29CE484222325u;
    uint32_t i;
    if (in_child)
        return;
    for (i = 0; i < name->bytes; i++)
        hash = (hash ^ name->text[i]) * 0x100000001B3u;
    if (kind == MARK_REGION_START && own->count == MAX_OPEN_REGIONS)
        own->lost = true;
    else if (kind == MARK_REGION_START)
        own->open[own->count++] = hash;
    else
        for (i = own->count; i > 0; i--)
            if (own->open[i - 1] == hash) {
                own->open[i - 1] = own->open[--own->count];
                break;
            }
    record_as_region_wants();
}

static void put_marks(int kind, const struct name *name) {
    uint32_t at, i;
    for (at = 0; at < name->bytes; at += NAME_PART) {
        uint32_t part = 0;
        for (i = 0; i < NAME_PART && at + i < name->bytes; i++)
            part |= (uint32_t)name->text[at + i] << 8 * i;
        put_mark(MARK_REGION_NAME, NO_INSTRUCTION, part);
    }
    put_mark(kind, NO_INSTRUCTION, name->bytes);
}

/* ---------------------------------------------------------------- the instruction */

/* nop [base + START], nop [base + STOP] (SDM volume 2, NOP: 0F 1F /0); no index. */
bool is_region_mark(const struct instruction *it) {
    return it->displacement_size == 4 && (it->displacement == START || it->displacement == STOP) && it->opcode == LONG_NOP
        && it->map == TWO_BYTES && it->encoding == LEGACY && (it->modrm & 0x3F) >> 3 == 0 && (it->modrm & 7) != 4
        && !it->relative;
}

/* The text up to its 0; none if it is too long, or not all of it can be read. */
static void read_name(struct name *to, uint64_t at) {
    uint32_t i;
    to->bytes = 0;
    for (i = 0; i <= MAX_REGION_NAME; i++) {
        if ((i == 0 || (at + i) % PAGE == 0) && (is_own(at + i, 1) || !can_read(at + i, 1)))
            return;
        if (*(const uint8_t *)(at + i) == 0)
            break;
        if (i < MAX_REGION_NAME)
            to->text[i] = *(const uint8_t *)(at + i);
    }
    to->bytes = i <= MAX_REGION_NAME ? i : 0;
}

/* The block of such an instruction alone, in the stream or in its counter. */
static void record_block(const struct block *block) {
    if (!area->totals) {
        begin_record(block, 0);
        end_words();
        return;
    }
    if (block->counter)
        ++*block->counter;
    if (counting_paths && !counting_down)
        take_off_instructions(1);
}

/* The record of a block that is such an instruction alone, and its mark. */
void record_region_mark(const struct block *block) {
    const struct announcement *announced = block->announced;
    struct instruction it;
    struct name name;
    decode(&it, sizes_of(announced) + announced->length, announced->bytes);
    read_name(&name, state->registers[field_rm(&it)]);
    if (it.displacement == STOP)
        put_marks(MARK_REGION_STOP, &name);
    record_block(block);
    if (it.displacement == START)
        put_marks(MARK_REGION_START, &name);
    follow_region(it.displacement == START ? MARK_REGION_START : MARK_REGION_STOP, &name);
}

/* ---------------------------------------------------------------- the call */

/* The rest of a text behind a word; NULL: it begins otherwise. */
static const uint8_t *behind(const char *word, const uint8_t *text, uint64_t bytes, uint32_t *rest) {
    uint32_t i;
    for (i = 0; word[i]; i++)
        if (i >= bytes || text[i] != (uint8_t)word[i])
            return NULL;
    *rest = (uint32_t)(bytes - i);
    return text + i;
}

/* write and pwrite of "pfmon:start NAME" or "pfmon:stop NAME" to file -1. */
void note_region_call(int64_t number, const uint64_t *a) {
    static const char start[] = "pfmon:start ", stop[] = "pfmon:stop ";
    uint8_t text[MAX_REGION_NAME + sizeof(start)];
    struct name name;
    const uint8_t *from;
    uint32_t bytes, i;
    int kind = MARK_REGION_START;
    if ((number != __NR_pwrite64 && number != __NR_write) || (int32_t)a[0] != -1 || !wants_regions())
        return;
    bytes = a[2] < sizeof(text) ? (uint32_t)a[2] : sizeof(text);
    if (bytes == 0 || is_own(a[1], bytes) || !can_read(a[1], bytes))
        return;
    memcpy(text, (const void *)a[1], bytes);
    from = behind(start, text, bytes, &name.bytes);
    if (!from) {
        kind = MARK_REGION_STOP;
        from = behind(stop, text, bytes, &name.bytes);
    }
    if (!from)
        return;
    while (name.bytes && (from[name.bytes - 1] == 0 || from[name.bytes - 1] == '\n'))
        name.bytes--;            /* the end of a line, or of a string */
    if (name.bytes > MAX_REGION_NAME)
        name.bytes = 0;
    for (i = 0; i < name.bytes; i++)
        name.text[i] = from[i];
    put_marks(kind, &name);
    follow_region(kind, &name);
}
