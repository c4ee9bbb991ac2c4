"""IntEnum of the module enum for compiled modules: a ``cpdef enum`` of Cython becomes one of these (setup.py).

enum.IntEnum makes an object of every member when an enumeration is defined. A run defines forty with five hundred
members and asks for a few of them, so here a member is made when it is asked for. A type checker sees enum.IntEnum, in
the .pyi files.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


_READ_ONLY: Any = type(type.__dict__)
"""types.MappingProxyType, without importing types."""


_BASE = "__Pyx_FlexibleEnumBase"
_bases: list[Any] = []


class EnumType(type):
    """The class of enumerations, which are called for two things: an enumeration that has no members is called with a
    name and pairs of names and numbers, and gives a new one; others with a number, and give the member."""

    _numbers: dict[str, int]
    _names: dict[int, str]
    """The first name of each number."""
    _value2member_map_: dict[int, Any]
    """The members that were asked for."""
    _members: Mapping[str, Any] | None = None

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        """Each compiled module defines the same base of its enumerations: the first one stands for all."""
        if name == _BASE and _bases:
            return _bases[0]
        made = super().__new__(cls, name, bases, body)
        if name == _BASE:
            _bases.append(made)
        return made

    def __call__(cls, value: Any, names: Any = None, *, module: str | None = None) -> Any:
        if names is not None:
            numbers = dict(names)
            first = {number: name for name, number in reversed(numbers.items())}
            return EnumType(
                value,
                (cls,),
                {"__module__": module, "_numbers": numbers, "_names": first, "_value2member_map_": {}},
            )
        member = cls._value2member_map_.get(value)
        if member is None:
            member = cls._made(int(value))
        return member

    def _made(cls: Any, value: int) -> Any:
        """The member of a number, which was not asked for yet."""
        if value not in cls._names:
            return cls._missing_(value)
        member = int.__new__(cls, value)
        member._name_, member._value_ = cls._names[value], value
        cls._value2member_map_[value] = member
        return member

    def _missing_(cls, value: int) -> Any:
        raise ValueError(f"{value} is not a valid {cls.__name__}")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_") or name not in cls._numbers:
            raise AttributeError(f"{cls.__name__} has no member {name}")
        member = cls(cls._numbers[name])
        setattr(cls, name, member)  # it is found there next time
        return member

    def __getitem__(cls, name: str) -> Any:
        return cls(cls._numbers[name])

    @property
    def __members__(cls) -> Mapping[str, Any]:
        """Members by name, with the names that mean the same number as one before."""
        if cls._members is None:
            cls._members = _READ_ONLY({name: cls(number) for name, number in cls._numbers.items()})
        return cls._members

    def __iter__(cls) -> Iterator[Any]:
        return map(cls, dict.fromkeys(cls._numbers.values()))

    def __len__(cls) -> int:
        return len(cls._names)

    def __contains__(cls, member: object) -> bool:
        return isinstance(member, cls) or member in cls._names


class IntEnum(int, metaclass=EnumType):
    """A number with a name."""

    _name_: str | None
    _value_: int

    @property
    def name(self) -> str | None:
        return self._name_

    @property
    def value(self) -> int:
        return self._value_

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self._name_}: {self._value_}>"

    __str__ = int.__repr__

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._value_,)
