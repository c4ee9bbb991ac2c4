/* What blocks of an interpreter's evaluation loop begin with (interpreter/python_frames.c). */

#ifndef PFMON_X86_64_INTERPRETER_SITES_H
#define PFMON_X86_64_INTERPRETER_SITES_H

#include "runtime.h"

void put_python(const struct block *block, const struct instruction *first);
void put_python_exit(struct block *block);

#endif
