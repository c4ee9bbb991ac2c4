"""Ranges, matchers and levels in runs: noploop's function by hand, and the relations of pfmon's page, section 8.

noploop(n) lies at 0x4000000000000280-0x40000000000002f0. Before its loop it has four bundles with 7 nops among
their 12 instructions, in the loop's two bundles 5 nops and br.cloop, after it one bundle with one nop.
"""

import re

from command import example, pfmon

FUNCTION = "--irange=0x4000000000000280-0x40000000000002f0"
LOOP = "--checkpoint-func=0x40000000000002c0"
NOPLOOP = (example("noploop"), "1000")


def counts(*words: str) -> list[int]:
    """The counts of a run of noploop 1000."""
    done = pfmon("--no-cmd-output", *words, *NOPLOOP)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in re.findall(r"^ *(\d+) [A-Z]", done.stdout, re.M)]


def test_inside_is_what_the_function_retires() -> None:
    assert counts(FUNCTION, "-e", "ia64_inst_retired,nops_retired") == [12 + 6 * 1000 + 3, 7 + 5 * 1000 + 1]


def test_inside_and_outside_are_all() -> None:
    events = ("-e", "ia64_inst_retired,nops_retired")
    inside, outside, everything = counts(FUNCTION, *events), counts(FUNCTION, "--inverse", *events), counts(*events)
    assert [a + b for a, b in zip(inside, outside, strict=True)] == everything


def test_a_checkpoint_counts_three_for_each_execution() -> None:
    assert counts(LOOP, "-e", "ia64_inst_retired") == [3 * 1000]


def test_an_opcode_match_in_a_range_finds_the_loops_branch() -> None:
    matcher = "--opc-match8=:0x2000140:0x7ffe3f"  # br.cloop
    assert counts(matcher, FUNCTION, "-e", "ia64_tagged_inst_retired_ibrp0_pmc8") == [1000]


def test_a_derived_event_with_opcode_matchers_counts_its_checks() -> None:
    # epic executes two chk.s, of which one fails.
    done = pfmon("--no-cmd-output", "-e", "ctrl_spec_miss_ratio", example("epic"))
    assert done.stdout.split() == ["0.5", "CTRL_SPEC_MISS_RATIO"]


def test_verbose_goes_to_standard_error() -> None:
    done = pfmon("-v", "--no-cmd-output", FUNCTION, "-e", "nops_retired", *NOPLOOP)
    assert done.stderr.startswith("irange is [0x4000000000000280-0x40000000000002f0)=112 bytes\n")
    assert "2 register pair(s), fine_mode\nstart offset: -0x0 end_offset: +0x10\nbrp0: " in done.stderr
    assert done.stdout == f"{5008:>26} NOPS_RETIRED\n"
