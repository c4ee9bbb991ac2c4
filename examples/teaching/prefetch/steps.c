/* Loads 16384 times, each load STEP bytes behind the one before, whose value (0) its address needs.
   usage: steps [STEP] */
#include "rt.h"

#define LOADS 16384
char memory[LOADS * 256];

__attribute__((noipa)) long walk(long step)
{
    long at = 0;
    for (int i = 0; i < LOADS; i++)
        at += step + *(long *)(memory + at);
    return at;
}

int main(int argc, char **argv)
{
    return walk(arg(argc, argv, 1, 64)) == 0;
}
