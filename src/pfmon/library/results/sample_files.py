"""Reading of sample files written by the sampling module raw."""

from __future__ import annotations

import os
from pathlib import Path

from pfmon.errors import PfmonError, reason
from pfmon.library.results.samples import Samples
from pfmon.report.sampling.raw_format import decode


def read_samples(path: str | os.PathLike[str], *, partial: bool = False) -> Samples:
    """Return the samples in a file of --smpl-module=raw. ``partial``: accept a damaged or truncated file and return its
    complete samples. Raises PfmonError."""
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
