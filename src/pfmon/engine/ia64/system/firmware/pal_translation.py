"""PAL's procedures about translation and memory (volume 2, 11.10.3)."""

from __future__ import annotations

from pfmon.engine.ia64.system.firmware.pal_call import INVALID, Pal, PalCall, PalResult, to_buffer
from pfmon.engine.ia64.system.translation_sizes import PAGE_SIZES

WB, UC, UCE, WC, NAT_PAGE = 0, 4, 5, 6, 7
"""Memory attributes (volume 2, 4.4)."""
INSTRUCTION, DATA = 1, 2
PAGES = sum(1 << bits for bits in PAGE_SIZES)


def mem_attrib(_: Pal, __: PalCall) -> PalResult:
    """PAL_MEM_ATTRIB: bit n, attribute n is implemented."""
    return PalResult(0, (1 << WB | 1 << UC | 1 << UCE | 1 << WC | 1 << NAT_PAGE,))


def ptce_info(_: Pal, __: PalCall) -> PalResult:
    """PAL_PTCE_INFO: one ptc.e, at any address, purges all translation caches."""
    return PalResult(0, (0, 1 << 32 | 1, 0))


def vm_info(pal: Pal, call: PalCall) -> PalResult:
    """PAL_VM_INFO: sets in bits 7:0, ways in 15:8, entries in 31:16; the page sizes."""
    kind = {INSTRUCTION: "instruction", DATA: "data"}.get(call.second)
    found = next((one for one in pal.processor.tlbs if (one.level, one.kind) == (call.first, kind)), None)
    if found is None:
        return INVALID
    info = found.entries // found.ways | found.ways << 8 | found.entries << 16
    return PalResult(0, (info, PAGES))


def vm_page_size(_: Pal, __: PalCall) -> PalResult:
    """PAL_VM_PAGE_SIZE (page 2:467): sizes that are inserted, and sizes that are purged."""
    return PalResult(0, (PAGES, PAGES))


def vm_summary(pal: Pal, _: PalCall) -> PalResult:
    """PAL_VM_SUMMARY (page 2:468): vm_info_1 has the walker in bit 0, physical address bits in 7:1, key bits in 15:8,
    the last PKR in 23:16, the hash function in 31:24, the last DTR and ITR in 39:32 and 47:40, the number of
    translation caches and of their levels in 55:48 and 63:56; vm_info_2 the last implemented bit of a virtual address
    in 7:0, region identifier bits in 15:8, one purge at a time in 31:16."""
    sizes, tlbs = pal.sizes, pal.processor.tlbs
    first = (
        1
        | sizes.physical_bits << 1
        | sizes.key_bits << 8
        | sizes.pkrs - 1 << 16
        | sizes.hash_id << 24
        | sizes.dtrs - 1 << 32
        | sizes.itrs - 1 << 40
        | len(tlbs) << 48
        | len({one.level for one in tlbs}) << 56
    )
    return PalResult(0, (first, sizes.virtual_msb | sizes.rid_bits << 8 | 1 << 16))


def vm_tr_read(pal: Pal, call: PalCall) -> PalResult:
    """PAL_VM_TR_READ (page 2:470): a translation register in the insertion format, 32 bytes, bit 0 of IFA: it is
    valid; all of its fields are."""
    if call.second > 1 or call.first >= (pal.sizes.dtrs if call.second else pal.sizes.itrs):
        return INVALID
    found = pal.host.translation_register(bool(call.second), call.first)
    words = (found[0], found[1], found[2] & ~1 | 1, found[3]) if found else (0, 0, 0, 0)
    return to_buffer(call.third, b"".join(word.to_bytes(8, "little") for word in words), (0xF,))
