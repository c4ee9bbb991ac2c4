"""Constraints between a machine's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pfmon.machine.config.figures import size_text
from pfmon.machine.config.machine_figures import Value

CACHES = ("l1d", "l1i", "l2", "l2d", "l2i", "l3")
PREDICTOR_TABLES = (
    ("counters", "ways"),
    ("multiway", "multiway_ways"),
    ("targets", "target_ways"),
    ("second", "second_ways"),
)
TLBS = ("dtlb1", "dtlb2", "itlb1", "itlb2", "alat")


class Problem(NamedTuple):
    """A figure that contradicts others, and the legal values."""

    name: str
    text: str


def cache_problems(values: Mapping[str, Value]) -> Iterator[Problem]:
    """Contradictions in the figures of an out-of-order machine."""
    for cache, above in {"l1d": "l1d", "l1i": "l1i", "l2": "l1d", "l3": "l2"}.items():
        if f"{cache}.size" in values:
            yield from _cache_geometry(values, cache)
            if _number(values, f"{cache}.line") < _number(values, f"{above}.line"):
                yield Problem(f"{cache}.line", f"smaller than {above}.line={values[f'{above}.line']}")
    for tlb in ("dtlb1", "itlb1", "tlb2"):
        if f"{tlb}.entries" in values:
            yield from _entry_geometry(values, tlb)
    for key in ("counters", "shared", "indirect", "tagged", "loops"):
        entries = values.get(f"predictor.{key}", 0)
        assert isinstance(entries, int)
        if not power_of_two(entries):
            yield Problem(f"predictor.{key}", f"{entries}: a power of two is wanted")
    if values["predictor.kind"] == "tage":
        shortest, longest = (_number(values, f"predictor.{key}") for key in ("shortest_path", "path"))
        if longest < shortest:
            yield Problem("predictor.path", f"shorter than predictor.shortest_path={shortest}")
    targets, ways = _number(values, "predictor.targets"), _number(values, "predictor.target_ways")
    if targets % ways or not power_of_two(targets // ways):
        yield Problem("predictor.targets", f"{targets} in sets of {ways}: a power of two of whole sets is wanted")


def problems(values: Mapping[str, Value]) -> Iterator[Problem]:
    """Contradictions in these figures."""
    for cache in CACHES:
        if f"{cache}.size" in values:
            yield from _cache_geometry(values, cache)
    for tlb in TLBS:
        if f"{tlb}.entries" in values:
            yield from _entry_geometry(values, tlb)
    yield from _line_nesting(values)
    yield from _fetch_windows(values)
    yield from _predictor_tables(values)


def _number(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value


def power_of_two(number: int) -> bool:
    """Whether a positive number is a power of two."""
    return number & (number - 1) == 0


def _cache_geometry(values: Mapping[str, Value], cache: str) -> Iterator[Problem]:
    size, ways, line = (_number(values, f"{cache}.{key}") for key in ("size", "ways", "line"))
    if not power_of_two(line):
        yield Problem(f"{cache}.line", f"{size_text(line)} is no power of two")
    elif size % (ways * line):
        yield Problem(f"{cache}.size", f"{size_text(size)} is no multiple of a set, {ways} ways of {line} bytes")
    elif values[f"{cache}.index"] == "bits" and not power_of_two(size // (ways * line)):
        sets = size // (ways * line)
        yield Problem(
            f"{cache}.size",
            f"{size_text(size)} in {ways} ways of {line} bytes makes {sets} sets; "
            f"{cache}.index=bits wants a power of two, {cache}.index=modulo takes any number",
        )


def _entry_geometry(values: Mapping[str, Value], name: str) -> Iterator[Problem]:
    entries, ways = _number(values, f"{name}.entries"), _number(values, f"{name}.ways")
    if entries % ways or not power_of_two(entries // ways):
        yield Problem(
            f"{name}.ways",
            f"{entries} entries in sets of {ways}: a power of two of whole sets is wanted, such as "
            f"{name}.ways={entries} for one set",
        )


def _line_nesting(values: Mapping[str, Value]) -> Iterator[Problem]:
    """A line of a cache must fit in one line of the next."""
    data, instructions = ("l2", "l2") if "l2.line" in values else ("l2d", "l2i")
    for inner, outer in (("l1d", data), ("l1i", instructions), (data, "l3"), (instructions, "l3")):
        if _number(values, f"{outer}.line") < _number(values, f"{inner}.line"):
            yield Problem(f"{outer}.line", f"smaller than {inner}.line={values[f'{inner}.line']}")


def _fetch_windows(values: Mapping[str, Value]) -> Iterator[Problem]:
    """A fetch window must fit in one line of L1I."""
    window = _number(values, "frontend.window")
    if _number(values, "l1i.line") < window:
        yield Problem("l1i.line", f"smaller than frontend.window={window}")


def _predictor_tables(values: Mapping[str, Value]) -> Iterator[Problem]:
    """Tables of histories are indexed by address bits, counters also by a history."""
    for key, ways in PREDICTOR_TABLES:
        if f"predictor.{ways}" in values:
            entries, of_set = _number(values, f"predictor.{key}"), _number(values, f"predictor.{ways}")
            if entries % of_set or not power_of_two(entries // of_set):
                yield Problem(
                    f"predictor.{key}", f"{entries} in sets of {of_set}: a power of two of whole sets is wanted"
                )
    counters, history = _number(values, "predictor.counters"), _number(values, "predictor.history")
    if values["predictor.kind"] == "itanium2" and (not power_of_two(counters) or counters < 1 << history):
        yield Problem(
            "predictor.counters",
            f"{counters}: a power of two is wanted, {1 << history} or more for predictor.history={history}",
        )
