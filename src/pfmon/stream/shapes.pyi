class ShapeTable:
    """The shapes of one engine's blocks."""

    def __len__(self) -> int: ...

class Consumer:
    """A reader of the stream; the base class takes the words and does nothing."""
