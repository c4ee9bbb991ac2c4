"""Programs of a Debian system with one thread, what they work on, and what is compared of them."""

import random
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

SEED = 7
WORDS = ["alpha", "beta", "gamma", "delta", "cycle", "cache", "retire", "branch", "event", "count"]
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC0"}
C_SOURCE = """
#include <stdio.h>
struct pair { int key; double value; };
static int compare(const struct pair *a, const struct pair *b) { return a->key < b->key ? -1 : a->key > b->key; }
double sum(const struct pair *all, int count) {
    double total = 0;
    for (int i = 0; i < count; i++)
        total += i && compare(all + i - 1, all + i) > 0 ? -all[i].value : all[i].value;
    return total;
}
int main(void) { struct pair all[] = {{1, 2.5}, {3, 4.5}, {2, 1.0}}; printf("%f\\n", sum(all, 3)); return 0; }
"""
SQL = (
    "create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i + 1 from n"
    " where i < 2000) insert into t select i, printf('%x', i * i) from n; create index u on t(b);"
    " select count(*), sum(length(b)), max(b) from t where b like '%1%'; select * from t order by b desc limit 5;"
)
PERL = "my %h; while (<>) { $h{$_}++ for split } print map { qq($_ $h{$_}\\n) } sort keys %h"
PYTHON = "import json, sys; d = {n: str(n * n) for n in range(3000)}; print(len(json.dumps(d))); sys.exit(5)"
TCL = "set s 0; for {set i 0} {$i < 3000} {incr i} {incr s [expr {$i % 7}]}; puts $s"


class Program(NamedTuple):
    """A command in the directory of `prepare`; ``made``: the file that it writes."""

    command: tuple[str, ...]
    made: str | None = None


def shell(shell_name: str, text: str) -> Program:
    """A script of a shell."""
    return Program((shell_name, "-c", text))


PROGRAMS = {
    "ls": Program(("ls", "-aR", "tree")),
    "sort": Program(("sort", "--parallel=1", "-k2", "words.txt")),
    "cat": Program(("cat", "-n", "words.txt")),
    "sha256sum": Program(("sha256sum", "data.bin", "words.txt")),
    "md5sum": Program(("md5sum", "data.bin")),
    "cksum": Program(("cksum", "data.bin")),
    "base64": Program(("base64", "data.bin")),
    "od": Program(("od", "-A", "x", "-t", "x1z", "data.bin")),
    "seq": Program(("seq", "-f", "%08.3f", "1", "0.5", "2000")),
    "cut": Program(("cut", "-d", " ", "-f", "2,4", "words.txt")),
    "join": Program(("join", "keys.txt", "keys.txt")),
    "paste": Program(("paste", "-d", ":", "words.txt", "numbers.txt")),
    "wc": Program(("wc", "words.txt", "data.bin")),
    "factor": Program(("factor", "1234567890123", "1000000007000000049", "97")),
    "expr": Program(("expr", "(", "12", "*", "34", ")", "%", "7")),
    "date": Program(("date", "-u", "-d", "2020-02-29 12:34:56 +3 days")),
    "shuf": Program(("shuf", "--random-source=data.bin", "words.txt")),
    "uniq": Program(("uniq", "-c", "sorted.txt")),
    "numfmt": Program(("numfmt", "--to=iec", "123456789")),
    "readelf": Program(("readelf", "-aW", "program.o")),
    "objdump": Program(("objdump", "-dr", "program.o")),
    "nm": Program(("nm", "-S", "program.o")),
    "ld": Program(("ld", "-r", "-o", "whole.o", "program.o"), "whole.o"),
    "as": Program(("as", "-o", "made.o", "program.s"), "made.o"),
    "gcc": Program(("gcc", "-O2", "-S", "-o", "made.s", "program.c"), "made.s"),
    "cc1": Program(("cc1", "-quiet", "-O2", "-o", "made.s", "program.c"), "made.s"),
    "perl": Program(("perl", "-e", PERL, "words.txt")),
    "python3": Program(("/usr/bin/python3", "-S", "-I", "-c", PYTHON)),
    "sqlite3": Program(("sqlite3", ":memory:", SQL)),
    "git": Program(("git", "-c", "core.preloadIndex=false", "-C", "repository", "log", "--stat", "-p")),
    "openssl": Program(("openssl", "dgst", "-sha512", "data.bin")),
    "xz": Program(("xz", "-T1", "-c", "words.txt")),
    "zstd": Program(("zstd", "--single-thread", "--no-asyncio", "-q", "-c", "words.txt")),
    "gzip": Program(("gzip", "-nc", "words.txt")),
    "bzip2": Program(("bzip2", "-c", "words.txt")),
    "tar": Program(("tar", "--sort=name", "--owner=0", "--group=0", "-cf", "-", "tree")),
    "lua": Program(("lua", "-e", "local s = 0 for i = 1, 1e5 do s = s + i % 7 end print(s)")),
    "gawk": Program(("gawk", "{ n[$2] += $1 } END { for (k in n) print k, n[k] }", "sorted.txt")),
    "mawk": Program(("mawk", '{ n[$2] += length($1) } END { print n["beta"], NR }', "words.txt")),
    "bc": Program(("bc", "-lq", "pi.bc")),
    "m4": Program(("m4", "-DN=3", "words.txt")),
    "file": Program(("file", "program.o", "words.txt", "data.bin")),
    "jq": Program(("jq", "-c", "[.[] | select(.n % 3 == 0) | .n * 2] | add", "numbers.json")),
    "sed": Program(("sed", "-n", "s/beta\\(.*\\)/<\\1>/p", "words.txt")),
    "grep": Program(("grep", "-nE", "(cache|cycle).*event$", "words.txt")),
    "diff": Program(("diff", "-u", "words.txt", "changed.txt")),
    "find": Program(("find", "tree", "-name", "file10", "-size", "-9")),
    "make": Program(("make", "-s", "-f", "makefile", "all")),
    "bash": shell("bash", "s=0; for i in {1..500}; do ((s += i % 7)); a[i]=$s; done; echo ${a[@]:490}; exit 3"),
    "dash": shell("dash", "i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; echo $i; exit 4"),
    "tclsh": Program(("tclsh", "script.tcl")),
    "ruby": Program(("ruby", "--disable-gems", "-e", "puts (1..2000).sum { |i| i % 7 }")),
    "php": Program(("php", "-n", "-r", "echo array_sum(array_map(fn($i) => $i % 7, range(1, 2000)));")),
    "cmake": Program(("cmake", "-E", "sha256sum", "data.bin")),
    "vim": Program(("vim", "-u", "NONE", "-es", "+%s/beta/BETA/g", "+w! edited.txt", "+q!", "words.txt"), "edited.txt"),
}
"""By name. Those that are not here are skipped."""
SAMPLE = ("gcc", "perl", "sqlite3", "git")


def path_of(name: str) -> str | None:
    """Where a program is; None: not here."""
    found = shutil.which(name, path=ENVIRONMENT["PATH"])
    if found is None and name == "cc1" and shutil.which("gcc"):
        told = subprocess.run(
            ["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True
        ).stdout.strip()
        return told if told.startswith("/") else None
    return found


def write_words(directory: Path) -> None:
    """Text, sorted text, numbers, and bytes of a fixed seed."""
    draw = random.Random(SEED)
    lines = [" ".join(draw.choices(WORDS, k=draw.randrange(1, 8))) + "\n" for _ in range(2000)]
    (directory / "words.txt").write_text("".join(lines))
    (directory / "sorted.txt").write_text("".join(sorted(lines)))
    keys = sorted(f"{draw.getrandbits(40):x} {line}" for line in lines[:500])
    (directory / "keys.txt").write_text("".join(keys))
    (directory / "changed.txt").write_text("".join(line for line in lines if draw.random() < 0.99))
    numbers = [draw.randrange(10_000) for _ in range(2000)]
    (directory / "numbers.txt").write_text("".join(f"{number}\n" for number in numbers))
    (directory / "numbers.json").write_text("[" + ",".join(f'{{"n":{number}}}' for number in numbers[:200]) + "]")
    (directory / "data.bin").write_bytes(draw.randbytes(20_000))
    (directory / "pi.bc").write_text("scale = 60\n4 * a(1)\n")
    (directory / "script.tcl").write_text(TCL + "\n")
    (directory / "makefile").write_text("all: one two\none:\n\t@echo one\ntwo: one\n\t@echo $$((6 * 7))\n")
    for number in range(30):
        (directory / "tree" / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (directory / "tree" / str(number % 3) / f"file{number}").write_text("x" * number)


def write_objects(directory: Path) -> None:
    """A C program, its assembly and its object file."""
    (directory / "program.c").write_text(C_SOURCE)
    for option, name in (("-S", "program.s"), ("-c", "program.o")):
        subprocess.run(["gcc", "-O1", option, "-o", name, "program.c"], cwd=directory, check=True)


def write_repository(directory: Path) -> None:
    """A repository of git with some commits of fixed dates."""
    place = directory / "repository"
    place.mkdir()
    who = {f"GIT_{role}_{part}": "x" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}

    def git(*words: str, date: int = 0) -> None:
        dates = {f"GIT_{role}_DATE": f"{1_600_000_000 + date} +0000" for role in ("AUTHOR", "COMMITTER")}
        environment = ENVIRONMENT | who | dates | {"HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=place, env=environment, capture_output=True, check=True)

    git("init", "-q")
    for number in range(8):
        lines = [f"line {n * (number + 1) % 50}\n" for n in range(60)]
        (place / f"file{number % 3}").write_text("".join(lines))
        git("add", "-A")
        git("commit", "-qm", f"Change {number}", date=number)


def prepare(directory: Path, name: str) -> None:
    """Make the directory that a program works in."""
    directory.mkdir(parents=True)
    write_words(directory)
    if name in ("readelf", "objdump", "nm", "ld", "as", "gcc", "cc1", "file"):
        write_objects(directory)
    if name == "git":
        write_repository(directory)
