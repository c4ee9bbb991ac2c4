/* All threads wait, and nothing can end any of the waits: the process ends, and pfmon says who waits for what. */

#include <linux/signal.h>

#include "thread.h"
#include "world/proc_files.h"

static void put_waits(struct text *to) {
    const struct guest_thread *it;
    for (it = threads; it; it = it->next) {
        put_field(to, "thread ", it->id, " waits ");
        put_text(to, it->text ? it->text : "");
        put_text(to, it->next ? "; " : "");
    }
}

void end_in_deadlock(void) {
    struct text waits;
    begin_text(&waits, NO_FILE);
    put_waits(&waits);
    publish_count();
    if (!in_child) {
        area->message_length = waits.length < MAX_MESSAGE_BYTES ? waits.length : MAX_MESSAGE_BYTES;
        memcpy(area->message, waits.bytes, area->message_length);
    }
    give_up(DEADLOCK);
}
