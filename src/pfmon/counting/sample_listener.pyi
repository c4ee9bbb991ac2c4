class SampleListener:
    """Listener for samples while a program runs."""

    error: BaseException | None

    def beside(self, registers: tuple[tuple[int, int], ...], calls: tuple[int, ...]) -> None: ...
