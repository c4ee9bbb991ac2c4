"""The decoder's tables, as bytes: TableSizes, then rows, nodes, links and pairs, without a pointer to anything.

Handlers (Row.run, Row.guarded) are distances from the origin of their module, which are the same wherever the module
is loaded; 0 stands for none.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum:
    MOST_UNITS = 8
    MOST_MODULES = 32

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

cdef struct Pair:                # by Row.as_first, then by Row.as_second
    uint64_t run                 # the handler
    uint64_t module

cdef extern from "Python.h":
    void* PyModule_GetDef(object module)

cdef inline size_t origin(object module):
    """An address within a loaded extension module: that of its definition, which is static in the compiled file."""
    return <size_t>PyModule_GetDef(module)
