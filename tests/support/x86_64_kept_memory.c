/* Stores at addresses of the x86_64 engine's runtime that translated code has no reason to write to; a line says of each how that
   ended. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "x86_64_areas.h"

static sigjmp_buf back;
static int code;

static void take(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    code = info->si_code;
    siglongjmp(back, 1);
}

int main(void) {
    const uint64_t low = slide_of_areas(), image = image_of_runtime(low);
    const struct { const char *name; uint64_t at; } places[] = {
        {"announcements", low + 0x60001000}, {"the first announcement", low + 0x60401000}, {"code", low + 0x70000000},
        {"exits", low + 0x77000000}, {"ways", low + FIRST_WAYS}, {"branches", low + 0x7E100000}, {"names", 0x700000000000},
        {"text", image + 0x1000}, {"data", data_of_runtime(image)},
    };
    struct sigaction action;
    unsigned i;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = take;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        volatile uint8_t *at = (volatile uint8_t *)places[i].at;
        if (sigsetjmp(back, 1) == 0) {
            *at = *at;
            printf("%s written\n", places[i].name);
        } else
            printf("%s SIGSEGV %d\n", places[i].name, code);
    }
    return 0;
}
