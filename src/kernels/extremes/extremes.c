/* extremes.c - estimates of extreme eigenvalues: the vectors, the iterations of an engine, and their small matrix. */
#include "engine/project.h"
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

/* M A without the components along null vectors */
typedef struct {
  const SpmvExtremesOptions *o;
  const void                *m;
  SpmvProjection             null;
} Projected;

static SpmvStatus precondition(const Projected *p, void *x, SpmvExec *exec)
{
  SPMV_TRY(slots->precondition(p->o, p->m, x, exec));
  return spmv_project(&p->null, x, exec);
}

static SpmvStatus multiply(void *projected, const void *from, void *to, SpmvExec *exec)
{
  const Projected *p = projected;

  SPMV_TRY(p->o->product(p->o->product_ctx, from, to, exec));
  return precondition(p, to, exec);
}

/* With null vectors GMRES runs for M A and the right-hand side M b, both projected. The residuals of conjugate gradients
   have no component along null vectors once b has none, so such a component of M r changes neither their scalar products
   nor the product of A with a direction. */
static SpmvStatus run(const SpmvExtremesOptions *o, void *x, void *b, const void *m, double *work, SpmvExec *exec,
                      SpmvExtremes *found)
{
  const Projected     p  = {o, m, {o->rows, o->null_vectors, o->null_space, o->scalar_type, o->processes, work}};
  SpmvExtremesOptions of = *o;

  if (o->null_rhs) SPMV_TRY(spmv_project(&p.null, b, exec));
  if (o->kind == SPMV_EXTREMES_LANCZOS) return by_cg(o, x, b, m, exec, found);
  if (o->null_vectors == 0) return by_gmres(o, b, m, exec, found);
  SPMV_TRY(precondition(&p, b, exec));
  of.preconditioner = SPMV_PC_IDENTITY;
  of.product        = multiply;
  of.product_ctx    = (void *)&p;
  return by_gmres(&of, b, NULL, exec, found);
}

static SpmvStatus estimate(const SpmvExtremesOptions *o, SpmvExec *exec, SpmvExtremes *found)
{
  const int     cg      = o->kind == SPMV_EXTREMES_LANCZOS;
  const int64_t vector  = o->rows * spmv_scalar_bytes(o->scalar_type);
  const int64_t work    = o->null_vectors * SPMV_PROJECT_WORK * (int64_t)sizeof(double);
  const int64_t bytes[] = {vector, cg ? vector : 0, o->inverse ? vector : 0, work};
  void         *b, *x, *m, *sums, *block;
  void **const  array[] = {&b, &x, &m, &sums};

  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_DEVICE, 4, bytes, who, array, &block));
  SpmvStatus status = slots->begin(o, b, x, m, exec);
  if (!status) status = run(o, x, b, m ? m : o->m, sums, exec, found);
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
  if (o->null_vectors < 0 || o->null_vectors > SPMV_SUMS_MAX || (o->null_vectors > 0 && !o->null_space))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: %d null vectors, not 0 to %d, or they are missing", who,
                     o->null_vectors, (int)SPMV_SUMS_MAX);
  if (o->null_vectors > 0 && !o->null_rhs && o->kind == SPMV_EXTREMES_LANCZOS)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s by cg need a right-hand side without null vectors", who);
  if (exec->space != SPMV_DEVICE || !slots) return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s: only on the device", who);
  SpmvExec         inner  = spmv_scratch_exec(exec); /* no other stream uses the memory of the engines */
  const SpmvStatus status = estimate(o, &inner, found);
  memcpy(exec->message, inner.message, sizeof exec->message);
  return status;
}
