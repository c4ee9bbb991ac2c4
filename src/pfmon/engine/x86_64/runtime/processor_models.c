/* The processor that the guest sees, whatever the host is: x86-64-v3 or x86-64-v4 (System V ABI for AMD64, 3.1.1), or that
   of a machine. */

#include "performance/performance.h"
#include "translation/encoding_rows.h"
#include "runtime.h"

enum {
    ANY = 0xFFFFFFFF, MAX_LEAVES = 20,
    STATE_COMPONENTS_OF_V3 = 0x07,   /* x87, SSE, AVX (SDM volume 1, 13.3) */
    STATE_COMPONENTS_OF_V4 = 0xE7,   /* with opmask registers, upper halves of zmm0 to zmm15, zmm16 to zmm31 */
    OFFSETS_LEAF = 0xD
};

struct leaf {                    /* subleaf ANY: all */
    uint32_t leaf, subleaf, eax, ebx, ecx, edx;
};

struct processor {
    char name[16];               /* no address: the runtime is not relocated */
    enum feature level;
    uint32_t components;         /* of XCR0; 0: no xsave */
    uint32_t xstate_bytes;
    struct leaf leaves[MAX_LEAVES];
};

/* Signature, feature bits and caches (SDM volume 2, CPUID). Caches of leaf 4: data, instructions, second and third level. */
static const struct processor processors[] = {
    {"x86-64-v3", AVX2, STATE_COMPONENTS_OF_V3, 832, {
        {0, ANY, 0xD, 0x756E6547, 0x6C65746E, 0x49656E69},   /* GenuineIntel */
        {1, ANY, 0x000306C3, 0x00010800, 0x3CD83201, 0x078BFBFF},     /* SSE4.2, FMA, MOVBE, AVX, F16C */
        {2, ANY, 0x76036301, 0x00F0B5FF, 0, 0x00C10000},
        {4, 0, 0x00000121, 0x01C0003F, 63, 0},
        {4, 1, 0x00000122, 0x01C0003F, 63, 0},
        {4, 2, 0x00000143, 0x01C0003F, 511, 0},
        {4, 3, 0x00000163, 0x03C0003F, 8191, 4},
        {7, 0, 0, 0x00000128, 0, 0},                         /* BMI1, AVX2, BMI2 */
        {0xD, 0, 7, 832, 832, 0},
        {0xD, 2, 256, 576, 0, 0},
        {0x80000000, ANY, 0x80000008, 0, 0, 0},
        {0x80000001, ANY, 0, 0, 0x00000021, 0x28100800},     /* LAHF, LZCNT; SYSCALL, NX, RDTSCP, 64 bits */
        {0x80000002, ANY, 0x6F6D6670, 0x3878206E, 0x34362D36, 0x0033762D},
        {0x80000006, ANY, 0, 0, 0x01006040, 0},
        {0x80000008, ANY, 0x00003027, 0, 0, 0},
    }},
    {"x86-64-v4", AVX512, STATE_COMPONENTS_OF_V4, 2688, {
        {0, ANY, 0xD, 0x756E6547, 0x6C65746E, 0x49656E69},   /* GenuineIntel */
        {1, ANY, 0x00050654, 0x00010800, 0x3CD83201, 0x078BFBFF},     /* SSE4.2, FMA, MOVBE, AVX, F16C */
        {2, ANY, 0x76036301, 0x00F0B5FF, 0, 0x00C10000},
        {4, 0, 0x00000121, 0x01C0003F, 63, 0},
        {4, 1, 0x00000122, 0x01C0003F, 63, 0},
        {4, 2, 0x00000143, 0x01C0003F, 511, 0},
        {4, 3, 0x00000163, 0x03C0003F, 8191, 4},
        {7, 0, 0, 0xD0030128, 0, 0},                         /* and AVX512F, DQ, CD, BW, VL */
        {0xD, 0, 0xE7, 2688, 2688, 0},
        {0xD, 2, 256, 576, 0, 0},
        {0xD, 5, 64, 1088, 0, 0},
        {0xD, 6, 512, 1152, 0, 0},
        {0xD, 7, 1024, 1664, 0, 0},
        {0x80000000, ANY, 0x80000008, 0, 0, 0},
        {0x80000001, ANY, 0, 0, 0x00000021, 0x28100800},     /* LAHF, LZCNT; SYSCALL, NX, RDTSCP, 64 bits */
        {0x80000002, ANY, 0x6F6D6670, 0x3878206E, 0x34362D36, 0x0034762D},
        {0x80000006, ANY, 0, 0, 0x01006040, 0},
        {0x80000008, ANY, 0x00003027, 0, 0, 0},
    }},
    {"zen3", AVX2, STATE_COMPONENTS_OF_V3, 832, {   /* what x86-64-v3 has; family 19h, model 21h (APM volume 3, E.3 and E.4) */
        {0, ANY, 0xD, 0x68747541, 0x444D4163, 0x69746E65},   /* AuthenticAMD */
        {1, ANY, 0x00A20F10, 0x00010800, 0x3CD83201, 0x078BFBFF},
        {7, 0, 0, 0x00000128, 0, 0},
        {0xD, 0, 7, 832, 832, 0},
        {0xD, 2, 256, 576, 0, 0},
        {0x80000000, ANY, 0x8000001E, 0x68747541, 0x444D4163, 0x69746E65},
        {0x80000001, ANY, 0x00A20F10, 0, 0x00400021, 0x28500800},     /* and leaf 8000001DH; MMX extensions */
        {0x80000002, ANY, 0x6F6D6670, 0x655A206E, 0x0033206E, 0},
        {0x80000005, ANY, 0xFF40FF40, 0xFF40FF40, 0x20080140, 0x20080140},
        {0x80000006, ANY, 0x48002200, 0x68004200, 0x02006140, 0x01009140},
        {0x80000008, ANY, 0x00003030, 0, 0, 0},
        {0x8000001D, 0, 0x00000121, 0x01C0003F, 63, 0},      /* as leaf 4, which it has not */
        {0x8000001D, 1, 0x00000122, 0x01C0003F, 63, 0},
        {0x8000001D, 2, 0x00000143, 0x01C0003F, 1023, 2},
        {0x8000001D, 3, 0x00000163, 0x03C0003F, 32767, 1},
    }},
    {"zen4", AVX512, STATE_COMPONENTS_OF_V4, 2688, {         /* what x86-64-v4 has; family 19h, model 61h */
        {0, ANY, 0xD, 0x68747541, 0x444D4163, 0x69746E65},   /* AuthenticAMD */
        {1, ANY, 0x00A60F12, 0x00010800, 0x3CD83201, 0x078BFBFF},
        {7, 0, 0, 0xD0030128, 0, 0},
        {0xD, 0, 0xE7, 2688, 2688, 0},
        {0xD, 2, 256, 576, 0, 0},
        {0xD, 5, 64, 1088, 0, 0},
        {0xD, 6, 512, 1152, 0, 0},
        {0xD, 7, 1024, 1664, 0, 0},
        {0x80000000, ANY, 0x8000001E, 0x68747541, 0x444D4163, 0x69746E65},
        {0x80000001, ANY, 0x00A60F12, 0, 0x00400021, 0x28500800},     /* and leaf 8000001DH; MMX extensions */
        {0x80000002, ANY, 0x6F6D6670, 0x655A206E, 0x0034206E, 0},
        {0x80000005, ANY, 0xFF48FF40, 0xFF48FF40, 0x20080140, 0x20080140},
        {0x80000006, ANY, 0x5C002200, 0x6C004200, 0x04006140, 0x01009140},
        {0x80000008, ANY, 0x00003030, 0, 0, 0},
        {0x8000001D, 0, 0x00000121, 0x01C0003F, 63, 0},      /* as leaf 4, which it has not */
        {0x8000001D, 1, 0x00000122, 0x01C0003F, 63, 0},
        {0x8000001D, 2, 0x00000143, 0x01C0003F, 2047, 2},
        {0x8000001D, 3, 0x00000163, 0x03C0003F, 32767, 1},
    }},
    {"Nehalem", SSE4, 0, 512, {
        {0, ANY, 4, 0x756E6547, 0x6C65746E, 0x49656E69},
        {1, ANY, 0x000106A3, 0x00010800, 0x00982201, 0x078BFBFF},    /* SSE4.2, POPCNT */
        {2, ANY, 0x55035A01, 0x00F0B2E4, 0, 0x09CA212C},
        {4, 0, 0x00000121, 0x01C0003F, 63, 0},
        {4, 1, 0x00000122, 0x00C0003F, 127, 0},
        {4, 2, 0x00000143, 0x01C0003F, 511, 0},
        {4, 3, 0x00000163, 0x03C0003F, 8191, 2},
        {0x80000000, ANY, 0x80000008, 0, 0, 0},
        {0x80000001, ANY, 0, 0, 1, 0x20100800},
        {0x80000006, ANY, 0, 0, 0x01006040, 0},
        {0x80000008, ANY, 0x00003028, 0, 0, 0},
    }},
    {"Conroe", BASE, 0, 512, {
        {0, ANY, 4, 0x756E6547, 0x6C65746E, 0x49656E69},
        {1, ANY, 0x000006FB, 0x00010800, 0x00002201, 0x078BFBFF},    /* SSSE3 */
        {2, ANY, 0x05B0B101, 0x005657F0, 0, 0x2CB43049},
        {4, 0, 0x00000121, 0x01C0003F, 63, 0},
        {4, 1, 0x00000122, 0x01C0003F, 63, 0},
        {4, 2, 0x00000143, 0x03C0003F, 4095, 1},
        {0x80000000, ANY, 0x80000008, 0, 0, 0},
        {0x80000001, ANY, 0, 0, 1, 0x20100800},
        {0x80000006, ANY, 0, 0, 0x10008040, 0},
        {0x80000008, ANY, 0x00003024, 0, 0, 0},
    }},
};

static const struct processor *processor;
uint8_t processor_level;
uint32_t components, xstate_bytes;

/* Choose the processor; false: there is none of that name. */
bool choose_processor(const char *name) {
    size_t i;
    for (i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
        if (!strcmp(processors[i].name, name)) {
            processor = &processors[i];
            processor_level = processor->level;
            components = processor->components;
            xstate_bytes = processor->xstate_bytes;
            return true;
        }
    return false;
}

/* The offset of a component in xsave's standard format, which the host's xsave uses: Intel's processors have left room for
   MPX, AMD's have not. */
static uint32_t host_offset(uint32_t component) {
    uint32_t eax = OFFSETS_LEAF, ebx, ecx = component, edx;
    __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    return ebx;
}

void emulate_cpuid(uint64_t *registers) {
    uint32_t leaf = (uint32_t)registers[RAX], subleaf = (uint32_t)registers[RCX], i;
    registers[RAX] = registers[RBX] = registers[RCX] = registers[RDX] = 0;
    for (i = 0; i < MAX_LEAVES; i++) {
        const struct leaf *it = &processor->leaves[i];
        if ((it->eax | it->ebx | it->ecx | it->edx) && it->leaf == leaf && (it->subleaf == ANY || it->subleaf == subleaf)) {
            registers[RAX] = it->eax;
            registers[RBX] = leaf == OFFSETS_LEAF && subleaf > 2 ? host_offset(subleaf) : it->ebx;
            registers[RCX] = it->ecx;
            registers[RDX] = it->edx;
            break;
        }
    }
    show_pmu(leaf, registers);
}
