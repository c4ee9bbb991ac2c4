"""What somebody with a slow program types in her first minutes, and what she must see."""

import re
import shlex
from typing import NamedTuple

from command import pfmon

SLOW = r"""
#include <stdio.h>
#include <stdlib.h>

static unsigned next(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

__attribute__((noinline)) static int coin(int turns)
{
    unsigned state = 2463534242u;
    int heads = 0;
    for (int i = 0; i < turns; i++)
        if (next(&state) & 1)
            __asm__ volatile("" : "+r"(heads));
        else
            heads++;
    return heads;
}

__attribute__((noinline)) static int fill(int turns)
{
    static int table[1 << 10];
    for (int i = 0; i < turns; i++)
        table[i & 1023] += i;
    return table[7];
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 150000;
    printf("heads %d\n", coin(turns));
    return fill(turns / 8) == 1;
}
"""
"""Most of its time goes to the branch in line COIN, which nothing can predict."""
SLOW_SCRIPT = """
def step(value):
    return value * 3 % 1001


def spend(turns):
    total = 0
    for turn in range(turns):
        total += sum(range(turn % 100))
    return total


for turn in range(300):
    step(turn)
print(spend(1000))
"""
"""Most of its time goes to the sum in line 9."""
COIN = 1 + SLOW.split("\n").index("        if (next(&state) & 1)")


class Task(NamedTuple):
    """``want``: what it is for; ``typed``: commands, one after the other; ``sees``: regular expressions that the output
    of the last one has in this order, ``never``: that it does not have; ``status``: its exit status."""

    want: str
    typed: tuple[str, ...]
    sees: tuple[str, ...]
    never: tuple[str, ...] = ()
    status: int = 0

    def check(self) -> None:
        """Do it in the current directory. AssertionError: she does not see what she must."""
        for command in self.typed:
            words = shlex.split(command)
            assert words[0] == "pfmon"
            done = pfmon(*words[1:])
        text, place = done.stdout + done.stderr, 0
        assert done.returncode == self.status, text
        for pattern in self.sees:
            found = re.compile(pattern, re.M).search(text, place)
            assert found, f"{pattern} is not in what follows {text[:place]!r}:\n{text[place:]}"
            place = found.end()
        assert not [pattern for pattern in self.never if re.search(pattern, text, re.M)], text
        if self.status == 2:
            assert done.stdout == "" and done.stderr.count("\n") == 1, text
