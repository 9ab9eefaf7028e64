/*
  aggdevice.h - private declarations of the GAMG type aggdevice

    PCSetUp() of PCGAMG, createdefaultdata() (aggdevice_nearnull.c: agg's near-null space) and then on each level:
      creategraph()     aggdevice_graph.c: agg's MatCreateGraph(); the graph stays on the GPU
      coarsen()         aggdevice_coarsen.c: aggregates by src/kernels/aggregate
      prolongator()     aggdevice_prolongator.c: P0 and the near-null space of the next level
      optprolongator()  aggdevice_smooth.c, aggdevice_smooth_parallel.c: P; aggdevice_eigenvalue.c
      createlevel()     PCGAMG's own

  If coarsen() leaves a level to agg, agg does all later steps of that level, too.
*/
#pragma once

#include <petscpack.h>
#include <spmv_aggregate.h>
#include "gamg.h"
#include "sys/private.h"

/* agg's own operations, called by ours */
typedef struct {
  struct _PCGAMGOps ops;
  AIJFmtFunction    setter[5]; /* of the options below, in their order; NULL: this version of PETSc has none */
} AggDevParent;

/* The options set on agg, which has no getters */
typedef struct {
  PetscInt  aggressive_levels, mis_k, smooths;
  PetscBool square, minimum_degree;
} AggDevOptions;

typedef struct {
  AggDevParent  agg;
  AggDevOptions options;
  SpmvExec      exec; /* of the level */
  /* Between creategraph() and coarsen() */
  Mat        level;  /* whose graph it is */
  SpmvGraph *graph;  /* NULL: the graph is a matrix; on several processes: of the own vertices, ... */
  PetscInt  *beyond; /* ... and row pointers of the edges to others, on the host */
  PetscBool  ours;   /* after coarsen(): the level is not left to agg */
  /* Between coarsen() and prolongator() */
  int32_t       *aggregate; /* [vertices], in the space of exec */
  PetscInt       vertices;
  SpmvAggregates found;
  /* Between prolongator() and coarsen() of the next level: its near-null space, unless that is in gamg->data */
  void    *near;
  SpmvExec near_exec;
  /* Between prolongator() and optprolongator() */
  PetscBool  p0_there; /* P0 is in p0, not in a matrix; on several processes: its local rows */
  char      *p0_block; /* owns the arrays of p0 */
  SpmvCsr    p0;
  SpmvBlocks p0_blocks;

  PCGAMGAggDeviceInfo info;
  char                reason[SPMV_MESSAGE_MAX];          /* returned in info.reason */
  char                estimate_reason[SPMV_MESSAGE_MAX]; /* likewise */
} PC_AggDevice;

/* A prolongator on the device: P0, or the result of a smoothing step */
typedef struct {
  SpmvCsr     csr;
  SpmvSpgemm *product; /* gave the pattern of csr, or NULL */
  void       *values;  /* of the product */
} AggDevSmoothed;

/* aggdevice_state.c */
PETSC_INTERN PetscErrorCode AggDevGet(PC, PC_AggDevice **);
PETSC_INTERN PetscErrorCode AggDevCompose(PC, PC_AggDevice *);
PETSC_INTERN PetscErrorCode AggDevForgetLevel(PC_AggDevice *);
PETSC_INTERN PetscErrorCode AggDevForgetGraph(PC_AggDevice *);
PETSC_INTERN PetscErrorCode AggDevForgetTentative(PC_AggDevice *);

/* aggdevice_create.c */
PETSC_INTERN PetscErrorCode AggDevRegister(void);

/* aggdevice_options.c */
PETSC_INTERN PetscErrorCode AggDevOptionsInit(PC, PC_AggDevice *);
PETSC_INTERN PetscErrorCode AggDevOptionsRead(PC, PC_AggDevice *);

/* aggdevice_graph.c */
PETSC_INTERN PetscErrorCode AggDevGraph(PC, Mat, Mat *);
PETSC_INTERN PetscErrorCode AggDevGraphToMatrix(PC, PC_AggDevice *, Mat *);

/* aggdevice_coarsen.c */
PETSC_INTERN PetscErrorCode AggDevWhyAgg(PC, const char **why);
PETSC_INTERN PetscErrorCode AggDevCoarsen(PC, Mat *, PetscCoarsenData **);

/* aggdevice_nearnull.c */
PETSC_INTERN PetscErrorCode AggDevNearDefault(PC, Mat);
PETSC_INTERN PetscErrorCode AggDevDataToHost(PC, PC_AggDevice *);
PETSC_INTERN PetscErrorCode AggDevNearGet(PC, PC_AggDevice *, Mat, const void **near, void **copy, SpmvStatus *);
PETSC_INTERN PetscErrorCode AggDevNearLeave(PC, PC_AggDevice *, void **coarse, PetscInt columns, PetscInt n);

/* aggdevice_prolongator.c */
PETSC_INTERN PetscErrorCode AggDevSetTypeLike(Mat A, Mat P);
PETSC_INTERN PetscErrorCode AggDevTentativeToMatrix(Mat P, const SpmvCsr *p0, SpmvExec *);
#if AIJFMT_GAMG_PROLONGATOR_HAS_GRAPH
PETSC_INTERN PetscErrorCode AggDevProlongator(PC, Mat, Mat, PetscCoarsenData *, Mat *);
#else
PETSC_INTERN PetscErrorCode AggDevProlongator(PC, Mat, PetscCoarsenData *, Mat *);
#endif

/* aggdevice_smooth.c */
PETSC_INTERN SpmvStatus     AggDevSmoothStep(double omega, const void *diagonal, const SpmvCsr *A, const SpmvCsr *from,
                                             const SpmvCsr *p0, const SpmvBlocks *known, AggDevSmoothed *to, SpmvExec *);
PETSC_INTERN void           AggDevSmoothedFree(AggDevSmoothed *, SpmvExec *);
PETSC_INTERN PetscErrorCode AggDevSmoothLog(const AggDevSmoothed *);
PETSC_INTERN PetscErrorCode AggDevToMatrix(Mat P, const SpmvCsr *mine, const SpmvCsr *others, SpmvExec *);
PETSC_INTERN PetscErrorCode AggDevOptProlongator(PC, Mat, Mat *);

/* aggdevice_eigenvalue.c; diagonal: of A, and in device memory, or NULL */
PETSC_INTERN PetscErrorCode AggDevLargestGet(PC, PC_AggDevice *, Mat A, const void *diagonal, PetscReal *);

/* aggdevice_smooth_parallel.c */
PETSC_INTERN PetscErrorCode AggDevOthersSmooth(const PC_AggDevice *, Mat A, Mat P, double omega, const void *diagonal,
                                               AggDevSmoothed *, SpmvExec *, SpmvStatus *);

PETSC_INTERN PetscLogEvent AggDev_Coarsen, AggDev_Prolongator, AggDev_Smooth;
