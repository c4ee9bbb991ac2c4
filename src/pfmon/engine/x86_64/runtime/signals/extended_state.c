/* The state of x87, SSE, AVX and AVX-512 in the frame of a signal, as Linux lays it out on the guest's processor: in the
   standard format of xsave, or that of fxsave if the processor has no xsave (SDM volume 1, 13.4 and 10.5): the host may have
   none either then. What Linux says of the state is in the bytes that both formats leave to software; only with xsave
   there is a second mark behind it (arch/x86/include/uapi/asm/sigcontext.h). */

#include <asm/sigcontext.h>

#include "extended_state.h"
#include "runtime.h"

enum {
    MXCSR_AT = 24, SOFTWARE_AT = 464, HEADER_AT = 512, HEADER_BYTES = 64
};

static uint8_t image[MOST_EXTENDED_BYTES] __attribute__((aligned(64)));

void save_components(uint8_t *to) {
    uint8_t (*all)[MOST_EXTENDED_BYTES] = (uint8_t (*)[MOST_EXTENDED_BYTES])to;
    if (components)
        __asm__ volatile("xsave64 %0" : "+m"(*all) : "a"(components), "d"(0));
    else
        __asm__ volatile("fxsave64 %0" : "+m"(*all));
}

void load_components(const uint8_t *from) {
    const uint8_t (*all)[MOST_EXTENDED_BYTES] = (const uint8_t (*)[MOST_EXTENDED_BYTES])from;
    if (components)
        __asm__ volatile("xrstor64 %0" : : "m"(*all), "a"(components), "d"(0));
    else
        __asm__ volatile("fxrstor64 %0" : : "m"(*all));
}

uint32_t extended_state_room(void) {
    return components ? xstate_bytes + FP_XSTATE_MAGIC2_SIZE : xstate_bytes;
}

/* All components are there, also those as at reset, of which the host's processor may know. */
static void finish_xsave(uint8_t *end) {
    const uint64_t saved = components;
    const uint32_t magic = FP_XSTATE_MAGIC2;
    memcpy(image + HEADER_AT, &saved, sizeof(saved));
    memcpy(end, &magic, sizeof(magic));
}

void save_extended_state(uint8_t *to) {
    const struct _fpx_sw_bytes software = {
        FP_XSTATE_MAGIC1, xstate_bytes + FP_XSTATE_MAGIC2_SIZE, components, xstate_bytes, {0}
    };
    memset(image, 0, sizeof(image));
    save_components(image);
    if (components)
        finish_xsave(to + xstate_bytes);
    memcpy(image + SOFTWARE_AT, &software, sizeof(software));
    memcpy(to, image, xstate_bytes);
}

void load_extended_state(uint64_t from) {
    if (!from || !is_readable(from) || !is_readable(from + xstate_bytes - 8))
        return;
    memcpy(image, (const void *)from, xstate_bytes);
    *(uint32_t *)(image + MXCSR_AT) &= 0xFFFF;   /* reserved bits would fault */
    if (components) {
        *(uint64_t *)(image + HEADER_AT) &= components;
        memset(image + HEADER_AT + 8, 0, HEADER_BYTES - 8);
    }
    load_components(image);
}
