"""NamedTuple, Protocol and overload of the module typing, without importing it.

typing and what it imports took a tenth of the start-up of a run, and the seventy named tuples that a run defines an
eighth: collections.namedtuple compiles a constructor for each. A type checker sees those of typing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NamedTuple, Protocol, Self, overload
else:
    from _collections import _tuplegetter

    Protocol = object

    def overload(function: Any) -> Any:
        """A signature, for type checkers only."""
        return function

    class _Definition(type):
        """Makes of the annotations of a class's body the fields of a tuple."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
            if not bases:
                return super().__new__(cls, name, (tuple,), body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            body |= {field: _tuplegetter(place, None) for place, field in enumerate(fields)}
            body |= {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
            return super().__new__(cls, name, bases, body)

    class NamedTuple(metaclass=_Definition):
        """A tuple whose items have names."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()
        _field_defaults: Mapping[str, Any] = {}

        def __new__(cls, *values: Any, **named: Any) -> Self:
            if named or len(values) != len(cls._fields):
                values = cls._values(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _values(cls, values: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
            """The items in order. TypeError: a field without a value, or a value without a field."""
            rest = cls._fields[len(values) :]
            given = cls._field_defaults | named
            if len(values) > len(cls._fields) or not named.keys() <= set(rest) or not given.keys() >= set(rest):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}")
            return [*values, *(given[field] for field in rest)]

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            return cls(*values)

        def _replace(self, **named: Any) -> Self:
            return type(self)(**self._asdict() | named)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            return (
                f"{type(self).__name__}({', '.join(f'{field}={value!r}' for field, value in self._asdict().items())})"
            )

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)


__all__ = ["NamedTuple", "Protocol", "overload"]
