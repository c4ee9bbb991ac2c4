"""Threads on cores of their own (--cores), from the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import pfmon, refused
from qemu_guests import compile_c
from x86_64_host import AVX512, MARKS

from pfmon.pmu.capture.precise_loads import PreciseLoads
from pfmon.pmu.target import PEBS_DATA_SOURCE, PEBS_RECORD
from pfmon.report.exports.perf_captures import load_of, load_source

pytestmark = MARKS

COUNTERS = """
#include <pthread.h>
static struct { volatile long first; char apart[PAD]; volatile long other; } counters __attribute__((aligned(64)));
static void *work(void *counter) {
    for (int i = 0; i < 3000; i++)
        ++*(volatile long *)counter;
    return 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, work, (void *)&counters.first);
    pthread_create(&threads[1], 0, work, (void *)&counters.other);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
"""
TURNS = 3000 * 5 // 100
"""Turns of a thread in its loop of five instructions."""
HITM, CYCLES = "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", "CPU_CLK_UNHALTED.THREAD"
ANSWERS = [f"MEM_LOAD_L3_HIT_RETIRED.XSNP_{answer}" for answer in ("NONE", "MISS", "HIT", "HITM")]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two counters in one line."""
    return compile_c(tmp_path_factory.mktemp("together"), COUNTERS, "-g", "-pthread", "-static", "-DPAD=8")


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The counters are two lines apart."""
    return compile_c(tmp_path_factory.mktemp("apart"), COUNTERS, "-g", "-pthread", "-static", "-DPAD=120")


def counted(program: Path, *words: str) -> dict[str, int]:
    """Counts by event."""
    done = json.loads(pfmon("--json", "--no-cmd-output", *words, str(program)).stdout)
    return {one["name"]: one["count"] for one in done["events"]}


@pytest.mark.slow
def test_false_sharing_moves_a_line_in_each_turn_and_takes_time(together: Path, apart: Path) -> None:
    events = ("--cores=2", "-e", f"{HITM},{CYCLES}")
    shared, padded = counted(together, *events), counted(apart, *events)
    assert 2 * TURNS * 0.7 < shared[HITM] - padded[HITM] < 2 * TURNS * 1.2
    assert shared[CYCLES] > padded[CYCLES] + 2 * TURNS * 30
    one_core = counted(together, "--quantum=100", "-e", f"{HITM},{CYCLES}")
    assert one_core[HITM] == 0
    assert shared[CYCLES] > one_core[CYCLES] + 2 * TURNS * 30


@pytest.mark.slow
def test_a_report_names_the_line_that_is_falsely_shared(together: Path, apart: Path) -> None:
    found: dict[str, Any] = json.loads(
        pfmon("--json", "--no-cmd-output", "--cores=2", "--report=c2c", str(together)).stdout
    )["report"]
    assert found["cores"] == 2
    line = found["lines"][0]
    assert (line["data"], line["falsely_shared"], line["address"] % 64) == (["counters"], True, 0)
    assert line["hitm"] == sum(one["hitm"] for one in line["accesses"]) > TURNS
    movers = [one for one in line["accesses"] if one["hitm"] > TURNS * 0.7]
    assert {(one["thread"], one["offset"], one["size"]) for one in movers} == {(1, 0, 8), (2, 16, 8)}
    assert all("work" in one["place"] and "program.c:6" in one["place"] for one in movers)
    text = pfmon("--no-cmd-output", "--cores=2", "--report=c2c", str(together)).stdout
    assert re.search(rf"{line['hitm']} +2 {line['address']:#018x} counters \(false sharing\)", text)
    assert "counters (false sharing)" not in pfmon("--no-cmd-output", "--cores=2", "--report=c2c", str(apart)).stdout


@pytest.mark.slow
def test_answers_of_cores_are_of_loads_that_hit_l3(together: Path) -> None:
    found = counted(together, "--cores=3", "-e", ",".join((*ANSWERS[:3], "MEM_LOAD_RETIRED.L3_HIT")))
    found |= counted(together, "--cores=3", "-e", ANSWERS[3])
    assert sum(found[name] for name in ANSWERS) == found["MEM_LOAD_RETIRED.L3_HIT"] > found[HITM] > TURNS


def test_nehalem_counts_loads_of_lines_that_another_core_has(together: Path) -> None:
    modified, either = "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM", "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM"
    found = counted(together, "--pmu=nehalem", "--cores=2", "-e", f"{modified},{either}")
    assert 2 * TURNS * 0.7 < found[modified] <= found[either]


@pytest.mark.parametrize("machine", ["core2", "nehalem", "skylake", pytest.param("icelake", marks=AVX512)])
def test_one_core_is_what_there_is_without_the_option(together: Path, machine: str) -> None:
    events = (f"--machine={machine}", "--quantum=100", "-e", "cpu-cycles,LLC_MISSES,branch-misses")
    assert counted(together, *events) == counted(together, "--cores=1", *events)


@pytest.mark.slow
def test_several_cores_count_the_same_each_time(together: Path) -> None:
    events = ("--cores=2", "-e", f"{HITM},{CYCLES},LONGEST_LAT_CACHE.REFERENCE")
    assert counted(together, *events) == counted(together, *events)


def test_counts_of_threads_add_up(together: Path) -> None:
    run = json.loads(
        pfmon("--json", "--no-cmd-output", "--cores=2", "--per-thread", "-e", f"{HITM},{CYCLES}", str(together)).stdout
    )
    threads = [{one["name"]: one["count"] for one in thread["events"]} for thread in run["threads"]]
    assert len(threads) == 3
    assert {one["name"]: one["count"] for one in run["events"]} == {
        name: sum(thread[name] for thread in threads) for name in (HITM, CYCLES)
    }
    assert all(thread[HITM] > TURNS * 0.7 for thread in threads[1:])


def test_a_precise_load_says_that_another_core_had_modified_its_line(together: Path) -> None:
    event = "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32:p"
    text = pfmon(
        *("--no-cmd-output", "--cores=2", "-e", event, "--long-smpl-periods=3", str(together)),
    ).stdout
    loads = re.findall(r"load: address=\S+ latency=(\d+) cycles level=L3 snoop=hitm", text)
    assert len(loads) > 10
    assert min(map(int, loads)) >= 76  # snoop.modified of skylake


def test_the_cycles_of_each_core_are_told(together: Path) -> None:
    done = pfmon("--no-cmd-output", "--cores=2", "-e", CYCLES, str(together))
    said = r"--cores: (\d+) cycles until the last core ended; executed: (\d+) on core 0, (\d+) on core 1"
    found = re.search(said, done.stderr)
    assert found
    elapsed, first, other = map(int, found.groups())
    assert max(first, other) <= elapsed <= first + other
    assert abs(first + other - int(done.stdout.split()[0])) <= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cores=0",), "--cores=0: a whole number from 1 to 32 is wanted"),
        (("--cores=two",), "--cores=two: a whole number from 1 to 32 is wanted"),
        (("--cores=33",), "--cores=33: a whole number from 1 to 32 is wanted"),
        (("--cores=2", "--set=core.instructions=none"), "machine.cores has a meaning only with"),
        (("--cores=2", "--set=l3.line=128"), "have lines of different sizes"),
        (("--cores=2", "-e", "CPU_CLK_UNHALTED.THREAD_P", "--event-thresholds=1"), "conditions on single cycles"),
        (("--cores=2", "-e", "MACHINE_CLEARS.MEMORY_ORDERING"), "is counted on one core alone"),
    ],
)
def test_what_is_not_there_is_refused(together: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused("--no-cmd-output", *words, str(together))


@pytest.mark.parametrize(
    ("source", "snoop", "bits"), [(4, "", 0x02), (5, "miss", 0x08), (6, "hit", 0x04), (7, "hitm", 0x10)]
)
def test_perf_has_the_answer_of_another_core(source: int, snoop: str, bits: int) -> None:
    """The encodings of the SDM's table for Sandy Bridge and later; PERF_MEM_SNOOP_* of perf_event.h, from bit 19 on."""
    pmds = dict.fromkeys(PEBS_RECORD, 1) | {PEBS_DATA_SOURCE: source}
    assert PreciseLoads.snoop(pmds) == snoop
    assert load_source(load_of(pmds), pmds) >> 19 & 0x1F == bits
    assert load_of(pmds).level == "L3"
