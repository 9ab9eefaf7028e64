/*
  write.c - an advice as a file. Pages are made by the script petscpack-advise-html, because drawing wants matplotlib:
  the one in the folder bin beside the folder of libpetscpack, else the one in the folder of the library, else PATH's.
*/
#define _GNU_SOURCE /* dladdr() */
#include "advise.h"
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char script[] = "petscpack-advise-html";

enum { NO_MATPLOTLIB = 3 /* exit status of the script, which has said so */, NO_PROGRAM = 127 };

static PetscErrorCode WriteJSON(MatAIJFmtAdvice advice, FILE *out, const char path[])
{
  PetscBool failed;

  PetscFunctionBegin;
  PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s for writing", path);
  failed = fputs(advice->json, out) < 0 ? PETSC_TRUE : PETSC_FALSE;
  if (fclose(out)) failed = PETSC_TRUE;
  PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s: is the disk full?", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindScript(char path[PETSC_MAX_PATH_LEN])
{
  static const char *const folders[] = {"../bin/", ""};
  Dl_info                  library;
  char                     folder[PETSC_MAX_PATH_LEN], *slash;

  PetscFunctionBegin;
  if (dladdr(script, &library) && library.dli_fname) {
    PetscCall(PetscStrncpy(folder, library.dli_fname, sizeof folder));
    slash = strrchr(folder, '/');
    for (int i = 0; slash && i < 2; i++) {
      slash[1] = 0;
      PetscCall(PetscSNPrintf(path, PETSC_MAX_PATH_LEN, "%s%s%s", folder, folders[i], script));
      if (!access(path, X_OK)) PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PetscStrncpy(path, script, PETSC_MAX_PATH_LEN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the script and waits for it. Without matplotlib it has said so, and there is no page. */
static PetscErrorCode RunScript(const char json[], const char page[])
{
  char  program[PETSC_MAX_PATH_LEN];
  char *arguments[] = {program, (char *)json, (char *)page, NULL};
  pid_t child;
  int   status = 0, code;

  PetscFunctionBegin;
  PetscCall(FindScript(program));
  code = posix_spawnp(&child, program, NULL, NULL, arguments, environ);
  if (!code && waitpid(child, &status, 0) == child) code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  else code = NO_PROGRAM;
  PetscCheck(code != NO_PROGRAM, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "%s does not run: it needs python3 and must be in a folder of PATH; or write the advice as JSON and call "
             "it elsewhere",
             program);
  PetscCheck(code == 0 || code == NO_MATPLOTLIB, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s %s %s failed with status %d",
             program, json, page, code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The script reads the advice from a file beside the page */
static PetscErrorCode WritePage(MatAIJFmtAdvice advice, const char page[])
{
  char json[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(json, sizeof json, "%s.%ld.json", page, (long)getpid()));
  PetscCall(WriteJSON(advice, fopen(json, "wx"), json));
  PetscCall(RunScript(json, page));
  (void)remove(json);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatAIJFmtAdviceWrite - Writes what `MatAIJFmtAdvise()` has found to a file

  Collective

  Input Parameters:
+ advice - the advice
. format - `MAT_AIJFMT_ADVICE_TEXT`, `MAT_AIJFMT_ADVICE_JSON`, or `MAT_AIJFMT_ADVICE_HTML`, one page with pictures
- path   - of the file, which is written by the first process

  Level: beginner

  Note:
  A page is drawn by the script petscpack-advise-html, which needs Python with matplotlib. Without matplotlib there is
no page, and the script says so on the standard error stream.

.seealso: `MatAIJFmtAdvise()`, `MatAIJFmtAdviceView()`, `MatAIJFmtAdviceGetJSON()`
@*/
PetscErrorCode MatAIJFmtAdviceWrite(MatAIJFmtAdvice advice, MatAIJFmtAdviceFormat format, const char path[])
{
  PetscViewer viewer;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscAssertPointer(advice, 1);
  PetscAssertPointer(path, 3);
  if (format == MAT_AIJFMT_ADVICE_TEXT) {
    PetscCall(PetscViewerASCIIOpen(advice->comm, path, &viewer));
    PetscCall(MatAIJFmtAdviceView(advice, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(format == MAT_AIJFMT_ADVICE_JSON || format == MAT_AIJFMT_ADVICE_HTML, advice->comm,
             PETSC_ERR_ARG_OUTOFRANGE, "There is no format %d of an advice: 0 is text, 1 JSON, 2 HTML", (int)format);
  PetscCallMPI(MPI_Comm_rank(advice->comm, &rank));
  if (rank > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AdviceJSON(advice));
  if (format == MAT_AIJFMT_ADVICE_JSON) PetscCall(WriteJSON(advice, fopen(path, "w"), path));
  else PetscCall(WritePage(advice, path));
  PetscFunctionReturn(PETSC_SUCCESS);
}
