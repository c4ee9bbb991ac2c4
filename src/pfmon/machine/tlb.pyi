from collections.abc import Mapping

from pfmon.machine.figures import Value
from pfmon.machine.tags import TagStore

class Tlb:
    """The TLB ``name`` of a machine; an entry stands for ``page`` bytes."""

    def __init__(self, config: Mapping[str, Value], name: str, page: int) -> None: ...
    @property
    def store(self) -> TagStore: ...

class PageTable:
    """The pages that the operating system has given translations for."""

    def __contains__(self, page: int) -> bool: ...
    def __len__(self) -> int: ...
    def learn(self, page: int) -> None: ...
