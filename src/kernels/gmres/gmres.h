/*
  gmres.h - the struct of a solver, and the table of steps that host and device implement. gmres.c checks arguments and
  does what is common to both.
*/
#pragma once

#include "engine/point.h"
#include "gmres_decide.h"

SPMV_C_BEGIN

/* The most thread blocks of the kernel of the scalar products, each of which has a partial sum for each vector: two for
   each multiprocessor of an H100 or H200 */
enum { SPMV_GMRES_DOTS_GRID = 264 };

struct SpmvGmres {
  const struct SpmvGmresSteps *steps;
  SpmvGmresOptions             options;
  SpmvSpace                    space;
  SpmvAllocator                host, device; /* the hooks that allocated its memory, needed to free it */
  void                        *block;        /* one block of memory in `space`, which holds the following arrays */
  void                        *basis;        /* [restart + 1][stride] */
  int64_t                      stride;       /* from vector to vector: rows rounded up to a multiple of 32 */
  /* [rows]. A function as preconditioner reads t and writes u. Otherwise t is the product before M is applied, and u
     the vector that the next product takes; u is NULL on the left, where the product takes the last vector of the
     basis. */
  void                  *t, *u;
  SpmvGmresState        *state;
  double                *small; /* the arrays of the state, as laid out by gmres.c */
  double                *partial;
  double                *history;  /* [options.history] */
  SpmvGmresState         start;    /* the initial state of this solve, with the addresses of its arrays */
  int                    position; /* enqueued iterations of the cycle */
  SpmvGmresResult        last;     /* the result of the last run */
  int64_t                most;     /* the most iterations of this solve */
  void                  *x;        /* the caller's, as b */
  const void            *b;
  int64_t                bytes;
  int                    started, run; /* whether a solve was started, and run at least once */
  struct SpmvGmresQueue *queue;        /* device only: how the host follows the solve */
  SpmvGmresInfo          info;
};

/* The steps that host and device implement */
typedef struct SpmvGmresSteps {
  /* Called after the arrays are allocated; may be NULL. clear() frees what it made, also after a failure. */
  SpmvStatus (*prepare)(SpmvGmres *, SpmvExec *);
  /* Copies gmres->start to gmres->state, and begins a cycle */
  SpmvStatus (*start)(SpmvGmres *, int x_is_zero, SpmvExec *);
  SpmvStatus (*set_test)(SpmvGmres *, const SpmvTest *, SpmvExec *);
  SpmvStatus (*first_norm)(SpmvGmres *, double *norm, SpmvExec *);
  /* Runs up to `iterations` >= 1 iterations; called only if the last reason is SPMV_ITERATING */
  SpmvStatus (*run)(SpmvGmres *, int64_t iterations, SpmvRecord *, SpmvExec *);
  SpmvStatus (*solution)(SpmvGmres *, void *to, SpmvExec *);
  /* May be NULL */
  void (*clear)(SpmvGmres *);
} SpmvGmresSteps;

extern const SpmvGmresSteps spmv_gmres_host_steps, spmv_gmres_device_steps;

/* Rows of a block of M, or SPMV_POINT_STORED */
static inline int spmv_gmres_block(const SpmvGmres *g)
{
  return spmv_point_block(g->options.preconditioner, g->options.block_size);
}

static inline int spmv_gmres_has_function(const SpmvGmres *g) { return g->options.preconditioner == SPMV_PC_FUNCTION; }

/* The block size of M as a left preconditioner, applied to the result of a product, and as a right one, applied to the
   argument of a product; 0 on the other side, and if M is a function */
static inline int spmv_gmres_left(const SpmvGmres *g)
{
  return g->options.right || spmv_gmres_has_function(g) ? 0 : spmv_gmres_block(g);
}
static inline int spmv_gmres_right(const SpmvGmres *g)
{
  return !g->options.right || spmv_gmres_has_function(g) ? 0 : spmv_gmres_block(g);
}

static inline void *spmv_gmres_vector(const SpmvGmres *g, int j)
{
  return (char *)g->basis + (int64_t)j * g->stride * spmv_scalar_bytes(g->options.scalar_type);
}

/* On the right, where M v of a new vector v is stored for the next product. For a function on the right: where v itself
   is copied, to be read by the function. NULL on the left. */
static inline void *spmv_gmres_next(const SpmvGmres *g)
{
  if (!g->options.right) return NULL;
  return spmv_gmres_has_function(g) ? g->t : g->u;
}

/* u = M t, if M is a function */
static inline SpmvStatus spmv_gmres_apply(const SpmvGmres *g, SpmvExec *exec)
{
  return g->options.apply(g->options.apply_ctx, g->t, g->u, exec);
}

static inline SpmvStatus spmv_gmres_product(const SpmvGmres *g, const void *p, void *w, SpmvExec *exec)
{
  return g->options.product(g->options.product_ctx, p, w, exec);
}

/* t = A v_k, the product of iteration k; on the right t = A u */
static inline SpmvStatus spmv_gmres_multiply(const SpmvGmres *g, int k, SpmvExec *exec)
{
  return spmv_gmres_product(g, g->options.right ? g->u : spmv_gmres_vector(g, k), g->t, exec);
}

SPMV_C_END
