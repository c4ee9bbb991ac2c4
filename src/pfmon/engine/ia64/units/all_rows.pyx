"""The rows of all units, in the order of their numbers: a new file of instructions is added here. The decoder's tables
get the addresses of their handlers (isa/ia64, table_layout.pxd)."""

from pfmon.isa.ia64._encodings cimport load_decoder


def add_rows():
    """Add all rows and pairs (encoding_rows.py)."""
    a_rows()
    a_compare_rows()
    a_parallel_rows()
    i_rows()
    i_move_rows()
    i_parallel_rows()
    x_rows()
    b_rows()
    m_load_rows()
    m_store_rows()
    m_float_rows()
    m_pair_rows()
    m_system_rows()
    m_privileged_rows()
    m_translation_rows()
    b_privileged_rows()
    f_multiply_add_rows()
    f_integer_rows()
    f_compare_rows()
    f_approximate_rows()
    f_convert_rows()
    f_parallel_rows()
    f_status_rows()
    fused_pairs_rows()


cdef size_t handler_origin() noexcept nogil:
    """The address from which distances of handlers are measured, in the extension file that has them."""
    return <size_t>&fall_through


cdef int load_handlers() except -1:
    """Load the decoder's tables with the handlers of this process."""
    return load_decoder(handler_origin())
