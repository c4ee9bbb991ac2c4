/* A program that the guest executes. */

#ifndef PFMON_X86_64_EXECUTED_PROGRAMS_H
#define PFMON_X86_64_EXECUTED_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "world/text.h"

enum { MOST_SCRIPTS = 5, MOST_WORDS = 3 * MOST_SCRIPTS + 1, NATIVE = 1 << 20 /* the host executes it */ };

struct program {
    int64_t file, interpreter_file;
    uint64_t interpreter_at;
    struct text name, host, interpreter;         /* its path as given, the host's names */
    const char *words[MOST_WORDS];               /* arguments in the place of the first one: of scripts' interpreters */
    uint32_t first_word;
};

/* found_programs.c */
extern struct program executed;
int64_t find_program(int directory, bool follow);        /* by `executed.name`; 0, NATIVE or an error */

#endif
