"""Members of the project's enumerations under shorter names."""

from enum import IntEnum


def members(enumeration: type[IntEnum], prefix: str, names: str) -> list[int]:
    """The values of members, named without their prefix."""
    return [int(enumeration[f"{prefix}_{name}"]) for name in names.split()]
