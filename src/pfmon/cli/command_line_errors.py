"""Find all mistakes of a command line; loaded only after the first mistake.

The first mistake is always reported. Further ones are found by checking each option, rule, event and file separately,
without running anything. A mistake that names an option of an earlier mistake is left out, as it may follow from that
one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pfmon.cli.command_checks import RULES
from pfmon.cli.command_line import CommandLine, a_program_is_given, kept
from pfmon.cli.hp_options import takes_no_program
from pfmon.cli.option_parsing import ParsedOption, parse
from pfmon.cli.output.file_name_templates import named_files
from pfmon.cli.output.result_output import STANDARD, append_wants_a_file, check_can_be_written, check_crash_report
from pfmon.cli.output_options import OutputOptions
from pfmon.engine import registry
from pfmon.errors import PfmonError
from pfmon.library.checks.option_checks import images_run_alone, no_program_is_given, rules
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import OPTIONS
from pfmon.library.resolving.command_program import find_program, interpreted
from pfmon.library.resolving.machine_selection import pmu_named, processor_of
from pfmon.pmu import get, names
from pfmon.pmu.model.derived import load_derived, plan
from pfmon.pmu.model.options import event_options
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import Request
from pfmon.pmu.targets import DEFAULT_PMU
from pfmon.session.run.event_patterns import EXPRESSION

if TYPE_CHECKING:
    Check = tuple[str, Callable[[], object]]
    """The subject of a check, and the check."""


class _FoundErrors:
    """The mistakes found so far, in the order of their report."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._subjects: set[str] = set()
        self._misread: set[str] = set()

    def take(self, error: PfmonError) -> None:
        """Add a mistake that follows from no other."""
        if str(error) not in self.texts:
            self.texts.append(str(error))
            self._subjects |= set(error.subjects)

    def take_misread(self, error: PfmonError, option: str) -> None:
        """Add a mistake in an option's value, which is therefore unknown to later checks."""
        self.take(error)
        self._misread.add(option)

    def attempt(self, subject: str, check: Callable[[], object]) -> None:
        """Run a check and add its error, unless it may follow from an option that was misread, or an earlier mistake
        has the same ``subject`` ("": none)."""
        if subject in self._subjects:
            return
        try:
            check()
        except PfmonError as error:
            if not self._misread & {subject.partition("=")[0] for subject in error.subjects}:
                self.take(error)


def all_mistakes(words: Sequence[str], first: PfmonError) -> list[str]:
    """Return a line for each mistake of a command line; ``first`` is the one that was raised."""
    found = _FoundErrors()
    misread: list[str] = []

    def misreads(error: PfmonError, word: str) -> None:
        found.take_misread(error, word.partition("=")[0])
        misread.append(word)

    given, command = parse(OPTIONS.values(), words, misreads)
    options, output = kept(given, found.take_misread)
    found.take(first)
    # The next word may be an unknown option's value instead of the program, or there may be none, so the program is not
    # checked.
    certain = all("=" in word and not takes_no_program(word.partition("=")[0]) for word in misread)
    for subject, check in _checks(CommandLine(options, output, command), certain):
        found.attempt(subject, check)
    return [_as_typed(text, given) for text in found.texts]


def _checks(line: CommandLine, certain: bool) -> Iterator[Check]:
    """Yield the checks that need no run. ``certain``: the program is known."""
    options, output = line.options, line.output
    command = line.command if certain else []
    if output.action not in ("", "check"):
        return  # other actions use neither events nor files
    for rule in RULES:
        yield "", partial(rule, options, output)
    for check in rules(options, asks=bool(output.action)):
        yield "", check
    yield from _events(options, command, asks=bool(output.action))
    if certain and not output.action:
        yield "", partial(a_program_is_given, options, command)
        yield "", partial(no_program_is_given, options, command)
    if options.system:
        yield "", partial(images_run_alone, options, command)
        yield options.system, partial(system_image_is_read, options.system)
    for words in (options.smt, () if options.system else command):
        if words:
            yield words[0], partial(_look_at, words, options.sysroot)
    yield "", partial(append_wants_a_file, output.outfile, output.append)
    yield from _files(options, output)


def _events(options: Options, command: Sequence[str], asks: bool) -> Iterator[Check]:
    """Yield a check of each event (the PMU, or if that is unknown any PMU, has it) and of each event set (it can be
    counted)."""
    pmus = _pmus(options, command, asks)
    plain = [name for name in options.events if not (options.unlimited or name == "all" or EXPRESSION & set(name))]
    unknown = [name for name in dict.fromkeys(plain) if not any(_knows(pmu, name) for pmu in pmus)]
    for name in unknown:
        event = name.partition(":")[0]
        yield event, partial(plan, get(pmus[0]).events, [event])
    if unknown or len(pmus) > 1 or len(plain) < len(options.events):
        return
    for one in options.sets:
        yield "", partial(event_options, one.events, one.event_thresholds, one.priv_levels, one.insn_sets)
        yield "", partial(_program, get(pmus[0]), one.events)


def _knows(pmu: str, name: str) -> bool:
    event = name.partition(":")[0]
    return event in get(pmu).events or event.upper() in load_derived(pmu)


def _program(model: PmuModel, events: Sequence[str]) -> None:
    request = Request(tuple(event_options(events)))
    model.fulfil(plan(model.events, request.events).request(request))


def _pmus(options: Options, command: Sequence[str], asks: bool) -> list[str]:
    """Return the PMU in use; all PMUs if it depends on an unknown program."""
    try:
        named = pmu_named(options)
    except PfmonError:  # reported by a rule
        named = options.pmu or DEFAULT_PMU
    if named or (asks and not command):
        return [named or DEFAULT_PMU]
    try:
        instructions = registry.instruction_set_of(find_program(command[0])) if command else None
        return names() if instructions is None else [processor_of(options, instructions).pmu]
    except PfmonError:  # reported by the check of the program
        return names()


def _look_at(command: Sequence[str], sysroot: str | None) -> None:
    """Raise PfmonError if the program cannot be run."""
    from pfmon.program import image

    path = find_program(interpreted(command, sysroot)[0])
    if registry.instruction_set_of(path) is None:  # qemu loads the others
        image.load(path)


def system_image_is_read(name: str) -> None:
    """Raise PfmonError if a system's image cannot be run."""
    from pfmon.program import system_image

    system_image.load(name)


def _files(options: Options, output: OutputOptions) -> Iterator[Check]:
    """Yield a check of each output file."""
    for option, path in named_files(options, output).items():
        if path and path != STANDARD:
            yield f"--{option}", partial(check_can_be_written, path, f"--{option}={path}")
    if output.crash_report:
        yield "--crash-report", partial(check_crash_report, output.crash_report, options.two_programs)
    for name, path in output.exports:
        yield f"--export={name}:{path}", partial(check_can_be_written, path, f"--export={name}:{path}")


def _as_typed(text: str, given: Sequence[ParsedOption]) -> str:
    """Return a message with options spelled as the user typed them: --inv for --inverse-irange."""
    for one in given:
        if one.typed and one.typed != f"--{one.name}":
            text = re.sub(rf"(?<![\w-])--{one.name}(?![\w-])", one.typed, text)
    return text
