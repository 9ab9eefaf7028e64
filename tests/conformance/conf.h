/*
  conf.h - what the files of the conformance test share: one combination of format, options, matrix, types, space and
  source of the CSR (ConfRun), and the steps that check it.
*/
#ifndef CONF_H
#define CONF_H

#include "csr_copy.h"
#include "hooks.h"
#include "report.h"
#include "vector.h"

/* Settings of the whole program */
typedef struct {
  CaseTier    tier;
  int         tight;                   /* see guarded_init() */
  int         papers;                  /* only the settings that reproduce papers; 0: only the others */
  const char *format, *matrix, *space; /* only this one; NULL: all */
  int64_t     memory_limit;            /* plans predicted to be larger are skipped, in bytes */
  int64_t     sample, offset;          /* of case_in_sample(); 1: all */
} ConfSettings;

typedef struct {
  const ConfSettings *settings;
  const SpmvFormat   *format;
  SpmvOptions         options;
  const Problem      *problem;
  SpmvIndex           index_type;
  SpmvSpace           space;
  CsrSource           source;
  void               *stream;
  Report             *report;

  /* while the combination is checked */
  Hooks     hooks;
  SpmvExec  exec; /* through hooks, on stream */
  SpmvPlan *plan;
} ConfRun;

/* Checks one combination from analyze to destroy */
void conf_run(ConfRun *run);

/* Prepares run->plan for transposed products, twice, and checks the memory report afterwards. Returns 1 when they may
   be called. */
int conf_prepare_transpose(ConfRun *run);

/* Checks products of run->plan, which holds values number value_set. thorough: everything that ops.def says, aligned
   and not, repeated and captured; else a plain and a general product. */
void conf_products(ConfRun *run, int value_set, int thorough);

/* conf_values.c: the values of run->plan are those of a set, in CSR order */
void conf_extract(ConfRun *run, int value_set);

/* New values from each space, then their products; the old values are given back afterwards. The buffers live until the
   caller is done with the plan, which may borrow them. */
void conf_updates(ConfRun *run, GuardedVector buffer[2][PROBLEM_VALUE_SETS]);

/* conf_step.c: steps of smoothers by run->plan, which holds its first values */
void conf_step(ConfRun *run);

/* conf_rounded.c: products with rounded values. The plan has other values afterwards. */
void conf_rounded(ConfRun *run);

/* conf_device_values.c: the calls of spmv_values.h. The plan has other values afterwards. */
void conf_device_values(ConfRun *run);

/* y = A x into result [rows] on the host, without checking its numbers */
SpmvStatus conf_plain_product(ConfRun *run, const SpmvPlan *plan, void *result);

/* A status that should be success: counts the check, and prints the text and message when it is not */
int conf_success(ConfRun *run, SpmvStatus status, const char *what);
/* The same for what the test itself prepares: only a failure counts */
int conf_ready(ConfRun *run, SpmvStatus status, const char *what);

/* ---- CUDA graphs: conf_graph.c when the build has CUDA, else conf_no_graph.c ---- */

typedef struct ConfGraph ConfGraph;

/* Captures what enqueue(ctx) puts on the stream. Forbidden calls (allocation, synchronization) make it fail. */
SpmvStatus conf_graph_capture(void *stream, SpmvStatus (*enqueue)(void *), void *ctx, ConfGraph **graph,
                              char message[SPMV_MESSAGE_MAX]);
SpmvStatus conf_graph_launch(ConfGraph *graph, void *stream, char message[SPMV_MESSAGE_MAX]);
void       conf_graph_destroy(ConfGraph **graph);

#endif
