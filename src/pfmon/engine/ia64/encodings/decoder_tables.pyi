ROW_SIZE: int
FILE_NAMES: tuple[str, ...]

def computed() -> bytes: ...
