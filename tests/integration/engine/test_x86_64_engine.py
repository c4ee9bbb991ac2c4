"""The x86_64 engine: programs behave as they do natively, and count the same in every run."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import refused
from grids import few, first_quick
from guests import SMALL
from qemu_guests import EXAMPLES, QEMU, assemble
from x86_64_host import ENGINE, HAS_KEYS, MARKS, PFMON, SUPPORT, V3, WAYS, compiled, counted, outcomes, pfmon

from pfmon.engine.x86_64.processors import FEATURES
from pfmon.engine.x86_64.x86_64_guest import UNSUPPORTED as WHY
from pfmon.engine.x86_64.x86_64_guest import check_host, runtime_path
from pfmon.errors import PfmonError

pytestmark = MARKS

NAMES = sorted(set(SMALL) - {"epic"})


@pytest.mark.parametrize("name", first_quick(few(NAMES, 5)))
@QEMU
def test_examples_count_what_they_count_under_qemu(name: str) -> None:
    program = [str(EXAMPLES / "x86_64" / name), *SMALL[name]]
    words = ("-e", "instructions_retired,branch_instructions_retired", "--json", "--no-cmd-output")
    engine, qemu = (
        [one["count"] for one in json.loads(pfmon(f"--engine={engine}", *words, *program).stdout)["events"]]
        for engine in ("x86_64", "qemu")
    )
    assert engine == qemu and engine[0] > 1000


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_the_reader_counts_the_same(way: str) -> None:
    program = [str(EXAMPLES / "x86_64" / "lz"), *SMALL["lz"]]
    assert counted(program, *WAYS[way]) == counted(program)


PYTHON = "/usr/bin/python3"
SEEN = "import os,time,uuid,random;print(time.time(),os.getpid(),os.urandom(8),hash('x'),random.random(),uuid.uuid4())"


@pytest.mark.slow
@pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"there is no {PYTHON}")
def test_python_repeats_to_the_last_digit(tmp_path: Path) -> None:
    """Random bytes, clocks and process numbers are fixed; so are counts, whichever way and from wherever."""
    told = set()
    subprocess.run([PYTHON, "-S", "-I", "-c", SEEN], check=True)  # writes the bytecode that is not there yet
    for way, place in (("totals", tmp_path), ("stream", tmp_path), ("addresses", Path("/")), ("totals", Path("/"))):
        made = tmp_path / "counts"
        done = subprocess.run(
            [*PFMON, *WAYS[way], "--json", f"--outfile={made}", PYTHON, "-S", "-I", "-c", SEEN],
            capture_output=True,
            cwd=place,
            check=True,
        )
        told.add((done.stdout, json.loads(made.read_text())["events"][0]["count"]))
    assert len(told) == 1


PROGRAMS = [
    ["ls", "-a", "/usr/lib"],
    ["/usr/bin/perl", "-e", "my %h; $h{$_ % 77} += $_ for 1 .. 5000; print join ',', map {$h{$_}} sort keys %h"],
    ["bash", "-c", "for i in 1 2 3; do echo $i | cat; done; exit 3"],
    ["dash", "-c", "trap 'echo trapped' USR1; kill -USR1 $$; echo end"],
    [PYTHON, "-c", "import json; print(json.loads(json.dumps({'a': [1.5, None]}))); raise SystemExit(7)"],
    ["sort", "-n", "/etc/services"],
    ["sed", "s/a/b/", "/etc/passwd"],
    ["find", "/usr/share/doc/bash", "-maxdepth", "0", "-type", "d"],
    ["sha256sum", "/bin/ls"],
    ["gzip", "-c", "/bin/ls"],
    ["tar", "cf", "-", "--sort=name", "--owner=0", "--group=0", "-C", "/usr/share/doc", "bash"],
    ["cc", "--version"],
    ["objdump", "-d", "/bin/true"],
    ["readelf", "-a", "/bin/true"],
    ["git", "--version"],
    ["openssl", "version"],
    ["xz", "-T1", "-c", "/bin/true"],
    ["bash", "-c", "kill -SEGV $$"],
    ["bash", "-c", "kill -9 $$"],
    ["grep", "-c", "root", "/etc/passwd"],
    ["mawk", "BEGIN { for (i = 0; i < 1000; i++) s += i * i % 7; print s }"],
    ["seq", "1", "2000"],
    ["factor", "1234567890123"],
]


@pytest.mark.parametrize("words", first_quick(few(PROGRAMS, 12)), ids=lambda one: " ".join(one)[:30])
def test_programs_of_the_host_behave_as_natively(words: list[str], tmp_path: Path) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TZ": "UTC0"}
    native = subprocess.run(words, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)
    made = tmp_path / "counts"
    done = subprocess.run(
        [*PFMON, "-e", "instructions_retired", "--env=TZ=UTC0", f"--outfile={made}", *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    status = native.returncode if native.returncode >= 0 else 128 - native.returncode
    assert (done.returncode, done.stdout) == (status, native.stdout)
    assert int(made.read_text().split()[0].replace(",", "")) > 1000


@pytest.fixture(scope="module")
def signals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints what it sees of signals."""
    return compiled(tmp_path_factory.mktemp("signals"), "signals")


@pytest.mark.slow
@pytest.mark.parametrize("way", [pytest.param("addresses", marks=pytest.mark.exhaustive), "totals", "stream"])
def test_signals_mappings_and_processes_are_as_natively(signals: Path, way: str) -> None:
    """Faults at exact instructions, nested handlers, alternate stacks, restarted calls, code that changes."""
    native = subprocess.run([signals], capture_output=True, check=False)
    done = subprocess.run(
        [*PFMON, V3, *WAYS[way], "--outfile=/dev/null", signals], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == native.stdout.decode().splitlines()
    assert done.returncode == 139 and "main+" in done.stderr


FRAMES = {
    V3: "flags 7, magic 46505853 46505845, components 7, 832 and 836 bytes, aligned 1",
    "--machine=nehalem": "flags 6, magic 46505853 0, components 0, 512 and 516 bytes, aligned 1",
}
"""x87, SSE and AVX by xsave (SDM volume 1, 13.4), or by fxsave (10.5), with the marks of Linux (asm/sigcontext.h)."""


@pytest.mark.parametrize("processor", FRAMES)
def test_frames_of_signals_hold_the_state_of_the_processor(processor: str, tmp_path: Path) -> None:
    """The handler changes xmm4 and MXCSR in the frame and all registers: the program goes on with those of the frame.

    test_x86_64_hosts.py compares with what such processors do natively."""
    program = compiled(tmp_path, "frames")
    done = pfmon(ENGINE, processor, *WAYS["totals"], "--outfile=/dev/null", str(program))
    assert done.stdout.splitlines() == [
        FRAMES[processor],
        "mxcsr 1f80, xmm3 33, xmm4 44, x87 27f",
        "behind: xmm3 33 33, xmm4 45 44, mxcsr 9f80, x87 27f",
    ]


@pytest.mark.slow
def test_faulting_instruction_does_not_retire(tmp_path: Path) -> None:
    """Three instructions before the store that faults; none of the instructions behind it."""
    body = "mov $1, %eax\n nop\n mov $8, %edi\n mov %eax, (%rdi)\n nop\n nop\n"
    program = str(assemble(tmp_path, body))
    for way in WAYS.values():
        assert counted([program], *way, status=139) == 3


@pytest.mark.slow
def test_string_instruction_retires_once(tmp_path: Path) -> None:
    body = (
        "lea -4096(%rsp), %rdi\n mov %rdi, %rsi\n mov $500, %ecx\n rep movsb\n xor %ecx, %ecx\n rep stosq\n"
        "mov $60, %eax\n xor %edi, %edi\n syscall\n"
    )
    program = str(assemble(tmp_path, body))
    assert {counted([program], *way) for way in WAYS.values()} == {9}


@pytest.mark.slow
def test_records_of_string_instructions_stay_in_one_buffer(tmp_path: Path) -> None:
    """Five words a turn, behind up to four others: they reach the end of a buffer, of 32,768 words, at every place."""
    body = """
        .rept WORDS
        jmp 2f
    2:
        .endr
        mov $40000, %edx
    1:  lea -4096(%rsp), %rdi
        lea -2048(%rsp), %rsi
        mov $3, %ecx
        rep movsb
        dec %edx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
    """
    for words in range(5):
        program = str(assemble(tmp_path, body, f"-Wa,--defsym,WORDS={words}"))
        assert {counted([program], *WAYS[way]) for way in ("totals", "addresses")} == {6 * 40000 + 4 + words}


@pytest.mark.slow
def test_indirect_branches_whose_low_16_bits_are_equal(tmp_path: Path) -> None:
    """Three functions share an entry of the table of indirect branches (blocks.c)."""
    body = """
        lea function(%rip), %rbx
        lea 65536(%rbx), %r12
        lea 65536(%r12), %r13
        mov $1000, %r14d
    1:  call *%rbx
        call *%r13
        call *%r12
        dec %r14d
        jnz 1b
        mov $60, %eax
        mov %edx, %edi
        syscall
        .balign 65536
    function:
        ret
        .balign 65536
        ret
        .balign 65536
        inc %edx
        ret
    """
    program = str(assemble(tmp_path, body))
    assert {counted([program], *way, status=1000 % 256) for way in WAYS.values()} == {4 + 9 * 1000 + 3}


UNSUPPORTED = """
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>
static void handle(int number) { (void)number; }
static void wait_inside(void) {
    struct itimerval once = {{0}, {0, 1000}};
    struct timeval limit = {0, 1000};
    char bytes[16];
    fd_set set;
    sigset_t none, alarm = {0};
    int files[2];
    FILE *random = fopen("/dev/urandom", "r");
    pipe(files);
    FD_ZERO(&set);
    FD_SET(files[0], &set);
    select(files[1], &set, 0, 0, &limit);
    poll(&(struct pollfd){.fd = files[0], .events = POLLIN}, 1, 10);
    fread(bytes, sizeof(bytes), 1, random);
    signal(SIGALRM, handle);
    sigemptyset(&none);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, 0);
    setitimer(ITIMER_REAL, &once, 0);
    sigsuspend(&none);           /* not pause(): under qemu the timer may expire before it */
}
int main(int count, char **words) {
    char byte;
    if (count > 1 && *words[1] == 'w')
        write(1, "early ", 6);
    if (count > 1 && *words[1] == 'r')
        read(0, &byte, 1);
    if (count > 1 && *words[1] == 'p')
        poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 10);
    if (count > 1 && *words[1] == 'i')
        wait_inside();
    __asm__ volatile("mov %0, %%ds" : : "r"(0));
    write(1, "end\\n", 4);
    return 3;
}
"""


@pytest.fixture(scope="module")
def unsupported(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that loads a segment register, after it has written (w), read (r), polled input (p), or waited (i)."""
    source = tmp_path_factory.mktemp("unsupported") / "unsupported.c"
    source.write_text(UNSUPPORTED)
    subprocess.run(["cc", "-w", "-o", source.with_suffix(""), source], check=True)
    return str(source.with_suffix(""))


@QEMU
@pytest.mark.parametrize("way", WAYS)
def test_program_that_the_engine_does_not_run_begins_anew_under_qemu(unsupported: str, way: str) -> None:
    words = [*WAYS[way][:2], *(one for one in WAYS[way][2:] if "interval" not in one), "--json"]
    done = pfmon(*words, unsupported, "i", status=3)
    assert done.stderr == f"pfmon: begins anew under qemu: {WHY[6]}\nend\n"  # once
    found = json.loads(done.stdout)
    assert found["engine"]["name"] == "qemu" and found["events"][0]["count"] > 10_000


@pytest.mark.parametrize(("does", "status"), [("i", 2), ("w", 125)])
def test_such_a_program_without_qemu_names_the_package(
    unsupported: str, does: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = pfmon("-e", "instructions_retired", unsupported, does, status=status)
    assert done.stderr.endswith("install the package qemu-user (Debian: apt-get install qemu-user)\n")


@pytest.mark.parametrize("does", "wrp")
def test_program_that_has_written_or_read_or_polled_does_not_begin_anew(unsupported: str, does: str) -> None:
    done = pfmon("-e", "instructions_retired", unsupported, does, status=125)
    assert done.stdout == ("early " if does == "w" else "")
    assert "as the engine x86_64 does not: give --engine=qemu" in done.stderr


@QEMU
def test_such_a_program_that_another_one_executes_needs_qemu_and_following(unsupported: str) -> None:
    done = pfmon("-e", "instructions_retired", "/bin/sh", "-c", f"exec {unsupported} w", status=125)
    assert done.stderr.endswith("as the engine x86_64 does not: give --engine=qemu --follow-all\n")


def test_processor_that_the_engine_does_not_have_is_refused() -> None:
    said = refused(ENGINE, "-e", "instructions_retired", "--set=qemu.cpu=EPYC", "/bin/true")
    assert "x86-64-v4, zen4, x86-64-v3, zen3, Nehalem, Conroe" in said


def test_host_clock_is_the_host_s_and_is_not_said_to_change_nothing(tmp_path: Path) -> None:
    """``time`` in seconds: those of 2026-01-01 without the option. The program ends with whether it is later."""
    body = """
        mov $201, %eax
        xor %edi, %edi
        syscall
        xor %edi, %edi
        cmp $1767225601, %rax
        seta %dil
        mov $60, %eax
        syscall
    """
    program = str(assemble(tmp_path, body))
    assert pfmon(ENGINE, "-e", "instructions_retired", program, status=0)
    assert not pfmon(ENGINE, "-e", "instructions_retired", "--host-clock", program, status=1).stderr


def test_program_sees_the_chosen_processor(tmp_path: Path) -> None:
    """CPUID leaf 1, ecx: AVX is bit 28 (SDM volume 2, CPUID)."""
    body = "mov $1, %eax\n cpuid\n shr $28, %ecx\n and $1, %ecx\n mov %ecx, %edi\n mov $60, %eax\n syscall\n"
    program = str(assemble(tmp_path, body))
    assert pfmon(ENGINE, V3, "-e", "instructions_retired", program, status=1)
    assert pfmon(ENGINE, "--set=qemu.cpu=Nehalem", "-e", "instructions_retired", program, status=0)


def test_host_that_lacks_a_feature_of_the_processor_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FEATURES, "x86-64-v4", ("fpu", "avx1024"))
    with pytest.raises(PfmonError, match=r"lacks avx1024 of x86-64-v4, .* --engine=qemu"):
        check_host("x86-64-v4")


def test_avx_is_illegal_on_a_nehalem(tmp_path: Path) -> None:
    program = str(assemble(tmp_path, "vzeroall\n mov $60, %eax\n xor %edi, %edi\n syscall\n"))
    pfmon(ENGINE, V3, "-e", "instructions_retired", program, status=0)
    pfmon(ENGINE, "--set=qemu.cpu=Nehalem", "-e", "instructions_retired", program, status=132)


def test_a_nehalem_takes_lzcnt_and_tzcnt_for_bsr_and_bsf(tmp_path: Path) -> None:
    """Of 0 tzcnt gives 64, and bsf changes nothing; of 256 lzcnt gives 55, and bsr 8 (SDM volume 2)."""
    body = "mov $7, %edi\n xor %ecx, %ecx\n rep bsf %rcx, %rdi\n mov $256, %ecx\n rep bsr %rcx, %rcx\n"
    program = str(assemble(tmp_path, body + "add %ecx, %edi\n mov $60, %eax\n syscall\n"))
    pfmon(ENGINE, V3, "-e", "instructions_retired", program, status=64 + 55)
    pfmon(ENGINE, "--set=qemu.cpu=Nehalem", "-e", "instructions_retired", program, status=7 + 8)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("rsqrtps %xmm0, %xmm1", "rsqrtps, whose result the"),
        ("vrcpss %xmm0, %xmm1, %xmm2\n rcpps %xmm0, %xmm1", "rcpps, rcpss, whose results the"),
        ("fldpi\n fsin\n fldpi\n fptan\n fyl2xp1", "fptan, fyl2xp1, fsin, whose results the"),
        ("jmp 1f\n fcos\n 1: fldpi\n fsqrt\n sqrtps %xmm0, %xmm1", ""),
    ],
)
def test_verbose_names_instructions_whose_result_the_processor_decides(body: str, said: str, tmp_path: Path) -> None:
    program = str(assemble(tmp_path, f"{body}\n mov $60, %eax\n xor %edi, %edi\n syscall\n"))
    for way in ("totals", "stream"):
        told = pfmon(ENGINE, V3, *WAYS[way], "-v", program).stderr
        assert [line for line in told.splitlines() if "processor decides" in line] == (
            [f"pfmon: the program executed {said} processor decides"] if said else []
        )
    assert "decides" not in pfmon(ENGINE, V3, *WAYS["totals"], program).stderr


@pytest.mark.slow
def test_stopped_run_has_the_counts_so_far(tmp_path: Path) -> None:
    program = str(assemble(tmp_path, "1: add $1, %rax\n jmp 1b\n"))
    for way in ("totals", "stream"):
        done = pfmon(ENGINE, *WAYS[way], "--session-timeout=0.3", program, status=None)
        assert done.returncode == 124 or "INSTRUCTIONS_RETIRED" in done.stdout


@pytest.mark.slow
def test_program_that_kills_itself_is_counted_up_to_there(tmp_path: Path) -> None:
    body = "mov $39, %eax\n syscall\n mov %eax, %edi\n mov $9, %esi\n mov $62, %eax\n syscall\n nop\n"
    program = str(assemble(tmp_path, body))
    for way in WAYS.values():
        assert counted([program], *way, status=137) == 6


OVERWRITES = """
#include "x86_64_areas.h"
int main(void) {
    memset((void *)(0x60001000 + slide_of_areas()), 0x77, 0x800000);
    return 0;
}
"""


@pytest.mark.parametrize("way", ["totals", "addresses"])
def test_store_into_shared_memory_ends_the_run_without_counts(way: str, tmp_path: Path) -> None:
    """The memory that the runtime shares with the reader (memory_map.h)."""
    (tmp_path / "overwrites.c").write_text(OVERWRITES)
    program = tmp_path / "overwrites"
    subprocess.run(["cc", f"-I{SUPPORT}", "-o", program, f"{program}.c"], check=True)
    done = pfmon(ENGINE, *WAYS[way], str(program), status=139 if HAS_KEYS else 125)
    assert ("SIGSEGV" if HAS_KEYS else "has written into pfmon's memory") in done.stderr


def test_recording_replays_with_the_names_of_functions(tmp_path: Path) -> None:
    made, program = tmp_path / "recorded", str(EXAMPLES / "x86_64" / "queens")
    words = ["-e", "instructions_retired", "--per-function"]
    recorded = pfmon(ENGINE, *words, f"--record={made}", "--no-cmd-output", program).stdout
    assert pfmon(*words, f"--replay={made}").stdout == recorded and "main" in recorded


def test_relocations_of_the_runtime_are_relative() -> None:
    """It applies no others (engine/x86_64/runtime/image.c)."""
    assert os.access(runtime_path(), os.X_OK)
    told = subprocess.run(["readelf", "-Wr", runtime_path()], capture_output=True, text=True, check=True).stdout
    kinds = re.findall(r"R_X86_64_\w+", told)
    assert kinds and set(kinds) == {"R_X86_64_RELATIVE"}


AREAS = """
#include <stdio.h>
#include "x86_64_areas.h"
int main(void) {
    uint64_t slide = slide_of_areas();
    printf("%lx %lx %lx\\n", slide, image_of_runtime(slide), *(uint64_t *)(0x7E000000 + slide + 144) >> 22);
}
"""


@pytest.mark.slow
def test_areas_lie_at_addresses_that_differ_from_run_to_run(tmp_path: Path) -> None:
    """Those that translated code reaches, the runtime's file, the ring (state.h, STATE_RING)."""
    (tmp_path / "areas.c").write_text(AREAS)
    program = tmp_path / "areas"
    subprocess.run(["cc", "-O1", f"-I{SUPPORT}", "-o", program, f"{program}.c"], check=True)
    way = [ENGINE, *WAYS["addresses"], "--outfile=/dev/null"]
    runs = [pfmon(*way, str(program)).stdout.split() for _ in range(4)]
    assert all(len(set(addresses)) > 1 for addresses in zip(*runs, strict=True)), runs


@pytest.mark.slow
def test_accesses_of_the_engine_need_not_be_aligned(tmp_path: Path) -> None:
    """Programs set the flag AC to find out about their processor: the engine's own accesses, and the runtime's, are as
    without it."""
    program = compiled(tmp_path, "alignment_check", "-pthread")
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert native.count(" 40000 40000\n") == 3
    assert {(status, told) for status, told, _ in outcomes([program], tmp_path).values()} == {(0, native)}
