"""Source and destination registers of an instruction: after its code in the payloads of engines that provide them.

A register is a bit, assigned by the instruction set. Registers that no instruction ever waits for have none.
"""

from libc.stdint cimport uint64_t

cdef enum:
    OPERANDS_AT = 16             # bytes of a payload before them
    REGISTER_BITS = 64

cdef struct RegisterMasks:
    uint64_t read                # source registers, those of addresses and flags included
    uint64_t written
    uint64_t addressed           # source registers of the address of its access
