"""Axes of matplotlib, if it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pfmon.errors import PfmonError

COLOURS = ("#3d9970", "#d98b1f", "#c8443f", "#3f7fd1", "#9a86bd", "#5f6b7a", "#17a2b8", "#a8622a", "#d976b8", "#8d8d2a")
"""Colours of lines and of parts, in order."""
RAMP = ("#2f8f6b", "#f2d377", "#c8443f")
"""The colours of a map, from the smallest value to the largest."""
WIDTH = 7.0
"""Inches."""


def plt() -> Any:
    """Return matplotlib.pyplot. PfmonError without it."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError:
        raise PfmonError("plot() needs matplotlib, which is not installed: pip install 'pfmon[plot]'") from None


def axes_of(axes: Any | None, height: float) -> Any:
    """Return the given axes, or new ones of this height (inches) in a figure of their own."""
    if axes is not None:
        return axes
    _, made = plt().subplots(figsize=(WIDTH, height), layout="constrained")
    return made


def colour(place: int) -> str:
    """Return the colour of a line or part."""
    return COLOURS[place % len(COLOURS)]


def plain(axes: Any) -> None:
    """Leave out the frame at the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)


def thousands(value: float) -> str:
    """Return a number for a label: whole ones with separators, others with three digits."""
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
