class SecondThread:
    """Decides whether a second thread pays, measured on the run itself. ``on``: the stream is read in it now."""

    on: bool

    def __init__(self, trial_after: float = 0.3, turn_seconds: float = 0.05, holds: float = 10.0) -> None: ...

def pays(alone: float, words_alone: int, beside: float, words_beside: int) -> bool:
    """Whether a word costs no more processor time with the second thread than without: seconds and words of both."""
