/*
  view.c - counters and memory: MatAIJFmtGetInfo(), the memory that MatGetInfo() reports, and MatView() with the formats
  ascii_info and ascii_info_detail: the parent's lines, then what the packed format did and what it costs. A parallel
  matrix prints sums over its blocks, and the details of one block or of all blocks. A matrix that keeps PETSc's name
  prints one line with ascii_info.
*/
#include "aijfmt.h"
#include "sys/totals.h"
#include <stdarg.h>

static void AddMemory(MatAIJFmtInfo *info, const SpmvPlan *plan)
{
  const SpmvMemory memory = plan->memory;

  for (int i = 0; i < memory.count; i++) {
    const PetscLogDouble bytes = (PetscLogDouble)memory.array[i].bytes;
    if (memory.array[i].kind == SPMV_ARRAY_VALUES) info->values_bytes += bytes;
    else if (memory.array[i].kind == SPMV_ARRAY_INDICES) info->indices_bytes += bytes;
    else info->pointers_bytes += bytes;
  }
  info->nonzeros += (PetscLogDouble)plan->nnz;
  info->bytes += (PetscLogDouble)memory.total_bytes;
  info->own_bytes += plan->format->borrows ? 0 : (PetscLogDouble)memory.total_bytes;
  info->padding_bytes += (PetscLogDouble)memory.padding_bytes;
  info->work_bytes += (PetscLogDouble)memory.work_bytes;
  info->csr_bytes += (PetscLogDouble)memory.csr_bytes;
  info->blocks_converted++;
  info->blocks_on_gpu += plan->space == SPMV_DEVICE;
}

/* Where the current values are, and how many bytes the CUDA parent has on the device */
static PetscErrorCode AddPlaces(Mat A, const Mat_AIJFmt *s, MatAIJFmtInfo *info)
{
  const AIJFmtPlaces places = AIJFmtPlacesGet(A, s);
  SpmvPattern        pattern;
  const PetscScalar *shared;

  PetscFunctionBegin;
  info->blocks_values_on_host += places.host ? 1 : 0;
  info->blocks_values_on_gpu += places.device_csr ? 1 : 0;
  info->blocks_values_packed += places.plan ? 1 : 0;
  /* device_csr_used is not set if MatSetValuesCOO() made the CSR while the block was of the parent type */
  if (!s->device_csr_used && !places.device_csr && !s->shared_columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSharedArray(A, &shared));
  PetscCall(AIJFmtHostPatternGet(A, &pattern)); /* which the factor of a matrix does not have */
  if (s->device_csr_used || places.device_csr)
    info->device_csr_bytes += (PetscLogDouble)spmv_csr_bytes(&pattern, AIJFMT_SCALAR);
  if (s->shared_columns && pattern.col == s->shared_columns)
    info->shared_csr_bytes += (PetscLogDouble)pattern.nnz * (sizeof(PetscInt) + (shared ? sizeof *shared : 0));
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of two structs, which consist of numbers of one type */
static void AddCounters(MatAIJFmtInfo *sum, const MatAIJFmtInfo *info)
{
  for (size_t i = 0; i < sizeof *sum / sizeof(PetscLogDouble); i++)
    ((PetscLogDouble *)sum)[i] += ((const PetscLogDouble *)info)[i];
}

static PetscErrorCode InfoAccumulate_AIJFmt(MatAIJFmtInfo *sum, Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  sum->blocks++;
  AddCounters(sum, &s->info);
  sum->blocks_declined += s->why[AIJFMT_WHY_PARENT][0] != 0;
  if (s->cache.plan) AddMemory(sum, s->cache.plan);
  PetscCall(AddPlaces(A, s, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum over the blocks of this process */
static PetscErrorCode InfoLocal(Mat A, MatAIJFmtInfo *info)
{
  Mat_AIJFmt *s;
  Mat         blocks[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof *info));
  PetscCall(AIJFmtStateRequire(A, "MatAIJFmtGetInfo()", &s));
  if (!s->parallel) {
    PetscCall(InfoAccumulate_AIJFmt(info, A, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *of_block = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &of_block));
    if (of_block) PetscCall(InfoAccumulate_AIJFmt(info, blocks[b], of_block));
  }
  AddCounters(info, &s->info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtGetInfo - Gets the counters and the memory of a matrix of a packed type

  Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. info - the counters, summed over all sequential blocks of the matrix

  Level: advanced

  Notes:
  A sequential matrix is one block. A parallel matrix has two on every process, the diagonal and the off-diagonal one;
  a product with the whole matrix counts once in each block that is not empty.

  Conversion happens at the first product; until then all bytes are zero.

.seealso: `MatGetInfo()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtGetInfo(Mat A, MatAIJFmtInfo *info)
{
  PetscLogDouble times[2];
  MPI_Comm       comm;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscCall(InfoLocal(A, info));
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  times[0] = info->convert_time;
  times[1] = info->refresh_time;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, info, (PetscMPIInt)(sizeof *info / sizeof(PetscLogDouble)), MPI_DOUBLE,
                             MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, comm));
  info->convert_time = times[0];
  info->refresh_time = times[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatGetInfo_MPIAIJ() asks its blocks, so this serves parallel matrices too */
PetscErrorCode MatGetInfo_SeqAIJFmt(Mat A, MatInfoType type, MatInfo *info)
{
  Mat_AIJFmt   *s;
  MatAIJFmtInfo ours;

  PetscFunctionBegin;
  AIJFmtSuper(seq, getinfo, A, type, info);
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InfoLocal(A, &ours));
  info->memory += ours.own_bytes + ours.work_bytes + ours.device_csr_bytes + ours.shared_csr_bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- MatView() ---- */

/* Prints whole lines, on the first process only or in process order. Formats print through it with a callback that
   returns nothing, so errors are stored in it, and MatView_AIJFmt() returns them. */
typedef struct {
  PetscViewer    viewer;
  PetscBool      synchronized;
  const char    *indent;
  PetscErrorCode error;
} LinePrinter;

static void PrintLine(void *ctx, const char *line)
{
  LinePrinter *p = (LinePrinter *)ctx;

  if (p->error) return;
  if (p->synchronized) p->error = PetscViewerASCIISynchronizedPrintf(p->viewer, "%s%s\n", p->indent, line);
  else p->error = PetscViewerASCIIPrintf(p->viewer, "%s%s\n", p->indent, line);
}

static void LinePrint(LinePrinter *p, const char *format, ...)
{
  char    line[2 * SPMV_MESSAGE_MAX];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  PrintLine(p, line);
}

/* All candidates of a matrix of type aijauto, with their times */
static void PrintChoice(const Mat_AIJFmt *s, LinePrinter *p)
{
  char line[2 * SPMV_MESSAGE_MAX];

  if (!AIJFmtIsAuto(s) || !s->choice || !s->choice->valid) return;
  LinePrint(p, "%g products expected%s", s->choice->expected, s->choice->trial ? ", trial goes on" : "");
  for (int i = 0; i < s->choice->count && !p->error; i++) {
    p->error = AIJFmtCandidateText(s->choice, i, line, sizeof line);
    PrintLine(p, line);
  }
}

static void PrintPlan(const Mat_AIJFmt *s, LinePrinter *p)
{
  PrintChoice(s, p);
  if (!s->cache.plan) return;
  spmv_view(s->cache.plan, PrintLine, p);
  for (int i = 0; i < s->cache.plan->memory.count; i++)
    LinePrint(p, "array %s: %lld bytes", s->cache.plan->memory.array[i].name,
              (long long)s->cache.plan->memory.array[i].bytes);
}

/* "packed format rbp: format packed, min_run 2" */
static void PrintHeading(const Mat_AIJFmt *s, const MatAIJFmtInfo *info, LinePrinter *p)
{
  const SpmvOptionDesc *desc = s->format_options.format->options;
  char                  line[2 * SPMV_MESSAGE_MAX], value[128];
  int                   used = snprintf(line, sizeof line, "packed format %s", s->row->format);

  for (int i = 0; desc && desc[i].key && used < (int)sizeof line; i++) {
    spmv_option_text(&desc[i], s->format_options.value[i], value, sizeof value);
    used += snprintf(line + used, sizeof line - (size_t)used, "%s %s %s", i ? "," : ":", desc[i].key, value);
  }
  PrintLine(p, line);
  p->indent = "    ";
  if (s->parallel)
    LinePrint(p, "sums over %.0f blocks: %.0f converted, %.0f on the GPU, %.0f declined", info->blocks,
              info->blocks_converted, info->blocks_on_gpu, info->blocks_declined);
  else if (s->cache.plan) LinePrint(p, "on the %s", s->cache.plan->space == SPMV_DEVICE ? "GPU" : "host");
}

static void TotalsPrint_AIJFmt(const MatAIJFmtInfo *info, LinePrinter *p)
{
  if (info->blocks_converted > 0) {
    LinePrint(p, "memory: %.0f bytes, %.1f%% of the %.0f bytes of CSR, %.2f bytes per nonzero", info->bytes,
              info->csr_bytes > 0 ? 100 * info->bytes / info->csr_bytes : 100, info->csr_bytes,
              info->nonzeros > 0 ? info->bytes / info->nonzeros : 0);
    LinePrint(p, "of that: values %.0f (padding %.0f), indices %.0f, pointers %.0f; borrowed from CSR %.0f",
              info->values_bytes, info->padding_bytes, info->indices_bytes, info->pointers_bytes,
              info->bytes - info->own_bytes);
    LinePrint(p, "scratch of a product: %.0f bytes", info->work_bytes);
    if (info->device_csr_bytes > 0)
      LinePrint(p, "CSR on the GPU besides: %.0f bytes, with the values of %.0f blocks", info->device_csr_bytes,
                info->blocks_values_on_gpu);
    if (info->shared_csr_bytes > 0)
      LinePrint(p, "CSR in memory that the host and the GPU share: %.0f bytes", info->shared_csr_bytes);
  } else if (info->blocks_declined == 0) LinePrint(p, "not packed yet: the first product does it");
  LinePrint(p, "conversions: %.0f in %.2e s, refreshes of values: %.0f in %.2e s", info->conversions,
            info->convert_time, info->refreshes, info->refresh_time);
  LinePrint(p, "products: %.0f, transposed %.0f; by the parent type: %.0f, transposed %.0f", info->products,
            info->products_transposed, info->fallbacks, info->fallbacks_transposed);
  if (info->graphs + info->fallbacks_graph + info->patterns + info->fallbacks_pattern > 0)
    LinePrint(p, "on the GPU: graphs %.0f, patterns of products of matrices %.0f; by PETSc: %.0f, %.0f", info->graphs,
              info->patterns, info->fallbacks_graph, info->fallbacks_pattern);
  if (info->transposes + info->fallbacks_transpose > 0)
    LinePrint(p, "transposed matrices made on the GPU: %.0f; by the parent type: %.0f", info->transposes,
              info->fallbacks_transpose);
  if (info->sweeps + info->fallbacks_sweep > 0)
    LinePrint(p, "calls of MatSOR() on the GPU: %.0f; by the parent type: %.0f", info->sweeps, info->fallbacks_sweep);
  if (spmv_scratch_bytes() > 0)
    LinePrint(p, "kept on the GPU by this process for new values of products: %lld bytes",
              (long long)spmv_scratch_bytes());
}

/* why: reasons of a matrix, or those shared by all processes */
static void PrintReasons(char why[][SPMV_MESSAGE_MAX], LinePrinter *p)
{
  for (int i = 0; i < AIJFMT_WHY_COO; i++)
    if (why[i][0]) LinePrint(p, "%s: %s", AIJFmtWhyLabels[i], why[i]);
}

/* Prints whether the GPU or PETSc has sorted the list of coordinates, and why not the GPU; the numbers are those of the
   first process */
static PetscErrorCode PrintCoordinates(Mat A, const Mat_AIJFmt *s, LinePrinter *p)
{
  char reason[SPMV_MESSAGE_MAX], text[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(reason, s->why[AIJFMT_WHY_COO], sizeof reason));
  PetscCall(PetscPackShareReason(PetscObjectComm((PetscObject)A), reason));
  if (s->coo) {
    PetscCall(aijfmt_process.coo_text(s->coo, text, sizeof text));
    LinePrint(p, "coordinates sorted on the GPU: %s", text);
  }
  if (reason[0])
    LinePrint(p, "%s on the host: %s", s->coo ? "values by coordinates summed" : "coordinates sorted by PETSc", reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the details of the diagonal block of the first process, or of all blocks; then one reason of each kind.
   Collective. */
static PetscErrorCode PrintBlocks(Mat A, PetscBool all, LinePrinter *p)
{
  static const char *const names[]                               = {"diagonal", "off-diagonal"};
  char                     why[AIJFMT_WHY_COO][SPMV_MESSAGE_MAX] = {""};
  Mat_AIJFmt              *of_matrix;
  Mat                      blocks[2];
  MPI_Comm                 comm;
  PetscMPIInt              rank;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(A, "MatView()", &of_matrix));
  for (int i = 0; i < AIJFMT_WHY_COO; i++) PetscCall(PetscStrncpy(why[i], of_matrix->why[i], sizeof why[i]));
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(PetscViewerASCIIPushSynchronized(p->viewer));
  p->synchronized = PETSC_TRUE;
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *s = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &s));
    if (!s) continue;
    for (int i = 0; i < AIJFMT_WHY_COO; i++)
      if (!why[i][0]) PetscCall(PetscStrncpy(why[i], s->why[i], sizeof why[i]));
    if (!(s->cache.plan || AIJFmtIsAuto(s)) || !(all || (rank == 0 && b == 0))) continue;
    LinePrint(p, "process %d, %s block:", (int)rank, names[b]);
    p->indent = "      ";
    PrintPlan(s, p);
    p->indent = "    ";
  }
  PetscCall(PetscViewerFlush(p->viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(p->viewer));
  p->synchronized = PETSC_FALSE;
  for (int i = 0; i < AIJFMT_WHY_COO; i++) PetscCall(PetscPackShareReason(comm, why[i]));
  PrintReasons(why, p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a matrix that keeps PETSc's name adds to the program's own view of it, once it is in use */
static void PrintOneLine(const MatAIJFmtInfo *info, LinePrinter *p)
{
  const double products  = info->products + info->products_transposed,
               by_parent = info->fallbacks + info->fallbacks_transposed;

  if (products + by_parent > 0)
    LinePrint(p, "packed by petscpack: %.0f of %.0f blocks, %.0f on the GPU; products: %.0f, by the parent type: %.0f",
              info->blocks_converted, info->blocks, info->blocks_on_gpu, products, by_parent);
}

PetscErrorCode MatView_AIJFmt(Mat A, PetscViewer viewer)
{
  LinePrinter         printer = {viewer, PETSC_FALSE, "  ", PETSC_SUCCESS};
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;
  MatAIJFmtInfo       info;
  PetscViewerFormat   format;
  PetscBool           ascii, parallel, detail;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", &parallel));
  PetscCall((parallel ? &parent->mpi : &parent->seq)->view(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  detail = format == PETSC_VIEWER_ASCII_INFO_DETAIL ? PETSC_TRUE : PETSC_FALSE;
  if (!s || !ascii || !(detail || format == PETSC_VIEWER_ASCII_INFO) || A->factortype)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJFmtGetInfo(A, &info));
  if (AIJFmtKeepsName(s) && !detail) PrintOneLine(&info, &printer);
  else {
    PrintHeading(s, &info, &printer);
    TotalsPrint_AIJFmt(&info, &printer);
    if (s->parallel) PetscCall(PrintBlocks(A, detail, &printer));
    else {
      PrintPlan(s, &printer);
      PrintReasons(s->why, &printer);
    }
    PetscCall(PrintCoordinates(A, s, &printer));
  }
  PetscCall(printer.error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
