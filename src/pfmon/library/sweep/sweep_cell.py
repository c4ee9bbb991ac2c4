"""The work of a sweep's worker: record a program, or count a recording on a machine. Orders and answers are plain data,
which pass through pipes and clusters."""

from __future__ import annotations

import hashlib
import os
import resource
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmon.errors import PfmonError
from pfmon.library.keywords import options_of
from pfmon.library.preparing.plan import RunContext
from pfmon.library.preparing.prepared_run import prepare_run
from pfmon.library.preparing.standard_streams import DEVNULL, Files
from pfmon.library.results.run_result import Run
from pfmon.library.run_api import record
from pfmon.version import VERSION

Order = dict[str, Any]
Answer = dict[str, Any]


def execute_order(order: Mapping[str, Any], recording: bytes | None = None, beside: bytes | None = None) -> Answer:
    """Execute an order. The answer has ``error`` (null, or the reason of failure), ``seconds`` of this thread's
    processor time, and the results. ``recording``, ``beside``: contents of files that this worker cannot read."""
    before = _seconds()
    try:
        if order["pfmon"] != VERSION:
            raise PfmonError(f"the worker has pfmon {VERSION}, and the sweep is of {order['pfmon']}")
        found = _record(order) if order["do"] == "record" else _count(order, recording, beside)
    except PfmonError as error:
        return {"error": str(error), "seconds": _seconds() - before}
    return {"error": None, "seconds": _seconds() - before, **found}


def _seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_utime + usage.ru_stime


def _record(order: Mapping[str, Any]) -> Answer:
    """Record a program, discarding its output."""
    source = Path(order["input"]).read_bytes() if order["input"] else b""
    run = record(order["path"], order["command"], input=source, stdout=DEVNULL, stderr=DEVNULL, **order["options"])
    return {"status": run.status, "instructions": run.retired}


def _count(order: Mapping[str, Any], recording: bytes | None, beside: bytes | None) -> Answer:
    """Return a program's results; for two on a core ``threads``, the results of each."""
    paths = [order["path"] if recording is None else _kept(order["digest"], recording)]
    if order["beside"]:
        paths.append(order["beside"] if beside is None else _kept(order["beside_digest"], beside))
    machine = {"machine": order["machine"], "set": order["settings"], "pmu": order["pmu"]}
    runs = _replayed(paths, {**machine, "events": order["events"], "unlimited": True})
    broken_down = _replayed(paths, {**machine, "report": "cpi"}) if order["cpi"] else [None] * len(runs)
    found = [_answer(run, cycles) for run, cycles in zip(runs, broken_down, strict=True)]
    return {"threads": found} if order["beside"] else found[0]


def _answer(run: Run, broken_down: Run | None) -> Answer:
    cpi = broken_down.cpi if broken_down else None
    return {
        "status": run.status,
        "instructions": run.retired,
        "counts": {count.name: count.value for count in run.counts},
        "cpi": {"cycles": cpi.cycles, **{part: cpi.total(part) for part in cpi.parts}} if cpi else None,
    }


def _replayed(paths: Sequence[str], words: dict[str, Any]) -> Sequence[Run]:
    """Replay one recording, or two on one core, in one thread: there are as many workers as processors."""
    options = options_of(words, replay=paths[0])
    if len(paths) > 1:
        from pfmon.library.preparing.coupled_programs import PreparedCore

        return PreparedCore(options, [[], []], replays=paths).run().threads
    return [prepare_run(options, [], RunContext(Files(), threaded=False)).run()]


def _kept(digest: str, recording: bytes) -> str:
    """Return a local file with the contents that were sent."""
    folder = Path(tempfile.gettempdir()) / f"pfmon-sweep-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / digest
    if not path.exists() or path.stat().st_size != len(recording):
        partial = folder / f".{digest}.{os.getpid()}"
        partial.write_bytes(recording)
        partial.replace(path)
    return str(path)


def digest_of(path: str) -> str:
    """Return the digest of a file's contents."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
