"""Real programs that monitor themselves, with glibc and libpfm: what they print is what the architecture decides."""

import re
import subprocess
from pathlib import Path

import pytest
from command import pfmon
from shared_programs import folder, needs, rows

MONITORING = folder("monitoring")
DASH = folder("real") / "dash"
FIB, HASHMAP = (str(Path(__file__).parents[3] / "examples" / "ia64" / name) for name in ("fib", "hashmap"))
NO_COUNTERS = {("itanium", "perf-count"): "perf_event_open: Invalid argument"}
"""Its group has three events, which Itanium counts on PMD4 and PMD5 alone (manual, section 6.2; events-itanium.csv)."""
CASES = [
    (
        *(pmu, program, [pmu if word == "PROCESSOR" else word for word in arguments.split()]),
        NO_COUNTERS.get((pmu, program), expected),
    )
    for program, arguments, processors, expected in rows("monitoring")
    for pmu in processors.split()
]


def libpfm(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """One of libpfm's example programs for Itanium 2, with the PMU."""
    return pfmon("--guest-pmu", str(MONITORING / "libpfm" / name), *words)


@needs("monitoring")
@pytest.mark.parametrize(("pmu", "program", "arguments", "expected"), CASES)
def test_programs_with_known_counts_print_them(pmu: str, program: str, arguments: list[str], expected: str) -> None:
    done = pfmon("--guest-pmu", f"--pmu={pmu}", str(MONITORING / "bin" / program), *arguments)
    decided = [line for line in done.stdout.splitlines() if not line.startswith("~")]
    assert " / ".join(decided) == expected and done.stderr == ""
    assert done.returncode == ("Invalid argument" in expected)


@needs("monitoring")
@pytest.mark.parametrize(("pmu", "program", "arguments", "expected"), [one for one in CASES if one[1] != "ear-chase"])
def test_exact_events_need_no_machine(pmu: str, program: str, arguments: list[str], expected: str) -> None:
    done = pfmon("--guest-pmu=exact", f"--pmu={pmu}", str(MONITORING / "bin" / program), *arguments)
    decided = [line for line in done.stdout.splitlines() if not line.startswith("~")]
    assert " / ".join(decided) == expected and done.stderr == ""


@needs("monitoring")
def test_the_second_one_gets_ebusy() -> None:
    done = pfmon("-e", "nops_retired", "--no-cmd-output", str(MONITORING / "bin" / "self-count"), "itanium2")
    assert done.returncode == 1 and "EBUSY; --guest-pmu gives it to the program" in done.stderr


@needs("monitoring")
def test_libpfm_sees_linuxs_reset_values() -> None:
    done = libpfm("showreset")
    values = dict(re.findall(r"PMC(\d+) (0x\w+)", done.stdout))
    assert len(values) == 16 and values["4"] == "0x800000" and values["13"] == "0x2078fefefefe"


@needs("monitoring")
def test_libpfm_matches_opcodes() -> None:
    # 100 rounds of br.cloop, and nothing else: what the program expects itself.
    assert re.search(
        r"PMD4 +100 IA64_TAGGED_INST_RETIRED_IBRP0_PMC8\ncompiler used br.cloop", libpfm("ita2_opcode").stdout
    )


@needs("monitoring")
@pytest.mark.slow
def test_libpfm_counts_in_a_range_of_code_in_fine_mode() -> None:
    assert "2000000 FP_OPS_RETIRED (expected 2000000)" in libpfm("ita2_irr").stdout


@needs("monitoring")
def test_libpfm_counts_in_a_range_of_data() -> None:
    assert "100000 MISALIGNED_LOADS_RETIRED (expected 100000)" in libpfm("ita2_rr-short").stdout


@needs("monitoring")
def test_libpfm_is_notified_of_every_million_cycles() -> None:
    lines = libpfm("notify_self-short").stdout.splitlines()
    counts = [int(re.fullmatch(rf"Notification {n}: (\d+) IA64_INST_RETIRED", line)[1]) for n, line in enumerate(lines)]  # type: ignore[index]
    # An idle loop of three instructions a cycle: a period has nearly three million, and PMD5 begins anew with each.
    assert len(counts) == 3 and all(2_900_000 < count <= 3_000_000 for count in counts)


@needs("monitoring")
@pytest.mark.slow
def test_libpfm_samples_the_branch_buffer() -> None:
    done = libpfm("ita2_btb")
    entries = re.findall(r"PMD\d+ ?: 0x[0-9a-f]+ b=\d mp=\d", done.stdout)
    assert done.returncode == 0 and len(entries) > 100
    assert all(place in range(8, 16) for place in map(int, re.findall(r"PMD(\d+) ?: 0x", done.stdout)))


@needs("monitoring")
def test_libpfm_counts_the_processor_until_a_key_is_pressed() -> None:
    done = libpfm("syst")
    counts = dict(re.findall(r"CPU0  PMD\d +(\d+) (\w+)", done.stdout))
    assert sorted(counts.values()) == ["CPU_CYCLES", "IA64_INST_RETIRED"] and done.returncode == 0
    assert all(int(count) > 1000 for count in counts)


@needs("monitoring")
def test_programs_repeat_to_the_last_digit() -> None:
    program = str(MONITORING / "bin" / "ear-chase")
    first, second = (pfmon("--guest-pmu", program, "itanium2").stdout for _ in range(2))
    assert first == second and "~ entries" in first


# --- programs that monitor other tasks


def counts_of(text: str) -> dict[str, int]:
    """What libpfm's examples print of each counter, or pfmon itself."""
    return {event: int(count) for count, event in re.findall(r"^(?:PMD\d+)? +(\d+) ([A-Z0-9_]+)$", text, re.M)}


@needs("monitoring")
def test_libpfm_counts_a_command_as_pfmon_does() -> None:
    # From its first instruction, with a machine of its own that begins empty.
    outside = counts_of(pfmon("-e", "cpu_cycles,ia64_inst_retired", HASHMAP).stdout)
    assert counts_of(libpfm("task", HASHMAP).stdout) == outside and len(outside) == 2


@needs("monitoring")
def test_libpfm_samples_a_command() -> None:
    done = libpfm("task_smpl", HASHMAP)
    entries = re.findall(
        r"entry \d+ PID:(\d+) CPU:0 IIP:0x4\w+\n\tOVFL: 4 LAST_VAL: (\d+)\nPMD5  = 0x(\w+)", done.stdout
    )
    cycles = counts_of(pfmon("-e", "cpu_cycles", HASHMAP).stdout)["CPU_CYCLES"]
    assert f"{len(entries)} samples collected" in done.stdout and len({task for task, _, _ in entries}) == 1
    assert 0 <= cycles - sum(int(period) for _, period, _ in entries) < 1_100_000  # the last, unfinished one


@needs("monitoring")
def test_libpfm_multiplexes_a_command() -> None:
    # The task is held at each overflow, until the tool has read its counters and written others.
    done = libpfm("multiplex", "--freq=100000", "-u", HASHMAP)
    rows = re.findall(r"^\d+: +(\d+) +(\d+) +(\d+) (\w+)$", done.stdout, re.MULTILINE)
    scaled = {event: int(total) for _, _, total, event in rows}
    outside = counts_of(pfmon("-e", "cpu_cycles,nops_retired", HASHMAP).stdout)
    assert len(rows) == 13 and all(
        scaled[event] == pytest.approx(outside[event], rel=0.01) for event in ("CPU_CYCLES", "NOPS_RETIRED")
    )
    measured, runs = next((int(row[0]), int(row[1])) for row in rows if row[3] == "CPU_CYCLES")
    assert 0 <= measured - 10_000 * runs < 100 * runs  # a period each


@needs("monitoring")
@needs("real")
@pytest.mark.parametrize(("program", "words"), [("task_attach", ""), ("task_attach_timeout", "1")])
def test_libpfm_attaches_to_a_task_that_runs(program: str, words: str) -> None:
    attach = MONITORING / "libpfm" / program
    done = pfmon("--guest-pmu", str(DASH), "-c", f"{HASHMAP} & {attach} $! {words}; wait")
    counts = counts_of(done.stdout)
    whole = counts_of(pfmon("-e", "cpu_cycles,ia64_inst_retired", HASHMAP).stdout)
    # It misses what the task did before.
    assert sorted(counts) == sorted(whole) and all(0.9 * whole[event] < counts[event] < whole[event] for event in whole)


@needs("monitoring")
@needs("real")
@pytest.mark.parametrize("pmu", ["--guest-pmu", "--guest-pmu=exact"])
def test_libpfm_counts_the_processor_whoever_runs(pmu: str) -> None:
    # Two programs, one after the other, then the key that syst waits for. What forks and ends the two is counted, too.
    syst = MONITORING / "libpfm" / "syst"
    script = f"{{ {FIB} >&2; {HASHMAP} >&2; {HASHMAP} >&2; echo; }} | {syst} IA64_INST_RETIRED"
    counted = re.search(r"CPU0  PMD4 +(\d+) IA64_INST_RETIRED", pfmon(pmu, str(DASH), "-c", script).stdout)
    whole = counts_of(pfmon("-e", "ia64_inst_retired", HASHMAP).stdout)["IA64_INST_RETIRED"]
    assert counted and 2 * whole < int(counted[1]) < 2.2 * whole
