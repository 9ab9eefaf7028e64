/*
  watch.c - reports the step and sequence in which a process crashed or hung, and ends the process

  scripts/fuzz.sh parses the line that it writes, and shrinks the sequence.
*/
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_PLAIN = 4 };

static struct {
  char         command[FUZZ_LINE_MAX], line[FUZZ_LINE_MAX + 256], message[FUZZ_LINE_MAX];
  const char  *step, *type;
  int          twin;
  unsigned int seconds;
} watched;

/* snprintf() is not async-signal-safe, so the line is prepared before the step begins */
static void OnSignal(int number)
{
  const char *cause = number == SIGALRM ? "hangs: " : "crashes: ";

  if (write(STDOUT_FILENO, cause, strlen(cause)) < 0 || write(STDOUT_FILENO, watched.line, strlen(watched.line)) < 0)
    _exit(STATUS_FAILED);
  _exit(watched.twin == FUZZ_PLAIN ? STATUS_PLAIN : STATUS_FAILED);
}

void FuzzWatchStart(PetscInt seconds)
{
  const int        numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  struct sigaction action;

  memset(&action, 0, sizeof(action));
  action.sa_handler = OnSignal;
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) sigaction(numbers[i], &action, NULL);
  watched.seconds = (unsigned int)seconds;
}

void FuzzWatchStep(const char *command, const char *step, const char *type, int twin)
{
  watched.twin       = twin;
  watched.message[0] = 0;
  snprintf(watched.line, sizeof(watched.line), "%s in step %s\n%s %s\n", type, step,
           twin == FUZZ_PLAIN ? "PLAIN" : "FAILED", command);
  alarm(watched.seconds);
}

void FuzzWatchEnd(void) { alarm(0); }

const char *FuzzWatchMessage(void) { return watched.message; }

PetscErrorCode FuzzWatchError(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                              PetscErrorType type, const char *message, void *ctx)
{
  (void)comm;
  (void)ctx;
  if (type == PETSC_ERROR_INITIAL && !watched.message[0])
    snprintf(watched.message, sizeof(watched.message), "%s (%s, %s:%d)", message ? message : "", function, file, line);
  return code;
}
