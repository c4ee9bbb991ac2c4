/* Which Python function and line executes.

   CPython's evaluation loop (_PyEval_EvalFrameDefault) begins each instruction of bytecode by storing its address into the
   frame: frame->prev_instr, or instr_ptr from 3.13 on. A block begins at each such store (a site), with code that compares the
   frame and that address with those of the line that executes; where they differ, translated code is left before the
   store, and marks of the stream say what changed. A block at the loop's entry notes the stack pointer: frames that this
   activation of the loop executes are above those of its callers.

   The loop executes calls from Python to Python without a call of its own. So a frame that is not among those of its
   activation is called, and one that is there has got control back from those above it. */

#include "python.h"

enum { MAX_FRAMES = 1 << 16, MOVE = 0x89 };

struct python_frame {
    uint64_t at;                 /* of the _PyInterpreterFrame */
    uint64_t stack;              /* the stack pointer in its activation of the loop */
    const struct python_code *code;
    uint32_t line;
};

static struct python_frame *frames;      /* of the running thread */
static uint32_t depth;
static struct range loop;        /* the code of _PyEval_EvalFrameDefault */

void python_begin(uint64_t version, uint64_t begin, uint64_t end) {
    if (area->totals || begin >= end)
        return;
    choose_python(version);
    frames = reserve(MAX_FRAMES * sizeof(*frames));
    loop = (struct range){begin, end};
}

/* Each thread has frames of its own. */
void leave_python_stack(struct python_stack *to) {
    *to = (struct python_stack){frames, depth};
}

void enter_python_stack(struct python_stack *from) {
    if (python && !from->frames)
        from->frames = reserve(MAX_FRAMES * sizeof(*frames));
    frames = from->frames;
    depth = from->depth;
}

/* ---------------------------------------------------------------- sites */

bool is_python_entry(uint64_t ip) {
    return python && ip == loop.start;
}

/* The register with the frame's address; NO_REGISTER: the operand has another form. */
int base_of_site(const struct instruction *it) {
    uint8_t sib = it->bytes[it->modrm_at + 1];
    int base = (sib & 7) | it->b << 3;
    if ((it->modrm & 7) != RSP)
        return field_rm(it);
    return (sib >> 3 & 7) == RSP && !it->x && base != RSP ? base : NO_REGISTER;
}

/* mov [frame + prev_instr], register */
bool is_python_site(const struct instruction *it, uint64_t ip) {
    return python && ip >= loop.start && ip < loop.end && it->kind == PLAIN && it->encoding == LEGACY && it->map == ONE_BYTE && it->opcode == MOVE
        && it->wide && it->memory && !it->relative && !it->segment && !it->short_address
        && it->displacement == python->frame_instruction && base_of_site(it) != NO_REGISTER;
}

/* ---------------------------------------------------------------- frames */

static void mark(int kind, uint64_t value) {
    put_mark(kind, NO_INSTRUCTION, value);
}

/* Let the site's comparison succeed for these addresses of instructions. */
static void expect(uint64_t frame, struct range instructions) {
    state->python_frame = frame;
    state->python_first = instructions.start;
    state->python_bytes = instructions.end - instructions.start;
}

/* Whether the activation of the loop with this stack pointer has begun since the last site. */
static bool has_entered(uint64_t stack) {
    bool entered = state->python_entered > stack;
    state->python_entered = 0;
    return entered;
}

/* Forget the frames of activations that have ended: the calls and returns of native code say so to readers. */
static void forget_ended(uint64_t stack, bool entered) {
    while (depth && (frames[depth - 1].stack < stack || (entered && frames[depth - 1].stack == stack)))
        depth--;
}

/* The number of frames up to this one, which is of the running activation; 0: it is not there. */
static uint32_t place_of(uint64_t frame, uint64_t stack) {
    uint32_t i;
    for (i = depth; i && frames[i - 1].stack == stack; i--)
        if (frames[i - 1].at == frame)
            return i;
    return 0;
}

static void leave_frames(uint32_t place) {
    if (depth > place)
        mark(MARK_PYTHON_RETURN, depth - place);
    depth = place;
}

static struct python_frame *enter_frame(uint64_t frame, uint64_t stack, const struct python_code *code) {
    if (depth == MAX_FRAMES)
        return NULL;             /* it counts as its caller */
    mark(MARK_PYTHON_CALL, code->function);
    frames[depth] = (struct python_frame){frame, stack, code, 0};
    return &frames[depth++];
}

/* The frame that executes. */
static struct python_frame *running_frame(uint64_t frame, uint64_t stack, const struct python_code *code) {
    uint32_t place;
    forget_ended(stack, has_entered(stack));
    place = place_of(frame, stack);
    if (place && frames[place - 1].code->function != code->function)
        leave_frames(--place);
    else if (place)
        leave_frames(place);
    else
        return enter_frame(frame, stack, code);
    return place && frames[place - 1].at == frame ? &frames[place - 1] : enter_frame(frame, stack, code);
}

/* The frame at the site, if it is the one that executed before: it still has the same code, since another one would have been
   called meanwhile. NULL: it is another one. */
static struct python_frame *same_frame(uint64_t frame, uint64_t instruction) {
    struct python_frame *last = depth ? &frames[depth - 1] : NULL;
    if (!last || state->python_entered || last->at != frame || last->stack != state->registers[RSP]
        || instruction - last->code->bytecode >= 2 * (uint64_t)last->code->units)
        return NULL;
    return last;
}

/* Say what changes at the site that a block begins with. */
void follow_python(const struct block *block) {
    const struct announcement *announced = block->announced;
    struct instruction it;
    struct range same_line;
    const struct python_code *code;
    struct python_frame *running;
    uint64_t frame, instruction;
    uint32_t line;
    decode(&it, sizes_of(announced) + announced->length, sizes_of(announced)[0] & SIZE_BITS);
    frame = state->registers[base_of_site(&it)];
    instruction = state->registers[field_reg(&it)];
    running = shares_memory ? NULL : same_frame(frame, instruction);
    code = running ? running->code : shares_memory ? NULL : python_code_of(frame, instruction);
    if (!code) {
        expect(frame, (struct range){instruction, instruction + 2});
        return;
    }
    if (!running)
        running = running_frame(frame, state->registers[RSP], code);
    line = python_line(code, instruction, &same_line);
    if (running && running->line != line) {
        mark(MARK_PYTHON_LINE, line);
        running->line = line;
    }
    expect(frame, same_line);
}
