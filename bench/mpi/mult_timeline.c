/*
  mult_timeline - records the timeline of a few products of a parallel matrix, or of solves with it, as JSON: calls of
  MPI on the host, kernels and copies on the GPU. timeline.py draws it.

    mpiexec -n 2 mult_timeline -n 159 -mat_type aijrbp -dll_append libpetscpack.so -json timeline.json
    mpiexec -n 2 mult_timeline -n 159 -mat_type aijrbp -iterations 4 -ksp_type cgdevice -pc_type jacobi ...

  -n 159                unknowns in each direction of a 7-point stencil
  -iterations 0         iterations of a solve; 0: products
  -products 4           products or solves to record, after 20 warm-up calls
  -json file            the output

  A message counts as travelling from the MPI_Startall() that begins it to the end of the MPI_Waitall() that waits for
  it. mpi_intervals.c records both.
*/
#include "timeline.h"
#include <json_text.h>
#include <petscksp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef TIMELINE_CUPTI
  #include <cuda_runtime.h>
#endif

enum { MOST = 100000, WARM = 20 };
static Interval interval[MOST];
static int      intervals;

uint64_t TimelineNow(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Atomic, because CUPTI calls it from its own thread */
void TimelineAdd(const char row[], const char name[], uint64_t begin, uint64_t end)
{
  const int i = __atomic_fetch_add(&intervals, 1, __ATOMIC_SEQ_CST);

  if (i < MOST) interval[i] = (Interval){row, strdup(name ? name : ""), begin, end};
}

/* The 7-point stencil on n x n x n points, distributed to the processes in slabs */
static PetscErrorCode MakeMatrix(PetscInt n, Mat *A)
{
  const PetscInt step[] = {-n * n, -n, -1, 1, n, n * n};
  PetscInt       first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 3, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    const PetscInt place[] = {row % n, row / n % n, row / n / n};
    PetscInt       count = 1, col[7] = {row};
    PetscScalar    value[7] = {6};

    for (PetscInt k = 0; k < 6; k++) {
      const PetscInt along = place[k < 3 ? 2 - k : k - 3] + (k < 3 ? -1 : 1);
      if (along < 0 || along >= n) continue;
      col[count]     = row + step[k];
      value[count++] = -1;
    }
    PetscCall(MatSetValues(*A, 1, &row, count, col, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static const char *WaitForDevice(void)
{
#ifdef TIMELINE_CUPTI
  if (cudaDeviceSynchronize() != cudaSuccess) return "the device has failed";
#endif
  return NULL;
}

/* A solver that runs a fixed number of iterations, without a convergence test */
static PetscErrorCode MakeSolver(Mat A, PetscInt iterations, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(*ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetTolerances(*ksp, 1e-30, 1e-50, 1e30, (int)iterations));
  PetscFunctionReturn(0);
}

/* All processes begin each product or solve at the same time, with an idle device */
static PetscErrorCode Record(Mat A, PetscInt iterations, PetscInt products, const char **trouble)
{
  Vec x, y;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(MakeSolver(A, PetscMax(iterations, 1), &ksp));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (PetscInt i = 0; i < WARM + products; i++) {
    uint64_t begin;
    if (WaitForDevice()) *trouble = WaitForDevice();
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    begin = TimelineNow();
    if (iterations) PetscCall(KSPSolve(ksp, x, y));
    else PetscCall(MatMult(A, x, y));
    if (iterations && WaitForDevice()) *trouble = WaitForDevice();
    if (i >= WARM) TimelineAdd("product", iterations ? "KSPSolve" : "MatMult", begin, TimelineNow());
  }
  PetscCall(KSPDestroy(&ksp));
  if (!*trouble) *trouble = DeviceIntervalsEnd();
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static void DeviceText(char text[], size_t length)
{
  text[0] = 0;
#ifdef TIMELINE_CUPTI
  int                   device;
  char                  bus[32] = "";
  struct cudaDeviceProp properties;
  if (cudaGetDevice(&device) || cudaGetDeviceProperties(&properties, device)) return;
  (void)cudaDeviceGetPCIBusId(bus, sizeof bus, device);
  snprintf(text, length, "%s %s", properties.name, bus);
#else
  (void)length;
#endif
}

/* Writes one object per process, by rank; times are microseconds from the first recorded product of process 0 */
static PetscErrorCode WriteProcess(FILE *file, PetscMPIInt rank, const char trouble[], uint64_t zero)
{
  const int count = intervals < MOST ? intervals : MOST;
  JsonText  j     = {.lines = 2};
  uint64_t  first = UINT64_MAX;
  char      text[300];

  PetscFunctionBeginUser;
  for (int i = 0; i < count; i++)
    if (!strcmp(interval[i].row, "product") && interval[i].begin < first) first = interval[i].begin;
  json_begin(&j, NULL, '{');
  json_number(&j, "rank", rank);
  DeviceText(text, sizeof text);
  JSON_STRINGS(&j, {"device", text}, {"trouble", trouble ? trouble : ""});
  json_begin(&j, "intervals", '[');
  for (int i = 0; i < count; i++) {
    const Interval *p = &interval[i];
    if (p->begin < first) continue; /* of a warm-up call */
    json_begin(&j, NULL, '{');
    json_string(&j, "row", p->row);
    snprintf(text, sizeof text, "%.200s", p->name);
    json_string(&j, "name", text);
    JSON_NUMBERS(&j, {"begin", 1e-3 * (double)(int64_t)(p->begin - zero)},
                 {"end", 1e-3 * (double)(int64_t)(p->end - zero)});
    json_end(&j);
  }
  json_end_all(&j);
  PetscCall(PetscSynchronizedFPrintf(PETSC_COMM_WORLD, file, "%s\n%s", rank ? "," : "", j.text));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, file));
  json_free(&j);
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteAll(const char path[], Mat A, PetscInt n, PetscInt iterations, PetscBool aware,
                               const char trouble[])
{
  PetscMPIInt rank, size;
  MatType     type;
  JsonText    j    = {0};
  uint64_t    zero = UINT64_MAX;
  FILE       *file;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetType(A, &type));
  for (int i = 0; i < intervals && i < MOST; i++)
    if (!strcmp(interval[i].row, "product") && interval[i].begin < zero) zero = interval[i].begin;
  PetscCallMPI(MPI_Bcast(&zero, 1, MPI_UINT64_T, 0, PETSC_COMM_WORLD));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, path, "w", &file));
  json_begin(&j, NULL, '{');
  json_number(&j, "schema", 1);
  JSON_STRINGS(&j, {"program", "mult_timeline"}, {"type", type});
  JSON_NUMBERS(&j, {"n", n}, {"ranks", size}, {"iterations", iterations});
  json_bool(&j, "gpu_aware_mpi", aware);
  json_begin(&j, "processes", '[');
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%s", j.text)); /* each process writes its own part */
  json_free(&j);
  PetscCall(WriteProcess(file, rank, trouble, zero));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "\n]}\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat         A;
  PetscInt    n = 159, products = 4, iterations = 0;
  PetscBool   aware                    = PETSC_TRUE;
  char        path[PETSC_MAX_PATH_LEN] = "timeline.json";
  const char *trouble                  = DeviceIntervalsBegin();

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "Records products of a parallel matrix.\n"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-products", &products, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &iterations, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-use_gpu_aware_mpi", &aware, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-json", path, sizeof path, NULL));
  PetscCheck(n > 1 && products > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-n must be at least 2, -products at least 1");
  PetscCall(MakeMatrix(n, &A));
  PetscCall(Record(A, iterations, products, &trouble));
  PetscCall(WriteAll(path, A, n, iterations, aware, trouble));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
