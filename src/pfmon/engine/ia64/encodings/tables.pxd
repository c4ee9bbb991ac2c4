"""The decoder's tables, as bytes: TableSizes, then rows, nodes and links, without a pointer to anything."""

from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    MOST_UNITS = 8

cdef struct TableSizes:
    uint32_t rows
    uint32_t nodes
    uint32_t links
    uint32_t roots[MOST_UNITS]   # by unit: its first node
    uint32_t spare               # what follows is aligned to eight bytes

cdef struct Node:
    uint8_t shift                # lowest bit to look at; in a leaf: how many rows
    uint8_t width                # bits to look at; 0: leaf
    uint32_t first               # in links
