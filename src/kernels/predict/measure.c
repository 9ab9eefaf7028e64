/*
  The probe: the few numbers of a machine that the model wants. Each is the best of some repetitions, because other work
  on the machine only makes things slower.
*/
#include "core/format.h"
#include <spmv_predict.h>
#include <time.h>
#include <unistd.h>

enum {
  REPEAT       = 7,
  RATE_REPEAT  = 150, /* a small part of a second: a processor that shares its core with another is slower at times */
  WORDS_MEMORY = 8 << 20,  /* 64 MiB: more than most caches hold */
  WORDS_CACHE  = 32 << 10, /* 256 KiB */
  ROWS         = 1000,     /* of the matrix for the rate */
  ROW          = 16,       /* nonzeros in each of its rows */
  PRODUCTS     = 20,       /* in one measurement */
  LAUNCHES     = 100,      /* copies of a few bytes, in one measurement */
  SMALL        = 256,      /* bytes of such a copy */
  MOST_CACHE   = 32 << 20  /* bytes of a shared cache that one core may count on */
};

/* The time of this thread leaves out the turns of others on the same core; what a GPU does is in wall time alone */
static double now(clockid_t clock)
{
  struct timespec t;

  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double least(double a, double b) { return a < b ? a : b; }

/* Reads an array with eight sums at a time, so that no addition waits for the one before */
static uint64_t read_words(const uint64_t *word, int64_t count)
{
  uint64_t sum[8] = {0}, all = 0;

  for (int64_t i = 0; i < count; i += 8)
    for (int k = 0; k < 8; k++) sum[k] += word[i + k];
  for (int k = 0; k < 8; k++) all += sum[k];
  return all;
}

/* Bytes per second of reading `words` words, which stay in the cache if they fit there */
static double reading(const uint64_t *word, int64_t words, volatile uint64_t *sink)
{
  const int64_t passes = WORDS_MEMORY / words;
  double        best   = 1e30;

  for (int r = 0; r < REPEAT; r++) {
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t p = 0; p < passes; p++) *sink += read_words(word, words);
    best = least(best, now(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  return (double)(passes * words) * sizeof *word / best;
}

/* y = A x with the plain loop, for a matrix whose rows have ROW nonzeros in neighbouring columns */
static void multiply(const int32_t *col, const double *value, const double *x, double *y)
{
  for (int i = 0; i < ROWS; i++) {
    double sum = 0;
    for (int k = i * ROW; k < (i + 1) * ROW; k++) sum += value[k] * x[col[k]];
    y[i] = sum;
  }
}

/* Nonzeros per second of that product, in the memory of block */
static double rate_of_products(double *block, volatile double *sink)
{
  double  *value = block, *x = value + ROWS * ROW, *y = x + ROWS + ROW;
  int32_t *col  = (int32_t *)(y + ROWS);
  double   best = 1e30;

  for (int k = 0; k < ROWS * ROW; k++) {
    value[k] = 1;
    col[k]   = k / ROW + k % ROW;
  }
  for (int i = 0; i < ROWS + ROW; i++) x[i] = i;
  for (int r = 0; r < RATE_REPEAT; r++) {
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (int p = 0; p < PRODUCTS; p++) {
      multiply(col, value, x, y);
      *sink += y[p];
    }
    best = least(best, now(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  return (double)PRODUCTS * ROWS * ROW / best;
}

static SpmvStatus measure_host(SpmvMachine *m, SpmvExec *exec)
{
  const long        cache   = sysconf(_SC_LEVEL3_CACHE_SIZE);
  volatile uint64_t sum     = 0;
  volatile double   product = 0;
  uint64_t         *word;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, WORDS_MEMORY * (int64_t)sizeof *word, "probe", (void **)&word));
  for (int64_t i = 0; i < WORDS_MEMORY; i++) word[i] = (uint64_t)i;
  m->bandwidth       = reading(word, WORDS_MEMORY, &sum);
  m->cache_bandwidth = reading(word, WORDS_CACHE, &sum);
  if (m->cache_bandwidth < m->bandwidth) m->cache_bandwidth = m->bandwidth;
  m->rate        = rate_of_products((double *)word, &product);
  m->cache_bytes = (double)(cache > 0 && cache < MOST_CACHE ? cache : MOST_CACHE);
  m->launch      = 0;
  m->processor   = spmv_processor();
  spmv_exec_free(exec, SPMV_HOST, word);
  return SPMV_SUCCESS;
}

/* Seconds of `count` copies of that many bytes on the device, each from one half of a block to the other */
static SpmvStatus copying(char *block, int64_t bytes, int count, SpmvExec *exec, double *seconds)
{
  double start;

  *seconds = 1e30;
  for (int r = 0; r < REPEAT; r++) {
    SPMV_TRY(spmv_stream_wait(exec));
    start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < count; i++) SPMV_TRY(spmv_copy(block + bytes, SPMV_DEVICE, block, SPMV_DEVICE, bytes, exec));
    SPMV_TRY(spmv_stream_wait(exec));
    *seconds = least(*seconds, now(CLOCK_MONOTONIC) - start);
  }
  return SPMV_SUCCESS;
}

static SpmvStatus measure_device(SpmvMachine *m, SpmvExec *exec)
{
  const int64_t half = WORDS_MEMORY / 2 * (int64_t)sizeof(uint64_t);
  const int     many = 10;
  double        large, small;
  SpmvStatus    status;
  void         *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, 2 * half, "probe", &block));
  status = copying(block, half, many, exec, &large);
  if (!status) status = copying(block, SMALL, LAUNCHES, exec, &small);
  spmv_exec_free(exec, SPMV_DEVICE, block);
  if (status) return status;
  m->launch    = small / LAUNCHES;
  m->bandwidth = m->cache_bandwidth = 2 * (double)half / (large / many - least(m->launch, large / many / 2));
  m->cache_bytes                    = 0;
  m->rate                           = m->bandwidth / (double)sizeof(double);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_machine_measure(SpmvMachine *machine, SpmvExec *exec)
{
  *machine = (SpmvMachine){.launch = 0};
  return exec->space == SPMV_DEVICE ? measure_device(machine, exec) : measure_host(machine, exec);
}

/* The bandwidth of a copy in bench/results/h200-spmv.json, and the launch that bench/fit_model.py was given */
void spmv_machine_h200(SpmvMachine *machine)
{
  *machine = (SpmvMachine){.bandwidth       = 4.235e12,
                           .cache_bandwidth = 4.235e12,
                           .cache_bytes     = 0,
                           .rate            = 4.235e12 / (double)sizeof(double),
                           .launch          = 2.5e-6};
}

SpmvProcessor spmv_processor(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd")) return SPMV_PROCESSOR_AMD;
  if (__builtin_cpu_is("intel")) return SPMV_PROCESSOR_INTEL;
#endif
  return SPMV_PROCESSOR_OTHER;
}

/* The numbers of bench/results/host-epyc-families.json and host-xeon-families.json */
void spmv_machine_reference(SpmvMachine *machine, SpmvSpace space, SpmvProcessor processor)
{
  if (space == SPMV_DEVICE) {
    spmv_machine_h200(machine);
    return;
  }
  *machine = (SpmvMachine){.bandwidth       = 1.572e10,
                           .cache_bandwidth = 9.332e10,
                           .cache_bytes     = 32 << 20,
                           .rate            = 1.862e9,
                           .processor       = processor};
  if (processor == SPMV_PROCESSOR_INTEL) {
    machine->bandwidth       = 1.236e10;
    machine->cache_bandwidth = 8.389e10;
    machine->rate            = 2.186e9;
  }
}
