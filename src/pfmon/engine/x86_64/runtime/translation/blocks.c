/* The translated blocks: found by their guest address, by the address of their code, and by the table of indirect
   branches; linked to each other, and forgotten. */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "runtime.h"
#include "world/world.h"

enum {
    BUCKETS = 1 << 16, MAX_EXITS = 1 << 22, MAX_BLOCKS = MAX_EXITS / 2,
    BLOCK_EXITS = 8,             /* more than two blocks have */
    BLOCK_STEP = 1 << 12         /* more bytes than their descriptions take */
};

static const uint64_t BLOCK_ROOM = (uint64_t)1 << 27;

struct start {                   /* the translations of the code at a guest address */
    struct start *next;          /* with the same hash */
    uint64_t ip;
    struct block *first;         /* of a path; NULL: none */
    uint32_t copies;             /* as a later block of a path */
};

enum { OF_RUN, OF_SHARING_CHILD, OUTSIDE_OF_REGIONS, SETS };

static struct start *all_buckets[SETS][BUCKETS], **buckets;
static struct block **blocks;    /* in the order of their code */
static uint32_t block_count;
static uint8_t *block_room;      /* where they are */
static uint64_t block_room_used;
static struct exit *exits;
static uint32_t exit_count = 1;  /* exit 0 stands for a miss in the table */
static uint32_t stale_blocks, stale_exits = 1;      /* those before are of forgotten translations */
static struct block *first_in_entry[TABLE_ENTRIES];  /* of the table; NULL: none */
static uint32_t table_number;    /* how often it was emptied */

enum { CHECKED_STORE = 8 };      /* bytes at the beginning of a check, which the next one does not repeat */

static void map_own(uint64_t at, uint64_t bytes, int protection) {
    int64_t place = KERNEL6(__NR_mmap, at, bytes, protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (int64_t)at)
        give_up(NO_MEMORY);
    keep_from_guest(at, bytes, protection);
}

static void empty_table(void) {
    uint64_t i;
    for (i = 0; i < TABLE_ENTRIES; i++)
        ((uint64_t *)TABLE_AT)[i] = (uint64_t)on_miss;
    memset(first_in_entry, 0, sizeof(first_in_entry));
    table_number++;
}

/* Block 0 never executes, so that no word of the stream is 0. */
static const struct code_block never = {.length = 1, .bytes = 1, .cut = CUT_EDGE, .sizes = {1}, .code = {0x90}};

void translation_begin(void) {
    map_own(CODE_AT, CODE_ROOM, PROT_READ | PROT_WRITE | PROT_EXEC);
    map_own(EXITS_AT, EXITS_ROOM, PROT_READ | PROT_WRITE | PROT_EXEC);
    KERNEL3(__NR_madvise, CODE_AT, CODE_ROOM, MADV_HUGEPAGE);
    map_own(TABLE_AT, TABLE_ENTRIES * sizeof(uint64_t), PROT_READ | PROT_WRITE);
    exits = reserve(MAX_EXITS * sizeof(struct exit));
    blocks = reserve(MAX_BLOCKS * sizeof(struct block *));
    block_room = reserve(BLOCK_ROOM);
    buckets = all_buckets[0];    /* nobody relocates the runtime's data */
    empty_table();
    empty_code();
    announce(&never);
}

/* The number of a new exit. */
uint32_t new_exit(uint8_t kind, uint64_t target, struct block *block) {
    exits[exit_count] = (struct exit){.kind = kind, .target = target, .block = block};
    return exit_count++;
}

uint32_t exits_so_far(void) {
    return exit_count;
}

static uint32_t hash_of(uint64_t ip) {
    return (uint32_t)((ip * 0x9E3779B97F4A7C15u) >> 48);
}

static struct start *start_at(uint64_t ip) {
    struct start *it;
    for (it = buckets[hash_of(ip)]; it; it = it->next)
        if (it->ip == ip)
            return it;
    return NULL;
}

/* The translation that was made of the code at a guest address, for as often as it executes: the first block of a path;
   NULL: none. */
struct block *translated_block(uint64_t ip) {
    const struct start *it = start_at(ip);
    return it ? it->first : NULL;
}

/* Memory for a block, until all translations are forgotten. */
struct block *new_block(uint32_t instructions) {
    struct block *block = (struct block *)(block_room + block_room_used);
    block_room_used += (sizeof(*block) + instructions * sizeof(uint16_t) + 15) & ~(uint64_t)15;
    block->code_end = emitted;
    blocks[block_count++] = block;
    return block;
}

/* Forget all translations, and reuse their memory, when there may not be enough for a block and a part of it. Called when
   none is executing. */
bool forget_when_full(void) {
    if (!is_code_full() && exit_count < MAX_EXITS - BLOCK_EXITS && block_count < MAX_BLOCKS - 1
        && block_room_used < BLOCK_ROOM - BLOCK_STEP)
        return false;
    forget_translations();
    empty_code();
    forget_pages_of_blocks();
    exit_count = stale_exits = 1;
    block_count = stale_blocks = 0;
    block_room_used = 0;
    forget_copies();
    return true;
}

/* How often the code at a guest address was translated: as the first block of a path, and as a later one. */
uint32_t count_translations(uint64_t ip) {
    const struct start *it = start_at(ip);
    return it ? it->copies + (it->first != NULL) : 0;
}

static struct start *new_start(uint64_t ip) {
    struct start **bucket = &buckets[hash_of(ip)], *it = reserve(sizeof(*it));
    *it = (struct start){*bucket, ip, NULL, 0};
    *bucket = it;
    return it;
}

/* Let a block be found by its guest address. */
void enter_block(struct block *block) {
    struct start *start = start_at(block->ip);
    if (!start)
        start = new_start(block->ip);
    if (block->before)
        start->copies++;
    else
        start->first = block;
    block->in_path = true;
}

static bool has_changed(const struct block *block) {
    const struct announcement *it = block->announced;
    return !is_readable(block->ip) || memcmp(sizes_of(it) + it->length, (const void *)block->ip, it->bytes);
}

/* The translation of the code at a guest address; NULL: no code is there. `indirectly`: an indirect branch has reached it. */
struct block *block_at(uint64_t ip, bool indirectly) {
    struct block *block = translated_block(ip);
    if (block && !block->checked)
        return block;
    if (block) {
        if (has_changed(block))
            forget_path_of(block);
        note_comparison(ip);
        if (translated_block(ip))
            return block;
    }
    if (!is_executable(ip) || !is_readable(ip))
        return NULL;
    protect_code(ip);
    protect_code(ip + MAX_BLOCK_BYTES);
    block = translate(ip, most_instructions, false, indirectly);
    if (block)
        enter_block(block);
    return block;
}

/* The first instructions of the block at a guest address, to be executed once. */
struct block *part_at(uint64_t ip, uint32_t most) {
    return translate(ip, most, false, false);
}

/* A translation of the instruction at a guest address alone, to be executed once. Its page stays writable. */
struct block *block_of_one(uint64_t ip) {
    return is_readable(ip) ? translate(ip, 1, true, false) : NULL;
}

/* The block whose translation contains a host address; NULL: none. */
const struct block *block_of_code(uint64_t address) {
    uint32_t first = 0, beyond = block_count;
    if (address < CODE_AT || address >= (uint64_t)emitted)
        return NULL;
    while (first < beyond) {
        uint32_t middle = (first + beyond) / 2;
        if ((uint64_t)blocks[middle]->code_end <= address)
            first = middle + 1;
        else
            beyond = middle;
    }
    return first < block_count ? blocks[first] : NULL;
}

/* The number of the instruction that a host address in a block belongs to. */
uint32_t instruction_of_code(const struct block *block, uint64_t address) {
    uint32_t i = block->length - 1u;
    while (i > 0 && (uint64_t)(block->entry + block->offsets[i]) > address)
        i--;
    return i;
}

struct exit *exit_numbered(uint64_t number) {
    if (number >= exit_count)
        give_up(INTERRUPTED);
    return &exits[number];
}

void link_exit(struct exit *exit, struct block *target) {
    aim(exit->site, target->entry);
    if (exit->linked_to == target)
        return;
    exit->linked_to = target;
    exit->linked_before = target->linked;
    target->linked = exit;
}

/* Let an entry of the table lead to the checks of its blocks, one behind the other. */
static void link_checks(uint64_t entry) {
    const struct block *it = first_in_entry[entry];
    ((uint64_t *)TABLE_AT)[entry] = it ? (uint64_t)it->check : (uint64_t)on_miss;
    for (; it; it = it->next_in_entry)
        if (it->next_in_entry)
            aim(it->otherwise, it->next_in_entry->check + CHECKED_STORE);
        else
            make_last_check(it);
}

/* Let indirect branches reach a block: its check is the last one of its entry in the table. */
void enter_in_table(struct block *block) {
    uint64_t entry = block->ip % TABLE_ENTRIES;
    struct block **end = &first_in_entry[entry];
    if (block->in_table == table_number)
        return;
    if (!block->check)
        put_target_check(block);
    while (*end)
        end = &(*end)->next_in_entry;
    *end = block;
    block->next_in_entry = NULL;
    block->in_table = table_number;
    link_checks(entry);
}

static void remove_from_table(const struct block *block) {
    struct block **it = &first_in_entry[block->ip % TABLE_ENTRIES];
    if (block->in_table != table_number)
        return;
    while (*it != block)
        it = &(*it)->next_in_entry;
    *it = block->next_in_entry;
    link_checks(block->ip % TABLE_ENTRIES);
}

static void put_at(uint8_t *site, void (*put)(void)) {
    uint8_t *here = emitted;
    emitted = site;
    put();
    emitted = here;
}

static void unlink_exit(const struct exit *exit) {
    if (exit->kind == EXIT_DIRECT)
        aim(exit->site, exit->stub);
    else if (exit->kind == EXIT_MISS)
        put_at(exit->site, put_way_to_runtime);
}

/* Change the exits of a block, and of those behind it in paths. */
static void change_exits(const struct block *block, void (*change)(const struct exit *)) {
    const struct block *behind;
    uint32_t i;
    for (i = 0; i < block->exits; i++)
        change(&exits[block->first_exit + i]);
    for (behind = block->behind; behind; behind = behind->beside)
        change_exits(behind, change);
}

/* Lead the exits of a block and of those behind it to the runtime, so that it takes over when their path ends. */
void unlink_blocks(const struct block *block) {
    change_exits(block, unlink_exit);
}

static void relink_exit(const struct exit *exit) {
    if (exit->kind == EXIT_MISS)
        put_at(exit->site, put_jump_by_table);
}

/* Let indirect branches of a block, and of those behind it, use the table again; direct ones are linked when they are
   taken. */
void relink_blocks(const struct block *block) {
    change_exits(block, relink_exit);
}

static void forget_start(uint64_t ip) {
    struct start *it;
    int set;
    for (set = 0; set < SETS; set++)
        for (it = all_buckets[set][hash_of(ip)]; it; it = it->next)
            it->first = NULL, it->copies = 0;
}

/* All translations are stale: none is reached any more, except by the block that is executing. */
void forget_translations(void) {
    for (; stale_exits < exit_count; stale_exits++)
        unlink_exit(&exits[stale_exits]);
    for (; stale_blocks < block_count; stale_blocks++) {
        uint64_t ip = blocks[stale_blocks]->ip;
        blocks[stale_blocks]->is_stale = true;
        forget_start(ip);
        ((uint64_t *)TABLE_AT)[ip % TABLE_ENTRIES] = (uint64_t)on_miss;
        first_in_entry[ip % TABLE_ENTRIES] = NULL;
    }
}

/* ---------------------------------------------------------------- one path */

/* A block and those behind it are stale. */
static void forget_blocks_from(struct block *block) {
    struct block *behind;
    struct start *start = start_at(block->ip);
    block->is_stale = true;
    if (start && block->before && start->copies)
        start->copies--;
    for (behind = block->behind; behind; behind = behind->beside)
        forget_blocks_from(behind);
}

static void forget_entries(struct block *first) {
    struct start *it;
    int set;
    for (set = 0; set < SETS; set++)
        for (it = all_buckets[set][hash_of(first->ip)]; it; it = it->next)
            if (it->first == first)
                it->first = NULL;
    remove_from_table(first);
}

static void unlink_those_to(struct block *first) {
    const struct exit *it;
    for (it = first->linked; it; it = it->linked_before)
        unlink_exit(it);
    first->linked = NULL;
}

/* A path is stale, with all that goes on behind its first block: that is not reached any more, except where it is
   executing. `block`: one of it. */
void forget_path_of(struct block *block) {
    while (block->before)
        block = block->before;
    if (block->is_stale)
        return;
    forget_blocks_from(block);
    forget_entries(block);
    unlink_those_to(block);
    unlink_blocks(block);
}

/* A child that shares the memory has translations of its own, which add to no counter; code outside of regions has others,
   which write no stream. */
void choose_translations(bool uncounted) {
    int set = !area->totals ? OF_RUN : uncounted ? OF_SHARING_CHILD : world.flags & REGIONS_ALONE ? OUTSIDE_OF_REGIONS : OF_RUN;
    if (buckets == all_buckets[set])
        return;
    buckets = all_buckets[set];
    empty_table();
}

/* The paths with code in these bytes are stale. */
void forget_range(uint64_t start, uint64_t end) {
    uint32_t i;
    for (i = stale_blocks; i < block_count; i++)
        if (blocks[i]->ip < end && start < blocks[i]->end)
            forget_path_of(blocks[i]);
}
