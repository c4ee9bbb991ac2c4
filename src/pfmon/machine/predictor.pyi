from collections.abc import Mapping

from pfmon.machine.occurrences import Occurrence

class BranchPredictor:
    def __init__(self, config: Mapping[str, int | bool | str]) -> None: ...
    def predict(
        self,
        address: int,
        taken: bool,
        target: int = 0,
        *,
        kind: int = 0,
        whether: int = 3,
        fall_through: int = 0,
        clear: bool = False,
        multiway: bool = False,
        conditional: bool = True,
        relative: int = 0,
    ) -> tuple[int, int, int]: ...
    def occurrences(
        self, taken: bool, code: int, *, kind: int = 0, multiway: bool = False
    ) -> dict[Occurrence, int]: ...
    def give_hint(self, address: int, target: int, important: bool = True) -> None: ...
    def line_leaves(self, address: int, size: int) -> None: ...
    def repeat(self, address: int, target: int, times: int) -> int: ...
