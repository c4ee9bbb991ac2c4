"""Baselines: a run's counts in a file, with which later runs are compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pfmon.bounded_files import read_bounded
from pfmon.errors import PfmonError, reason
from pfmon.library.options.option import OF_RUN, OF_SET
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import defaults, rows
from pfmon.library.resolving.run_parts import Processor
from pfmon.library.results.json_values import a_count, a_list, a_text, an_object
from pfmon.machine.config.machine_figures import HOST
from pfmon.report.programming_record import EngineRecord
from pfmon.session.run.programmed_pmu import Value
from pfmon.version import VERSION

QUALIFYING = {
    part: list(dict.fromkeys(one.attribute for one in rows(part) if one.qualifies)) for part in (OF_SET, OF_RUN)
}
"""Fields of options that say what of a run counts, of an event set and of the run: counts under other ones are of
something else."""


class Baseline(NamedTuple):
    """The command, PMU and machine of a run, its qualification (options not at their defaults), its counts by event,
    and the engine (EngineRecord.to_dict; empty: not known)."""

    command: Sequence[str]
    pmu: str
    machine: str
    changes: Sequence[str]
    options: Mapping[str, Any]
    counts: Mapping[str, Value]
    engine: Mapping[str, Any] = {}

    def to_text(self) -> str:
        """Return the file's text, a line for each event. Keys: pfmon (version), command, pmu, machine, changes,
        options, counts, engine."""
        return json.dumps({"pfmon": VERSION, **self._asdict()}, indent=2) + "\n"


def baseline_of(
    command: Sequence[str], processor: Processor, options: Options, counts: Mapping[str, Value]
) -> Baseline:
    """Return the baseline of a run on a processor with these options."""
    return Baseline(
        list(command),
        processor.pmu,
        machine_of(processor),
        list(processor.settings),
        _qualification(options),
        counts,
    )


def machine_of(processor: Processor) -> str:
    """Return the machine as baselines name it: the host's by what it is, as another host's differs."""
    name = without_folder(processor.machine_name)
    return f"{name}: {processor.figures()['machine.name']}" if name == HOST else name


def _qualification(options: Options) -> dict[str, Any]:
    """Return the qualifying options that are not at their defaults, as in JSON."""
    found: dict[str, Any] = {}
    for owner in (options.sets[0], options):  # several sets are estimates, and no baseline
        usual = defaults(owner.part)
        values = {name: _plain(getattr(owner, name)) for name in QUALIFYING[owner.part]}
        found |= {name: value for name, value in values.items() if value != _plain(usual[name])}
    if found.pop("instruction_sets", None) and options.insn_set != "both":
        found["insn_set"] = options.insn_set
    return found


def _plain(value: object) -> object:
    """Return a value as in JSON."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def read(path: str, option: str) -> Baseline:
    """Read a baseline; ``option`` is the option in error messages. PfmonError: there is no file, or it is no
    baseline."""
    try:
        return from_object(json.loads(read_bounded(path).decode()))
    except FileNotFoundError:
        raise PfmonError(f"{option}: there is no such file; --save-baseline={path} makes it") from None
    except OSError as error:
        raise PfmonError(f"{option}: {reason(error)}") from None
    except (ValueError, RecursionError):
        raise PfmonError(f"{option}: this is no baseline; --save-baseline={path} makes one") from None


def from_object(found: Any) -> Baseline:
    """The baseline that was read as JSON. ValueError: it is none."""
    fields = an_object(found)
    if not fields.keys() >= {*Baseline._fields} - {"engine"}:
        raise ValueError("keys")
    made = Baseline(*(fields.get(name, {}) for name in Baseline._fields))
    command, changes = ([a_text(one) for one in a_list(several)] for several in (made.command, made.changes))
    if not command:
        raise ValueError("no command")
    return Baseline(
        command,
        a_text(made.pmu),
        a_text(made.machine),
        changes,
        an_object(made.options),
        {a_text(name): a_count(count) for name, count in an_object(made.counts).items()},
        an_object(made.engine),
    )


def differences(before: Baseline, now: Baseline) -> Iterator[str]:
    """Why counts are not to be compared, in a line each: they are not of the same. ``now``'s values do not matter,
    only its events."""
    for difference in _differences(before, now):
        yield " ".join(difference.splitlines())  # whatever the words of a file have in them


def _differences(before: Baseline, now: Baseline) -> Iterator[str]:
    if [without_folder(word) for word in before.command] != [without_folder(word) for word in now.command]:
        yield f"it is of {' '.join(before.command)}, and this is {' '.join(now.command)}"
    if before.pmu != now.pmu:
        yield f"its counts are of --pmu={before.pmu}, and this is {now.pmu}"
    elif (before.machine, before.changes) != (now.machine, now.changes):
        yield f"its machine is {_machine(before)}, and this is {_machine(now)}"
    if before.options != now.options:
        known = ["insn_set" if name == "instruction_sets" else name for names in QUALIFYING.values() for name in names]
        names = [name for name in known if before.options.get(name) != now.options.get(name)]
        others = ", ".join(f"--{name.replace('_', '-')}" for name in names) or "others"
        yield f"it was counted with other options than this ({others})"
    missing = [name for name in now.counts if name not in before.counts]
    if missing:
        yield f"there is no {', '.join(missing)} in it"


def executed_by(baseline: Baseline, engine: EngineRecord | None) -> Baseline:
    """Return a baseline with the engine of its run (None: not known)."""
    return baseline._replace(engine=engine.to_dict()) if engine else baseline


def other_engine(before: Baseline, now: Baseline) -> str:
    """Why counts are not to be compared: the programs ran by different engines, or saw different processors. Empty:
    they did not, or it is not known."""
    if not before.engine or not now.engine or before.engine == now.engine:
        return ""
    was, here = (" on ".join(str(one.engine.get(key)) for key in ("name", "cpu")) for one in (before, now))
    return f"its program was executed by {was}, and this one by {here}"


def _machine(one: Baseline) -> str:
    return " with ".join([one.machine, *one.changes])


def without_folder(word: str) -> str:
    """Return the last component of a path: directories may differ from run to run."""
    return Path(word).name or word
