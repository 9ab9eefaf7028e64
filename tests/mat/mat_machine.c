/*
  mat_machine.c - the file in which aijauto keeps the numbers of the machine: when it is written, believed, improved and
  replaced. Numbers are compared with those that the test has written itself, never with a time.
*/
#include "conf.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static char help[] = "Tests the file with numbers of the machine.\n\n";

enum { VERSION = 2, SETTLED = 5, FIELDS = 7 };

static const char   line[] = "petscpack machine %d: %lg %lg %lg %lg %lg, probe %d\n";
static const double SLOW   = 1000; /* bytes or nonzeros per second: no machine is as slow */

typedef struct {
  double bandwidth, cache_bandwidth, cache_bytes, rate, launch;
  int    probes;
} Numbers;

static PetscErrorCode Expect(PetscBool right, const char *what)
{
  PetscFunctionBeginUser;
  PetscCheck(right, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a process does that has just begun: it knows no numbers, and chooses a format on the host */
static PetscErrorCode NewProcess(const char days[])
{
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(PetscPackFinalizePackage());
  PetscCall(PetscOptionsSetValue(NULL, "-petscpack_probe_days", days));
  PetscCall(PetscPackInitializePackage());
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 2, 2, 2, 2));
  PetscCall(MatSetType(A, MATAIJAUTO));
  PetscCall(MatAIJFmtSetOption(A, "device", "host"));
  PetscCall(MatSeqAIJSetPreallocation(A, 1, NULL));
  PetscCall(MatSetValue(A, 0, 1, 1, INSERT_VALUES));
  PetscCall(MatSetValue(A, 1, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The only file of the folder */
static PetscErrorCode FindFile(const char folder[], char path[PETSC_MAX_PATH_LEN])
{
  DIR           *entries = opendir(folder);
  struct dirent *entry;

  PetscFunctionBeginUser;
  path[0] = 0;
  while (entries && (entry = readdir(entries)))
    if (entry->d_name[0] != '.') PetscCall(PetscSNPrintf(path, PETSC_MAX_PATH_LEN, "%s/%s", folder, entry->d_name));
  if (entries) closedir(entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Read(const char path[], Numbers *n)
{
  FILE *f       = fopen(path, "r");
  int   version = 0, read;

  PetscFunctionBeginUser;
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "no file %s", path);
  read =
      fscanf(f, line, &version, &n->bandwidth, &n->cache_bandwidth, &n->cache_bytes, &n->rate, &n->launch, &n->probes);
  fclose(f);
  PetscCall(Expect((PetscBool)(read == FIELDS && version == VERSION), "the file has another form"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Write(const char path[], const Numbers *n, int days_ago)
{
  FILE                *f    = fopen(path, "w");
  const time_t         when = time(NULL) - (time_t)days_ago * 86400;
  const struct utimbuf then = {when, when};

  PetscFunctionBeginUser;
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot write %s", path);
  fprintf(f, line, VERSION, n->bandwidth, n->cache_bandwidth, n->cache_bytes, n->rate, n->launch, n->probes);
  fclose(f);
  PetscCheck(!utime(path, &then), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot set the time of %s", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cases(const char folder[])
{
  const Numbers busy = {SLOW, SLOW, 1e6, SLOW, 0, 1}, settled = {SLOW, SLOW, 1e6, SLOW, 0, SETTLED};
  Numbers       now;
  char          path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(NewProcess("30"));
  PetscCall(FindFile(folder, path));
  PetscCall(Read(path, &now));
  PetscCall(
      Expect((PetscBool)(now.bandwidth > SLOW && now.rate > SLOW && now.probes == 1), "the first probe is not kept"));

  PetscCall(Write(path, &busy, 0));
  PetscCall(NewProcess("30"));
  PetscCall(Read(path, &now));
  PetscCall(Expect((PetscBool)(now.bandwidth > SLOW && now.rate > SLOW && now.probes == 2),
                   "numbers of a busy machine are not improved"));

  PetscCall(Write(path, &settled, 1));
  PetscCall(NewProcess("30"));
  PetscCall(Read(path, &now));
  PetscCall(Expect((PetscBool)(now.bandwidth == SLOW && now.probes == SETTLED), "settled numbers are measured again"));

  PetscCall(Write(path, &settled, 31));
  PetscCall(NewProcess("0"));
  PetscCall(Read(path, &now));
  PetscCall(Expect((PetscBool)(now.bandwidth == SLOW), "old numbers are not kept although they shall be"));
  PetscCall(NewProcess("30"));
  PetscCall(Read(path, &now));
  PetscCall(Expect((PetscBool)(now.bandwidth > SLOW && now.probes == 1), "old numbers are not replaced"));
  PetscCall(Expect((PetscBool)!remove(path), "the file cannot be removed"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char cache[PETSC_MAX_PATH_LEN], folder[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscSNPrintf(cache, sizeof cache, "mat_machine.%ld", (long)getpid()));
  PetscCheck(!mkdir(cache, 0700), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "no folder %s", cache);
  PetscCall(PetscSNPrintf(folder, sizeof folder, "%s/petscpack", cache));
  PetscCheck(!setenv("XDG_CACHE_HOME", cache, 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "cannot set XDG_CACHE_HOME");
  PetscCall(Cases(folder));
  PetscCall(Expect((PetscBool)(!rmdir(folder) && !rmdir(cache)), "there is more than one file"));
  PetscCheck(!setenv("XDG_CACHE_HOME", "/dev/null", 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "cannot set XDG_CACHE_HOME");
  PetscCall(NewProcess("30")); /* no file can be written, and none is missed */
  PetscCall(PetscFinalize());
  return 0;
}
