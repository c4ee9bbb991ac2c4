"""TEMPORARY."""

from __future__ import annotations

from typing import NamedTuple

import capstone

SKL = dict(
    width=4, lead=2, levels=(12, 42, 190), bus=8, walk=20, fill_busy=2, forward=4, blocked=11, alias=5, split=5, page_split=5, translation=7,
    mispredict=16, redirect=5, lock=18, string_start=35, string_bytes=32,
    load_ports=(2, 3), store_address_ports=(7, 2, 3), store_data_ports=(4,),
    buffers=((224, 112), (97, 97), (72, 72), (56, 112)), fill_buffers=10, page_walkers=2, loop_buffer=64,
    fetch=16, decoders=5, complex=4, prefix=3, line=6, uop_cache_sets=32, uop_cache_ways=8,
)
NHM = dict(SKL, forward=5, fill_busy=2, levels=(10, 38, 190), loop_buffer=28, line=0, decoders=4, prefix=6,
    load_ports=(2,), store_address_ports=(3,), store_data_ports=(4,),
    buffers=((128, 64), (36, 36), (48, 96), (32, 64)), page_walkers=1)


class T(NamedTuple):
    slots: int = 1
    uops: tuple = (((6, 5, 1, 0), 1),)
    latency: int = 1
    latency2: int = 1
    divider: int = 0
    kind: int = 0
    load_latency: int = 4
    stored: int = 1
    ignores_sources: bool = False
    fuses: bool = False
    top: int = 0


class Timings:
    def __init__(self, name):
        self.name = name
        self.md = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)

    def core_figures(self):
        return SKL if self.name == "skylake" else NHM

    def core_timing(self, form):
        m = self.md.insn_name(form & 0xFFF) or "?"
        ops = [(form >> 12 + 5 * i) & 31 for i in range(6)]
        mem = any(13 <= o <= 21 for o in ops)
        alu = (((6, 5, 1, 0), 1),) if self.name == "skylake" else (((5, 1, 0), 1),)
        t = T(uops=alu)
        if m in ("mov", "movabs", "movzx", "movsx", "movsxd", "movaps", "movups", "movss", "movsd", "movdqu", "movdqa", "movq", "movd"):
            if mem:
                return t._replace(uops=(), latency=0, stored=0)
            return t
        if m in ("imul", "mul"):
            return t._replace(uops=(((1,), 1),), latency=3, latency2=3)
        if m in ("addsd", "addss", "addps", "addpd", "subsd", "mulsd", "mulss", "mulpd", "mulps", "subpd"):
            return t._replace(uops=(((0, 1), 1),), latency=4, latency2=4)
        if m in ("divsd", "divss", "sqrtsd", "divpd"):
            return t._replace(uops=(((0,), 1),), latency=14, latency2=14, divider=4)
        if m in ("div", "idiv"):
            return t._replace(uops=(((0,), 1),), latency=26, latency2=26, divider=6, slots=10)
        if m == "nop" or m.startswith("endbr"):
            return t._replace(uops=(), latency=0)
        if m in ("xor", "sub", "pxor") and form >> 42 & 1:
            return t._replace(uops=(), latency=0, ignores_sources=True)
        if m in ("push", "pop", "call", "ret"):
            return t._replace(uops=(), latency=0, stored=0)
        if m == "cpuid":
            return t._replace(kind=1, latency=70)
        return t
