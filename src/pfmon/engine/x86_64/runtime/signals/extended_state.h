/* The state of x87 and vector registers, kept for a thread and in the frame of a signal. */

#ifndef EXTENDED_STATE_H
#define EXTENDED_STATE_H

#include <stdint.h>

enum { MOST_EXTENDED_BYTES = 2688 };     /* of any model (processor_models.c) */

void save_components(uint8_t *to);       /* aligned to 64 bytes */
void load_components(const uint8_t *from);

uint32_t extended_state_room(void);      /* bytes in the frame */
void save_extended_state(uint8_t *to);
void load_extended_state(uint64_t from); /* 0, or not readable: it stays as it is */

#endif
