/* Prints what the decoder of the x86_64 engine says of each line of hexadecimal bytes: the length, or 0 if it is not
   whole; whether it is an instruction; the processor that has it (encoding_rows.h, enum feature); its displacement. */

#include <stdio.h>

#include "translation/decode.h"

int main(void) {
    char line[128];
    while (fgets(line, sizeof(line), stdin)) {
        uint8_t bytes[16] = {0};
        struct instruction it;
        unsigned int byte, count = 0;
        while (count < 16 && sscanf(line + 2 * count, "%2x", &byte) == 1)
            bytes[count++] = (uint8_t)byte;
        byte = decode(&it, bytes, count) ? it.length : 0;
        printf("%u %d %d %d\n", byte, it.kind != ILLEGAL, it.feature, it.displacement);
    }
    return 0;
}
