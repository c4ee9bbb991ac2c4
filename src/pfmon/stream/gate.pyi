from collections.abc import Sequence

from pfmon.stream.shapes import Consumer, ShapeTable

class Gate(Consumer):
    """Hands the stream on to one of its readers, and to a witness, while counting is on."""

    def __init__(
        self,
        shapes: ShapeTable,
        readers: Sequence[Consumer],
        *,
        traced: bool,
        triggers: Sequence[tuple[bool, int, bool]] = ...,
        on: bool = ...,
        up: bool | None = ...,
        witness: Consumer | None = ...,
    ) -> None: ...
    def choose(self, place: int) -> None: ...
    def reached(self) -> list[int]: ...
