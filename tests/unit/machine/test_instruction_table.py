"""Instruction tables: that they can be read, and what they say of single instructions, which is published."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from grids import each
from x86_code import ASSEMBLES, describer, machine_code, name_of, names

from pfmon.errors import PfmonError
from pfmon.machine.config.core_timings import CoreKind, CoreTimings, numbers_of, ports_of
from pfmon.machine.config.instruction_table import COLUMNS, TABLES, InstructionKind, InstructionTable, Ports
from pfmon.machine.config.machine_config import load
from pfmon.session.run.machine_run import machine_of
from pfmon.stream._stream import AccessKind, BlockTable, InstructionSet

SKYLAKE = Ports(0xFF, 0b1100, 0b1000_1100, 0b1100, 1 << 4, 0b1100)
READS, WRITES, BOTH = int(AccessKind.READ), int(AccessKind.WRITE), int(AccessKind.READ_WRITE)


def table(name: str) -> InstructionTable:
    return InstructionTable(name, ports_of(load(name)))


@pytest.mark.slow
@each("name", TABLES)
def test_every_row_has_instructions_that_exist_and_a_source(name: str) -> None:
    known = names()
    for row in table(name).rows:
        assert row.source, row
        for pattern in row.mnemonics:
            assert any(fnmatchcase(mnemonic, pattern) for mnemonic in known), (row.line, pattern)


@each("name", TABLES)
def test_a_row_has_as_many_fused_uops_as_it_can(name: str) -> None:
    """A µop that is dispatched is at most two that are executed, and there is none without; Zen 4's of 512 bits are two
    halves, and may load."""
    most = 3 if name == "zen4" else 2
    for row in table(name).rows:
        assert row.uops >= 1, row
        if not row.kind & (InstructionKind.MICROCODE | InstructionKind.STRING) and "gather" not in row.mnemonics[0]:
            assert len(row.ports) <= most * row.uops, row
            assert row.latency or not row.divider, row


@each("name", TABLES)
def test_any_instruction_has_a_row(name: str) -> None:
    one = table(name)
    assert one.rows[-1].mnemonics == ("*",)
    assert one.timing_of("unheard", 0).line == one.rows[-1].line
    assert one.unlisted == {"unheard"}


CASES = {
    "add rax, rbx": (0, "fused 1 ports p0156 latency 1"),
    "add rax, [rbx]": (READS, "fused 1 ports p0156 load latency 1"),
    "add [rbx], rax": (BOTH, "fused 2 ports p0156 load store p237 latency 1"),
    "add [rbx + rcx], rax": (BOTH, "fused 2 ports p0156 load store p23 latency 1"),
    "mov rax, rbx": (0, "fused 1 move"),
    "mov rax, rax": (0, "fused 1 ports p0156 latency 1"),
    "mov rax, [rbx]": (READS, "fused 1 load"),
    "mov [rbx], eax": (WRITES, "fused 1 store p237"),
    "xor eax, eax": (0, "fused 1 zero"),
    "xor eax, ebx": (0, "fused 1 ports p0156 latency 1"),
    "imul rax, rbx": (0, "fused 1 ports p1 latency 3"),
    "mul rbx": (0, "fused 2 ports p1 p5 latency 3 second 4"),
    "lea rax, [rbx + rcx]": (0, "fused 1 ports p15 latency 1"),
    "lea rax, [rbx + rcx + 8]": (0, "fused 1 ports p1 latency 3"),
    "vaddps ymm0, ymm1, [rax]": (READS, "fused 1 ports p01 load latency 4"),
    "vaddps ymm0, ymm1, [rax + rbx]": (READS, "fused 2 ports p01 load latency 4"),
    "addps xmm0, [rax + rbx]": (READS, "fused 1 ports p01 load latency 4"),
    "vfmadd231ps ymm0, ymm1, [rax + rbx]": (READS, "fused 1 ports p01 load latency 4"),
    "pshufd xmm0, [rax], 3": (READS, "fused 2 ports p5 load latency 1"),
    "divsd xmm0, xmm1": (0, "fused 1 ports p0 latency 14 divider 4"),
    **{f"cmp{of}ps xmm0, xmm1": (0, "fused 1 ports p01 latency 4") for of in ("eq", "lt", "le", "neq", "nle", "ord")},
    "cmpneqsd xmm0, xmm1": (0, "fused 1 ports p01 latency 4"),
    "push rax": (WRITES, "fused 1 store p237 stack"),
    "pop rax": (READS, "fused 1 load stack"),
    "shl eax, cl": (0, "fused 3 ports p06 p06 p06 latency 2"),
    "shl eax, 3": (0, "fused 1 ports p06 latency 1"),
    "cmovbe eax, ebx": (0, "fused 2 ports p06 p06 latency 2"),
    "cmovb eax, ebx": (0, "fused 1 ports p06 latency 1"),
    "vpxor ymm1, ymm2, ymm2": (0, "fused 1 zero"),
    "fld qword ptr [rax]": (READS, "fused 1 load top-1"),
    "faddp": (0, "fused 1 ports p5 latency 3 top+1"),
    "lock xadd [rbx], eax": (BOTH, "fused 9 microcoded"),
}
"""Instruction -> access to its operand in memory, and what uops.info's measurements of Skylake are."""


OF_ICELAKE = {
    "add [rbx + rcx], rax": (BOTH, "fused 2 ports p0156 load store p78 latency 1"),
    "mov rax, rbx": (0, "fused 1 ports p0156 latency 1"),
    "mov rax, [rbx]": (READS, "fused 1 load"),
    "mov [rbx], rax": (WRITES, "fused 1 store p78"),
    "movzx eax, bl": (0, "fused 1 ports p0156 latency 1"),
    "movzx eax, byte ptr [rbx]": (READS, "fused 1 load"),
    "lea rax, [rbx + rcx + 8]": (0, "fused 1 ports p0156 latency 1"),
    "lea rax, [rbx + rcx * 4 + 8]": (0, "fused 1 ports p15 latency 1"),
    "div ecx": (0, "fused 4 ports p0156 p1 p1 p15 latency 15 divider 6"),
    "vpaddd ymm0, ymm1, ymm2": (0, "fused 1 ports p015 latency 1"),
    "vpaddd zmm0, zmm1, zmm2": (0, "fused 1 ports p05 latency 1"),
    "vpaddd zmm0{k1}, zmm1, [rbx]": (READS, "fused 1 ports p05 load latency 1"),
    "vpaddd ymm0{k1}, ymm1, ymm2": (0, "fused 1 ports p015 latency 1"),
    "vaddpd zmm0, zmm1, [rbx]{1to8}": (READS, "fused 1 ports p0 load latency 4"),
    "vfmadd231pd zmm0, zmm1, zmm2": (0, "fused 1 ports p0 latency 4"),
    "vpternlogd xmm0, xmm1, xmm2, 7": (0, "fused 1 ports p015 latency 1"),
    "vpxord zmm1, zmm2, zmm2": (0, "fused 1 zero"),
    "vmovdqu64 zmm1, zmm2": (0, "fused 1 move"),
    "vmovdqu64 zmm1{k1}, [rbx]": (READS, "fused 1 ports p05 load latency 1"),
    "vmovaps [rbx], zmm1": (WRITES, "fused 1 store p78"),
    "vmovaps [rbx]{k1}, ymm1": (WRITES, "fused 1 store p78"),
    "vpcmpeqd k1, zmm1, zmm2": (0, "fused 1 ports p5 latency 3"),
    "vpcmpnleub k1, zmm1, zmm2": (0, "fused 1 ports p5 latency 3"),
    "kandw k1, k2, k3": (0, "fused 1 ports p0 latency 1"),
    "kaddd k1, k2, k3": (0, "fused 1 ports p5 latency 4"),
    "vcvttpd2dq ymm0, zmm1": (0, "fused 2 ports p0 p5 latency 7"),
    "vpmovqb xmm0, zmm1": (0, "fused 2 ports p5 p5 latency 4"),
    "vdivpd zmm0, zmm1, zmm2": (0, "fused 3 ports p0 p0 p05 latency 22 divider 16"),
}
"""... and of Ice Lake."""

OF_ZEN3 = {
    "add rax, [rbx]": (READS, "fused 1 ports p0123 load latency 1"),
    "add [rbx], rax": (BOTH, "fused 1 ports p0123 load store p56 latency 1"),
    "shl qword ptr [rbx], 3": (BOTH, "fused 2 ports p12 load store p56 latency 1"),
    "mov rax, rbx": (0, "fused 1 move"),
    "mov [rbx], rax": (WRITES, "fused 1 store p56"),
    "movaps [rbx], xmm0": (WRITES, "fused 1 ports pc store p56"),
    "xor eax, eax": (0, "fused 1 zero"),
    "xchg rax, rbx": (0, "fused 2 move"),
    "pext rax, rbx, rcx": (0, "fused 1 ports p1 latency 3"),
    "lea rax, [rbx + rcx + 8]": (0, "fused 2 ports p0123 p0123 latency 2"),
    "vpandn ymm0, ymm1, ymm1": (0, "fused 1 zero"),
    "vpandn ymm0, ymm1, ymm2": (0, "fused 1 ports p89ab latency 1"),
    "vfmadd231pd ymm0, ymm1, [rbx]": (READS, "fused 1 ports p89 load latency 4"),
    "vpmulld ymm0, ymm1, ymm2": (0, "fused 1 ports p8b latency 3"),
    "vaddpd ymm0, ymm1, ymm2": (0, "fused 1 ports pab latency 3"),
    "vmovaps ymm0, ymm1": (0, "fused 1 move"),
    "movq rax, xmm0": (0, "fused 1 ports pd latency 3"),
    "push rax": (WRITES, "fused 1 store p56 stack"),
}
"""... and of Zen 3."""

OF_ZEN4 = {
    "add [rbx], rax": (BOTH, "fused 2 ports p0123 load store p56 latency 1"),
    "bsf rax, rbx": (0, "fused 1 ports p0123 latency 1"),
    "blsr rax, rbx": (0, "fused 1 ports p0123 latency 1"),
    "vpaddd ymm0, ymm1, ymm2": (0, "fused 1 ports p89ab latency 1"),
    "vpaddd zmm0, zmm1, zmm2": (0, "fused 1 ports p89ab p89ab latency 1"),
    "vfmadd231pd zmm0, zmm1, zmm2": (0, "fused 1 ports p89 p89 latency 4"),
    "vpermd zmm0, zmm1, zmm2": (0, "fused 1 ports p9a p9a latency 5"),
    "vmovdqu64 zmm1, zmm2": (0, "fused 1 move"),
    "vpxord zmm1, zmm2, zmm2": (0, "fused 1 zero"),
    "vmovaps [rbx], zmm1": (WRITES, "fused 2 ports pc pc store p56"),
    "kandw k1, k2, k3": (0, "fused 1 ports pab latency 1"),
    "vpshufb ymm0, ymm1, ymm2": (0, "fused 1 ports p9a latency 2"),
}
"""... and of Zen 4: 512 bits take two cycles of a pipe of 256."""


@pytest.mark.slow
@ASSEMBLES
@each(("name", "cases"), [("skylake", CASES), ("icelake", OF_ICELAKE), ("zen3", OF_ZEN3), ("zen4", OF_ZEN4)])
def test_instructions_of_a_processor(name: str, cases: dict[str, tuple[int, str]]) -> None:
    one = table(name)
    for text, code in zip(cases, machine_code(list(cases)), strict=True):
        access, expected = cases[text]
        form = describer().registers_of(code)[3]
        timing = one.timing_of(name_of(form), form, access)
        said = [f"fused {timing.fused}"]
        if "microcoded" in expected:
            assert f"{said[0]} microcoded" == expected
            continue
        said += [f"ports {' '.join(map(port_name, timing.ports))}"] if timing.ports else []
        said += ["load"] * timing.loads + [f"store {port_name(timing.address)}"] * timing.stores
        said += [f"latency {timing.latency}"] if timing.latency else []
        said += [f"second {timing.second}"] if timing.second != timing.latency else []
        said += [f"divider {timing.divider}"] if timing.divider else []
        said += [kind.name.lower() for kind in SHOWN if kind & timing.kind and kind.name]
        said += [f"top{timing.top:+}"] if timing.top else []
        assert " ".join(said) == expected, text


SHOWN = (InstructionKind.ZERO, InstructionKind.MOVE, InstructionKind.STACK)


def port_name(mask: int) -> str:
    return "p" + "".join(f"{number:x}" for number in range(16) if mask >> number & 1)


OF_THE_CORE = {
    "add rax, [rbx + 8]": "slots 1 uops 6510 latency 1 load 4 fuses",
    "mov rax, [rbx + rcx]": "slots 1 latency 0 load 5",
    "mov rax, [rbx - 8]": "slots 1 latency 0 load 5",
    "movaps xmm0, [rbx]": "slots 1 latency 0 load 6",
    "vmovaps ymm0, [rbx]": "slots 1 latency 0 load 7",
    "mov [rbx], rax": "slots 1 latency 0",
    "xor eax, eax": "slots 1 latency 0 ignores",
    "cmp rax, rbx": "slots 1 uops 6510 latency 1 fuses",
    "cmp qword ptr [rax], 5": "slots 1 uops 6510 latency 1",
    "cpuid": "serializing microcoded",
    "mfence": "serializing fences_stores",
    "lock add [rbx], rax": "locked",
    "movntdq [rax], xmm0": "slots 1 latency 0 streaming",
    "setb al": "slots 1 uops 60 latency 1 merges",
    "popcnt eax, ebx": "slots 1 uops 1 latency 3 merges",
    "rcl rax, 1": "slots 3 uops 6510 60 60 latency 2",
    "rol rax, 1": "slots 2 uops 60 60 latency 1",
    "rol rax, 3": "slots 1 uops 60 latency 1",
    "rep movsb": "microcoded string",
    "fld1": "slots 2 uops 5 5 latency 1 ignores top-1",
}
"""Instruction -> what Skylake's core knows of it: of those with a kind, the kind alone."""


@ASSEMBLES
def test_instructions_for_the_core() -> None:
    timings = CoreTimings(load("skylake"), names())
    for text, code in zip(OF_THE_CORE, machine_code(list(OF_THE_CORE)), strict=True):
        one = timings.core_timing(describer().registers_of(code)[3])
        kinds = [str(kind.name).lower() for kind in CoreKind if kind & one.kind]
        said = [] if kinds and "streaming" not in kinds else [f"slots {one.slots}"]
        if said:
            said += ["uops"] * bool(one.uops) + ["".join(map(str, ports)) for ports in one.uops]
            said += [f"latency {one.latency}"] + [f"load {one.load_latency}"] * ("load" in OF_THE_CORE[text])
            said += ["ignores"] * one.ignores_sources + ["fuses"] * bool(one.fuses)
            said += ["merges"] * one.merges + [f"top{one.top:+}"] * bool(one.top)
        assert " ".join(said + kinds) == OF_THE_CORE[text], text


def test_ports_are_preferred_from_the_last() -> None:
    assert numbers_of(0b1100011) == (6, 5, 1, 0)


@ASSEMBLES
def test_what_is_popped_comes_from_the_stack() -> None:
    figures = load("zen3")
    timings = CoreTimings(figures, names())
    for text, key in (("pop rax", "stack"), ("pop qword ptr [rax]", "stack"), ("push qword ptr [rax]", "latency")):
        (code,) = machine_code([text])
        assert timings.core_timing(describer().registers_of(code)[3]).forward == figures[f"forward.{key}"], text


def test_ports_of_a_machine_are_digits() -> None:
    assert ports_of(load("skylake")) == SKYLAKE
    with pytest.raises(PfmonError, match=r"ports.load = two: numbers of ports are wanted"):
        ports_of({**load("skylake"), "ports.load": "two"})


GOOD = "nop,,,1,,0,,,,,somebody"
WRONG = {
    "add,r,,one,p0,1,,,,,somebody": "uops one: a whole number is wanted",
    "add,r,,1,p9,1,,,,,somebody": "ports p9: this processor has none of that number",
    "add,r,,1,0,1,,,,,somebody": "ports 0: p and digits are wanted, such as 2*p015",
    "add,q,,1,p0,1,,,,,somebody": "operands q: q: one of i, r8",
    "add,r,often,1,p0,1,,,,,somebody": "condition often: one of",
    "add,r,,1,p0,1,,,,slow,somebody": "kind slow: one of zero, ones",
    "add,r,,1,p0,1,,,,,": "a row has mnemonics and a source",
    "add,r": "11 fields are wanted",
}


@each("row", WRONG)
def test_an_error_names_its_line(row: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{','.join(COLUMNS)}\n{GOOD}\n{row}\n")
    with pytest.raises(PfmonError) as caught:
        InstructionTable(str(path), SKYLAKE)
    assert str(caught.value).startswith(f"{path}:3: {WRONG[row]}")


def test_the_first_row_that_holds_counts(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"add,{operands},,{number},p0,1,,,,,somebody" for operands, number in (('"r64,r64"', 1), ("*", 2))]
    path.write_text("\n".join([",".join(COLUMNS), *rows, *rows]) + "\n")
    one = InstructionTable(str(path), SKYLAKE)
    assert [one.timing_of("add", form).fused for form in (6 << 12 | 6 << 17, 5 << 12 | 5 << 17)] == [1, 2]


@each("patterns", [("add", "a*", "*"), ("a?d", "add", "*"), ("[ab]dd", "add adc", "*"), ("sub add", "*")], ids=str)
def test_names_and_patterns_of_mnemonics_count_in_the_order_of_rows(patterns: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"{names},*,,{number},p0,1,,,,,somebody" for number, names in enumerate(patterns, 1)]
    path.write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    one = InstructionTable(str(path), SKYLAKE)
    assert one.timing_of("add", 0).fused == 1
    assert one.timing_of("xor", 0).fused == len(patterns)
    assert one.unlisted == {"xor"}


def test_an_old_recording_is_refused() -> None:
    """Its payloads have no form."""
    with pytest.raises(PfmonError, match="has to be made again"):
        machine_of(load("skylake"), BlockTable(InstructionSet.X86_64, 40), (), True, 1)
