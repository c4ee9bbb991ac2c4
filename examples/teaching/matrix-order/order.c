/* Adds up a matrix of SIZE x SIZE numbers, row by row or column by column.
   usage: order rows|columns [SIZE] */
#include "rt.h"

#define MAX 512
long matrix[MAX * MAX];

__attribute__((noipa)) long by_rows(int size)
{
    long sum = 0;
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            sum += matrix[row * size + column]; /* the next number lies beside it */
    return sum;
}

__attribute__((noipa)) long by_columns(int size)
{
    long sum = 0;
    for (int column = 0; column < size; column++)
        for (int row = 0; row < size; row++)
            sum += matrix[row * size + column]; /* the next number is a row away */
    return sum;
}

int main(int argc, char **argv)
{
    int size = arg(argc, argv, 2, 512);
    return argc > 1 && argv[1][0] == 'c' ? by_columns(size) : by_rows(size);
}
