/* Processes that share memory with their parent until they execute another program (vfork): prints what a program sees of
   them, which is the same natively and under an engine. */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile int shared, handled;

static void handle(int number) {
    handled += number;
}

static int status_of(pid_t pid) {
    int status;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void spawn(const char *path, char *word) {
    char *words[] = {"program", word, 0};
    pid_t pid = 0;
    int error;
    fflush(stdout);
    error = posix_spawn(&pid, path, 0, 0, words, environ);
    printf("spawn %d %d\n", error, error ? 0 : status_of(pid));
}

static void store(int number) {
    pid_t pid = vfork();
    if (pid == 0) {
        shared = number;
        execl("/nonexistent", "x", (char *)0);
        shared += errno;
        _exit(number);
    }
    printf("vfork %d %d\n", shared, WEXITSTATUS(status_of(pid)));
}

static int child(void *code) {
    shared += 7;
    signal(SIGUSR1, SIG_DFL);            /* the child's own */
    for (volatile int i = 0; i < 20000; i++)
        ;
    _exit(*(int *)code);
}

static void on_stack(int code) {
    static char stack[1 << 16];
    pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &code);
    printf("clone %d %d\n", shared, WEXITSTATUS(status_of(pid)));
    raise(SIGUSR1);
    printf("handled %d\n", handled);
}

static void nested(void) {
    pid_t pid = vfork();
    if (pid == 0) {
        if (vfork() == 0) {
            shared = 3;
            _exit(0);
        }
        shared += 5;
        kill(getpid(), SIGKILL);
    }
    printf("nested %d %d\n", shared, WTERMSIG(status_of(pid)));
}

static void faulting(void) {
    pid_t pid = vfork();
    if (pid == 0)
        *(volatile int *)8 = 1;
    printf("fault %d\n", WTERMSIG(status_of(pid)));
}

int main(void) {
    char line[64] = "";
    FILE *file;
    signal(SIGUSR1, handle);
    spawn("/nonexistent", "x");
    spawn("/bin/echo", "spawned");
    for (int i = 0; i < 3; i++)
        store(40 + i);
    on_stack(9);
    nested();
    faulting();
    fflush(stdout);
    printf("system %d\n", system("exit 4") >> 8);
    file = popen("echo opened", "r");
    printf("%s", fgets(line, sizeof(line), file));
    return pclose(file);
}
