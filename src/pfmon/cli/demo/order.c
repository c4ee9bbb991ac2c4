/* Adds up a matrix of 1024 x 1024 numbers, row by row, or with the argument "columns" column by column.
   gcc -O1 -g -ffreestanding -nostdlib -static -no-pie -fno-stack-protector -fdebug-prefix-map=$PWD=. -o order order.c */

#define SIZE 1024

long matrix[SIZE][SIZE];

__attribute__((noinline)) static long by_rows(void)
{
    long sum = 0;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            sum += matrix[row][column]; /* the next number lies beside it */
    return sum;
}

__attribute__((noinline)) static long by_columns(void)
{
    long sum = 0;
    for (int column = 0; column < SIZE; column++)
        for (int row = 0; row < SIZE; row++)
            sum += matrix[row][column]; /* the next number is 8 KB away */
    return sum;
}

__attribute__((used)) static void begin(long *stack)
{
    long sum = stack[0] > 1 ? by_columns() : by_rows();
    __asm__ volatile("syscall" : : "a"(231L), "D"(sum) : "rcx", "r11", "memory"); /* exit_group */
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
