/* Processes that wait for each other, stop, kill and leave each other. The first argument is what they do; what they print is what
   they print natively. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int status;

static void say(const char *text, long value) {
    char line[100];
    write(1, line, (size_t)sprintf(line, "%s %ld\n", text, value));
}

static void ping_pong(void) {
    int there[2], back[2], i;
    char byte = 0;
    pipe(there);
    pipe(back);
    if (fork() == 0) {
        for (i = 0; i < 500; i++) {
            read(there[0], &byte, 1);
            byte++;
            write(back[1], &byte, 1);
        }
        _exit(0);
    }
    for (i = 0; i < 500; i++) {
        write(there[1], &byte, 1);
        read(back[0], &byte, 1);
    }
    wait(NULL);
    say("bytes", byte);
}

/* More than a pipe has room for, in one call. */
static void large_writes(void) {
    int ends[2];
    long sum = 0;
    char *bytes = calloc(1, 1 << 20);
    struct iovec parts[2] = {{bytes, 1 << 19}, {bytes + (1 << 19), 1 << 19}};
    ssize_t got;
    pipe(ends);
    if (fork() == 0) {
        close(ends[0]);
        say("written", write(ends[1], bytes, 1 << 20));
        say("written", writev(ends[1], parts, 2));
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], bytes, 70000)) > 0)
        sum += got;
    wait(NULL);
    say("read", sum);
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (fork() == 0) {
        close(ends[0]);
        say("sent", send(ends[1], bytes, 1 << 20, 0));
        _exit(0);
    }
    close(ends[1]);
    for (sum = 0; (got = read(ends[0], bytes, 70000)) > 0;)
        sum += got;
    wait(NULL);
    say("received", sum);
}

static void stops(void) {
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        say("goes on", 0);
        pause();
    }
    waitpid(child, &status, WUNTRACED);
    say("stopped by", WSTOPSIG(status));
    kill(child, SIGCONT);
    usleep(300000);         /* a busy host needs it */
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    say("stopped by", WSTOPSIG(status));
    kill(child, SIGTERM);
    kill(child, SIGCONT);
    waitpid(child, &status, 0);
    say("killed by", WTERMSIG(status));
}

static void locks(void) {
    char path[] = "/tmp/pfmon-lock-XXXXXX";
    int file = mkstemp(path), ready[2], i;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    pipe(ready);
    for (i = 0; i < 3; i++)
        if (fork() == 0) {
            int own = open(path, O_RDWR);
            flock(own, LOCK_EX);
            fcntl(own, F_SETLKW, &lock);
            usleep(1000);
            lock.l_type = F_UNLCK;
            fcntl(own, F_SETLK, &lock);
            flock(own, LOCK_UN);
            _exit(i);
        }
    while (wait(&status) > 0)
        say("had the lock", WEXITSTATUS(status) < 3);
    unlink(path);
    close(file);
}

static void named_pipe(void) {
    char folder[] = "/tmp/pfmon-fifo-XXXXXX", path[64], text[16] = {0};
    int file;
    sprintf(path, "%s/pipe", mkdtemp(folder));
    mkfifo(path, 0600);
    if (fork() == 0) {
        file = open(path, O_WRONLY);
        write(file, "through", 7);
        _exit(0);
    }
    file = open(path, O_RDONLY);
    say("read", read(file, text, sizeof(text)));
    say("then", read(file, text, sizeof(text)));
    wait(NULL);
    unlink(path);
    rmdir(folder);
}

static volatile sig_atomic_t signals;

static void count(int number) {
    (void)number;
    signals++;
}

static void signals_between(void) {
    pid_t parent = getpid(), child;
    struct sigaction action = {.sa_handler = count};
    sigset_t set, before;
    int i;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    child = fork();
    if (child == 0) {
        for (i = 0; i < 100; i++) {
            kill(parent, SIGUSR1);
            sigsuspend(&before);
        }
        _exit(signals);
    }
    for (i = 0; i < 100; i++) {
        sigsuspend(&before);
        kill(child, SIGUSR1);
    }
    waitpid(child, &status, 0);
    say("of the parent", signals);
    say("of the child", WEXITSTATUS(status));
}

static void shared_memory(void) {
    struct { volatile int turn, sum; } *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int i, k;
    for (i = 1; i <= 2; i++)
        if (fork() == 0) {
            for (k = 0; k < 20; k++) {
                while (shared->turn != i)
                    ;
                shared->sum += i;
                shared->turn = i % 2 + 1;
            }
            _exit(0);
        }
    shared->turn = 1;
    while (wait(NULL) > 0)
        ;
    say("sum", shared->sum);
}

static void kills_its_parent(void) {
    int ends[2];
    char byte;
    pipe(ends);
    if (fork() == 0) {
        if (fork() == 0) {
            kill(getppid(), SIGKILL);
            write(ends[1], "x", 1);
            _exit(0);
        }
        pause();
    }
    wait(&status);
    say("killed by", WTERMSIG(status));
    say("read", read(ends[0], &byte, 1));
}

static void leaves_all(void) {
    int ends[2], i;
    char byte;
    pipe(ends);
    if (fork() == 0) {
        setsid();
        if (fork())
            _exit(4);
        for (i = 0; i < 1024; i++)
            if (i != ends[1])
                close(i);
        usleep(100000);
        write(ends[1], "x", 1);
        _exit(0);
    }
    wait(&status);
    say("ended with", WEXITSTATUS(status));
    say("read", read(ends[0], &byte, 1));
}

static void lends_memory(void) {
    static volatile int changed;
    pid_t child = vfork();
    if (child == 0) {
        changed = 7;
        execl("/nonexistent", "x", NULL);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    say("changed", changed);
    say("error", WEXITSTATUS(status));
}

static void deadlock(void) {
    int ends[2];
    char byte;
    pipe(ends);
    if (fork() == 0)
        pause();
    read(ends[0], &byte, 1);
}

static void makes_many(void) {
    int made = 0;
    while (made < 200 && fork())
        made++;
    if (made < 200)
        pause();
    say("processes", made);
}

static const struct { const char *name; void (*does)(void); } all[] = {
    {"ping", ping_pong}, {"large", large_writes}, {"stops", stops}, {"locks", locks}, {"fifo", named_pipe},
    {"signals", signals_between}, {"shared", shared_memory}, {"killer", kills_its_parent}, {"leaver", leaves_all},
    {"vfork", lends_memory}, {"deadlock", deadlock}, {"many", makes_many},
};

int main(int argc, char **argv) {
    size_t i;
    for (i = 0; argc > 1 && i < sizeof(all) / sizeof(*all); i++)
        if (!strcmp(argv[1], all[i].name))
            all[i].does();
    return 0;
}
