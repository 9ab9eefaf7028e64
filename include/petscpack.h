/*
  petscpack.h - packed sparse-matrix types for PETSc, and solvers and preconditioners that run on the GPU

  The names below are values of MatType, KSPType, PCType and PCGAMGType: pass them to MatSetType(), MatConvert(),
  KSPSetType(), PCSetType() or PCGAMGSetType(), or give them to -mat_type, -ksp_type, -pc_type or -pc_gamg_type. A
  program includes this header only if it uses these macros, calls PetscPackInitializePackage(), or sets and gets
  options from C.
*/
#pragma once

#include <petscksp.h>

/* Each type has three names: for any communicator, for one process, and for several. The plugin checks at compile time
   that they match the rows of src/mat/impls/aij/types.def. */
#define MATAIJCRSV    "aijcrsv"
#define MATSEQAIJCRSV "seqaijcrsv"
#define MATMPIAIJCRSV "mpiaijcrsv"
#define MATAIJFOLD    "aijfold"
#define MATSEQAIJFOLD "seqaijfold"
#define MATMPIAIJFOLD "mpiaijfold"
#define MATAIJRBP     "aijrbp"
#define MATSEQAIJRBP  "seqaijrbp"
#define MATMPIAIJRBP  "mpiaijrbp"

#define MATAIJCODSELL    "aijcodsell"
#define MATSEQAIJCODSELL "seqaijcodsell"
#define MATMPIAIJCODSELL "mpiaijcodsell"

/* Chooses, for each sequential block, the fastest format or the parent type */
#define MATAIJAUTO    "aijauto"
#define MATSEQAIJAUTO "seqaijauto"
#define MATMPIAIJAUTO "mpiaijauto"

/* KSPCG with its iterations on the GPU */
#define KSPCGDEVICE "cgdevice"

/* KSPGMRES with its iterations on the GPU */
#define KSPGMRESDEVICE "gmresdevice"

/* KSPRICHARDSON with its iterations on the GPU */
#define KSPRICHARDSONDEVICE "richardsondevice"

/* PCGAMGAGG with aggregates and tentative prolongator made on the GPU, for PCGAMGSetType() */
#define PCGAMGAGGDEVICE "aggdevice"

/* PCMG and PCGAMG with their cycles on the GPU, for PCSetType() */
#define PCMGDEVICE   "mgdevice"
#define PCGAMGDEVICE "gamgdevice"

/* LU and Cholesky by NVIDIA's library cuDSS, for PCFactorSetMatSolverType(); the name is that of PETSc's own, later type */
#if !defined(MATSOLVERCUDSS)
  #define MATSOLVERCUDSS "cudss"
#endif
/* ILU and ICC of sequential AIJ matrices on the GPU, for PCFactorSetMatSolverType() */
#define MATSOLVERPETSCPACK "petscpack"

/* How the iterations of KSPCGDEVICE, KSPRICHARDSONDEVICE and KSPGMRESDEVICE run, for KSPDeviceSetMode() */
typedef enum {
  KSP_DEVICE_AUTO,
  KSP_DEVICE_HOST,      /* the solve of the type of PETSc */
  KSP_DEVICE_CHUNK,     /* kernels launched one by one, several iterations ahead of the host */
  KSP_DEVICE_GRAPH,     /* CUDA graphs of several iterations */
  KSP_DEVICE_PERSISTENT /* one kernel for all iterations; not of KSPGMRESDEVICE */
} KSPDeviceMode;
PETSC_EXTERN const char *const KSPDeviceModes[];

/* The precision of the products in KSPCGDEVICE, for KSPCGDeviceSetPrecision() */
typedef enum {
  KSP_CGDEVICE_DOUBLE, /* that of PetscScalar */
  KSP_CGDEVICE_MIXED   /* of a copy of the matrix in single precision, with corrections by the true residual */
} KSPCGDevicePrecision;
PETSC_EXTERN const char *const KSPCGDevicePrecisions[];

/* Filled by KSPDeviceGetInfo() */
typedef struct {
  KSPDeviceMode        used;   /* mode of the last solve; KSP_DEVICE_AUTO before the first */
  const char          *reason; /* why the last solve ran on the host; "" if it did not */
  PetscInt             solves_device, solves_host;
  PetscInt             graphs;      /* CUDA graphs captured */
  PetscInt             conversions; /* plans or device CSRs made by the solver for matrices without one */
  PetscInt             refreshes;   /* updates of the values of these plans and CSRs */
  PetscBool            nccl;        /* the last solve exchanged data between processes by NCCL */
  KSPCGDevicePrecision precision;   /* precision of the last solve at its end */
  PetscInt             corrections; /* residual corrections of the last solve in mixed precision */
  PetscLogDouble       bytes;       /* device memory held by the solver */
  PetscInt             cycles;      /* multigrid cycles on the device */
  PetscInt             set_ups;     /* number of times that data of a multigrid hierarchy was copied to the device */
} KSPDeviceInfo;

/* Filled by PCGAMGAggDeviceGetInfo(): counts of coarsened levels since the type was set */
typedef struct {
  PetscInt    levels_device, levels_host; /* aggregated by petscpack, on the GPU or on the host */
  PetscInt    prolongators_device;        /* of these levels: prolongator smoothed on the GPU */
  PetscInt    prolongators_agg;           /* smoothed by agg */
  PetscInt    levels_agg;                 /* aggregated by PETSc's agg */
  const char *reason; /* why agg served the last level or prolongator; "" if none. The PC owns the text. */
  PetscInt    estimates_device, estimates_petsc; /* of the largest eigenvalue, for prolongators not smoothed by agg */
  const char *estimate_reason;                   /* why PETSc did the last of its estimates; "" if it did none */
} PCGAMGAggDeviceInfo;

/* Filled by KSPChebyshevDeviceGetInfo(): estimates of eigenvalues */
typedef struct {
  PetscInt    device, petsc; /* on the device, and by a solver of PETSc although there is a device */
  const char *reason;        /* why PETSc did the last of its estimates; "" if it did none. The KSP owns the text. */
} KSPChebyshevDeviceInfo;

/* Filled by PCMGDeviceGetInfo(): counts of applications since the type was set, without those inside KSPCGDEVICE */
typedef struct {
  PetscInt       applies_device; /* cycles on the GPU: one per column (PCMatApply()) and per Richardson step */
  PetscInt       applies_petsc;  /* applications by PCMG */
  const char    *reason;  /* why PCMG serves the last or the next application; "" if the GPU does. Owned by the PC */
  PetscInt       set_ups; /* number of times that data of PETSc's hierarchy was copied */
  PetscLogDouble bytes;   /* GPU memory of the cycle */
  PetscBool      single;  /* the cycle is in single precision */
} PCMGDeviceInfo;

/* Filled by MatAIJFmtGetInfo(). Every field is a sum over the sequential blocks of the matrix: a sequential matrix is
   one block; a parallel matrix has two on every process, the diagonal and the off-diagonal block. Bytes and nonzeros
   count converted blocks only. Times are in seconds, maximum over the processes. */
typedef struct {
  PetscLogDouble blocks;               /* sequential blocks */
  PetscLogDouble blocks_converted;     /* blocks that hold packed arrays */
  PetscLogDouble blocks_on_gpu;        /* converted blocks whose packed arrays are on the GPU */
  PetscLogDouble blocks_declined;      /* blocks left to the parent type because of their pattern */
  PetscLogDouble nonzeros;             /* nonzeros of the converted blocks */
  PetscLogDouble conversions;          /* number of times that pattern and values were packed */
  PetscLogDouble refreshes;            /* number of times that only the values were packed again */
  PetscLogDouble products;             /* A x by the format */
  PetscLogDouble products_transposed;  /* A^T x by the format */
  PetscLogDouble fallbacks;            /* A x by the parent type */
  PetscLogDouble fallbacks_transposed; /* A^T x by the parent type */
  PetscLogDouble graphs;               /* graphs that MatCreateGraph() made on the GPU ... */
  PetscLogDouble fallbacks_graph;      /* ... and that PETSc made although there is a GPU */
  PetscLogDouble patterns;             /* symbolic products with this matrix as first factor on the GPU ... */
  PetscLogDouble fallbacks_pattern;    /* ... and on the host */
  PetscLogDouble numeric;              /* values of these products computed on the GPU ... */
  PetscLogDouble fallbacks_numeric;    /* ... and on the host, because the GPU could not */
  PetscLogDouble lists;                /* lists of coordinates that the GPU sorted, also those of products ... */
  PetscLogDouble fallbacks_list;       /* ... and that the host sorted or sums */
  PetscLogDouble transposes;           /* results of MatTranspose() made or renewed on the GPU ... */
  PetscLogDouble fallbacks_transpose;  /* ... and on the host */
  PetscLogDouble sweeps;               /* calls of MatSOR() on the GPU ... */
  PetscLogDouble fallbacks_sweep;      /* ... and on the host */
  PetscLogDouble bytes;                /* all packed arrays */
  PetscLogDouble values_bytes, indices_bytes, pointers_bytes; /* bytes by kind of array */
  PetscLogDouble padding_bytes;                               /* part of values_bytes that holds no nonzero */
  PetscLogDouble own_bytes;            /* part of bytes that is not borrowed from the parent's arrays */
  PetscLogDouble work_bytes;           /* scratch space of a product */
  PetscLogDouble csr_bytes;            /* CSR arrays of the converted blocks */
  PetscLogDouble device_csr_bytes;     /* CSR arrays that the parent type also keeps on the GPU, of all blocks */
  PetscLogDouble shared_csr_bytes;     /* CSR arrays of the host in memory that the GPU shares, where it reads them */
  PetscLogDouble blocks_values_on_gpu; /* blocks with current values in the device CSR ... */
  PetscLogDouble blocks_values_on_host, blocks_values_packed; /* ... in the host CSR, and in the packed arrays */
  PetscLogDouble convert_time, refresh_time;
} MatAIJFmtInfo;

/* How cuDSS factors, from the next symbolic factorization on: MatCuDSSSetOptions() */
typedef struct {
  PetscBool deterministic; /* the same bits in each run */
  PetscInt  ir_n_steps;    /* of iterative refinement in each solve */
  PetscReal memory_limit;  /* of the GPU, in MiB; 0: what is free */
} MatCuDSSOptions;

/* Filled by MatCuDSSGetInfo(). Counts are of what cuDSS did, by this process: of several, the first factors. */
typedef struct {
  PetscBool      on_device; /* the last factorization was made by cuDSS */
  const char    *reason;    /* why PETSc factors the matrix; "" if it does not. The factor owns the text. */
  const char    *kind;      /* LU, LDL^T or Cholesky; "" before the first one and on the host */
  PetscInt       symbolic, numeric, solves;
  PetscInt       fallbacks;       /* changes to PETSc's package after an analysis by cuDSS */
  PetscInt64     replaced_pivots; /* of the last factorization */
  PetscInt64     factor_nonzeros;
  PetscLogDouble bytes;  /* GPU memory of the factor */
  PetscBool      hybrid; /* the factor is in the host's memory in part */
} MatCuDSSInfo;

/* Filled by MatIncompleteGetInfo() */
typedef struct {
  PetscBool      on_device; /* the last factorization is on the GPU */
  const char    *reason;    /* why PETSc's package has made it; "" if it has not. The factor owns the text. */
  PetscInt       symbolic, numeric, solves; /* on the GPU */
  PetscInt       solves_host;
  PetscInt       blocks; /* of rows, set by MatIncompleteSetBlocks() or -mat_incomplete_blocks */
  PetscInt       shifts; /* of the last factorization on the GPU, ... */
  PetscReal      shift;  /* ... and what they have added to the diagonal */
  PetscInt64     factor_nonzeros;
  PetscLogDouble bytes; /* GPU memory of the factor */
} MatIncompleteInfo;

PETSC_EXTERN PetscErrorCode PetscPackInitializePackage(void);
PETSC_EXTERN PetscErrorCode PetscPackFinalizePackage(void);
PETSC_EXTERN PetscErrorCode PetscPackSetNCCL(const char nccl[]);
PETSC_EXTERN PetscErrorCode PetscPackGetNCCL(const char *nccl[]);
PETSC_EXTERN PetscErrorCode PetscPackSetCuDSS(const char cudss[]);
PETSC_EXTERN PetscErrorCode PetscPackGetCuDSS(const char *cudss[]);
PETSC_EXTERN PetscErrorCode PetscPackSetDeviceKeep(PetscInt64 bytes);
PETSC_EXTERN PetscErrorCode PetscPackGetDeviceKeep(PetscInt64 *bytes);
PETSC_EXTERN PetscErrorCode PetscPackReplaceType(const char type[], PetscBool replace);
PETSC_EXTERN PetscErrorCode PetscPackReplacePackage(const char package[], PetscBool replace);

PETSC_EXTERN PetscErrorCode MatAIJFmtSetOption(Mat, const char[], const char[]);
PETSC_EXTERN PetscErrorCode MatAIJFmtGetOption(Mat, const char[], char[], size_t);
PETSC_EXTERN PetscErrorCode MatAIJFmtGetInfo(Mat, MatAIJFmtInfo *);
PETSC_EXTERN PetscErrorCode MatAIJAutoGetFormat(Mat, const char *[]);
PETSC_EXTERN PetscErrorCode MatCuDSSGetInfo(Mat, MatCuDSSInfo *);
PETSC_EXTERN PetscErrorCode MatIncompleteGetInfo(Mat, MatIncompleteInfo *);
PETSC_EXTERN PetscErrorCode MatIncompleteSetBlocks(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatCuDSSSetOptions(Mat, const MatCuDSSOptions *);
PETSC_EXTERN PetscErrorCode MatCuDSSGetOptions(Mat, MatCuDSSOptions *);

PETSC_EXTERN PetscErrorCode KSPDeviceSetMode(KSP, KSPDeviceMode);
PETSC_EXTERN PetscErrorCode KSPDeviceGetMode(KSP, KSPDeviceMode *);
PETSC_EXTERN PetscErrorCode KSPDeviceGetInfo(KSP, KSPDeviceInfo *);
PETSC_EXTERN PetscErrorCode KSPCGDeviceSetPrecision(KSP, KSPCGDevicePrecision);
PETSC_EXTERN PetscErrorCode KSPCGDeviceGetPrecision(KSP, KSPCGDevicePrecision *);

PETSC_EXTERN PetscErrorCode KSPChebyshevDeviceGetInfo(KSP, KSPChebyshevDeviceInfo *);
PETSC_EXTERN PetscErrorCode PCGAMGAggDeviceGetInfo(PC, PCGAMGAggDeviceInfo *);
PETSC_EXTERN PetscErrorCode PCMGDeviceGetInfo(PC, PCMGDeviceInfo *);
PETSC_EXTERN PetscErrorCode PCMGDeviceSetSinglePrecision(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCMGDeviceSetCompare(PC, PetscBool);
