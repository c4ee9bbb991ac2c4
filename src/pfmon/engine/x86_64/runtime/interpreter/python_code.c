/* Code objects of CPython: names, bytecode, lines (Include/cpython/code.h, Objects/locations.md). The guest's memory can hold
   anything: each address is tested before it is read, each length has a limit. */

#include "python.h"

enum {
    OBJECT_SIZE = 16,            /* ob_size of objects of variable size */
    TEXT_LENGTH = 16, TEXT_STATE = 32, BYTES = 32,   /* in strings, in bytes objects */
    BUCKETS = 1 << 12, MAX_UNITS = 1 << 20, MAX_LINE_WORDS = 1 << 24, MAX_FUNCTIONS = 1 << 16,
    NAME_BYTES = 1024,           /* of a function's name and of its file's */
    SIGNED_BYTES = 64,           /* of names and line tables that tell code objects apart */
    KNOWN_PAGES = 64
};

static const struct python_layout layouts[] = {
    {311, 32, 56, 72, 112, 128, 136, 184, 48, 72},
    {312, 0, 56, 68, 112, 128, 136, 192, 40, 56},
    {313, 0, 56, 68, 112, 128, 136, 200, 40, 56},
};

const struct python_layout *python;

static struct python_code *buckets[BUCKETS];
static struct name {             /* an announced function */
    struct name *next;
    uint64_t hash;
    uint32_t number;
} *names[BUCKETS];
static uint32_t functions;
static uint64_t line_words;      /* in all lists of lines */

void choose_python(uint64_t version) {
    uint32_t i;
    for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].version == version)
            python = &layouts[i];
}

/* ---------------------------------------------------------------- the guest's memory */

static uint64_t known_pages[KNOWN_PAGES];            /* that can be read, until a mapping changes */

void forget_readable_pages(void) {
    memset(known_pages, 0, sizeof(known_pages));
}

bool can_read(uint64_t at, uint64_t bytes) {
    uint64_t page, last = (at + bytes - 1) / PAGE;
    if (bytes == 0 || at < PAGE || at + bytes < at || at + bytes > USER_END)
        return false;
    for (page = at / PAGE; page <= last; page++) {
        if (known_pages[page % KNOWN_PAGES] == page)
            continue;
        if (!is_readable(page * PAGE))
            return false;
        known_pages[page % KNOWN_PAGES] = page;
    }
    return true;
}

static uint64_t word_at(uint64_t at) {
    return *(const uint64_t *)at;
}

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of_bytes(uint64_t hash, const uint8_t *bytes, uint64_t count) {
    uint64_t i;
    for (i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return mixed(hash, count);
}

/* The hash with the length and the first bytes behind an object's head. */
static uint64_t hash_of_object(uint64_t hash, uint64_t object, uint32_t head) {
    uint64_t length = word_at(object + OBJECT_SIZE), bytes = length < SIGNED_BYTES ? length : SIGNED_BYTES;
    if (bytes && can_read(object + head, bytes))
        hash = hash_of_bytes(hash, (const uint8_t *)object + head, bytes);
    return mixed(hash, length);
}

/* ---------------------------------------------------------------- strings */

static uint32_t put_character(char *to, uint32_t character) {
    if (character < 0x80) {
        to[0] = (char)(character ? character : '?');
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xC0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3F));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xE0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3F));
        to[2] = (char)(0x80 | (character & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | (character >> 18 & 7));
    to[1] = (char)(0x80 | (character >> 12 & 0x3F));
    to[2] = (char)(0x80 | (character >> 6 & 0x3F));
    to[3] = (char)(0x80 | (character & 0x3F));
    return 4;
}

/* Copy a str object as UTF-8; returns its bytes, at most NAME_BYTES. 0: it is none. */
static uint32_t copy_text(uint64_t object, char *to) {
    enum { COMPACT = 1 << 5, ASCII = 1 << 6 };
    uint32_t state_bits, kind, used = 0;
    uint64_t length, i, first;
    if (object % 8 || !can_read(object, python->wide))
        return 0;
    state_bits = *(const uint32_t *)(object + TEXT_STATE);
    length = word_at(object + TEXT_LENGTH);
    kind = state_bits >> 2 & 7;
    first = object + (state_bits & ASCII ? python->ascii : python->wide);
    if (!(state_bits & COMPACT) || (kind != 1 && kind != 2 && kind != 4) || length == 0)
        return 0;
    if (length > NAME_BYTES)
        length = NAME_BYTES;
    if (!can_read(first, length * kind))
        return 0;
    for (i = 0; i < length && used + 4 <= NAME_BYTES; i++) {
        uint64_t at = first + i * kind;
        used += put_character(to + used, kind == 1 ? *(const uint8_t *)at : kind == 2 ? *(const uint16_t *)at : *(const uint32_t *)at);
    }
    return used;
}

/* ---------------------------------------------------------------- functions */

/* The number of a function, which is announced when it is new; 0: its names cannot be read, or there are too many. */
static uint32_t function_of(uint64_t code, uint32_t first_line) {
    static char text[2 * NAME_BYTES];
    uint32_t name = copy_text(word_at(code + python->qualified_name), text), bytes;
    uint64_t hash;
    struct name **bucket, *known;
    if (!name)
        return 0;
    bytes = name + copy_text(word_at(code + python->file_name), text + name);
    hash = mixed(hash_of_bytes(name, (const uint8_t *)text, bytes), first_line);
    bucket = &names[hash % BUCKETS];
    for (known = *bucket; known; known = known->next)
        if (known->hash == hash)
            return known->number;
    if (functions == MAX_FUNCTIONS)
        return 0;
    announce_function(first_line, name, text, bytes);
    known = reserve(sizeof(*known));
    *known = (struct name){*bucket, hash, ++functions};
    *bucket = known;
    return known->number;
}

/* ---------------------------------------------------------------- lines */

struct table {                   /* a line table, as it is read */
    const uint8_t *at, *end;
};

static uint32_t take_number_of(struct table *from) {
    uint32_t value = 0, shift = 0, part;
    do {
        if (from->at >= from->end)
            return value;
        part = *from->at++;
        value |= shift < 32 ? (part & 63) << shift : 0;
        shift += 6;
    } while (part & 64);
    return value;
}

static int32_t take_signed(struct table *from) {
    uint32_t value = take_number_of(from);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* Read one entry; returns its code units. `line` becomes its line; `has_line`: it has one. */
static uint32_t take_entry(struct table *from, int32_t *line, bool *has_line) {
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    uint8_t first = *from->at++, code = first >> 3 & 15;
    *has_line = code != NONE;
    if (code >= ONE_LINE && code < NO_COLUMNS)
        *line += code - ONE_LINE;
    else if (code == NO_COLUMNS || code == LONG)
        *line += take_signed(from);
    while (from->at < from->end && !(*from->at & 0x80))          /* columns */
        from->at++;
    return (first & 7u) + 1;
}

/* The line of each code unit; those without one have the function's first line. */
static void read_lines(struct python_code *code, uint64_t table) {
    struct table from;
    uint64_t bytes;
    uint32_t unit = 0, units;
    int32_t line = (int32_t)code->first_line;
    bool has_line;
    if (table % 8 || !can_read(table, BYTES) || line_words + code->units > MAX_LINE_WORDS)
        return;
    bytes = word_at(table + OBJECT_SIZE);
    if (bytes > (uint64_t)MAX_UNITS * 16 || !can_read(table + BYTES, bytes))
        return;
    code->lines = reserve(code->units * sizeof(*code->lines));
    line_words += code->units;
    from = (struct table){(const uint8_t *)table + BYTES, (const uint8_t *)table + BYTES + bytes};
    while (from.at < from.end && unit < code->units)
        for (units = take_entry(&from, &line, &has_line); units && unit < code->units; units--)
            code->lines[unit++] = has_line && line > 0 ? (uint32_t)line : code->first_line;
    while (unit < code->units)
        code->lines[unit++] = code->first_line;
}

/* The line of an instruction of a code object, and the addresses around it that have the same one. */
uint32_t python_line(const struct python_code *code, uint64_t instruction, struct range *same_line) {
    uint32_t unit = (uint32_t)((instruction - code->bytecode) / 2), first = unit, beyond = unit + 1;
    if (!code->lines) {
        *same_line = (struct range){code->bytecode, code->bytecode + 2 * (uint64_t)code->units};
        return code->first_line;
    }
    while (first && code->lines[first - 1] == code->lines[unit])
        first--;
    while (beyond < code->units && code->lines[beyond] == code->lines[unit])
        beyond++;
    *same_line = (struct range){code->bytecode + 2 * (uint64_t)first, code->bytecode + 2 * (uint64_t)beyond};
    return code->lines[unit];
}

/* ---------------------------------------------------------------- code objects */

static struct python_code *read_code(uint64_t at, uint64_t identity, uint32_t units, struct python_code *known) {
    struct python_code **bucket = &buckets[at / 16 % BUCKETS];
    if (!known) {
        known = reserve(sizeof(*known));
        memset(known, 0, sizeof(*known));
        known->next = *bucket;
        *bucket = known;
    }
    known->at = at;
    known->identity = identity;
    known->bytecode = at + python->bytecode;
    known->units = units;
    known->first_line = *(const uint32_t *)(at + python->first_line);
    known->lines = NULL;
    known->function = function_of(at, known->first_line);
    if (known->function)
        read_lines(known, word_at(at + python->line_table));
    return known;
}

/* What tells a code object from another one that had its address before. */
static uint64_t identity_of(uint64_t at, uint64_t units) {
    uint64_t name = word_at(at + python->qualified_name), table = word_at(at + python->line_table);
    uint64_t hash = mixed(mixed(units, name), mixed(table, word_at(at + python->file_name)));
    hash = mixed(hash, *(const uint32_t *)(at + python->first_line));
    if (name % 8 || table % 8 || !can_read(name, python->wide) || !can_read(table, BYTES))
        return 0;
    return hash_of_object(hash_of_object(hash, name, python->ascii), table, BYTES) | 1;
}

/* The code object that a frame executes at an instruction; NULL: this is no frame, or has no such instruction. */
const struct python_code *python_code_of(uint64_t frame, uint64_t instruction) {
    uint64_t at, units, identity;
    struct python_code *known;
    if (frame % 8 || !can_read(frame, python->frame_instruction + 8u))
        return NULL;
    at = word_at(frame + python->frame_code);
    if (at % 8 || instruction % 2 || instruction < at + python->bytecode || !can_read(at, python->bytecode))
        return NULL;
    units = word_at(at + OBJECT_SIZE);
    if (units > MAX_UNITS || instruction >= at + python->bytecode + 2 * units)
        return NULL;
    identity = identity_of(at, units);
    if (!identity)
        return NULL;
    for (known = buckets[at / 16 % BUCKETS]; known && known->at != at; known = known->next)
        ;
    if (!known || known->identity != identity)
        known = read_code(at, identity, (uint32_t)units, known);
    return known->function ? known : NULL;
}
