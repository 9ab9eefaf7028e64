/* spgemm.c - products of sparse matrices: argument checks, memory, and the sequence of steps. */
#include "spgemm.h"
#include "device/memory.h"
#include <string.h>

enum {
  ARRAYS_MAX = 3,      /* in a block */
  KEPT_BYTES = 4 << 20 /* values between two multiplications stay allocated up to this size */
};

static const char *const kind_names[] = {"A B", "A^T B", "P^T A P", "R A R^T"};

SpmvStatus spmv_spgemm_hold(SpmvSpgemm *p, SpmvExec *exec, int count, const int64_t bytes[], const char *name,
                            void **const array[])
{
  int64_t more[ARRAYS_MAX];

  for (int i = 0; i < count; i++) more[i] = bytes[i] + 1;
  return spmv_object_hold(&p->object, exec->space, count, more, name, array, exec);
}

SpmvStatus spmv_spgemm_hold_pattern(SpmvSpgemm *p, SpmvSpgemmPattern *pattern, const char *name, SpmvExec *exec)
{
  const int64_t bytes[] = {(pattern->rows + 1) * 4, pattern->nnz * 4};
  void        **array[] = {(void **)&pattern->row_ptr, (void **)&pattern->col};

  SPMV_TRY(spmv_spgemm_hold(p, exec, 1, bytes, name, array));
  return spmv_spgemm_hold(p, exec, 1, bytes + 1, name, array + 1);
}

/* Frees columns that are a block of their own */
static void drop(SpmvSpgemm *p, int32_t **col, SpmvExec *exec)
{
  spmv_object_drop(&p->object, *col, exec);
  *col = NULL;
}

SpmvStatus spmv_spgemm_check_count(int64_t entries, const char *name, SpmvExec *exec)
{
  if (entries < INT32_MAX) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_OVERFLOW, "a product of matrices: %s is %lld, and must be below %d", name,
                   (long long)entries, INT32_MAX);
}

static SpmvStatus check_pattern(const SpmvPattern *p, SpmvExec *exec)
{
  if (p->rows < 0 || p->cols < 0 || p->nnz < 0 || !p->row_ptr || (p->nnz > 0 && !p->col))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a product of matrices: a size is negative, or an array is missing");
  if (p->space != exec->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a product of matrices: a pattern lies in another space");
  SPMV_TRY(spmv_spgemm_check_count(p->rows, "the number of rows", exec));
  SPMV_TRY(spmv_spgemm_check_count(p->cols, "the number of columns", exec));
  return spmv_spgemm_check_count(p->nnz, "the number of nonzeros", exec);
}

static SpmvStatus check_arguments(SpmvSpgemmKind kind, const SpmvPattern *a, const SpmvPattern *b, SpmvExec *exec)
{
  if ((int)kind < SPMV_SPGEMM_AB || kind > SPMV_SPGEMM_RART)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "unknown kind %d of a product of matrices", (int)kind);
  SPMV_TRY(check_pattern(a, exec));
  SPMV_TRY(check_pattern(b, exec));
  if (a->index_type != b->index_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: the index types differ", kind_names[kind]);
  const int64_t a_side = kind == SPMV_SPGEMM_ATB ? a->rows : a->cols;
  const int64_t b_side = kind == SPMV_SPGEMM_RART ? b->cols : b->rows;
  const int     square = kind == SPMV_SPGEMM_AB || kind == SPMV_SPGEMM_ATB || a->rows == a->cols;
  if (a_side != b_side || !square)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: A is %lld x %lld, the other matrix %lld x %lld", kind_names[kind],
                     (long long)a->rows, (long long)a->cols, (long long)b->rows, (long long)b->cols);
  return spmv_check_space(kind_names[kind], exec);
}

static int64_t value_bytes(const SpmvSpgemm *p, const SpmvSpgemmPattern *of)
{
  const int64_t bytes = spmv_spgemm_entries(of) * spmv_scalar_bytes(p->scalar_type);
  return spmv_arrays_bytes(1, &bytes);
}

/* Bytes of the values between two multiplications: of `inner`; and of `inner` and R^T together */
static int64_t needed_bytes(const SpmvSpgemm *p)
{
  if (p->kind == SPMV_SPGEMM_AB || p->kind == SPMV_SPGEMM_ATB) return 0;
  if (p->kind == SPMV_SPGEMM_PTAP) return value_bytes(p, &p->inner);
  return value_bytes(p, &p->inner) + value_bytes(p, &p->b);
}

static SpmvStatus multiply_patterns(SpmvSpgemm *p, SpmvExec *exec)
{
  const SpmvSpgemmSlots *s = p->slots;

  switch (p->kind) {
  case SPMV_SPGEMM_AB:
    return s->multiply(p, &p->a, &p->b, &p->c, &p->c_teams, exec);
  case SPMV_SPGEMM_ATB:
    SPMV_TRY(s->transpose(p, &p->a, &p->transposed, exec));
    return s->multiply(p, &p->transposed, &p->b, &p->c, &p->c_teams, exec);
  case SPMV_SPGEMM_PTAP:
    SPMV_TRY(s->multiply(p, &p->a, &p->b, &p->inner, &p->inner_teams, exec));
    SPMV_TRY(s->transpose(p, &p->b, &p->transposed, exec));
    return s->multiply(p, &p->transposed, &p->inner, &p->c, &p->c_teams, exec);
  default:
    SPMV_TRY(s->transpose(p, &p->b, &p->transposed, exec));
    SPMV_TRY(s->multiply(p, &p->a, &p->transposed, &p->inner, &p->inner_teams, exec));
    return s->multiply(p, &p->b, &p->inner, &p->c, &p->c_teams, exec);
  }
}

static int only_marks(const SpmvSpgemmTeams *t) { return t->mark_lanes > 0 && t->wide == 0; }

/* Frees the columns that no numeric phase reads, as marks say all that it needs of right matrices and results. Those of
   R stay, which is a left matrix, too, and those of R^T, which reorder() reads. */
static void drop_columns(SpmvSpgemm *p, SpmvExec *exec)
{
  const int three = p->kind == SPMV_SPGEMM_PTAP || p->kind == SPMV_SPGEMM_RART;

  if (!only_marks(&p->c_teams) || (three && !only_marks(&p->inner_teams))) return;
  if (p->kind != SPMV_SPGEMM_RART) drop(p, &p->b.col, exec);
  if (p->kind == SPMV_SPGEMM_ATB) drop(p, &p->a.col, exec);
  if (three) drop(p, &p->inner.col, exec);
  if (p->result.col != p->c.col) drop(p, &p->c.col, exec);
}

static SpmvStatus fill(SpmvSpgemm *p, const SpmvPattern *a, const SpmvPattern *b, SpmvExec *exec)
{
  SPMV_TRY(p->slots->copy(p, a, b, exec));
  SPMV_TRY(multiply_patterns(p, exec));
  SPMV_TRY(p->slots->result(p, exec));
  const int64_t bytes = needed_bytes(p);
  void        **array = &p->inner_scratch;
  if (bytes > 0 && bytes <= KEPT_BYTES) SPMV_TRY(spmv_spgemm_hold(p, exec, 1, &bytes, "values of A P", &array));
  drop_columns(p, exec);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_spgemm_symbolic(SpmvSpgemmKind kind, const SpmvPattern *a, const SpmvPattern *b, SpmvScalar scalar,
                                SpmvExec *exec, SpmvSpgemm **product)
{
  return spmv_spgemm_symbolic_blocks(kind, a, b, NULL, scalar, exec, product);
}

SpmvBlocks spmv_spgemm_blocks(const SpmvSpgemm *p)
{
  return p->object.space == SPMV_DEVICE ? (SpmvBlocks){p->c.block_rows, p->c.block_cols} : (SpmvBlocks){0, 0};
}

SpmvStatus spmv_spgemm_symbolic_blocks(SpmvSpgemmKind kind, const SpmvPattern *a, const SpmvPattern *b,
                                       const SpmvBlocks *known, SpmvScalar scalar, SpmvExec *exec, SpmvSpgemm **product)
{
  SPMV_TRY(
      spmv_object_create(check_arguments(kind, a, b, exec), sizeof **product, "product of matrices", exec, product));
  SpmvSpgemm *p  = *product;
  p->slots       = exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_spgemm_device_slots) : &spmv_spgemm_host_slots;
  p->kind        = kind;
  p->index_type  = a->index_type;
  p->scalar_type = scalar;
  if (known) memcpy(p->known, known, sizeof p->known);
  SPMV_OBJECT_MADE(fill(p, a, b, exec), spmv_spgemm_destroy, product);
}

void spmv_spgemm_pattern(const SpmvSpgemm *p, SpmvPattern *c) { *c = p->result; }

/* scratch has needed_bytes() bytes */
static SpmvStatus multiply_values(const SpmvSpgemm *p, const void *a, const void *b, char *scratch, void *c,
                                  SpmvExec *exec)
{
  const SpmvSpgemmSlots *s = p->slots;
  void                  *t = scratch + value_bytes(p, &p->inner);

  switch (p->kind) {
  case SPMV_SPGEMM_AB:
    return s->values(p, &p->a, a, &p->b, b, &p->c, &p->c_teams, c, exec);
  case SPMV_SPGEMM_ATB:
    return s->values(p, &p->transposed, a, &p->b, b, &p->c, &p->c_teams, c, exec);
  case SPMV_SPGEMM_PTAP:
    SPMV_TRY(s->values(p, &p->a, a, &p->b, b, &p->inner, &p->inner_teams, scratch, exec));
    return s->values(p, &p->transposed, b, &p->inner, scratch, &p->c, &p->c_teams, c, exec);
  default:
    SPMV_TRY(s->reorder(p, &p->transposed, b, t, exec));
    SPMV_TRY(s->values(p, &p->a, a, &p->transposed, t, &p->inner, &p->inner_teams, scratch, exec));
    return s->values(p, &p->b, b, &p->inner, scratch, &p->c, &p->c_teams, c, exec);
  }
}

SpmvStatus spmv_spgemm_numeric(SpmvSpgemm *p, const void *a_values, const void *b_values, void *c_values,
                               SpmvExec *exec)
{
  const int64_t bytes   = p->inner_scratch ? 0 : needed_bytes(p);
  void         *scratch = p->inner_scratch;

  exec->message[0] = '\0';
  if (exec->space != p->object.space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: the product lies in another space", kind_names[p->kind]);
  if (bytes > 0) SPMV_TRY(spmv_scratch_alloc(exec, exec->space, bytes, "values of A P", &scratch));
  if (bytes > p->scratch_bytes) p->scratch_bytes = bytes;
  const SpmvStatus status = multiply_values(p, a_values, b_values, scratch, c_values, exec);
  if (bytes > 0) spmv_scratch_free(exec, exec->space, scratch);
  return status;
}

void spmv_spgemm_info(const SpmvSpgemm *p, int64_t *bytes, int64_t *scratch_bytes, double *flops)
{
  *bytes         = p->object.bytes;
  *scratch_bytes = p->scratch_bytes;
  *flops         = 2 * p->multiplications;
}

void spmv_spgemm_destroy(SpmvSpgemm **product) { spmv_object_destroy(product); }
