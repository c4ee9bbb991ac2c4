/* Takes a branch or not, 16384 times, by a pattern of random bits that repeats after PERIOD branches.
   usage: pattern [PERIOD], up to 4096 */
#include "rt.h"

#define BRANCHES 16384
u8 pattern[4096];

__attribute__((noipa)) long follow(int period)
{
    long taken = 0;
    for (int i = 0, place = 0; i < BRANCHES; i++) {
        if (pattern[place]) {
            taken++;
            __asm__ volatile("" : "+r"(taken));
        }
        place = place + 1 == period ? 0 : place + 1;
    }
    return taken;
}

int main(int argc, char **argv)
{
    int period = arg(argc, argv, 1, 16);
    u64 seed = 3;
    for (int i = 0; i < period; i++)
        pattern[i] = next_random(&seed) >> 63;
    printf("%ld taken\n", follow(period));
    return 0;
}
