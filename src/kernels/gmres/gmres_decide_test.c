/* Tests of the decisions of GMRES, each called with plain numbers. They need no device. */
#include "gmres_decide.h"
#include "unit.h"
#include <string.h>

enum { RESTART = 3 };

/* A state with room for its arrays, after the residual of iteration 0 with norm 5 */
typedef struct {
  SpmvGmresState s;
  double         scale[RESTART + 1], sums[RESTART + 1], h[RESTART + 1], take[RESTART + 1], g[RESTART + 1];
  double         r[RESTART][RESTART + 1], cosine[RESTART], sine[RESTART], y[RESTART], history[2];
} Room;

static SpmvGmresState *begun(Room *m)
{
  memset(m, 0, sizeof *m);
  m->s = (SpmvGmresState){.begins    = 1,
                          .stop_at   = 100,
                          .happy     = 1e-30,
                          .breakdown = 0.1,
                          .restart   = RESTART,
                          .test      = {.tolerance = 1, .divergence = 1000, .max_iterations = 7, .check_after = -1},
                          .history   = m->history,
                          .kept      = 2,
                          .scale     = m->scale,
                          .sums      = m->sums,
                          .h         = m->h,
                          .take      = m->take,
                          .r         = m->r[0],
                          .cosine    = m->cosine,
                          .sine      = m->sine,
                          .g         = m->g,
                          .y         = m->y};
  spmv_gmres_take_residual(&m->s, 25);
  return &m->s;
}

static void check(const SpmvGmresState *s, SpmvReason reason, int64_t completed, int columns)
{
  UNIT_EQUAL(reason, s->record.reason);
  UNIT_EQUAL(completed, s->record.completed);
  UNIT_EQUAL(columns, s->columns);
}

UNIT_TEST(gmres_decides_after_a_residual)
{
  Room            m;
  SpmvGmresState *s = begun(&m);

  check(s, SPMV_ITERATING, 0, 0);
  UNIT_CHECK(s->record.first == 5 && s->at_begin == 5 && s->g[0] == 5 && s->scale[0] == 0.2 && !s->begins);
  spmv_gmres_take_residual(s, 0);
  check(s, SPMV_ATOL, 0, 0);
  UNIT_CHECK(s->scale[0] == 0);
  spmv_gmres_take_residual(s, INFINITY);
  check(s, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);

  s                   = begun(&m); /* a later cycle, whose recurrence ended with norm 2 */
  s->record.completed = 2;
  s->record.norm      = 2;
  spmv_gmres_take_residual(s, 6.25); /* 2.5: within 0.1 times 5 */
  check(s, SPMV_ITERATING, 2, 0);
  UNIT_CHECK(s->history[1] == 2.5 && s->record.first == 5);
  s->at_begin = 5;
  spmv_gmres_take_residual(s, 16); /* 4 */
  check(s, SPMV_DIVERGED_BREAKDOWN, 2, 0);
}

UNIT_TEST(gmres_decides_after_scalar_products)
{
  Room            m;
  SpmvGmresState *s = begun(&m);

  UNIT_CHECK(spmv_gmres_take_dot(s, 0, 10, 0));
  UNIT_CHECK(s->h[0] == 2 && s->take[0] == 0.4);
  UNIT_CHECK(spmv_gmres_take_dot(s, 0, 5, 1)); /* the second orthogonalization adds to the column */
  UNIT_CHECK(s->h[0] == 3 && s->take[0] == 0.2);
  spmv_gmres_take_dots(s, 1);
  UNIT_CHECK(s->active);
  UNIT_CHECK(!spmv_gmres_take_dot(s, 0, NAN, 0));
  spmv_gmres_take_dots(s, 0);
  check(s, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);
  UNIT_CHECK(!s->active);
}

/* An iteration whose column has h on top, and a new vector of this norm */
static void iterate(SpmvGmresState *s, double h, double norm)
{
  for (int j = 0; j <= s->columns; j++) s->h[j] = h;
  s->active = 1;
  spmv_gmres_rotate(s, s->columns);
  spmv_gmres_take_squares(s, s->columns, norm * norm, 0);
}

/* The rotation of (3, 4) has cosine 0.6 and sine 0.8: the norm falls from 5 to 4 */
UNIT_TEST(gmres_decides_after_the_new_vector)
{
  Room            m;
  SpmvGmresState *s = begun(&m);

  iterate(s, 3, 4);
  check(s, SPMV_ITERATING, 1, 1);
  UNIT_CHECK(!s->active && s->scale[1] == 0.25 && fabs(s->record.norm - 4) < 1e-15);
  UNIT_CHECK(fabs(m.r[0][0] - 5) < 1e-15 && fabs(s->cosine[0] - 0.6) < 1e-15 && fabs(s->g[0] - 3) < 1e-15);
  iterate(s, 0, 4); /* a column (0, 0): the norm stays */
  check(s, SPMV_ITERATING, 2, 2);
  UNIT_CHECK(s->history[0] == s->history[1]);

  s = begun(&m);
  iterate(s, 3, 0.3);
  check(s, SPMV_RTOL, 1, 1);
  s                      = begun(&m);
  s->test.max_iterations = 1;
  iterate(s, 3, 4);
  check(s, SPMV_DIVERGED_ITERATIONS, 1, 1);
  s = begun(&m);
  iterate(s, 3, INFINITY);
  check(s, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);
  s = begun(&m);
  iterate(s, 0, 0); /* the column is 0 */
  check(s, SPMV_DIVERGED_BREAKDOWN, 1, 0);
}

UNIT_TEST(gmres_decides_what_is_a_happy_breakdown)
{
  for (int untested = 0; untested < 2; untested++) {
    Room            m;
    SpmvGmresState *s = begun(&m);

    s->happy         = 0.5;
    s->g[0]          = 1; /* the bound is the lesser one of happy and of the norm relative to g */
    s->test.untested = untested;
    UNIT_CHECK(!spmv_gmres_is_happy(s, 0, 0.25));
    s->g[0] = 0.25;
    UNIT_CHECK(spmv_gmres_is_happy(s, 0, 0.25));
    iterate(s, 3, 0.25);
    check(s, untested ? SPMV_BREAKDOWN : SPMV_RTOL, 1, 1);
    UNIT_CHECK(s->record.norm == 0);
    s->test.tolerance = -1;
    UNIT_EQUAL(untested ? SPMV_BREAKDOWN : SPMV_DIVERGED_BREAKDOWN, spmv_gmres_reason(s, 1));
  }
}

/* A vector that has lost most of its norm is orthogonalized a second time */
UNIT_TEST(gmres_decides_whether_to_refine)
{
  Room            m;
  SpmvGmresState *s = begun(&m);

  s->h[0]   = 3;
  s->active = 1;
  spmv_gmres_rotate(s, 0);
  spmv_gmres_take_squares(s, 0, 4, 1); /* 2 is less than 3 */
  check(s, SPMV_ITERATING, 0, 0);
  UNIT_CHECK(s->active);
  spmv_gmres_take_squares(s, 0, NAN, 1);
  check(s, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);
  s       = begun(&m);
  s->h[0] = 3;
  spmv_gmres_rotate(s, 0);
  spmv_gmres_take_squares(s, 0, 16, 1); /* 4 is not */
  check(s, SPMV_ITERATING, 1, 1);
}

/* Two columns: R = (2 1; 0 4) and g = (4, 8) give y = (1, 2), of vectors with scales 0.5 and 0.25 */
UNIT_TEST(gmres_solves_for_the_multiples_of_its_vectors)
{
  Room            m;
  SpmvGmresState *s = begun(&m);

  m.r[0][0]   = 2;
  m.r[1][0]   = 1;
  m.r[1][1]   = 4;
  s->y[0]     = 4;
  s->y[1]     = 8;
  s->scale[0] = 0.5;
  s->scale[1] = 0.25;
  for (int i = 1; i >= 0; i--) spmv_gmres_eliminate(s, i, 0, 1);
  for (int i = 0; i < 2; i++) spmv_gmres_unscale(s, i);
  UNIT_CHECK(s->y[0] == 0.5 && s->y[1] == 0.5);
}

UNIT_TEST(gmres_decides_when_a_cycle_ends)
{
  Room            m;
  SpmvGmresState *s = begun(&m);

  s->columns = 2;
  UNIT_EQUAL(0, spmv_gmres_due(s, 0));
  UNIT_EQUAL(2, spmv_gmres_due(s, 1));
  spmv_gmres_close_cycle(s, 2, 1); /* a look changes nothing */
  UNIT_CHECK(s->columns == 2 && s->combine == 2 && !s->begins);
  s->columns = RESTART;
  UNIT_EQUAL(RESTART, spmv_gmres_due(s, 0));
  spmv_gmres_close_cycle(s, RESTART, 0);
  UNIT_CHECK(s->columns == 0 && s->begins);
  s->columns       = 1;
  s->record.reason = SPMV_RTOL;
  UNIT_EQUAL(1, spmv_gmres_due(s, 0));
  spmv_gmres_close_cycle(s, 1, 0);
  UNIT_CHECK(s->columns == 0 && !s->begins && spmv_gmres_stopped(s));
  s->record.reason = SPMV_ITERATING;
  UNIT_CHECK(!spmv_gmres_stopped(s));
  s->stop_at = 0;
  UNIT_CHECK(spmv_gmres_stopped(s));
}
