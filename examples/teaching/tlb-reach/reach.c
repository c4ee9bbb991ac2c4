/* Loads 40000 times from LINES lines, over and over: one line in each page (spread), or one behind the other (dense).
   Each load's address needs the value (0) of the load before.
   usage: reach spread|dense [LINES], a power of two */
#include "rt.h"

#define LOADS 40000
#define LINE 64
#define PAGE 4096
char memory[2048 * (PAGE + LINE) + PAGE];

__attribute__((noipa)) long walk(long lines, long step)
{
    long value = 0;
    for (long i = 0; i < LOADS; i++)
        value += *(long *)(memory + (i & (lines - 1)) * step + value);
    return value;
}

int main(int argc, char **argv)
{
    /* the line in the next page is the next one, so the lines are in as many sets of the cache as dense ones */
    return walk(arg(argc, argv, 2, 64), argc > 1 && argv[1][0] == 'd' ? LINE : PAGE + LINE);
}
