"""How many examples a property is tried with: moderately many, and many times as many under exhaustive."""

from hypothesis import HealthCheck, settings

TIMES = 10
"""How many times as many examples an exhaustive run tries."""
USUAL = 40
"""Examples of a property that names no number."""


class Exhaustive:
    """Whether this run is exhaustive: conftest.py sets it before any test is imported."""

    named = False


def load_profile(exhaustive: bool) -> None:
    """Set what holds for all properties. How long an example takes says something of the machine that tests run on."""
    Exhaustive.named = exhaustive
    slow = [HealthCheck.too_slow] if exhaustive else []
    count = USUAL * (TIMES if exhaustive else 1)
    settings.register_profile("pfmon", deadline=None, max_examples=count, suppress_health_check=slow)
    settings.load_profile("pfmon")


def examples(count: int, **others: object) -> settings:
    """Settings of a property that is tried with ``count`` examples, for its being cheap or expensive."""
    return settings(max_examples=count * (TIMES if Exhaustive.named else 1), **others)  # type: ignore[arg-type]  # options of hypothesis


def usual_size(usual: int, whole: int) -> int:
    """A size of what a test works on: of every run, or the whole one of an exhaustive run."""
    return whole if Exhaustive.named else usual
