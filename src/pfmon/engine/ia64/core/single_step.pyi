from typing import Any

def step(
    unit: str,
    encoding: int,
    state: dict[str, Any],
    extension: int = 0,
    bundle_address: int = 0,
    checked: bool = False,
) -> tuple[int, dict[str, Any]]: ...
