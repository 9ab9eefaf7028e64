/* factor.c - incomplete factorizations and SOR: argument checks, memory, shifts, and the steps of solves. */
#include "factor.h"
#include <math.h>
#include <string.h>

void spmv_factor_options_init(SpmvFactorOptions *o)
{
  memset(o, 0, sizeof *o);
  o->zero_pivot = o->shift_amount = 2.2e-14;
}

static const SpmvFactorSlots *slots_of(const SpmvExec *exec)
{
  return exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_factor_device_slots) : &spmv_factor_host_slots;
}

/* ---- creation ---- */

static SpmvStatus check_options(const SpmvPattern *p, SpmvScalar scalar, const SpmvFactorOptions *o, SpmvExec *exec)
{
  if ((unsigned)o->kind > SPMV_FACTOR_SOR || (unsigned)o->shift > SPMV_SHIFT_POSITIVE_DEFINITE ||
      (unsigned)scalar > SPMV_F32)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization: kind %d, shift %d or scalar type %d is unknown",
                     (int)o->kind, (int)o->shift, (int)scalar);
  if (o->node_rows < 0 || o->node_rows > SPMV_NODE_ROWS)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization: node_rows is %d, which must be 0 to %d", o->node_rows,
                     (int)SPMV_NODE_ROWS);
  if (o->blocks < 0 || o->unit_rows < 0 || (o->unit_rows > 1 && p->rows % o->unit_rows))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "a factorization in %d blocks of units of %d rows: neither may be negative, and units must divide "
                     "the %lld rows",
                     o->blocks, o->unit_rows, (long long)p->rows);
  if (o->fill && (o->kind == SPMV_FACTOR_SOR || !o->fill->row_ptr || !o->fill->col))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization with fill: it is SOR, or an array is missing");
  if (o->blocks > 1 && o->kind == SPMV_FACTOR_SOR)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "SOR in %d blocks: sweeps have one block, so set `blocks` to 1",
                     o->blocks);
  if (!(o->zero_pivot >= 0) || (o->shift == SPMV_SHIFT_NONZERO && !(o->shift_amount > 0)))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "a factorization: zero_pivot is %g, which must be at least 0, and shift_amount %g, which must be "
                     "positive if shifts are nonzero",
                     o->zero_pivot, o->shift_amount);
  if (p->space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization: the pattern must be in host memory");
  return spmv_check_space("a factorization", exec);
}

/* One block for all arrays */
static SpmvStatus hold(SpmvFactorization *f, SpmvExec *exec)
{
  const int is_icc = f->options.kind == SPMV_FACTOR_ICC, is_sor = f->options.kind == SPMV_FACTOR_SOR;
  const int is_part = spmv_factor_is_part(f), transposes = is_icc || f->options.transposes;
  const int on_device = f->object.space == SPMV_DEVICE, ordered = f->options.fill && f->options.fill->order;

  const int64_t n = f->rows, S = spmv_scalar_bytes(f->scalar), rows = 4 * n, pointers = rows + 4;
  const int64_t entries = f->info.factor_nonzeros, gathered = f->gathered + 1; /* never NULL */

  SpmvFactorRows *r = &f->factor;
  SpmvTriangle   *t = f->triangle;
  const struct {
    void   *array; /* the address of a pointer */
    int64_t bytes;
  } wanted[] = {{&r->row_ptr, pointers},
                {&r->col, 4 * entries},
                {&r->diagonal, rows},
                {&r->source, is_part ? 4 * entries : 0},
                {&r->a_first, is_part ? rows : 0},
                {&r->a_end, is_part ? rows : 0},
                {&r->order, ordered ? rows : 0},
                {&r->row_at, ordered ? rows : 0},
                {&r->entries, S * entries},
                {&r->inverse, S * n},
                {&r->nodes.first, r->nodes.most ? rows : 0},
                {&r->nodes.blocks, S * n * r->nodes.most},
                {&t[SPMV_LOWER].row, is_icc ? 0 : rows},
                {&t[SPMV_LOWER].row_ptr, is_icc ? 0 : pointers},
                {&t[SPMV_UPPER].row, rows},
                {&t[SPMV_UPPER].row_ptr, pointers},
                {&t[SPMV_UPPER_T].row, transposes ? rows : 0},
                {&t[SPMV_UPPER_T].row_ptr, transposes ? pointers : 0},
                {&t[SPMV_LOWER_T].row, transposes && !is_icc ? rows : 0},
                {&t[SPMV_LOWER_T].row_ptr, transposes && !is_icc ? pointers : 0},
                {&f->col, 4 * gathered},
                {&f->from, 4 * gathered},
                {&f->values, S * gathered},
                {&f->kept, is_sor ? S * n : 0},
                {&f->turns, on_device ? SPMV_TURNS_BYTES : 0},
                {&f->mail, on_device ? 2 * S * n : 0}};
  enum { ARRAYS = sizeof wanted / sizeof *wanted };
  int64_t bytes[ARRAYS];
  void  **array[ARRAYS];

  for (int i = 0; i < ARRAYS; i++) {
    bytes[i] = wanted[i].bytes;
    array[i] = (void **)wanted[i].array;
  }
  SPMV_TRY(
      spmv_object_hold(&f->object, f->object.space, ARRAYS, bytes, "a factorization", (void **const *)array, exec));
  f->info.bytes = f->object.bytes;
  if (!ordered) r->row_at = spmv_factor_needs(f)->row;
  if (!is_part) {
    r->a_first = r->row_ptr;
    r->a_end   = r->row_ptr + 1;
  }
  return SPMV_SUCCESS;
}

SpmvStatus spmv_factor_hold(SpmvFactorization *f, const SpmvPattern *p, const SpmvFactorSize *size, SpmvExec *exec)
{
  const int is_icc = f->options.kind == SPMV_FACTOR_ICC;

  f->info.rows            = p->rows;
  f->info.nonzeros        = p->nnz;
  f->info.factor_nonzeros = is_icc ? p->rows + size->upper : size->kept;
  f->gathered             = is_icc ? 2 * size->upper : (f->options.transposes ? 2 : 1) * (size->kept - p->rows);
  return hold(f, exec);
}

static SpmvStatus fill(SpmvFactorization *f, const SpmvPattern *p, SpmvScalar scalar, const SpmvFactorOptions *o,
                       SpmvExec *exec)
{
  f->options       = *o;
  f->scalar        = scalar;
  f->info.zero_row = -1;
  f->rows          = (int32_t)p->rows; /* the analysis refuses what does not fit */
  f->division      = (SpmvDivision){f->rows, o->blocks > 1 ? o->blocks : 1, o->unit_rows > 1 ? o->unit_rows : 1};
  if (o->kind == SPMV_FACTOR_SOR) { /* there is nothing to shift or to transpose */
    f->options.shift      = SPMV_SHIFT_NONE;
    f->options.transposes = 0;
    if (o->node_rows > 1) f->factor.nodes.most = o->node_rows;
    else f->options.zero_pivot = 0; /* only a diagonal entry that is zero is an error */
  }
  const SpmvStatus status =
      o->fill ? spmv_factor_analyse_filled(f, p, slots_of(exec), exec) : slots_of(exec)->analyse(f, p, exec);
  f->options.fill = NULL; /* which the caller may free now */
  return status;
}

SpmvStatus spmv_factor_create(const SpmvPattern *p, SpmvScalar scalar, const SpmvFactorOptions *o, SpmvExec *exec,
                              SpmvFactorization **out)
{
  SPMV_TRY(spmv_object_create(check_options(p, scalar, o, exec), sizeof **out, "factorization", exec, out));
  SPMV_OBJECT_MADE(fill(*out, p, scalar, o, exec), spmv_factor_destroy, out);
}

void spmv_factor_destroy(SpmvFactorization **f) { spmv_object_destroy(f); }

void spmv_factor_info(const SpmvFactorization *f, SpmvFactorInfo *info) { *info = f->info; }

static SpmvStatus check_call(const SpmvFactorization *f, int arrays, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != f->object.space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization lies in another space than exec");
  if (!arrays && f->rows > 0) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization: an array is missing");
  return SPMV_SUCCESS;
}

/* ---- numbers ---- */

/* The part of the shift of SPMV_SHIFT_POSITIVE_DEFINITE that makes A diagonally dominant: it lies between `low`, which was
   too little, and `high`, in at most SHIFTS_MAX bisections */
typedef struct {
  double low, high;
} Bracket;

enum { SHIFTS_MAX = 5 };

/* Chooses the next shift after a pivot that was too small, by PETSc's rules; returns 0 if there is none */
static int raise_shift(const SpmvFactorization *f, Bracket *b, SpmvAttempt *a)
{
  const int64_t tried = f->info.shifts;

  a->find_top = tried == 0 && f->options.shift == SPMV_SHIFT_POSITIVE_DEFINITE;
  if (f->options.shift == SPMV_SHIFT_NONE || !isfinite(f->info.shift)) return 0;
  if (f->options.shift == SPMV_SHIFT_NONZERO) {
    a->amount = tried ? 2 * a->amount : f->options.shift_amount;
    return isfinite(a->amount);
  }
  if (tried == SHIFTS_MAX) a->fraction = b->high;
  else {
    b->low      = a->fraction;
    a->fraction = (b->high + b->low) / 2;
  }
  return tried <= SHIFTS_MAX;
}

/* After a success ILU looks for a smaller shift, until SHIFTS_MAX; returns 0 at the end */
static int lower_shift(const SpmvFactorization *f, Bracket *b, SpmvAttempt *a)
{
  if (f->options.kind != SPMV_FACTOR_ILU || !(a->fraction > 0) || f->info.shifts >= SHIFTS_MAX) return 0;
  b->high     = a->fraction;
  a->fraction = (b->high + b->low) / 2;
  a->find_top = 0;
  return 1;
}

/* The message says the pivot, which is read back */
static SpmvStatus explain_pivot(SpmvFactorization *f, SpmvExec *exec)
{
  const int64_t row   = f->info.zero_row;
  double        pivot = 0;
  float         small = 0;
  int32_t       at    = 0;

  if (f->factor.nodes.blocks)
    return spmv_fail(exec, SPMV_ERR_MATRIX, "the diagonal block of the node from row %lld on is singular",
                     (long long)row);
  SPMV_TRY(spmv_copy(&at, SPMV_HOST, f->factor.diagonal + row, exec->space, sizeof at, exec));
  SPMV_TRY(spmv_stream_wait(exec));
  if (f->scalar == SPMV_F32)
    SPMV_TRY(spmv_copy(&small, SPMV_HOST, (float *)f->factor.entries + at, exec->space, sizeof small, exec));
  else SPMV_TRY(spmv_copy(&pivot, SPMV_HOST, (double *)f->factor.entries + at, exec->space, sizeof pivot, exec));
  SPMV_TRY(spmv_stream_wait(exec));
  f->info.zero_pivot = f->scalar == SPMV_F32 ? (double)small : pivot;
  return spmv_fail(exec, SPMV_ERR_MATRIX,
                   "row %lld: the pivot %g is too small (zero_pivot %g), after %lld shifts up to %g", (long long)row,
                   f->info.zero_pivot, f->options.zero_pivot, (long long)f->info.shifts, f->info.shift);
}

SpmvStatus spmv_factor_numeric(SpmvFactorization *f, const void *values, SpmvExec *exec)
{
  const SpmvFactorSlots *slots = slots_of(exec);
  SpmvAttempt            a     = {.shift = f->options.shift, .zero_pivot = f->options.zero_pivot};
  Bracket                b     = {0, 1};
  int                    again = 1;

  SPMV_TRY(check_call(f, values != NULL, exec));
  f->is_factored     = 0;
  f->info.zero_row   = -1;
  f->info.zero_pivot = f->info.shift = 0;
  f->info.shifts                     = 0;
  while (again) {
    SpmvFound found = {.zero_row = UINT32_MAX};

    SPMV_TRY(slots->attempt(f, values, &a, &found, exec));
    f->info.shift    = spmv_shift_of(&a, found.top);
    f->info.zero_row = found.zero_row == UINT32_MAX ? -1 : (int64_t)found.zero_row;
    again            = f->info.zero_row >= 0 ? raise_shift(f, &b, &a) : lower_shift(f, &b, &a);
    f->info.shifts += again;
  }
  if (f->info.zero_row >= 0) return explain_pivot(f, exec);
  SPMV_TRY(slots->gather(f, exec));
  f->is_factored = 1;
  f->info.factorizations++;
  return SPMV_SUCCESS;
}

/* ---- solves and sweeps ---- */

static SpmvStatus check_factored(const SpmvFactorization *f, int is_sor, const void *b, const void *x, SpmvExec *exec)
{
  SPMV_TRY(check_call(f, b && x, exec));
  if (is_sor != (f->options.kind == SPMV_FACTOR_SOR))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     is_sor ? "a factorization has no sweeps: make it with SPMV_FACTOR_SOR"
                            : "SPMV_FACTOR_SOR has no factors to solve with");
  if (f->is_factored) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization has no values: spmv_factor_numeric() must succeed first");
}

static SpmvStatus run(SpmvFactorization *f, int triangle, const SpmvFactorStep *step, SpmvExec *exec)
{
  return slots_of(exec)->solve(f, &f->triangle[triangle], step, exec);
}

SpmvStatus spmv_factor_solve(SpmvFactorization *f, int transposed, const void *b, void *x, SpmvExec *exec)
{
  const int      is_icc = f->options.kind == SPMV_FACTOR_ICC, by_upper = is_icc || transposed;
  SpmvFactorStep first  = {.kind = by_upper ? SPMV_STEP_SCALED : SPMV_STEP_UNIT, .b = b, .x = x};
  SpmvFactorStep second = {.kind = is_icc       ? SPMV_STEP_INNER
                                   : transposed ? SPMV_STEP_UNIT
                                                : SPMV_STEP_SCALED,
                           .b    = x,
                           .x    = x};

  SPMV_TRY(check_factored(f, 0, b, x, exec));
  if (transposed && !is_icc && !f->options.transposes)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a transposed solve with ILU needs option `transposes`");
  SPMV_TRY(run(f, by_upper ? SPMV_UPPER_T : SPMV_LOWER, &first, exec));
  SPMV_TRY(run(f, transposed && !is_icc ? SPMV_LOWER_T : SPMV_UPPER, &second, exec));
  f->info.solves++;
  return SPMV_SUCCESS;
}

/* One direction. known: b less the product with the other triangle, which then need not be computed, or NULL */
static SpmvStatus sweep(SpmvFactorization *f, int triangle, double omega, int zero_guess, const void *b,
                        const void *known, void *x, void *keep, SpmvExec *exec)
{
  const SpmvFactorStep residual = {
      .kind = SPMV_STEP_RESIDUAL, .b = b, .x = x, .kept = f->kept, .nodes = f->factor.nodes};
  SpmvFactorStep step = {
      .kind = SPMV_STEP_RELAX, .b = known, .x = x, .kept = keep, .omega = omega, .zero_guess = zero_guess};

  if (!known && zero_guess) {
    step.b     = b;
    step.nodes = f->factor.nodes;
  } else if (!known) {
    SPMV_TRY(run(f, triangle == SPMV_LOWER ? SPMV_UPPER : SPMV_LOWER, &residual, exec));
    step.b = f->kept;
  }
  return run(f, triangle, &step, exec);
}

SpmvStatus spmv_factor_sor(SpmvFactorization *f, SpmvSorSweep which, double omega, int zero_guess, const void *b,
                           void *x, SpmvExec *exec)
{
  const int both = which == SPMV_SOR_SYMMETRIC, keeps = both && zero_guess;

  SPMV_TRY(check_factored(f, 1, b, x, exec));
  if ((unsigned)which > SPMV_SOR_SYMMETRIC || (b == x && f->rows > 0))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "SOR: sweep %d is unknown, or b and x are one array", (int)which);
  if (which != SPMV_SOR_BACKWARD)
    SPMV_TRY(sweep(f, SPMV_LOWER, omega, zero_guess, b, NULL, x, keeps ? f->kept : NULL, exec));
  if (which != SPMV_SOR_FORWARD)
    SPMV_TRY(sweep(f, SPMV_UPPER, omega, zero_guess && !both, b, keeps ? f->kept : NULL, x, NULL, exec));
  f->info.sweeps++;
  return SPMV_SUCCESS;
}
