/* graph.h - graphs of matrices on the GPU: declarations that the graph files share */
#pragma once

#include "gamg.h"
#include "mat/impls/aij/aijfmt.h"

/* The arguments of MatCreateGraph(). index belongs to the caller. */
typedef struct {
  PetscBool symmetrize, scale;
  PetscReal filter;
  PetscInt  index_count, *index;
} AIJFmtGraphRequest;

/* A sequential matrix, in the memory where its graph is made */
typedef struct {
  SpmvExec     exec; /* on the device, or on the host */
  AIJFmtArrays a;
  void        *group;                    /* in the memory of exec; freed with the source, or NULL */
  char         reason[SPMV_MESSAGE_MAX]; /* why the source is not on the device */
} AIJFmtGraphSource;

/* The blocks of a graph, on the device or on the host: one for a sequential matrix, two for a parallel one */
typedef struct {
  int                count;
  AIJFmtGraphSource *source;   /* [count] */
  SpmvGraph         *graph[2]; /* NULL: not made yet, or on the host in others */
  const SpmvCsr     *others;
  PetscInt          *lengths[2];
} AIJFmtGraphParts;

/* Edges to vertices of other processes, on the host */
typedef struct {
  SpmvCsr      csr; /* of these arrays */
  PetscInt    *row_ptr, *col;
  PetscScalar *value;
} AIJFmtGraphOthers;

/* graph.c */
PETSC_INTERN const char     AIJFmtGraphConfused[];
PETSC_INTERN PetscErrorCode AIJFmtGraphByPetsc(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, const char reason[],
                                               Mat *graph);
PETSC_INTERN PetscErrorCode AIJFmtGraphSourceGet(Mat A, AIJFmtGraphSource *from, SpmvStatus *status);
PETSC_INTERN PetscErrorCode AIJFmtGraphSourceToHost(Mat A, AIJFmtGraphSource *from);
PETSC_INTERN PetscErrorCode AIJFmtGraphSourceRestore(Mat A, AIJFmtGraphSource *from);
PETSC_INTERN SpmvStatus     AIJFmtGraphLookAtBlocks(AIJFmtGraphSource *from, PetscInt bs, PetscBool *full,
                                                    PetscBool *confused);
PETSC_INTERN PetscErrorCode AIJFmtGraphCreateLike(Mat A, PetscInt rows, Mat *graph);
PETSC_INTERN PetscErrorCode AIJFmtGraphAssemble(AIJFmtGraphParts *p, Mat G);
PETSC_INTERN PetscErrorCode AIJFmtGraphPartsFree(AIJFmtGraphParts *p);
PETSC_INTERN SpmvStatus     AIJFmtGraphSetIndex(const AIJFmtGraphRequest *r, SpmvGraphOptions *o, SpmvExec *exec);
PETSC_INTERN SpmvStatus AIJFmtGraphMake(Mat A, const AIJFmtGraphRequest *r, AIJFmtGraphSource *from, SpmvGraph **graph);
PETSC_INTERN PetscErrorCode AIJFmtGraphSetSymmetry(Mat A, const AIJFmtGraphRequest *r, Mat graph);
PETSC_INTERN PetscErrorCode AIJFmtGraphKept(Mat A, SpmvGraph **made, Mat *graph);
PETSC_INTERN PetscErrorCode AIJFmtGraphLeave(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, Mat *graph);

/* graph_others.c */
PETSC_INTERN PetscErrorCode AIJFmtGraphOthersGet(Mat, const AIJFmtGraphRequest *, AIJFmtGraphSource *mine,
                                                 AIJFmtGraphOthers *);
PETSC_INTERN PetscErrorCode AIJFmtGraphOthersFree(AIJFmtGraphOthers *);
