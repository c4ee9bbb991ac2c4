"""The examples of pfmon's page on Itanium 2, on programs of the same shape: as they are written there."""

import re

import pytest
from command import example, pfmon, refused

NOPLOOP, ARRAYS = example("noploop"), example("arrays")


def ran(*words: str) -> tuple[list[int], str]:
    """Counts, and what --verbose said."""
    done = pfmon("--no-cmd-output", *words)
    assert done.returncode == 0, done.stderr
    return [int(count) for count in re.findall(r"^ *(\d+) [A-Z]", done.stdout, re.M)], done.stderr


def test_section_4_3_counts_br_cloop() -> None:
    (counts, _) = ran("--opc-match8=:0x2000140:0x7ffe3f", "-e", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", NOPLOOP, "2134")
    assert 2134 <= counts[0] < 2134 + 50  # the loop, and those of the library


@pytest.mark.slow
def test_section_7_3_instruction_sets_event_by_event() -> None:
    for event in ("l2_misses", "nops_retired"):
        (ia32, ia64), _ = ran("--insn-sets=ia32,ia64", "-e", f"{event},{event}", NOPLOOP, "10")
        assert ia32 == 0 < ia64
        (both, alone), _ = ran("--insn-sets=,ia64", "-e", f"{event},{event}", NOPLOOP, "10")
        assert both == alone == ia64
        (first, second), _ = ran("--insn-sets=ia32", "-e", f"{event},{event}", NOPLOOP, "10")
        assert (first, second) == (0, ia64)


def test_section_8_2_fine_mode_is_shown_with_its_bleed() -> None:
    _, said = ran("--verbose", "--irange=0x1000-0x1590", "-e", "ia64_inst_retired", NOPLOOP, "1")
    for line in (
        "irange is [0x1000-0x1590)=1424 bytes",
        "[0x1000-0x1590): 2 register pair(s), fine_mode",
        "start offset: -0x0 end_offset: +0x10",
        "brp0:  db0: 0x0000000000001000 db1: plm=0x8 mask=",
        "brp2:  db4: 0x0000000000001590 db5: plm=0x8 mask=",
    ):
        assert line in said


def test_section_8_3_a_function_and_an_event_twice() -> None:
    counts, said = ran("--irange=main", "--verbose", "-eloads_retired,nops_retired,loads_retired", NOPLOOP, "1000")
    assert counts[0] == counts[2] and counts[1]
    assert "plm=0x8" in said
    assert "section 8.3" in refused("--irange=main", "--priv-levels=u", "-e", "nops_retired", NOPLOOP, "1")


@pytest.mark.slow
def test_section_8_4_inside_and_outside_are_the_total() -> None:
    (total,), _ = ran("-enops_retired", NOPLOOP, "100000")
    (inside,), _ = ran("--irange=noploop", "-enops_retired", NOPLOOP, "100000")
    (outside,), _ = ran("--inverse", "--irange=noploop", "-enops_retired", NOPLOOP, "100000")
    assert inside + outside == total
    assert 500_000 < inside < 500_010


def test_section_8_5_loads_from_an_array_in_a_function() -> None:
    (loads,), said = ran("--verb", "--irange=doit", "--drange=B", "-e", "loads_retired", ARRAYS, "10")
    assert loads == 10 * 4096
    for what, kind in {"doit": "code", "B": "data"}.items():
        assert re.search(rf"^symbol {what} \({kind}\): \[0x[0-9a-f]+-0x[0-9a-f]+\)=\d+ bytes$", said, re.M)
    assert re.search(r"^drange is .*=32768 bytes$", said, re.M)


def test_section_8_6_a_checkpoint_counts_three_a_call() -> None:
    # fib(n - 1) is a call, fib(n - 2) the next round of a loop: calls(4) = 1 + calls(3) + calls(1) = 1 + 3 + 1.
    for number, calls in {"2": 2, "4": 5}.items():
        (count,), said = ran("--verb", "--checkpoint-func=fib", "-e", "ia64_inst_retired", example("fib"), number)
        assert count == 3 * calls
        assert "1 register pair(s)\nstart offset: -0x0 end_offset: +0x0\n" in said
    assert "--irange" in refused("--checkpoint-func=doit", "--irange=main", "-e", "ia64_inst_retired", ARRAYS, "1")
