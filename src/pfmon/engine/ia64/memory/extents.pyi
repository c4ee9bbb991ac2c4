class Extent:
    """Addresses [start, end), whole pages."""

    start: int
    end: int
    protection: int
    shared: bool

    def with_protection(self, protection: int) -> Extent: ...

def new_extent(start: int, end: int, protection: int, shared: bool) -> Extent | None: ...
