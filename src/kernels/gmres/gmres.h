/*
  gmres.h - the struct of an engine, and the steps that the host and the device do in their own way. gmres.c checks
  arguments and has what is the same for both.
*/
#pragma once

#include "engine/point.h"
#include "gmres_decide.h"

SPMV_C_BEGIN

/* Thread blocks of the kernel of the scalar products, each with a partial sum of each: two for each multiprocessor of an
   H100 or H200 */
enum { SPMV_GMRES_DOTS_GRID = 264 };

struct SpmvGmres {
  const struct SpmvGmresSteps *steps;
  SpmvGmresOptions             options;
  SpmvSpace                    space;
  SpmvAllocator                host, device; /* hooks that made its memory, and will free it */
  void                        *block;        /* one block of memory in its space, with the arrays that follow */
  void                        *basis;        /* [restart + 1][stride] */
  int64_t                      stride;       /* between two vectors of it: rows, and at most 31 more */
  /* [rows]. A function of the preconditioner reads t and writes u; else t is the product before M, and u what the next
     product multiplies with, or NULL where that is the last vector of the basis. */
  void                  *t, *u;
  SpmvGmresState        *state; /* one; its arrays are beside it */
  double                *small; /* [SPMV_GMRES_SMALL(restart)] those arrays */
  double                *partial;
  double                *history;  /* [options.history] */
  SpmvGmresState         start;    /* of this solve, whose arrays the host knows by it */
  int                    position; /* iterations of the cycle that are enqueued */
  SpmvGmresResult        last;     /* of the last run */
  int64_t                most;     /* iterations of this solve */
  void                  *x;        /* of this solve */
  const void            *b;
  int64_t                bytes;
  int                    started, run; /* whether a solve was started, and run at least once */
  struct SpmvGmresQueue *queue;        /* of the device: what the host needs to follow it */
  SpmvGmresInfo          info;
};

/* What is done on the host or on the device */
typedef struct SpmvGmresSteps {
  /* May be NULL. After the arrays were allocated; what it makes is freed by clear, also when it failed. */
  SpmvStatus (*prepare)(SpmvGmres *, SpmvExec *);
  /* The state to begin with is gmres->start; sets the one in gmres->state, and begins a cycle */
  SpmvStatus (*start)(SpmvGmres *, int x_is_zero, SpmvExec *);
  SpmvStatus (*set_test)(SpmvGmres *, const SpmvTest *, SpmvExec *);
  SpmvStatus (*first_norm)(SpmvGmres *, double *norm, SpmvExec *);
  /* Up to so many iterations, at least one; the reason of the last run was SPMV_ITERATING */
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

/* Rows of a block of M where it is applied to what a product gave (left), and to what a product takes (right); 0 elsewhere,
   and where M is a function */
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

/* Where M v of a new vector v goes, which the next product multiplies with: or, for a function on the right, v itself, as
   the function reads it. NULL on the left. */
static inline void *spmv_gmres_next(const SpmvGmres *g)
{
  if (!g->options.right) return NULL;
  return spmv_gmres_has_function(g) ? g->t : g->u;
}

/* u = M t of a function */
static inline SpmvStatus spmv_gmres_apply(const SpmvGmres *g, SpmvExec *exec)
{
  return g->options.apply(g->options.apply_ctx, g->t, g->u, exec);
}

static inline SpmvStatus spmv_gmres_product(const SpmvGmres *g, const void *p, void *w, SpmvExec *exec)
{
  return g->options.product(g->options.product_ctx, p, w, exec);
}

/* The product of iteration k and, of a function on the right, what comes before it. It gives t. */
static inline SpmvStatus spmv_gmres_multiply(const SpmvGmres *g, int k, SpmvExec *exec)
{
  return spmv_gmres_product(g, g->options.right ? g->u : spmv_gmres_vector(g, k), g->t, exec);
}

SPMV_C_END
