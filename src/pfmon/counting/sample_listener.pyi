class SampleListener:
    """What is told of samples while a program runs."""

    error: BaseException | None

    def beside(self, registers: tuple[tuple[int, int], ...], calls: tuple[int, ...]) -> None: ...
