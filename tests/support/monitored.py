"""Running a program under a Monitoring, as a session does."""

from collections.abc import Sequence
from typing import Any

from guests import quiet

from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.monitoring import Monitoring

NONE = Controls()


def monitored(program: Ia64Guest, groups: Sequence[EventSets], controls: Controls = NONE, **given: Any) -> Monitoring:
    """The monitoring of a run that has ended, of which nothing was lost."""
    monitoring = Monitoring(groups, controls, program, **given)
    with quiet(), monitoring.running:
        program.run(monitoring.consumer, monitoring)
    program.close()
    monitoring.check()
    monitoring.finish_interval()
    return monitoring
