/* Instructions whose result the instruction set leaves to the processor within bounds of its error: approximations (SDM
   volume 2, RCPPS, RSQRTPS, VRCP14PS, VRSQRT14PS), x87's transcendental instructions (volume 1, 8.3.10). */

#include "translation/encoding_rows.h"
#include "runtime.h"

/* Bits of area->processor_results; the reader has their names in this order (x86_64_guest.py). */
enum {
    RCPPS, RCPSS, RSQRTPS, RSQRTSS, VRCP14, VRSQRT14, F2XM1, FYL2X, FPTAN, FPATAN, FYL2XP1, FSINCOS, FSIN, FCOS, NONE
};

static int x87_result(int modrm) {
    switch (modrm) {
    case 0xF0:
        return F2XM1;
    case 0xF1:
        return FYL2X;
    case 0xF2:
        return FPTAN;
    case 0xF3:
        return FPATAN;
    case 0xF9:
        return FYL2XP1;
    case 0xFB:
        return FSINCOS;
    case 0xFE:
        return FSIN;
    case 0xFF:
        return FCOS;
    default:
        return NONE;
    }
}

static int result_of(const struct instruction *it) {
    bool scalar = it->prefix == PREFIX_F3;
    if (it->map == ONE_BYTE)
        return it->opcode == 0xD9 ? x87_result(it->modrm) : NONE;
    if (it->map == TWO_BYTES && it->encoding != EVEX)
        return it->opcode == 0x53 ? RCPPS + scalar : it->opcode == 0x52 ? RSQRTPS + scalar : NONE;
    if (it->map == MAP_38 && it->encoding == EVEX)
        return (it->opcode & 0xFE) == 0x4C ? VRCP14 : (it->opcode & 0xFE) == 0x4E ? VRSQRT14 : NONE;
    return NONE;
}

/* Tell the reader of an instruction that is translated, and so about to be executed, if the processor decides its result. */
void note_processor_result(const struct instruction *it) {
    int result = result_of(it);
    if (result != NONE)
        area->processor_results |= 1u << result;
}
