"""The decoder's tables, as bytes: TableSizes, then rows, nodes, links and pairs, without a pointer to anything.

Handlers (Row.run, Row.guarded and those of pairs) are distances from an origin in the same extension file, which are
the same wherever it is loaded; 0 stands for none.
"""

from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    MOST_UNITS = 8

cdef struct TableSizes:
    uint32_t rows
    uint32_t nodes
    uint32_t links
    uint32_t roots[MOST_UNITS]   # by unit: its first node
    uint32_t firsts              # handlers that begin a pair, and one
    uint32_t seconds             # handlers that end one, and one
    uint32_t spare               # what follows is aligned to eight bytes

cdef struct Node:
    uint8_t shift                # lowest bit to look at; in a leaf: how many rows
    uint8_t width                # bits to look at; 0: leaf
    uint32_t first               # in links

cdef extern from "Python.h":
    void* PyModule_GetDef(object module)

cdef inline size_t origin(object unit):
    """An address in the extension file that the handlers are in, too: that of a unit's definition as a module."""
    return <size_t>PyModule_GetDef(unit)
