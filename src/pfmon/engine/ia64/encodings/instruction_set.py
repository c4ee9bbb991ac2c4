"""The list of modules that hold instructions. Importing this fills rows.ROWS, in this order."""

from importlib import import_module

from pfmon.engine.ia64.encodings.rows import ROWS, Row

MODULES = (
    "a",
    "a_compare",
    "a_parallel",
    "i",
    "i_move",
    "i_parallel",
    "x",
    "b",
    "m_load",
    "m_store",
    "m_float",
    "m_pair",
    "m_system",
    "f_multiply_add",
    "f_integer",
    "f_compare",
    "f_approximate",
    "f_convert",
    "f_parallel",
    "f_status",
)

for _name in MODULES:
    import_module(f"pfmon.engine.ia64.units.{_name}")

INSTRUCTIONS: tuple[Row, ...] = tuple(ROWS)
