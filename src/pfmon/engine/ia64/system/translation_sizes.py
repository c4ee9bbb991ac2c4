"""Sizes of translation that an implementation chooses (volume 2, 4.1), of each processor: the engine has them, and PAL
says them."""

from __future__ import annotations

from typing import NamedTuple

PAGE_SIZES = (12, 13, 14, 16, 18, 20, 22, 24, 26, 28, 32)
"""Pages of 2^n bytes are inserted and purged (volume 2, table 4-5, and 4 GB)."""


class TranslationSizes(NamedTuple):
    """``itrs``, ``dtrs``: translation registers for instructions and data; ``physical_bits``: implemented bits of a
    physical address; ``virtual_msb``: the last implemented bit of a virtual one, below its region; ``rid_bits``,
    ``key_bits``: of region identifiers and protection keys; ``pkrs``: protection key registers; ``hash_id``: number of
    the VHPT's hash function."""

    itrs: int
    dtrs: int
    physical_bits: int
    virtual_msb: int
    rid_bits: int
    key_bits: int
    pkrs: int = 16
    hash_id: int = 2


SIZES = {
    "itanium": TranslationSizes(8, 48, 44, 50, 18, 18),
    "itanium2": TranslationSizes(64, 64, 50, 60, 24, 24),
    "montecito": TranslationSizes(32, 32, 50, 60, 24, 24),
}
"""As kernels report them of such processors; a thread of Montecito's has half of the registers of its core."""
