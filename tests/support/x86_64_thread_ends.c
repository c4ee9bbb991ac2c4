/* How a program with threads ends, by the name of the way. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_t made[5000];
static char stack[1 << 16];

static void *leave(void *status) {
    usleep(1000);
    exit((int)(long)status);
}

static void *execute(void *unused) {
    execl("/bin/echo", "echo", "executed", NULL);
    return unused;
}

static void *print_late(void *unused) {
    usleep(200000);
    puts("late");
    return unused;
}

static void *store(void *at) {
    *(volatile int *)at = 1;
    return at;
}

static void *take_both(void *unused) {
    pthread_mutex_lock(&other);
    usleep(1000);
    pthread_mutex_lock(&one);
    return unused;
}

static void *stay(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void *sleep_long(void *seconds) {
    sleep((unsigned)(long)seconds);
    return NULL;
}

static void after_fault(int number) {
    pthread_exit((void *)(long)number);
}

static int store_in_parent(void *at) {
    *(int *)at = 5;
    return 9;
}

static void wait_for_end(void) {
    for (;;)
        pause();
}

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "";
    void *result;
    if (!strcmp(way, "exit")) {
        pthread_create(made, NULL, leave, (void *)7L);
        wait_for_end();
    } else if (!strcmp(way, "exit while another spins")) {
        pthread_create(made, NULL, leave, (void *)8L);
        for (;;)
            continue;
    } else if (!strcmp(way, "exec")) {
        pthread_create(made, NULL, execute, NULL);
        wait_for_end();
    } else if (!strcmp(way, "first thread ends")) {
        pthread_create(made, NULL, print_late, NULL);
        pthread_exit(NULL);
    } else if (!strcmp(way, "first thread ends by the system call")) {
        pthread_create(made, NULL, print_late, NULL);
        syscall(SYS_exit, 3);
    } else if (!strcmp(way, "fault")) {
        pthread_create(made, NULL, store, (void *)8L);
        pthread_join(made[0], NULL);
    } else if (!strcmp(way, "handled fault")) {
        signal(SIGSEGV, after_fault);
        pthread_create(made, NULL, store, (void *)8L);
        pthread_join(made[0], &result);
        printf("%ld\n", (long)result);
    } else if (!strcmp(way, "killed thread")) {
        pthread_create(made, NULL, stay, NULL);
        usleep(100);
        pthread_kill(made[0], SIGTERM);
        wait_for_end();
    } else if (!strcmp(way, "shared memory")) {
        int value = 0, status;
        pid_t child = clone(store_in_parent, stack + sizeof(stack), CLONE_VM | SIGCHLD, &value);
        waitpid(child, &status, 0);
        printf("%d %d\n", value, WEXITSTATUS(status));
    } else if (!strcmp(way, "deadlock")) {
        pthread_mutex_lock(&one);
        pthread_create(made, NULL, take_both, NULL);
        usleep(5000);
        pthread_mutex_lock(&other);
    } else if (!strcmp(way, "long sleeps")) {
        for (long i = 0; i < 3; i++)
            pthread_create(made + i, NULL, sleep_long, (void *)1000L);
        for (int i = 0; i < 3; i++)
            pthread_join(made[i], NULL);
    } else if (!strcmp(way, "too many")) {
        pthread_attr_t small;
        int error = 0, threads = 0;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 16384);
        while (threads < 5000 && !(error = pthread_create(made + threads, &small, stay, NULL)))
            threads++;
        printf("%d %s\n", threads >= 300, strerror(error));
    }
    return 0;
}
