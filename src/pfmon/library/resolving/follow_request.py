"""Options that select which children and executed programs of a program are counted."""

from __future__ import annotations

import resource

from pfmon.errors import BadValueError
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import OPTIONS
from pfmon.session.run.run_plan import FollowOptions

FILES_A_PROCESS = 4
"""Descriptors that pfmon needs for each process."""
OTHER_FILES = 100


def following(options: Options) -> FollowOptions:
    """Return the processes to follow. PfmonError: the limit on open files is too low."""
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
