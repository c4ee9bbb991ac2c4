"""The decoder's tables, as bytes: TableSizes, then rows, nodes, links and pairs, without a pointer to anything.

Handlers (Row.run, Row.guarded and those of pairs) are distances from an origin in the same extension file, which do not
depend on its load address; 0 stands for none.
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

cdef extern from "Python.h":
    void* PyModule_GetDef(object module)

cdef inline size_t origin(object unit):
    """An address in the handlers' extension file: that of a unit's module definition."""
    return <size_t>PyModule_GetDef(unit)
