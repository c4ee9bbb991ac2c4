/* Texts that the runtime makes. */

#include <asm/unistd.h>

#include "root/kernel_names.h"
#include "text.h"

void begin_text(struct text *to, int file) {
    to->file = file;
    to->length = 0;
    to->bytes[0] = 0;
}

/* Write what is not yet in the file. */
void end_text(struct text *to) {
    if (to->file != NO_FILE)
        KERNEL3(__NR_write, to->file, to->bytes, to->length);
}

static void put_character(struct text *to, char character) {
    if (to->length == TEXT_ROOM - 1 && to->file != NO_FILE) {
        end_text(to);
        to->length = 0;
    }
    if (to->length == TEXT_ROOM - 1)
        return;
    to->bytes[to->length++] = character;
    to->bytes[to->length] = 0;
}

void put_bytes(struct text *to, const char *bytes, uint64_t count) {
    while (count--)
        put_character(to, *bytes++);
}

void put_text(struct text *to, const char *text) {
    put_bytes(to, text, strlen(text));
}

/* A number with at least `least` digits. */
void put_digits(struct text *to, uint64_t value, int base, int least) {
    char digits[64];
    int count = 0;
    while (value || count < least) {
        digits[count++] = "0123456789abcdef"[value % (uint64_t)base];
        value /= (uint64_t)base;
    }
    while (count)
        put_character(to, digits[--count]);
}

void put_number(struct text *to, uint64_t value) {
    put_digits(to, value, 10, 1);
}

uint64_t take_number(const char **text) {
    uint64_t value = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        value = 10 * value + (uint64_t)(**text - '0');
    return value;
}

uint64_t number_of(const char *text) {
    return take_number(&text);
}

uint64_t take_hexadecimal(const char **text) {
    uint64_t value = 0;
    for (;; ++*text) {
        char c = **text;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

bool begins_with(const char *text, const char *beginning) {
    while (*beginning && *text == *beginning)
        text++, beginning++;
    return !*beginning;
}

const char *after_line(const char *text) {
    while (*text && *text++ != '\n')
        ;
    return text;
}

const char *value_of_field(const char *text, const char *name) {
    for (; *text; text = after_line(text))
        if (begins_with(text, name)) {
            for (text += strlen(name); *text == ' ' || *text == '\t'; text++)
                ;
            return text;
        }
    return NULL;
}

uint64_t length_of_word(const char *text) {
    uint64_t count = 0;
    while (text[count] && text[count] != ' ')
        count++;
    return count;
}

static const char *put_name(const char *directory, int file, struct text *room) {
    begin_text(room, NO_FILE);
    put_text(room, directory);
    put_number(room, (uint32_t)file);
    return room->bytes;
}

const char *name_of_descriptor(int file, struct text *room) {
    return (uint32_t)file < DESCRIPTORS ? descriptor_name(file) : put_name("/proc/self/fd/", file, room);
}

const char *info_name_of_descriptor(int file, struct text *room) {
    return (uint32_t)file < DESCRIPTORS ? descriptor_info_name(file) : put_name("/proc/self/fdinfo/", file, room);
}

const char *name_in_process(uint32_t process, const char *file, struct text *room) {
    put_name("/proc/", (int)process, room);
    put_text(room, file);
    return room->bytes;
}
