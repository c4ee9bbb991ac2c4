"""Basic blocks that BHive measured on a Skylake processor: that they are whole, and that they run here."""

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import capstone
import pytest
from host_programs import needs
from mca_differences import CAUSES, cause
from measured_blocks import (
    Block,
    Measured,
    beside,
    blocks,
    by_cause,
    by_llvm_mca,
    copies_of,
    disassembled,
    measure,
    summary,
)
from x86_64_host import measured

FEW = [0, 21, 36]
"""Numbers of blocks: of arithmetic and a store, of a vector's store, of loads."""


def test_every_block_is_whole() -> None:
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    listed = blocks()
    assert len(listed) >= 300
    assert [one.number for one in listed] == sorted({one.number for one in listed})
    for one in listed:
        code = bytes.fromhex(one.code)
        assert sum(size for _, size, _, _ in decoder.disasm_lite(code, 0)) == len(code), one
        assert one.application and one.cycles >= 0.2, one


def test_blocks_have_no_branches() -> None:
    for one in blocks():
        names = [words.split()[0] for words in disassembled(one).split("; ")]
        assert not any(name.startswith(("j", "call", "ret", "loop")) for name in names), one


def test_code_fits_in_the_instruction_cache() -> None:
    assert all(2 * copies_of(one) * len(one.code) // 2 < 28 << 10 for one in blocks())


def test_deviations_are_relative() -> None:
    block = Block(0, "", "90", 2.0)
    assert summary([Measured(block, 3.0), Measured(block, 2.0), Measured(block, 1.9), Measured(block, None)]) == (
        3,
        pytest.approx(0.05),
        pytest.approx(0.55 / 3),
    )


@needs("llvm-mca", "llvm-mc")
def test_llvm_mca_knows_a_block() -> None:
    """Two cycles: of four instructions in a cycle, and one of memory."""
    found = by_llvm_mca(next(one for one in blocks() if one.number == FEW[1]))
    assert found.cycles == pytest.approx(1, abs=0.05)


@measured
@pytest.mark.parametrize("number", FEW)
def test_a_block_runs(number: int) -> None:
    """No fewer cycles than its instructions need at four a cycle."""
    block = next(one for one in blocks() if one.number == number)
    found = measure(block, "skylake")
    assert found.cycles is not None
    instructions = disassembled(block).count(";") + 1
    assert found.cycles >= instructions / 4 - 0.03


MOST_MEDIAN, MOST_MEAN = 0.10, 0.15
"""The deviations that are allowed."""


@measured
@pytest.mark.parametrize(
    "every", [pytest.param(1, marks=pytest.mark.exhaustive), pytest.param(25, marks=pytest.mark.slow)]
)
def test_blocks_take_what_was_measured(every: int) -> None:
    found = summary([measure(one, "skylake") for one in blocks()[::every]])
    assert found.ran >= len(blocks()[::every]) - 3
    assert found.median <= MOST_MEDIAN and found.mean <= MOST_MEAN, found


PAGE = Path(__file__).resolve().parents[3] / "docs" / "dev" / "measuring.md"


@measured
@needs("llvm-mca", "llvm-mc")
@pytest.mark.exhaustive
def test_the_page_lists_the_blocks_of_which_llvm_mca_says_something_else() -> None:
    with ProcessPoolExecutor(2) as pool:
        here = list(pool.map(partial(measure, machine="skylake"), blocks()))
        found = by_cause(beside(here, list(pool.map(by_llvm_mca, blocks()))))
    page = PAGE.read_text(encoding="utf-8")
    for why, numbers in found.items():
        assert f"| {CAUSES[why]} | {len(numbers)} | {', '.join(map(str, numbers))} |" in page


CAUSED = [
    ("mov rax, qword ptr [rsp + 8]; push rbp", "stack"),
    ("add qword ptr [rsp + 0x40], 4; dec r14", "forwarding"),
    ("mov dword ptr [rbx + 4], eax; mov rcx, qword ptr [rdi]", "forwarding"),
    ("mov dword ptr [rbx + 8], eax; mov rcx, qword ptr [rdi]", "decoders"),
    ("mov dword ptr [rsp], eax; mov rcx, qword ptr [rdi]", "decoders"),
    ("cmp word ptr [rsi + 8], 0xf8", "prefix"),
    ("cmp word ptr [rsi + 8], 0x78", "decoders"),
    ("lea rsi, [r8 + rdi*4 - 4]", "slow lea"),
    ("lea rcx, [rbp + r13]", "slow lea"),
    ("lea rcx, [rax + r13]", "decoders"),
]


@pytest.mark.parametrize(("code", "expected"), CAUSED)
def test_the_first_cause_that_holds_is_a_block_s(code: str, expected: str) -> None:
    assert cause(code, 8, 2, 1) == expected


def test_a_slow_fetch_and_a_short_latency_are_causes() -> None:
    assert cause("nop", 24, 2, 1) == "fetch"
    assert cause("nop", 8, 1, 2) == "latency"
