"""Assignment of events to counters; finds a legal assignment whenever one exists.

Without further rules this is bipartite matching. Rules that tie events together (a set selected through one
configuration register) are expressed as anchors: an event that must sit on a given counter. `assign` tries
every choice of anchors that could make a difference and solves the matching that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pfmon.errors import AssignmentError

TOGETHER = "--unlimited counts them in one run all the same, and several -e with --switch-timeout take turns"
"""The advice for events that do not fit on one PMU."""

Allowed = Sequence[Sequence[int]]
Choice = dict[int, Sequence[int]]


def match(allowed: Allowed) -> list[int] | None:
    """Return one counter for each event, all different, or None.

    Kuhn's augmenting paths: complete, so None means that no matching exists.
    """
    owner: dict[int, int] = {}

    def place(event: int, seen: set[int]) -> bool:
        for counter in allowed[event]:
            if counter not in owner:
                owner[counter] = event
                return True
        for counter in allowed[event]:
            if counter not in seen:
                seen.add(counter)
                if place(owner[counter], seen):
                    owner[counter] = event
                    return True
        return False

    for event in range(len(allowed)):
        if not place(event, set()):
            return None
    placed = {event: counter for counter, event in owner.items()}
    return [placed[event] for event in range(len(allowed))]


def assign(allowed: Allowed, choices: Iterable[Choice]) -> list[int] | None:
    """Return the first matching under any of the choices; a choice narrows the counters of some events."""
    for choice in choices:
        narrowed = [choice.get(event, counters) for event, counters in enumerate(allowed)]
        if match(narrowed) is not None:
            return in_order(narrowed)
    return None


def in_order(allowed: Allowed) -> list[int]:
    """Return the matching that gives each event in turn the lowest counter with which the rest can still be placed.

    `allowed` must have a matching.
    """
    fixed = [list(counters) for counters in allowed]
    for event, counters in enumerate(allowed):
        for counter in sorted(counters):
            trial = [[c for c in others if c != counter] for others in fixed]
            trial[event] = [counter]
            if match(trial) is not None:
                fixed = trial
                break
    return [counters[0] for counters in fixed]


def anchors(events: Sequence[int], key: Callable[[int], object]) -> Iterator[int]:
    """Yield one representative of every class of events with the same `key`."""
    seen = set()
    for event in events:
        if (k := key(event)) not in seen:
            seen.add(k)
            yield event


def events_need_free_counters(names: Sequence[str], wanted: Allowed, section: str) -> AssignmentError:
    """Return the error that lists the counters of each event."""
    wishes: dict[str, int] = {}
    for name, counters in zip(names, wanted, strict=True):
        wish = f"{name} on {' '.join(map(str, counters)) or 'none'}"
        wishes[wish] = wishes.get(wish, 0) + 1
    text = "; ".join(wish if count == 1 else f"{count} times {wish}" for wish, count in wishes.items())
    advice = f". {TOGETHER}" if len(names) > 1 else ""
    message = f"no counters left for {len(names)} event(s): {text}{advice}"
    return AssignmentError("events_need_free_counters", message, section)
