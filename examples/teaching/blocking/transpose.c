/* Transposes a matrix of 456 x 456 numbers, block by block; with a block of 456 that is the plain double loop.
   usage: transpose [BLOCK], which divides 456 */
#include "rt.h"

#define N 456
long from[N][N], to[N][N]; /* a row has 3648 bytes, 57 lines */

__attribute__((noipa)) void transpose(int block)
{
    for (int i0 = 0; i0 < N; i0 += block)
        for (int j0 = 0; j0 < N; j0 += block)
            for (int i = i0; i < i0 + block; i++)
                for (int j = j0; j < j0 + block; j++)
                    to[j][i] = from[i][j]; /* to: each number is in a line of its own */
}

int main(int argc, char **argv)
{
    transpose(arg(argc, argv, 1, N));
    return 0;
}
