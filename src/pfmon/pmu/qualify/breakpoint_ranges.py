"""Address ranges on breakpoint registers: the aligned blocks, or fine-mode limits, of a range.

A breakpoint pair matches one aligned block of a power of two (IBR and DBR masks, IA-64 manual volume 2 section 7.1). In
fine mode one pair holds the lower and another the upper limit of a range within a page (Montecito manual table 3-10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.model.programming import RangeProgramming
from pfmon.pmu.model.request import RangeRequest

PAIRS = 4
MASK = (1 << 56) - 1
BUNDLE = 16
FINE_GRAIN = 32
SECTION = "Montecito manual section 3.3.5"
RANGE_FILTERS = {
    "inverse": "inversion (--inverse-irange)",
    "demand_fetch": "choice of demand fetches (--irange-demand-fetch)",
    "prefetch_match": "choice of prefetches (--irange-prefetch-match)",
}
Limits = Sequence[tuple[int, int]]
Registers = tuple[tuple[int, int], ...]


class Block(NamedTuple):
    """An aligned block of `1 << bits` bytes."""

    start: int
    bits: int

    @property
    def end(self) -> int:
        """The first address beyond the block."""
        return self.start + (1 << self.bits)


def largest_block(start: int, end: int) -> Block:
    """Return the largest aligned block within [start, end), the upper one of two."""
    bits = (end - start).bit_length() - 1
    while (low := ((end >> bits) - 1) << bits) < start:
        bits -= 1
    return Block(low, bits)


def enclosing_block(start: int, end: int) -> Block:
    """Return the smallest aligned block that contains [start, end)."""
    bits = (start ^ (end - 1)).bit_length()
    return Block(start >> bits << bits, bits)


def cover(start: int, end: int, pairs: int) -> list[Block]:
    """Return at most `pairs` blocks that cover [start, end).

    The largest block comes first, then what is left of it and what is right of it with half of the remaining
    pairs each, an odd one for the larger part. A part's last block is enlarged to enclose all of it.
    """
    if end <= start or pairs < 1:
        return []
    if pairs == 1:
        return [enclosing_block(start, end)]
    block = largest_block(start, end)
    left, right = block.start - start, end - block.end
    half, odd = divmod(pairs - 1, 2)
    left_pairs = half + (odd if left > right else 0)
    right_pairs = pairs - 1 - left_pairs
    return [block, *cover(start, block.start, left_pairs), *cover(block.end, end, right_pairs)]


def bleed(limits: tuple[int, int], blocks: Sequence[Block]) -> tuple[int, int]:
    """Return the bytes by which blocks extend below and beyond a range."""
    start, end = limits
    return (
        max(0, start - min(block.start for block in blocks)),
        max(0, max(block.end for block in blocks) - end),
    )


def levels(ranges: RangeRequest, plm: int) -> list[int]:
    """Return the privilege mask of each range, by default ``plm``."""
    own = [*ranges.plms, *[0] * len(ranges.limits)]
    return [mask or plm for mask in own[: len(ranges.limits)]]


def coarse(ranges: RangeRequest, plm: int, pairs: Sequence[int] = range(PAIRS)) -> RangeProgramming:
    """Return power-of-two blocks for all ranges on the given breakpoint pairs."""
    limits = ranges.limits
    blocks: list[tuple[Block, int]] = []
    off, counts = [], []
    for (start, end), level in zip(limits, levels(ranges, plm), strict=True):
        made = cover(start, end, len(pairs) - len(blocks))
        ranges_need_no_more_pairs_than_there_are(bool(made), len(pairs))
        blocks += [(block, level) for block in made]
        off.append(bleed((start, end), made))
        counts.append(len(made))
    registers: Registers = ()
    for pair, (block, level) in zip(pairs, blocks, strict=False):
        mask = ~((1 << block.bits) - 1) & MASK
        registers += ((2 * pair, block.start), (2 * pair + 1, mask | level << 56))
    return RangeProgramming(limits, registers, tuple(off), tuple(counts))


def same_block_on_every_pair(ranges: RangeRequest, plm: int, pairs: Sequence[int]) -> RangeProgramming:
    """Return one enclosing block on each of the pairs."""
    single = [coarse(ranges, plm, [pair]) for pair in pairs]
    registers: Registers = ()
    for programmed in single:
        registers += programmed.registers
    return RangeProgramming(ranges.limits, registers, single[0].off, (len(pairs),))


def fits_fine_mode(limits: Limits, page_bits: int) -> bool:
    """Return whether the upper bits of both limits of every range are equal (Montecito manual table 3-10, fine)."""
    return all(start >> page_bits == end >> page_bits for start, end in limits)


def fine_mode_mask(limits: Limits, page_bits: int) -> int:
    """Return pfmon's mask register in fine mode: the bits above the page.

    For ranges below 4 GB it fills 32 bits only (pfmon on Itanium 2, sections 8.2 and 8.3 show both). Only the upper
    bits of both limits, which must be equal, matter; bits within the page have no effect (Montecito manual table 3-10).
    """
    upper = MASK if any(end > 1 << 32 for _, end in limits) else (1 << 32) - 1
    return upper & ~((1 << page_bits) - 1)


def fine(ranges: RangeRequest, plm: int, page_bits: int, starts: Sequence[int]) -> RangeProgramming:
    """Return fine mode: range n on pairs `starts[n]` and `starts[n] + 2`, with a granularity of two bundles.

    A single range may be on several pairs of pairs.
    """
    registers: Registers = ()
    off = []
    limits = ranges.limits
    mask = fine_mode_mask(limits, page_bits)
    for number, pair in enumerate(starts):
        which = min(number, len(limits) - 1)
        start, end = limits[which]
        level = levels(ranges, plm)[which]
        low = start & ~(FINE_GRAIN - 1)
        high = (end + FINE_GRAIN - 1) & ~(FINE_GRAIN - 1)
        for index, address in ((2 * pair, low), (2 * pair + 4, high - BUNDLE)):
            registers += ((index, address), (index + 1, mask | level << 56))
        if number < len(limits):
            off.append((start - low, high - end))
    counts = (2,) * len(limits) if len(limits) > 1 else (2 * len(starts),)
    return RangeProgramming(limits, registers, tuple(off), counts, fine=True)


def range_start_is_below_end(limits: Limits, option: str) -> None:
    """A range is not empty and runs upwards."""
    if not limits:
        raise BadValueError(f"{option}: no range given", "range_start_is_below_end")
    for start, end in limits:
        if not 0 <= start < end <= 1 << 64:
            raise BadValueError(
                f"{option}: {start:#x}-{end:#x} is no range: start must be below end, and end at most 2**64",
                "range_start_is_below_end",
            )


def range_filters_exist(ranges: RangeRequest, filters: Sequence[str], what: str) -> None:
    """Ranges are inverted by PMC8.inv or PMC32.inv, which Itanium lacks; only Montecito's events distinguish demand
    fetches from prefetches (Montecito manual table 3-11 and section 3.3.5.2).
    """
    for name in RANGE_FILTERS:
        if getattr(ranges, name) and name not in filters:
            legal = ", ".join(RANGE_FILTERS[one] for one in filters) or "nothing of the kind"
            raise RuleError(
                "range_filters_exist", f"{what} have no {RANGE_FILTERS[name]}; they have {legal}", f"{SECTION}.2"
            )


def code_ranges_are_bundle_aligned(ranges: RangeRequest) -> None:
    """Code ranges consist of bundles of 16 bytes (pfmon on Itanium 2, section 8.1)."""
    for start, end in ranges.limits:
        if (start | end) % BUNDLE:
            raise BadValueError(
                f"{ranges.option}: {start:#x}-{end:#x} is not aligned on bundles of 16 bytes",
                "code_ranges_are_bundle_aligned",
            )


def ranges_need_no_more_pairs_than_there_are(enough: bool, pairs: int) -> None:
    """There are four breakpoint pairs for code and four for data (IA-64 manual volume 2 section 7.1)."""
    if not enough:
        raise RuleError(
            "ranges_need_no_more_pairs_than_there_are",
            f"the ranges need more than {pairs} breakpoint pair(s); use fewer or better aligned ranges",
            "IA-64 manual volume 2 section 7.1",
        )


def fine_mode_has_two_ranges(limits: Limits, several: bool) -> None:
    """Fine mode uses four pairs for two ranges, and only retired-instruction events use the second."""
    if len(limits) > (2 if several else 1):
        raise RuleError(
            "fine_mode_has_two_ranges",
            f"{len(limits)} ranges: fine mode has two, and one unless only retired instructions are counted",
            SECTION,
        )


def one_range_unless_retired_instructions_only(limits: Limits) -> None:
    """Only the retired-instruction events use all four IBR pairs (Montecito manual sections 3.3.5, 3.3.5.3)."""
    if len(limits) > 1:
        raise RuleError(
            "one_range_unless_retired_instructions_only",
            f"{len(limits)} code ranges: events other than IA64_INST_RETIRED and "
            "IA64_TAGGED_INST_RETIRED use one IBR pair",
            SECTION,
        )


def ibr_pairs_in_use_have_their_event(pairs: Sequence[int], channels: set[int]) -> None:
    """Each IBR pair qualifies one tag channel: pair n needs the event that counts channel n."""
    missing = [pair for pair in pairs if pair not in channels]
    if missing:
        raise RuleError(
            "ibr_pairs_in_use_have_their_event",
            f"the range needs IBR pair(s) {', '.join(map(str, pairs))}, but no event counts "
            f"tag channel(s) {', '.join(map(str, missing))} (IA64_TAGGED_INST_RETIRED_IBRPn)",
            "Montecito manual section 3.3.5.3",
        )


def checkpoint_range(address: int) -> RangeRequest:
    """Return the range of one bundle, without fine mode (`--checkpoint-func`; pfmon on Itanium 2, section 8.6)."""
    return RangeRequest(((address, address + BUNDLE),), fine=False, option="--checkpoint-func")
