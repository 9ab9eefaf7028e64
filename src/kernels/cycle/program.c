/*
  program.c - the list of operations of a cycle, in the order of PCMGMCycle_Private() in PETSc 3.26 for a multiplicative
  cycle.

  The x of a level alternates between two vectors. Which of them it is at each operation, and whether it is still zero
  and unwritten, is known in advance: so the list begins with the vector for which the finest level ends in the caller's
  x.
*/
#include "cycle.h"
#include <string.h>

/* The list; it is counted first, with op NULL, and then written */
typedef struct {
  const SpmvCycle *cycle;
  int              bottom, finest, cycles;
  SpmvCycleOp     *op;
  int              ops;
  int              now[SPMV_CYCLE_LEVELS];  /* the vector that holds x: SPMV_CYCLE_X0 or SPMV_CYCLE_X1 */
  int              zero[SPMV_CYCLE_LEVELS]; /* 1: x is zero and not written yet; -1: x_(k-1) was; 0: neither */
} Program;

static void add(Program *p, SpmvCycleOp op)
{
  if (p->op) p->op[p->ops] = op;
  p->ops++;
}

static int other(int iterate) { return iterate == SPMV_CYCLE_X0 ? SPMV_CYCLE_X1 : SPMV_CYCLE_X0; }

/* One step: one operation, or two if M has blocks, because M needs the residual of the whole block. A function has one more.
 */
static void add_step(Program *p, int level, int up, int number)
{
  const SpmvCycleGrid     *grid     = &p->cycle->grid[level];
  const SpmvCycleSmoother *smoother = spmv_cycle_smoother(grid, up);
  SpmvCycleOp              op       = {.kind  = SPMV_CYCLE_STEP,
                                       .level = level,
                                       .x     = p->now[level],
                                       .b     = SPMV_CYCLE_B,
                                       .out   = other(p->now[level]),
                                       .adds  = number > 0,
                                       .up    = up,
                                       .step  = grid->first_step[up] + number};

  if (p->zero[level] > 0) { /* no product, so that out may be the same vector */
    op.kind = SPMV_CYCLE_POINT;
    op.out  = op.x;
    op.x    = SPMV_CYCLE_NONE;
  } else if (smoother->kind == SPMV_PC_BLOCKS || smoother->kind == SPMV_PC_FUNCTION) {
    add(p, (SpmvCycleOp){SPMV_CYCLE_RESIDUAL, level, op.x, SPMV_CYCLE_B, SPMV_CYCLE_W, 0, 0, 0});
    op.kind = SPMV_CYCLE_POINT;
    op.b    = SPMV_CYCLE_W;
  }
  if (smoother->kind == SPMV_PC_FUNCTION) {
    add(p, (SpmvCycleOp){SPMV_CYCLE_APPLY, level, SPMV_CYCLE_NONE, op.b, SPMV_CYCLE_Z, 0, up, 0});
    op.b = SPMV_CYCLE_Z;
  }
  /* the second step from a zero guess: x_(k-1) is zero */
  if (number == 1 && p->zero[level] < 0) op.adds = 0;
  add(p, op);
  p->now[level]  = op.out;
  p->zero[level] = p->zero[level] > 0 ? -1 : 0;
}

static void smooth(Program *p, int level, int up)
{
  for (int i = 0; i < spmv_cycle_smoother(&p->cycle->grid[level], up)->steps; i++) add_step(p, level, up, i);
  if (p->zero[level] < 0) p->zero[level] = 0;
}

/* The bottom level: x = C b from a zero guess; x + C (b - A x) from another guess, if C replaces several levels */
static void solve_bottom(Program *p)
{
  const int   level = p->bottom;
  SpmvCycleOp op    = {SPMV_CYCLE_COARSEST, level, 0, SPMV_CYCLE_B, p->now[level], 0, 0, 0};

  if (level > 0 && !p->zero[level]) {
    add(p, (SpmvCycleOp){SPMV_CYCLE_RESIDUAL, level, p->now[level], SPMV_CYCLE_B, SPMV_CYCLE_W, 0, 0, 0});
    op.b    = SPMV_CYCLE_W;
    op.adds = 1;
  }
  add(p, op);
  p->zero[level] = 0;
}

static void visit(Program *p, int level)
{
  SpmvCycleOp restriction = {SPMV_CYCLE_RESTRICT, level, SPMV_CYCLE_W, 0, SPMV_CYCLE_B, 0, 0, 0};

  if (level == p->bottom) {
    solve_bottom(p);
    return;
  }
  smooth(p, level, 0);
  if (p->zero[level]) restriction.x = SPMV_CYCLE_B; /* the residual is b */
  else add(p, (SpmvCycleOp){SPMV_CYCLE_RESIDUAL, level, p->now[level], SPMV_CYCLE_B, SPMV_CYCLE_W, 0, 0, 0});
  add(p, restriction);
  p->zero[level - 1] = 1;
  for (int i = 0; i < p->cycle->grid[level].def.visits; i++) visit(p, level - 1);
  add(p, (SpmvCycleOp){SPMV_CYCLE_INTERPOLATE, level, p->now[level - 1], 0, p->now[level], !p->zero[level], 0, 0});
  p->zero[level] = 0;
  smooth(p, level, 1);
}

/* Makes the list for the case that the finest level begins with vector `begin`. Returns the vector that it ends
   with. */
static int whole(Program *p, int begin)
{
  memset(p->now, 0, sizeof p->now);
  memset(p->zero, 0, sizeof p->zero);
  p->ops             = 0;
  p->now[p->finest]  = begin;
  p->zero[p->finest] = 1;
  for (int i = 0; i < p->cycles; i++) visit(p, p->finest);
  return p->now[p->finest];
}

SpmvStatus spmv_cycle_program(SpmvCycle *cycle, int bottom, int finest, int cycles, SpmvCycleProgram *program,
                              SpmvExec *exec)
{
  Program   p     = {.cycle = cycle, .bottom = bottom, .finest = finest, .cycles = cycles};
  const int begin = whole(&p, SPMV_CYCLE_X0) == SPMV_CYCLE_X0 ? SPMV_CYCLE_X0 : SPMV_CYCLE_X1;

  SPMV_TRY(spmv_object_hold_zeros(&cycle->object, p.ops * (int64_t)sizeof *p.op, "operations of a cycle", &p.op, exec));
  (void)whole(&p, begin); /* ends with SPMV_CYCLE_X0, the caller's x */
  *program = (SpmvCycleProgram){p.op, p.ops};
  return SPMV_SUCCESS;
}
