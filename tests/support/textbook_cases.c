/* Textbook cases of performance: `textbook CASE SIZE PASSES` does one of them so many times.
   What runs is the case's loop, and before it what it needs, the same for any number of passes. */

#define KEPT __attribute__((noinline, noclone))
#define MOST 2048
#define KEEP(value) __asm__ volatile("" : "+r"(value))

typedef unsigned long word;

/* --- matrices by row and by column */

long matrix[MOST * MOST];
int from[MOST][MOST], to[MOST][MOST];

static KEPT long rows(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            sum += matrix[i * n + j];
    return sum;
}

static KEPT long columns(long n)
{
    long sum = 0;
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
            sum += matrix[i * n + j];
    return sum;
}

static KEPT long copy_rows(long n)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            to[i][j] = from[i][j];
    return 0;
}

static KEPT long copy_columns(long n)
{
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
            to[i][j] = from[i][j];
    return 0;
}

/* --- a branch on data, which is sorted or not */

int data[32768];

static void fill(int sorted)
{
    unsigned seed = 1;
    for (long i = 0; i < 32768; i++) {
        seed = seed * 1103515245 + 12345;
        data[i] = sorted ? (int)(i * 256 / 32768) : (int)(seed >> 16 & 255);
    }
}

static KEPT long above(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        if (data[i] >= 128) {
            KEEP(sum);
            sum += data[i];
        }
    return sum;
}

/* --- an array of structures, and an array for each member */

struct { long x, y, z, vx, vy, vz, mass, charge; } bodies[1 << 19];
long masses[1 << 19];

static KEPT long of_structures(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += bodies[i].mass;
    return sum;
}

static KEPT long of_arrays(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += masses[i];
    return sum;
}

/* --- 32 rows of a product of matrices, plain and by blocks */

#define ROWS 32
#define BLOCK 32
double a[ROWS][512], b[512][512], c[ROWS][512];

static KEPT long plain(long n)
{
    for (long i = 0; i < ROWS; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return 0;
}

static KEPT long blocked(long n)
{
    for (long kk = 0; kk < n; kk += BLOCK)
        for (long jj = 0; jj < n; jj += BLOCK)
            for (long i = 0; i < ROWS; i++)
                for (long k = kk; k < kk + BLOCK; k++) {
                    double factor = a[i][k];
                    for (long j = jj; j < jj + BLOCK; j++)
                        c[i][j] += factor * b[k][j];
                }
    return 0;
}

/* --- a list in random order, and the same nodes in order */

struct node { struct node *next; long value, rest[6]; } nodes[1 << 20];

static KEPT long list(long n)
{
    long sum = 0;
    struct node *one = nodes;
    for (long i = 0; i < n; i++, one = one->next)
        sum += one->value;
    return sum;
}

static KEPT long array(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += nodes[i].value;
    return sum;
}

/* A cycle through all nodes: a generator of the full period. */
static void link(void)
{
    unsigned last = 0, next;
    for (long i = 0; i < 1 << 20; i++, last = next) {
        next = (last * 1664525u + 1013904223u) & ((1 << 20) - 1);
        nodes[last].next = &nodes[next];
    }
}

/* --- dependences that are none */

#define COUNT(clear, to0, to1, to2, to3) \
    __asm__(clear "popcnt (%1), " to0 "; add " to0 ", %0;" clear "popcnt 8(%1), " to1 "; add " to1 ", %0;" \
            clear "popcnt 16(%1), " to2 "; add " to2 ", %0;" clear "popcnt 24(%1), " to3 "; add " to3 ", %0" \
            : "+r"(sum) : "r"(nodes) : "rax", "rcx", "rdx", "rsi", "r8", "memory")

static KEPT long popcnt_chain(long n)
{
    long sum = 0;
    while (n--)
        COUNT("", "%%rax", "%%rax", "%%rax", "%%rax");
    return sum;
}

static KEPT long popcnt_broken(long n)
{
    long sum = 0;
    while (n--)
        COUNT("xor %%eax, %%eax;", "%%rax", "%%rax", "%%rax", "%%rax");
    return sum;
}

static KEPT long convert_chain(long n)
{
    while (n--)
        __asm__ volatile("cvtsi2sd %0, %%xmm0; addsd %%xmm0, %%xmm0" : : "r"(n) : "xmm0");
    return 0;
}

static KEPT long convert_broken(long n)
{
    while (n--)
        __asm__ volatile("pxor %%xmm0, %%xmm0; cvtsi2sd %0, %%xmm0; addsd %%xmm0, %%xmm0" : : "r"(n) : "xmm0");
    return 0;
}

/* --- bodies under gravity: the loop of the benchmarks game's n-body, in C */

double at[5][3] = {{0, 0, 0}, {4.8, -1.2, -0.1}, {8.3, 4.1, -0.4}, {12.9, -15.1, -0.2}, {15.4, -25.9, 0.2}};
double speed[5][3] = {{0, 0, 0}, {0.6, 2.8, 0}, {-1, 1.8, 0}, {1.1, 0.9, 0}, {1, 0.6, 0}};
static const double weight[5] = {39.5, 0.04, 0.01, 0.002, 0.002};

static double root(double of)
{
    __asm__("sqrtsd %0, %0" : "+x"(of));
    return of;
}

static KEPT long nbody(long steps)
{
    const double time = 0.01;
    while (steps--) {
        for (int i = 0; i < 5; i++)
            for (int j = i + 1; j < 5; j++) {
                double x = at[i][0] - at[j][0], y = at[i][1] - at[j][1], z = at[i][2] - at[j][2];
                double square = x * x + y * y + z * z, size = time / (square * root(square));
                double one = weight[j] * size, other = weight[i] * size;
                speed[i][0] -= x * one, speed[i][1] -= y * one, speed[i][2] -= z * one;
                speed[j][0] += x * other, speed[j][1] += y * other, speed[j][2] += z * other;
            }
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 3; k++)
                at[i][k] += time * speed[i][k];
    }
    return 0;
}

static int same(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static long number(const char *text)
{
    long value = 0;
    while (*text)
        value = value * 10 + *text++ - '0';
    return value;
}

static const struct { const char *name; long (*function)(long); } cases[] = {
    {"rows", rows}, {"columns", columns}, {"copy_rows", copy_rows}, {"copy_columns", copy_columns},
    {"sorted", above}, {"unsorted", above}, {"of_structures", of_structures}, {"of_arrays", of_arrays},
    {"plain", plain}, {"blocked", blocked}, {"list", list}, {"array", array}, {"nbody", nbody},
    {"popcnt_chain", popcnt_chain}, {"popcnt_broken", popcnt_broken}, {"convert_chain", convert_chain},
    {"convert_broken", convert_broken},
};

__attribute__((used)) void begin(char **words)
{
    word status = 1;
    for (word i = 0; i < sizeof cases / sizeof *cases; i++)
        if (same(words[0], cases[i].name)) {
            long size = number(words[1]), passes = number(words[2]), sum = 0;
            fill(same(words[0], "sorted"));
            if (same(words[0], "list"))
                link();
            while (passes--)
                sum += cases[i].function(size);
            KEEP(sum);
            status = 0;
        }
    __asm__ volatile("syscall" : : "a"(60L), "D"(status));
    __builtin_unreachable();
}

__asm__(".globl _start; _start: lea 16(%rsp), %rdi; and $-16, %rsp; call begin");
