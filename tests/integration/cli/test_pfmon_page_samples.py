"""The samples of pfmon's page on Itanium 2 (sections 5, 6, 11) on example programs: its commands, fields and form.

A form is a line of the page with what differs from run to run as a pattern.
"""

import re

import pytest
from command import example, pfmon
from grids import first_quick

HEAD = r"entry \d+ PID:1000 TID:1000 CPU:0 STAMP:0x[0-9a-f]+ IIP:0x[0-9a-f]{16} OVFL:4 LAST_VAL:{period} SET:0"
ADDRESS = r"0x[0-9a-f]{16}"
DATA = [rf"PMD2  : miss address={ADDRESS}"]
INSTRUCTION = [rf"PMD17 : valid=Y, instr address={ADDRESS}"]
CACHE = [*DATA, r"PMD3  : valid=Y, latency=\d+ cycles, latency overflow=N", *INSTRUCTION]
CHASE, HASHMAP = (example("chase"), "4096", "2000"), (example("hashmap"), "300")
SECTION_5 = [
    ("--smpl-module=detailed-ia64 --long-smpl-periods=200 -e DATA_EAR_CACHE_LAT4", 200, CHASE, CACHE),
    ("--long-smpl-periods=20 -e DATA_EAR_TLB_VHPT", 20, CHASE, [*DATA, "PMD3  : valid=Y, TLB:VHPT", *INSTRUCTION]),
    (
        "--long-smpl-periods=1 -e L1I_EAR_TLB_L2TLB",
        *(1, HASHMAP, [rf"PMD0  : valid=Y, cache line {ADDRESS}, TLB:L2TLB"]),
    ),
    (
        "--long-smpl-periods=5 -e L1I_EAR_CACHE_LAT8",
        *(5, HASHMAP),
        [rf"PMD0  : valid=Y, cache line {ADDRESS}", r"PMD1  : latency=\d+ cycles, latency overflow=N"],
    ),
]


def printed(*words: str) -> list[str]:
    done = pfmon("--no-cmd-output", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "period", "command", "form"), first_quick(SECTION_5), ids=[case[0] for case in SECTION_5]
)
def test_section_5(words: str, period: int, command: tuple[str, ...], form: list[str]) -> None:
    lines = [line.strip() for line in printed(*words.split(), "--", *command)]
    whole = [HEAD.replace("{period}", str(period)), *form]
    assert lines and len(lines) % len(whole) == 0
    for number, line in enumerate(lines):
        assert re.fullmatch(whole[number % len(whole)], line), line


@pytest.mark.slow
def test_section_5_latencies_filter_what_is_captured() -> None:
    for least in (4, 8, 16):
        lines = printed("--long-smpl-periods=1", "-e", f"DATA_EAR_CACHE_LAT{least}", "--", example("hashmap"), "300")
        found = [int(number) for number in re.findall(r"latency=(\d+) cycles", "\n".join(lines))]
        assert found and min(found) >= least


SOURCE = [
    rf"PMD(\d+) *: {ADDRESS} b=1 mp=[01] bru=[01] b1=[01] valid=y",
    rf"source addr={ADDRESS}",
    "taken=[yn] prediction=(success|FE failure|BE failure)",
]
TARGET = [rf"PMD(\d+) *: {ADDRESS} b=0 mp=1 bru=0 b1=0 valid=y", rf"target addr={ADDRESS}"]


def test_section_6_branches_in_order_of_occurrence() -> None:
    lines = [line.strip() for line in printed("--long-smpl-periods=50", "-e", "branch_event", "--", *HASHMAP)]
    entries = "\n".join(lines).split("entry ")[1:]
    assert len(entries) > 50
    for entry in entries:
        head, *rest = entry.splitlines()
        assert re.fullmatch(HEAD.replace("{period}", "50"), f"entry {head}")
        numbers = []
        while rest:
            form = SOURCE if " b=1 " in rest[0] else TARGET
            assert all(re.fullmatch(one, line) for one, line in zip(form, rest, strict=False)), rest[:3]
            numbers.append(int(rest[0][3:].split()[0]))
            rest = rest[len(form) :]
        assert 2 <= len(numbers) <= 8
        first = numbers[0] - 8
        assert numbers == [8 + (first + place) % 8 for place in range(len(numbers))]


HEADER = [
    r"# total_samples \d+",
    "# {view} view",
    "# sorted by count",
    "# showing per {what}",
    r"# L2   : +\d+ cycles load latency",
    r"# L3   : +\d+ cycles load latency",
]
SHARES = [
    "# %L2  : percentage of L1 misses that hit L2",
    "# %L3  : percentage of L1 misses that hit L3",
    "# %RAM : percentage of L1 misses that hit memory",
]
PERCENT = r" *\d+\.\d\d%"
ROW = rf" *\d+ {PERCENT} {PERCENT} {PERCENT} {PERCENT} {PERCENT} 0x[0-9a-f]+"
VIEWS = [
    ("", "instruction addr", "distinct value", r"#count +%self +%cum +%L2 +%L3 +%RAM +instruction addr", ROW),
    ("--smpl-show-func", "function addr", "function histogram", r"#count .* function addr", ROW),
    ("--smpl-data-view", "data addr", "distinct value", r"# #count +%self +%cum +%L2 +%L3 +%RAM +data addr", ROW),
    (
        "--smpl-level-view",
        *("level", "distinct value", r"# #count +%self +%cum +lat\(cycles\) lat\(ns\)"),
        rf" *\d+ {PERCENT} {PERCENT} +\d+ +\d+",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("option", "view", "what", "columns", "row"), VIEWS, ids=[case[1] for case in VIEWS])
def test_section_11(option: str, view: str, what: str, columns: str, row: str) -> None:
    words = "--resolv --smpl-module=dear-hist --smpl-show-top=10 -edata_ear_cache_lat4 --long-smpl-periods=20"
    lines = printed(*words.split(), "--smpl-periods-random=0xf:5", *option.split(), "--", *CHASE)
    form = [*HEADER, *([] if "level" in view else SHARES), columns]
    for wanted, line in zip(form, lines, strict=False):
        assert re.fullmatch(wanted.replace("{view}", view).replace("{what}", what), line), line
    rows = lines[len(form) :]
    assert 0 < len(rows) <= 10
    assert all(re.fullmatch(rf"{row}( .*)?", line) for line in rows), rows
    counts = [int(line.split()[0]) for line in rows]
    assert counts == sorted(counts, reverse=True)
