"""Issue ports of encodings in one machine's pipeline."""

from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    MAX_FORMATS = 128

cdef enum IssuePort:            # sets of ports of an instruction
    PORT_A = 0                   # A-type in an I slot: an I, or an M when none is free (in an M slot it is PORT_M)
    PORT_M = 1                   # any M
    PORT_M01 = 2
    PORT_M0 = 3
    PORT_M23 = 4
    PORT_M2 = 5
    PORT_I = 6                   # any I
    PORT_I0 = 7
    PORT_F = 8
    PORT_F0 = 9
    PORT_B = 10
    PORT_BRP = 11                # nop.b, hint.b, brp: does not end the issue group
    PORT_L = 12                  # movl, nop.x: an I port
    PORTS = 13

cdef struct PortTable:           # by number of a format (formats.FORMATS)
    uint8_t plain[MAX_FORMATS]
    uint8_t advanced[MAX_FORMATS]    # of advanced and check loads
    uint8_t hint[MAX_FORMATS]        # of nops and branch predictions

cdef int fill_ports(PortTable* table, config) except -1
cdef uint8_t port_of(const PortTable* table, uint8_t layout, uint32_t kind, uint32_t isa_kind) noexcept nogil
