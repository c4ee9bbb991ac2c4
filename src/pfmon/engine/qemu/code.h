/* What the plugin must know of an instruction, of any instruction set; all else is for who describes the block. */

#ifndef PFMON_QEMU_CODE_H
#define PFMON_QEMU_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code {
    bool may_fault;              /* in doubt it may */
    bool conditional;            /* a branch that is taken or not */
    uint8_t tail;                /* as the last of a block: enum tail */
    uint8_t accesses;            /* ... that it then makes, if its tail is COUNTED */
    uint8_t slots;               /* addresses of its accesses, 0 to 2: several accesses of one operand are one */
};

struct target {                  /* an instruction set */
    const char *name;            /* qemu's */
    struct code (*code)(const uint8_t *bytes, size_t size);
    bool (*is_whole)(const uint8_t *bytes, size_t size);
};

const struct target *target_of(const char *name);            /* NULL: none of these */

struct code x86_code(const uint8_t *bytes, size_t size, bool is_64);
bool x86_is_whole(const uint8_t *bytes, size_t size, bool is_64);

struct code ppc64_code(const uint8_t *bytes, size_t size);
struct code ppc_code(const uint8_t *bytes, size_t size);     /* of 32 bits */
struct code ppc64le_code(const uint8_t *bytes, size_t size);
uint8_t ppc_accesses(uint32_t word);
bool ppc_is_whole(const uint8_t *bytes, size_t size);

#endif
