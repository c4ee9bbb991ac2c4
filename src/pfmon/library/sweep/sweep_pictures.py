"""`SweptTable.plot`: which columns of a sweep's table are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pfmon.errors import BadValueError, PfmonError, UnknownNameError

if TYPE_CHECKING:
    from pfmon.library.sweep.swept_table import SweptTable
    from pfmon.report.plots.sweep_plots import PlottedName, PlottedQuantity

KINDS = ("lines", "map")


def plot_sweep(swept: SweptTable, what: str, over: str, by: str, kind: str, log: bool, axes: Any | None) -> Any:
    """Draw a quantity over one name, with a line for each value of the others, or a map of two names."""
    from pfmon.report.plots.sweep_plots import lines_plot, map_plot

    if kind not in KINDS:
        raise BadValueError(f"plot(kind={kind!r}): one of {', '.join(KINDS)} is wanted")
    names = [*swept.varied, *swept.differing]
    over = over or next(iter(names), "")
    rest = [name for name in names if name != over]
    if kind == "map":
        by = by or next(iter(rest), "")
    for name in filter(None, (over, by)):
        if name not in names:
            raise UnknownNameError("name that varies", name, names)
    if not over or (kind == "map" and not by):
        raise PfmonError(f"plot(): {'two names vary' if kind == 'map' else 'a name varies'} in no pair of these cells")
    drawn = _quantity(swept, what or swept.events[0])
    lines = [by] if by else rest
    series = [_text(swept, place, lines) for place in range(len(swept))]
    _check_points(swept, [over, *lines])
    if kind == "map":
        most = max((value for value in drawn.values if value is not None), default=1)
        return map_plot(drawn, _name(swept, over), _name(swept, by), axes, most)
    return lines_plot(drawn, _name(swept, over), series, axes, log)


def _quantity(swept: SweptTable, what: str) -> PlottedQuantity:
    from pfmon.report.plots.sweep_plots import PlottedQuantity

    parts = [part.strip() for part in what.split(" / ")]
    if len(parts) > 2:
        raise BadValueError(f"plot({what!r}): a column, or a quotient of two, is wanted")
    above = swept.column(parts[0])
    if len(parts) == 1:
        return PlottedQuantity(what, above)
    below = [float(parts[1])] * len(above) if parts[1].isdecimal() else swept.column(parts[1])
    return PlottedQuantity(what, [a / b if a is not None and b else None for a, b in zip(above, below, strict=True)])


def _name(swept: SweptTable, name: str) -> PlottedName:
    from pfmon.report.plots.sweep_plots import PlottedName

    values = swept.column(name)
    shown = {value: swept.shown(place).get(name, str(value)) for place, value in enumerate(values)}
    return PlottedName(name, values, shown)


def _text(swept: SweptTable, place: int, names: Sequence[str]) -> str:
    """Return what a row's line is called: a program's or a single name's value alone, others behind their names."""
    row, shown = swept.to_dict()[place], swept.shown(place)
    own = [(name, shown.get(name, str(row[name]))) for name in names if row[name] is not None]
    return ", ".join(text if name in swept.differing else f"{name}={text}" for name, text in own)


def _check_points(swept: SweptTable, names: Sequence[str]) -> None:
    """Raise PfmonError if cells that differ in other names would be one point."""
    points = list(zip(*(swept.column(name) for name in names), strict=True))
    if len(set(points)) < len(points):
        left = [name for name in [*swept.varied, *swept.differing] if name not in names]
        raise PfmonError(f"plot(): several cells at one point: {', '.join(left)} varies, too")
