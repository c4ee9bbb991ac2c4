/* The instruction sets that the plugin knows. */

#include <string.h>

#include "code.h"

static struct code x86_64_code(const uint8_t *bytes, size_t size) {
    return x86_code(bytes, size, true);
}

static bool x86_64_is_whole(const uint8_t *bytes, size_t size) {
    return x86_is_whole(bytes, size, true);
}

static struct code i386_code(const uint8_t *bytes, size_t size) {
    return x86_code(bytes, size, false);
}

static bool i386_is_whole(const uint8_t *bytes, size_t size) {
    return x86_is_whole(bytes, size, false);
}

static const struct target targets[] = {
    {"x86_64", x86_64_code, x86_64_is_whole},
    {"i386", i386_code, i386_is_whole},
    {"ppc64", ppc64_code, ppc_is_whole},
    {"ppc", ppc_code, ppc_is_whole},
    {"ppc64le", ppc64le_code, ppc_is_whole},
};

const struct target *target_of(const char *name) {
    size_t i;
    for (i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}
