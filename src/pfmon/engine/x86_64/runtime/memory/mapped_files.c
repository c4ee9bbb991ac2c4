/* Files that the guest has mapped executable: they are announced to the reader, and its blocks name them. */

#include <linux/mman.h>

#include "mapped_file.h"
#include "runtime.h"
#include "world/world.h"

enum { MAX_PLACES = 1024, MAX_SILENT = 64 };

static struct file files[MAX_PLACES];    /* ever mapped executable, by number - 1 */
static struct file silent[MAX_SILENT];   /* lately mapped, but not executable */
static uint32_t file_count, silent_count, place_count;
static struct {
    struct range range;
    uint32_t number;
} places[MAX_PLACES];

/* The number of the file that holds the code; 0: none that the program mapped. */
uint32_t file_at(uint64_t address) {
    uint32_t i;
    for (i = place_count; i > 0; i--)
        if (places[i - 1].range.start <= address && address < places[i - 1].range.end)
            return places[i - 1].number;
    return 0;
}

const char *path_of(int file) {
    static struct text path;
    char *kept;
    path_of_file(file, &path);
    if (path.bytes[0] != '/')
        return NULL;
    kept = reserve(path.length + 1);
    memcpy(kept, path.bytes, path.length);
    return kept;
}

static void put_place(const struct file *it) {
    uint32_t number = 0;
    if (place_count == MAX_PLACES)
        return;
    while (number < file_count && (files[number].start != it->start || files[number].end != it->end
                                   || files[number].offset != it->offset || strcmp(files[number].path, it->path)))
        number++;
    if (number == MAX_PLACES)
        return;
    if (number == file_count) {
        files[file_count++] = *it;
        announce_file(it->start, it->end, it->offset, it->path);
    }
    places[place_count].range = (struct range){it->start, it->end};
    places[place_count++].number = number + 1;
}

void remove_places(uint64_t start, uint64_t end) {
    uint32_t i, kept = 0;
    for (i = 0; i < place_count; i++)
        if (end <= places[i].range.start || places[i].range.end <= start)
            places[kept++] = places[i];
    place_count = kept;
    for (i = 0; i < MAX_SILENT; i++)
        if (silent[i].start < end && start < silent[i].end)
            silent[i].end = silent[i].start;
}

void keep_file(const struct file *it, int protection) {
    if (!it->path)
        return;
    if (protection & PROT_EXEC)
        put_place(it);
    else
        silent[silent_count++ % MAX_SILENT] = *it;
}

void announce_silent(uint64_t start, uint64_t end) {
    uint32_t i;
    for (i = 0; i < MAX_SILENT; i++)
        if (silent[i].start < end && start < silent[i].end) {
            put_place(&silent[i]);
            silent[i].end = silent[i].start;
        }
}
