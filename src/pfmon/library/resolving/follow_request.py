"""Options that select which children and executed programs of a program are counted."""

from __future__ import annotations

import re
import resource
from typing import TYPE_CHECKING

from pfmon.errors import BadValueError
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import OPTIONS

if TYPE_CHECKING:
    from pfmon.session.run.followed_tasks import FollowOptions


FILES_A_PROCESS = 4
"""Descriptors that pfmon needs for each process."""
OTHER_FILES = 100


def pattern(option: str, text: str) -> str:
    """Return a regular expression, checked."""
    try:
        re.compile(text)
    except re.error as error:
        raise BadValueError(f"--{option}={text}: {error}; a regular expression is wanted").about(
            f"--{option}"
        ) from None
    return text


def following(options: Options) -> FollowOptions:
    """Return the processes to follow. PfmonError: the limit on open files is too low."""
    from pfmon.session.run.followed_tasks import FollowOptions

    limit = options.follow_limit
    needed = FILES_A_PROCESS * options.follow_limit + OTHER_FILES
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed != resource.RLIM_INFINITY and needed > allowed:
        most = max(1, (allowed - OTHER_FILES) // FILES_A_PROCESS)
        if OPTIONS["follow-limit"].is_given(options):
            raise BadValueError(
                f"--follow-limit={options.follow_limit}: takes {needed} open files, and {allowed} are allowed "
                f"(ulimit -n); at most {most} processes then"
            ).about("--follow-limit")
        limit = most
    return FollowOptions(
        options.follow_fork,
        options.follow_exec,
        limit,
        options.follow_exec_only,
        options.follow_exec_exclude,
    )
