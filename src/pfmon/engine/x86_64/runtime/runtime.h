/* Shared declarations of the runtime's files. */

#ifndef PFMON_X86_64_RUNTIME_H
#define PFMON_X86_64_RUNTIME_H

#include "translation/decode.h"
#include "translation/emit.h"
#include "kernel.h"
#include "state.h"
#include "announcement.h"

enum {
    MAX_BLOCK = 128,             /* instructions of a block */
    MAX_BLOCK_BYTES = MAX_BLOCK * MAX_INSTRUCTION
};

struct code_block {              /* instructions that follow each other in memory */
    uint64_t ip;
    uint32_t length, bytes, slots;
    int cut;
    bool conditional;
    uint32_t file;
    uint8_t sizes[MAX_BLOCK];    /* layout.h */
    uint8_t code[MAX_BLOCK_BYTES];
};

struct block_in_page {           /* of the list of a page's blocks (code_pages.c) */
    struct block *block;
    struct block_in_page *next;
};

struct block {                   /* a translated block, the first of a path or a later one */
    uint64_t ip, end;            /* guest addresses */
    const struct announcement *announced;
    struct block *before;        /* in its path; NULL: it is the first */
    struct block *behind, *beside;   /* the last one that a path goes on with, and another one of the same `before` */
    const struct block *open_call;   /* the call in its path that has not returned when it begins; NULL: none */
    uint32_t word;               /* of the path up to this block, in the stream */
    uint32_t word_before;        /* of the path up to the block before */
    int32_t place;               /* of its first address in the path's record: bytes from the word */
    int32_t recorded;            /* bytes of the record of the path up to this block */
    uint64_t *counter;           /* of the runs of the path that end behind this block; NULL: none */
    uint16_t blocks;             /* of the path up to this one */
    bool calls, returns;         /* it ends in a direct call, in a return from one of its path */
    uint8_t *entry;              /* for direct branches */
    uint8_t *branch_at;          /* code behind its last instruction but a branch; NULL: no path goes on from here */
    uint8_t *taken_at;           /* code of the exit for a taken conditional branch; NULL: none */
    uint8_t *code_end;
    uint8_t *on_countdown;       /* exit for a timer that expires within the block */
    uint16_t *offsets;           /* host offset of each instruction from `entry` */
    uint32_t first_exit;
    uint16_t length;
    uint8_t exits;
    uint8_t ring, temporary;     /* host registers in its body */
    struct exit *linked;         /* the last exit that leads here (blocks.c) */
    struct block *next_in_entry; /* of those whose checks follow each other */
    struct block_in_page in_pages[2];
    uint32_t in_table;           /* indirect branches reach it in the table of this number (blocks.c) */
    uint8_t *check, *otherwise;  /* compares state->target with its address; where it goes on if they differ. NULL: none */
    bool checked;                /* whenever it begins: whether its code has changed */
    bool in_path;                /* it executes more than once, so that paths may go on behind it */
    bool is_stale;               /* its path is forgotten */
};

enum exit_kind { EXIT_MISS, EXIT_DIRECT, EXIT_SYSTEM_CALL, EXIT_STRING, EXIT_GATHER, EXIT_CPUID, EXIT_RDTSC, EXIT_RDTSCP,
                 EXIT_XGETBV, EXIT_REGION, EXIT_UNSUPPORTED, EXIT_COUNTDOWN, EXIT_PYTHON,
                 EXIT_NONE /* the path goes on there */ };

struct exit {                    /* a place where translated code is left */
    uint8_t kind;
    bool taken;                  /* a conditional branch */
    uint8_t passes;              /* how often it led to the runtime, up to those after which a path goes on there */
    uint8_t *code;               /* of a direct branch: the record and the jump */
    uint8_t *site;               /* of a direct branch: the displacement of its jump */
    uint8_t *stub;               /* and where the jump goes as long as it is not linked */
    uint64_t target;
    struct block *block;
    const struct block *linked_to;   /* it is in the list of exits that lead there */
    struct exit *linked_before;      /* the one before it in that list */
};

extern struct area *area;         /* of this process: at AREA_AT, but that of a counted child that shares the memory */
extern struct ring *ring;
extern bool in_child;            /* a child of the program: it goes on uncounted */
extern bool shares_memory;       /* a child in its parent's memory (vfork) */
extern uint32_t most_instructions;      /* of a block */
extern int ring_register, temporary_register;   /* between blocks */

void on_exit(void), on_miss(void), on_fault(void), enter_code(void), enter_handler(void);
extern uint64_t runtime_stack;   /* its stack pointer while translated code executes */
int64_t guarded_call(const uint64_t *arguments);
int64_t clone_sharing(uint64_t flags, uint64_t stack, uint64_t parent_id, uint64_t child_id, uint64_t tls);
extern const char guarded_begin[], guarded_syscall[], interrupted[], return_from_signal[];

void give_up(enum trouble why) __attribute__((noreturn));
void *reserve(size_t bytes);     /* the runtime's own memory, which lasts */
void *reserve_open(size_t bytes);

/* ring.c */
void ring_begin(int file);
void begin_private_ring(void);
void hand_over(uint64_t *end);
uint64_t *next_words(void);
bool in_guard(uint64_t address);
bool is_in_buffer(uint64_t address);
void continue_in_next_buffer(uint64_t fault, uint64_t *record);
void end_words(void);
void put_word(uint64_t word);
void put_mark(int kind, uint64_t instruction, uint64_t value);
void publish_count(void);
void forget_ring(void);
void prepare_uncounted(void);
void use_private_words(void);
void take_ring(int file);
struct kept_ring {               /* the parent's, while a child shares its memory */
    struct ring *ring;
    uint8_t *buffers;
    uint64_t *start, *private_words, counted_before;
};
void keep_ring(struct kept_ring *to);
void restore_ring(const struct kept_ring *from);
uint64_t count_words(void);

/* announced_blocks.c */
void area_begin(int file);
void begin_private_area(void);
const struct announcement *announce(const struct code_block *wanted);
void announce_file(uint64_t start, uint64_t end, uint64_t offset, const char *path);
void announce_function(uint64_t first_line, uint64_t name, const char *text, uint32_t bytes);
void forget_area(void);
void take_area(int file);
void take_second_area(int file);
void use_area(struct area *before);
const struct announcement *announcement_numbered(uint64_t number);
uint64_t count_runs(void);
uint64_t *counter_of(const struct announcement *block);
void *area_room(uint64_t bytes);
void publish_announcement(uint64_t bytes);
uint64_t *new_counter(uint32_t instructions);
const struct announcement *announce_start(const struct announcement *block, uint32_t length, int cut);

/* announced_paths.c */
struct path {                    /* blocks that executed one behind the other */
    uint32_t word_before;        /* of the path without its last block */
    uint32_t block;              /* the number of that block */
    uint32_t number;
    uint32_t instructions, slots;
    uint64_t *counter;
    struct path *next;           /* with the same hash */
};
const struct path *announce_path(const struct block *before, bool taken, const struct announcement *block);
void measure_word(uint64_t word, uint64_t *instructions, uint64_t *slots);

/* translate.c */
struct block *translate(uint64_t ip, uint32_t most, bool alone, bool indirectly);
struct block *translate_behind(struct exit *exit);
void put_jump_by_table(void);
void put_way_to_runtime(void);

/* stubs.c */
uint8_t *begin_apart(void);
void end_apart(uint8_t *blocks_end);
void put_stub(uint32_t number);
void put_check(struct block *block);
void put_difference(uint64_t ip, int temporary);
void put_target_check(struct block *block);
void make_last_check(const struct block *block);
bool is_outside_blocks(uint64_t address);
bool is_code_full(void);
void empty_code(void);

/* paths.c */
struct block *extend_path(struct exit *exit);
bool is_passed_often(struct exit *exit);
void forget_copies(void);

/* blocks.c */
uint32_t count_translations(uint64_t ip);
void enter_block(struct block *block);
void translation_begin(void);
struct block *new_block(uint32_t instructions);
bool forget_when_full(void);
struct block *block_at(uint64_t ip, bool indirectly);
struct block *part_at(uint64_t ip, uint32_t most);
struct block *block_of_one(uint64_t ip);
struct block *translated_block(uint64_t ip);
const struct block *block_of_code(uint64_t address);
uint32_t instruction_of_code(const struct block *block, uint64_t address);
uint32_t new_exit(uint8_t kind, uint64_t target, struct block *block);
uint32_t exits_so_far(void);
struct exit *exit_numbered(uint64_t number);
void link_exit(struct exit *exit, struct block *target);
void enter_in_table(struct block *block);
void unlink_blocks(const struct block *block);
void relink_blocks(const struct block *block);
void forget_translations(void);
void forget_path_of(struct block *block);
void forget_range(uint64_t start, uint64_t end);
void choose_translations(bool uncounted);

/* dispatch.c */
void begin_at(uint64_t ip);
void execute_one_at(uint64_t ip);
void continue_after_fault(void);
void take_registers_in_block(const struct block *block, const uint64_t *host);
const uint8_t *begin_record(const struct block *block, uint32_t slots);

/* region_marks.c */
bool wants_regions(void);
bool is_region_mark(const struct instruction *it);
void record_region_mark(const struct block *block);
void record_as_region_wants(void);
void publish_silent(void);
void note_region_call(int64_t number, const uint64_t *a);

/* gather.c */
void record_gather(const struct block *block);

/* system_calls.c: each `..._call` returns whether it has executed the call */
uint64_t system_call(uint64_t next_ip, uint64_t instruction);
int64_t pass_on(int64_t number, const uint64_t *a);
int64_t call_kernel(int64_t number, uint64_t *a);

/* vsyscall.c */
bool is_vsyscall(uint64_t ip);
uint64_t vsyscall(uint64_t ip);

/* effects.c */
void note_effect(int64_t number, const uint64_t *a);

/* processes.c */
struct files;
void begin_counted(struct files files);
int64_t clone_call(int64_t number, const uint64_t *a);

/* call_pointers.c */
int64_t check_call(int64_t number, const uint64_t *a);

/* image.c */
void unmap_first_image(const void *image);

/* protection_key.c */
void key_begin(uint64_t stack);
void keep_from_guest(uint64_t at, uint64_t bytes, int protection);

/* guest_mappings.c */
bool is_map_call(int64_t number);
int64_t map_call(int64_t number, const uint64_t *a);

/* mapped_files.c */
uint32_t file_at(uint64_t address);

/* code_pages.c */
void add_mapping(uint64_t start, uint64_t bytes, int protection);
void add_shared_mapping(uint64_t start, uint64_t bytes);
void forget_mapping(uint64_t start, uint64_t end);
void forget_protection(uint64_t start, uint64_t end);
void move_mapping(uint64_t from, uint64_t end, uint64_t to, uint64_t bytes);
bool is_executable(uint64_t address);
bool is_shared(uint64_t address);
bool is_compared(uint64_t address);
bool changes_unnoticed(uint64_t address);
void note_comparison(uint64_t address);
void protect_code(uint64_t address);
void enter_in_pages(struct block *block);
void forget_pages_of_blocks(void);
bool release_code(uint64_t address);
void release_code_in(uint64_t start, uint64_t bytes);
void release_all_code(void);

/* regions.c */
struct range {                   /* of addresses */
    uint64_t start, end;
};

bool is_readable(uint64_t address);
bool are_readable(uint64_t address, uint64_t bytes);
bool is_writable(uint64_t address, uint64_t bytes);
bool is_own(uint64_t start, uint64_t bytes);
uint64_t own_address(uint64_t bytes);
int64_t map_kept(uint64_t bytes);
void *new_memory(uint64_t bytes);
void map_below(uint64_t address);
int64_t map_somewhere(bool below, uint64_t bytes, int protection, int flags, int file, uint64_t offset);
void give_back(uint64_t start, uint64_t end);
void set_break(uint64_t start);
uint64_t heap_start(void);
uint64_t heap_end(void);
int64_t change_break(uint64_t wanted);

/* signals.c */
void block_signals(void);
void unblock_signals(void);
void signals_begin(void);
void take_fatal_signals(void);
void raise_fault(int signal, int code, uint64_t address);
uint64_t deliver_signals(uint64_t ip);
bool is_signal_call(int64_t number);
int64_t signal_call(int64_t number, const uint64_t *a);
uint64_t return_from_handler(void);
bool wants_restart(int64_t number);
uint64_t signal_mask(void);
int64_t begin_wait_mask(uint64_t at, uint64_t bytes);
int64_t end_wait_mask(int64_t result);

/* load.c */
struct places {                  /* of a program: its file and its interpreter's, and where position-independent ones go */
    const char *program, *executed, *interpreter;    /* `executed`: the path that the program is executed by */
    int program_file, interpreter_file;              /* descriptors, or NO_FILE: they are opened by their paths */
    uint64_t program_at, interpreter_at;
};
uint64_t load_program(const struct places *places, char **arguments, char **environment, uint64_t stack_bytes);
extern const char *program_path;

struct program_stack {           /* what the initial stack holds, from its lower part up */
    uint64_t arguments, environment, end;
    const uint64_t *auxiliary;
    uint64_t auxiliary_bytes;
};
extern struct program_stack program_stack;

/* processor_results.c */
void note_processor_result(const struct instruction *it);

/* host_signals.c */
void take_signalled_block(void);

/* processor_models.c */
extern uint8_t processor_level;  /* its instructions: features up to this one (encoding_rows.h) */
extern uint32_t components;      /* of its XCR0 */
extern uint32_t xstate_bytes;    /* of the state in the frame of a signal (extended_state.c) */
bool choose_processor(const char *name);
void emulate_cpuid(uint64_t *registers);

#endif
