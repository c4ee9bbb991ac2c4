/* Texts that the runtime makes: names and the contents of files. */

#ifndef PFMON_X86_64_TEXT_H
#define PFMON_X86_64_TEXT_H

#include "kernel.h"

enum { TEXT_ROOM = 4096, NO_FILE = -1 };

struct text {                    /* `bytes` ends with a zero */
    int file;                    /* it is written there whenever `bytes` is full; NO_FILE: what has no room is left out */
    uint32_t length;
    char bytes[TEXT_ROOM];
};

void begin_text(struct text *to, int file);
void end_text(struct text *to);
void put_bytes(struct text *to, const char *bytes, uint64_t count);
void put_text(struct text *to, const char *text);
void put_number(struct text *to, uint64_t value);
void put_digits(struct text *to, uint64_t value, int base, int least);

/* The number at the beginning of a text, in decimal or with lower-case hexadecimal digits; moves `text` behind it. */
uint64_t take_number(const char **text);
uint64_t take_hexadecimal(const char **text);
uint64_t number_of(const char *text);

/* A name of a descriptor in /proc/self/fd or fdinfo: a constant, or in the room (root/kernel_names.h). */
const char *name_of_descriptor(int file, struct text *room);
const char *info_name_of_descriptor(int file, struct text *room);
/* A file of another process's directory: "/fd/" and its like. */
const char *name_in_process(uint32_t process, const char *file, struct text *room);
bool begins_with(const char *text, const char *beginning);
const char *after_line(const char *text);
const char *value_of_field(const char *text, const char *name);   /* of "name value" in a line of proc(5); NULL: none has it */
uint64_t length_of_word(const char *text);       /* up to a space, or the end */

#endif
