/*
  petscpack.h - packed sparse-matrix types for PETSc, and a solver on the GPU

  The types are ordinary values of MatType, KSPType and PCType: pass them to MatSetType(), MatConvert(), KSPSetType() or PCSetType(), or name
  them by -mat_type and -ksp_type. A program needs this header only for the names, for PetscPackInitializePackage(), and
  for what sets and gets options below.
*/
#pragma once

#include <petscksp.h>

/* Three names per type: for any communicator, for one process, and for several. They follow the rows of
   src/mat/impls/seqaijfmt/types.def, which the plugin checks when it is compiled. */
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

/* The best of all formats, and of the parent type, for each sequential block */
#define MATAIJAUTO    "aijauto"
#define MATSEQAIJAUTO "seqaijauto"
#define MATMPIAIJAUTO "mpiaijauto"

/* Conjugate gradients whose iterations run on one GPU */
#define KSPCGDEVICE "cgdevice"

/* GMRES whose iterations run on one GPU */
#define KSPGMRESDEVICE "gmresdevice"

/* PCGAMG of type "agg" whose aggregates and tentative prolongator are made on the GPU, for PCGAMGSetType() */
#define PCGAMGAGGDEVICE "aggdevice"

/* PCMG and PCGAMG whose cycles run on the GPU, for PCSetType() */
#define PCMGDEVICE   "mgdevice"
#define PCGAMGDEVICE "gamgdevice"

/* How its iterations run, for KSPCGDeviceSetMode() */
typedef enum {
  KSP_CGDEVICE_AUTO,
  KSP_CGDEVICE_HOST,      /* the solve of KSPCG */
  KSP_CGDEVICE_CHUNK,     /* plain launches of kernels, some iterations ahead */
  KSP_CGDEVICE_GRAPH,     /* a CUDA graph of some iterations */
  KSP_CGDEVICE_PERSISTENT /* one kernel for all iterations */
} KSPCGDeviceMode;
PETSC_EXTERN const char *const KSPCGDeviceModes[];

/* The precision of its products, for KSPCGDeviceSetPrecision() */
typedef enum {
  KSP_CGDEVICE_DOUBLE, /* that of PetscScalar */
  KSP_CGDEVICE_MIXED   /* of a matrix that is rounded to single precision, with corrections by the true residual */
} KSPCGDevicePrecision;
PETSC_EXTERN const char *const KSPCGDevicePrecisions[];

/* What KSPCGDeviceGetInfo() tells */
typedef struct {
  KSPCGDeviceMode      used;   /* by the last solve; KSP_CGDEVICE_AUTO before the first */
  const char          *reason; /* why that was KSP_CGDEVICE_HOST; "" if it was not */
  PetscInt             solves_device, solves_host;
  PetscInt             graphs;      /* CUDA graphs that were made */
  PetscInt             conversions; /* plans or CSRs that the solver made of matrices that have none on the device */
  PetscInt             refreshes;   /* of their values */
  PetscBool            nccl;        /* of the last solve: its processes exchanged by NCCL */
  KSPCGDevicePrecision precision;   /* of the last solve, at its end */
  PetscInt             corrections; /* of its residual, in mixed precision */
  PetscLogDouble       bytes;       /* that the solver holds on the device */
  PetscInt             cycles;      /* of multigrid, done by the device */
  PetscInt             set_ups;     /* how often something of a hierarchy of multigrid was taken over to the device */
} KSPCGDeviceInfo;

/* How the iterations of KSPGMRESDEVICE run, for KSPGMRESDeviceSetMode() */
typedef enum {
  KSP_GMRESDEVICE_AUTO,
  KSP_GMRESDEVICE_HOST,  /* the solve of KSPGMRES */
  KSP_GMRESDEVICE_CHUNK, /* plain launches of kernels, some iterations ahead */
  KSP_GMRESDEVICE_GRAPH  /* CUDA graphs of some iterations each */
} KSPGMRESDeviceMode;
PETSC_EXTERN const char *const KSPGMRESDeviceModes[];

/* What PCGAMGAggDeviceGetInfo() tells: levels that were coarsened since the type was set */
typedef struct {
  PetscInt    levels_device, levels_host; /* by the aggregates of petscpack, on the GPU or without one */
  PetscInt    prolongators_device;        /* of those levels, that were smoothed on the GPU */
  PetscInt    prolongators_blocks;        /* that were smoothed block by block on several processes, where A P0 was */
  PetscInt    levels_agg;                 /* by agg ... */
  const char *reason;                     /* ... and why the last one was; "" if none was. It belongs to the PC. */
} PCGAMGAggDeviceInfo;

/* What PCMGDeviceGetInfo() tells: applications since the type was set, without those within KSPCGDEVICE */
typedef struct {
  PetscInt       applies_device; /* of the cycle on the GPU, for each column and each step of Richardson's iteration */
  PetscInt       applies_petsc;  /* by PCMG ... */
  const char    *reason;  /* ... and why the last one was, or the next one will be; "": no. It belongs to the PC. */
  PetscInt       set_ups; /* how often something was taken from PETSc's hierarchy */
  PetscLogDouble bytes;   /* on the GPU, for the cycle */
  PetscBool      single;  /* the cycle is in single precision */
} PCMGDeviceInfo;

/* What MatAIJFmtGetInfo() tells. Every field is a sum over the sequential blocks of the matrix: one for a sequential
   matrix, the diagonal and the off-diagonal block of every process for a parallel one. Bytes and nonzeros count the
   blocks that are converted. Times are in seconds and the maximum over the processes. */
typedef struct {
  PetscLogDouble blocks;               /* sequential blocks */
  PetscLogDouble blocks_converted;     /* of them, those that hold packed arrays now */
  PetscLogDouble blocks_on_gpu;        /* of those, on the GPU */
  PetscLogDouble blocks_declined;      /* blocks left to the parent type by the analysis of their pattern */
  PetscLogDouble nonzeros;             /* nonzeros of the converted blocks */
  PetscLogDouble conversions;          /* pattern and values packed anew */
  PetscLogDouble refreshes;            /* values alone packed anew */
  PetscLogDouble products;             /* A x by the format */
  PetscLogDouble products_transposed;  /* A^T x by the format */
  PetscLogDouble fallbacks;            /* A x by the parent type */
  PetscLogDouble fallbacks_transposed; /* A^T x by the parent type */
  PetscLogDouble graphs;               /* graphs of MatCreateGraph() made on the GPU, ... */
  PetscLogDouble fallbacks_graph;      /* ... and by PETSc although there is a GPU */
  PetscLogDouble patterns; /* patterns of products of matrices, with this as the first, found on the GPU, ... */
  PetscLogDouble fallbacks_pattern;                           /* ... and on the host, after the GPU could not */
  PetscLogDouble bytes;                                       /* all packed arrays */
  PetscLogDouble values_bytes, indices_bytes, pointers_bytes; /* bytes by kind of array */
  PetscLogDouble padding_bytes;                               /* part of values_bytes that holds no nonzero */
  PetscLogDouble own_bytes;            /* part of bytes that is not borrowed from the parent's arrays */
  PetscLogDouble work_bytes;           /* scratch space of a product */
  PetscLogDouble csr_bytes;            /* the CSR arrays of the same blocks */
  PetscLogDouble device_csr_bytes;     /* CSR arrays that the parent type keeps on the GPU besides, of any block */
  PetscLogDouble blocks_values_on_gpu; /* blocks whose values are current in those arrays, ... */
  PetscLogDouble blocks_values_on_host, blocks_values_packed; /* ... in the CSR of the host, and in the packed arrays */
  PetscLogDouble convert_time, refresh_time;
} MatAIJFmtInfo;

PETSC_EXTERN PetscErrorCode PetscPackInitializePackage(void);
PETSC_EXTERN PetscErrorCode PetscPackFinalizePackage(void);
PETSC_EXTERN PetscErrorCode PetscPackSetNCCL(const char nccl[]);
PETSC_EXTERN PetscErrorCode PetscPackGetNCCL(const char *nccl[]);
PETSC_EXTERN PetscErrorCode PetscPackSetDeviceKeep(PetscInt64 bytes);
PETSC_EXTERN PetscErrorCode PetscPackGetDeviceKeep(PetscInt64 *bytes);
PETSC_EXTERN PetscErrorCode PetscPackReplaceType(const char type[], PetscBool replace);

PETSC_EXTERN PetscErrorCode MatAIJFmtSetOption(Mat, const char[], const char[]);
PETSC_EXTERN PetscErrorCode MatAIJFmtGetOption(Mat, const char[], char[], size_t);
PETSC_EXTERN PetscErrorCode MatAIJFmtSetOptionNumber(Mat, const char[], double);
PETSC_EXTERN PetscErrorCode MatAIJFmtGetOptionNumber(Mat, const char[], double *);
PETSC_EXTERN PetscErrorCode MatAIJFmtGetInfo(Mat, MatAIJFmtInfo *);
PETSC_EXTERN PetscErrorCode MatAIJAutoGetFormat(Mat, const char *[]);

PETSC_EXTERN PetscErrorCode KSPCGDeviceSetMode(KSP, KSPCGDeviceMode);
PETSC_EXTERN PetscErrorCode KSPCGDeviceGetMode(KSP, KSPCGDeviceMode *);
PETSC_EXTERN PetscErrorCode KSPCGDeviceSetChunk(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPCGDeviceGetChunk(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPCGDeviceSetFormat(KSP, const char[]);
PETSC_EXTERN PetscErrorCode KSPCGDeviceGetFormat(KSP, const char *[]);
PETSC_EXTERN PetscErrorCode KSPCGDeviceSetPrecision(KSP, KSPCGDevicePrecision);
PETSC_EXTERN PetscErrorCode KSPCGDeviceGetPrecision(KSP, KSPCGDevicePrecision *);
PETSC_EXTERN PetscErrorCode KSPCGDeviceGetInfo(KSP, KSPCGDeviceInfo *);
PETSC_EXTERN PetscErrorCode KSPCGDeviceReplaceCG(PetscBool);

PETSC_EXTERN PetscErrorCode KSPGMRESDeviceSetMode(KSP, KSPGMRESDeviceMode);
PETSC_EXTERN PetscErrorCode KSPGMRESDeviceGetMode(KSP, KSPGMRESDeviceMode *);
PETSC_EXTERN PetscErrorCode KSPGMRESDeviceSetChunk(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPGMRESDeviceGetChunk(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPGMRESDeviceSetFormat(KSP, const char[]);
PETSC_EXTERN PetscErrorCode KSPGMRESDeviceGetFormat(KSP, const char *[]);

PETSC_EXTERN PetscErrorCode PCGAMGAggDeviceGetInfo(PC, PCGAMGAggDeviceInfo *);
PETSC_EXTERN PetscErrorCode PCMGDeviceGetInfo(PC, PCMGDeviceInfo *);
PETSC_EXTERN PetscErrorCode PCMGDeviceSetSinglePrecision(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCMGDeviceSetCompare(PC, PetscBool);
