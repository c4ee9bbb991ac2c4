from typing import Any

from pfmon.engine.ia64.encodings.rows import Row

UNIT_LETTERS: str
FILE_NAMES: tuple[str, ...]

def find(unit: str, encoding: int, extension: int = 0) -> Row | None: ...
def extract(number: int, encoding: int, extension: int = 0, bundle_address: int = 0) -> dict[str, int]: ...
def attributes(number: int) -> dict[str, Any]: ...
