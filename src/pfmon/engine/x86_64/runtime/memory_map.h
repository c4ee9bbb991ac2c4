/* The address space of the runtime's process. Guest code and the data that it reaches relative to rip lie below 2 GB,
   as the code cache does, so that a copied instruction reaches them with a displacement of 32 bits. Everything else of the
   guest lies high, where AddressSanitizer has no shadow. From RUNTIME_AT on is the runtime's own memory. */

#ifndef PFMON_X86_64_MEMORY_MAP_H
#define PFMON_X86_64_MEMORY_MAP_H

#define GUEST_PIE 0x10000000UL       /* a position-independent program */
#define GUEST_LOW_END 0x60000000UL   /* files and code are mapped downwards from here */

#define LOW_RUNTIME 0x60000000UL     /* an inaccessible page: what the kernel accesses in order ends there */
#define AREA_AT 0x60001000UL         /* announcements (layout.h) */
#define AREA_ROOM 0x0FFFF000UL
#define CODE_AT 0x70000000UL         /* code cache */
#define CODE_ROOM 0x07000000UL
#define EXITS_AT 0x77000000UL        /* what blocks seldom need: ways to the runtime, checks of indirect branches' targets */
#define EXITS_ROOM 0x06000000UL
#define COUNT_AT 0x7D010000UL        /* read at the number of instructions until a timer expires; nothing is below */
#define COUNT_ROOM 0x00FF0000UL
#define STATE_AT 0x7E000000UL        /* struct state */
#define WAYS_AT 0x7E0F0000UL         /* struct ways */
#define TABLE_AT 0x7E100000UL        /* targets of indirect branches, by the low 16 bits of the address */
#define TABLE_ENTRIES 0x10000UL
#define LOW_RUNTIME_END 0x7E180000UL

#define GUEST_MIDDLE 0x100000000UL   /* what has no room above */
#define GUEST_HIGH 0x100080000000UL
#define GUEST_BREAK 0x560000000000UL /* the break of a position-independent program, upwards */
#define GUEST_HIGH_END 0x6F0000000000UL  /* other mappings, downwards from here */
#define GUEST_STACK_END 0x6FFFFFFFF000UL

#define HIGH_RUNTIME 0x6FFFFFFFF000UL    /* an inaccessible page */
#define RUNTIME_AT 0x700000000000UL  /* its file (setup.py); then its memory, upwards from an address that differs from run to run */
#define RUNTIME_MEMORY 0x710000000000UL
#define RUNTIME_MEMORY_PAGES 0x80000000UL    /* where that begins */
#define USER_END 0x7FFFFFFFF000UL

#endif
