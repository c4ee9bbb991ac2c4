"""Bits of a word."""

from libc.stdint cimport uint64_t

cdef extern from *:
    int trailing_zeros "__builtin_ctzll"(uint64_t) nogil     # of a word that is not 0
