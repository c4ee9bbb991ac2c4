"""An image that pfmon takes for a Linux kernel, and that does little: it says "ready", counts, calls to a depth at
which registers are spilled, says "done" and ends with a status that it has in a floating-point register.

``python tests/support/little_kernel.py`` writes it to its place.
"""

from pathlib import Path

from elf_images import MB, Piece, elf_image
from ia64_assembly import assemble

PLACE = Path(__file__).resolve().parents[1] / "data" / "engine" / "little_kernel"
REGION_5, ENTRY = 0xA000_0001_0000_0000, 4 * MB
STATUS, TURNS, DEPTH = 77, 1000, 40


def _put(text: str) -> list[str]:
    """Simulator call 31 for each character."""
    return [line for one in text for line in (f"adds r32={ord(one)},r0", "adds r15=31,r0", "break.m 0x80001")]


def little_kernel() -> bytes:
    """The file."""
    lines = [
        "alloc r8=ar.pfs,16,8,0",
        f"adds r20={STATUS},r0",
        "setf.sig f40=r20",
        *_put("ready\n"),
        f"adds r21={TURNS},r0",
        "loop:",
        "adds r21=-1,r21",
        "cmp.eq p7,p6=0,r21",
        "(p6) br.cond.sptk.few loop",
        f"adds r40={DEPTH},r0",
        "br.call.sptk.few b0=deep",
        "flushrs",
        "mov.m ar.rsc=r0",
        "loadrs",
        *_put("done\n"),
        "getf.sig r32=f40",
        "adds r15=66,r0",
        "break.m 0x80001",
        "deep:",
        "alloc r33=ar.pfs,6,5,0",
        "mov r34=b0",
        "adds r37=-1,r32",
        "cmp.eq p6,p7=0,r32",
        "(p7) br.call.sptk.few b0=deep",
        "mov.i ar.pfs=r33",
        "mov b0=r34",
        "br.ret.sptk.few b0",
    ]
    return elf_image(ENTRY, [Piece(assemble(lines, ENTRY) + b"Linux version 6.1.0 (a@b)", REGION_5, ENTRY)])


if __name__ == "__main__":
    PLACE.write_bytes(little_kernel())
