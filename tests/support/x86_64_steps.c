/* Executes a program by single steps and writes the address of each instruction that retires and the 15 bytes there, as a line in
   base 16. Arguments: the file that is written, the program and its arguments. A
   repeated string instruction is stepped once an iteration and retires once; one that faults does not retire. Other signals
   do not reach the program. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 16 };

static void peek(pid_t pid, unsigned long at, unsigned char *to) {
    unsigned long word;
    int i;
    memset(to, 0, BYTES);
    for (i = 0; i < BYTES; i += 8) {
        unsigned long whole = (at + (unsigned long)i) & -8UL, shift = (at & 7) * 8;
        errno = 0;
        word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, whole, 0) >> shift;
        if (shift)
            word |= (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, whole + 8, 0) << (64 - shift);
        memcpy(to + i, &word, 8);
    }
}

static int repeats(const unsigned char *code) {
    while (*code == 0x66 || *code == 0x67 || (*code & 0xF0) == 0x40)
        code++;
    return *code == 0xF2 || *code == 0xF3;
}

static int is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

static FILE *made;

static void print(unsigned long at, const unsigned char *code) {
    int i;
    fprintf(made, "%lx ", at);
    for (i = 0; i < BYTES - 1; i++)
        fprintf(made, "%02x", code[i]);
    fprintf(made, "\n");
}

int main(int argc, char **argv) {
    pid_t pid;
    unsigned char code[BYTES];
    struct user_regs_struct at;
    int status, stopped_by, signal = 0;
    if (argc < 3 || !(made = fopen(argv[1], "we")))
        return 1;
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    for (;;) {
        unsigned long before;
        ptrace(PTRACE_GETREGS, pid, 0, &at);
        before = at.rip;
        peek(pid, before, code);
        ptrace(PTRACE_SINGLESTEP, pid, 0, signal);
        if (waitpid(pid, &status, 0) != pid)
            return 1;
        if (!WIFSTOPPED(status)) {
            if (signal == 0)
                print(before, code);
            return 0;
        }
        ptrace(PTRACE_GETREGS, pid, 0, &at);
        stopped_by = WSTOPSIG(status);
        if (signal == 0 && !is_fault(stopped_by)
            && (at.rip != before || (stopped_by == SIGTRAP && !repeats(code))))
            print(before, code);
        signal = is_fault(stopped_by) ? stopped_by : 0;
    }
}
