/*
  machine.c - the numbers of the machine that predictions need: from options, else from a file of the user's cache
  folder, else measured, and written to that file. A file belongs to one kind of processor or GPU, because home folders
  are shared by machines of several kinds.

  A machine may have been busy while it was measured, which makes it slower, never faster. So another run measures
  again: when both agree, the numbers are settled; else the better of each is kept, and the next run measures once more,
  five times at most. Settled numbers serve until they are a month old (-petscpack_probe_days).
*/
#include "seqaijfmt.h"
#include "core/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  LINE_MAX_BYTES = 256,
  VERSION        = 2, /* of the file; raised when the numbers get another meaning */
  MOST_PROBES    = 5  /* so many, or two that agree, settle the numbers */
};

static const double AGREE = 1.25, SECONDS_OF_A_DAY = 86400, DAYS = 30;

static PetscPackMachine given;        /* by options or PetscPackSetMachine(); 0: measured */
static SpmvMachine      known[2];     /* by space; bandwidth is 0 where nothing is known yet */
static double           days  = DAYS; /* after which a file is too old; 0: never */
static int              maker = PETSCPACK_PROCESSOR_AUTO;

static const char file_format[] = "petscpack machine %d: %lg %lg %lg %lg %lg, probe %d\n";

/* Mixes the name of the processor into a number; without one, all processors share a file */
static uint64_t ProcessorKey(void)
{
  FILE    *f   = fopen("/proc/cpuinfo", "r");
  uint64_t key = 0;
  char     line[LINE_MAX_BYTES];

  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, "model name", 10)) continue;
    for (const char *c = line; *c; c++) key = spmv_mix(key + (unsigned char)*c);
    break;
  }
  if (f) fclose(f);
  return key;
}

/* The path of the file, or "" without a home. The folders on the way are made. */
static PetscErrorCode FilePath(SpmvExec *exec, char path[PETSC_MAX_PATH_LEN])
{
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int64_t     unused, total                           = 0;
  uint64_t    key;
  char        folder[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  path[0] = 0;
  if (cache && cache[0]) PetscCall(PetscStrncpy(folder, cache, sizeof folder));
  else if (home && home[0]) PetscCall(PetscSNPrintf(folder, sizeof folder, "%s/.cache", home));
  else PetscFunctionReturn(PETSC_SUCCESS);
  (void)mkdir(folder, 0700); /* a folder that is not there afterwards is noticed by who opens the file */
  PetscCall(PetscStrlcat(folder, "/petscpack", sizeof folder));
  (void)mkdir(folder, 0700);
  if (exec->space == SPMV_DEVICE) AIJFmtCallSpmv(exec, spmv_device_memory(&unused, &total, exec));
  key = exec->space == SPMV_DEVICE ? spmv_mix((uint64_t)total) : ProcessorKey();
  PetscCall(PetscSNPrintf(path, PETSC_MAX_PATH_LEN, "%s/%s-%016llx", folder,
                          exec->space == SPMV_DEVICE ? "gpu" : "processor", (unsigned long long)key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsOld(const char path[])
{
  struct stat file;

  if (days == 0 || stat(path, &file)) return PETSC_FALSE;
  return difftime(time(NULL), file.st_mtime) > days * SECONDS_OF_A_DAY ? PETSC_TRUE : PETSC_FALSE;
}

/* probes: how many the numbers come from; MOST_PROBES when they are settled */
static PetscBool ReadFile(const char path[], SpmvMachine *m, int *probes)
{
  FILE *f       = path[0] && !IsOld(path) ? fopen(path, "r") : NULL;
  int   version = 0, read = 0;

  if (f) {
    read = fscanf(f, file_format, &version, &m->bandwidth, &m->cache_bandwidth, &m->cache_bytes, &m->rate, &m->launch,
                  probes);
    fclose(f);
  }
  return read == 7 && version == VERSION && *probes > 0 && m->bandwidth > 0 && m->cache_bandwidth > 0 &&
                 m->cache_bytes >= 0 && m->rate > 0 && m->launch >= 0
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Other processes may write the same file: each writes its own, whose name becomes the common one in one step */
static PetscErrorCode WriteFile(const char path[], const SpmvMachine *m, int probes)
{
  char  own[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(own, sizeof own, "%s.%ld", path, (long)getpid()));
  f = path[0] ? fopen(own, "w") : NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  fprintf(f, file_format, VERSION, m->bandwidth, m->cache_bandwidth, m->cache_bytes, m->rate, m->launch, probes);
  if (fclose(f) || rename(own, path)) (void)remove(own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Agree(double a, double b) { return a <= AGREE * b && b <= AGREE * a ? PETSC_TRUE : PETSC_FALSE; }

/* Measures for the probes-th time; m has the numbers of the probes before, which stay when they are confirmed */
static PetscErrorCode Probe(SpmvExec *exec, SpmvMachine *m, int *probes)
{
  SpmvMachine now;

  PetscFunctionBegin;
  AIJFmtCallSpmv(exec, spmv_machine_measure(&now, exec));
  if (++*probes == 1) *m = now;
  else if (Agree(m->bandwidth, now.bandwidth) && Agree(m->cache_bandwidth, now.cache_bandwidth) &&
           Agree(m->rate, now.rate) && Agree(m->launch, now.launch))
    *probes = MOST_PROBES;
  else {
    m->bandwidth       = PetscMax(m->bandwidth, now.bandwidth);
    m->cache_bandwidth = PetscMax(m->cache_bandwidth, now.cache_bandwidth);
    m->cache_bytes     = now.cache_bytes;
    m->rate            = PetscMax(m->rate, now.rate);
    m->launch          = PetscMin(m->launch, now.launch);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts what the user says in the place of what was measured; true where that is all that matters */
static PetscBool Override(SpmvSpace space, SpmvMachine *m)
{
  static const SpmvProcessor makers[]  = {[PETSCPACK_PROCESSOR_AMD]   = SPMV_PROCESSOR_AMD,
                                          [PETSCPACK_PROCESSOR_INTEL] = SPMV_PROCESSOR_INTEL,
                                          [PETSCPACK_PROCESSOR_OTHER] = SPMV_PROCESSOR_OTHER};
  const double               bandwidth = space == SPMV_DEVICE ? given.gpu_bandwidth : given.host_bandwidth;
  const double               other     = space == SPMV_DEVICE ? given.gpu_launch : given.host_rate;

  m->processor = maker == PETSCPACK_PROCESSOR_AUTO ? spmv_processor() : makers[maker];
  if (bandwidth > 0) {
    m->bandwidth = m->cache_bandwidth = bandwidth;
    m->cache_bytes                    = 0;
    if (space == SPMV_DEVICE) m->rate = bandwidth / (double)sizeof(double);
  }
  if (other > 0) *(space == SPMV_DEVICE ? &m->launch : &m->rate) = other;
  return bandwidth > 0 && other > 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* Numbers for plans in that space that no clock has a part in: what the user says, else those of a reference machine */
PetscErrorCode AIJFmtMachineReference(SpmvSpace space, SpmvMachine *machine)
{
  PetscFunctionBegin;
  (void)Override(space, machine); /* for the processor */
  spmv_machine_reference(machine, space, machine->processor);
  (void)Override(space, machine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers for plans in exec->space */
PetscErrorCode AIJFmtMachineGet(Mat A, SpmvExec *exec, SpmvMachine *machine)
{
  SpmvMachine *m      = &known[exec->space];
  int          probes = 0;
  char         path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  *machine = *m;
  if (Override(exec->space, machine)) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->bandwidth == 0) {
    PetscCall(FilePath(exec, path));
    if (!ReadFile(path, m, &probes)) probes = 0;
    if (probes < MOST_PROBES) {
      PetscCall(Probe(exec, m, &probes));
      PetscCall(WriteFile(path, m, probes));
    }
    PetscCall(
        PetscInfo(A, "machine (%s): %.3g bytes/s, %.3g from a cache of %.3g bytes, %.3g nonzeros/s, %.2e s a launch\n",
                  path, m->bandwidth, m->cache_bandwidth, m->cache_bytes, m->rate, m->launch));
    *machine = *m;
    (void)Override(exec->space, machine);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What -petscpack_probe_days and -petscpack_host_processor say */
void AIJFmtMachineSet(double probe_days, int processor)
{
  days  = probe_days;
  maker = processor;
}

/* Forgets what the process knows; files stay */
void AIJFmtMachineReset(void)
{
  known[SPMV_HOST] = known[SPMV_DEVICE] = (SpmvMachine){.bandwidth = 0};
  AIJFmtMachineSet(DAYS, PETSCPACK_PROCESSOR_AUTO);
}

/*@C
  PetscPackSetMachine - Sets the numbers of the machine by which times of products are predicted

  Not Collective

  Input Parameter:
. machine - the numbers, 0 for each that shall be measured

  Options Database Keys:
+ -petscpack_host_bandwidth <bytes/s>  - that one core reads from memory
. -petscpack_host_rate <nonzeros/s>    - that one core multiplies as plain CSR in its cache
. -petscpack_gpu_bandwidth <bytes/s>   - that the GPU reads and writes when it copies
. -petscpack_gpu_launch <s>            - from one launch of a kernel to the next
. -petscpack_probe_days <days>         - after which what was measured is measured again; 30 by default, 0: never
- -petscpack_host_processor <maker>    - auto, amd, intel or other: the processor whose products the model knows

  Level: advanced

  Notes:
  The options are read by `PetscPackInitializePackage()`. `MATAIJAUTO` has numbers measured that are not given. They are
  kept in the folder petscpack of `XDG_CACHE_HOME`, or of ~/.cache, for later runs on the same kind of processor or GPU;
  another run measures again, in case that the machine was busy.

  With both numbers of the host, or of the GPU, nothing is measured for it, and choices are the same in every run; with
  `-petscpack_host_processor` also on every machine.

  Types that name a format, such as `MATAIJRBP`, never measure: without given numbers they decline by those of a fixed
  reference machine.

.seealso: `PetscPackGetMachine()`, `MATAIJAUTO`
@*/
PetscErrorCode PetscPackSetMachine(const PetscPackMachine *machine)
{
  PetscFunctionBegin;
  PetscAssertPointer(machine, 1);
  PetscCheck(machine->host_bandwidth >= 0 && machine->host_rate >= 0 && machine->gpu_bandwidth >= 0 &&
                 machine->gpu_launch >= 0,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "host_bandwidth %g, host_rate %g, gpu_bandwidth %g and gpu_launch %g must not be negative; 0 has them "
             "measured",
             machine->host_bandwidth, machine->host_rate, machine->gpu_bandwidth, machine->gpu_launch);
  given = *machine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackGetMachine - Gets the numbers of the machine that were set

  Not Collective

  Output Parameter:
. machine - what `PetscPackSetMachine()` was given, or the options; 0 where the number is measured

  Level: advanced

.seealso: `PetscPackSetMachine()`, `MATAIJAUTO`
@*/
PetscErrorCode PetscPackGetMachine(PetscPackMachine *machine)
{
  PetscFunctionBegin;
  PetscAssertPointer(machine, 1);
  *machine = given;
  PetscFunctionReturn(PETSC_SUCCESS);
}
