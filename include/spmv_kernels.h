/*
  spmv_kernels.h - the C interface of libspmvpack: packed sparse-matrix formats and their product

      y = alpha A x + beta y

  The library knows raw pointers, sizes and streams. It never sees PETSc, prints nothing, never exits and keeps no
  global state that a caller can change. Three tiers of this header:

    1. use a format        SpmvExec, SpmvPattern, SpmvCsr, SpmvOptions, spmv_format_find(), the slots of SpmvFormat
    2. write a format      SpmvPlan, spmv_fail(), spmv_alloc(): see docs/adding-a-format.md
    3. devices and copies  spmv_device_count(), spmv_copy(): what a caller without a CUDA compiler needs

  Sizes are counted in elements unless a name ends in _bytes. Index arrays are 0-based. Row i of a CSR matrix owns the
  positions row_ptr[i] .. row_ptr[i+1]-1 of col and values; columns of a row ascend strictly.
*/
#ifndef SPMV_KERNELS_H
#define SPMV_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
  #define SPMV_API __attribute__((visibility("default")))
#else
  #define SPMV_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever SpmvFormat or a struct that crosses the interface changes; checked when the registry is read */
#define SPMV_ABI 2

#define SPMV_MESSAGE_MAX 256 /* bytes of an error message or a reason, with its final zero */
#define SPMV_OPTIONS_MAX 16  /* options of one format */
#define SPMV_ARRAYS_MAX  16  /* arrays of one plan */

/* --------------------------------------------------------------------------------------------- 1. use a format --- */

typedef enum {
  SPMV_SUCCESS = 0,
  SPMV_ERR_ARGUMENT,    /* a size, pointer or type that makes no sense */
  SPMV_ERR_OPTION,      /* an unknown option, or a value outside its range */
  SPMV_ERR_MATRIX,      /* the CSR arrays break their invariants */
  SPMV_ERR_MEMORY,      /* an allocation hook returned NULL */
  SPMV_ERR_OVERFLOW,    /* a count does not fit the index type of the format */
  SPMV_ERR_UNSUPPORTED, /* the format has no such operation for these types or in this space */
  SPMV_ERR_DEVICE,      /* the CUDA runtime reported an error */
  SPMV_ERR_FORMAT,      /* a row of formats.def is incomplete: a fault of the library */
  SPMV_STATUS_COUNT
} SpmvStatus;

typedef enum { SPMV_I32 = 0, SPMV_I64 = 1 } SpmvIndex;
typedef enum { SPMV_F64 = 0, SPMV_F32 = 1 } SpmvScalar;
typedef enum { SPMV_HOST = 0, SPMV_DEVICE = 1 } SpmvSpace;

/* What a format can do; the registry checks the bits against the slots */
enum {
  SPMV_CAP_HOST         = 1 << 0, /* plans in host memory */
  SPMV_CAP_DEVICE       = 1 << 1, /* plans in device memory (set only when the library was built with CUDA) */
  SPMV_CAP_DEVICE_BUILD = 1 << 2, /* build reads a CSR that lies on the device */
  SPMV_CAP_TRANSPOSE    = 1 << 3, /* multtranspose is there */
  SPMV_CAP_UPDATE       = 1 << 4, /* update_values is there */
  SPMV_CAP_BITWISE      = 1 << 5, /* the same product gives the same bits every time */
  SPMV_CAP_F32          = 1 << 6, /* single precision too */
  SPMV_CAP_I64          = 1 << 7, /* 64-bit CSR indices too */
  SPMV_CAP_BORROWS      = 1 << 8  /* the plan points into the CSR arrays: they must outlive it */
};

/* Allocation hooks. alloc returns NULL on failure; free accepts NULL. Both may be NULL: then malloc/free or
   cudaMalloc/cudaFree serve. Blocks are aligned to at least 64 bytes only when they come from the default hooks. */
typedef struct {
  void *(*alloc)(void *ctx, size_t bytes);
  void (*free)(void *ctx, void *block);
  void *ctx;
} SpmvAllocator;

/* Where work is done. Copied into a plan, so it may live on the stack; message belongs to the caller. */
typedef struct SpmvExec {
  SpmvSpace     space;                     /* memory of plans, vectors and work */
  void         *stream;                    /* a cudaStream_t; NULL is the legacy default stream */
  SpmvAllocator host, device;              /* hooks for each memory */
  char          message[SPMV_MESSAGE_MAX]; /* what went wrong, with the value and the remedy; "" after success */
} SpmvExec;

/* The pattern of a CSR matrix. row_ptr has shape [rows+1], col [nnz]; both are of index_type and lie in space. When a
   pattern on the device has its host copy too (as PETSc keeps it), host_row_ptr and host_col point there; else NULL. */
typedef struct {
  int64_t     rows, cols, nnz;
  SpmvIndex   index_type;
  SpmvSpace   space;
  const void *row_ptr, *col;
  const void *host_row_ptr, *host_col;
} SpmvPattern;

/* values has shape [nnz], in the order of pattern.col, and lies in values_space, which may not be pattern.space */
typedef struct {
  SpmvPattern pattern;
  SpmvScalar  scalar_type;
  SpmvSpace   values_space;
  const void *values;
} SpmvCsr;

typedef enum { SPMV_OPTION_INT, SPMV_OPTION_REAL, SPMV_OPTION_ENUM, SPMV_OPTION_BOOL } SpmvOptionKind;

/* One option of a format. key becomes -mat_aij<format>_<key>. An INT or REAL lies in [min, max]; an ENUM is an index
   into choices (ended by NULL); a BOOL is 0 or 1. A table of options ends with key == NULL. */
typedef struct {
  const char        *key;
  SpmvOptionKind     kind;
  double             default_value, min, max;
  const char *const *choices;
  const char        *help;
} SpmvOptionDesc;

struct SpmvFormat;

/* The values of all options of one format, by position in its table. Integers are exact up to 2^53. */
typedef struct {
  const struct SpmvFormat *format;
  double                   value[SPMV_OPTIONS_MAX];
} SpmvOptions;

typedef enum { SPMV_ARRAY_VALUES, SPMV_ARRAY_INDICES, SPMV_ARRAY_POINTERS } SpmvArrayKind;

typedef struct {
  const char   *name; /* static text: the array's name in the format's README */
  SpmvArrayKind kind;
  int64_t       bytes;
} SpmvArrayInfo;

/* The memory of a plan. total_bytes is the sum over arrays; borrowed arrays count, structs of a few bytes do not. */
typedef struct {
  int           count;
  SpmvArrayInfo array[SPMV_ARRAYS_MAX];
  int64_t       total_bytes;
  int64_t       padding_bytes; /* bytes inside the value arrays that hold no nonzero */
  int64_t       csr_bytes;     /* the CSR it replaces: nnz values, nnz columns, rows+1 pointers */
  int64_t       work_bytes;    /* what mult and multtranspose want as work, in the plan's space */
  int64_t       host_bytes;    /* of total_bytes, what a plan on the device keeps in host memory */
} SpmvMemory;

/* The outcome of looking at a pattern. data belongs to the format and is freed by spmv_analysis_clear(). */
typedef struct SpmvAnalysis {
  const struct SpmvFormat *format;
  SpmvOptions              options;
  SpmvScalar               scalar_type;
  SpmvSpace                space;
  int                      accepted; /* 0: plain CSR is at least as good, and reason says why */
  char                     reason[SPMV_MESSAGE_MAX];
  SpmvMemory               memory; /* exactly what memory() will report of the plan */
  void                    *data;
  void (*destroy_data)(struct SpmvAnalysis *, SpmvExec *);
} SpmvAnalysis;

typedef struct SpmvPlan SpmvPlan;

/* Receives one line of text without its newline */
typedef void (*SpmvPrint)(void *ctx, const char *line);

/*
  One sparse-matrix format: a constant object, listed in formats.def. Slots marked "must" are never NULL.

  analyze   must. Looks at the pattern only. Never fails for a valid matrix, of any shape: it may decline (accepted = 0,
            with a reason), and build must still work then, so that a user can insist. Predicts the bytes exactly.
  build     must. CSR to plan. The analysis must come from the same pattern, scalar type and space.
  update_values   may. Same pattern, new values of shape [nnz], in either space. Also to be called when values that the
            plan borrows have new contents: a product reads the matrix as soon as the kernel before it in the stream
            ends, and waits for its end only before it touches x, y and work.
  mult      must. y = alpha A x + beta y with x of shape [cols], y of shape [rows]; alpha and beta point to host
            scalars of the plan's scalar type. beta == 0 never reads y; alpha == 0 never reads x. x and y do not
            overlap. On the device it only enqueues on exec->stream: no allocation, no synchronization. work has
            memory.work_bytes bytes (NULL when 0) and may hold anything; two products at a time need two of them.
  multtranspose   may. y = alpha A^T x + beta y with x of shape [rows], y of shape [cols]. Enqueues only, like mult.
  prepare_transpose   may. Must be called between build or update_values and the first multtranspose where it is not
            NULL: it may allocate, which memory() then reports, and wait. Again is cheap.
  memory, view, destroy   must. view prints what is special to the format, one line a fact. destroy accepts NULL and
            a pointer to NULL, and sets the pointer to NULL.
*/
typedef struct SpmvFormat {
  uint32_t              abi, caps;
  const char           *name, *summary;
  const SpmvOptionDesc *options;
  SpmvStatus (*analyze)(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *, SpmvAnalysis *);
  SpmvStatus (*build)(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
  SpmvStatus (*update_values)(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
  SpmvStatus (*mult)(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                     SpmvExec *);
  SpmvStatus (*multtranspose)(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                              SpmvExec *);
  SpmvStatus (*prepare_transpose)(SpmvPlan *, SpmvExec *);
  SpmvStatus (*memory)(const SpmvPlan *, SpmvMemory *);
  SpmvStatus (*view)(const SpmvPlan *, SpmvPrint, void *ctx);
  void (*destroy)(SpmvPlan **);
} SpmvFormat;

/* Number of formats, and the i-th in the order of formats.def (NULL outside 0 .. count-1) */
SPMV_API int               spmv_format_count(void);
SPMV_API const SpmvFormat *spmv_format_get(int i);
/* The format of that name ("rbp"), or NULL */
SPMV_API const SpmvFormat *spmv_format_find(const char *name);
/* Checks ABI, mandatory slots, and capabilities against slots, of one format or of all; message gets the fault */
SPMV_API SpmvStatus spmv_format_check(const SpmvFormat *, char message[SPMV_MESSAGE_MAX]);
SPMV_API SpmvStatus spmv_registry_check(char message[SPMV_MESSAGE_MAX]);

SPMV_API const char *spmv_status_text(SpmvStatus);

/* An exec of a space with default hooks and the default stream */
SPMV_API void spmv_exec_init(SpmvExec *, SpmvSpace);

/* Defaults of a format; then changes by key. Text is a number, a choice, or true/false, as a user types it. */
SPMV_API void       spmv_options_init(SpmvOptions *, const SpmvFormat *);
SPMV_API SpmvStatus spmv_options_set(SpmvOptions *, const char *key, double value, char message[SPMV_MESSAGE_MAX]);
SPMV_API SpmvStatus spmv_options_set_text(SpmvOptions *, const char *key, const char *text,
                                          char message[SPMV_MESSAGE_MAX]);
SPMV_API SpmvStatus spmv_options_get(const SpmvOptions *, const char *key, double *value,
                                     char message[SPMV_MESSAGE_MAX]);

/* Checks the invariants of a CSR pattern on the host: monotone row_ptr from 0 to nnz, columns in range and ascending */
SPMV_API SpmvStatus spmv_pattern_check(const SpmvPattern *, SpmvExec *);

/* Bytes of nnz values, nnz columns and rows+1 pointers */
SPMV_API int64_t spmv_csr_bytes(const SpmvPattern *, SpmvScalar);

/* analyze and build behind one argument check each; the slots may also be called directly with checked arguments */
SPMV_API SpmvStatus spmv_analyze(const SpmvFormat *, const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *,
                                 SpmvAnalysis *);
SPMV_API SpmvStatus spmv_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
SPMV_API void       spmv_analysis_clear(SpmvAnalysis *, SpmvExec *);

/* ------------------------------------------------------------------------------------------- 2. write a format --- */

/* Every private plan begins with this struct, so that the caller can read the sizes and destroy without a format */
struct SpmvPlan {
  const SpmvFormat *format;
  int64_t           rows, cols, nnz;
  SpmvIndex         index_type;
  SpmvScalar        scalar_type;
  SpmvSpace         space;
  SpmvMemory        memory;
  SpmvAllocator     host, device; /* hooks that made its arrays, and will free them */
};

/* Records a formatted message in exec (which may be NULL) and returns status */
SPMV_API SpmvStatus spmv_fail(SpmvExec *, SpmvStatus, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* bytes from the hooks of a space; 0 bytes give NULL and success; failure names the array and the size */
SPMV_API SpmvStatus spmv_alloc(SpmvExec *, SpmvSpace, int64_t bytes, const char *name, void **block);
/* Several device arrays from one allocation, for which cudaMalloc takes as long as a product: *array[i] gets bytes[i],
   from a multiple of 256 bytes on, NULL for none. *block is what spmv_free() gets. */
SPMV_API SpmvStatus spmv_alloc_arrays(SpmvExec *, int count, const int64_t bytes[], const char *name,
                                      void **const array[], void **block);
SPMV_API void       spmv_free(const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace, void *block);
SPMV_API void       spmv_exec_free(SpmvExec *, SpmvSpace, void *block);

/* Fills the common part of a plan: sizes and types of csr, hooks of exec, memory of the analysis */
SPMV_API void spmv_plan_init(SpmvPlan *, const SpmvCsr *, const SpmvAnalysis *, const SpmvExec *);

/* Adds an array to a memory report and to its total */
SPMV_API void spmv_memory_add(SpmvMemory *, const char *name, SpmvArrayKind, int64_t bytes);

static inline int64_t spmv_index_bytes(SpmvIndex t) { return t == SPMV_I64 ? 8 : 4; }
static inline int64_t spmv_scalar_bytes(SpmvScalar t) { return t == SPMV_F32 ? 4 : 8; }

/* --------------------------------------------------------------------------------------- 3. devices and copies --- */

/* CUDA devices that can be used: 0 when the library was built without CUDA or the machine has none. reason (may be
   NULL) tells which of the two. Asked once a process. */
SPMV_API int spmv_device_count(char reason[SPMV_MESSAGE_MAX]);

/* Free and total bytes of the current device */
SPMV_API SpmvStatus spmv_device_memory(int64_t *free_bytes, int64_t *total_bytes, SpmvExec *);

/* Device memory without hooks comes from a pool of each device, which keeps some of what is freed for the next
   conversion: at most so many bytes; -1, the default: a 64th of the device's memory; 0: nothing, all is given back at
   once. Memory that is kept serves this library alone. Any thread may call it at any time. */
SPMV_API void spmv_device_keep(int64_t bytes);
/* Gives back what is kept, and those pools of which no block is in use; a later allocation makes them again. Call it
   when all plans are destroyed, before cudaDeviceReset(), and before the library is unloaded. Does nothing where there
   is no device. */
SPMV_API void spmv_device_release(void);

/* Page-locked host memory: copies from and to it overlap with work on the device */
SPMV_API SpmvStatus spmv_pinned_alloc(SpmvExec *, int64_t bytes, void **block);
SPMV_API void       spmv_pinned_free(void *block);

/* Copies between spaces, ordered on exec->stream. Pageable host memory that is read may be reused when the call
   returns; pinned memory, and host memory that is written, after spmv_stream_wait, which waits for everything enqueued
   on the stream.

   From 4 MiB on, pageable memory goes to a device through pinned buffers that up to 8 threads fill, as many as the
   processors that the calling thread may run on; they end with the call. With one processor, while the stream is being
   captured, or where memory cannot be pinned, the CUDA runtime copies. */
SPMV_API SpmvStatus spmv_copy(void *to, SpmvSpace to_space, const void *from, SpmvSpace from_space, int64_t bytes,
                              SpmvExec *);
/* Frees those buffers, when the device has read them. They come from the CUDA runtime, not from hooks, belong to the
   process, and take 2 MiB for each thread that a copy has had, so at most 16 MiB, until this is called or the process
   ends; a later copy makes them again. So do the 4 KiB through which a conversion gets sizes from the device. Call it
   before cudaDeviceReset(), and before the library is unloaded. Any thread may call it at any time; it cannot fail, and
   does nothing where there are no buffers. */
SPMV_API void       spmv_staging_release(void);
SPMV_API SpmvStatus spmv_stream_wait(SpmvExec *);
SPMV_API SpmvStatus spmv_stream_create(SpmvExec *, void **stream);
SPMV_API void       spmv_stream_destroy(void *stream);

#ifdef __cplusplus
}
#endif
#endif
