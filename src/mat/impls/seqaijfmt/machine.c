/*
  machine.c - the numbers of the machine that predictions need: from options, else from a file of the user's cache
  folder, else measured, once, and written to that file. A file belongs to one kind of processor or GPU, because home
  folders are shared by machines of several kinds.
*/
#include "seqaijfmt.h"
#include "core/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 256, VERSION = 1 /* of the file; raised when the numbers get another meaning */ };

static PetscPackMachine given;    /* by options or PetscPackSetMachine(); 0: measured */
static SpmvMachine      known[2]; /* by space; bandwidth is 0 where nothing is known yet */

static const char file_format[] = "petscpack machine %d: %lg %lg %lg %lg %lg\n";

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

static PetscBool ReadFile(const char path[], SpmvMachine *m)
{
  FILE *f       = path[0] ? fopen(path, "r") : NULL;
  int   version = 0, read = 0;

  if (f) {
    read = fscanf(f, file_format, &version, &m->bandwidth, &m->cache_bandwidth, &m->cache_bytes, &m->rate, &m->launch);
    fclose(f);
  }
  return read == 6 && version == VERSION && m->bandwidth > 0 && m->cache_bandwidth > 0 && m->cache_bytes >= 0 &&
                 m->rate > 0 && m->launch >= 0
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Other processes may write the same file: each writes its own, whose name becomes the common one in one step */
static PetscErrorCode WriteFile(const char path[], const SpmvMachine *m)
{
  char  own[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(own, sizeof own, "%s.%ld", path, (long)getpid()));
  f = path[0] ? fopen(own, "w") : NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  fprintf(f, file_format, VERSION, m->bandwidth, m->cache_bandwidth, m->cache_bytes, m->rate, m->launch);
  if (fclose(f) || rename(own, path)) (void)remove(own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts what the user says in the place of what was measured; true where that is all that matters */
static PetscBool Override(SpmvSpace space, SpmvMachine *m)
{
  const double bandwidth = space == SPMV_DEVICE ? given.gpu_bandwidth : given.host_bandwidth;
  const double other     = space == SPMV_DEVICE ? given.gpu_launch : given.host_rate;

  if (bandwidth > 0) {
    m->bandwidth = m->cache_bandwidth = bandwidth;
    m->cache_bytes                    = 0;
    if (space == SPMV_DEVICE) m->rate = bandwidth / (double)sizeof(double);
  }
  if (other > 0) *(space == SPMV_DEVICE ? &m->launch : &m->rate) = other;
  return bandwidth > 0 && other > 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* The numbers for plans in exec->space */
PetscErrorCode AIJFmtMachineGet(Mat A, SpmvExec *exec, SpmvMachine *machine)
{
  SpmvMachine *m = &known[exec->space];
  char         path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  *machine = *m;
  if (Override(exec->space, machine)) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->bandwidth == 0) {
    PetscCall(FilePath(exec, path));
    if (!ReadFile(path, m)) {
      AIJFmtCallSpmv(exec, spmv_machine_measure(m, exec));
      PetscCall(WriteFile(path, m));
    }
    PetscCall(
        PetscInfo(A, "machine (%s): %.3g bytes/s, %.3g from a cache of %.3g bytes, %.3g nonzeros/s, %.2e s a launch\n",
                  path, m->bandwidth, m->cache_bandwidth, m->cache_bytes, m->rate, m->launch));
    *machine = *m;
    (void)Override(exec->space, machine);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackSetMachine - Sets the numbers of the machine by which `MATAIJAUTO` predicts the times of products

  Not Collective

  Input Parameter:
. machine - the numbers, 0 for each that shall be measured

  Options Database Keys:
+ -petscpack_host_bandwidth <bytes/s>  - that one core reads from memory
. -petscpack_host_rate <nonzeros/s>    - that one core multiplies as plain CSR in its cache
. -petscpack_gpu_bandwidth <bytes/s>   - that the GPU reads and writes when it copies
- -petscpack_gpu_launch <s>            - from one launch of a kernel to the next

  Level: advanced

  Notes:
  The options are read by `PetscPackInitializePackage()`. What is measured is kept in the folder petscpack of
  `XDG_CACHE_HOME`, or of ~/.cache, for all later runs on the same kind of processor or GPU.

  With both numbers of the host, or of the GPU, nothing is measured for it, and choices are the same in every run.

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
