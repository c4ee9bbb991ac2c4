"""The gate page: kernel code that programs can execute. Here it only returns from signal handlers.

Unwinders recognise a signal frame by a return address in the gate area, 0xa000000000000100 and up.
"""

from __future__ import annotations

ADDRESS = 0xA000_0000_0000_0000
SIGNAL_RETURN_OFFSET = 0x200
SIGNAL_RETURN = ADDRESS + SIGNAL_RETURN_OFFSET

# { .mmi  mov r15 = 1181 (rt_sigreturn) ;;  break.m 0x100000  nop.i 0 ;; }
_RETURN_BUNDLE = bytes.fromhex("0b78 7400 0924 0000 0000 0400 0000 0400")


def page(size: int) -> bytes:
    """The contents of the gate page."""
    data = bytearray(size)
    data[SIGNAL_RETURN_OFFSET : SIGNAL_RETURN_OFFSET + 16] = _RETURN_BUNDLE
    return bytes(data)
