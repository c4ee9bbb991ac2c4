from enum import IntFlag

class Use(IntFlag):
    """Used fields of an instruction; members: ppc_operands.pxd."""

    RECORD = 1 << 10
    RECORD_1 = 1 << 11
    ADDRESS_RA0 = 1 << 29
    ADDRESS_RB = 1 << 30

def registers_used(word: int, uses: int) -> tuple[int, int, int]: ...
