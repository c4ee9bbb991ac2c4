/* Counts the numbers of 128 or more, four times, among 8192 random bytes, which are sorted before or not.
   usage: threshold sorted|unsorted */
#include "rt.h"

#define COUNT 8192
u8 numbers[COUNT];

__attribute__((noipa)) long large(void)
{
    long found = 0;
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] >= 128) {
            found++;
            __asm__ volatile("" : "+r"(found)); /* stays a branch, and no conditional move */
        }
    return found;
}

__attribute__((noipa)) void fill(int sorted)
{
    int counts[256] = {0}, place = 0;
    u64 seed = 7;
    for (int i = 0; i < COUNT; i++)
        counts[numbers[i] = next_random(&seed) >> 56]++;
    for (int value = 0; sorted && value < 256; value++)
        while (counts[value]--)
            numbers[place++] = value;
}

int main(int argc, char **argv)
{
    fill(argc > 1 && argv[1][0] == 's');
    long found = 0;
    for (int turn = 0; turn < 4; turn++)
        found += large();
    printf("%ld\n", found);
    return 0;
}
