/* The runtime's file moves to an address that differs from run to run before anything else happens: the kernel has mapped it anywhere,
   also where the guest's own mappings go. The areas that translated code reaches by absolute addresses get theirs (memory_map.h). */

#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/mman.h>

#include "kernel.h"
#include "memory_map.h"

enum { RELATIVE = 8 };           /* R_X86_64_RELATIVE (System V ABI, AMD64, table 4.10) */

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const int32_t low_addresses[] __attribute__((visibility("hidden")));      /* each relative to itself (entry.S) */
extern const int32_t low_addresses_end[] __attribute__((visibility("hidden")));

uint64_t low_slide __attribute__((visibility("hidden")));

static uint64_t draw_pages(uint64_t count) {
    uint32_t it = 0;
    if (KERNEL3(__NR_getrandom, &it, sizeof(it), 0) != sizeof(it))
        KERNEL1(__NR_exit_group, 127);
    return it % count * PAGE;
}

static const Elf64_Phdr *parts_of(const Elf64_Ehdr *image) {
    return (const Elf64_Phdr *)((const uint8_t *)image + image->e_phoff);
}

static uint64_t bytes_of(const Elf64_Ehdr *image) {
    const Elf64_Phdr *part = parts_of(image);
    uint64_t end = 0;
    int i;
    for (i = 0; i < image->e_phnum; i++)
        if (part[i].p_type == PT_LOAD && part[i].p_vaddr + part[i].p_memsz > end)
            end = part[i].p_vaddr + part[i].p_memsz;
    return whole_pages(end);
}

static void copy(const Elf64_Ehdr *image, uint8_t *to) {
    const Elf64_Phdr *part = parts_of(image);
    int i;
    for (i = 0; i < image->e_phnum; i++)
        if (part[i].p_type == PT_LOAD)
            memcpy(to + part[i].p_vaddr, (const uint8_t *)image + part[i].p_vaddr, part[i].p_filesz);
}

/* Addresses in the data of a copy; those of the linker are from 0 on. */
static void relocate(const Elf64_Ehdr *image, uint8_t *to) {
    const Elf64_Phdr *part = parts_of(image);
    const Elf64_Dyn *entry;
    const Elf64_Rela *it = NULL;
    uint64_t bytes = 0, i;
    while (part->p_type != PT_DYNAMIC)
        part++;
    for (entry = (const Elf64_Dyn *)(to + part->p_vaddr); entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_RELA)
            it = (const Elf64_Rela *)(to + entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            bytes = entry->d_un.d_val;
    for (i = 0; i < bytes / sizeof(*it); i++) {
        if (ELF64_R_TYPE(it[i].r_info) != RELATIVE)
            KERNEL1(__NR_exit_group, 127);
        *(uint64_t *)(to + it[i].r_offset) = (uint64_t)to + (uint64_t)it[i].r_addend;
    }
}

/* The addresses in entry.S, and those of the memory map. */
static void slide_low_areas(uint64_t moved) {
    const int32_t *it;
    uint64_t slide = draw_pages(LOW_SLIDES);
    for (it = low_addresses; it < low_addresses_end; it++)
        *(uint32_t *)((uint64_t)it + (uint64_t)(int64_t)*it + moved) += (uint32_t)slide;
    *(uint64_t *)((uint64_t)&low_slide + moved) = slide;
}

static void protect(const Elf64_Ehdr *image, const uint8_t *to) {
    const Elf64_Phdr *part = parts_of(image);
    int i;
    for (i = 0; i < image->e_phnum; i++, part++) {
        uint64_t start = part->p_vaddr & -(uint64_t)PAGE;
        int protection = PROT_READ | (part->p_flags & PF_W ? PROT_WRITE : 0) | (part->p_flags & PF_X ? PROT_EXEC : 0);
        if (part->p_type == PT_LOAD)
            KERNEL3(__NR_mprotect, to + start, whole_pages(part->p_vaddr + part->p_memsz) - start, protection);
    }
}

/* Called before addresses in data are right; returns by how many bytes the file has moved. */
uint64_t move_image(void) {
    const Elf64_Ehdr *image = &__ehdr_start;
    uint64_t at = IMAGE + draw_pages(IMAGE_PAGES), bytes = bytes_of(image), moved = at - (uint64_t)image;
    int64_t place = KERNEL6(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (int64_t)at)
        KERNEL1(__NR_exit_group, 127);
    copy(image, (uint8_t *)at);
    relocate(image, (uint8_t *)at);
    slide_low_areas(moved);
    protect(image, (const uint8_t *)at);
    return moved;
}

/* The first copy, where the kernel mapped it. */
void unmap_first_image(const void *image) {
    KERNEL2(__NR_munmap, image, bytes_of(image));
}
