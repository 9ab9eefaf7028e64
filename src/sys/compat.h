/* Covers the differences between PETSc 3.18 and 3.26, and between PETSc with and without CUDA: one name for each, so
   that no other file tests the version of PETSc. Each comment gives the minor version that brought the change. */
#pragma once

#include <petscmat.h>

/* Whether the parents MATSEQAIJCUSPARSE and MATMPIAIJCUSPARSE can be used. 3.20: a public function gets the current
   stream */
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  #define AIJFMT_HAVE_CUDA_PARENT 1
#else
  #define AIJFMT_HAVE_CUDA_PARENT 0
#endif

/* PETSc's functions for the device CSR of the CUDA parent; without that parent they are never called */
#if AIJFMT_HAVE_CUDA_PARENT
  #define AIJFmtCusparseGetArray(A, values)      MatSeqAIJCUSPARSEGetArray(A, values)
  #define AIJFmtCusparseGetArrayWrite(A, values) MatSeqAIJCUSPARSEGetArrayWrite(A, values)
  #define AIJFmtCusparseRestoreArray(A, values)  MatSeqAIJCUSPARSERestoreArray(A, values)
  #define AIJFmtCusparseGetValues(A, values)     MatSeqAIJGetCSRAndMemType(A, NULL, NULL, values, NULL)
  #define AIJFmtCusparseGetIJ(A, i, j)           MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, i, j)
#else
  #define AIJFmtCusparseGetArray(A, values)      (*(values) = NULL, (void)(A), PETSC_ERR_SUP)
  #define AIJFmtCusparseGetArrayWrite(A, values) (*(values) = NULL, (void)(A), PETSC_ERR_SUP)
  #define AIJFmtCusparseRestoreArray(A, values)  (*(values) = NULL, (void)(A), PETSC_ERR_SUP)
  #define AIJFmtCusparseGetValues(A, values)     (*(values) = NULL, (void)(A), PETSC_ERR_SUP)
  #define AIJFmtCusparseGetIJ(A, i, j)           (*(i) = *(j) = NULL, (void)(A), PETSC_ERR_SUP)
#endif

/* 3.26: the indices of the device CSR are PetscInt */
#if PETSC_VERSION_LT(3, 26, 0)
typedef int AIJFmtCusparseIndex;
#else
typedef PetscInt          AIJFmtCusparseIndex;
#endif

/* 3.25: MATSEQAIJ finds its diagonal entries when it needs them, no longer when it is assembled */
enum { AIJFMT_ASSEMBLY_MARKS_DIAGONAL = PETSC_VERSION_LT(3, 25, 0) };

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

#if PETSC_VERSION_LT(3, 20, 0)
  #define PetscAssertPointer(pointer, argument) PetscValidPointer(pointer, argument)
#endif

/* 3.23: the items of an options block have a pointer type of their own */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *AIJFmtOptionItems;
#else
typedef PetscOptionItems  AIJFmtOptionItems;
#endif

/* 3.23: the destructor of a container takes the address of the pointer; 3.25: as a void *.
   AIJFMT_CONTAINER_DESTRUCTOR(name, free) defines the matching one around PetscErrorCode free(void *). */
#if PETSC_VERSION_LT(3, 23, 0)
  #define AIJFMT_CONTAINER_DESTRUCTOR(name, free)                                                                      \
    static PetscErrorCode name(void *ctx) { return free(ctx); }
typedef PetscErrorCode AIJFmtDestructor(void *);
  #define AIJFmtContainerSetDestroy(container, destroy) PetscContainerSetUserDestroy(container, destroy)
#else
  #if PETSC_VERSION_LT(3, 25, 0)
typedef void            **AIJFmtContext;
  #else
typedef void *AIJFmtContext;
  #endif
typedef PetscErrorCode    AIJFmtDestructor(AIJFmtContext);
  #define AIJFMT_CONTAINER_DESTRUCTOR(name, free)                                                                      \
    static PetscErrorCode name(AIJFmtContext ctx) { return free(*(void **)ctx); }
  #define AIJFmtContainerSetDestroy(container, destroy) PetscContainerSetCtxDestroy(container, destroy)
#endif

/* 3.26: a KSP does not scale by a diagonal any more */
#if PETSC_VERSION_LT(3, 26, 0)
  #define PetscPackDiagonalScaleGet(ksp, scales) KSPGetDiagonalScale(ksp, scales)
#else
  #define PetscPackDiagonalScaleGet(ksp, scales) ((void)(ksp), *(scales) = PETSC_FALSE, PETSC_SUCCESS)
#endif

/* The destructor of the data of a product of matrices; 3.25: takes the same argument as that of a container */
#if PETSC_VERSION_LT(3, 25, 0)
  #define AIJFMT_PRODUCT_DESTRUCTOR(name, free)                                                                        \
    static PetscErrorCode name(void *ctx) { return free(ctx); }
#else
  #define AIJFMT_PRODUCT_DESTRUCTOR(name, free) AIJFMT_CONTAINER_DESTRUCTOR(name, free)
#endif

/* 3.20: handlers of logged events beside one another, and a function for the name of an event; before, one handler */
#if defined(PETSC_USE_LOG) && PETSC_VERSION_LT(3, 20, 0)
  #define PETSCPACK_ONE_LOG_HANDLER 1
typedef PetscErrorCode (*PetscPackLogHandler)(int, int, PetscObject, PetscObject, PetscObject, PetscObject);
static inline const char *PetscPackEventName(PetscLogEvent event)
{
  return petsc_stageLog->eventLog->eventInfo[event].name;
}
#else
  #define PETSCPACK_ONE_LOG_HANDLER 0
  #if PETSC_VERSION_LT(3, 20, 0) /* without a log, as in 3.20 */
    #define PetscLogEventGetName(event, name)        ((void)(event), *(name) = NULL, PETSC_SUCCESS)
    #define PetscLogLegacyCallbacksBegin(a, b, c, d) ((void)(a), (void)(b), PETSC_SUCCESS)
  #endif
static inline const char *PetscPackEventName(PetscLogEvent event)
{
  const char *name = NULL;

  return PetscLogEventGetName(event, &name) || !name ? "" : name;
}
#endif

/* A composed function of unknown arguments, for storing and looking up */
typedef void (*AIJFmtFunction)(void);

/* 3.19: MatSetUp() without preallocation inserts into a hash table, with its own table of operations */
#if PETSC_VERSION_LT(3, 19, 0)
  #define AIJFmtHashActive(A) PETSC_FALSE
#else
  #define AIJFmtHashActive(A) ((A)->hash_active)
#endif

/* A matrix has these fields only if PETSc has devices. Only places.c may use AIJFmtOffload(). */
#if defined(PETSC_HAVE_DEVICE)
  #define AIJFmtBoundToCPU(A)        ((A)->boundtocpu)
  #define AIJFmtUnbind(A)            ((A)->boundtocpu = PETSC_FALSE)
  #define AIJFmtOffload(A)           ((A)->offloadmask)
  #define AIJFmtOffloadSet(A, where) ((A)->offloadmask = (where))
#else
  #define AIJFmtBoundToCPU(A)        ((void)(A), PETSC_FALSE)
  #define AIJFmtUnbind(A)            ((void)(A))
  #define AIJFmtOffload(A)           ((void)(A), PETSC_OFFLOAD_CPU)
  #define AIJFmtOffloadSet(A, where) ((void)(A), (void)(where))
#endif

/* Flops on a device are counted only if PETSc has devices */
#if defined(PETSC_HAVE_DEVICE)
  #define AIJFmtLogGpuFlops(flops) PetscLogGpuFlops(flops)
#else
  #define AIJFmtLogGpuFlops(flops) PetscLogFlops(flops)
#endif

/* PCGAMG. 3.20: squares the graph, and orders by degree only if asked to; 3.21: makes the prolongator without the
   graph, and blocks of ASM by heavy edge matching */
#if PETSC_VERSION_LT(3, 20, 0)
  #define AIJFMT_GAMG_SQUARES        PETSC_FALSE
  #define AIJFMT_GAMG_MINIMUM_DEGREE PETSC_TRUE
#else
  #define AIJFMT_GAMG_SQUARES        PETSC_TRUE
  #define AIJFMT_GAMG_MINIMUM_DEGREE PETSC_FALSE
#endif
#if PETSC_VERSION_LT(3, 21, 0)
  #define AIJFMT_GAMG_PROLONGATOR_HAS_GRAPH 1
  #define AIJFmtGamgHem(gamg)               0
#else
  #define AIJFMT_GAMG_PROLONGATOR_HAS_GRAPH 0
  #define AIJFmtGamgHem(gamg)               ((gamg)->asm_hem_aggs)
#endif

/* 3.20: KSPSetUp() of KSPCHEBYSHEV gives options to a solver for estimates that it makes itself */
#if PETSC_VERSION_LT(3, 20, 0)
  #define AIJFmtEstimatorSetFromOptions(ksp, estimator) ((void)(ksp), (void)(estimator), PETSC_SUCCESS)
#else
  #define AIJFmtEstimatorSetFromOptions(ksp, estimator)                                                                \
    ((ksp)->setfromoptionscalled && !(estimator)->setfromoptionscalled ? KSPSetFromOptions(estimator) : PETSC_SUCCESS)
#endif

/* 3.20: nesting depth of a solver; 3.23: noise takes the matrix; 3.26: a filter of the prolongator */
#if PETSC_VERSION_LT(3, 20, 0)
  #define AIJFmtKSPNest(ksp, pc) PETSC_SUCCESS
#else
  #define AIJFmtKSPNest(ksp, pc) KSPSetNestLevel(ksp, (pc)->kspnestlevel)
#endif
#if PETSC_VERSION_LT(3, 23, 0)
  #define AIJFmtKSPNoise(A, v) KSPSetNoisy_Private(v)
#else
  #define AIJFmtKSPNoise(A, v) KSPSetNoisy_Private(A, v)
#endif
#if PETSC_VERSION_LT(3, 26, 0)
  #define AIJFmtGamgFilters(gamg) ((void)(gamg), 0)
#else
  #define AIJFmtGamgFilters(gamg) ((gamg)->prolongator_filter > 0)
#endif

/* 3.19: a solver option makes negative curvature a success; 3.20: a minimum number of iterations */
#if PETSC_VERSION_LT(3, 19, 0)
  #define AIJFmtKSPIndefinite(ksp) KSP_DIVERGED_INDEFINITE_MAT
#else
  #define AIJFmtKSPIndefinite(ksp) ((ksp)->converged_neg_curve ? KSP_CONVERGED_NEG_CURVE : KSP_DIVERGED_INDEFINITE_MAT)
#endif
#if PETSC_VERSION_LT(3, 20, 0)
  #define AIJFmtKSPMinimum(ksp) 0
#else
  #define AIJFmtKSPMinimum(ksp) ((ksp)->min_it)
#endif

/* 3.26: the orthogonalization moved from KSPGMRES to KSP */
#if PETSC_VERSION_LT(3, 26, 0)
  #define AIJFMT_DECLARE_ORTHOGONALIZATION(f) PetscErrorCode (*f)(KSP, PetscInt)
  #define AIJFmtOrthogonalizationGet          KSPGMRESGetOrthogonalization
  #define AIJFmtOrthogonalizationClassical    KSPGMRESClassicalGramSchmidtOrthogonalization
  #define AIJFMT_CGS_REFINEMENT               KSPGMRESCGSRefinementType
  #define AIJFmtCGSRefinementGet              KSPGMRESGetCGSRefinementType
#else
  #define AIJFMT_DECLARE_ORTHOGONALIZATION(f) KSPOrthogonalizationFn *f
  #define AIJFmtOrthogonalizationGet          KSPOrthogonalizationGet
  #define AIJFmtOrthogonalizationClassical    KSPOrthogonalizationClassicalGramSchmidt
  #define AIJFMT_CGS_REFINEMENT               KSPOrthogonalizationCGSRefinementType
  #define AIJFmtCGSRefinementGet              KSPOrthogonalizationGetCGSRefinementType
#endif

/* 3.24: no user function of a PC is called before a solve; only a PC type may have one */
#if PETSC_VERSION_LT(3, 24, 0)
  #define AIJFmtPCPreSolve(pc, ksp) ((pc)->presolve ? (*(pc)->presolve)(pc, ksp) : PETSC_SUCCESS)
#else
  #define AIJFmtPCPreSolve(pc, ksp) ((void)(pc), (void)(ksp), PETSC_SUCCESS)
#endif

/* The operation creategraph. 3.21: it takes a list of rows of a block. AIJFMT_GRAPH(name, f) defines a wrapper around
   f, which always takes the list. */
#if PETSC_VERSION_LT(3, 21, 0)
typedef PetscErrorCode AIJFmtGraph(Mat, PetscBool, PetscBool, PetscReal, Mat *);
  #define AIJFMT_GRAPH(name, f)                                                                                        \
    PetscErrorCode name(Mat A, PetscBool symmetrize, PetscBool scale, PetscReal filter, Mat *graph)                    \
    {                                                                                                                  \
      return f(A, symmetrize, scale, filter, 0, NULL, graph);                                                          \
    }
  #define AIJFmtCallGraph(f, A, symmetrize, scale, filter, n, index, graph) f(A, symmetrize, scale, filter, graph)
#else
typedef PetscErrorCode AIJFmtGraph(Mat, PetscBool, PetscBool, PetscReal, PetscInt, PetscInt[], Mat *);
  #define AIJFMT_GRAPH(name, f)                                                                                        \
    PetscErrorCode name(Mat A, PetscBool symmetrize, PetscBool scale, PetscReal filter, PetscInt n, PetscInt index[],  \
                        Mat *graph)                                                                                    \
    {                                                                                                                  \
      return f(A, symmetrize, scale, filter, n, index, graph);                                                         \
    }
  #define AIJFmtCallGraph(f, A, symmetrize, scale, filter, n, index, graph)                                            \
    f(A, symmetrize, scale, filter, n, index, graph)
#endif

/* 3.20: the filter of a graph keeps diagonal edges. 3.19: blocks count as full only if all columns agree. */
#if PETSC_VERSION_LT(3, 20, 0)
  #define AIJFMT_GRAPH_FILTER SPMV_GRAPH_KEEP_ABOVE
#else
  #define AIJFMT_GRAPH_FILTER SPMV_GRAPH_KEEP_DIAGONAL
#endif
#if PETSC_VERSION_LT(3, 19, 0)
  #define AIJFMT_TAKES_SEEMINGLY_FULL 1
#else
  #define AIJFMT_TAKES_SEEMINGLY_FULL 0
#endif

/* 3.26: PCGAMG asks only for the pattern of a square, which PETSc then finds on the host, whatever the types */
#if PETSC_VERSION_LT(3, 26, 0)
  #define AIJFMT_STRUCTURE_ONLY_SQUARE 0
#else
  #define AIJFMT_STRUCTURE_ONLY_SQUARE 1
#endif
