/* The processor that the guest sees, whatever the host is: x86-64-v3 (System V ABI for AMD64, 3.1.1), or that of a machine. */

#include "runtime.h"

enum { ANY = 0xFFFFFFFF, MAX_LEAVES = 16 };

struct leaf {                    /* subleaf ANY: all */
    uint32_t leaf, subleaf, eax, ebx, ecx, edx;
};

struct processor {
    const char *name;
    uint32_t components;         /* of XCR0; 0: no xsave */
    struct leaf leaves[MAX_LEAVES];
};

/* Signature, feature bits and caches (SDM volume 2, CPUID). Caches of leaf 4: data, instructions, second and third level. */
static const struct processor processors[] = {
    {"x86-64-v3", 7, {
        {0, ANY, 0xD, 0x756E6547, 0x6C65746E, 0x49656E69},   /* GenuineIntel */
        {1, ANY, 0x000306C3, 0x00010800, 0x3CD83203 & ~0x40000000u, 0x078BFBFF},     /* SSE4.2, FMA, MOVBE, AVX, F16C */
        {2, ANY, 0x76036301, 0x00F0B5FF, 0, 0x00C10000},
        {4, 0, 0x00000121, 0x01C0003F, 63, 0},
        {4, 1, 0x00000122, 0x01C0003F, 63, 0},
        {4, 2, 0x00000143, 0x01C0003F, 511, 0},
        {4, 3, 0x00000163, 0x03C0003F, 8191, 4},
        {7, 0, 0, 0x00000128, 0, 0},                         /* BMI1, AVX2, BMI2 */
        {0xD, 0, 7, 832, 832, 0},
        {0xD, 1, 1, 832, 0, 0},                              /* XSAVEOPT */
        {0xD, 2, 256, 576, 0, 0},
        {0x80000000, ANY, 0x80000008, 0, 0, 0},
        {0x80000001, ANY, 0, 0, 0x00000021, 0x28100800},     /* LAHF, LZCNT; SYSCALL, NX, RDTSCP, 64 bits */
        {0x80000002, ANY, 0x6F6D6670, 0x3878206E, 0x34362D36, 0x0033762D},
        {0x80000006, ANY, 0, 0, 0x01006040, 0},
        {0x80000008, ANY, 0x00003027, 0, 0, 0},
    }},
    {"Nehalem", 0, {
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
    {"Conroe", 0, {
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

static const struct processor *processor = processors;
bool has_vex = true;
uint32_t components = COMPONENTS;

/* Choose the processor; false: there is none of that name. */
bool choose_processor(const char *name) {
    size_t i;
    for (i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
        if (!strcmp(processors[i].name, name)) {
            processor = &processors[i];
            components = processor->components;
            has_vex = components & 4;
            return true;
        }
    return false;
}

void emulate_cpuid(uint64_t *registers) {
    uint32_t leaf = (uint32_t)registers[RAX], subleaf = (uint32_t)registers[RCX], i;
    registers[RAX] = registers[RBX] = registers[RCX] = registers[RDX] = 0;
    for (i = 0; i < MAX_LEAVES; i++) {
        const struct leaf *it = &processor->leaves[i];
        if ((it->eax | it->ebx | it->ecx | it->edx) && it->leaf == leaf && (it->subleaf == ANY || it->subleaf == subleaf)) {
            registers[RAX] = it->eax;
            registers[RBX] = it->ebx;
            registers[RCX] = it->ecx;
            registers[RDX] = it->edx;
            return;
        }
    }
}
