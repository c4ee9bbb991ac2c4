from collections.abc import Iterator, Mapping, Sequence

from pfmon.machine.figures import Value
from pfmon.machine.memo import Memo
from pfmon.machine.records import Part, Records
from pfmon.machine.traits import Encoding
from pfmon.retirement.pipe import Learner

class Machine(Learner):
    """Gives a traced stream a time."""

    records: Records
    memo: Memo
    repeated: int
    simulated: int
    def __init__(
        self,
        config: Mapping[str, Value],
        encodings: Sequence[Encoding],
        ranges: Sequence[tuple[int, int]] = (),
        memo: bool = True,
    ) -> None: ...
    def finish(self) -> None: ...
    @property
    def cycles(self) -> int: ...
    def occurrences(self) -> dict[tuple[int | None, int, int, int], int]: ...
    def bubbles(self) -> list[tuple[int | None, int, int, int]]: ...
    def front_bubbles(self) -> list[tuple[int | None, int, int, int]]: ...
    def groups(self) -> Iterator[tuple[tuple[Part, ...], int]]: ...
    def levels(self) -> dict[str, list[int]]: ...
