"""What programmed registers let pass, as the manuals describe them: code ranges, opcode matchers, data ranges.

Montecito manual sections 3.3.5 to 3.3.7, Itanium manual section 6.2. It shares nothing with the counting path but the
register values.
"""

from collections.abc import Mapping

from instruction_log import ADDRESS


def bits(value: int, low: int, count: int) -> int:
    return value >> low & (1 << count) - 1


def pair_matches(writes: Mapping[str, int], kind: str, pair: int, address: int) -> bool:
    mask = writes.get(f"{kind}{2 * pair + 1}", 0) & ADDRESS
    return writes.get(f"{kind}{2 * pair}", 0) & mask == address & mask


def code_passes(pmu: str, writes: Mapping[str, int], channel: int, bundle: int) -> bool:
    """Tables 3-9 and 3-10 of the Montecito manual; table 6-3 of the Itanium manual."""
    if pmu == "itanium":
        if writes.get("pmc13", 1) & 1:
            return True
        pairs = [n for n in range(4) if writes.get(f"ibr{2 * n + 1}", 0) >> 59 & 1]
        return any(pair_matches(writes, "ibr", n, bundle) for n in pairs)
    control = writes.get("pmc14" if pmu == "itanium2" else "pmc38", 0xDB6)
    head = writes.get("pmc8", 1) if pmu == "itanium2" else bits(writes.get("pmc32", 1 << 57), 56, 2)
    ignore, inverse = (head & 1, head >> 1 & 1) if pmu == "itanium2" else (head >> 1, head & 1)
    if control >> 1 + 3 * channel & 1 or (channel == 0 and ignore):
        return True
    if control >> 13 & 1:
        low = channel % 2
        inside = writes[f"ibr{2 * low}"] <= bundle <= writes[f"ibr{2 * low + 4}"]
    else:
        inside = bool(writes.get(f"ibr{2 * channel + 1}", 0) >> 59 & 1) and pair_matches(writes, "ibr", channel, bundle)
    return inside != (channel == 0 and bool(inverse))


def opcode_passes(pmu: str, writes: Mapping[str, int], channel: int, slot: str, opcode: int) -> bool:
    """Tables 3-11 to 3-13 of the Montecito manual; PMC8, PMC9 and PMC15 of the others."""
    second = channel % 2
    if pmu == "montecito":
        mask, match = writes.get(f"pmc{32 + 2 * second}"), writes.get(f"pmc{33 + 2 * second}", 0)
        if mask is None or writes.get("pmc36", 0) >> channel & 1:
            return True
        letters = {"b": mask >> 48 & 1, "f": mask >> 49 & 1, "i": mask >> 50 & 1, "m": mask >> 51 & 1}
        different = (opcode ^ match) & ~mask & (1 << 41) - 1
        return bool(letters[slot]) and not different
    value = writes.get(f"pmc{8 + second}")
    if value is None or (pmu == "itanium2" and writes.get("pmc15", 0xF) >> channel & 1):
        return True
    letters = dict(zip("bfim", (value >> 60 + n & 1 for n in range(4)), strict=True))
    squeezed = bits(opcode, 27, 14) << 13 | bits(opcode, 0, 13)
    return bool(letters[slot]) and not (squeezed ^ bits(value, 33, 27)) & ~bits(value, 3, 27) & (1 << 27) - 1


def data_pairs(pmu: str, writes: Mapping[str, int]) -> list[int] | None:
    """The DBR pairs in force, None if data addresses do not matter: table 3-14 of the Montecito manual; PMC11.pt of
    Itanium."""
    if pmu == "itanium":
        return None if writes.get("pmc11", 1 << 28) >> 28 & 1 else [n for n in range(4) if f"dbr{2 * n}" in writes]
    control = writes.get("pmc13" if pmu == "itanium2" else "pmc41", 0x2078FEFEFEFE)
    return [n for n in range(4) if control >> 45 + n & 1 and not control >> 3 + 8 * n & 1] or None


def data_constrained(pmu: str, writes: Mapping[str, int]) -> bool:
    return data_pairs(pmu, writes) is not None


def data_passes(pmu: str, writes: Mapping[str, int], address: int) -> bool:
    return any(pair_matches(writes, "dbr", n, address) for n in data_pairs(pmu, writes) or ())
