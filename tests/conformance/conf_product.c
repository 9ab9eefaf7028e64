/* Checks of the products of a plan. */
#include "conf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vectors of products in one direction */
typedef struct {
  ConfRun      *run;
  int           transpose, value_set;
  GuardedVector x, y, work;
  void         *result, *copy; /* on the host, as long as the longer of x and y */
} Stage;

static int64_t scalars(const ConfRun *run, int64_t n) { return n * spmv_scalar_bytes(run->problem->scalar_type); }

static void stage_free(Stage *s)
{
  guarded_free(&s->x);
  guarded_free(&s->y);
  guarded_free(&s->work);
  free(s->result);
  free(s->copy);
}

static int stage_init(Stage *s, ConfRun *run, const SpmvPlan *plan, int transpose, int value_set, int offset)
{
  const Problem *p       = run->problem;
  const int64_t  x_bytes = scalars(run, p->x_length[transpose]), y_bytes = scalars(run, p->y_length[transpose]);
  const int64_t  shift = scalars(run, offset), longer = x_bytes > y_bytes ? x_bytes : y_bytes;
  const int      tight = run->settings->tight;
  SpmvStatus     status;

  memset(s, 0, sizeof *s);
  s->run       = run;
  s->transpose = transpose;
  s->value_set = value_set;
  s->result    = malloc((size_t)longer + 1);
  s->copy      = malloc((size_t)longer + 1);
  status       = s->result && s->copy ? SPMV_SUCCESS : SPMV_ERR_MEMORY;
  if (!status) status = guarded_init(&s->x, run->space, x_bytes, shift, tight, &run->exec);
  if (!status) status = guarded_init(&s->y, run->space, y_bytes, shift, tight, &run->exec);
  if (!status) status = guarded_init(&s->work, run->space, plan->memory.work_bytes, 0, tight, &run->exec);
  return conf_ready(run, status, "making vectors");
}

/* Calls mult or multtranspose with scalars of the right type */
static SpmvStatus call_product(Stage *s, const SpmvPlan *plan, double alpha, double beta)
{
  ConfRun    *run       = s->run;
  const float alpha_f32 = (float)alpha, beta_f32 = (float)beta;
  const int   single = run->problem->scalar_type == SPMV_F32;
  const void *a      = single ? (const void *)&alpha_f32 : (const void *)&alpha;
  const void *b      = single ? (const void *)&beta_f32 : (const void *)&beta;
  void       *work   = s->work.bytes > 0 ? s->work.data : NULL;

  if (s->transpose) return spmv_multtranspose(plan, a, s->x.data, b, s->y.data, work, &run->exec);
  return spmv_mult(plan, a, s->x.data, b, s->y.data, work, &run->exec);
}

static SpmvStatus put_vectors(Stage *s, const CaseProduct *product)
{
  ConfRun   *run    = s->run;
  SpmvStatus status = guarded_put(&s->x, problem_x(run->problem, s->transpose, product->x), &run->exec);

  if (!status) status = guarded_put(&s->y, problem_y(run->problem, s->transpose, product->y), &run->exec);
  if (!status) status = poison_bytes(s->work.data, run->space, s->work.bytes, &run->exec);
  return status;
}

static void what_is_done(const Stage *s, const CaseProduct *product, const char *how, char text[128])
{
  snprintf(text, 128, "%s %s%s%s", s->transpose ? "multtranspose" : "mult", product->name,
           s->value_set ? " after update_values" : "", how);
}

/* Fetches y into s->result and checks its numbers */
static int check_result(Stage *s, const CaseProduct *product, const char *how)
{
  ConfRun       *run = s->run;
  const Problem *p   = run->problem;
  CheckFault     fault;
  char           what[128];

  what_is_done(s, product, how, what);
  if (!conf_ready(run, guarded_get(&s->y, s->result, &run->exec), what)) return 0;
  if (check_vector(problem_reference(p, s->transpose, s->value_set, product->x), p->scalar_type, p->data,
                   product->alpha, product->beta, problem_y(p, s->transpose, product->y), s->result, &fault))
    return report_check(run->report, 1, what, " ");
  return report_check(run->report, 0, what, "alpha %g, beta %g, row %lld: got %.17Lg, expected %.17Lg, bound %.3Lg",
                      product->alpha, product->beta, (long long)fault.row, fault.got, fault.expected, fault.bound);
}

/* What a product must leave alone: the surroundings of its vectors, and x */
static void check_surroundings(Stage *s, const CaseProduct *product, int64_t allocations, const char *what)
{
  ConfRun *run = s->run;
  Report  *r   = run->report;

  report_check(r, run->hooks.host.calls + run->hooks.device.calls == allocations, what, "the product allocates memory");
  report_check(r, guarded_intact(&s->y, &run->exec), what, "wrote outside y");
  report_check(r, guarded_intact(&s->work, &run->exec), what, "wrote outside work (%lld bytes)",
               (long long)s->work.bytes);
  if (!conf_ready(run, guarded_get(&s->x, s->copy, &run->exec), what)) return;
  report_check(
      r,
      guarded_intact(&s->x, &run->exec) &&
          (s->x.bytes == 0 || !memcmp(s->copy, problem_x(run->problem, s->transpose, product->x), (size_t)s->x.bytes)),
      what, "x or its surroundings have changed");
}

static int check_product(Stage *s, const CaseProduct *product, const char *how)
{
  ConfRun      *run         = s->run;
  const int64_t allocations = run->hooks.host.calls + run->hooks.device.calls;
  SpmvStatus    status;
  char          what[128];

  what_is_done(s, product, how, what);
  if (!conf_ready(run, put_vectors(s, product), "copying vectors")) return 0;
  status = call_product(s, run->plan, product->alpha, product->beta);
  if (!status) status = spmv_stream_wait(&run->exec);
  if (!conf_success(run, status, what)) return 0;
  check_surroundings(s, product, allocations, what);
  return check_result(s, product, how);
}

static int repeats_bitwise(const Stage *s, const void *before)
{
  return s->y.bytes == 0 || !memcmp(s->result, before, (size_t)s->y.bytes);
}

/* The same product again gives the same bits */
static void check_repetition(Stage *s, const CaseProduct *product, const char *how)
{
  ConfRun *run = s->run;
  char     what[128];
  void    *before;

  before = malloc((size_t)s->y.bytes + 1);
  what_is_done(s, product, how, what);
  if (conf_ready(run, before ? SPMV_SUCCESS : SPMV_ERR_MEMORY, what)) {
    memcpy(before, s->result, (size_t)s->y.bytes);
    if (check_product(s, product, how))
      report_check(run->report, repeats_bitwise(s, before), what, "the repeated product has other bits");
  }
  free(before);
}

typedef struct {
  Stage             *stage;
  const CaseProduct *product;
} Captured;

static SpmvStatus enqueue_captured(void *ctx)
{
  Captured *c = ctx;
  return call_product(c->stage, c->stage->run->plan, c->product->alpha, c->product->beta);
}

/* A product captured in a graph gives the right result at each launch */
static void check_graph(Stage *s, const CaseProduct *product)
{
  ConfRun   *run      = s->run;
  Captured   captured = {s, product};
  ConfGraph *graph;
  char       message[SPMV_MESSAGE_MAX] = "";
  SpmvStatus status                    = conf_graph_capture(run->stream, enqueue_captured, &captured, &graph, message);

  if (!report_check(run->report, !status, "graph capture", "%s", message)) return;
  for (int launch = 0; launch < 2; launch++) {
    if (!conf_ready(run, put_vectors(s, product), "copying vectors")) break;
    status = conf_graph_launch(graph, run->stream, message);
    if (!report_check(run->report, !status, "graph launch", "%s", message)) break;
    check_result(s, product, launch ? " by a graph, second launch" : " by a graph");
  }
  conf_graph_destroy(&graph);
}

static void check_direction(ConfRun *run, int transpose, int value_set, int offset, int thorough)
{
  const char *how = offset ? ", vectors not aligned" : "";
  Stage       s;

  if (stage_init(&s, run, run->plan, transpose, value_set, offset))
    for (int i = 0; i < case_product_count(); i++) {
      const CaseProduct *product = case_product(i);
      const int          general = product->alpha != 1 && product->beta != 0 && product->x == CASE_NUMBERS;
      if (!thorough && !general && i > 0) continue;
      if (product->x == CASE_HOLE && value_set != 0) continue;
      if (!check_product(&s, product, how) || !thorough) continue;
      if (general) check_repetition(&s, product, how);
      if (general && run->space == SPMV_DEVICE) check_graph(&s, product);
    }
  stage_free(&s);
}

void conf_products(ConfRun *run, int value_set, int thorough)
{
  for (int transpose = 0; transpose < 2; transpose++) {
    if (transpose && !conf_prepare_transpose(run)) continue;
    check_direction(run, transpose, value_set, 0, thorough);
    if (thorough) check_direction(run, transpose, value_set, 1, thorough);
  }
}

SpmvStatus conf_plain_product(ConfRun *run, const SpmvPlan *plan, void *result)
{
  const CaseProduct *product = case_product(0);
  SpmvStatus         status  = SPMV_ERR_MEMORY;
  Stage              s;

  if (stage_init(&s, run, plan, 0, 0, 0)) status = put_vectors(&s, product);
  if (!status) status = call_product(&s, plan, product->alpha, product->beta);
  if (!status) status = guarded_get(&s.y, result, &run->exec);
  stage_free(&s);
  return status;
}
