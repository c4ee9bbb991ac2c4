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

static void exit_in_thread(void) {
    pthread_create(made, NULL, leave, (void *)7L);
    wait_for_end();
}

static void exit_beside_spinning(void) {
    pthread_create(made, NULL, leave, (void *)8L);
    for (;;)
        continue;
}

static void exec_in_thread(void) {
    pthread_create(made, NULL, execute, NULL);
    wait_for_end();
}

static void first_ends(void) {
    pthread_create(made, NULL, print_late, NULL);
    pthread_exit(NULL);
}

static void first_ends_by_call(void) {
    pthread_create(made, NULL, print_late, NULL);
    syscall(SYS_exit, 3);
}

static void fault(void) {
    pthread_create(made, NULL, store, (void *)8L);
    pthread_join(made[0], NULL);
}

static void handled_fault(void) {
    void *result;
    signal(SIGSEGV, after_fault);
    pthread_create(made, NULL, store, (void *)8L);
    pthread_join(made[0], &result);
    printf("%ld\n", (long)result);
}

static void kill_thread(void) {
    pthread_create(made, NULL, stay, NULL);
    usleep(100);
    pthread_kill(made[0], SIGTERM);
    wait_for_end();
}

static void share_memory(void) {
    int value = 0, status;
    pid_t child = clone(store_in_parent, stack + sizeof(stack), CLONE_VM | SIGCHLD, &value);
    waitpid(child, &status, 0);
    printf("%d %d\n", value, WEXITSTATUS(status));
}

static void deadlock(void) {
    pthread_mutex_lock(&one);
    pthread_create(made, NULL, take_both, NULL);
    usleep(5000);
    pthread_mutex_lock(&other);
}

static void sleep_long_together(void) {
    for (long i = 0; i < 3; i++)
        pthread_create(made + i, NULL, sleep_long, (void *)1000L);
    for (int i = 0; i < 3; i++)
        pthread_join(made[i], NULL);
}

static void make_too_many(void) {
    pthread_attr_t small;
    int error = 0, threads = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    while (threads < 5000 && !(error = pthread_create(made + threads, &small, stay, NULL)))
        threads++;
    printf("%d %s\n", threads >= 300, strerror(error));
}

static const struct { const char *name; void (*end)(void); } ways[] = {
    {"exit", exit_in_thread}, {"exit while another spins", exit_beside_spinning}, {"exec", exec_in_thread},
    {"first thread ends", first_ends}, {"first thread ends by the system call", first_ends_by_call}, {"fault", fault},
    {"handled fault", handled_fault}, {"killed thread", kill_thread}, {"shared memory", share_memory}, {"deadlock", deadlock},
    {"long sleeps", sleep_long_together}, {"too many", make_too_many},
};

int main(int count, char **words) {
    for (unsigned i = 0; count > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!strcmp(words[1], ways[i].name))
            ways[i].end();
    return 0;
}
