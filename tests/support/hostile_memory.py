"""Writes into what a program and its reader share, while they run: as the program itself could.

Run as a script it runs programs under an engine, each a hundred times disturbed, and says how they ended: a signal, a
hang and a traceback are its own. Where the shared structures have their members says the compiler, of the header that
both sides are made of.
"""

import faulthandler
import mmap
import os
import random
import struct
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread, Timer

from qemu_guests import EXAMPLES, guest

from pfmon.counting._counting import Tally
from pfmon.engine.qemu.process_guest import ProcessGuest
from pfmon.errors import PfmonError
from pfmon.machine._machine import IntervalMachine
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.session.run.program_pmu import ProgramPmu
from pfmon.stream._stream import Consumer

PLUGIN = Path(__file__).resolve().parents[2] / "src" / "pfmon" / "engine" / "qemu" / "plugin"
MEMBERS = {
    "ring": ("filling", "reading", "buffers[0].count", "buffers[0].words", "buffers[1].count", "buffers[7].count"),
    "area": (
        *("threads[0].progress", "threads[0].before", "threads[0].last", "threads[0].slots", "threads[0].strings"),
        *("threads[1].last", "announced", "count", "retired", "executing", "nothing", "base", "begun", "doubtful"),
        *("doubtful_at", "trouble", "message_length", "message", "task", "forks", "inherited", "status", "executed"),
        *("stopping", "traced", "totals", "request", "request.asked", "request.answered", "request.what"),
        *("request.length", "request.arguments", "request.data"),
    ),
}
SIZES = {
    "ring bytes": "sizeof(struct ring)",
    "area bytes": "(size_t)AREA_HEAD",
    "announcement bytes": "offsetof(struct announcement, bytes)",
    "announcement all": "sizeof(struct announcement)",
}
WORDS = (0, 1, 2, 7, 8, 9, 255, 1 << 15, (1 << 15) + 1, 1 << 20, 1 << 22, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 32)
WORDS += (1 << 40, 1 << 48, 1 << 62, 1 << 63, (1 << 64) - 8, (1 << 64) - 1, 0x8100_0000_0000_0000, 0x8F000000FFFFFFFF)
"""Words at the borders of what the shared structures can hold, and marks."""
PATIENCE = 2
"""Seconds after which a program is stopped."""
AT_ONCE = 100
"""Words that are written while one program runs."""


@cache
def offsets() -> dict[str, dict[str, int]]:
    """Structure and member -> offset; besides SIZES."""
    lines = []
    for name, members in MEMBERS.items():
        lines += [f'printf("{name} {one} %zu\\n", offsetof(struct {name}, {one}));' for one in members]
    lines += [f'printf("{name} %zu\\n", {size});' for name, size in SIZES.items()]
    text = '#include <stddef.h>\n#include <stdio.h>\n#include "layout.h"\nint main(void) {' + "".join(lines) + "}"
    with TemporaryDirectory() as folder:
        (Path(folder) / "offsets.c").write_text(text)
        command = ["cc", f"-I{PLUGIN}", "-o", f"{folder}/offsets", f"{folder}/offsets.c"]
        subprocess.run(command, check=True, capture_output=True)
        said = subprocess.run([f"{folder}/offsets"], check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[str, int]] = {"announcement": {}, **{name: {} for name in MEMBERS}}
    for line in said.splitlines():
        name, member, offset = line.split()
        found[name][member] = int(offset)
    return found


class Writer:
    """Writes words into the memory of one guest, which need not have begun."""

    def __init__(self, one: ProcessGuest, places: dict[str, dict[str, int]], pick: random.Random) -> None:
        self._places, self._pick = places, pick
        reader = one._reader
        self._maps = {
            "ring": mmap.mmap(os.dup(reader.ring_file), places["ring"]["bytes"]),
            "area": mmap.mmap(os.dup(reader.area_file), 2 * places["area"]["bytes"]),
        }

    def write(self) -> None:
        """One word, in one of three places that say how something is to be read, or in what is read."""
        pick = self._pick
        name = pick.choice(("ring", "area", "area"))
        places = self._places[name]
        member = pick.choice(MEMBERS[name])
        offset = places[member]
        if pick.random() < 0.4 and name == "area":  # announcements, of which the first are the likeliest to be read
            offset = places["bytes"] + 8 * int(pick.expovariate(1 / 2000))
        elif pick.random() < 0.2:
            offset = 8 * pick.randrange(places["bytes"] // 8 - 1)
        word = pick.choice(WORDS) if pick.random() < 0.6 else pick.getrandbits(64)
        size = pick.choice((8, 8, 4, 2, 1))
        at = min(offset + pick.choice((0, 0, 0, 4, 8, 16)), len(self._maps[name]) - 8)
        self._maps[name][at : at + size] = struct.pack("<Q", word)[:size]

    def close(self) -> None:
        for one in self._maps.values():
            one.close()


def monitored(one: ProcessGuest) -> ProgramPmu:
    """The PMU of a program that monitors itself."""
    return ProgramPmu(get("skylake"), one, None)


def disturb(number: int, places: dict[str, dict[str, int]], engine: str, monitoring: str = "") -> str:
    """Run a program while words are written; how that ended. ``monitoring``: one that monitors itself
    (x86_64_events.c)."""
    pick = random.Random(number)
    traced, totals = bool(monitoring) or number % 3 == 1, not monitoring and number % 3 == 2
    with Path(os.devnull).open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        command = [EXAMPLES / "x86_64" / pick.choice(("sort", "queens", "hashmap", "fib"))]
        if monitoring:
            command = [
                monitoring,
                *pick.choice((("overflows", "0x1C4", "300", "300000"), ("ring", "1"), ("descriptors",))),
            ]
        one = guest(command, files=files, addresses=traced, totals=totals, engine=engine)
        writer, over = Writer(one, places, pick), Event()

        def write() -> None:
            for _ in range(AT_ONCE):
                over.wait(pick.choice((0.0, 0.0001, 0.001, 0.002)))
                writer.write()

        thread = Thread(target=write)
        machine = traced and number % 2 and not monitoring
        pmu = monitored(one) if monitoring else None
        consumer: Consumer = IntervalMachine(load("core2"), one.table) if machine else Tally(one.table, traced)
        thread.start()
        stop = Timer(PATIENCE, one.stop)  # the program has written over what its own emulator needs, and hangs
        stop.start()
        try:
            ending = one.run(pmu.consumer if pmu else consumer, pmu)
            said = [str(one.retired), str(one._reader.message), str(one._reader.executed), str(one.mapped)]
            assert all(said)
            return "ended" if ending is not None and not consumer.failure else "refused"
        except PfmonError:
            return "refused"
        finally:
            stop.cancel()
            over.set()
            thread.join()
            writer.close()
            one.close()


if __name__ == "__main__":
    faulthandler.dump_traceback_later(120, exit=True)
    places = offsets()
    first, beyond, *how = sys.argv[1:]
    ways = Counter(disturb(number, places, *how) for number in range(int(first), int(beyond)))
    print(dict(ways))
