/*
  measure.c - measures conversions and products: MatMult() of a matrix of each type, including communication, on the
  host and, if there is one, on the GPU. MatAIJFmtGetInfo() tells whether and where a matrix was packed.
*/
#include "advise.h"
#include <math.h>
#include <petscdevice.h>
#include <petsctime.h>

/* Time budget per type; the smallest measured time counts */
#define SECONDS_OF_A_TYPE 0.1
enum { PRODUCTS_AT_LEAST = 5, PRODUCTS_AT_MOST = 1000, PRODUCTS_IN_A_ROW = 10 /* on a GPU, between two waits */ };

#if defined(PETSC_HAVE_CUDA)
enum { VECTORS_ON_GPU = 1 };
#else
enum { VECTORS_ON_GPU = 0 }; /* a packed matrix may be on a GPU, but its vectors are on the host */
#endif

/* Converts A to another type. On a GPU the parent is the CUDA parent, so that vectors are on the GPU too. */
static PetscErrorCode Convert(Mat A, PetscBool parallel, const AdviceCost *cost, SpmvSpace space, Mat *B)
{
  const char *kind = parallel ? "mpi" : "seq", *parent = space == SPMV_DEVICE && VECTORS_ON_GPU ? "cusparse" : "";
  char        type[2 * ADVICE_TYPE_MAX];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(type, sizeof type, "%saij%s", kind, parent));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, B));
  if (!cost->format) PetscFunctionReturn(0);
  PetscCall(PetscSNPrintf(type, sizeof type, "%s%s", kind, cost->type));
  PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  PetscCall(MatAIJFmtSetOption(*B, "device", space == SPMV_DEVICE ? "gpu" : "host"));
  PetscCall(MatAIJFmtSetOption(*B, "decline", "true"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat B, Vec x, Vec y, int products)
{
  PetscFunctionBegin;
  for (int i = 0; i < products; i++) PetscCall(MatMult(B, x, y));
  if (VECTORS_ON_GPU && products > 1) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscFunctionReturn(0);
}

/* Seconds per product, maximum over the processes. All processes do the same number of products. */
static PetscErrorCode MeasureProduct(Mat B, SpmvSpace space, double *seconds)
{
  const int      in_a_row = space == SPMV_DEVICE ? PRODUCTS_IN_A_ROW : 1;
  MPI_Comm       comm     = PetscObjectComm((PetscObject)B);
  PetscLogDouble start, end;
  Vec            x, y;
  double         spent = 0, elapsed;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(Multiply(B, x, y, in_a_row)); /* converts */
  for (int run = 0; run < PRODUCTS_AT_LEAST || (spent < SECONDS_OF_A_TYPE && run < PRODUCTS_AT_MOST); run++) {
    PetscCallMPI(MPI_Barrier(comm));
    PetscCall(PetscTime(&start));
    PetscCall(Multiply(B, x, y, in_a_row));
    PetscCall(PetscTime(&end));
    elapsed = end - start;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &elapsed, 1, MPI_DOUBLE, MPI_MAX, comm));
    *seconds = run ? PetscMin(*seconds, elapsed / in_a_row) : elapsed / in_a_row;
    spent += elapsed;
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureType(Mat A, PetscBool parallel, AdviceCost *cost, SpmvSpace space)
{
  Mat           B;
  MatAIJFmtInfo info    = {.convert_time = 0};
  double        seconds = NAN;

  PetscFunctionBegin;
  PetscCall(Convert(A, parallel, cost, space, &B));
  PetscCall(MeasureProduct(B, space, &seconds));
  if (cost->format) PetscCall(MatAIJFmtGetInfo(B, &info));
  PetscCall(MatDestroy(&B));
  if (cost->format && info.blocks_converted == 0) { /* the prediction did not foresee it */
    cost->declined = cost->blocks;
    cost->product = cost->convert = NAN;
    PetscCall(PetscStrncpy(cost->reason, "its products were left to the parent type", sizeof cost->reason));
  } else if (space == SPMV_HOST || !cost->format || info.blocks_on_gpu == info.blocks_converted) {
    cost->measured         = seconds;
    cost->measured_convert = info.convert_time;
  }
  PetscFunctionReturn(0);
}

/* Collective */
PetscErrorCode AdviceMeasure(Mat A, Advice *advice)
{
  PetscFunctionBegin;
  for (int p = 0; p < ADVICE_PLACES; p++) {
    AdvicePlace *place = &advice->place[p];

    for (int i = 0; place->available && i < advice->count; i++)
      if (!AdviceDeclines(&place->row[i]) && (i || p == ADVICE_HOST || VECTORS_ON_GPU))
        PetscCall(MeasureType(A, advice->parallel, &place->row[i], place->space));
  }
  PetscFunctionReturn(0);
}
