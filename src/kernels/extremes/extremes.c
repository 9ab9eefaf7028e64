/* extremes.c - estimates of extreme eigenvalues: the vectors, the iterations of an engine, and their small matrix. */
#include "extremes.h"
#include <math.h>
#include <spmv_cg.h>
#include <spmv_gmres.h>
#include <string.h>

static const char who[] = "extreme eigenvalues";

/* NULL without CUDA */
static const SpmvExtremesSlots *const slots = SPMV_DEVICE_SLOTS(spmv_extremes_device_slots);

static SpmvTest test_of(const SpmvExtremesOptions *o)
{
  return (SpmvTest){
      .relative = 1, .tolerance = o->tolerance, .divergence = INFINITY, .max_iterations = o->steps, .check_after = -1};
}

/* The Lanczos matrix is positive definite, so its singular values are its eigenvalues */
static SpmvStatus lanczos_extremes(const SpmvCgCoefficients *c, int n, SpmvExec *exec, SpmvExtremes *found)
{
  double t[SPMV_EXTREMES_STEPS][SPMV_EXTREMES_STEPS] = {{0}};

  for (int i = 0; i < n; i++) {
    if (!(c[i].alpha > 0 && c[i].rz > 0))
      return spmv_fail(exec, SPMV_ERR_MATRIX, "%s: the matrix is not positive definite", who);
    const double q = i > 0 ? c[i].rz / c[i - 1].rz : 0;
    t[i][i]        = 1 / c[i].alpha + (i > 0 ? q / c[i - 1].alpha : 0);
    if (i > 0) t[i][i - 1] = t[i - 1][i] = sqrt(q) / c[i - 1].alpha;
  }
  spmv_small_singular(n, SPMV_EXTREMES_STEPS, &t[0][0], &found->least, &found->largest);
  return SPMV_SUCCESS;
}

static SpmvStatus by_cg(const SpmvExtremesOptions *o, void *x, void *b, const void *m, SpmvExec *exec,
                        SpmvExtremes *found)
{
  const SpmvTest     test = test_of(o);
  SpmvCgCoefficients c[SPMV_EXTREMES_STEPS];
  SpmvCgOptions      options;
  SpmvCgResult       result;
  SpmvCg            *cg;

  spmv_cg_options_init(&options);
  options.rows           = o->rows;
  options.scalar_type    = o->scalar_type;
  options.preconditioner = o->preconditioner;
  options.block_size     = o->block_size;
  options.product        = o->product;
  options.product_ctx    = o->product_ctx;
  options.processes      = o->processes;
  options.lanczos        = o->steps;
  SPMV_TRY(spmv_cg_create(&options, exec, &cg));
  SpmvStatus status = spmv_cg_start(cg, x, b, m, SPMV_CG_PRECONDITIONED, exec);
  if (!status) status = spmv_cg_lanczos(cg, &test, c, &result, exec);
  spmv_cg_destroy(&cg);
  if (status) return status;
  if (result.reason != SPMV_INDEFINITE_MATRIX && result.reason != SPMV_INDEFINITE_PC)
    found->steps = (int)result.completed;
  return lanczos_extremes(c, found->steps, exec, found);
}

static SpmvStatus by_gmres(const SpmvExtremesOptions *o, void *b, const void *m, SpmvExec *exec, SpmvExtremes *found)
{
  const SpmvTest    test = test_of(o);
  SpmvGmresMatrices of;
  SpmvGmresOptions  options;
  SpmvGmresResult   result;
  SpmvGmres        *gmres;
  int               converged = 1;

  spmv_gmres_options_init(&options);
  options.rows           = o->rows;
  options.scalar_type    = o->scalar_type;
  options.restart        = o->steps;
  options.preconditioner = o->preconditioner;
  options.block_size     = o->block_size;
  options.product        = o->product;
  options.product_ctx    = o->product_ctx;
  options.processes      = o->processes;
  options.hessenberg     = 1;
  SPMV_TRY(spmv_gmres_create(&options, exec, &gmres));
  SpmvStatus status = spmv_gmres_start(gmres, b, b, m, 1, exec); /* b stands for x, which is not updated */
  if (!status) status = spmv_gmres_hessenberg(gmres, &test, &of, &result, exec);
  if (!status && result.reason != SPMV_DIVERGED_NOT_A_NUMBER) {
    const int n = found->steps = (int)result.iterations;
    for (int j = 0; j < n; j++)
      for (int i = j + 1; i < n; i++) of.triangle[j * of.ld + i] = 0;
    if (o->kind == SPMV_EXTREMES_REAL)
      converged = spmv_small_real_parts(n, of.ld, of.hessenberg, &found->least, &found->largest);
    else spmv_small_singular(n, of.ld, of.triangle, &found->least, &found->largest);
  }
  spmv_gmres_destroy(&gmres);
  if (!converged) found->steps = 0;
  return status;
}

static SpmvStatus estimate(const SpmvExtremesOptions *o, SpmvExec *exec, SpmvExtremes *found)
{
  const int     cg      = o->kind == SPMV_EXTREMES_LANCZOS;
  const int64_t vector  = o->rows * spmv_scalar_bytes(o->scalar_type);
  const int64_t bytes[] = {vector, cg ? vector : 0, o->inverse ? vector : 0};
  void         *b, *x, *m, *block;
  void **const  array[] = {&b, &x, &m};

  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, who, array, &block));
  const void *used   = m ? m : o->m;
  SpmvStatus  status = slots->begin(o, b, x, m, exec);
  if (!status) status = cg ? by_cg(o, x, b, used, exec, found) : by_gmres(o, b, used, exec, found);
  spmv_exec_free(exec, SPMV_DEVICE, block);
  if (status) return status;
  if (found->steps < 1 || !isfinite(found->least) || !isfinite(found->largest) || !(found->largest > 0))
    return spmv_fail(exec, SPMV_ERR_MATRIX, "%s: no estimate after %d steps", who, found->steps);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_extremes(const SpmvExtremesOptions *o, SpmvExec *exec, SpmvExtremes *found)
{
  memset(found, 0, sizeof *found);
  exec->message[0] = '\0';
  if (o->steps < 1 || o->steps > SPMV_EXTREMES_STEPS || (o->inverse && o->preconditioner != SPMV_PC_DIAGONAL))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: %d steps, not 1 to %d, or the inverse of what is no diagonal", who,
                     o->steps, SPMV_EXTREMES_STEPS);
  if (exec->space != SPMV_DEVICE || !slots) return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s: only on the device", who);
  SpmvExec         inner  = spmv_scratch_exec(exec); /* no other stream uses the memory of the engines */
  const SpmvStatus status = estimate(o, &inner, found);
  memcpy(exec->message, inner.message, sizeof exec->message);
  return status;
}
