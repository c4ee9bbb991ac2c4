"""Perf's event names wherever an event is named, on a program for each architecture: they count what the PMU's own
events count, and are printed as they were given."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from command import EXAMPLES, pfmon, refused
from grids import each

import pfmon as library
from pfmon.library.sweep.sweep_plan import read
from pfmon.testing.counted_events import names_of

PROGRAMS = {
    "x86_64/hashmap": {
        "cycles": "UNHALTED_CORE_CYCLES",
        "instructions": "INSTRUCTIONS_RETIRED",
        "branches": "BRANCH_INSTRUCTIONS_RETIRED",
        "branch-misses": "BRANCH_MISSES_RETIRED",
        "cache-misses": "LLC_MISSES",
        "dTLB-load-misses": "DTLB_LOAD_MISSES.WALK_COMPLETED",
        "dTLB-store-misses": "DTLB_STORE_MISSES.WALK_COMPLETED",
        "stalled-cycles-backend": "UOPS_RETIRED.STALL_CYCLES",
    },
    "ia64/hashmap": {
        "cycles": "CPU_CYCLES",
        "instructions": "IA64_INST_RETIRED",
        "L1-dcache-load-misses": "L1D_READ_MISSES_ALL",
        "branch-misses": "BR_MISPRED_DETAIL_ALL_WRONG_PATH",
        "stalled-cycles-frontend": "BACK_END_BUBBLE_FE",
    },
    "ppc64/hashmap": {
        "cpu-cycles": "PROCESSOR_CYCLES",
        "instructions": "INSTRUCTIONS_COMPLETED",
        "branches": "BRANCHES_COMPLETED",
        "L1-icache-load-misses": "ICACHE_MISSES",
        "dTLB-loads": "LOADS_COMPLETED",
    },
}
ON_SKYLAKE = {
    "cycles": "CPU_CLK_UNHALTED.THREAD",
    "instructions": "INST_RETIRED.ANY",
    "branches": "BR_INST_RETIRED.ALL_BRANCHES",
    "branch-misses": "BR_MISP_RETIRED.ALL_BRANCHES",
    "cache-references": "LONGEST_LAT_CACHE.REFERENCE",
    "cache-misses": "LONGEST_LAT_CACHE.MISS",
    "L1-dcache-loads": "MEM_INST_RETIRED.ALL_LOADS",
    "L1-dcache-load-misses": "L1D.REPLACEMENT",
    "L1-dcache-stores": "MEM_INST_RETIRED.ALL_STORES",
    "L1-icache-load-misses": "ICACHE_64B.IFTAG_MISS",
    "iTLB-load-misses": "ITLB_MISSES.WALK_COMPLETED",
}
OF_PROCESSORS = {
    "core2": {
        "L1-dcache-loads": "L1D_CACHE_LD.MESI",
        "L1-dcache-store-misses": "L1D_CACHE_ST.I_STATE",
        "LLC-loads": "L2_LD.SELF.DEMAND.MESI",
        "dTLB-load-misses": "DTLB_MISSES.MISS_LD",
    },
    "nehalem": {
        "L1-dcache-load-misses": "L1D.REPL",
        "LLC-load-misses": "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_MISS",
        "dTLB-store-misses": "MEM_STORE_RETIRED.DTLB_MISS",
        "stalled-cycles-backend": "UOPS_RETIRED.STALL_CYCLES",
    },
}
FUNCTION = "lookup"
OPTIONS = [(), ("--per-function",), ("--per-block",), (f"--annotate={FUNCTION}",)]


def of(program: str, *words: str) -> str:
    """What a count of a program prints, without the program's output."""
    done = pfmon("--no-cmd-output", *words, f"{EXAMPLES}/{program}", "60")
    if "install the package" in done.stderr:
        pytest.skip("qemu-user is not here")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def renamed(text: str, names: Mapping[str, str]) -> list[list[str]]:
    """The words of the lines of a text, with the PMU's names in place of perf's."""
    for name, own in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(f" {name}\n", f" {own}\n").replace(f"{name} ", f"{own} ")
    return [line.split() for line in text.splitlines()]


@each("program", PROGRAMS)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda one: " ".join(one))
def test_they_count_what_the_pmus_own_events_count(program: str, options: tuple[str, ...]) -> None:
    check(program, PROGRAMS[program], *options)


def check(program: str, names: Mapping[str, str], *options: str) -> None:
    """Compare what perf's names print with what the PMU's own print."""
    found, wanted = (of(program, "-e", ",".join(events), "--unlimited", *options) for events in (names, names.values()))
    assert all(f" {name}\n" in found for name in names)
    assert renamed(found, names) == renamed(wanted, names)


@pytest.mark.parametrize("base", ["core2", "nehalem"])
@each("options", OPTIONS)
def test_skylakes_pmu_counts_on_the_machines_of_today(base: str, options: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f'base = "{base}"\n[machine]\nsource = "the test"\npmu = "skylake"\n')
    check("x86_64/hashmap", ON_SKYLAKE, f"--machine={path}", *options)


@pytest.mark.parametrize("machine", OF_PROCESSORS)
def test_they_are_events_of_earlier_processors(machine: str) -> None:
    check("x86_64/hashmap", OF_PROCESSORS[machine], f"--machine={machine}")


def test_each_miss_of_core_2s_first_level_looks_into_its_second() -> None:
    names = "L1-dcache-load-misses,LLC-loads,L1-dcache-store-misses,LLC-stores"
    text = of("x86_64/hashmap", "--machine=core2", "--unlimited", "-e", names)
    loads, looked, stores, owned = (int(line.split()[0]) for line in text.splitlines())
    assert loads == looked > 1 and stores == owned > 1


@pytest.mark.slow
def test_the_architectures_pmu_goes_with_the_machines_that_have_it() -> None:
    for machine in ("core2", "nehalem"):
        own, architectural = (of("x86_64/hashmap", f"--machine={machine}", *words, "-e", "LLC_MISSES")
                              for words in ((), ("--pmu=intel_v2",)))  # fmt: skip
        assert own == architectural
    assert "has the PMU of skylake" in refused("--machine=skylake", "--pmu=intel_v2", f"{EXAMPLES}/x86_64/fib", "3")


@pytest.mark.slow
@each("program", PROGRAMS)
def test_their_samples_are_those_of_the_pmus_own_events(program: str) -> None:
    pairs = list(PROGRAMS[program].items())[:2]
    found, wanted = (
        of(program, "-e", ",".join(events), "--long-smpl-periods=400,", "--smpl-module=inst-hist")
        for events in zip(*pairs, strict=True)
    )
    assert found == wanted and "#count" in found


def test_names_are_printed_with_their_modifiers_and_count_at_their_levels() -> None:
    text = of("ia64/hashmap", "-e", "cycles:u,cycles:uk,cycles:k,CPU-cycles:upp")
    counts = {line.split()[1]: int(line.split()[0]) for line in text.splitlines()}
    assert list(counts) == ["cycles:u", "cycles:uk", "cycles:k", "cpu-cycles:upp"]
    assert counts["cycles:u"] + counts["cycles:k"] == counts["cycles:uk"] and counts["cycles:k"] > 0
    assert counts["cpu-cycles:upp"] == counts["cycles:u"]


@each(
    ("words", "why"),
    [
        (["-e", "instructions:k"], "programs run at level 3 alone"),
        (["-e", "cycles:h"], "nothing runs at a hypervisor's level"),
        (["-e", "cycles:x"], "cycles:X: perf's modifiers are u, k, H and p here"),
        (["-e", "cycles:M"], "cycles: this PMU has no line states"),
        (["-e", "cycels"], "unknown skylake event 'cycels'; nearest: cycles,"),
        (["--pmu=intel_v2", "-e", "dTLB-loads"], "dTLB-loads: this PMU cannot count it: the seven events"),
        (["-e", "cycles:p", "--long-smpl-periods=100", "--smpl-skid=9"], "cycles:p wants samples without a skid"),
        (["-e", "cycles:u", "--priv-levels=u"], "its levels are in --priv-levels"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_line(words: list[str], why: str) -> None:
    assert why in refused(*words, f"{EXAMPLES}/x86_64/fib", "3")


def test_library_results_intervals_and_baselines_have_them(tmp_path: Path) -> None:
    words = [f"{EXAMPLES}/ia64/hashmap", "60"]
    run = library.run(words, events=["cycles", "instructions:u"], stdout=library.DEVNULL)
    assert run.counts.names == ["cycles", "instructions:u"] and run.counts["Cycles"].value
    printed = json.loads(pfmon("--no-cmd-output", "--json", "-e", "cycles,instructions:u", *words).stdout)
    assert [event["name"] for event in printed["events"]] == run.counts.names
    table = pfmon("--no-cmd-output", "--print-interval=1", "-e", "cycles,instructions:u", *words).stdout
    assert table.splitlines()[0].split()[-2:] == ["cycles", "instructions:u"]
    path = tmp_path / "baseline.json"
    assert pfmon(f"--save-baseline={path}", "-e", "cycles,instructions:u", *words).returncode == 0
    assert list(json.loads(path.read_text())["counts"]) == ["cycles", "instructions:u"]
    again = ("--tolerance=1%,cycles=2%", "-e", "cycles,instructions:u", *words)
    assert pfmon(f"--baseline={path}", *again).returncode == 0


def test_triggers_and_patterns_of_names_take_them() -> None:
    own, perfs = (
        pfmon("--no-cmd-output", f"--trigger-event={name}:1000", "-e", "branches", f"{EXAMPLES}/ia64/fib", "9").stdout
        for name in ("ia64_inst_retired", "instructions")
    )
    assert own == perfs != ""


def test_sweeps_and_the_pytest_plugin_take_them(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    program = f'[[program]]\ncommand = ["{EXAMPLES}/ia64/fib", "3"]\n[[machine]]\nname = "itanium2"\n'
    path.write_text(f'events = ["cycles", "instructions:u"]\n{program}')
    (cell,) = read(str(path)).cells
    assert cell.events == ("cycles", "instructions:u")
    path.write_text(f'events = ["L1-dcache-stores"]\n{program}')
    assert "nearest: STORES_RETIRED" in refused("sweep", "--dry-run", str(path))
    assert names_of("CYCLES, l1-dcache-loads:u,llc_misses") == ["cycles", "L1-dcache-loads:u", "LLC_MISSES"]
