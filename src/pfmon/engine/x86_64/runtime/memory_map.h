/* The address space of the runtime's process. Guest code and the data that it reaches relative to rip lie below 2 GB,
   as the code cache does, so that a copied instruction reaches them with a displacement of 32 bits. Everything else of the
   guest lies high, where AddressSanitizer has no shadow. From HIGH_RUNTIME on is the runtime's own memory. */

#ifndef PFMON_X86_64_MEMORY_MAP_H
#define PFMON_X86_64_MEMORY_MAP_H

#define GUEST_PIE 0x10000000UL       /* a position-independent program */
#define GUEST_LOW_END 0x60000000UL   /* files and code are mapped downwards from here */

#define LOW_RUNTIME 0x60000000UL     /* from here on nothing is the guest's: */
#define LOW_RUNTIME_END 0x7FF00000UL
#define LOW(address) ((address) + low_slide)         /* which differs from run to run (image.c) */
#define LOW_SLIDES 0x1D80UL          /* pages between which that is drawn */
#define AREA_AT LOW(0x60001000UL)    /* announcements (layout.h); what the kernel accesses in order ends before them */
#define AREA_ROOM 0x0FFFE000UL
#define CODE_AT LOW(0x70000000UL)    /* code cache */
#define CODE_ROOM 0x07000000UL
#define EXITS_AT LOW(0x77000000UL)   /* what blocks seldom need: ways to the runtime, checks of indirect branches' targets */
#define EXITS_ROOM 0x06000000UL
#define COUNT_AT LOW(0x7D010000UL)   /* read at the number of instructions until a timer expires; nothing is below */
#define COUNT_ROOM 0x00FF0000UL
#define FIRST_STATE 0x7E000000UL
#define STATE_AT LOW(FIRST_STATE)    /* struct state */
#define WAYS_AT LOW(0x7E0F0000UL)    /* struct ways */
#define TABLE_AT LOW(0x7E100000UL)   /* targets of indirect branches, by the low 16 bits of the address */
#define TABLE_ENTRIES 0x10000UL

#define GUEST_MIDDLE 0x100000000UL   /* what has no room above */
#define GUEST_HIGH 0x100080000000UL
#define GUEST_BREAK 0x560000000000UL /* the break of a position-independent program, upwards */
#define GUEST_HIGH_END 0x6F0000000000UL  /* other mappings, downwards from here */
#define GUEST_STACK_END 0x6FFFFFFFF000UL

#define HIGH_RUNTIME 0x6FFFFFFFF000UL    /* an inaccessible page */
#define NAMES_AT 0x700000000000UL    /* names that the kernel gets (kernel_names.h) */
#define IMAGE 0x700100000000UL       /* the runtime's file, at an address that differs from run to run; so does that of its */
#define IMAGE_PAGES 0x0F000000UL     /* memory, upwards from there */
#define RUNTIME_MEMORY 0x710000000000UL
#define RUNTIME_MEMORY_PAGES 0x80000000UL
#define USER_END 0x7FFFFFFFF000UL

#ifndef __ASSEMBLER__
#include <stdint.h>
extern uint64_t low_slide;           /* bytes */
#endif

#endif
