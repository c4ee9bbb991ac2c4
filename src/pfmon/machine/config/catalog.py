"""Catalog of the machines by name, without reading their files."""

from __future__ import annotations

ITANIUMS = ("itanium", "itanium2", "montecito")
"""The in-order machines, which run IA-64 programs."""

FILES = (*ITANIUMS, "core2", "nehalem", "ppc604e", "itanium_ia32", "itanium2_ia32")
"""The prebuilt machines: NAME.toml."""

IN_ORDER, OUT_OF_ORDER = "in_order", "out_of_order"
"""The kinds of cores (``machine.core``): the Itaniums', and others' (docs/dev/machines.md)."""

HOST = "host"
"""The machine with the caches of the host's processor."""
