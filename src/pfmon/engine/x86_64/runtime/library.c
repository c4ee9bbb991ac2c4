/* The functions that the compiler expects, and texts. */

#include "kernel.h"

void *memcpy(void *to, const void *from, size_t bytes) {
    void *start = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return start;
}

void *memset(void *to, int value, size_t bytes) {
    void *start = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
    return start;
}

int memcmp(const void *one, const void *other, size_t bytes) {
    const uint8_t *a = one, *b = other;
    for (; bytes; a++, b++, bytes--)
        if (*a != *b)
            return *a - *b;
    return 0;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

int strcmp(const char *one, const char *other) {
    while (*one && *one == *other)
        one++, other++;
    return (uint8_t)*one - (uint8_t)*other;
}
