"""The decoder's tables, as bytes: TableSizes, then rows, nodes, links and pairs, without a pointer to anything.

Handlers (Row.run, Row.guarded and those of pairs) are distances from ``handler_origin()``, an address in the same
extension file: they do not depend on its load address. 0: no handler.
"""

from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    MAX_UNITS = 8

cdef struct TableSizes:
    uint32_t rows
    uint32_t nodes
    uint32_t links
    uint32_t roots[MAX_UNITS]    # by unit: its first node
    uint32_t firsts              # handlers that begin a pair, plus one
    uint32_t seconds             # handlers that end one, plus one
    uint32_t spare               # aligns the following data to eight bytes

cdef struct Node:
    uint8_t shift                # lowest bit to test; in a leaf: number of rows
    uint8_t width                # bits to test; 0: leaf
    uint32_t first               # in links
