"""Records of options' values, which are filled while options are read, and then frozen."""

from __future__ import annotations

from typing import ClassVar, Self

from pfmon.library.options.table import defaults


class OptionRecord:
    """The values of the options of a part: of the run, of an event set, or of the output. Fields are set freely until
    it is frozen; at first they have the defaults of the table."""

    part: ClassVar[str]
    _frozen = False

    def __init__(self) -> None:
        vars(self).update(defaults(self.part))

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen:
            raise AttributeError(f"{name} is of options that are read, and cannot be set")
        super().__setattr__(name, value)

    def frozen(self) -> Self:
        """Freeze it, with the records in it; its lists become tuples, its sets frozen. Returns it."""
        fields = vars(self)
        changing = {name: value for name, value in fields.items() if isinstance(value, CHANGING)}
        fields.update({name: _frozen(value) for name, value in changing.items()}, _frozen=True)
        return self

    def replaced(self, **fields: object) -> Self:
        """Return a copy with other values in these fields, frozen."""
        made = object.__new__(type(self))
        vars(made).update(vars(self), **fields)
        return made.frozen()


CHANGING = (OptionRecord, list, tuple, set)
"""Types of values that can change, or that can have such in them."""


def _frozen(value: object) -> object:
    if isinstance(value, OptionRecord):
        return value.frozen()
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value)) if type(value) in (list, tuple) else value
    return frozenset(value) if isinstance(value, set) else value
