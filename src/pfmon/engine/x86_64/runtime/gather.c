/* The record of a gather or a scatter, and of the block that it ends: the addresses of the elements that its mask selects, in
   their order, then zeros. Its indices and its mask were stored before it executed. */

#include "runtime.h"

static bool is_selected(const struct instruction *it, const struct x86_gather *gather, uint32_t element) {
    if (it->encoding == EVEX)
        return state->mask[0] >> element & 1;
    return gather->bytes == 8 ? (int64_t)state->mask[element] < 0 : ((const int32_t *)state->mask)[element] < 0;
}

static uint64_t index_of(const struct instruction *it, uint32_t element) {
    return it->opcode & 1 ? state->vector[element] : (uint64_t)((const int32_t *)state->vector)[element];
}

/* The address of an element of index 0, without its segment's base. */
static uint64_t base_of(const struct instruction *it, uint8_t sib) {
    bool has_base = it->modrm >> 6 || (sib & 7) != RBP;
    return (uint64_t)(int64_t)it->displacement + (has_base ? state->registers[(sib & 7) | it->b << 3] : 0);
}

void record_gather(const struct block *block) {
    const struct announcement *announced = block->announced;
    uint8_t size = sizes_of(announced)[announced->length - 1] & SIZE_BITS, sib;
    const uint8_t *code = sizes_of(announced) + announced->length + (announced->last_ip - announced->ip);
    struct x86_gather gather = x86_gather_of(code, size);
    struct instruction it;
    uint64_t segment, base;
    uint32_t element, selected = 0;
    decode(&it, begin_record(block, gather.elements), size);
    sib = it.bytes[it.modrm_at + 1];
    segment = it.segment ? (it.segment == 4 ? state->fs : state->gs) : 0;
    base = base_of(&it, sib);
    for (element = 0; element < gather.elements; element++)
        if (is_selected(&it, &gather, element)) {
            uint64_t offset = base + (index_of(&it, element) << (sib >> 6));
            put_word(segment + (it.short_address ? (uint32_t)offset : offset));
            selected++;
        }
    for (; selected < gather.elements; selected++)
        put_word(0);
}
