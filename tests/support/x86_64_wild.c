/* Stores random values at random addresses in memory of the x86_64 engine's runtime, and ends with status 3. Arguments: the
   seed, the start and the bytes of the memory, the number of stores. The start is one of the memory map; 0 stands for the runtime's
   lists (the address of the ring is in its state), 1 for its data. */

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "x86_64_areas.h"

enum { FIRST_STATE = 0x7E000000, STATE_RING = 144 };     /* state.h */

static uint64_t state;

static uint64_t draw(void) {             /* xorshift */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void store(uint64_t at, uint64_t value) {
    switch (draw() % 4) {
    case 0:
        *(volatile uint8_t *)at = (uint8_t)value;
        break;
    case 1:
        *(volatile uint32_t *)at = (uint32_t)value;
        break;
    default:
        *(volatile uint64_t *)(at & -(uint64_t)8) = draw() % 2 ? value : 0;
    }
}

int main(int argc, char **argv) {
    uint64_t start, bytes, slide = slide_of_areas();
    int i, count;
    if (argc < 5)
        return 1;
    state = strtoull(argv[1], 0, 0) * 0x9E3779B97F4A7C15u + 1;
    start = strtoull(argv[2], 0, 0);
    if (start == 0)
        start = *(uint64_t *)(FIRST_STATE + slide + STATE_RING) & -(uint64_t)0x400000;
    else if (start == 1)
        start = data_of_runtime(image_of_runtime(slide));
    else
        start += slide;
    bytes = strtoull(argv[3], 0, 0);
    count = atoi(argv[4]);
    for (i = 0; i < count; i++) {
        store(start + draw() % (bytes - 8), draw());
        if (i % 8 == 0 && write(-1, "", 0) == 0)
            return 1;
    }
    _exit(3);
}
