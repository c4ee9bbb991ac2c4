/* Files that are mapped executable: the mapping calls seen by calls.c. */

#ifndef PFMON_QEMU_MAPPED_H
#define PFMON_QEMU_MAPPED_H

#include <stdint.h>

enum { MAPPED_PAGE = 1 << 12 };

struct mapping {                 /* a call that maps or unmaps */
    uint64_t address, length, offset;
    uint32_t protection, flags;
    int file;
    enum { UNMAPS, MAPS, PROTECTS } kind;
};

#pragma GCC visibility push(hidden)

uint32_t mapped_at(uint64_t address);
void before_mapping(unsigned int cpu, const struct mapping *call);
void after_mapping(unsigned int cpu, int64_t result, uint64_t most);

#pragma GCC visibility pop

#endif
