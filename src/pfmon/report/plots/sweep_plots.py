"""Pictures of a sweep: a quantity as lines over an argument or figure, and as a map of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.report.plots.plot_axes import RAMP, axes_of, colour, plain, plt, thousands

LOGARITHMIC = 8
"""Numbers of which the largest is so many times the smallest are on a logarithmic axis."""


class PlottedQuantity(NamedTuple):
    """A quantity of a plot: its name, and its value in each row (None: there is none)."""

    name: str
    values: Sequence[float | None]


class PlottedName(NamedTuple):
    """An axis: its name, the value of each row, and the values as texts."""

    name: str
    values: Sequence[Any]
    shown: Mapping[Any, str]

    def ordered(self) -> list[Any]:
        """Return the values that there are: numbers by size, others as they come."""
        found = [value for value in dict.fromkeys(self.values) if value is not None]
        return sorted(found) if self.is_numeric else found

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return all(isinstance(value, (int, float)) for value in self.values if value is not None)


def lines_plot(what: PlottedQuantity, over: PlottedName, series: Sequence[str], axes: Any | None, log: bool) -> Any:
    """Draw a line for each name of ``series``, which has one for each row. ``log``: the quantity's axis is
    logarithmic."""
    drawn = axes_of(axes, 3.4)
    values = over.ordered()
    at = {value: value if over.is_numeric else place for place, value in enumerate(values)}
    for place, name in enumerate(dict.fromkeys(series)):
        points = [
            (at[x], y)
            for x, y, own in zip(over.values, what.values, series, strict=True)
            if own == name and x is not None and y is not None
        ]
        xs, ys = zip(*sorted(points), strict=True) if points else ((), ())
        drawn.plot(xs, ys, "o-", color=colour(place), label=name, linewidth=1.6, markersize=4)
    if over.is_numeric and values and values[0] > 0 and values[-1] >= LOGARITHMIC * values[0]:
        drawn.set_xscale("log", base=2)
    drawn.set_xticks([at[value] for value in values], [over.shown[value] for value in values])
    drawn.minorticks_off()
    if log:
        drawn.set_yscale("log")
        drawn.yaxis.set_major_formatter(lambda value, _: thousands(value))
    else:
        drawn.set_ylim(bottom=0)
    drawn.set_xlabel(over.name)
    drawn.set_ylabel(what.name)
    if len(set(series)) > 1:
        drawn.legend(fontsize="small")
    plain(drawn)
    return drawn


def map_plot(what: PlottedQuantity, across: PlottedName, down: PlottedName, axes: Any | None, most: float) -> Any:
    """Draw a map of the values: colours from 0 to ``most``, which the bar beside it has."""
    xs, ys = across.ordered(), down.ordered()
    found = {
        (y, x): value
        for x, y, value in zip(across.values, down.values, what.values, strict=True)
        if value is not None and x is not None and y is not None
    }
    drawn = axes_of(axes, 1.2 + 0.42 * len(ys))
    from_colours = plt().matplotlib.colors.LinearSegmentedColormap.from_list("values", RAMP)
    table = [[found.get((y, x), float("nan")) for x in xs] for y in ys]
    mesh = drawn.imshow(table, cmap=from_colours, vmin=0, vmax=most or 1, aspect="auto", interpolation="none")
    for row, y in enumerate(ys):
        for column, x in enumerate(xs):
            if (y, x) in found:
                drawn.text(column, row, thousands(found[y, x]), ha="center", va="center", fontsize="small")
    drawn.set_xticks(range(len(xs)), [across.shown[x] for x in xs])
    drawn.set_yticks(range(len(ys)), [down.shown[y] for y in ys])
    drawn.set_xlabel(across.name)
    drawn.set_ylabel(down.name)
    drawn.figure.colorbar(mesh, ax=drawn, label=what.name)
    return drawn
