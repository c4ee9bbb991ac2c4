from collections.abc import Mapping

PORT_NUMBERS: dict[str, int]

def ports_of(config: Mapping[str, int | str | bool]) -> dict[str, tuple[int, int, int]]: ...
