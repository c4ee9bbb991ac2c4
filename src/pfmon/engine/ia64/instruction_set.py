"""The list of modules that hold instructions. Importing this fills rows.ROWS, in this order."""

from importlib import import_module

from pfmon.engine.ia64.rows import ROWS, Row

MODULES = (
    "unit_a",
    "unit_a_compare",
    "unit_a_parallel",
    "unit_i",
    "unit_i_move",
    "unit_i_parallel",
    "unit_x",
    "unit_b",
    "unit_m_load",
    "unit_m_store",
    "unit_m_float",
    "unit_m_pair",
    "unit_m_system",
    "unit_f_multiply_add",
    "unit_f_integer",
    "unit_f_compare",
    "unit_f_approximate",
    "unit_f_convert",
    "unit_f_parallel",
    "unit_f_status",
)

for _name in MODULES:
    import_module(f"pfmon.engine.ia64.{_name}")

INSTRUCTIONS: tuple[Row, ...] = tuple(ROWS)
