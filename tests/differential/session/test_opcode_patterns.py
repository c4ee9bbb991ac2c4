"""Matchers by mnemonic, against encodings that a disassembler of its own has named, and pfmon's own example."""

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from command import example, pfmon, refused
from grids import each

from pfmon.errors import BadValueError, UnknownNameError
from pfmon.isa.ia64.opcode_masks import families, is_a
from pfmon.pmu.model.request import OpcodeMatch
from pfmon.session.run.opcode_patterns import pattern

DATA = Path(__file__).parents[2] / "data" / "engine"
NAMES = [
    "adds", "br.call", "br.cloop", "br.ret", "chk.a", "cmp.eq", "fma", "ld8", "ld8.s", "lfetch", "mov", "movl",
    "nop.i", "shladd", "st8.spill", "xma.l",
]  # fmt: skip


@cache
def known() -> list[tuple[str, int, str]]:
    """Slot type, encoding and mnemonic."""
    return [*_read("rows.tsv.gz"), *_read("compiled.tsv.gz")]


def _read(name: str) -> Iterator[tuple[str, int, str]]:
    with gzip.open(DATA / name, "rt") as lines:
        for line in lines:
            unit, encoding, *_, text = line.rstrip("\n").split("\t")
            mnemonic = text[text.find(") ") + 2 if text.startswith("(p") else 0 :].split(" ")[0]
            mnemonic = re.sub(r"^(brl?)\.(few|many)", r"\1.cond.sptk.\2", mnemonic)  # as assemblers abbreviate it
            if mnemonic:  # reserved encodings have none
                yield {"X": "i"}.get(unit, unit.lower()), int(encoding, 16), mnemonic


def matches(matcher: OpcodeMatch, bits: int, slot: str, encoding: int) -> bool:
    """Pfmon on Itanium 2, section 4.1: match bits 12:0 and 26:13 are opcode bits 12:0 and 40:27."""
    seen = encoding if bits == 41 else (encoding >> 27 & 0x3FFF) << 13 | encoding & 0x1FFF
    return slot in matcher.slots and not (seen ^ matcher.match) & ~matcher.mask & (1 << bits) - 1


@pytest.mark.slow
@each("bits", [27, 41])
@each("name", NAMES)
def test_pattern_lets_its_mnemonic_pass_and_of_others_those_that_it_names(name: str, bits: int) -> None:
    matcher, others, _ = pattern(name, "", bits)
    own = 0
    for slot, encoding, mnemonic in known():
        if is_a(mnemonic, name):
            assert matches(matcher, bits, slot, encoding), (mnemonic, hex(encoding))
            own += 1
        elif matches(matcher, bits, slot, encoding):
            assert mnemonic in others, (mnemonic, hex(encoding))
    assert own


@pytest.mark.slow
@each("name", NAMES)
def test_what_a_pattern_names_besides_has_its_bits(name: str) -> None:
    matcher, others, _ = pattern(name, "", 41)
    passing = {mnemonic.split(".")[0] for slot, code, mnemonic in known() if matches(matcher, 41, slot, code)}
    assert {other.split(".")[0] for other in others} <= passing


@pytest.mark.slow
def test_br_cloop_is_the_pattern_of_pfmons_page() -> None:
    # Section 4.3 has 0x2000140:0x7ffe3f; bits 5:0, which it ignores, are 0 in every br.cloop.
    assert pattern("br.cloop", "", 27)[:2] == (OpcodeMatch("b", 0x2000140, 0x7FFE00), ())
    count = "ia64_tagged_inst_retired_ibrp0_pmc8"
    runs = [
        pfmon("--no-cmd-output", f"--opc-match8={text}", "-e", count, example("noploop"), "1000")
        for text in ("br.cloop", "b:BR.CLOOP", ":0x2000140:0x7ffe3f")
    ]
    assert [(run.returncode, run.stderr) for run in runs] == [(0, "")] * 3
    assert len({run.stdout for run in runs}) == 1 and int(runs[0].stdout.split()[0]) >= 1000


@pytest.mark.slow
def test_what_is_not_exact_is_said_with_what_passes_too() -> None:
    words = ("--no-cmd-output", "--opc-match8=adds", "-e", "nops_retired", example("noploop"), "10")
    assert pfmon(*words).stderr == "pfmon: --opc-match8=adds: its pattern cannot be exact, it lets pass mov too\n"
    count = "ia64_tagged_inst_retired_ibrp1_pmc34_35"
    shown = pfmon("--check-events-only", "-v", "--pmu=montecito", "--opc-match34=m:ld8.s", "-e", count).stdout
    assert shown.startswith("opc-match34 for ld8.s is m:0x81c0000000:0x303fffffff\n")


def test_slot_types_limit_a_mnemonic() -> None:
    assert pattern("add", "", 27).matcher.slots == "mi"
    assert pattern("add", "i", 27).matcher.slots == "i"
    with pytest.raises(BadValueError, match="slots of type b, not mi"):
        pattern("br.cloop", "mi", 27)


@pytest.mark.slow
def test_unknown_mnemonic_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"br\.cloop"):
        pattern("br.clop.sptk.few", "", 27)
    assert "br.cloop" in refused("--opc-match8=br.clop", "-e", "nops_retired", example("noploop"), "10")
    assert "mifb" in refused("--opc-match8=b:0x1", "-e", "nops_retired", example("noploop"), "10")


def test_others_are_named_briefly() -> None:
    assert families(["ld8.s.nt1", "ld8.s.nta", "st8", "st8.nta"], "ld8.a") == "ld8.s.nt1, ld8.s.nta, st8"
    assert families(["a.b", "a.c", "b", "c", "d", "e", "f", "g"], "x") == "a, b, c, d, e, f and 1 more"
