"""Errors that a user can cause. Each message is one line; the command line prints it and exits with status 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

MAX_LISTED_NAMES = 16
"""Maximum number of known names that are all listed when none is similar."""


class PfmonError(Exception):
    """A user's mistake or a request that cannot be met, described in one line."""

    exit_status = 2
    rule = ""
    during_run = False
    """Whether the program had started."""
    subjects: tuple[str, ...] = ()
    """The options (``--irange``, or ``--outfile=counts``), or the name, that it is about."""

    def about(self, *subjects: str) -> Self:
        """Set the subjects; returns the error."""
        self.subjects = subjects
        return self


class UnknownNameError(PfmonError):
    """An unknown name of an event, register, field, processor or umask."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.subjects = (name,)
        names = list(known)
        self.nearest = nearest_names(name, names)
        hint = f"; nearest: {', '.join(self.nearest)}" if self.nearest else ""
        if not hint and len(names) <= MAX_LISTED_NAMES:
            hint = f"; there are: {', '.join(names)}"
        if not hint and what.endswith("event"):
            pmu = what.removesuffix("event").strip()  # the PMU may be chosen by the program
            hint = f"; {f'--pmu={pmu} ' if pmu else ''}-l lists them all"
        super().__init__(f"unknown {what} {name!r}{hint}")


class UnknownObjectError(UnknownNameError):
    """The name of a shared object that is not loaded yet."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__("shared object", name, known)


class BadValueError(PfmonError):
    """A malformed or out-of-range value of an option or a register; `rule` names the rule that it violates."""

    def __init__(self, message: str, rule: str = "") -> None:
        self.message = message
        self.rule = rule
        super().__init__(f"{message} ({rule})" if rule else message)


class RuleError(PfmonError):
    """A combination that the hardware forbids.

    `rule` is the name of the function that checks the rule, `section` the manual's section that states it.
    """

    def __init__(self, rule: str, message: str, section: str = "") -> None:
        self.rule = rule
        self.message = message
        self.section = section
        super().__init__(f"{message} ({rule}{f'; {section}' if section else ''})")

    def cited(self, section: str) -> RuleError:
        """Return the same error with another manual's section."""
        return type(self)(self.rule, self.message, section).about(*self.subjects)


class AssignmentError(RuleError):
    """No legal assignment of the events to counters exists."""


class LostError(PfmonError):
    """Data was lost while a program ran: its counts are refused."""

    exit_status = 125


class UnsupportedError(LostError):
    """The engine does not support what the program did; another engine can execute it from its beginning. ``why``: the
    reason, as a sentence about the program; ``outside``: the program has read, written or made something outside of
    its process by then."""

    def __init__(self, message: str, why: str, outside: bool) -> None:
        super().__init__(message)
        self.why, self.outside = why, outside


def reason(error: BaseException) -> str:
    """The text of a host error, to end a line with."""
    if isinstance(error, MemoryError):
        return str(error) or "there is no memory left"
    text = " ".join((getattr(error, "strerror", None) or str(error)).split())
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def refuse(options: Mapping[str, object], message: str, *subjects: str) -> None:
    """Raise PfmonError if one of ``options`` (name -> given) is given; {} in ``message`` becomes the first such name.
    The error is about that one, or those, and about the ``subjects``."""
    for option, given in options.items():
        if given:
            named = [word.rstrip(",:") for word in option.split() if word.startswith("--")]
            raise PfmonError(message.replace("{}", option)).about(*named, *subjects)


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known names most similar to `name`, best first; names that contain it count as similar."""
    from difflib import get_close_matches

    upper = name.upper()
    by_upper = {k.upper(): k for k in known}
    close = get_close_matches(upper, by_upper, count, 0.6)
    inside = sorted((k for k in by_upper if upper and upper in k), key=len)
    return [by_upper[k] for k in dict.fromkeys(close + inside)][:count]
