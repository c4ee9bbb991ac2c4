/* The operands in memory of an instruction, as its block records and executes them. */

#ifndef PFMON_X86_64_OPERANDS_H
#define PFMON_X86_64_OPERANDS_H

#include "decode.h"

void put_memory_operand(uint32_t opcode, int reg, const struct instruction *it, bool with_segment);
void put_addresses(const struct instruction *it, uint32_t slots, int ring_at, int temporary, int32_t place);
void put_gather_operands(const struct instruction *it);
void put_copy(const struct instruction *it, int temporary);

#endif
