/*
  gmres.h - the struct of a solver, and the functions that gmres.c calls where there is CUDA.
*/
#pragma once

#include "engine/point.h"
#include "gmres_decide.h"

SPMV_C_BEGIN

struct SpmvGmres {
  SpmvObject       object;
  SpmvGmresOptions options;
  void            *basis;  /* [restart + 1][stride] */
  int64_t          stride; /* from vector to vector: rows rounded up to a multiple of 32 */
  /* [rows]. A function as preconditioner reads t and writes u. Otherwise t is the product before M is applied, and u
     the vector that the next product takes; u is NULL on the left, where the product takes the last vector of the
     basis. */
  void                  *t, *u;
  SpmvGmresState        *state;
  double                *small; /* the arrays of the state, as laid out by gmres.c */
  SpmvRecord            *kept;  /* [2], directly before small; one is written with options.hessenberg, and ... */
  void                  *host;  /* ... then this is where both are copied to */
  double                *partial;
  double                *history;  /* [options.history] */
  SpmvGmresState         start;    /* the initial state of this solve, with the addresses of its arrays */
  int                    position; /* enqueued iterations of the cycle */
  SpmvGmresResult        last;     /* the result of the last run */
  void                  *x;        /* the caller's, as b */
  const void            *b;
  int                    started;
  struct SpmvGmresQueue *queue; /* how the host follows the solve; NULL with options.hessenberg */
  SpmvGmresInfo          info;
};

/* The slots that the device fills */
typedef struct SpmvGmresSlots {
  /* Called after the arrays are allocated. clear() frees what it made, also after a failure. */
  SpmvStatus (*prepare)(SpmvGmres *, SpmvExec *);
  /* Copies gmres->start to gmres->state, and begins a cycle */
  SpmvStatus (*start)(SpmvGmres *, int x_is_zero, SpmvExec *);
  /* Runs up to `iterations` iterations, or none; called only if the last reason is SPMV_ITERATING */
  SpmvStatus (*run)(SpmvGmres *, int64_t iterations, const SpmvTest *, SpmvRecord *, SpmvExec *);
  SpmvStatus (*solution)(SpmvGmres *, void *to, SpmvExec *);
  /* Runs a cycle, and copies that many bytes of gmres->kept to the host */
  SpmvStatus (*hessenberg)(SpmvGmres *, const SpmvTest *, void *to, int64_t bytes, SpmvExec *);
  void (*clear)(SpmvGmres *);
} SpmvGmresSlots;

extern const SpmvGmresSlots spmv_gmres_device_slots;

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
