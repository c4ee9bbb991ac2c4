"""The samples of a run as objects, array and table; samples in files of the sampling module raw."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any, overload

from pfmon.errors import PfmonError, reason
from pfmon.session.profile.dataframes import frame
from pfmon.session.sampling.sampling_period import Sample

FIELDS = ("iip", "stamp", "overflowed", "last_val", "set")


class Samples(Sequence[Sample]):
    """The samples in the order in which they were taken."""

    __slots__ = ("_samples",)

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = tuple(samples)

    @overload
    def __getitem__(self, key: int) -> Sample: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Sample]: ...
    def __getitem__(self, key: int | slice) -> Sample | Sequence[Sample]:
        return self._samples[key]

    def __len__(self) -> int:
        return len(self._samples)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Samples) and self._samples == other._samples

    def __hash__(self) -> int:
        return hash(self._samples)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return Sample.to_dict of each."""
        return [sample.to_dict() for sample in self._samples]

    def to_numpy(self) -> Any:
        """Return a structured array of unsigned 64-bit numbers: iip, stamp, overflowed (bit n for PMD n), last_val,
        set, and pmdN for each register (0 in samples without it). PfmonError without NumPy."""
        try:
            numpy = import_module("numpy")
        except ImportError:
            raise PfmonError("to_numpy() needs NumPy, which is not installed: pip install numpy") from None
        return numpy.array(
            list(zip(*self._columns().values(), strict=True)), dtype=[(n, "u8") for n in self._columns()]
        )

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from pfmon.session.profile.notebook_tables import html_table

        columns = self._columns()
        return html_table(list(columns), list(zip(*columns.values(), strict=True)))

    def to_pandas(self) -> Any:
        """Return a DataFrame with the same columns. PfmonError without pandas."""
        return frame(self._columns())

    def _columns(self) -> dict[str, list[int]]:
        """Return the fields of all samples by name; 0 for registers that a sample lacks."""
        numbers = dict.fromkeys(number for sample in self._samples for number, _ in sample.pmds)
        rows = [
            (
                *(sample.iip, sample.stamp, sum(1 << pmd for pmd in sample.overflowed), sample.last, sample.set),
                *map(dict(sample.pmds).get, numbers, repeat(0)),
            )
            for sample in self._samples
        ]
        names = (*FIELDS, *(f"pmd{number}" for number in numbers))
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def read_samples(path: str | os.PathLike[str], *, partial: bool = False) -> Samples:
    """Return the samples in a file of --smpl-module=raw. ``partial``: accept a damaged or truncated file and return its
    complete samples. Raises PfmonError."""
    from pfmon.report.sampling.raw_format import decode

    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise PfmonError(f"{name}: {reason(error)}") from None
    try:
        found = decode(data)
    except PfmonError as error:
        raise PfmonError(f"{name}: {error}") from None
    if found.damage and not partial:
        whole = len(found.samples)
        raise PfmonError(
            f"{name}: {found.damage}; read_samples(..., partial=True) gives the {whole} samples before that"
        )
    return Samples(found.samples)
