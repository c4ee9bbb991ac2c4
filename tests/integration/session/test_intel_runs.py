"""Runs of an x86-64 program on Intel's PMUs, the architectural one of version 2 if no other is named, from options to
results; what executes it is made up."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fed_engine import FedEngine
from grids import each
from x86_blocks import CALL, JUMP, LENGTH, LOAD, PLAIN, RETURN, STORE, block, table_of

import pfmon
from pfmon.engine import registry
from pfmon.errors import PfmonError
from pfmon.program.elf_machine import EM_X86_64
from pfmon.program.symbols import SymbolTable
from pfmon.stream._stream import InstructionSet
from pfmon.stream.recording.block_records import BlockRecord

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
X86, IA64 = str(EXAMPLES / "x86_64" / "fib"), str(EXAMPLES / "ia64" / "fib")
INSTRUCTIONS, BRANCHES = "INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES"
TAKEN = 1 << 32


def address_of(name: str) -> int:
    symbol = SymbolTable(Path(X86).read_bytes()).find(name)
    assert symbol
    return symbol.address


MAIN, FIB = address_of("main"), address_of("fib")
BLOCKS = [
    block(MAIN, [PLAIN, CALL]),
    block(FIB, [PLAIN, LOAD, STORE, JUMP], conditional=True),
    block(FIB + 4 * LENGTH, [LOAD, RETURN]),
    block(MAIN + 2 * LENGTH, [PLAIN, PLAIN, PLAIN]),
]
CALLS = 50
WORDS = [0, 1, 1 | TAKEN, 2, 3] * CALLS
LENGTHS = [2, 4, 2, 3]
# Of a turn of WORDS: main runs 2 + 3 instructions and 1 branch, fib 4 + 4 + 2 and 3.
BRANCHES_AT = (MAIN + LENGTH, FIB + 3 * LENGTH, FIB + 5 * LENGTH)
ALL_INSTRUCTIONS, ALL_BRANCHES = 15 * CALLS, 4 * CALLS


def path_of(words: Sequence[int], blocks: Sequence[BlockRecord] = BLOCKS) -> list[int]:
    """The instructions that retire."""
    return [blocks[word & 0xFF].ip + LENGTH * i for word in words for i in range(LENGTHS[word & 0xFF])]


@pytest.fixture(autouse=True)
def made_up_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of what executes x86-64 programs, and of what loads them."""
    monkeypatch.setattr("pfmon.program.elf.EM_IA_64", EM_X86_64, raising=False)
    monkeypatch.setattr(registry, "start", lambda wanted: FedEngine(table_of(BLOCKS), [WORDS], False))


def run(events: str | list[list[str]], **options: Any) -> pfmon.Run:
    if "machine" not in options:
        options.setdefault("pmu", "intel_v2")
    return pfmon.run([X86], events=events, stdout=pfmon.DEVNULL, **options)


def counts(events: str, **options: Any) -> dict[str, Any]:
    done = run(events, **options)
    return {count.name: count.value for count in done.counts}


@pytest.mark.parametrize("pmu", ["intel_v1", "intel_v2", "skylake"])
def test_instructions_and_branches_are_counted(pmu: str) -> None:
    assert counts(f"{INSTRUCTIONS},{BRANCHES}", pmu=pmu) == {INSTRUCTIONS: ALL_INSTRUCTIONS, BRANCHES: ALL_BRANCHES}


def test_a_run_says_which_pmu_and_counters_it_used() -> None:
    done = run("instructions_retired,branch_instructions_retired")
    assert done.pmu == "intel_v2"
    assert [(count.name, count.pmd, count.value) for count in done.counts] == [
        ("INSTRUCTIONS_RETIRED", 32, ALL_INSTRUCTIONS),
        ("BRANCH_INSTRUCTIONS_RETIRED", 0, ALL_BRANCHES),
    ]
    (made,) = done.programming.to_dict()["programming"][0]["pmus"]
    assert [monitor["register"] for monitor in made["monitors"]] == ["IA32_FIXED_CTR0", "IA32_PMC0"]
    assert int(made["registers"]["ia32_perf_global_ctrl"], 16) == 1 | 1 << 32


def test_one_pmu_has_few_counters_and_many_have_enough() -> None:
    names = [INSTRUCTIONS, BRANCHES, BRANCHES, BRANCHES]
    with pytest.raises(PfmonError, match="events_need_free_counters"):
        run(",".join(names))
    done = run(",".join(names), unlimited=True)
    assert [count.value for count in done.counts] == [ALL_INSTRUCTIONS, *[ALL_BRANCHES] * 3]


def test_event_sets_take_turns_after_so_many_instructions() -> None:
    turn = 100
    done = run([[INSTRUCTIONS], [BRANCHES]], switch_timeout=turn / 1e6)
    path = path_of(WORDS)
    branches = [address in BRANCHES_AT for address in path]
    turns = [number // turn % 2 for number in range(len(path))]
    estimates = [count.estimate for count in done.counts]
    assert [estimate and estimate.raw for estimate in estimates] == [
        turns.count(0),
        sum(branch and turn == 1 for branch, turn in zip(branches, turns, strict=True)),
    ]
    assert done.counts[0].value == ALL_INSTRUCTIONS


def test_a_trigger_is_any_instructions_address() -> None:
    start = FIB + LENGTH  # the second instruction of the function, at no multiple of 16
    assert start % 16
    found = counts(INSTRUCTIONS, trigger_code_start_addresses=[f"{start:#x}"])
    assert found == {INSTRUCTIONS: ALL_INSTRUCTIONS - path_of(WORDS).index(start)}


@each("pmu", ["intel_v1", "intel_v2"])
@each("times", [1, 2, 77])
def test_counting_starts_when_a_branch_has_retired_so_often(pmu: str, times: int) -> None:
    path = path_of(WORDS)
    nth = [n for n, address in enumerate(path) if address in BRANCHES_AT][times - 1]
    found = counts(INSTRUCTIONS, pmu=pmu, trigger_event=f"{BRANCHES}:{times}")
    assert found == {INSTRUCTIONS: len(path) - nth - 1}


def test_functions_and_instructions_have_their_counts() -> None:
    done = run(f"{INSTRUCTIONS},{BRANCHES}", per_function=True, per_block=True)
    assert done.functions and done.blocks
    assert {row.name: tuple(row.values) for row in done.functions} == {
        "main": (5 * CALLS, CALLS),
        "fib": (10 * CALLS, 3 * CALLS),
    }
    assert {row.address: row.name for row in done.blocks} == {
        MAIN: "main",
        MAIN + 2 * LENGTH: f"main+{2 * LENGTH:#x}",
        FIB: "fib",
        FIB + 4 * LENGTH: f"fib+{4 * LENGTH:#x}",
    }


@pytest.mark.parametrize("period", [1, 7, 113])
def test_samples_are_of_every_nth_instruction(period: int) -> None:
    done = run(INSTRUCTIONS, long_smpl_periods=period)
    path = path_of(WORDS)
    stamps = range(period, len(path) + 1, period)
    assert [(one.iip, one.stamp, one.overflowed, one.last) for one in done.samples] == [
        (path[stamp - 1], stamp, (32,), period) for stamp in stamps
    ]
    assert [count.value for count in done.counts] == [ALL_INSTRUCTIONS]


def test_samples_of_branches_have_the_other_counter_and_the_calls() -> None:
    done = run(f"{BRANCHES},{INSTRUCTIONS}", long_smpl_periods="3", smpl_stacks=True)
    path = path_of(WORDS)
    branches = [n for n, address in enumerate(path) if address in BRANCHES_AT]
    third = branches[2::3]
    assert [(one.iip, one.stamp) for one in done.samples] == [(path[n], n + 1) for n in third]
    assert [dict(one.pmds) for one in done.samples] == [{32: n + 1} for n in third]
    inside = [path[n] != MAIN + LENGTH for n in third]  # the call itself is made by main, outside of it
    assert [one.calls for one in done.samples] == [(MAIN + LENGTH,) if one else () for one in inside]


def test_counters_that_wrap_together_are_one_sample() -> None:
    done = run(f"{INSTRUCTIONS},{BRANCHES}", long_smpl_periods="2,1", pmu="intel_v1")
    # main's call is the 2nd instruction and the 1st branch.
    assert done.samples[0].overflowed == (0, 1)
    assert (done.samples[0].iip, done.samples[0].stamp) == (MAIN + LENGTH, 2)


@pytest.mark.parametrize("controls", [{"freeze_perfmon_on_pmi": 1}, {"pc": 1}, {"int": 1}], ids=str)
def test_controls_change_what_happens_at_overflow_and_no_count(controls: dict[str, int]) -> None:
    done = run(INSTRUCTIONS, controls=controls, long_smpl_periods=10)
    assert [count.value for count in done.counts] == [ALL_INSTRUCTIONS]
    assert len(done.samples) == ALL_INSTRUCTIONS // 10


def test_samples_are_exact_in_truth() -> None:
    done = run(INSTRUCTIONS, long_smpl_periods=1, smpl_truth=True)
    assert done.exact == {address: path_of(WORDS).count(address) for address in set(path_of(WORDS))}


@each(
    ("events", "options", "text"),
    [
        ("LLC_MISSES", {}, "want the addresses of memory accesses"),
        ("UNHALTED_REFERENCE_CYCLES", {"event_thresholds": "2"}, "look at cycles of the core"),
        (INSTRUCTIONS, {"controls": {"nofield": 1}}, "no control 'nofield'"),
        (INSTRUCTIONS, {"controls": {"int": 2}}, "too wide"),
        (INSTRUCTIONS, {"controls": "int=1"}, "a mapping such as"),
        (INSTRUCTIONS, {"irange": "main"}, "no code ranges"),
        (INSTRUCTIONS, {"drange": "0-8"}, "no data ranges"),
        (INSTRUCTIONS, {"levels": "k"}, "level 3"),
        (INSTRUCTIONS, {"insecure": True}, "--insecure applies to the user mask"),
        (INSTRUCTIONS, {"long_smpl_periods": 5, "smpl_skid": 3}, "want the addresses of memory accesses"),
        (INSTRUCTIONS, {"trigger_data_start_addresses": 0x404000}, "data triggers.*an x86-64 program whose accesses"),
        (INSTRUCTIONS, {"long_smpl_periods": 5, "controls": {"int": 0}}, "--controls=int=0: .* no samples"),
        (INSTRUCTIONS, {"long_smpl_periods": 5, "extra_smpl_pmds": "4"}, "no PMD4; it has 0, 1, 32, 33, 34"),
        ("ia64_inst_retired", {}, "unknown intel_v2 event"),
        (
            INSTRUCTIONS,
            {"pmu": "itanium2"},
            "--pmu=itanium2: .* x86-64 program; PMUs for it: intel_v1, intel_v2, core2",
        ),
        (
            INSTRUCTIONS,
            {"pmu": "ppc604e"},
            "PowerPC programs, .* x86-64 program; PMUs for it: intel_v1, intel_v2, core2",
        ),
        (INSTRUCTIONS, {"machine": "montecito"}, "--pmu=montecito: .* PMUs for it: intel_v1, intel_v2, core2"),
    ],
)
def test_what_does_not_go_is_refused_in_one_line(events: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises(PfmonError, match=text) as caught:
        run(events, **options)
    assert "\n" not in str(caught.value)


def test_an_ia64_program_does_not_run_on_intels_pmu() -> None:
    with pytest.raises(PfmonError, match=r"--pmu=intel_v2: .* an IA-64 program; PMUs for it: itanium, itanium2, monte"):
        pfmon.run([IA64], events=INSTRUCTIONS, pmu="intel_v2")


def test_the_instruction_set_is_read_from_the_header(tmp_path: Path) -> None:
    assert registry.instruction_set_of(X86) == InstructionSet.X86_64
    assert registry.instruction_set_of(IA64) == InstructionSet.IA64
    (tmp_path / "short").write_bytes(b"\x7fELF\2\1")
    (tmp_path / "script").write_text("#!/bin/sh\necho this is no ELF file at all\n")
    other = bytearray(Path(X86).read_bytes()[:64])
    other[18:20] = (183).to_bytes(2, "little")  # AArch64
    (tmp_path / "other").write_bytes(other)
    for path in ("short", "script", "other", "missing", "."):
        assert registry.instruction_set_of(str(tmp_path / path)) is None


def test_a_recording_is_counted_on_the_programs_pmu(tmp_path: Path) -> None:
    path = tmp_path / "x86.rec"
    pfmon.record(path, [X86], stdout=pfmon.DEVNULL)
    again = pfmon.replay(path, events=f"{INSTRUCTIONS},{BRANCHES}")
    assert again.pmu == "skylake"
    assert [count.value for count in again.counts] == [ALL_INSTRUCTIONS, ALL_BRANCHES]
    with pytest.raises(PfmonError, match=r"--pmu=itanium: .* x86-64 program"):
        pfmon.replay(path, events="ia64_inst_retired", pmu="itanium")
