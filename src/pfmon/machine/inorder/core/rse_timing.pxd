"""The register stack engine: see rse_timing.pyx."""

from libc.stdint cimport uint32_t, uint64_t


# Stores (``cause``: RSE_OVERFLOW) or loads ``registers`` registers, the lowest at ``address``.
cdef void move_registers(Pipeline pipeline, uint64_t number, uint32_t instruction, uint32_t registers, uint64_t address,
                         uint32_t cause) noexcept nogil
