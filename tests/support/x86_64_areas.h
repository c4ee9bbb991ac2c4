/* Where the runtime of the x86_64 engine has its areas, which differs from run to run (memory_map.h), as a program finds out that has
   the time: the table of indirect branches ends where the first page below the end of its addresses is readable. */

#ifndef X86_64_AREAS_H
#define X86_64_AREAS_H

#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

enum { LOW_RUNTIME_END = 0x7FF00000, FIRST_TABLE_END = 0x7E180000, FIRST_WAYS = 0x7E0F0000 };

static sigjmp_buf areas_back;

static void areas_fault(int number) {
    siglongjmp(areas_back, number);
}

static int is_readable_page(uint64_t at) {
    volatile int readable = 0;
    if (sigsetjmp(areas_back, 1) == 0) {
        (void)*(volatile uint8_t *)at;
        readable = 1;
    }
    return readable;
}

/* Bytes to add to the addresses of the memory map; 0 natively, where nothing is there. */
static uint64_t slide_of_areas(void) {
    void (*before)(int) = signal(SIGSEGV, areas_fault);
    uint64_t end = LOW_RUNTIME_END;
    while (end > FIRST_TABLE_END && !is_readable_page(end - 4096))
        end -= 4096;
    signal(SIGSEGV, before);
    return end - FIRST_TABLE_END;
}

/* The runtime's file: one of its addresses is in the first word of the ways to it. */
static inline uint64_t image_of_runtime(uint64_t slide) {
    uint64_t at = *(const uint64_t *)(FIRST_WAYS + slide) & -(uint64_t)4096;
    while (memcmp((const void *)at, "\177ELF", 4))
        at -= 4096;
    return at;
}

/* The first page that is writable of it. */
static inline uint64_t data_of_runtime(uint64_t image) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    const Elf64_Phdr *part = (const Elf64_Phdr *)(image + head->e_phoff);
    while (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
        part++;
    return (image + part->p_vaddr + 4095) & -(uint64_t)4096;
}

#endif
