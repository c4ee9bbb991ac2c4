"""How often words occur in a text."""

from __future__ import annotations


def count_words(text: str) -> dict[str, int]:
    """Word -> how often it occurs."""
    counts: dict[str, int] = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts
