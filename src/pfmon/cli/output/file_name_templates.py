"""Names of output files: %p and %n in them stand for numbers, %% for a percent sign.

%p is the process id of pfmon, %n the least number from 1 on with which none of the run's files was there: no two runs
have the same. Where what a program starts is followed, each task has files of samples, exports and reports of its own:
%p in their names is the process id of the task, with the number of programs that the process executed before behind it,
if it did.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError, reason
from pfmon.library.options.option import OF_OUTPUT
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import rows

if TYPE_CHECKING:
    Taken = dict[str, int]
    """Paths of files that were made, and their inodes."""


OF_TASKS = ("smpl_outfile", "html_report")
"""Fields of files of which each task has its own, as of exports."""


def named_files(options: Options, output: OutputOptions) -> dict[str, str]:
    """Return the files that options name to be written, by option, "" for none; --export and --report=html name files,
    too."""
    written = [(one, owner) for owner in (output, options) for one in rows(owner.part) if one.writes]
    return {one.long: getattr(owner, one.attribute) for one, owner in written}


@contextmanager
def expanded_file_names(options: Options, output: OutputOptions) -> Iterator[tuple[Options, OutputOptions]]:
    """Yield the options with numbers in the names of the run's files. These are the run's own: each is made, empty, so
    that no other run takes it. Those that are still empty at the end are removed. PfmonError: there is a sign that
    stands for nothing, or a file cannot be made."""
    given = {f"--{option}": path for option, path in named_files(options, output).items()}
    given |= {"--report=html": output.html_report}
    given |= {f"--export={name}": path for name, path in output.exports}
    if not any("%" in path for path in given.values()):
        yield options, output
        return
    for option, path in given.items():
        _check(option, path)
    numbered = {option: path for option, path in given.items() if "%n" in path.replace("%%", "")}
    number, taken = _take_number(
        [(option, name) for option, path in numbered.items() for name in _files(options.two_programs, path)]
    )
    try:
        record = _expanded(options.record, number)
        yield options.replaced(record=record), _with_numbers(output, number, options.follows)
    finally:
        _give_back(taken)


def _with_numbers(output: OutputOptions, number: int, follows: bool) -> OutputOptions:
    """Put numbers into the names; ``follows``: each task has files of its own."""
    fields = (*(one.attribute for one in rows(OF_OUTPUT) if one.writes), "html_report")
    named = {field: _expanded(getattr(output, field), number, later=follows and field in OF_TASKS) for field in fields}
    exports = [(name, _expanded(path, number, follows)) for name, path in output.exports]
    return output.replaced(**named, exports=exports)


def _check(option: str, path: str) -> None:
    rest = path.replace("%%", "").replace("%p", "").replace("%n", "")
    if "%" in rest:
        sign = rest[rest.index("%") :][:2]
        raise PfmonError(
            f"{option}: {path}: {sign} stands for nothing; %p is pfmon's process id, %n the next number that is free, "
            "%% a percent sign"
        )


def _files(two_programs: bool, path: str) -> tuple[str, ...]:
    """Return the files that a name may stand for: with two programs, also one for each (library.core.of_thread)."""
    return (path, f"{path}.0", f"{path}.1") if two_programs else (path,)


def _take_number(patterns: Sequence[tuple[str, str]]) -> tuple[int, Taken]:
    """The least number with which none of the files, each with its option, is there; they are, now."""
    number = 1
    while (taken := _take(patterns, number)) is None:
        number += 1
    return number, taken


def _take(patterns: Sequence[tuple[str, str]], number: int) -> Taken | None:
    """Make the files of a number; None: one of them is there already. PfmonError: one cannot be made."""
    taken: Taken = {}
    for option, pattern in patterns:
        path = _expanded(pattern, number)
        if path in taken:
            continue
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            _give_back(taken)
            if isinstance(error, FileExistsError):
                return None
            raise PfmonError(f"{option}: {path}: {reason(error)}") from None
        taken[path] = os.fstat(descriptor).st_ino
        os.close(descriptor)
    return taken


def _give_back(taken: Taken) -> None:
    """Remove the files that nothing was written to or put in the place of."""
    for path, inode in taken.items():
        try:
            now = os.lstat(path)
            if now.st_ino == inode and not now.st_size:
                Path(path).unlink()
        except OSError:
            continue


def names_tasks(path: str) -> bool:
    """Whether a file's name has the process id of a task in it."""
    return "%p" in path.replace("%%", "")


def name_of_task(path: str, process: int, image: int) -> str:
    """The name of a file that a task has for itself; ``image``: how many programs its process executed before."""
    return _put(path, {"p": f"{process}.{image}" if image else str(process)})


def _expanded(path: str, number: int, later: bool = False) -> str:
    """``later``: of each task, when it is known."""
    own, percent = ("%p", "%%") if later else (str(os.getpid()), "%")
    return _put(path, {"p": own, "n": str(number)}, percent)


def _put(path: str, signs: Mapping[str, str], sign: str = "%") -> str:
    first, *parts = path.split("%")
    made, percent = first, False
    for part in parts:
        if percent:  # the second of two
            made, percent = made + part, False
        elif part:
            made += signs[part[0]] + part[1:]
        else:
            made, percent = made + sign, True
    return made
