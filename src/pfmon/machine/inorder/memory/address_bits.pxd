"""Flags in unimplemented address bits, and addresses of the VHPT.

Bits 51 to 60 of a virtual address are not implemented: programs leave them 0."""

from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    """
    #define PFMON_THREAD_ID (UINT64_C(1) << 55)
    #define PFMON_NO_L2_ENTRY (UINT64_C(1) << 62)
    """
    # Set in addresses of hardware thread 1, as in its TLB entries.
    const uint64_t THREAD_ID "PFMON_THREAD_ID"
    # Set in the number of an entry of the first data TLB whose page was evicted from the second (data_translation.pyx).
    const uint64_t NO_L2_ENTRY "PFMON_NO_L2_ENTRY"

cdef enum:
    SHORT_ENTRY_SHIFT = 3        # bytes of a VHPT entry: 8 in the short format
    LONG_ENTRY_SHIFT = 5         # ... 32 in the long format
    REGION_SHIFT = 61
    TABLE_SHIFT = 51
    TABLE_BITS = 0x3FF


cdef inline uint64_t vhpt_entry(uint64_t address, uint32_t page_shift, uint32_t entry_shift) noexcept nogil:
    """Returns the address of a translation's VHPT entry: the virtual linear page table of a region lies at the top of
    the region's implemented addresses (Linux on IA-64), whose bits include THREAD_ID; thread 1's table has it clear."""
    cdef uint64_t thread = address & THREAD_ID, region = address >> REGION_SHIFT << REGION_SHIFT
    cdef uint64_t table = region | <uint64_t>TABLE_BITS << TABLE_SHIFT
    return (table ^ thread) + ((address ^ region ^ thread) >> page_shift << entry_shift)


cdef inline uint32_t thread_of(uint64_t address) noexcept nogil:
    """Returns the thread of an address; VHPT addresses belong to the thread whose translation they hold."""
    cdef bint of_table = (address | THREAD_ID) >> TABLE_SHIFT & TABLE_BITS == TABLE_BITS
    return <uint32_t>(address & THREAD_ID == 0 if of_table else address & THREAD_ID != 0)
