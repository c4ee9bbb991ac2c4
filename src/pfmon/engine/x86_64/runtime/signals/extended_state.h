/* The state of x87 and vector registers in the frame of a signal. */

#ifndef EXTENDED_STATE_H
#define EXTENDED_STATE_H

#include <stdint.h>

uint32_t extended_state_room(void);      /* bytes in the frame */
void save_extended_state(uint8_t *to);
void load_extended_state(uint64_t from); /* 0, or not readable: it stays as it is */

#endif
