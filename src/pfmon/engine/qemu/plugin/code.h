/* Properties of an instruction that the plugin needs, for any instruction set; the describer finds all others. */

#ifndef PFMON_QEMU_CODE_H
#define PFMON_QEMU_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code {
    bool may_fault;              /* true in doubt */
    bool conditional;            /* a conditional branch */
    uint8_t tail;                /* at the end of a block: enum tail */
    uint8_t accesses;            /* number of its accesses, if its tail is COUNTED */
    uint8_t slots;               /* addresses in the stream, 0 to 2: one per operand; or one per element */
    bool elements;               /* it is a gather or a scatter: its slots are those of its elements */
};

struct target {                  /* an instruction set */
    const char *name;            /* qemu's */
    struct code (*code)(const uint8_t *bytes, size_t size);
    bool (*is_whole)(const uint8_t *bytes, size_t size);
};

const struct target *target_of(const char *name);            /* NULL: unknown */

struct code x86_code(const uint8_t *bytes, size_t size, bool is_64);
bool x86_is_whole(const uint8_t *bytes, size_t size, bool is_64);

struct code ppc64_code(const uint8_t *bytes, size_t size);
struct code ppc_code(const uint8_t *bytes, size_t size);     /* of 32 bits */
struct code ppc64le_code(const uint8_t *bytes, size_t size);
uint8_t ppc_accesses(uint32_t word);
bool ppc_is_whole(const uint8_t *bytes, size_t size);

#endif
