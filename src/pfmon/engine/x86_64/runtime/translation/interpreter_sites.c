/* What blocks of CPython's evaluation loop begin with, between two paths: at its entry, a note; at each site, a comparison
   (interpreter/python_frames.c). */

#include "interpreter_sites.h"

#include "emit.h"
#include "interpreter/python.h"

enum { COMPARE = 0x3B, SUBTRACT = 0x2B, NOT_EQUAL = 0x85, NOT_BELOW = 0x83 };

/* mov temporary_register, a register of the guest's */
static void put_guest_register(int reg) {
    if (reg == RAX)
        put_load(temporary_register, STATE_AT + STATE_PYTHON_RAX);
    else if (reg == ring_register || reg == temporary_register)
        put_load(temporary_register, STATE_AT + STATE_REGISTERS + 8 * (uint64_t)reg);
    else
        put_move(temporary_register, reg);
}

/* mov [state->python_rax], rax; lahf; seto al */
static void put_save_flags(void) {
    put_store(STATE_AT + STATE_PYTHON_RAX, RAX);
    put_byte(0x9F);
    put_byte(0x0F);
    put_byte(0x90);
    put_byte(0xC0);
}

/* add al, 127; sahf; mov rax, [state->python_rax] */
static void put_restore_flags(void) {
    put_byte(0x04);
    put_byte(0x7F);
    put_byte(0x9E);
    put_load(RAX, STATE_AT + STATE_PYTHON_RAX);
}

static uint8_t *put_jump_if(int condition) {
    put_byte(0x0F);
    put_byte((uint32_t)condition);
    put_32(0);
    return emitted - 4;
}

static uint8_t *other_frame, *other_line;    /* jumps to the exit of the block that is translated; NULL: it has none */

static void put_site(const struct instruction *it) {
    put_save_flags();
    put_guest_register(base_of_site(it));
    put_absolute(COMPARE, temporary_register, STATE_AT + STATE_PYTHON_FRAME);
    other_frame = put_jump_if(NOT_EQUAL);
    put_guest_register(field_reg(it));
    put_absolute(SUBTRACT, temporary_register, STATE_AT + STATE_PYTHON_FIRST);
    put_absolute(COMPARE, temporary_register, STATE_AT + STATE_PYTHON_BYTES);
    other_line = put_jump_if(NOT_BELOW);
    put_restore_flags();
}

/* The exit of a block that begins with a site, behind its others. */
void put_python_exit(struct block *block) {
    uint32_t number;
    uint8_t *blocks_end;
    if (!other_frame)
        return;
    number = new_exit(EXIT_PYTHON, block->ip, block);
    blocks_end = begin_apart();
    aim(other_frame, emitted);
    aim(other_line, emitted);
    put_restore_flags();
    put_stub(number);
    end_apart(blocks_end);
}

static void put_loop_entry(void) {
    put_number_at(STATE_AT + STATE_PYTHON_FRAME, 0);
    put_store(STATE_AT + STATE_PYTHON_ENTERED, RSP);
}

/* What a block begins with whose first instruction is this one; NULL: it executes alone, after a fault. */
void put_python(const struct block *block, const struct instruction *first) {
    other_frame = NULL;
    if (is_python_entry(block->ip))
        put_loop_entry();        /* and no comparison behind it, which would fail whenever the block begins */
    else if (first && is_python_site(first, block->ip))
        put_site(first);
}
