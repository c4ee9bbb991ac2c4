"""Parsers of pfmon's command-line options into requests (pfmon on Itanium 2, sections 2 to 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.model.request import (
    BranchBufferRequest,
    EventRequest,
    NameParts,
    instruction_set_mask,
    name_parts,
    privilege_mask,
)

Resolve = Callable[[str], tuple[int, int]]

# Options without their --btb- or --etb- prefix, with the field and value that each sets; other fields accept all.
BRANCH_FILTERS = {
    "tm-tk": ("tm", 2),
    "tm-ntk": ("tm", 1),
    "ptm-correct": ("ptm", 2),
    "ptm-incorrect": ("ptm", 1),
    "ppm-correct": ("ppm", 2),
    "ppm-incorrect": ("ppm", 1),
    "brt-iprel": ("brt", 1),
    "brt-ret": ("brt", 2),
    "brt-ind": ("brt", 3),
    "ds": ("ds", 1),
    "no-tar": ("tar", 0),
    "no-tac": ("tac", 0),
    "no-bac": ("bac", 0),
}


# Compiled on use: every run loads this module.
LINES = r"(?P<first>[^:]+:\d+)(?:-(?P<last>[^:]+:\d+|\d+))?"
"""Matches a source line, or a range of source lines."""


WHOLE = r"[^:\s]+:(?![:\d])[^-]+|.*\boperator-.*"
"""Matches a name that contains dashes: of a shared object, or of an operator."""


def parse_range(text: str, resolve: Resolve | None = None) -> tuple[int, int]:
    """Parse a range `start-end` or one name; limits are numbers, names, or source lines (`file:line`).

    `resolve` returns the start and end of a symbol, of a line, or of lines `file:line-line`.

    >>> parse_range("0x1000-0x1590")
    (4096, 5520)
    """
    if resolve and (lines := re.fullmatch(LINES, text)):
        if lines["last"] is None or lines["last"].isdigit():
            return resolve(text)
        return resolve(lines["first"])[0], resolve(lines["last"])[1]
    first, dash, last = text.partition("-")
    if dash and resolve and re.fullmatch(WHOLE, text):
        return resolve(text)
    if not dash:
        if resolve is None or first[:1].isdigit():
            raise BadValueError(f"bad range {text!r}: the form is start-end or a symbol", "ranges_have_a_form")
        return resolve(first)
    return _address(first, text, resolve), _address(last, text, resolve)


def _address(text: str, whole: str, resolve: Resolve | None) -> int:
    """Parse one limit of a range."""
    if text[:1].isdigit():
        try:
            return int(text, 0)
        except ValueError:
            raise BadValueError(
                f"bad address {text!r} in range {whole!r}: 0x1000 and 4096 are addresses", "addresses_are_numbers"
            ) from None
    if resolve is None or not text:
        raise BadValueError(f"bad range {whole!r}: the form is start-end or a symbol", "ranges_have_a_form")
    return resolve(text)[0]


def parse_list(text: str, count: int, option: str) -> list[str]:
    """Return the items of a comma-separated option, one for each event; missing and empty ones are "".

    >>> parse_list(",ia64", 3, "--insn-sets")
    ['', 'ia64', '']
    """
    items = [item.strip() for item in text.split(",")] if text else []
    if items and not count:
        raise BadValueError(f"{option}={text}: there is no event for it: give -e EVENT,... too", "one_value_an_event")
    if len(items) > count:
        raise BadValueError(f"{option}: {len(items)} values for {count} event(s)", "one_value_an_event")
    return items + [""] * (count - len(items))


def event_options(
    names: Sequence[str],
    thresholds: str = "",
    levels: str = "",
    sets: str = "",
    check_qualifiers: bool = True,
) -> list[EventRequest]:
    """Return event requests from names and from options with one value per event.

    `thresholds`, `levels` and `sets` are the texts of --event-thresholds, --priv-levels and --insn-sets.
    """
    lists = zip(
        names,
        parse_list(thresholds, len(names), "--event-thresholds"),
        parse_list(levels, len(names), "--priv-levels"),
        parse_list(sets, len(names), "--insn-sets"),
        strict=True,
    )
    made = []
    for name, threshold, level, instruction_set in lists:
        parts = name_parts(name)
        levels_are_chosen_once(parts, level)
        made.append(
            EventRequest(
                parts.name,
                privilege_mask(level) if level else parts.plm,
                instruction_set_mask(instruction_set) if instruction_set else None,
                _threshold(threshold),
                check_qualifiers,
                mesi=parts.states,
            )
        )
    return made


def levels_are_chosen_once(parts: NameParts, levels: str) -> None:
    """The levels of an event are in its name (u, k) or in --priv-levels, not in both."""
    if levels and parts.plm is not None:
        raise BadValueError(f"{parts.name}: its levels are in --priv-levels ({levels}), too", "levels_are_chosen_once")


def _threshold(text: str) -> int:
    """Parse a threshold; an empty one is 0."""
    try:
        return int(text, 0) if text else 0
    except ValueError:
        raise BadValueError(f"bad threshold {text!r}: thresholds are numbers", "thresholds_are_numbers") from None


def branch_filters(options: Iterable[str]) -> BranchBufferRequest:
    """Return the branch buffer's setting of options such as `tm-tk` and `brt-ret`; without options every branch is
    captured."""
    fields = {"tm": 3, "ptm": 3, "ppm": 3}
    seen: dict[str, str] = {}
    for option in options:
        if option not in BRANCH_FILTERS:
            raise BadValueError(
                f"unknown branch filter {option!r}: there are {', '.join(BRANCH_FILTERS)}", "branch_filters_must_exist"
            )
        field, value = BRANCH_FILTERS[option]
        branch_filters_of_a_kind_exclude_each_other(seen.setdefault(field, option), option)
        fields[field] = value
    return BranchBufferRequest(fields)


def branch_filters_of_a_kind_exclude_each_other(first: str, second: str) -> None:
    """Filters are combined by and: two of one kind would capture nothing (pfmon on Itanium 2, section 6)."""
    if first != second:
        raise RuleError(
            "branch_filters_of_a_kind_exclude_each_other",
            f"{first} and {second} together capture nothing",
            "pfmon on Itanium 2, section 6",
        )
