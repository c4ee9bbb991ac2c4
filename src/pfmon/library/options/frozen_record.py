"""A record that is filled while options are read, and then frozen: from there on it can only be read."""

from __future__ import annotations

from typing import Self


class FreezableRecord:
    """Fields are set freely until a copy of it is frozen."""

    _frozen = False

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen:
            raise AttributeError(f"{name} is of a run that is resolved, and cannot be set")
        super().__setattr__(name, value)

    def copied(self) -> Self:
        """Return a copy of a record that is not frozen; they share no list, set or mapping."""
        return self._made(list, set)

    def frozen(self) -> Self:
        """Return a copy that cannot be edited; its lists are tuples, its sets frozen."""
        made = self._made(tuple, frozenset)
        vars(made)["_frozen"] = True
        return made

    def _made(self, sequence: type, members: type) -> Self:
        made = object.__new__(type(self))

        def own(value: object) -> object:
            if isinstance(value, FreezableRecord):
                return value.copied() if sequence is list else value.frozen()
            if isinstance(value, list):
                return sequence(map(own, value))
            if isinstance(value, dict):
                return {key: own(one) for key, one in value.items()}
            return members(value) if isinstance(value, set) else value

        vars(made).update({name: own(value) for name, value in vars(self).items()})
        return made
