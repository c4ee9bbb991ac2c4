"""The rows of all units, in the order of their numbers: a new file of instructions is added here."""


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
    f_multiply_add_rows()
    f_integer_rows()
    f_compare_rows()
    f_approximate_rows()
    f_convert_rows()
    f_parallel_rows()
    f_status_rows()
    fused_pairs_rows()
