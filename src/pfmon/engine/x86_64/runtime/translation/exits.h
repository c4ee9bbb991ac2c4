/* The exits of blocks, and what paths have in place of them (exits.c). */

#ifndef PFMON_X86_64_EXITS_H
#define PFMON_X86_64_EXITS_H

#include "runtime.h"

enum { EXTENDED_REGISTERS = 0xFF00, SPARE_REGISTERS = 2 };   /* r8 to r15; those that a block has to leave unused */

void choose_registers(struct block *block, uint16_t used);
void put_entry(const struct block *block);
void put_direct_exit(struct block *block, uint64_t target, bool taken);
void put_indirect_exit(struct block *block);
void put_service_exit(struct block *block, uint8_t kind, uint64_t next);
void put_record(const struct block *block, bool taken);
void open_exit(struct exit *exit);

#endif
