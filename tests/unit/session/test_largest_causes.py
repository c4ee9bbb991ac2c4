"""What usually helps against each cause of stalls."""

from pfmon.session.profile.cpi_causes import COMPONENTS
from pfmon.session.profile.largest_causes import ADVICE


def test_each_component_of_the_breakdown_has_advice() -> None:
    assert list(ADVICE) == [one.name for one in COMPONENTS]
    assert all(text.endswith(".") and 20 < len(text) < 300 for text in ADVICE.values())
