"""The description of a modelled x86 PMU for programs: CPUID, and the files of sysfs (engine/x86_64/pmu_files.py)."""

from __future__ import annotations

from pfmon.engine.guest_pmu import PmuIdentity
from pfmon.errors import PfmonError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.generic_events import generic_events
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.msr_file import MsrFile, cpuid_0a

SIGNATURES = {"core2": 0x6FB, "nehalem": 0x106A5, "skylake": 0x506E3, "skylake_8": 0x506E3}
"""EAX of CPUID leaf 1: family, model and stepping of a client processor with it (Intel SDM volume 4, table 2-1)."""
ANY_THREAD_VERSION = 3
"""The first version whose event select registers have AnyThread (Intel SDM volume 3, section 18.2.3)."""


def identity_of(model: PmuModel) -> PmuIdentity:
    """Return the identity of an x86 PMU. PfmonError: programs are not given such a one."""
    if "ia32_perfevtsel0" not in model.registers:
        raise PfmonError(
            f"--guest-pmu: programs are given Intel's PMUs alone, not {model.name}: say --pmu skylake, for example"
        ).about("--guest-pmu")
    select = model.registers["ia32_perfevtsel0"]
    fields = {field.name: (field.low, field.low + field.width - 1) for field in select.fields}
    named = {name: one for name, one in generic_events(model.name).items() if one.is_counted}
    events = {name: select_value(model, model.events[one.own_name]) for name, one in named.items()}
    leaf = cpuid_0a(model.bank, _version(model))
    return PmuIdentity(model.name, leaf, SIGNATURES.get(model.name, 0), fields, events)


def select_value(model: PmuModel, event: Event) -> int:
    """Return the fields of an event select register that select an event, without levels and enables."""
    select = model.registers["ia32_perfevtsel0"]
    fields = {"event": event.code, "umask": event.umask, "cmask": event.cmask}
    return select.encode(**fields, inv=int(event.invert), e=int(event.edge))


def _version(model: PmuModel) -> int:
    file = model.register_file()
    assert isinstance(file, MsrFile)
    has_any = any(field.name == "any" for field in model.registers["ia32_perfevtsel0"].fields)
    return max(file.version, ANY_THREAD_VERSION if has_any else 0)
