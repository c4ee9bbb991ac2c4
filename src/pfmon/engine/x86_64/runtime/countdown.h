/* The countdown of instructions to the next expiry of a timer or end of a turn. */

#ifndef PFMON_X86_64_COUNTDOWN_H
#define PFMON_X86_64_COUNTDOWN_H

#include <stdbool.h>
#include <stdint.h>

struct block;

extern bool counting_down;       /* each block takes its instructions off when it begins: timers expire at exact instructions */
extern bool counting_paths;      /* each path does so when it ends: turns end there */

enum { LONGEST_COUNT = 0xFE0000 };

void count_down_blocks(void);
void count_down_paths(void);
void count_down_from(uint64_t instructions);
void give_back_instructions(uint64_t instructions);
void take_off_instructions(uint64_t instructions);
bool counts_down(void);
uint64_t instructions_counted_down(void);
bool in_countdown(const struct block *block, uint64_t address, uint64_t ip);
bool ends_countdown(const struct block *block, uint64_t address, uint64_t ip);

/* timers.c */
void update_countdown(void);

#endif
