"""The result of a comparison of two results, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pfmon.report.differences.difference import CYCLES, Changed, ChangedLine, Difference, Pair
from pfmon.session.profile.finding import WORDS

MOSTLY = 0.5
"""The share of a change that one function, or one cause, has at least if the change is mostly its own."""


def conclusion(found: Difference) -> str:
    """Return ``B takes 12.3% fewer cycles: -1.2M in parse at csv.c:40, mostly mispredicted branches``; without cycles,
    the same of the first event; "" if the sides have no event in common."""
    common = (pair for pair in found.counts if pair.difference is not None)
    pair = found.total(CYCLES) if found.causes else next(common, None)
    if pair is None:
        return ""
    what, verb = (CYCLES, "take") if found.causes else (pair.name, "have")
    if not pair.growth:
        text = f"A and B {verb} the same number of {what}: {pair.a:,}"
    else:
        text = f"B {'takes' if found.causes else 'has'} {_percent(pair)} {what}"
    small = abs(pair.growth) < found.share(what) * Fraction(max(pair.a or 0, pair.b or 0))
    if small and pair.growth:
        text += f", which is below {float(100 * found.share(what)):g}%"
    row = _largest(found, what, pair.growth)
    if row is None:
        return text
    most = not small and row.growth * pair.growth >= MOSTLY * pair.growth**2
    return f"{text}{': ' if most else '; the largest change is '}{_where(found, row)}"


def _percent(pair: Pair) -> str:
    less = pair.growth < 0
    if not pair.a:
        return f"{_short(pair.growth)} more"
    share = abs(100 * pair.growth / pair.a)
    return (
        f"{share:.1f}% {'fewer' if less else 'more'}" if share >= 0.1 else f"{share:.2g}% {'fewer' if less else 'more'}"
    )


def _largest(found: Difference, what: str, growth: int | float) -> Pair | None:
    """Return the function with the largest change in the direction of the whole one; else the largest change."""
    rows = [one.cycles for one in found.functions] if found.causes else list(found.by_event.get(what, ()))
    large, _ = found.parted(what, rows, lambda row: row)
    return next((row for row in large if row.growth * growth > 0), next(iter(large), None))


def _where(found: Difference, row: Pair) -> str:
    """Return ``-1.2M in parse at csv.c:40, mostly mispredicted branches``."""
    text = f"{_short(row.growth, '+')} in {row.name}{_presence(row)}"
    function = next((one for one in found.functions if one.cycles is row), None)
    if function is None:
        return text
    if line := _line(found.lines, function):
        place = line.place
        text += f" at {place.file.rpartition('/')[2]}:{place.line_b or place.line_a}"
    cause = _cause(found.parts, function)
    return f"{text}, mostly {cause}" if cause else text


def _presence(row: Pair) -> str:
    return ", which is new" if row.a is None else ", which is gone" if row.b is None else ""


def _line(lines: Sequence[ChangedLine], function: Changed) -> ChangedLine | None:
    """Return the line of a function with the largest change in the function's direction."""
    own = (line for line in lines if (line.function, line.place.object) == function.key[:2])
    return next((line for line in own if line.counts.growth * function.cycles.growth > 0), None)


def _cause(parts: Sequence[str], function: Changed) -> str:
    """Return the part of the cycles that has most of a function's change, "" for none."""
    a, b = function.parts_a or (0,) * len(parts), function.parts_b or (0,) * len(parts)
    whole = function.cycles.growth
    changes = {name: second - first for name, first, second in zip(parts, a, b, strict=False)}
    most = max(changes, key=lambda name: changes[name] * (1 if whole > 0 else -1), default="")
    return WORDS.get(most, most) if most and abs(changes[most]) >= MOSTLY * abs(whole) else ""


def _short(count: int | float, sign: str = "") -> str:
    """Return 1.2M, 90.0K, or a count below 10,000."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("K", 1e4)):
        if abs(count) >= size:
            return f"{count / (1e3 if unit == 'K' else size):{sign}.1f}{unit}"
    return f"{count:{sign},.6g}"
