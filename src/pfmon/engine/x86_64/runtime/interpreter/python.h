/* Functions and lines of programs for CPython 3.11 to 3.13, which its evaluation loop executes (python_frames.c). */

#ifndef PFMON_X86_64_PYTHON_H
#define PFMON_X86_64_PYTHON_H

#include "runtime.h"

struct python_layout {           /* offsets in objects of one version, in bytes */
    uint16_t version;            /* 311 */
    uint16_t frame_code, frame_instruction;          /* in _PyInterpreterFrame */
    uint16_t first_line, file_name, qualified_name, line_table, bytecode;        /* in PyCodeObject */
    uint16_t ascii, wide;        /* of the characters of a compact string */
};

struct python_code {             /* a code object */
    struct python_code *next;    /* with the same hash */
    uint64_t at;                 /* its address */
    uint64_t identity;
    uint64_t bytecode;           /* address of its first code unit */
    uint32_t units;              /* of 2 bytes */
    uint32_t function;           /* its number, as announced */
    uint32_t first_line;
    uint32_t *lines;             /* of each unit; NULL: there was no room */
};

struct python_stack {            /* the frames of a thread */
    struct python_frame *frames;
    uint32_t depth;
};

extern const struct python_layout *python;           /* NULL: functions are not wanted */

/* python_code.c */
void choose_python(uint64_t version);
const struct python_code *python_code_of(uint64_t frame, uint64_t instruction);
uint32_t python_line(const struct python_code *code, uint64_t instruction, struct range *same_line);
bool can_read(uint64_t at, uint64_t bytes);
void forget_readable_pages(void);

/* python_frames.c */
void python_begin(uint64_t version, uint64_t begin, uint64_t end);
bool is_python_entry(uint64_t ip);
bool is_python_site(const struct instruction *it, uint64_t ip);
int base_of_site(const struct instruction *it);
void leave_python_stack(struct python_stack *to);
void enter_python_stack(struct python_stack *from);
void follow_python(const struct block *block);

#endif
