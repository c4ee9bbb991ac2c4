"""The modules that define instructions. Importing this imports them; rows are made at first use
(instruction_set.py)."""

from __future__ import annotations

from importlib import import_module

NAMES = (
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
    "fused_pairs",
)

MODULES = tuple(import_module(f"pfmon.engine.ia64.units.{name}") for name in NAMES)
