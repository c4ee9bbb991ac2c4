"""Programs of a Debian system, what they work on, and what is compared of them."""

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


ML = "let rec f n = if n < 2 then n else f (n - 1) + f (n - 2) in print_int (f 15); print_newline ()"
HASKELL = "main = print (sum [x * x `mod` 7 | x <- [1 .. 2000 :: Int]])"
RUST = """
use std::{sync::mpsc, thread};
fn main() {
    let (to, from) = mpsc::channel();
    let all: Vec<_> = (0..4u64).map(|n| {
        let to = to.clone();
        thread::spawn(move || to.send(n * n).unwrap())
    }).collect();
    drop(to);
    for one in all { one.join().unwrap(); }
    println!("{}", from.iter().sum::<u64>());
}
"""
GO = """
package main
import ("fmt"; "sync")
func main() {
    var all sync.WaitGroup
    results := make(chan int, 8)
    for n := 0; n < 8; n++ {
        all.Add(1)
        go func(n int) { defer all.Done(); results <- n * n }(n)
    }
    all.Wait()
    close(results)
    sum := 0
    for one := range results { sum += one }
    fmt.Println(sum)
}
"""
JAVA = """
public class Main {
    public static void main(String[] words) throws Exception {
        int[] sum = new int[4];
        Thread[] all = new Thread[4];
        for (int n = 0; n < 4; n++) {
            int own = n;
            all[n] = new Thread(() -> { for (int i = 0; i < 2000; i++) sum[own] += i % (own + 2); });
            all[n].start();
        }
        for (Thread one : all) one.join();
        System.out.println(sum[0] + sum[1] + sum[2] + sum[3]);
    }
}
"""
FLEX = '%%\n[a-z]+ { printf("<%s>", yytext); }\n%%\nint yywrap(void) { return 1; }\n'
BISON = "%token NUMBER\n%left '+'\n%%\nsum: NUMBER | sum '+' sum;\n%%\n"
NASM = "section .text\nglobal _start\n_start: mov eax, 60\nxor edi, edi\nsyscall\n"
MAKE = "all: $(addprefix one,1 2 3 4 5 6)\none%:\n\t@sed -n $*p numbers.txt > $@; echo $* > $@.done\n"
THREADS = """
import queue, threading
jobs, done = queue.Queue(), []
def work():
    while (job := jobs.get()) is not None:
        done.append(sum(range(job)))
threads = [threading.Thread(target=work) for _ in range(4)]
for one in threads:
    one.start()
for job in [*range(0, 3000, 30), None, None, None, None]:
    jobs.put(job)
for one in threads:
    one.join()
print(len(done), sum(done))
"""
DOT = "digraph { rankdir = LR; a -> b -> c; a -> c; subgraph cluster { d -> e }; c -> d [label = x] }"


class Program(NamedTuple):
    """A command in the directory of `prepare`.

    ``made``: the file that it writes; ``typed``: its standard input; ``options``: of pfmon.
    """

    command: tuple[str, ...]
    made: str | None = None
    typed: str = ""
    options: tuple[str, ...] = ()


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
    "ed": Program(("ed", "-s", "words.txt"), typed="g/beta/s//BETA/g\n1,9p\nQ\n"),
    "luajit": Program(("luajit", "-e", "local s = 0 for i = 1, 1e5 do s = s + i % 7 end print(s)")),
    "ocaml": Program(("ocaml", "script.ml")),
    "curl": Program(("curl", "-s", "file:///usr/share/common-licenses/GPL-3")),
    "convert": Program(("convert-im6.q16", "-size", "48x48", "gradient:red-blue", "-resize", "50%", "ppm:-")),
    "gnuplot": Program(("gnuplot", "-e", "set terminal dumb; plot sin(x)")),
    "less": Program(("less", "words.txt")),
    "flex": Program(("flex", "-t", "scanner.l")),
    "nasm": Program(("nasm", "-f", "elf64", "-o", "made.o", "program.asm"), "made.o"),
    "cpio": Program(("cpio", "-o", "--quiet", "-H", "newc", "--reproducible", "-R", "0:0"), typed="words.txt\n"),
    "zip": Program(("zip", "-qX", "-", "words.txt", "numbers.txt")),
    "gpg": Program(("gpg", "--homedir", ".", "--print-md", "sha256", "words.txt")),
    "sox": Program(("sox", "-R", "-n", "-t", "wav", "-", "synth", "0.1", "sine", "440")),
    "indent": Program(("indent", "-st", "program.c")),
    "units": Program(("units", "-t", "3 miles", "km")),
    "tr": Program(("tr", "a-y", "b-z"), typed="The quick brown fox\n" * 50),
    "head": Program(("head", "-n", "7", "words.txt", "keys.txt")),
    "fold": Program(("fold", "-s", "-w", "17", "words.txt")),
    "xxd": Program(("xxd", "data.bin")),
    "strings": Program(("strings", "-n", "3", "data.bin")),
    "vim": Program(("vim", "-u", "NONE", "-es", "+%s/beta/BETA/g", "+w! edited.txt", "+q!", "words.txt"), "edited.txt"),
}
"""By name. Those that are not here are skipped."""
FOLLOW = ("--follow-all",)
PROGRAMS |= {
    "zstd -T2": Program(("zstd", "-T2", "-B512KB", "-q", "-c", "many.txt")),
    "xz -T2": Program(("xz", "-0", "-T2", "--block-size=200KiB", "-kf", "many.txt"), "many.txt.xz"),
    "dot": Program(("dot", "-Tplain", "graph.dot")),
    "pigz": Program(("pigz", "-p", "3", "-nc", "many.txt")),
    "sort --parallel": Program(("sort", "--parallel=4", "-S", "50M", "many.txt")),
    "ffmpeg": Program(
        ("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:duration=1", "-f", "md5", "-")
    ),
    "node": Program(("node", "-e", "let s = 0; for (let i = 0; i < 1e5; i++) s += i % 7; console.log(s)")),
    "java": Program(("java", "-XX:+UseSerialGC", "-cp", ".", "Main")),
    "ghc": Program(("./haskell",)),
    "go": Program(("./goroutines",)),
    "rust": Program(("./rust",)),
    "python3 threads": Program(("/usr/bin/python3", "-S", "-I", "threads.py")),
    "git threads": Program(("git", "-C", "repository", "grep", "--threads=3", "-n", "line 1")),
    "make -j4": Program(("make", "-s", "-j4", "-f", "parallel.mk"), options=FOLLOW),
    "pipeline": Program(("sh", "-c", "sort words.txt | uniq -c | sort -rn | head -5"), options=FOLLOW),
    "gcc of a program": Program(("gcc", "-O1", "-o", "made", "program.c"), "made", options=FOLLOW),
    "bison": Program(("bison", "-o", "parser.c", "parser.y"), "parser.c", options=FOLLOW),
    "man": Program(("man", "-P", "cat", "true"), options=FOLLOW),
    "find -exec": Program(("find", "tree", "-name", "file12", "-exec", "cksum", "{}", "+"), options=FOLLOW),
    "xargs": Program(("xargs", "-n", "2", "-P", "2", "echo"), typed="1 2 3 4 5 6\n", options=FOLLOW),
    "tar of zstd": Program(
        ("tar", "--sort=name", "--owner=0", "--group=0", "--zstd", "-cf", "-", "tree"), None, "", FOLLOW
    ),
    "bash jobs": Program(
        ("bash", "-c", "for i in 1 2 3; do (sleep 0.0$i; echo $i) & done; wait; trap 'echo usr' USR1; kill -USR1 $$"),
        options=FOLLOW,
    ),
}
"""Those with threads, and those with processes, which are counted, too."""
COMPILERS = {
    "./haskell": ("ghc", "-v0", "-o", "haskell", "program.hs"),
    "./goroutines": ("go", "build", "-o", "goroutines", "program.go"),
    "./rust": ("rustc", "-O", "-o", "rust", "program.rs"),
}
"""Of the programs that are made first."""
TIMED_SAMPLE = ("perl", "git")
SAMPLE = (*TIMED_SAMPLE, "gcc", "sqlite3", "python3 threads", "pipeline")
"""Those that are always tried; the first ones with a machine, whose cycles are counted."""


def path_of(name: str) -> str | None:
    """Where a program is; None: not here. Those that are made first are where their compilers are."""
    if name in COMPILERS:
        return name if shutil.which(COMPILERS[name][0], path=ENVIRONMENT["PATH"]) else None
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
    for name, text in (
        *(("script.tcl", TCL), ("script.ml", ML), ("scanner.l", FLEX), ("parser.y", BISON), ("program.asm", NASM)),
        *(("graph.dot", DOT), ("program.hs", HASKELL), ("program.rs", RUST), ("program.go", GO), ("Main.java", JAVA)),
        *(("threads.py", THREADS), ("parallel.mk", MAKE)),
    ):
        (directory / name).write_text(text + "\n")
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
    if name in ("readelf", "objdump", "nm", "ld", "as", "gcc", "cc1", "file", "indent", "gcc of a program"):
        write_objects(directory)
    if name.startswith("git"):
        write_repository(directory)
    if "many.txt" in PROGRAMS[name].command:
        (directory / "many.txt").write_text((directory / "words.txt").read_text() * 100)
    compiler = COMPILERS.get(PROGRAMS[name].command[0], ("javac", "Main.java") if name == "java" else None)
    if compiler:
        environment = ENVIRONMENT | {"HOME": str(directory), "GOCACHE": str(directory / "cache"), "GO111MODULE": "off"}
        subprocess.run(compiler, cwd=directory, env=environment, capture_output=True, check=True)
