"""The modelled PMU as x86-64 programs see it (--guest-pmu): refusals, which are compared with those of the host's
kernel, descriptors, threads and processes, CPUID, sysfs, and requests that no runtime makes."""

import random
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from grids import few
from host_programs import needs
from qemu_guests import assemble, guest
from x86_64_host import MARKS, SUPPORT, without_input
from x86_64_monitoring import EXACT, SKYLAKE, lines, numbers

from pfmon import pmu
from pfmon.engine.x86_64.program_events import ProgramEvents
from pfmon.session.run.program_pmu import ProgramPmu

PLUGIN = Path(__file__).resolve().parents[3] / "src" / "pfmon" / "engine" / "qemu" / "plugin"
pytestmark = MARKS


# --- refusals


def test_kernel_s_refusals_are_the_host_s(events: Path) -> None:
    """Where the host has no PMU it knows no hardware events; with one it checks their numbers (Linux 6.1,
    arch/x86/events/core.c, set_ext_hw_attr)."""
    native = subprocess.run([events, "errors"], capture_output=True, text=True, check=True).stdout.splitlines()
    if native[0].startswith("address") and "Bad address" not in native[0]:
        pytest.skip("the host permits no perf events")
    found = lines(EXACT, events, "errors")
    known = {"hardware -1 Invalid argument", "cache -1 Invalid argument"}
    assert [one for one in found if one not in known] == [
        one for one in native if not one.startswith(("hardware", "cache"))
    ]
    assert known <= set(found)


def test_events_that_the_pmu_lacks(events: Path) -> None:
    done = without_input(EXACT, str(events), "refused")
    assert done.stdout.splitlines() == [
        "no generic -1 No such file or directory",
        "no cache event -1 No such file or directory",
        "no code -1 No such file or directory",
        "any thread -1 Permission denied",
        "tracepoint -1 No such file or directory",
        "kernel -1 Permission denied",
        "all tasks -1 Permission denied",
        "precise -1 Operation not supported",
        "3 No such file or directory",
    ]
    assert "event code 0xff, unit mask 0xff: no event has this code and unit mask; it returns ENOENT" in done.stderr


def test_events_of_a_machine_without_one(events: Path) -> None:
    done = without_input(EXACT, str(events), "overflows", "0x3C", "1000", "10")
    assert "a machine decides this, and with --guest-pmu=exact none runs; it returns ENOENT" in done.stderr


def test_without_the_option_there_is_no_pmu(events: Path) -> None:
    done = without_input("-e", "instructions", "--outfile=/dev/null", str(events), "child")
    assert "child -1 Permission denied" in done.stdout
    assert lines("-e", "instructions", "--outfile=/dev/null", events, "forbidden", "0") == ["11 128 (nil)"]
    assert lines("-e", "instructions", "--outfile=/dev/null", "cat", "/proc/sys/kernel/perf_event_paranoid") == ["3"]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("forbidden", "0"), "11 128 (nil)"),  # nothing is mapped
        (("forbidden_when_mapped", "9"), "11 128 (nil)"),
        (("forbidden_when_mapped", str((1 << 30) + 3)), "11 128 (nil)"),
        (("forbidden_when_mapped", "0"), "0"),
    ],
)
def test_rdpmc_of_no_counter_faults(words: Sequence[str], printed: str, events: Path) -> None:
    assert lines(EXACT, events, *words) == [printed]


def test_confined_programs_have_no_pmu(events: Path) -> None:
    done = without_input(EXACT, "--confine", f"--sysroot={events.parent}", str(events), "regions")
    assert done.returncode == 2 and "--confine holds has no PMU" in done.stderr


# --- descriptors, processes, what describes the PMU


@pytest.mark.slow
def test_descriptors_are_copied_and_closed(events: Path) -> None:
    expected = ["25", "50", "closed -1 Bad file descriptor", "3000", "1 Too many open files"]
    assert lines(EXACT, events, "descriptors") == expected


@pytest.mark.parametrize("quantum", [137, 1000, 100_000])
def test_events_count_their_own_thread(quantum: int, events: Path) -> None:
    """However often others run meanwhile."""
    for rounds, count in numbers(EXACT, f"--quantum={quantum}", events, "threads"):
        assert count == 5 + 2 * rounds


def test_child_has_a_pmu_of_its_own(events: Path) -> None:
    assert lines(EXACT, events, "child") == ["child 0 ", "3 25"]


COMMAND = """
_start:
    mov $ROUNDS, %ecx
1:  dec %ecx
    jnz 1b
    mov $FORKS, %ebx
2:  dec %ebx
    js 4f
    mov $57, %eax
    syscall
    test %eax, %eax
    jz 3f
    jmp 2b
4:  mov $61, %eax
    mov $-1, %rdi
    xor %esi, %esi
    xor %edx, %edx
    xor %r10d, %r10d
    syscall
3:  mov $60, %eax
    mov $7, %edi
    syscall
"""
"""12 instructions beside the loop; for a child 7 of the parent and 5 of its own."""


@pytest.mark.parametrize(("forks", "besides"), [(0, 12), (1, 12 + 7 + 5)])
def test_event_counts_a_command_from_its_first_instruction_on(
    forks: int, besides: int, events: Path, tmp_path: Path
) -> None:
    """As `perf stat` does: enable_on_exec, with the children that it makes (inherit)."""
    rounds = 1000
    made = assemble(tmp_path, COMMAND, f"-Wa,--defsym,ROUNDS={rounds},--defsym,FORKS={forks}")
    assert lines(EXACT, events, "command", made) == [f"7 {1 + 2 * rounds + besides}"]


@pytest.mark.parametrize("ids", [[], ["--host-ids"]])
def test_child_has_its_parent_s_descriptors(ids: list[str], events: Path) -> None:
    """It reads the event, cannot map it in another size, and closes it for itself."""
    assert lines(EXACT, *ids, events, "inherited") == ["read 0 ", "map -1 Invalid argument", "0 1", "1 3000"]


@pytest.mark.slow
@needs("perf")
def test_perf_stat_counts_a_command(tmp_path: Path) -> None:
    """A program of Debian's, unchanged."""
    made = assemble(tmp_path, COMMAND, "-Wa,--defsym,ROUNDS=5000,--defsym,FORKS=1")
    done = without_input(EXACT, "perf", "stat", "-x,", "-e", "instructions,branches", str(made))
    instructions, branches = (line.split(",")[0] for line in done.stderr.splitlines() if ":u," in line)
    assert int(instructions) == 1 + 2 * 5000 + 12 + 7 + 5
    assert int(branches) == 5000 + 2 + 2 + 1  # the loop; js and jz twice, jmp


@pytest.mark.parametrize("model", ["skylake", "nehalem", "core2", "intel_v1"])
def test_cpuid_describes_the_pmu(model: str, events: Path) -> None:
    """Leaf 0AH (Intel SDM volume 2, CPUID): version, counters and their width; fixed-function ones and theirs."""
    version = {"skylake": 4, "nehalem": 3, "core2": 2, "intel_v1": 1}[model]
    bank = pmu.get(model).bank
    fixed = sum(number >= 32 for number in bank.numbers)
    (line,) = lines("--guest-pmu", f"--pmu={model}", events, "identify")
    eax, ebx, ecx, edx = (int(word, 16) for word in line.split())
    assert (eax & 0xFF, eax >> 8 & 0xFF, eax >> 16 & 0xFF) == (version, len(bank.numbers) - fixed, bank.width)
    assert (ebx, ecx, edx) == (0, 0, fixed | bank.width << 5 if version > 1 else 0)


@pytest.mark.slow
def test_files_describe_the_pmu() -> None:
    place = "/sys/bus/event_source/devices"
    assert lines(EXACT, "ls", f"{place}/cpu") == [
        *("caps", "events", "format", "perf_event_mux_interval_ms", "rdpmc", "type")
    ]
    files = {
        f"{place}/cpu/type": "4",
        f"{place}/cpu/rdpmc": "1",
        f"{place}/cpu/format/cmask": "config:24-31",
        f"{place}/cpu/events/cache-misses": "event=0x2e,umask=0x41",
        "/sys/devices/cpu/events/cpu-cycles": "event=0x3c",
        "/proc/sys/kernel/perf_event_paranoid": "2",
    }
    assert lines(EXACT, "cat", *files) == list(files.values())
    assert lines(EXACT, "sh", "-c", f"exec cat {place}/cpu/type") == ["4"]


# --- hostile programs

HOSTILE = """
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "layout.h"
#include "x86_64_areas.h"
/* Events of all kinds, and requests that look as if the runtime had made them: they count as made when as many buffers
   are handed over, which a loop fills. */
int main(int count, char **words) {
    struct request *request = &((struct area *)(0x60001000 + slide_of_areas()))->request;
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE, .size = sizeof(attributes), .config = 1,
                                         .exclude_kernel = 1};
    uint64_t word;
    int i, k, file = -1;
    srand(atoi(words[1]));
    for (i = 0; i < 60; i++) {
        attributes.sample_period = rand() % 2 ? 0 : 1000 + rand() % 100000;
        attributes.config = rand() % 2 ? 1 : 4;
        file = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, rand() % 2 ? -1 : file, 0);
        if (rand() % 3 == 0)
            mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        for (k = 0; k < REQUEST_ARGUMENTS; k++)
            request->arguments[k] = rand() % 3 ? rand() % 8 - 2 : (int64_t)rand() << 32 | rand();
        request->what = rand() % 12;
        request->length = rand() % 4 ? rand() % 200 : rand();
        request->ip = rand();
        request->clock_offset = rand() % 2 ? rand() : ~(uint64_t)0 - rand();
        for (k = 0; k < 200; k++)
            request->data[k] = (uint8_t)(rand() % 4 ? rand() % 3 : rand());
        request->asked = request->answered + 1 + rand() % 2;
        for (word = rand() % 400000; word; word--)
            __asm__ volatile("");
        if (rand() % 2) {
            read(file, &word, 8);
            close(file);
        }
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    (place / "hostile.c").write_text(HOSTILE)
    subprocess.run(
        ["cc", "-O1", "-w", f"-I{PLUGIN}", f"-I{SUPPORT}", "-o", place / "hostile", place / "hostile.c"], check=True
    )
    return place / "hostile"


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(40), 3))
def test_requests_that_no_runtime_makes(seed: int, hostile: Path) -> None:
    """They end as the program's own mistakes, or as damage: without a crash, a hang or a traceback of pfmon's."""
    done = without_input(EXACT, "--session-timeout=20", str(hostile), str(seed))
    assert done.returncode in (0, 124, 125) or done.returncode > 128, done
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("runs", [10, pytest.param(300, marks=pytest.mark.exhaustive)])
def test_words_that_a_monitoring_program_writes_are_no_harm(runs: int, events: Path) -> None:
    """Into its requests and the rest of shared memory, in a process of their own."""
    words = [sys.executable, SUPPORT / "hostile_memory.py", "0", str(runs), "x86_64", events]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout


def random_request(draw: random.Random) -> tuple[int, tuple[int, ...], int, bytes]:
    """Of any kind, with arguments that mean something, or do not."""
    arguments = [draw.choice((draw.randrange(-3, 12), draw.getrandbits(64) - (1 << 63), 4096, 8192)) for _ in range(5)]
    known = draw.choice((0x2400, 0x2401, 0x2402, 0x2403, 0x2405, 0x40082404, 0x80082407))
    if draw.random() < 0.5:
        arguments[1] = known
    attribute = bytearray(struct.pack("<IIQQQQQ", draw.randrange(6), 64, draw.randrange(12), *(0, 0, 0), 0x21))
    attribute += bytes(64 - len(attribute))
    attribute[16:18] = draw.randbytes(draw.choice((0, 2))).ljust(2, b"\0")
    for _ in range(draw.choice((0, 0, 1, 5))):
        attribute[draw.randrange(64)] = draw.randrange(256)
    data = draw.choice((bytes(attribute), b"", draw.randbytes(draw.randrange(200))))
    what = draw.choice((1, 1, draw.randrange(12)))
    if what == 1 and draw.random() < 0.8:
        arguments = [0, -1, draw.choice((-1, draw.randrange(40))), 0, 0]
    return what, tuple(arguments), draw.getrandbits(64), data


@pytest.mark.parametrize("seed", few(range(50), 2))
def test_random_requests(seed: int, events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of shared memory answers whatever it finds there: each request of the program follows some that are
    drawn. All answers fit into the memory that they go to, and the run goes on."""
    draw = random.Random(seed)
    answer = ProgramEvents.answer
    answers = []

    def disturbed(asked: ProgramEvents, *request: Any) -> Any:
        answers.extend(answer(asked, *random_request(draw)) for _ in range(draw.randrange(40)))
        return answer(asked, *request)

    monkeypatch.setattr(ProgramEvents, "answer", disturbed)
    guest_of_test = guest([events, "overflows", "0x1C4", "500", "20000"], addresses=True, engine="x86_64")
    counted = ProgramPmu(SKYLAKE, guest_of_test, None)
    ending = guest_of_test.run(counted.consumer, counted)
    guest_of_test.close()
    counted.finish()
    assert ending is not None and ending.status == 0
    assert len(answers) > 10 and any(result >= 0 for result, *_ in answers)
    for result, stop, notices, more, data in answers:
        assert -(1 << 63) <= result < 1 << 63 and 0 <= stop < 1 << 64
        assert len(notices) <= 64 and isinstance(more, bool) and len(data) <= 1 << 14
        assert all(0 <= word < 1 << 64 for notice in notices for word in notice)
