/* Memory shared by the plugin and its reader: the ring of the stream, and the area of announced blocks. Both are
   anonymous memory files, which the plugin receives as descriptors.

   The program can write to all of it. The reader trusts none of it: it reads each number once, into private memory, and
   checks it before use (docs/dev/engines.md). */

#ifndef PFMON_QEMU_LAYOUT_H
#define PFMON_QEMU_LAYOUT_H

#include <stdint.h>

enum {
    RING_BUFFERS = 8,
    RING_BUFFER_WORDS = 1 << 15
};

struct ring_buffer {             /* begins at a page */
    uint64_t words[RING_BUFFER_WORDS];
    uint64_t count;
    uint64_t unused[511];
};

struct ring {
    char magic[8];
    uint32_t filling;            /* buffers handed over so far: the reader waits on it (futex.h) */
    uint32_t reading;            /* buffers read so far: the plugin waits on it when all are full */
    uint64_t unused[510];
    struct ring_buffer buffers[RING_BUFFERS];
};

enum {
    AREA_HEAD = 1 << 22,         /* bytes before the first announcement */
    MIN_AREA_BYTES = 1 << 23,  /* of the whole area, which is sparse; its file has its size (plugin_reader.pyx) */
    MAX_AREA_BYTES = 1 << 30,
    MAX_MESSAGE_BYTES = 4000,
    MAX_PATH_BYTES = 256,
    THREAD_NUMBERS = 1 << 20,         /* numbers of threads in the stream: in order of creation, then again from 0 */
    MAX_GUEST_THREADS = 256,          /* at a time */
    MAX_TRANSLATED_INSTRUCTIONS = 3 * 255,   /* instructions of a block */
    MAX_GATHER_SLOTS = 240,      /* addresses of gathers and scatters in a block */
    MAX_TRANSLATED_SLOTS = 2 * MAX_TRANSLATED_INSTRUCTIONS + MAX_GATHER_SLOTS
};

enum trouble {                   /* why the plugin gave up */
    NO_TROUBLE = 0,
    TOO_MANY_THREADS = 1,        /* at a time */
    AREA_FULL = 2,               /* no room for another announcement */
    NO_MEMORY = 3,
    INTERRUPTED = 4,             /* a callback of the plugin did not return: the program has overwritten its data */
    DEADLOCK = 5,                /* the x86_64 engine: all threads wait, and nothing can end a wait (`message`) */
    NOT_SUPPORTED = 6,           /* it executes what that engine does not */
    CANNOT_LOAD = 7,
    CANNOT_CONFINE = 8           /* the kernel does not keep the program below its root (--confine) */
};

/* A word of translated code that writes the stream in line: a block's number, or that of a path; a mark has bit 63. */
enum {
    TAKEN_IN_LINE = 1 << 29,     /* its last branch was taken */
    PATH_IN_LINE = 1 << 30,
    MAX_PATH_BLOCKS = 16
};

enum tail {                      /* evidence that a block's last instruction retired */
    CERTAIN = 0,                 /* it cannot fault */
    COUNTED = 1,                 /* its memory accesses are counted */
    SUCCESSOR = 2,               /* the next block follows it in memory */
    REPEATED = 3                 /* a string instruction: as SUCCESSOR, or another iteration */
};

enum {                           /* as in stream/block_table.pxd and stream_words.pxd */
    CUT_WHOLE = 0, CUT_FAULT = 2, CUT_EDGE = 3,
    MARK_SYSTEM_CALL = 1, MARK_FAULT = 2, MARK_STRING = 14, MARK_THREAD = 16,
    MARK_PYTHON_CALL = 17, MARK_PYTHON_RETURN = 18, MARK_PYTHON_LINE = 19,
    MARK_REGION_NAME = 35, MARK_REGION_START = 36, MARK_REGION_STOP = 37, MAX_REGION_NAME = 64,
    NO_INSTRUCTION = 255
};

enum executing {                 /* state of a process whose program executes another */
    NOT_EXECUTING = 0,
    EXECUTES_NATIVELY = 1,       /* the host's processor executes it, uncounted */
    EXECUTES_FOLLOWED = 2,
    EXECUTES_ANEW = 3            /* the x86_64 engine: counting begins anew with it; the process waits for the files of
                                    another ring and area (struct handover) */
};

struct handover {                /* of the process to another reader, which executes the program whose path is `message` */
    uint32_t ready;              /* the process waits on it; the others are set before */
    int32_t reader;              /* the reader's process, and its descriptors of both files */
    int32_t ring_file, area_file;
    uint64_t python[3];          /* the arguments PYTHON_VERSION to PYTHON_END (x86_64/runtime/arguments.h) */
};

enum {                           /* `number` of an announcement with bytes and without parts */
    ANNOUNCES_FILE = 0,
    ANNOUNCES_FUNCTION = 1       /* of a Python program: its bytes are its name, of `last_ip` bytes, and its file's;
                                    `ip` is its first line */
};

enum { EXITED = 1 << 8, KILLED = 1 << 9 };       /* beside an exit status, or a signal (engine/x86_64) */

enum {
    MAY_FAULT = 0x80,            /* flag in an instruction's size */
    SLOTS_SHIFT = 5,             /* shift of its number of addresses in the stream, 0 to 2, or GATHER_SLOTS */
    GATHER_SLOTS = 3,            /* one for each element of a gather or a scatter (x86_gather.h) */
    SIZE_BITS = 0x1F
};

struct announcement {            /* no parts: a mapped file (announce.c) or a function; without bytes too, a path: `number` is its own,
                                    `ip` the word of what executed before the block of the number `last_ip`. Followed by
                                    `length` sizes, a byte each, and `bytes` of code, padded to 8 bytes; then counters */
    uint64_t number;             /* of the block in the stream */
    uint64_t ip, last_ip, next_ip;   /* its address, its last instruction's, the following one */
    uint64_t whole;              /* increment of `progress` when it retires whole, without further work */
    uint64_t taken;              /* the bit of its word for a taken branch, or 0 */
    uint32_t instructions;       /* of all its parts */
    uint32_t bytes;
    uint16_t length;             /* instructions of this part */
    uint8_t parts;               /* a long block is announced in contiguous parts; of the first: their number */
    uint8_t cut;                 /* stream/block_table.pxd, Cut */
    uint8_t tail;
    uint8_t accesses;            /* of its last instruction, if counted */
    uint16_t slots;              /* addresses of this part in the stream */
    uint32_t counters;           /* of a first part: its counters (totals.c); 0: its runs are in the stream */
    uint32_t file;               /* the number of the mapped file that it is from, 0: none (mapped.c) */
};

struct string {                  /* bytes accessed by a string instruction's iterations */
    uint64_t first, last;        /* address of the lowest access, and of the highest; ~0 and 0: none was made */
};

struct thread {                  /* of the program */
    uint64_t progress;           /* translated code adds to it at each marker (plugin.c) */
    uint64_t before;             /* `progress` when the last block began */
    const struct announcement *last;   /* the last begun block, guest address; its word is not written yet */
    uint64_t slots[MAX_TRANSLATED_SLOTS];  /* the addresses of its accesses, in program order; 0: none */
    struct string strings[2];    /* of its last instruction, if that is a repeated string instruction */
    uint64_t turn;               /* which of the two is accessed next */
};

/* Where translated code writes the stream in line (engine/x86_64), no word is 0, and the word behind the last one is;
   `retired` is the reader's, and with `totals` the area ends with a counter of 8 bytes for each block and each path, in the
   order of their announcements: the last one is block 0's. A path's runs are not in the counters of its blocks. */

/* A request of the x86_64 engine's program about its PMU (x86_64/runtime/performance/), which pfmon's process answers when it
   has read the stream up to it (x86_64/program_events.py). */
enum { REQUEST_ARGUMENTS = 5, MAX_REQUEST_BYTES = 1 << 14, MAX_REQUEST_NOTICES = 64 };

struct request_notice {
    uint64_t event, code;        /* of its file (program_events.py) */
};

struct request {
    uint32_t asked;              /* `filling` of the ring when all words before it are handed over, which shows that it is made */
    uint32_t answered;           /* `asked` of the last answer: the process waits on it */
    uint32_t what, length;       /* enum pmu_request (x86_64/runtime/performance/performance.h); bytes of data */
    uint64_t ip, clock_offset;   /* of the next instruction; nanoseconds between instructions retired and its monotonic clock */
    int64_t arguments[REQUEST_ARGUMENTS];
    int64_t result;              /* the answer: an error is negative */
    uint64_t stop;               /* instructions retired at which the process asks again (LOOK); 0: it need not */
    int32_t reader;              /* the reader's process, whose descriptor a result may be */
    uint32_t notices, more;      /* more: ask again at once for the others */
    struct request_notice notice[MAX_REQUEST_NOTICES];
    uint8_t data[MAX_REQUEST_BYTES];     /* of the request, then of the answer */
};

struct area {                    /* the head of the area */
    struct thread threads[MAX_GUEST_THREADS];
    uint64_t announced;          /* bytes of announcements that are complete */
    uint64_t count;              /* words in the buffer that is filled */
    uint64_t retired;            /* instructions so far, including all of the last block's */
    uint64_t executing;          /* a system call that replaces the program has begun */
    struct announcement nothing; /* stands for the last block if there is none; has no parts */
    const struct area *base;     /* the area's address in the guest's process */
    uint32_t stopping;           /* the reader takes only the buffers that are full */
    uint32_t traced;             /* addresses of accesses are in the stream */
    uint32_t totals;             /* no stream: only counters of block runs */
    uint64_t begun;              /* blocks that have begun, with `totals` */
    uint64_t doubtful;           /* last instruction of the latest begun block that has no counter for it */
    uint64_t doubtful_at;        /* `begun` at that time */
    uint32_t trouble;
    uint32_t message_length;
    char message[MAX_MESSAGE_BYTES];  /* qemu's own output on standard error */
    uint32_t task;               /* the number of the followed task (tasks.py) */
    uint32_t forks;              /* children that it has begun */
    uint64_t inherited;          /* bytes of its parent's announcements */
    uint32_t status;             /* EXITED and the exit status, or KILLED and the signal */
    uint64_t fault_ip;           /* of the instruction that ended the program, if the writer knows it */
    uint32_t outside;            /* the x86_64 engine: the program has read, written or made something outside of it */
    char executed[MAX_PATH_BYTES];    /* the last executed program */
    uint32_t processor_results;  /* a bit for each executed instruction whose result is the host's processor's
                                    (engine/x86_64/runtime/processor_results.c) */
    uint64_t silent;             /* the x86_64 engine: instructions outside of regions, of which the stream has none */
    struct handover handover;
    struct request request;
};

#endif
