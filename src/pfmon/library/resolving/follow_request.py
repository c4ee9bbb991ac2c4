"""The number of processes that can be followed at a time."""

from __future__ import annotations

import resource

from pfmon.errors import BadValueError
from pfmon.session.run.run_plan import FollowOptions

FILES_A_PROCESS = 4
"""Descriptors that pfmon needs for each process."""
OTHER_FILES = 100


def within_open_files(wanted: FollowOptions, limit_is_given: bool) -> FollowOptions:
    """Return the processes to follow, as many as the limit on open files allows. PfmonError: it is too low for the
    limit on processes that is given."""
    needed = FILES_A_PROCESS * wanted.most + OTHER_FILES
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY or needed <= allowed:
        return wanted
    most = max(1, (allowed - OTHER_FILES) // FILES_A_PROCESS)
    if limit_is_given:
        raise BadValueError(
            f"--follow-limit={wanted.most}: takes {needed} open files, and {allowed} are allowed "
            f"(ulimit -n); at most {most} processes then"
        ).about("--follow-limit")
    return wanted._replace(most=most)
