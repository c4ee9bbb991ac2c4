/* Translated code takes the instructions that retire off `state->countdown`, and reads memory at COUNT_AT and so many bytes: below
   that nothing is mapped, so that the read faults when more have retired than there were.

   While a timer of the guest may be set, each block does so before it begins, and does not begin if it would end too late. In a
   process with several threads each path does so when it ends: the runtime takes over behind it. */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "countdown.h"
#include "runtime.h"
#include "world/world.h"

enum { BELOW = 1 << 15 };        /* more than the instructions of some paths */

bool counting_down, counting_paths;

bool counts_down(void) {
    return counting_down || counting_paths;
}

/* Instructions retired: those before the countdown was set, and those that it was taken down by. */
uint64_t instructions_counted_down(void) {
    return state->counted + (uint64_t)(state->count_from - state->countdown);
}

void count_down_from(uint64_t instructions) {
    if (counts_down())
        state->counted = instructions_counted_down();
    state->countdown = state->count_from = (int64_t)(instructions < LONGEST_COUNT ? instructions : LONGEST_COUNT);
}

/* Instructions did not retire that the countdown has been taken down by. */
void give_back_instructions(uint64_t instructions) {
    state->countdown += (int64_t)instructions;
}

/* Instructions retired that the countdown has not been taken down by. */
void take_off_instructions(uint64_t instructions) {
    state->countdown -= (int64_t)instructions;
}

/* From now on, since forgetting translations again would fill the code cache. */
static void begin(bool *way) {
    int64_t place = 0;
    if (!counts_down()) {
        place = KERNEL6(__NR_mmap, COUNT_AT, COUNT_ROOM, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (place != (int64_t)COUNT_AT)
            give_up(NO_MEMORY);
        state->counted = instructions_retired();
        state->count_from = state->countdown = LONGEST_COUNT;
    }
    *way = true;
    forget_translations();
}

void count_down_blocks(void) {
    if (!counting_down)
        begin(&counting_down);
}

void count_down_paths(void) {
    if (!counting_paths)
        begin(&counting_paths);
}

static bool is_below(uint64_t address) {
    return address < COUNT_AT && address >= COUNT_AT - BELOW;
}

/* Whether a fault, at the host's instruction `ip`, is of the countdown at a block's beginning. */
bool in_countdown(const struct block *block, uint64_t address, uint64_t ip) {
    return counting_down && is_below(address) && ip < (uint64_t)block->entry + block->offsets[0];
}

/* Whether it is of the countdown at the end of a path: LOAD_BYTE temporary, [temporary + COUNT_AT]. No instruction of the guest's in
   this block names that register. */
bool ends_countdown(const struct block *block, uint64_t address, uint64_t ip) {
    uint8_t load[16], *after = emitted;
    bool is_it;
    if (!counting_paths || !is_below(address))
        return false;
    emitted = load;
    put_based(LOAD_BYTE, block->temporary, block->temporary, COUNT_AT);
    is_it = !memcmp(load, (const void *)ip, (uint64_t)(emitted - load));
    emitted = after;
    return is_it;
}
