/* The guest's registers while the runtime itself executes, and the words that translated code shares with it, at
   STATE_AT. entry.S knows the offsets. */

#ifndef PFMON_X86_64_STATE_H
#define PFMON_X86_64_STATE_H

#include "memory_map.h"

#define STATE_REGISTERS 0
#define STATE_FLAGS 128
#define STATE_NEXT 136
#define STATE_RING 144
#define STATE_TARGET 152
#define STATE_EXIT 160
#define STATE_RCX 168
#define STATE_SAVED 176
#define STATE_FS 304
#define STATE_GS 312
#define STATE_VECTOR 320
#define STATE_MASK 384
#define STATE_STRING 448
#define STATE_PENDING 472
#define STATE_RAX 480
#define STATE_RDX 488
#define STATE_COUNTDOWN 496
#define STATE_PYTHON_ENTERED 520
#define STATE_PYTHON_FRAME 528
#define STATE_PYTHON_FIRST 536
#define STATE_PYTHON_BYTES 544
#define STATE_PYTHON_RAX 552

#define WAYS_ON_EXIT 0
#define WAYS_ON_MISS 8
#define WAYS_COMPONENTS 16

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct state {
    uint64_t registers[16];      /* the guest's, numbered as in encodings: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 */
    uint64_t flags;
    uint64_t next;               /* code to continue with */
    uint64_t ring;               /* where the next word of the stream goes */
    uint64_t target;             /* guest address that an indirect branch goes to */
    uint64_t exit;               /* number of the exit by which translated code was left */
    uint64_t rcx;                /* while an indirect branch's target is compared */
    uint64_t saved[16];          /* the host's registers on both ways */
    uint64_t fs, gs;             /* segment bases */
    uint64_t vector[8];          /* index register of a gather or a scatter */
    uint64_t mask[8];            /* what selects its elements */
    uint64_t string[3];          /* rcx, rsi and rdi before a repeated string instruction */
    uint64_t pending;            /* signals wait */
    uint64_t rax, rdx;           /* around an instruction that saves or loads the state of components */
    int64_t countdown;           /* instructions until a timer expires or a turn is over (countdown.c) */
    int64_t count_from;          /* what it was set to */
    uint64_t counted;            /* instructions before it was set */
    uint64_t python_entered;     /* the stack pointer when the evaluation loop was last entered; 0: not since the last site */
    uint64_t python_frame;       /* that executes, 0: another one may (python_frames.c) */
    uint64_t python_first, python_bytes;     /* of its bytecode: the instructions of the line that executes */
    uint64_t python_rax;         /* while they are compared */
};

#define IS_AT(offset, member) _Static_assert(offsetof(struct state, member) == offset, "the offset of " #member)
IS_AT(STATE_REGISTERS, registers);
IS_AT(STATE_FLAGS, flags);
IS_AT(STATE_NEXT, next);
IS_AT(STATE_RING, ring);
IS_AT(STATE_TARGET, target);
IS_AT(STATE_EXIT, exit);
IS_AT(STATE_RCX, rcx);
IS_AT(STATE_SAVED, saved);
IS_AT(STATE_FS, fs);
IS_AT(STATE_GS, gs);
IS_AT(STATE_VECTOR, vector);
IS_AT(STATE_MASK, mask);
IS_AT(STATE_STRING, string);
IS_AT(STATE_PENDING, pending);
IS_AT(STATE_RAX, rax);
IS_AT(STATE_RDX, rdx);
IS_AT(STATE_COUNTDOWN, countdown);
IS_AT(STATE_PYTHON_ENTERED, python_entered);
IS_AT(STATE_PYTHON_FRAME, python_frame);
IS_AT(STATE_PYTHON_FIRST, python_first);
IS_AT(STATE_PYTHON_BYTES, python_bytes);
IS_AT(STATE_PYTHON_RAX, python_rax);
#undef IS_AT

#define state ((struct state *)STATE_AT)

/* What translated code reads, but does not write (protection_key.c). */
struct ways {
    uint64_t on_exit, on_miss;   /* addresses in entry.S */
    uint32_t components[256];    /* those that the guest's processor has, of 8 */
};

#define ways ((struct ways *)WAYS_AT)

#endif
#endif
