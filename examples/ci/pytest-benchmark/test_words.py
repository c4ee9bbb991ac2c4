"""A benchmark that is timed without --pfmon, and counted with it: once then, without repetitions."""

from __future__ import annotations

from typing import Any

import pytest
from words import count_words


@pytest.mark.pfmon
def test_counting(benchmark: Any) -> None:
    assert len(benchmark(count_words, " ".join(f"word{number % 40}" for number in range(4000)))) == 40
