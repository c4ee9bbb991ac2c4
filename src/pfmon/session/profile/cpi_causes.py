"""The parts of the cycle breakdown and what they consist of: `cpi_causes.csv` beside this file, in the order in which
reports print them.

=========== ===================================================================================================
column      content
=========== ===================================================================================================
part        a part of figure 3-2 of the Montecito manual, whose other stalls are two here: operations, and the others
component   one of what it consists of
causes      names of machine/inorder/pipeline/stall_causes.pxd, Cause, with * as in fnmatch; none: cycles that retired
core        the only kind of core that has it (machine_figures.py); empty: every kind
slots       the node of level 2 of the top-down analysis that its slots belong to (top_down.py); empty: of none alone
meaning     what happens in such a cycle
=========== ===================================================================================================

Each cause is in one row, so that the components add up to the cycles.
"""

from __future__ import annotations

from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.machine.config.machine_figures import IN_ORDER, OUT_OF_ORDER


class Component(NamedTuple):
    """A row of the table."""

    part: str
    name: str
    causes: tuple[str, ...]
    core: str
    slots: str
    meaning: str


def _components() -> list[Component]:
    path = join(dirname(__file__), "cpi_causes.csv")
    table = rows(path, ("part", "component", "causes", "core", "slots", "meaning"))
    return [Component(part, name, tuple(causes.split()), *others) for part, name, causes, *others in table]


COMPONENTS = _components()

PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    part: {one.name: one.causes for one in COMPONENTS if one.part == part}
    for part in dict.fromkeys(one.part for one in COMPONENTS)
}
"""Part -> its components -> patterns of causes of back-end bubbles."""

INHERENT = next(iter(PARTS))
"""The part of cycles that retired."""

OF_ONE_CORE = {core: {one.name for one in COMPONENTS if one.core == core} for core in (IN_ORDER, OUT_OF_ORDER)}
"""Kind of core -> the components that only it has."""
