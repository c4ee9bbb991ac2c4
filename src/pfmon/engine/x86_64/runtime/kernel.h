/* Linux as the runtime calls it: it has no C library, whose functions use the thread pointer, which is the guest's. */

#ifndef PFMON_X86_64_KERNEL_H
#define PFMON_X86_64_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAGE = 1 << 12,
    LARGEST_ERROR = 4095
};

static inline int64_t kernel(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    register uint64_t fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
    int64_t result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

#define KERNEL0(number) kernel(number, 0, 0, 0, 0, 0, 0)
#define KERNEL1(number, a) kernel(number, (uint64_t)(a), 0, 0, 0, 0, 0)
#define KERNEL2(number, a, b) kernel(number, (uint64_t)(a), (uint64_t)(b), 0, 0, 0, 0)
#define KERNEL3(number, a, b, c) kernel(number, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), 0, 0, 0)
#define KERNEL4(number, a, b, c, d) \
    kernel(number, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), 0, 0)
#define KERNEL6(number, a, b, c, d, e, f) \
    kernel(number, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e), (uint64_t)(f))

static inline bool failed(int64_t result) {
    return result < 0 && result >= -(int64_t)LARGEST_ERROR;
}

static inline uint64_t whole_pages(uint64_t bytes) {
    return (bytes + PAGE - 1) & -(uint64_t)PAGE;
}

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *one, const char *other);

#endif
