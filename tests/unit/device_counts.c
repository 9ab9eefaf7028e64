/* device_counts.c - measures the launches, waits and allocations of device_counts.def on the emulated GPU. */
#include "aggregate/aggregate_test.h"
#include "coo/coo_test.h"
#include "cycle/cycle_test.h"
#include "factor/factor_test.h"
#include "gmres/gmres_test.h"
#include "spgemm/spgemm_test.h"
#include "unit.h"
#include "unit_plan.h"
#include <ctype.h>
#include <spmv_emulator.h>
#include <spmv_extremes.h>
#include <spmv_graph.h>
#include <spmv_values.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = -1 };

typedef struct {
  long launches, waits, allocations, device_waits;
} Counts;

/* What has been counted since the last call */
static Counts counted(void)
{
  return (Counts){spmv_emulator_launches(), spmv_emulator_waits(), spmv_emulator_allocations(),
                  spmv_emulator_device_waits()};
}

static Counts difference(Counts a, Counts b)
{
  return (Counts){a.launches - b.launches, a.waits - b.waits, a.allocations - b.allocations,
                  a.device_waits - b.device_waits};
}

/* ---- products and conversions ---- */

static Counts product_of(const char *format, GenSpec spec, const char *options)
{
  UnitProblem   p       = unit_problem(&spec, SPMV_I32, SPMV_F64);
  UnitPlan      u       = unit_plan(SPMV_DEVICE, format, &p.csr, "%s", options);
  const int64_t x_bytes = p.csr.pattern.cols * 8, y_bytes = p.csr.pattern.rows * 8;
  const double  one = 1, zero = 0;
  void         *x = test_put(SPMV_DEVICE, p.x, x_bytes), *y = test_put(SPMV_DEVICE, NULL, y_bytes);
  void         *work = test_put(SPMV_DEVICE, NULL, u.plan->memory.work_bytes);

  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(u.plan, &one, x, &zero, y, work, &u.exec));
  const Counts c = counted();
  test_take(SPMV_DEVICE, x, NULL, 0);
  test_take(SPMV_DEVICE, y, NULL, 0);
  test_take(SPMV_DEVICE, work, NULL, 0);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
  return c;
}

static GenSpec even_rows(void) { return gen_stencil(5, 23, 19, 1); }
static GenSpec one_long_row(void) { return gen_long_rows(40, 30000, 5, 30000, 40, 11); }

static Counts crsv_product(void) { return product_of("crsv", even_rows(), ""); }
static Counts rbp_product(void) { return product_of("rbp", even_rows(), ""); }
static Counts codsell_product(void) { return product_of("codsell", even_rows(), ""); }
static Counts fold_product(void) { return product_of("fold", even_rows(), "q=1.5"); }
static Counts crsv_product_with_long_row(void) { return product_of("crsv", one_long_row(), ""); }
static Counts rbp_product_with_long_row(void) { return product_of("rbp", one_long_row(), ""); }
static Counts codsell_product_with_long_row(void) { return product_of("codsell", one_long_row(), ""); }
static Counts fold_product_with_folded_rows(void) { return product_of("fold", even_rows(), "q=0.8"); }
static Counts fold_product_with_long_row(void) { return product_of("fold", one_long_row(), "q=0.03"); }

/* The matrix of a problem on the device */
static SpmvCsr csr_put(const UnitProblem *p)
{
  SpmvCsr csr = p->csr;

  csr.pattern.space = csr.values_space = SPMV_DEVICE;
  csr.pattern.row_ptr                  = test_put(SPMV_DEVICE, p->csr.pattern.row_ptr, (csr.pattern.rows + 1) * 4);
  csr.pattern.col                      = test_put(SPMV_DEVICE, p->csr.pattern.col, csr.pattern.nnz * 4);
  csr.values                           = test_put(SPMV_DEVICE, p->values, csr.pattern.nnz * 8);
  return csr;
}

static void csr_take(const SpmvCsr *csr)
{
  const void *const arrays[] = {csr->pattern.row_ptr, csr->pattern.col, csr->values};

  for (int i = 0; i < 3; i++) test_take(SPMV_DEVICE, (void *)(uintptr_t)arrays[i], NULL, 0);
}

/* From a CSR on the device */
static Counts codsell_conversion(void)
{
  const GenSpec spec = even_rows();
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
  SpmvCsr       csr  = csr_put(&p);

  UnitPlan first = unit_plan(SPMV_DEVICE, "codsell", &csr, " "); /* makes what is kept for later conversions */
  (void)counted();
  UnitPlan     u = unit_plan(SPMV_DEVICE, "codsell", &csr, " ");
  const Counts c = counted();
  unit_plan_clear(&first);
  unit_plan_clear(&u);
  csr_take(&csr);
  unit_problem_clear(&p);
  return c;
}

/* ---- solvers ---- */

/* A run of so many iterations in one chunk */
static Counts cg_run(int mode, int64_t iterations, const SpmvProcesses *processes)
{
  CgMatrix a = cg_matrix(2);
  CgSetup  u = cg_setup(mode, SPMV_CG_NORM_NONE, 1);
  CgEngine e;

  u.processes      = processes;
  u.max_iterations = iterations;
  u.chunk          = 8;
  cg_engine_open(&e, &a, &u, NULL);
  CgOutcome      o    = cg_engine_solve(&e); /* makes what is kept for later solves, and the vectors */
  const SpmvTest test = {.max_iterations = iterations};
  SpmvCgResult   result;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_start(e.cg, e.x, e.r, e.m, u.norm, &e.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e.exec));
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(e.cg, iterations, &test, &result, &e.exec));
  const Counts c = counted();
  UNIT_EQUAL(iterations, result.iterations);
  cg_outcome_free(&o);
  cg_engine_close(&e);
  cg_matrix_free(&a);
  return c;
}

static Counts cg_iteration(void) { return difference(cg_run(SPMV_CG_CHUNK, 4, NULL), cg_run(SPMV_CG_CHUNK, 3, NULL)); }
static Counts cg_iteration_of_processes(void)
{
  const SpmvProcesses many = {.add = cg_add_alone};
  return difference(cg_run(SPMV_CG_CHUNK, 4, &many), cg_run(SPMV_CG_CHUNK, 3, &many));
}
static Counts cg_single_reduction(const SpmvProcesses *processes)
{
  return difference(cg_run(CG_SINGLE_CHUNK, 4, processes), cg_run(CG_SINGLE_CHUNK, 3, processes));
}
static Counts cg_iteration_of_single_reduction(void) { return cg_single_reduction(NULL); }
static Counts cg_iteration_of_single_reduction_of_processes(void)
{
  return cg_single_reduction(&(SpmvProcesses){.add = cg_add_alone});
}
static Counts cg_persistent_iteration(void)
{
  return difference(cg_run(SPMV_CG_PERSISTENT, 4, NULL), cg_run(SPMV_CG_PERSISTENT, 3, NULL));
}
static Counts cg_creation(void)
{
  CgMatrix      a = cg_matrix(2);
  CgSetup       u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_NORM_NONE, 1);
  CgEngine      e;
  SpmvCg       *cg;
  SpmvCgOptions o;

  cg_engine_open(&e, &a, &u, NULL);
  spmv_cg_options_init(&o);
  o.rows        = a.pattern.rows;
  o.mode        = SPMV_CG_CHUNK;
  o.product     = spmv_operator_product;
  o.product_ctx = &e.product;
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &e.exec, &cg));
  const Counts c = counted();
  spmv_cg_destroy(&cg);
  cg_engine_close(&e);
  cg_matrix_free(&a);
  return c;
}

/* From the start to the end of a solve by a relative tolerance, in one chunk */
static Counts cg_whole_solve(void)
{
  const SpmvTest test = {.relative = 1, .tolerance = 1e-9, .divergence = 1e5, .max_iterations = 3, .check_after = -1};
  CgMatrix       a    = cg_matrix(2);
  CgSetup        u    = cg_setup(SPMV_CG_CHUNK, SPMV_CG_PRECONDITIONED, 1);
  SpmvCgResult   result;
  CgEngine       e;

  u.chunk = 8;
  cg_engine_open(&e, &a, &u, NULL);
  CgOutcome o = cg_engine_solve(&e);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_start(e.cg, e.x, e.r, e.m, u.norm, &e.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(e.cg, INT64_MAX, &test, &result, &e.exec));
  const Counts c = counted();
  UNIT_CHECK(result.reason == SPMV_DIVERGED_ITERATIONS && result.first > result.norm);
  cg_outcome_free(&o);
  cg_engine_close(&e);
  cg_matrix_free(&a);
  return c;
}

/* A run of so many iterations in chunks of cycles of 4 */
static Counts gmres_run_from(int start, int64_t iterations)
{
  CgMatrix        a = gmres_matrix(2, GMRES_CONVECTION);
  GmresSetup      u = gmres_setup(SPMV_GMRES_CHUNK);
  GmresEngine     e;
  SpmvGmresResult result;
  SpmvTest        test;

  u.restart        = 4;
  u.chunk          = 4;
  u.block          = 1;
  u.untested       = 1;
  u.max_iterations = iterations;
  gmres_engine_open(&e, &a, &u, NULL);
  UNIT_EQUAL(SPMV_SUCCESS, gmres_engine_begin(&e, &test));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e.exec));
  (void)counted();
  if (start) UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_start(e.gmres, e.x, e.b, e.m, 1, &e.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_run(e.gmres, iterations, &test, &result, &e.exec));
  const Counts c = counted();
  UNIT_EQUAL(iterations, result.iterations);
  gmres_engine_close(&e);
  cg_matrix_free(&a);
  return c;
}

static Counts gmres_run(int64_t iterations) { return gmres_run_from(0, iterations); }
static Counts gmres_whole_solve(void) { return gmres_run_from(1, 3); }
static Counts gmres_iteration(void) { return difference(gmres_run(3), gmres_run(2)); }
/* Two cycles in place of one: four more iterations, and the end of a cycle */
static Counts gmres_end_of_cycle(void)
{
  const Counts more = difference(gmres_run(7), gmres_run(3)), one = gmres_iteration();
  return (Counts){more.launches - 4 * one.launches, more.waits, more.allocations, more.device_waits};
}
static Counts gmres_creation(void)
{
  CgMatrix    a = gmres_matrix(2, GMRES_CONVECTION);
  GmresSetup  u = gmres_setup(SPMV_GMRES_CHUNK);
  GmresEngine e;
  SpmvGmres  *gmres;

  gmres_engine_open(&e, &a, &u, NULL);
  SpmvGmresOptions o;
  spmv_gmres_options_init(&o);
  o.rows        = a.pattern.rows;
  o.mode        = SPMV_GMRES_CHUNK;
  o.product     = spmv_operator_product;
  o.product_ctx = &e.matrix.product;
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_create(&o, &e.exec, &gmres));
  const Counts c = counted();
  spmv_gmres_destroy(&gmres);
  gmres_engine_close(&e);
  cg_matrix_free(&a);
  return c;
}

/* ---- extreme eigenvalues ---- */

static Counts extremes_by(SpmvExtremesKind kind)
{
  CgMatrix            a = cg_matrix(1);
  CgSetup             u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_NORM_NONE, 1);
  CgEngine            e;
  SpmvExtremesOptions o = {.rows = a.pattern.rows, .scalar_type = SPMV_F64, .kind = kind, .steps = 10, .inverse = 1};
  SpmvExtremes        found;
  void               *diagonal;

  cg_engine_open(&e, &a, &u, NULL);
  o.preconditioner = SPMV_PC_DIAGONAL;
  o.m = diagonal = cg_put(&e, a.b, a.pattern.rows); /* any numbers that are not 0 */
  o.product      = spmv_operator_product;
  o.product_ctx  = &e.product;
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o, &e.plain, &found));
  const Counts c = counted();
  cg_release(&e, diagonal);
  cg_engine_close(&e);
  cg_matrix_free(&a);
  return c;
}
static Counts extremes_by_cg(void) { return extremes_by(SPMV_EXTREMES_LANCZOS); }
static Counts extremes_by_gmres(void) { return extremes_by(SPMV_EXTREMES_SINGULAR); }

/* ---- cycles ---- */

static Counts cycle_call(const char *format, int levels, int64_t dense_rows, int outer)
{
  CycleSetup u = cycle_setup();

  cycle_set_levels(&u, levels, 3);
  u.format     = format;
  u.dense_rows = dense_rows;
  u.outer      = outer;
  if (outer) u.scalar = SPMV_F32;
  CycleCase   c = cycle_case(&u);
  CycleEngine e;
  cycle_engine_open(&e, &c);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_apply(e.cycle, e.b, e.x, &e.exec));
  const Counts n = counted();
  cycle_engine_close(&e);
  cycle_case_free(&c);
  return n;
}

static Counts cycle_level(const char *format)
{
  return difference(cycle_call(format, 4, 0, 0), cycle_call(format, 3, 0, 0));
}
static Counts cycle_level_of_rbp(void) { return cycle_level("rbp"); }
static Counts cycle_level_of_crsv(void) { return cycle_level("crsv"); }
static Counts cycle_level_of_codsell(void) { return cycle_level("codsell"); }
static Counts cycle_level_of_fold(void) { return cycle_level("fold"); }
static Counts cycle_of_dense_level(void) { return cycle_call("crsv", 3, -1, 0); }
static Counts cycle_more_in_single_precision(void)
{
  return difference(cycle_call("crsv", 3, 0, 1), cycle_call("crsv", 3, 0, 0));
}

/* ---- set-up ---- */

static Counts coo_counts(int values)
{
  CooCase   c = coo_case_named("heavy");
  CooPlaced l = coo_place(&c, COO_WHOLE, SPMV_I32, SPMV_DEVICE);
  SpmvExec  exec;
  SpmvCoo  *coo;

  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_create(&l.list, &exec, &coo));
  spmv_coo_destroy(&coo);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_create(&l.list, &exec, &coo));
  Counts      n = counted();
  SpmvPattern p;
  spmv_coo_pattern(coo, &p);
  void *v = test_put(SPMV_DEVICE, c.v, (c.count[0] + c.count[1]) * 8), *csr = test_put(SPMV_DEVICE, NULL, p.nnz * 8);
  const void *parts[] = {v, (char *)v + c.count[0] * 8};
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_values(coo, SPMV_F64, parts, 0, csr, &exec));
  if (values) n = counted();
  test_take(SPMV_DEVICE, v, NULL, 0);
  test_take(SPMV_DEVICE, csr, NULL, 0);
  spmv_coo_destroy(&coo);
  coo_unplace(&l);
  coo_case_free(&c);
  return n;
}

static Counts coo_creation(void) { return coo_counts(0); }
static Counts coo_values(void) { return coo_counts(1); }

static Counts graph_of(SpmvGraphOptions o)
{
  const GenSpec spec = gen_mesh(9, 13, 12, 1, "2");
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
  SpmvCsr       csr  = csr_put(&p);
  SpmvGraph    *graph;
  SpmvExec      exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  o.block_size = 2;
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_graph_create(&csr, &o, &exec, &graph));
  const Counts c = counted();
  spmv_graph_destroy(&graph);
  csr_take(&csr);
  unit_problem_clear(&p);
  return c;
}

static Counts graph_of_full_blocks(void) { return graph_of((SpmvGraphOptions){.blocks = SPMV_GRAPH_FULL_BLOCKS}); }
static Counts graph_with_filter(void)
{
  return graph_of((SpmvGraphOptions){.blocks = SPMV_GRAPH_FULL_BLOCKS, .filter = SPMV_GRAPH_KEEP_ABOVE});
}
static Counts graph_of_all_steps(void)
{
  return graph_of(
      (SpmvGraphOptions){.blocks = SPMV_GRAPH_ANY_BLOCKS, .add_transpose = 1, .filter = SPMV_GRAPH_KEEP_ABOVE});
}

static Counts aggregates_of(GenSpec spec, int distance, SpmvAggregateOrder order)
{
  TestGraph            g     = test_graph_of("counted", &spec);
  const SpmvPattern    on    = test_graph_pattern(&g);
  SpmvPattern          there = on;
  SpmvAggregateOptions o;
  SpmvAggregates       found;
  SpmvExec             exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_aggregate_options_init(&o);
  o.distance      = distance;
  o.order         = order;
  there.space     = SPMV_DEVICE;
  there.row_ptr   = test_put(SPMV_DEVICE, on.row_ptr, (on.rows + 1) * 4);
  there.col       = test_put(SPMV_DEVICE, on.col, on.nnz * 4);
  void *aggregate = test_put(SPMV_DEVICE, NULL, on.rows * 4);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_aggregate(&there, &o, aggregate, NULL, &found, &exec));
  const Counts c = counted();
  test_take(SPMV_DEVICE, (void *)(uintptr_t)there.row_ptr, NULL, 0);
  test_take(SPMV_DEVICE, (void *)(uintptr_t)there.col, NULL, 0);
  test_take(SPMV_DEVICE, aggregate, NULL, 0);
  test_graph_free(&g);
  return c;
}

static Counts aggregates_of_few(void) { return aggregates_of(gen_stencil(5, 40, 40, 1), 2, SPMV_ORDER_RANDOM); }
static Counts aggregates_of_many(void) { return aggregates_of(gen_stencil(5, 90, 90, 1), 2, SPMV_ORDER_RANDOM); }
static Counts aggregates_of_180_rounds(void) { return aggregates_of(gen_stencil(5, 90, 90, 1), 1, SPMV_ORDER_NUMBER); }

/* A A, or A^T A A, with single entries of few columns, which have marks */
static Counts spgemm_counts(SpmvSpgemmKind kind, const SpmvBlocks *known, int values)
{
  const GenSpec spec = gen_stencil(5, 12, 11, 1);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
  const SpmvCsr csr  = csr_put(&p);
  SpmvSpgemm   *product;
  SpmvExec      exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS,
             spmv_spgemm_symbolic_blocks(kind, &csr.pattern, &csr.pattern, known, SPMV_F64, &exec, &product));
  Counts c = counted();
  UNIT_EQUAL(1, spmv_spgemm_blocks(product).rows * spmv_spgemm_blocks(product).cols);
  SpmvPattern result;
  spmv_spgemm_pattern(product, &result);
  void *to = test_put(SPMV_DEVICE, NULL, result.nnz * 8);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_numeric(product, csr.values, csr.values, to, &exec));
  if (values) c = counted();
  test_take(SPMV_DEVICE, to, NULL, 0);
  csr_take(&csr);
  spmv_spgemm_destroy(&product);
  unit_problem_clear(&p);
  return c;
}

static Counts spgemm_pattern_of_known(void)
{
  return spgemm_counts(SPMV_SPGEMM_AB, (const SpmvBlocks[]){{1, 1}, {1, 1}}, 0);
}
static Counts spgemm_pattern_of_one(void) { return spgemm_counts(SPMV_SPGEMM_AB, NULL, 0); }
static Counts spgemm_pattern_of_two(void) { return spgemm_counts(SPMV_SPGEMM_PTAP, NULL, 0); }
static Counts spgemm_values_of_one(void) { return spgemm_counts(SPMV_SPGEMM_AB, NULL, 1); }
static Counts spgemm_values_of_two(void) { return spgemm_counts(SPMV_SPGEMM_PTAP, NULL, 1); }

/* The creation in blocks (-6), values and the creation with nodes (-5, -4), the creation without and with transposes (-3, -2), values (-1), or an action
 */
static Counts factor_counts(SpmvFactorKind kind, int what, int zero_guess, double diagonal)
{
  const double      dense[] = {diagonal, 2, 2, 3};
  FactorMatrix      m       = factor_of_dense(2, dense);
  SpmvFactorOptions o;
  FactorLife        l;

  spmv_factor_options_init(&o);
  o.kind         = kind;
  o.transposes   = what > -3;
  o.node_rows    = what == -5 || what == -4 ? 2 : 0;
  o.blocks       = what == -6 ? 2 : 0;
  o.shift        = SPMV_SHIFT_NONZERO;
  o.shift_amount = o.zero_pivot = 0.25;
  factor_open(&l, SPMV_DEVICE, NULL, &m, SPMV_F64);
  factor_set(&l, m.value, m.value, m.value);
  (void)counted();
  UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
  Counts c = counted();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
  if (what >= -1 || what == -5) c = counted();
  if (what >= 0) {
    UNIT_EQUAL(SPMV_SUCCESS, factor_do(&l, (FactorAction)what, 1, zero_guess));
    c = counted();
  }
  factor_close(&l);
  factor_matrix_free(&m);
  return c;
}

static Counts factor_creation(void) { return factor_counts(SPMV_FACTOR_ILU, -3, 0, 3); }
static Counts factor_creation_of_sor(void) { return factor_counts(SPMV_FACTOR_SOR, -3, 0, 3); }
static Counts factor_creation_with_nodes(void) { return factor_counts(SPMV_FACTOR_SOR, -4, 0, 3); }
static Counts factor_creation_of_icc(void) { return factor_counts(SPMV_FACTOR_ICC, -3, 0, 3); }
static Counts factor_creation_in_blocks(void) { return factor_counts(SPMV_FACTOR_ILU, -6, 0, 3); }
static Counts factor_creation_with_transposes(void) { return factor_counts(SPMV_FACTOR_ILU, -2, 0, 3); }
static Counts factor_values(void) { return factor_counts(SPMV_FACTOR_ILU, -1, 0, 3); }
static Counts factor_values_with_nodes(void) { return factor_counts(SPMV_FACTOR_SOR, -5, 0, 3); }
static Counts factor_values_with_shift(void) { return factor_counts(SPMV_FACTOR_ILU, -1, 0, 0); }
static Counts factor_solve(void) { return factor_counts(SPMV_FACTOR_ICC, FACTOR_SOLVE, 0, 3); }
static Counts factor_solve_transposed(void) { return factor_counts(SPMV_FACTOR_ILU, FACTOR_SOLVE_T, 0, 3); }
static Counts factor_sweep(void) { return factor_counts(SPMV_FACTOR_SOR, FACTOR_BACKWARD, 1, 3); }
static Counts factor_sweep_from_guess(void) { return factor_counts(SPMV_FACTOR_SOR, FACTOR_FORWARD, 0, 3); }
static Counts factor_symmetric_sweep(void) { return factor_counts(SPMV_FACTOR_SOR, FACTOR_SYMMETRIC, 1, 3); }
static Counts factor_symmetric_sweep_from_guess(void) { return factor_counts(SPMV_FACTOR_SOR, FACTOR_SYMMETRIC, 0, 3); }

/* ---- the table ---- */

static const struct {
  const char *readme, *sentence, *name;
  Counts (*action)(void);
  Counts expected;
} claims[] = {
#define COUNT(README, SENTENCE, ACTION, LAUNCHES, WAITS, ALLOCATIONS)                                                  \
  {README, SENTENCE, #ACTION, ACTION, {LAUNCHES, WAITS, ALLOCATIONS, ANY}},
#include "device_counts.def"
#undef COUNT
};

static void check_number(const char *name, const char *what, long expected, long got)
{
  char text[200];

  snprintf(text, sizeof text, "%s: %s", name, what);
  if (expected != ANY) unit_equal(expected, got, "device_counts.def", 0, text);
}

UNIT_TEST(launches_waits_and_allocations_are_those_of_the_readmes)
{
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    const Counts got = claims[i].action(), *expected = &claims[i].expected;
    check_number(claims[i].name, "launches", expected->launches, got.launches);
    check_number(claims[i].name, "waits", expected->waits, got.waits);
    check_number(claims[i].name, "allocations", expected->allocations, got.allocations);
    /* what they free, their stream alone has used */
    check_number(claims[i].name, "waits for the device", 0, got.device_waits);
  }
}

/* A file, with one space for each sequence of white space */
static char *text_of(const char *readme)
{
  char   name[500], *text = calloc(1, 1 << 20), *to = text;
  size_t length;

  snprintf(name, sizeof name, "%s/%s", KERNELS_FOLDER, readme);
  FILE *file = fopen(name, "r");
  if (!unit_check(file != NULL, name, 0, "there is no such file")) return text;
  length = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  for (const char *from = text; from < text + length; from++)
    if (!isspace((unsigned char)*from)) *to++ = *from;
    else if (to > text && to[-1] != ' ') *to++ = ' ';
  *to = 0;
  return text;
}

UNIT_TEST(readmes_have_the_sentences_of_the_table)
{
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    char *text = text_of(claims[i].readme);
    if (!strstr(text, claims[i].sentence)) unit_check(0, claims[i].readme, 0, claims[i].sentence);
    free(text);
  }
}
