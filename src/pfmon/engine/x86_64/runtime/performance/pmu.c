/* The PMU of the guest's processor: whether it has one, CPUID. */

#include "arguments.h"
#include "performance.h"
#include "runtime.h"
#include "world/world.h"

enum { SIGNATURE_LEAF = 1, PMU_LEAF = 0xA };

static struct {
    uint32_t signature;          /* EAX of leaf 1; 0: that of the processor's model */
    uint32_t eax, ebx, edx;      /* of leaf 0AH */
    const char *directory;       /* in place of /sys/bus/event_source/devices */
} pmu;

void pmu_begin(char **arguments) {
    pmu.signature = (uint32_t)number_of(arguments[PMU_SIGNATURE]);
    pmu.eax = (uint32_t)number_of(arguments[PMU_COUNTERS]);
    pmu.ebx = (uint32_t)number_of(arguments[PMU_LACKS]);
    pmu.edx = (uint32_t)number_of(arguments[PMU_FIXED_COUNTERS]);
    pmu.directory = arguments[PMU_FILES];
}

/* Whether this process's events are counted. */
bool has_pmu(void) {
    return world.flags & HAS_PMU && !in_child;
}

/* Change what CPUID returns; `registers` have the model's values. */
void show_pmu(uint32_t leaf, uint64_t *registers) {
    if (!(world.flags & HAS_PMU))
        return;
    if (leaf == 0 && registers[RAX] < PMU_LEAF)
        registers[RAX] = PMU_LEAF;
    if (leaf == SIGNATURE_LEAF && pmu.signature)
        registers[RAX] = pmu.signature;
    if (leaf == PMU_LEAF) {
        registers[RAX] = pmu.eax;
        registers[RBX] = pmu.ebx;
        registers[RCX] = 0;
        registers[RDX] = pmu.edx;
    }
}

/* The host's name of a file of sysfs about PMUs; false: the path is of another file, or the guest has no PMU. */
bool pmu_path(const char *path, struct text *of_host) {
    static const char devices[] = "/sys/bus/event_source/devices", core[] = "/sys/devices/cpu";
    const char *rest, *inner = "";
    if (!(world.flags & HAS_PMU))
        return false;
    if (begins_with(path, devices))
        rest = path + sizeof(devices) - 1;
    else if (begins_with(path, core)) {
        rest = path + sizeof(core) - 1;
        inner = "/cpu";
    } else
        return false;
    if (*rest && *rest != '/')
        return false;
    begin_text(of_host, NO_FILE);
    put_text(of_host, pmu.directory);
    put_text(of_host, inner);
    put_text(of_host, rest);
    return true;
}
