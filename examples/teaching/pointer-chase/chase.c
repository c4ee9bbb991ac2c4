/* Loads 100000 times from the lines of a piece of memory: each load finds the address of the next one (list), or the
   addresses are known beforehand (array).
   usage: chase list|array [KILOBYTES], a power of two */
#include "rt.h"

#define LOADS 100000
struct node {
    struct node *next;
    long rest[7]; /* a line of 64 bytes */
};
struct node nodes[4096 * 1024 / sizeof(struct node)];

/* A walk through all n nodes whose order looks random: place = (5 * place + 12345) mod n has period n. */
__attribute__((noipa)) void link(u32 n)
{
    for (u32 place = 0; place < n; place++)
        nodes[place].next = &nodes[(5 * place + 12345) & (n - 1)];
}

__attribute__((noipa)) void *list(void)
{
    struct node *node = nodes;
    for (int i = 0; i < LOADS; i++)
        node = node->next; /* waits for the load before it */
    return node;
}

__attribute__((noipa)) u64 array(u32 n)
{
    u64 sum = 0;
    for (u32 i = 0, place = 0; i < LOADS; i++, place = (5 * place + 12345) & (n - 1))
        sum += (u64)nodes[place].next; /* waits for nobody */
    return sum;
}

int main(int argc, char **argv)
{
    u32 n = arg(argc, argv, 2, 4096) * 1024 / sizeof(struct node);
    link(n);
    if (argc > 1 && argv[1][0] == 'a')
        array(n);
    else
        list();
    return 0;
}
