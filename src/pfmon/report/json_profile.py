"""Profiles in JSON."""

from collections.abc import Sequence
from typing import Any

from pfmon.session.profile import Profile, Row


def profile_json(
    profile: Profile, functions: bool, blocks: bool, annotated: str = "", listing: Sequence[tuple[int, str]] = ()
) -> dict[str, Any]:
    """The parts that were asked for, null the others: events (names, the order of all counts); functions and blocks,
    the largest first: name, address, counts; annotated: function, instructions in order: address (of the bundle),
    slot, text, counts (null where nothing counted)."""
    instructions = [
        {"address": address & ~15, "slot": address & 3, "text": text, "counts": profile.values_at(address)}
        for address, text in listing
    ]
    return {
        "events": list(profile.names),
        "functions": _rows(profile.by_function()) if functions else None,
        "blocks": _rows(profile.by_block()) if blocks else None,
        "annotated": {"function": annotated, "instructions": instructions} if annotated else None,
    }


def _rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"name": row.name, "address": row.address, "counts": row.values} for row in rows]
