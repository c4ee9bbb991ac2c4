/* /proc/cpuinfo: the processor that the guest sees (processor_models.c). */

#include "proc_files.h"

enum { EXTENDED_FAMILY = 15 };   /* of a processor whose family is this and another field */

struct feature_word {            /* names by bit of a CPUID register, in Linux's order (cpufeatures.h) */
    uint32_t leaf, subleaf;
    int reg;
    const char *names;           /* "-": it has none */
};

static const struct feature_word feature_words[] = {
    {1, 0, RDX, "fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov pat pse36 pn clflush - dts acpi mmx fxsr sse "
                "sse2 ss ht tm ia64 pbe"},
    {0x80000001, 0, RDX, "- - - - - - - - - - - syscall - - - - - - - - nx - mmxext - - fxsr_opt pdpe1gb rdtscp - lm 3dnowext "
                         "3dnow"},
    {1, 0, RCX, "pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 cid sdbg fma cx16 xtpr pdcm - pcid dca sse4_1 "
                "sse4_2 x2apic movbe popcnt tsc_deadline_timer aes xsave - avx f16c rdrand hypervisor"},
    {0x80000001, 0, RCX, "lahf_lm cmp_legacy svm extapic cr8_legacy abm"},
    {7, 0, RBX, "fsgsbase tsc_adjust sgx bmi1 hle avx2 - smep bmi2 erms invpcid rtm cqm - mpx rdt_a avx512f avx512dq rdseed adx "
                "smap avx512ifma - clflushopt clwb intel_pt avx512pf avx512er avx512cd sha_ni avx512bw avx512vl"},
    {0xD, 1, RAX, "xsaveopt xsavec xgetbv1 xsaves"},
};

static uint32_t cpuid(uint32_t leaf, uint32_t subleaf, int reg) {
    uint64_t registers[4];
    registers[RAX] = leaf;
    registers[RCX] = subleaf;
    emulate_cpuid(registers);
    return (uint32_t)registers[reg];
}

static void put_features(struct text *to) {
    size_t i;
    for (i = 0; i < sizeof(feature_words) / sizeof(feature_words[0]); i++) {
        const struct feature_word *it = &feature_words[i];
        const char *name = it->names;
        uint32_t bits = cpuid(it->leaf, it->subleaf, it->reg);
        for (; *name; bits >>= 1) {
            uint64_t length = length_of_word(name);
            if (bits & 1 && *name != '-') {
                put_text(to, " ");
                put_bytes(to, name, length);
            }
            name += length + (name[length] == ' ');
        }
    }
}

static void put_registers(struct text *to, uint32_t leaf, const int *regs, int count) {
    int i, j;
    for (i = 0; i < count; i++)
        for (j = 0; j < 4; j++) {
            char character = (char)(cpuid(leaf, 0, regs[i]) >> 8 * j);
            if (character)
                put_bytes(to, &character, 1);
        }
}

/* Kilobytes of the last level; of AMD's processors, which have no leaf 4, of the second one, as Linux shows it. */
static uint64_t cache_size(void) {
    uint32_t level, sizes, bytes = cpuid(4, 0, RAX) ? 0 : cpuid(0x80000006, 0, RCX) >> 16 << KILO;
    for (level = 0; cpuid(4, level, RAX) & 0x1F; level++) {
        sizes = cpuid(4, level, RBX);
        bytes = ((sizes >> 22) + 1) * ((sizes >> 12 & 0x3FF) + 1) * ((sizes & 0xFFF) + 1) * (cpuid(4, level, RCX) + 1);
    }
    return bytes >> KILO;
}

/* The processor that the guest sees, at the nominal frequency of its time. */
void put_processor(struct text *to) {
    static const int vendor[] = {RBX, RDX, RCX}, brand[] = {RAX, RBX, RCX, RDX};
    uint32_t signature = cpuid(1, 0, RAX), sizes = cpuid(0x80000008, 0, RAX), line = (cpuid(1, 0, RBX) >> 8 & 0xFF) * 8;
    uint32_t family = signature >> 8 & EXTENDED_FAMILY;
    put_text(to, "processor\t: 0\nvendor_id\t: ");
    put_registers(to, 0, vendor, 3);
    put_field(to, "\ncpu family\t: ", family == EXTENDED_FAMILY ? family + (signature >> 20 & 0xFF) : family, "\n");
    put_field(to, "model\t\t: ", (signature >> 4 & 15) | (signature >> 12 & 0xF0), "\n");
    put_text(to, "model name\t: ");
    if (cpuid(0x80000002, 0, RAX))
        put_registers(to, 0x80000002, brand, 4);
    else
        put_text(to, "unknown");
    put_field(to, "\nstepping\t: ", signature & 15, "\n");
    put_field(to, "cpu MHz\t\t: 1000.000\ncache size\t: ", cache_size(), " KB\n");
    put_text(to, "physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\napicid\t\t: 0\ninitial apicid\t: 0\n");
    put_field(to, "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: ", cpuid(0, 0, RAX), "\nwp\t\t: yes\nflags\t\t:");
    put_features(to);
    put_field(to, "\nbugs\t\t:\nbogomips\t: 2000.00\nclflush size\t: ", line, "\n");
    put_field(to, "cache_alignment\t: ", line, "\n");
    put_field(to, "address sizes\t: ", sizes & 0xFF, " bits physical, ");
    put_field(to, "", sizes >> 8 & 0xFF, " bits virtual\npower management:\n\n");
}
