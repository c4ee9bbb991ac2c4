"""Random programs full of branches: bundles of every template that has branch slots, with and without stops."""

from random import Random

from ia64_assembly import NOP, NUMBERS, Line, instruction, join
from ia64_program import EXIT, TEXT

TEMPLATES = ("MIB", "MMB", "MFB", "MBB", "BBB", "MII", "MMI")
HINTS = ("sptk", "spnt", "dptk", "dpnt")
PREDICATES = 12
FIRST = 6  # p6 and behind it


def random_branches(random: Random, bundles: int, passes: int, most: int = 3) -> list[Line]:
    """A loop over random bundles, whose predicates are other ones in every pass; ``most``: branches of a bundle."""
    head: list[Line] = [
        "movl r20=function",
        "movl r21=other",
        "movl r14=middle",
        "mov b7=r14",
        f"movl r9={random.getrandbits(62) | 1}",
        f"addl r10={passes - 1},r0",
        "mov.i ar.lc=r10",
    ]
    step: list[Line] = ["shl r11=r9,13", "xor r9=r9,r11", "shr.u r11=r9,7", "xor r9=r9,r11"]
    step += ["shl r11=r9,17", "xor r9=r9,r11", "mov pr=r9,-64", "mov b6=r20", "(p60) mov b6=r21"]
    begin = TEXT + 16 * (len(head) + len(step))
    end = begin + 16 * bundles
    labels = {f"to{number}": begin + 16 * number for number in range(bundles + 1)}
    function = end + 16 * (1 + len(EXIT))
    named = {"function": function, "other": function + 16, "middle": begin + 16 * (bundles // 2)}
    labels |= named
    body = [_bundle(random, number, bundles, begin + 16 * number, labels, most) for number in range(bundles)]
    for number, line in enumerate(map(str, head)):
        word = line.rpartition("=")[2]
        head[number] = line.replace(word, hex(named[word])) if word in named else line
    returns = ["br.ret.sptk.many b0"] * 2
    return [*head, "again:", *step, *body, "br.cloop.dptk.few again", *EXIT, *returns]


def _bundle(random: Random, number: int, bundles: int, address: int, labels: dict[str, int], most: int) -> bytes:
    units = random.choice(TEMPLATES)
    texts = [_branch(random, number, bundles) if unit == "B" else NOP[unit] for unit in units]
    if units.count("B") > most:
        texts[random.randrange(3)] = NOP["B"]
    slots = [instruction(text, address, labels)[1] for text in texts]
    return join(NUMBERS[units] - (random.random() < 0.5), slots)


def _branch(random: Random, number: int, bundles: int) -> str:
    kind, predicate = random.random(), FIRST + random.randrange(PREDICATES - 2)
    hint = random.choice(HINTS)
    target = f"to{min(bundles, number + random.choice((1, 1, 1, 2, 3, 5)))}"
    if kind < 0.2:
        return NOP["B"]
    if kind < 0.28:
        return f"(p{predicate}) br.call.{hint}.few b0=function"
    if kind < 0.36:
        return f"(p{predicate}) br.call.{hint}.few b0=b6"
    if kind < 0.4 and number < bundles // 2 - 1:
        return f"(p{predicate}) br.cond.{hint}.few b7"
    return f"(p{predicate}) br.cond.{hint}.few {target}"
