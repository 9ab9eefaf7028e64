/*
  watch.c - watches the solves of the process by the events that PETSc logs, and prints at the end where each solver ran,
  for -petscpack_summary.

  A solve ran on the GPU if, apart from set-ups, no call within it worked on a vector or a matrix on the host. A call on a
  matrix of petscpack ran where its products were counted. A solver of petscpack tells by itself: what it does before its
  first iteration, a residual and a norm, are PETSc's calls. Solvers within a multigrid cycle belong to the solver around
  it; others have lines of their own.
*/
#include "watch.h"
#include <petsctime.h>
#include "ksp/impls/device/kspdevice.h"
#include "sys/totals.h"

enum { DEPTH = 64, EVENTS = 1024, ROWS = 1024 };

typedef enum { UNKNOWN, IGNORED, SOLVE, SET_UP, PRECONDITION, MATRIX, VECTOR, SCATTER } EventKind;

/* An event that has begun and not ended */
typedef struct {
  PetscLogEvent  event;
  EventKind      kind;
  PetscObject    object;
  const char    *stack; /* the address of a variable on the stack when it began */
  PetscLogDouble begin;
  PetscInt64     gpu, elsewhere; /* work counted before it */
  PetscLogEvent  call;           /* of a solve: a call within it that ran on the host, or -1 */
  PetscBool      inner;          /* of a solve: a solver within it did not run on the GPU */
  PetscBool      of_cycle;       /* of a solve: part of a multigrid cycle */
} Frame;

/* All solvers with the same prefix and types */
typedef struct {
  char           prefix[PETSCPACK_NAME], method[PETSCPACK_NAME];
  PetscInt64     solves, whole, parts;
  PetscLogDouble seconds;
  PetscBool      outer;                                                               /* not within another solve */
  char           call[PETSCPACK_NAME], why[SPMV_MESSAGE_MAX], hint[SPMV_MESSAGE_MAX]; /* of the last not on the GPU */
} Row;

static struct {
  PetscBool on;
  PetscInt  lines; /* printed at most */
  Frame     frame[DEPTH];
  int       depth, rows;
  char      kind[EVENTS];
  Row       row[ROWS];
} watch;

/* ---- events ---- */

static EventKind EventKindOfName(const char name[])
{
  static const struct {
    const char *begins;
    EventKind   kind;
  } kinds[] = {
      {"KSPSolve_FS", IGNORED}, /* encloses KSPSolve */
      {"KSPSolve", SOLVE},          {"KSPSetUp", SET_UP},     {"KSPDevSetUp", SET_UP}, {"PCSetUp", SET_UP},
      {"PCApply", PRECONDITION},    {"MatMultSym", IGNORED},  {"MatMult", MATRIX},     {"MatResidual", MATRIX},
      {"MatSolve", MATRIX},         {"MatMatSolve", MATRIX},  {"MatSOR", MATRIX},      {"MatForwardSolve", MATRIX},
      {"MatBackwardSolve", MATRIX}, {"VecSet", IGNORED}, /* of b, x or a start at zero: a method on the host has other calls as well */
      {"VecCopy", IGNORED},         {"VecAssembly", IGNORED}, {"VecView", IGNORED},    {"VecLoad", IGNORED},
      {"VecCUDACopy", IGNORED},     {"VecHIPCopy", IGNORED},  {"VecScatter", SCATTER}, {"Vec", VECTOR},
  };

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strncmp(name, kinds[i].begins, strlen(kinds[i].begins))) return kinds[i].kind;
  return IGNORED;
}

static EventKind EventKindOf(PetscLogEvent event)
{
  if (event < 0 || event >= EVENTS) return IGNORED;
  if (!watch.kind[event]) watch.kind[event] = (char)EventKindOfName(PetscPackEventName(event));
  return (EventKind)watch.kind[event];
}

/* Whether a vector or a matrix is of a type whose operations are kernels of PETSc for a GPU */
static PetscBool OfDeviceType(PetscObject o)
{
  static const char *const words[] = {"cuda", "cusparse", "hip", "kokkos", "viennacl"};

  for (size_t i = 0; o && o->type_name && i < sizeof words / sizeof *words; i++)
    if (strstr(o->type_name, words[i])) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The innermost event of a kind, or NULL */
static Frame *Innermost(EventKind kind)
{
  for (int i = watch.depth - 1; i >= 0; i--)
    if (watch.frame[i].kind == kind) return &watch.frame[i];
  return NULL;
}

/* A call that ran on the host. Calls on matrices and preconditioners say more than those on vectors. */
static void NoteCall(PetscLogEvent event)
{
  Frame *solve = Innermost(SOLVE);

  if (solve && (solve->call < 0 || (EventKindOf(solve->call) >= VECTOR && EventKindOf(event) < VECTOR)))
    solve->call = event;
}

/* Whether a solver within this solve is part of a multigrid cycle. solve: NULL if there is none */
static PetscErrorCode HasCycle(const Frame *solve, PetscBool *has)
{
  PC pc;

  PetscFunctionBegin;
  *has = solve && solve->of_cycle ? PETSC_TRUE : PETSC_FALSE;
  if (!solve || *has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC((KSP)solve->object, &pc));
  PetscCall(MGDevIsHierarchy(pc, has));
  if (!*has) PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, has, PCHMG, PCML, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the end of a solve ---- */

static PetscErrorCode MethodOf(KSP ksp, char method[PETSCPACK_NAME])
{
  MatSolverType package = NULL;
  PetscBool     factors;
  KSPType       type;
  PCType        of_pc;
  PC            pc;

  PetscFunctionBegin;
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &of_pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factors, PCLU, PCCHOLESKY, PCILU, PCICC, PCQR, ""));
  if (factors) PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PetscSNPrintf(method, PETSCPACK_NAME, "%s + %s%s%s%s", type ? type : "no type", of_pc ? of_pc : "no type",
                          package ? " (" : "", package ? package : "", package ? ")" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line of a solver; NULL if there are too many */
static PetscErrorCode RowOf(KSP ksp, Row **row)
{
  const char *prefix;
  char        method[PETSCPACK_NAME];
  PetscBool   same = PETSC_FALSE, same_method;

  PetscFunctionBegin;
  *row = NULL;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  if (!prefix) prefix = "";
  PetscCall(MethodOf(ksp, method));
  for (int i = 0; i < watch.rows && !same; i++) {
    *row = &watch.row[i];
    PetscCall(PetscStrncmp(prefix, (*row)->prefix, PETSCPACK_NAME - 1, &same));
    PetscCall(PetscStrcmp(method, (*row)->method, &same_method));
    if (!same_method) same = PETSC_FALSE;
  }
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  *row = watch.rows < ROWS ? &watch.row[watch.rows++] : NULL;
  if (!*row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy((*row)->prefix, prefix, PETSCPACK_NAME));
  PetscCall(PetscStrncpy((*row)->method, method, PETSCPACK_NAME));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* around: the solve that this one is part of, or NULL */
static PetscErrorCode SolveEnd(const Frame *f, Frame *around, PetscLogDouble seconds)
{
  PetscBool   whole = f->call < 0 && !f->inner ? PETSC_TRUE : PETSC_FALSE;
  const char *call  = f->call < 0 ? NULL : PetscPackEventName(f->call);
  KSPDevice  *ours;
  PetscInt64  gpu;
  Row        *row = NULL;

  PetscFunctionBegin;
  if (f->of_cycle) {
    if (f->call >= 0) NoteCall(f->call);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPDevStateGet((KSP)f->object, NULL, &ours));
  if (ours && !ours->reason[0]) whole = PETSC_TRUE;
  if (around && !whole) around->inner = PETSC_TRUE;
  PetscCall(RowOf((KSP)f->object, &row));
  if (!row) PetscFunctionReturn(PETSC_SUCCESS);
  row->solves++;
  row->seconds += seconds;
  if (!around) row->outer = PETSC_TRUE;
  if (whole) row->whole++;
  if (whole) PetscFunctionReturn(PETSC_SUCCESS);
  PetscPackCountedWork(&gpu, NULL);
  if (gpu > f->gpu) row->parts++;
  PetscCall(PetscStrncpy(row->call, call ? call : "", sizeof row->call));
  PetscCall(PetscPackSolverReason((KSP)f->object, call, row->why, row->hint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the callbacks of the log ---- */

/* After an error that the program survives, events have begun that will not end. The functions that logged them have
   returned, so that the stack, which grows downwards, has since been shorter; no function begins one event twice. */
static void ForgetUnended(PetscLogEvent event, const char *stack)
{
  for (int i = 0; i < watch.depth; i++)
    if (watch.frame[i].stack < stack || (watch.frame[i].stack == stack && watch.frame[i].event == event))
      watch.depth = i;
}

static PetscErrorCode WatchEventBegin(PetscLogEvent event, int t, PetscObject o1, PetscObject o2, PetscObject o3,
                                      PetscObject o4)
{
  const EventKind   kind     = EventKindOf(event);
  const char *const stack    = __builtin_frame_address(0);
  PetscBool         of_cycle = PETSC_FALSE;
  Frame            *f;

  PetscFunctionBegin;
  (void)t, (void)o2, (void)o3, (void)o4;
  if (!watch.on || kind == IGNORED) PetscFunctionReturn(PETSC_SUCCESS);
  ForgetUnended(event, stack);
  if (watch.depth && watch.frame[watch.depth - 1].kind == SET_UP) PetscFunctionReturn(PETSC_SUCCESS);
  if (watch.depth == DEPTH || (kind != SOLVE && kind != SET_UP && !watch.depth)) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind == SOLVE) PetscCall(HasCycle(Innermost(SOLVE), &of_cycle));
  f  = &watch.frame[watch.depth++];
  *f = (Frame){.event = event, .kind = kind, .object = o1, .stack = stack, .call = -1, .of_cycle = of_cycle};
  PetscPackCountedWork(&f->gpu, &f->elsewhere);
  PetscCall(PetscTime(&f->begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a call that has ended ran on the host */
static PetscErrorCode RanOnHost(const Frame *f, PetscObject vector, PetscBool *host)
{
  PetscInt64 gpu, elsewhere;
  PetscBool  none = PETSC_FALSE;

  PetscFunctionBegin;
  PetscPackCountedWork(&gpu, &elsewhere);
  *host = gpu == f->gpu || elsewhere > f->elsewhere ? PETSC_TRUE : PETSC_FALSE;
  if (f->kind == VECTOR || f->kind == SCATTER) *host = OfDeviceType(f->object) ? PETSC_FALSE : PETSC_TRUE;
  if (f->kind == MATRIX && elsewhere == f->elsewhere && OfDeviceType(f->object)) *host = PETSC_FALSE;
  if (f->kind == SCATTER && Innermost(MATRIX)) *host = PETSC_FALSE; /* belongs to a product, which is counted */
  if (f->kind == PRECONDITION && f->object) {
    PetscCall(PetscObjectTypeCompare(f->object, PCNONE, &none));
    if (none || OfDeviceType(vector)) *host = PETSC_FALSE; /* a PC on CUDA vectors has calls of its own */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WatchEventEnd(PetscLogEvent event, int t, PetscObject o1, PetscObject o2, PetscObject o3,
                                    PetscObject o4)
{
  PetscLogDouble now;
  PetscBool      host;
  Frame          f;
  int            at = watch.depth - 1;

  PetscFunctionBegin;
  (void)t, (void)o3, (void)o4;
  if (!watch.on || EventKindOf(event) == IGNORED) PetscFunctionReturn(PETSC_SUCCESS);
  while (at >= 0 && (watch.frame[at].event != event || watch.frame[at].object != o1)) at--;
  if (at < 0) PetscFunctionReturn(PETSC_SUCCESS); /* within a set-up, or begun before the watch */
  f           = watch.frame[at];
  watch.depth = at;
  PetscCall(PetscTime(&now));
  if (f.kind == SOLVE) PetscCall(SolveEnd(&f, Innermost(SOLVE), now - f.begin));
  if (f.kind < PRECONDITION) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RanOnHost(&f, o2, &host));
  if (host) NoteCall(event);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSCPACK_ONE_LOG_HANDLER
static PetscPackLogHandler next_begin, next_end; /* of -log_view, which was first */

static PetscErrorCode WatchAndPassBegin(int event, int t, PetscObject o1, PetscObject o2, PetscObject o3,
                                        PetscObject o4)
{
  PetscFunctionBegin;
  if (next_begin) PetscCall((*next_begin)(event, t, o1, o2, o3, o4));
  PetscCall(WatchEventBegin(event, t, o1, o2, o3, o4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WatchAndPassEnd(int event, int t, PetscObject o1, PetscObject o2, PetscObject o3, PetscObject o4)
{
  PetscFunctionBegin;
  PetscCall(WatchEventEnd(event, t, o1, o2, o3, o4));
  if (next_end) PetscCall((*next_end)(event, t, o1, o2, o3, o4));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Whether PETSc still passes its events on */
static PetscBool StillWatches(void)
{
#if !defined(PETSC_USE_LOG)
  return PETSC_FALSE;
#elif PETSCPACK_ONE_LOG_HANDLER
  return PetscLogPLB == WatchAndPassBegin ? PETSC_TRUE : PETSC_FALSE;
#else
  return PETSC_TRUE;
#endif
}

/* ---- the table ---- */

static int LongerFirst(const void *a, const void *b)
{
  const PetscLogDouble s = ((const Row *)a)->seconds, t = ((const Row *)b)->seconds;

  return s < t ? 1 : s > t ? -1 : 0;
}

static PetscErrorCode RowPrint(const Row *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "  %s%s%s: %lld solves, %.3g s, %s", r->prefix,
                         r->prefix[0] ? " " : "", r->method, (long long)r->solves, r->seconds,
                         r->whole + r->parts ? "in part on the GPU" : "on the host"));
  if (r->call[0]) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, ": %s ran on the host", r->call));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "; %s%s%s\n", r->why, r->hint[0] ? "; try " : "", r->hint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solvers that did not run on the GPU as a whole, those of the first process; the longest first */
static PetscErrorCode TablePrint(void)
{
  int shown = 0, left = 0;

  PetscFunctionBegin;
  qsort(watch.row, (size_t)watch.rows, sizeof watch.row[0], LongerFirst);
  for (int i = 0; i < watch.rows; i++) {
    if (watch.row[i].whole == watch.row[i].solves) continue;
    if (shown == watch.lines) left++;
    else {
      shown++;
      PetscCall(RowPrint(&watch.row[i]));
    }
  }
  if (left) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "  and %d more, which took less time\n", left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SummaryPrint_PetscPack(void)
{
  PetscInt64 all = 0, whole = 0, parts = 0;
  char       head[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  watch.on = PETSC_FALSE;
  for (int i = 0; i < watch.rows; i++) {
    const Row *r = &watch.row[i];

    if (!r->outer) continue;
    all += r->solves, whole += r->whole, parts += r->parts;
  }
  PetscCall(PetscSNPrintf(head, sizeof head, "%lld solves: %lld on the GPU, %lld in part, %lld on the host%s",
                          (long long)all, (long long)whole, (long long)parts, (long long)(all - whole - parts),
                          StillWatches() ? "" : " (others were not seen: PETSc logs no events, or for the program)"));
  PetscCall(PetscPackTotalsPrint(head));
  PetscCall(TablePrint());
  PetscCall(PetscMemzero(&watch, sizeof watch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackWatchBegin(PetscInt lines)
{
  PetscFunctionBegin;
  watch.on    = PETSC_TRUE;
  watch.lines = lines;
#if PETSCPACK_ONE_LOG_HANDLER
  next_begin = PetscLogPLB;
  next_end   = PetscLogPLE;
  PetscCall(PetscLogSet(WatchAndPassBegin, WatchAndPassEnd));
#else
  PetscCall(PetscLogLegacyCallbacksBegin(WatchEventBegin, WatchEventEnd, NULL, NULL));
#endif
  PetscCall(PetscRegisterFinalize(SummaryPrint_PetscPack));
  PetscFunctionReturn(PETSC_SUCCESS);
}
