/* The elements of a gather or a scatter (Intel SDM volume 2, VGATHERDPS and its like, VSCATTERDPS and its like): the
   plugin, the x86_64 engine's runtime and the reader have the same number of addresses for one. */

#ifndef PFMON_QEMU_X86_GATHER_H
#define PFMON_QEMU_X86_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x86_gather {
    uint32_t elements;           /* 0: it is neither */
    uint32_t bytes;              /* of an element */
};

static inline bool x86_is_segment_or_size(uint8_t byte) {
    return byte == 0x67 || byte == 0x64 || byte == 0x65 || (byte & 0xE7) == 0x26;
}

/* Of an instruction with a prefix VEX of three bytes, or EVEX, and with others of its address. */
static inline struct x86_gather x86_gather_of(const uint8_t *code, size_t size) {
    struct x86_gather none = {0, 0}, it;
    uint32_t vector, index, opcode_at;
    bool evex;
    while (size > 0 && x86_is_segment_or_size(*code))
        code++, size--;
    evex = size > 0 && *code == 0x62;
    opcode_at = evex ? 4 : 3;
    if (size <= opcode_at || !(evex || *code == 0xC4) || (code[1] & (evex ? 7 : 31)) != 2)
        return none;
    if ((code[opcode_at] & 0xFC) != 0x90 && !(evex && (code[opcode_at] & 0xFC) == 0xA0))
        return none;
    vector = 16u << (evex ? code[3] >> 5 & 3 : code[2] >> 2 & 1);
    index = code[opcode_at] & 1 ? 8 : 4;
    it.bytes = code[2] & 0x80 ? 8 : 4;
    it.elements = vector / (index > it.bytes ? index : it.bytes);
    if (it.elements > 16)
        return none;             /* no vector has that length */
    return it;
}

#endif
