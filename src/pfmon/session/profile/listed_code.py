"""The instructions of listed code."""

from __future__ import annotations

from pfmon.engine.api import Engine
from pfmon.errors import PfmonError
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.profile.code_profile import Profile
from pfmon.session.run.symbolic_ranges import numbers_of_object, resolver


def listed(
    place: tuple[int, int] | str, profile: Profile, engine: Engine, objects: LoadedObjects, notes: list[str]
) -> list[tuple[int, str]]:
    """Return address and text of the instructions of a range or of a name, which may have been mapped during the run.
    Sets the files of ``profile``; appends errors about the name to ``notes``."""
    if isinstance(place, str):
        try:
            profile.files = numbers_of_object(objects, place)
            place = resolver(objects.everything())(place)
        except PfmonError as error:
            notes.append(f"--annotate={place}: {error}")
            return []
    return engine.listing(*place)
