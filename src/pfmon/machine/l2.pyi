from collections.abc import Mapping
from enum import IntEnum

from pfmon.machine.machine_figures import Value
from pfmon.machine.tag_store import TagStore

class RequestKind(IntEnum):
    REQUEST_READ = 0
    REQUEST_FLOAT_READ = 1
    REQUEST_WRITE = 2
    REQUEST_SEMAPHORE = 3
    REQUEST_PREFETCH = 4
    REQUEST_FETCH = 5
    REQUEST_FETCH_PREFETCH = 6
    REQUEST_WALK = 7
    REQUEST_KINDS = 8

class RequestFlag(IntEnum):
    REQUEST_EXCLUSIVE = 1
    REQUEST_ACQUIRE = 2
    REQUEST_RELEASE = 4
    REQUEST_NO_RECENCY = 8
    REQUEST_NO_L3 = 16

class L2:
    """L2 and all levels below it."""

    def __init__(self, config: Mapping[str, Value]) -> None: ...
    def request_at(
        self, address: int, kind: int, now: int, flags: int = 0
    ) -> tuple[int, int, list[tuple[int, int]]]: ...
    def quick_at(self, address: int, kind: int, now: int) -> bool: ...
    def finish_at(self, now: int) -> None: ...
    def stores(self) -> dict[str, TagStore]: ...
    def levels(self) -> dict[str, list[int]]: ...
