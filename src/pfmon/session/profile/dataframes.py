"""Tables for pandas, if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from pfmon.errors import PfmonError


def frame(columns: Mapping[str, Sequence[Any]], index: str = "") -> Any:
    """Return a pandas.DataFrame with these columns; ``index``: the name of the index column. PfmonError without
    pandas."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise PfmonError("to_pandas() needs pandas, which is not installed: pip install pandas") from None
    made = pandas.DataFrame({name: list(values) for name, values in columns.items()})
    return made.set_index(index) if index else made
