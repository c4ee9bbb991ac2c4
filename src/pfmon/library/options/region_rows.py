"""Options of regions, which a program marks itself (docs/regions.md)."""

from __future__ import annotations

from typing import Any

from pfmon.errors import BadValueError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import FLAG
from pfmon.library.options.option import Kind, Option
from pfmon.library.options.option_values import names

MAX_BYTES = 64
"""Bytes of a region's name (stream_words.pxd)."""
MAX_REGIONS = 64
"""Regions of a run (open_regions.pxd)."""


def region(name: str) -> str:
    """Return the name of a region, checked as the marks of programs are."""
    size = len(name.encode(errors="surrogateescape"))
    if not 0 < size <= MAX_BYTES or not name.isprintable() or name != name.strip(" ") or "," in name:
        raise BadValueError(
            f"--region={name}: a name of 1 to {MAX_BYTES} bytes that can be printed, without commas, is wanted"
        ).about("--region")
    return name


def _read(_: str, text: str | None) -> list[str]:
    return [region(name) for name in names(text or "") or [""]]


def _accept(name: str, value: object) -> list[str]:
    return [region(one) for one in python_values.items(name, value)]


def _keep(option: Option, _: Any, owner: Any, value: list[str]) -> None:
    """Add names that are not there yet."""
    given = list(dict.fromkeys([*getattr(owner, option.attribute), *value]))
    if len(given) > MAX_REGIONS:
        raise BadValueError(f"--region: {len(given)} regions, and there is room for {MAX_REGIONS}").about("--region")
    setattr(owner, option.attribute, given)


OPTIONS = [
    Option(
        "region",
        "count only while a thread is in one of these regions, which the program marks",
        Kind(_read, _accept, _keep, default=[]),
        "NAME,...",
        keyword=True,
        qualifies=True,
        alone=False,
    ),
    Option(
        "per-region",
        "count each region by itself, too: a table; without --region, all that the program marks",
        FLAG,
        keyword=True,
    ),
]
