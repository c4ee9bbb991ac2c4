"""Conversion of sampling options: a period for each event, buffers, registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pfmon.errors import BadValueError, PfmonError
from pfmon.library.options.option_values import whole_number
from pfmon.library.options.set_options import SetOptions
from pfmon.pmu.model.derived import load_derived
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.session.sampling.sampling_period import Period, Sampling, SetSampling

MAX_REGISTER = 255
"""The highest number of a data register."""


def sampling(buffer: Sampling, sets: Sequence[SetOptions], controls: Mapping[str, int], model: PmuModel) -> Sampling:
    """Return the sampling of event sets, with their periods. Raises PfmonError, naming the option."""
    samples_need_the_interrupt(controls)
    of_sets = tuple(_set_sampling(one, model) for one in sets)
    if buffer.truth and sum(period is not None for one in of_sets for period in one.periods) > 1:
        raise PfmonError("--smpl-truth: samples of several events are mixed; give one event a period")
    return buffer._replace(sets=of_sets)


def _set_sampling(options: SetOptions, model: PmuModel) -> SetSampling:
    """The sampling of an event set."""
    limit = (1 << model.bank.width) - 1
    count = len(options.events)
    long = options.long_smpl_periods or options.short_smpl_periods
    name = "long-smpl-periods" if options.long_smpl_periods else "short-smpl-periods"
    longs = _periods(name, long, count, limit)
    shorts = _periods("short-smpl-periods", options.short_smpl_periods, count, limit)
    randoms = _randoms(options.smpl_periods_random, count)
    if long and not any(longs):
        raise BadValueError(f"--{name}={long}: no event has a period")
    formulas_have_no_period(options.events, longs, model)
    periods = tuple(
        _period(number, one, short, random, limit)
        for number, (one, short, random) in enumerate(zip(longs, shorts, randoms, strict=True), 1)
    )
    return SetSampling(
        periods,
        _registers("extra-smpl-pmds", options.extra_smpl_pmds, model),
        _reset(options.reset_non_smpl_periods, model),
    )


def formulas_have_no_period(events: Sequence[str], periods: Sequence[int], model: PmuModel) -> None:
    """Counters overflow; a derived event is computed from several."""
    derived = load_derived(model.name)
    for name, period in zip(events, periods, strict=True):
        if period and (one := derived.get(name.upper())):
            raise BadValueError(
                f"--long-smpl-periods: {one.name} is a formula ({one.formula}), and has no counter that overflows; "
                "give an event of it a period, and leave that of the formula out"
            )


def samples_need_the_interrupt(controls: Mapping[str, int]) -> None:
    """A driver samples in the handler of the overflow's interrupt (Intel SDM volume 3 section 30.2.1.1, INT)."""
    if controls.get("int") == 0:
        raise PfmonError("--controls=int=0: without the interrupt at overflow there are no samples")


def _reset(text: str | None, model: PmuModel) -> tuple[int, ...] | None:
    """The counters that begin at 0 again with every sample; None: all without a period."""
    if text is None:
        return ()
    return _registers("reset-non-smpl-periods", text, model) if text else None


def _registers(option: str, text: str, model: PmuModel) -> tuple[int, ...]:
    """Numbers of data registers, and ranges of them: 4,5-7."""
    numbers: set[int] = set()
    for item in text.split(",") if text else ():
        first, dash, last = item.partition("-")
        begin = whole_number(option, first, 0, MAX_REGISTER, given=text)
        end = whole_number(option, last, 0, MAX_REGISTER, given=text) if dash else begin
        if end < begin:
            raise BadValueError(f"--{option}={text}: {item}: a range goes from the lower number to the higher one")
        numbers |= set(range(begin, end + 1))
    there = model.data_registers
    for number in sorted(numbers):
        if number not in there:
            known = ", ".join(map(str, there))
            raise BadValueError(f"--{option}={text}: {model.name} has no PMD{number}; it has {known}")
    return tuple(sorted(numbers))


def _split(option: str, text: str, count: int) -> list[str]:
    """Return an item for each event, empty if left out."""
    items = text.split(",") if text else []
    if len(items) > count:
        raise BadValueError(f"--{option}={text}: {len(items)} values for {count} events; one for each, in their order")
    return [*items, *[""] * (count - len(items))]


def _periods(option: str, text: str, count: int, limit: int) -> list[int]:
    """Return the period of each event, 0 for none."""
    return [whole_number(option, item, 1, limit) if item else 0 for item in _split(option, text, count)]


def _randoms(text: str, count: int) -> list[tuple[int, int]]:
    """Return mask and seed for each event."""
    option = "smpl-periods-random"
    found = []
    for item in _split(option, text, count):
        mask, colon, seed = item.partition(":")
        if item and not colon:
            raise BadValueError(f"--{option}={item}: MASK:SEED is wanted for each event")
        low = 1  # lowest seed: the generator stays at 0
        found.append(
            (whole_number(option, mask, 0, (1 << 31) - 1), whole_number(option, seed, low, (1 << 31) - 2))
            if item
            else (0, low)
        )
    return found


def _period(number: int, long: int, short: int, random: tuple[int, int], limit: int) -> Period | None:
    """Return the period of event ``number``."""
    mask, seed = random
    if not long:
        if short or mask:
            raise PfmonError(f"--long-smpl-periods has no period for event {number}, and other options have")
        return None
    if max(long, short) + mask > limit:
        raise BadValueError(
            f"--smpl-periods-random: event {number}: a period of up to {max(long, short) + mask} does not fit the "
            f"counter, which holds {limit}"
        )
    return Period(long, short or long, mask, seed)
