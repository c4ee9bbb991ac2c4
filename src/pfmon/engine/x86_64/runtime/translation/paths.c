/* Where paths go on: behind exits to code that was not translated before, and behind exits that are taken often, with a copy of
   the code there. */

#include "countdown.h"
#include "runtime.h"

enum {
    MAX_COPIES = 16,             /* translations of the code at a guest address */
    MAX_COPIED_BYTES = 1 << 17,  /* of all copies: more would not stay in the host's caches */
    OFTEN = 48,                  /* passes of an exit, after which its path goes on with a copy */
    MOST_RECORDED = PAGE / 2     /* of a path that goes on: with another block's, the record is shorter than a guard page */
};

static uint64_t copied_bytes;

void forget_copies(void) {
    copied_bytes = 0;
}

/* Whether a path may go on behind an exit. */
static bool may_go_on(const struct exit *exit) {
    const struct block *block = exit->block;
    return exit->kind == EXIT_DIRECT && !counting_down && block->branch_at && block->in_path && !block->checked
        && !block->is_stale && block->blocks < MAX_PATH_BLOCKS && block->recorded < MOST_RECORDED;
}

/* Whether a path may go on with the code at a guest address, which was not translated before. */
static bool may_be_translated(uint64_t ip) {
    if (is_vsyscall(ip) || !is_executable(ip) || !is_readable(ip) || changes_unnoticed(ip) || changes_unnoticed(ip + MAX_BLOCK_BYTES))
        return false;
    protect_code(ip);
    protect_code(ip + MAX_BLOCK_BYTES);
    return true;
}

/* Count how often an exit leads to the runtime: it is not linked before it is often, since its path may go on there. */
bool is_passed_often(struct exit *exit) {
    return copied_bytes > MAX_COPIED_BYTES || !may_go_on(exit) || ++exit->passes > OFTEN;
}

static struct block *go_on(struct exit *exit) {
    struct block *block = translate_behind(exit);
    if (block)
        enter_block(block);
    return block;
}

static struct block *go_on_with_copy(struct exit *exit, uint32_t translations) {
    struct block *block;
    if (exit->passes < OFTEN || translations > MAX_COPIES || copied_bytes > MAX_COPIED_BYTES)
        return NULL;
    block = go_on(exit);
    if (block)
        copied_bytes += (uint64_t)(block->code_end - block->entry);
    return block;
}

/* Go on with a path behind the exit that it was left by; returns the block there, or NULL. */
struct block *extend_path(struct exit *exit) {
    uint32_t translations;
    if (!may_go_on(exit) || (exit->passes && exit->passes < OFTEN))
        return NULL;
    translations = count_translations(exit->target);
    if (translations)
        return go_on_with_copy(exit, translations);
    return may_be_translated(exit->target) ? go_on(exit) : NULL;
}
