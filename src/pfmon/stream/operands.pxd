"""What flows into an instruction and out of it: behind its code in the payloads of those engines that say so.

A register is a bit; which one is the instruction set's business. Registers that nothing ever waits for have none.
"""

from libc.stdint cimport uint64_t

cdef enum:
    OPERANDS_AT = 16             # bytes of a payload before them
    REGISTER_BITS = 64

cdef struct Operands:
    uint64_t read                # registers, those of addresses and flags among them
    uint64_t written
    uint64_t addressed           # those that the address of its access is made of
