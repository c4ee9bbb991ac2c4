/* Files that the guest maps (mapped_files.c). */

#ifndef PFMON_X86_64_MAPPED_FILE_H
#define PFMON_X86_64_MAPPED_FILE_H

#include <stdint.h>

struct file {                    /* mapped at these addresses */
    uint64_t start, end, offset;
    const char *path;
};

const char *path_of(int file);
void keep_file(const struct file *it, int protection);
void remove_places(uint64_t start, uint64_t end);
void announce_silent(uint64_t start, uint64_t end);

#endif
