/* What the plugin and its reader share: the ring of the stream, and the area in which blocks are announced. Both are files
   in memory without names, which the plugin gets as descriptors.

   The program can write to all of it. The reader trusts nothing that it finds there: it reads each number once, into memory
   of its own, and checks it before it uses it (docs/qemu.md). */

#ifndef PFMON_QEMU_LAYOUT_H
#define PFMON_QEMU_LAYOUT_H

#include <stdint.h>

enum {
    RING_BUFFERS = 8,
    RING_BUFFER_WORDS = 1 << 15
};

struct ring_buffer {
    uint64_t count;
    uint64_t words[RING_BUFFER_WORDS];
};

struct ring {
    char magic[8];
    uint32_t filling;            /* buffers handed over so far: the reader waits for it (futex.h) */
    uint32_t reading;            /* ... and read so far: the plugin does, when all are full */
    struct ring_buffer buffers[RING_BUFFERS];
};

enum {
    AREA_HEAD = 1 << 22,         /* bytes before the first announcement */
    AREA_BYTES = 1 << 30,        /* of the whole area, which is sparse */
    MOST_MESSAGE = 4000,
    MOST_PATH = 256,
    MOST_THREADS = 256,          /* at a time */
    MOST_TRANSLATED = 3 * 255,   /* instructions of a block */
    MOST_SLOTS = 2 * MOST_TRANSLATED
};

enum trouble {                   /* why the plugin gave up */
    NO_TROUBLE = 0,
    TOO_MANY_THREADS = 1,        /* at a time */
    AREA_FULL = 2,               /* no room for another announcement */
    NO_MEMORY = 3
};

enum tail {                      /* how a block's last instruction shows that it retired */
    CERTAIN = 0,                 /* it cannot fault */
    COUNTED = 1,                 /* its memory accesses are counted */
    SUCCESSOR = 2,               /* what comes next is what follows it in memory */
    REPEATED = 3                 /* a string instruction: the same, or another iteration */
};

enum {
    MAY_FAULT = 0x80,            /* beside an instruction's size */
    SLOTS_SHIFT = 5,             /* ... and how many addresses its accesses have in the stream, 0 to 2 */
    SIZE_BITS = 0x1F
};

struct announcement {            /* no parts: a mapped file (announce.c). Then: `length` sizes, a byte each, and `bytes` of code; padded to 8 bytes; counters */
    uint64_t number;             /* of the block in the stream */
    uint64_t ip, last_ip, next_ip;   /* its own address, that of its last instruction, and what follows it in memory */
    uint64_t whole;              /* what it adds to `progress` when it retires whole, if no more is to be done then */
    uint64_t taken;              /* the bit of its word that says that its branch was taken, or 0 */
    uint32_t instructions;       /* of all its parts */
    uint32_t bytes;
    uint16_t length;             /* instructions of this part */
    uint8_t parts;               /* a long block is announced in parts, which follow each other; the first is for all */
    uint8_t cut;                 /* stream/table.pxd, Cut */
    uint8_t tail;
    uint8_t accesses;            /* of its last instruction, if they are counted */
    uint16_t slots;              /* addresses of this part */
    uint32_t counters;           /* ... and, of a first part, counters (totals.c); 0: its runs are in the stream */
    uint32_t file;               /* the number of the mapped file that it is from, 0: none (mapped.c) */
};

struct string {                  /* the bytes that the iterations of a string instruction have accessed */
    uint64_t first, last;        /* address of the lowest access, and of the highest; ~0 and 0: none was made */
};

struct thread {                  /* of the program */
    uint64_t progress;           /* the translated code adds to it as it passes instructions (plugin.c) */
    uint64_t before;             /* what `progress` was when the last block began */
    const struct announcement *last;   /* the block that began last, where the guest sees it; it has no word yet */
    uint64_t slots[MOST_SLOTS];  /* the addresses of its accesses, in program order; 0: was not made */
    struct string strings[2];    /* ... of its last instruction, if that is a string instruction that repeats */
    uint64_t turn;               /* which of the two its next access is */
};

struct area {                    /* the head of the area */
    struct thread threads[MOST_THREADS];
    uint64_t announced;          /* bytes of announcements that are complete */
    uint64_t count;              /* words in the buffer that is filled */
    uint64_t retired;            /* instructions so far, the last block's all among them */
    uint64_t executing;          /* a system call that replaces the program has begun */
    struct announcement nothing; /* in the place of the last block: there is none; it has no parts */
    const struct area *base;     /* where the guest's process sees the area */
    uint32_t stopping;           /* the reader wants no more than the buffers that are full */
    uint32_t traced;             /* ... and the addresses of accesses */
    uint32_t totals;             /* ... or no stream, but how often each block ran */
    uint64_t begun;              /* blocks that have begun, if totals are wanted */
    uint64_t doubtful;           /* the last instruction of the block that began last of those of which no counter
                                    says that it retired, */
    uint64_t doubtful_at;        /* ... and `begun` then */
    uint32_t trouble;
    uint32_t message_length;
    char message[MOST_MESSAGE];  /* what qemu itself wanted to say on standard error */
    uint32_t task;               /* the number of who is followed (tasks.py) */
    uint32_t forks;              /* children that it has begun */
    uint64_t inherited;          /* bytes of announcements that its parent has made */
    uint32_t status;             /* EXITED, and the exit status */
    char executed[MOST_PATH];    /* the program that it executed last */
};

#endif
