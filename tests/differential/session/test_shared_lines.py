"""Lines that threads share against a plain model of caches that own lines, over the program's accesses by thread."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import pfmon, refused
from qemu_guests import Access, accesses_in, compile_c, guest
from x86_64_host import MARKS

from pfmon.counting._counting import SharedLines
from pfmon.stream._stream import AccessKind, BlockTable, Mark, Recorder, Tee

pytestmark = MARKS

LINE = 64
PROGRAM = """
#include <pthread.h>
#include <string.h>
static struct { long counts[3], padding[5]; char text[200]; } shared __attribute__((aligned(64)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
    long number = (long)argument, i;
    for (i = 0; i < 400; i++) {
        __asm__ volatile("addq %1, %0" : "+m"(shared.counts[number]) : "r"(i));
        if (i % 16 == 0) {
            pthread_mutex_lock(&lock);
            memset(shared.text + 30 * number, (int)i, 70);
            pthread_mutex_unlock(&lock);
        }
        if (i % 8 == number)
            __asm__ volatile("lock; xaddq %1, %0" : "+m"(shared.counts[2]), "+r"(i));
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    long i;
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return (int)shared.counts[0] & 1;
}
"""


def by_thread(words: list[int], table: BlockTable) -> Iterator[tuple[int, Access]]:
    """The accesses of a traced stream with the thread that makes each."""
    thread = begin = at = 0
    while at < len(words):
        word = words[at]
        if word >> 63 == 0:
            block = table.block(word & 0xFFFFFFFF)
            at += sum((one.access > 0) + (one.second > 0) + (one.second >> 3) for one in block.instructions)
        elif word >> 56 & 0x7F == Mark.THREAD:
            yield from ((thread, one) for one in accesses_in(words[begin:at], table))
            thread, begin = word & 0xFFFFFFFF, at + 1
        at += 1
    yield from ((thread, one) for one in accesses_in(words[begin:], table))


class Line:
    """A line in caches without limits, one for each thread."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.copies: set[int] = set()
        self.written: set[int] = set()
        """Bytes that the owner has stored to; none: nobody owns the line."""
        self.kept = self.stored = False

    def access(self, thread: int, part: set[int], stores: bool) -> tuple[bool, bool]:
        """Whether the line moves from another thread's cache, and whether it does for other bytes than that thread has
        stored to."""
        moves = bool(self.written) and thread not in self.copies
        unrelated = moves and not self.written & part
        if stores:
            self.written = part | (self.written if self.copies == {thread} else set())
            self.copies = {thread}
        else:
            self.written = set() if moves else self.written
            self.copies = self.copies | {thread}
        self.stored |= stores
        self.kept |= thread != self.first
        return moves, unrelated


def modelled(words: list[int], table: BlockTable) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Loads, stores, moves and unrelated ones by line, thread, instruction, offset and size."""
    lines: dict[int, Line] = {}
    found: defaultdict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for thread, one in by_thread(words, table):
        if not one.address or one.kind == AccessKind.FETCH_LINE:
            continue
        beyond = one.address + one.size
        for number in range(one.address // LINE, (beyond - 1) // LINE + 1):
            line = lines.setdefault(number, Line(thread))
            part = {byte - LINE * number for byte in range(one.address, beyond) if byte // LINE == number}
            seen = line.access(thread, part, bool(one.kind & AccessKind.WRITE))
            if line.kept and line.stored:
                counts = found[LINE * number, thread, one.ip, min(part), len(part)]
                added = (one.kind & AccessKind.READ, one.kind >> 1 & 1, *map(int, seen))
                found[LINE * number, thread, one.ip, min(part), len(part)] = [
                    count + more for count, more in zip(counts, added, strict=True)
                ]
    return {where: tuple(counts) for where, counts in found.items()}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("shared"), PROGRAM, "-g", "-pthread")


@pytest.mark.slow
def test_lines_are_those_of_a_plain_model(program: Path) -> None:
    one = guest([program], addresses=True, engine="x86_64")
    shared, recorder = SharedLines(one.table, LINE), Recorder()
    one.run(Tee(shared, recorder))
    one.close()
    found = {row[:5]: row[5:] for row in shared.accesses()}
    assert found == modelled(recorder.words(), one.table)
    assert sum(counts[2] for counts in found.values()) > 10
    assert any(where[4] > 8 for where in found)  # of a string instruction, or a vector


def report(program: Path, *words: str) -> dict[str, Any]:
    done = pfmon("--json", "--report=c2c", "--no-cmd-output", *words, str(program))
    found: dict[str, Any] = json.loads(done.stdout)["report"]
    return found


@pytest.mark.slow
def test_lines_have_their_names_and_false_sharing(program: Path) -> None:
    found = report(program, "--quantum=200")
    assert (found["report"], found["line_bytes"]) == ("c2c", LINE)
    line = found["lines"][0]
    assert line["data"][0] == "shared" and set(line["threads"]) >= {1, 2}
    assert 0 < line["unrelated"] < line["moved"]
    own = [one for one in line["accesses"] if one["thread"] and one["offset"] in (0, 8)]
    assert {(one["thread"], one["data"], one["offset"]) for one in own} >= {(1, "shared", 0), (2, "shared+0x8", 8)}
    assert all("work+" in one["place"] and "program.c:" in one["place"] for one in own)
    assert sum(one["unrelated"] for one in own) == sum(one["moved"] for one in own) > 0


@pytest.mark.slow
def test_lines_move_more_often_the_shorter_turns_are(program: Path) -> None:
    moved = [sum(one["moved"] for one in report(program, f"--quantum={turn}")["lines"]) for turn in (100, 1000, 100000)]
    assert moved[0] > moved[1] > moved[2]


@pytest.mark.slow
def test_the_report_is_printed(program: Path) -> None:
    lines = pfmon("--report=c2c", "--no-cmd-output", "--quantum=200", str(program)).stdout.splitlines()
    assert lines[0].startswith("# lines of 64 bytes that threads share and store to: ")
    assert lines[3] == "#  moved    false    loads   stores threads line               data"
    assert lines[4].split()[6] == "shared" and "work+" in lines[5]


def test_one_thread_shares_nothing() -> None:
    done = pfmon("--report=c2c", "--no-cmd-output", "/bin/true")
    assert done.stdout.splitlines()[0] == "# lines of 64 bytes that threads share and store to: 0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-e", "instructions"), "--report=c2c needs no events"),
        (("--follow-all",), "--report=c2c: about one process alone"),
        (("--per-thread",), "--report: counts all threads together"),
        (("--engine=qemu",), "--report=c2c: this is an x86-64 program, whose threads run at the same time under qemu"),
    ],
)
def test_what_does_not_tell_threads_apart_is_refused(program: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused("--report=c2c", *words, str(program))
