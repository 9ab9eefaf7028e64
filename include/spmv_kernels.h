/*
  spmv_kernels.h - the C interface of libspmvpack: packed sparse-matrix formats and their product

      y = alpha A x + beta y

  The library works on raw pointers, sizes and streams. It never sees PETSc, prints nothing and never exits.
  docs/architecture.md lists its state per process. This header has four parts:

    1. use a format        SpmvExec, SpmvPattern, SpmvCsr, SpmvOptions, spmv_format_find(),
                           spmv_analyze() to spmv_destroy()
    2. write a format      SpmvSlots, SpmvPlan, spmv_fail(), spmv_alloc(): see docs/adding-a-format.md
    3. devices and copies  spmv_device_count(), spmv_copy(): the CUDA runtime for a caller without a CUDA compiler
    4. products            spmv_spgemm_symbolic() and spmv_spgemm_numeric(): A B, A^T B, P^T A P, R A R^T

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

/* Version of the interface: incremented whenever SpmvFormat or a struct that crosses the interface changes;
   spmv_format_check() compares it */
#define SPMV_ABI 13

#define SPMV_MESSAGE_MAX 256 /* bytes of an error message or a reason, with its final zero */
#define SPMV_OPTIONS_MAX 16  /* options of one format */
#define SPMV_ARRAYS_MAX  16  /* arrays of one plan */

/* --------------------------------------------------------------------------------------------- 1. use a format --- */

typedef enum {
  SPMV_SUCCESS = 0,
  SPMV_ERR_ARGUMENT,    /* an invalid size, pointer or type */
  SPMV_ERR_OPTION,      /* an unknown option, or a value outside its range */
  SPMV_ERR_MATRIX,      /* the CSR arrays break their invariants */
  SPMV_ERR_MEMORY,      /* an allocation hook returned NULL */
  SPMV_ERR_OVERFLOW,    /* a count does not fit the index type of the format */
  SPMV_ERR_UNSUPPORTED, /* the format has no such operation for these types or in this space */
  SPMV_ERR_DEVICE,      /* the CUDA runtime reported an error */
  SPMV_ERR_FORMAT,      /* a format of formats.def is incomplete: a bug of the library */
  SPMV_ERR_PEER,        /* another process does not answer; the processes can agree on nothing any more */
  SPMV_STATUS_COUNT
} SpmvStatus;

typedef enum { SPMV_I32 = 0, SPMV_I64 = 1 } SpmvIndex;
typedef enum { SPMV_F64 = 0, SPMV_F32 = 1 } SpmvScalar;
typedef enum { SPMV_HOST = 0, SPMV_DEVICE = 1 } SpmvSpace;

/* Allocation hooks. alloc returns NULL on failure; free accepts NULL. Both may be NULL: host memory then comes from
   malloc, device memory from the pool of section 3. Only blocks of these default hooks are sure to be aligned to 64
   bytes. */
typedef struct {
  void *(*alloc)(void *ctx, size_t bytes);
  void (*free)(void *ctx, void *block);
  void *ctx;
} SpmvAllocator;

/* The first failure of several calls; all zeros: none */
typedef struct {
  SpmvStatus status;
  char       message[SPMV_MESSAGE_MAX];
} SpmvFailure;

/* Where work runs. A plan copies what it needs, so the struct may live on the stack; message belongs to the caller. */
typedef struct SpmvExec {
  SpmvSpace     space;                     /* memory of plans, vectors and work */
  void         *stream;                    /* a cudaStream_t; NULL is the legacy default stream */
  SpmvAllocator host, device;              /* hooks for each memory */
  char          message[SPMV_MESSAGE_MAX]; /* after a failed call: what went wrong, the value, the remedy */
  /* NULL: a failed call of the CUDA runtime ends the work. Otherwise it is recorded there and the work goes on, with
     wrong results: the other processes of a solve wait for this one until all agree to end. */
  SpmvFailure *failure;
} SpmvExec;

/* The pattern of a CSR matrix. row_ptr has shape [rows+1], col [nnz]; both are of index_type and lie in space. */
typedef struct {
  int64_t     rows, cols, nnz;
  SpmvIndex   index_type;
  SpmvSpace   space;
  const void *row_ptr, *col;
} SpmvPattern;

/* values has shape [nnz], in the order of pattern.col, and lies in values_space. The pattern may lie in another space:
   a matrix may have its pattern on the host and its values on the device, or the other way round. */
typedef struct {
  SpmvPattern pattern;
  SpmvScalar  scalar_type;
  SpmvSpace   values_space;
  const void *values;
} SpmvCsr;

typedef enum { SPMV_OPTION_INT, SPMV_OPTION_REAL, SPMV_OPTION_ENUM, SPMV_OPTION_BOOL } SpmvOptionKind;

/* One option of a format. key becomes -mat_aij<format>_<key>. An INT or REAL lies in [min, max]; an ENUM is an index
   into choices (ended by NULL); a BOOL is 0 or 1. help fits one line of PETSc's -help, detail (may be NULL) is for
   manual pages. A table of options ends with key == NULL. */
typedef struct {
  const char        *key;
  SpmvOptionKind     kind;
  double             default_value, min, max;
  const char *const *choices;
  const char        *help, *detail;
} SpmvOptionDesc;

struct SpmvFormat;
struct SpmvSlots;

/* The values of all options of one format, by position in its table. Integers are exact up to 2^53. */
typedef struct {
  const struct SpmvFormat *format;
  double                   value[SPMV_OPTIONS_MAX];
} SpmvOptions;

typedef enum { SPMV_ARRAY_VALUES, SPMV_ARRAY_INDICES, SPMV_ARRAY_POINTERS } SpmvArrayKind;

typedef struct {
  const char   *name; /* static text: the name that the format's README uses */
  SpmvArrayKind kind;
  int64_t       bytes;
} SpmvArrayInfo;

/* The memory of a plan. total_bytes is the sum over all arrays, borrowed ones included; structs of a few bytes are not
   counted. */
typedef struct {
  int           count;
  SpmvArrayInfo array[SPMV_ARRAYS_MAX];
  int64_t       total_bytes;
  int64_t       padding_bytes; /* bytes inside the value arrays that hold no nonzero */
  int64_t       csr_bytes;     /* the CSR that the plan replaces: nnz values, nnz columns, rows+1 pointers */
  int64_t       work_bytes;    /* size of the work array of a product, in the plan's space */
  int64_t       host_bytes;    /* the part of total_bytes that a plan on the device keeps in host memory */
} SpmvMemory;

/* The result of an analysis of a pattern. Before it calls the format, spmv_analyze() sets the fields above memory, and
   memory.csr_bytes. Afterwards it derives accepted and reason from memory. data belongs to the format;
   spmv_analysis_clear() frees it. */
typedef struct {
  const struct SpmvFormat *format;
  const struct SpmvSlots  *slots; /* the table whose build takes this analysis */
  SpmvOptions              options;
  SpmvScalar               scalar_type;
  SpmvSpace                space; /* of the plan */
  int64_t                  rows, cols, nnz;
  SpmvMemory               memory; /* becomes the field memory of the plan, byte for byte */
  void                    *data;
  int                      accepted; /* 0: the matrix has no nonzeros, or CSR takes fewer bytes; reason says which */
  char                     reason[SPMV_MESSAGE_MAX];
} SpmvAnalysis;

typedef struct SpmvPlan SpmvPlan;

/* Receives one line of text without its newline */
typedef void (*SpmvPrint)(void *ctx, const char *line);

/* One sparse-matrix format: a constant object, listed in formats.def */
typedef struct SpmvFormat {
  uint32_t                abi;
  const char             *name, *summary;
  const SpmvOptionDesc   *options;
  const char *const      *device_options; /* keys of the options that do nothing on the host, then NULL; NULL: none */
  const struct SpmvSlots *host, *device;  /* its functions for each space; NULL: no plans in that space */
  int                     borrows;        /* 1: a plan may point into its CSR, see SpmvSlots.build */
  double padding_factor; /* a plan is accepted up to this multiple of the bytes of CSR, above 1 for a format that pads
                            on purpose; 0 means 1 */
  const double *paper_from; /* [options], or NULL: values of an option from this one on select what only reproduces the
                               paper of the format (SpmvPaper); 0: none do */
} SpmvFormat;

/* What reproduces the paper of a format (papers.def): the functions for settings with a value that paper_from marks,
   for each space; NULL: those of the format */
typedef struct {
  const char             *format;
  const struct SpmvSlots *host, *device;
} SpmvPaper;
/* That of a format; NULL: it has none, or the library was built without papers */
SPMV_API const SpmvPaper *spmv_format_paper(const SpmvFormat *);

/* Number of formats, and the i-th in the order of formats.def (NULL outside 0 .. count-1) */
SPMV_API int               spmv_format_count(void);
SPMV_API const SpmvFormat *spmv_format_get(int i);
/* The format of that name ("rbp"), or NULL */
SPMV_API const SpmvFormat *spmv_format_find(const char *name);
/* Check the ABI number and the mandatory slots of both tables, for one format or for all; message gets the first
   fault */
SPMV_API SpmvStatus spmv_format_check(const SpmvFormat *, char message[SPMV_MESSAGE_MAX]);
SPMV_API SpmvStatus spmv_registry_check(char message[SPMV_MESSAGE_MAX]);

SPMV_API const char *spmv_status_text(SpmvStatus);

/* An exec of a space with default hooks and the default stream */
SPMV_API void spmv_exec_init(SpmvExec *, SpmvSpace);

/* Set the defaults of a format, then single options by key. text is a number, a choice, or true/false, as a user types
   it. */
SPMV_API void       spmv_options_init(SpmvOptions *, const SpmvFormat *);
SPMV_API SpmvStatus spmv_options_set(SpmvOptions *, const char *key, double value, char message[SPMV_MESSAGE_MAX]);
SPMV_API SpmvStatus spmv_options_set_text(SpmvOptions *, const char *key, const char *text,
                                          char message[SPMV_MESSAGE_MAX]);
SPMV_API SpmvStatus spmv_options_get(const SpmvOptions *, const char *key, double *value,
                                     char message[SPMV_MESSAGE_MAX]);
/* Whether a value is one that SpmvFormat.paper_from marks: a library without papers refuses to set it */
SPMV_API int spmv_options_of_paper(const SpmvOptions *);
/* Write a value of an option as a user types it, and the range of the option: "0 to 4096", "one of csr ell", "true or
   false". The value must lie in the range. Both texts are cut to size, with the final zero. */
SPMV_API void spmv_option_text(const SpmvOptionDesc *, double value, char *text, size_t size);
SPMV_API void spmv_option_range(const SpmvOptionDesc *, char *text, size_t size);

/* Checks the invariants of a CSR pattern on the host: monotone row_ptr from 0 to nnz, columns in range and ascending */
SPMV_API SpmvStatus spmv_pattern_check(const SpmvPattern *, SpmvExec *);

/* Bytes of nnz values, nnz columns and rows+1 pointers */
SPMV_API int64_t spmv_csr_bytes(const SpmvPattern *, SpmvScalar);

/* Analyzes a pattern for a plan in exec->space. A pattern on the host serves plans in either space, a pattern on the
   device only plans on the device. The options must belong to the format. After a failure nothing needs to be
   cleared. */
SPMV_API SpmvStatus spmv_analyze(const SpmvFormat *, const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *,
                                 SpmvAnalysis *);
/* Makes a plan from a CSR. The analysis must come from the same pattern, scalar type and space; it may serve several
   builds, and even one that was not accepted can be built. *plan is NULL after a failure. */
SPMV_API SpmvStatus spmv_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **plan);
SPMV_API void       spmv_analysis_clear(SpmvAnalysis *, SpmvExec *);

/*
  y = alpha A x + beta y with x of shape [cols], y of shape [rows], both in the plan's space; alpha and beta point to
  scalars of the plan's scalar type on the host. beta == 0 never reads y, alpha == 0 never reads x, and x and y do not
  overlap.

  Row i of y depends only on the entries of x in whose columns row i has nonzeros. So padding must not multiply 0 by any
  other entry of x: if that entry is NaN or Inf, y becomes NaN. docs/testing.md says how this is tested.

  On the device it only enqueues on exec->stream: no allocation, no synchronization. work has memory.work_bytes bytes
  (NULL if that is 0) with any contents; two products that run at the same time need two work arrays.
  Graphs with products of one plan of fold with gather=host must not overlap either: their buffers are the plan's.
*/
SPMV_API SpmvStatus spmv_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                              SpmvExec *);
/* y = alpha A^T x + beta y with x of shape [rows], y of shape [cols]; otherwise as spmv_mult(). work is not used: the
   plan has its own work array, so only one transposed product of a plan may run at a time */
SPMV_API SpmvStatus spmv_multtranspose(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                                       void *work, SpmvExec *);
/* One step of a smoother, fused with the product: y = current x + before y + correction M (b - A x), for a square A and
   a diagonal M. */
typedef struct {
  double current, before, correction;
} SpmvFactors;
typedef struct {
  const SpmvFactors *factors; /* in the plan's space; NULL: y = b - A x, and m and adds are not read */
  const void        *m;       /* [rows], or NULL for the identity */
  const void        *b;       /* [rows]; y, x and b do not overlap */
  int                adds;    /* 0: y is not read, and before counts as 0 */
} SpmvStep;
/* Whether a plan has this step. y, x and work of spmv_mult_step() are those of spmv_mult(). */
SPMV_API int        spmv_has_step(const SpmvPlan *);
SPMV_API SpmvStatus spmv_mult_step(const SpmvPlan *, const void *x, const SpmvStep *, void *y, void *work, SpmvExec *);
/* Must be called before the first transposed product after a build or after new values. It may allocate (plan->memory
   then includes that) and wait. A second call does nothing; after new values, a plan of A^T that was made from listed
   nonzeros is updated in place. */
SPMV_API SpmvStatus spmv_prepare_transpose(SpmvPlan *, SpmvExec *);

/* New values of shape [nnz], in CSR order. The pattern must still be the one that the plan was built from; this is not
   checked. For a plan on the device, values may lie on the host or on the device; for a plan on the host, on the host
   only. Call it also after writing new values to an array that the plan borrows. Otherwise a device product may read
   old values: it may begin before the kernel that wrote them has ended, because it waits for earlier kernels only
   before it touches x, y and work. */
SPMV_API SpmvStatus spmv_update_values(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
/* Copies the values of the plan to values [nnz], in CSR order. Values on the host are there when the call returns,
   values on the device only for later work of the stream. */
SPMV_API SpmvStatus spmv_extract_values(const SpmvPlan *, void *values, SpmvSpace values_space, SpmvExec *);

/* Prints the facts that are particular to the format of a plan, one per line */
SPMV_API void spmv_view(const SpmvPlan *, SpmvPrint, void *ctx);
/* Frees a plan and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_destroy(SpmvPlan **);

/* ------------------------------------------------------------------------------------------- 2. write a format --- */

/* The plan of every format begins with this struct, so that a caller can read sizes and destroy a plan without knowing
   the format */
struct SpmvPlan {
  const SpmvFormat       *format;
  const struct SpmvSlots *slots;
  SpmvOptions             options;
  int64_t                 rows, cols, nnz;
  SpmvIndex               index_type;
  SpmvScalar              scalar_type;
  SpmvSpace               space;
  SpmvMemory              memory;
  SpmvAllocator           host, device; /* hooks that allocated its arrays and will free them */
  void                   *arrays; /* on the device: the one block of all arrays that spmv_arrays_alloc() allocated */
  struct {
    const void *array;
    int64_t     bytes;
  } values[SPMV_ARRAYS_MAX]; /* on the device: the arrays of values, which spmv_arrays_alloc() sets, then zeros */
  struct {                   /* for products with A^T, if the format makes a plan of A^T */
    SpmvPlan *plan;          /* NULL until it is made */
    void     *work, *csr;    /* its work array, and the CSR that it borrows */
    void     *values;        /* values of that CSR, or NULL */
    void     *order;         /* position in A of nonzero k of A^T: 32 bits, or 64 from 2^31 nonzeros on; or NULL */
    int       is_old;        /* stale: the plan of A^T does not have the current values of A */
  } transpose;
};

/* Nonzeros by coordinates in CSR order, in device memory: row [nnz], col [nnz], and values [nnz] of the plan's scalar
   type. row and col are NULL if only values are wanted. If diagonal [rows] is not NULL, then row, col and values are
   NULL: diagonal[i] becomes the diagonal entry of row i, and is left unchanged if the row has none. */
typedef struct {
  int32_t *row, *col;
  void    *values, *diagonal;
} SpmvNonzeros;

/* The functions of a format for one space: a constant table. spmv_analyze() to spmv_destroy() check arguments, choose
   the table, and do the work common to all formats: they allocate and free the structs of analyses and plans, scale y,
   and keep a plan of A^T. A slot is mandatory unless its comment says "may be NULL". */
typedef struct SpmvSlots {
  /* Bytes of SpmvAnalysis.data, and of the plan, which begins with an SpmvPlan. The slots get both structs zeroed. */
  int64_t analysis_bytes, plan_bytes;

  /* May be NULL. Returns the table to use in place of this one with these options: another layout of the format. */
  const struct SpmvSlots *(*choose)(const SpmvOptions *);

  /* Reads the pattern only. It succeeds for every valid matrix, of any shape. It sets memory to the exact bytes of the
     plan; a size that overflows int64_t becomes a size that no allocation can satisfy. */
  SpmvStatus (*analyze)(const SpmvPattern *, SpmvAnalysis *, SpmvExec *);
  /* May be NULL. Frees what the data of an analysis points to, also after a failure. */
  void (*clear_analysis)(void *data, SpmvExec *);

  /* Fills a plan whose SpmvPlan is set. A pattern that was not accepted must be built too, so that a user can insist;
     if that is not feasible, build fails with SPMV_ERR_MEMORY or SPMV_ERR_OVERFLOW. After a failure, clear frees what
     build has allocated.

     A format that borrows may keep pointers to those arrays of the CSR that lie in the plan's space: the
     arrays must then outlive the plan, and the pattern must neither change nor be moved. All other formats copy. */
  SpmvStatus (*build)(const SpmvCsr *, const SpmvAnalysis *, SpmvPlan *, SpmvExec *);

  /* Copies values into the plan; for a plan on the host they lie on the host. They come without a pattern: the plan
     itself must tell where each value belongs. On the device a product may begin before the previous kernels of the
     stream have ended: device/overlap.cuh says what must follow a kernel that writes values. */
  SpmvStatus (*update_values)(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
  /* Copies the values back, to an array in the plan's space. May be NULL if list_nonzeros is not. */
  SpmvStatus (*extract_values)(const SpmvPlan *, void *values, SpmvExec *);

  /* As spmv_mult(); only called if alpha is not 0 and the matrix has nonzeros */
  SpmvStatus (*mult)(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                     SpmvExec *);
  /* May be NULL. y += alpha A^T x, if alpha is not 0 and the matrix has nonzeros; the caller has scaled y by beta. */
  SpmvStatus (*add_transposed)(const SpmvPlan *, const void *alpha, const void *x, void *y, SpmvExec *);
  /* Only in tables for the device; may be NULL. Lists the nonzeros. Without add_transposed, a plan of A^T with the same
     format and options is made from this list. If only the diagonal is asked for, it only enqueues. */
  SpmvStatus (*list_nonzeros)(const SpmvPlan *, const SpmvNonzeros *, SpmvExec *);
  /* May be NULL. Makes the plan of A^T by a method of the format. */
  SpmvStatus (*prepare_transpose)(SpmvPlan *, SpmvExec *);

  /* Prints the facts about a plan that are particular to the format, one per line */
  void (*view)(const SpmvPlan *, SpmvPrint, void *ctx);
  /* May be NULL. Frees the arrays of a plan, also of one whose build failed. */
  void (*clear)(SpmvPlan *);
  /* Only in tables for the device; may be NULL. As mult for a plan in double precision, with values in single precision:
     those of plan->values, one array after the other. x, y, work and sums are double. */
  SpmvStatus (*mult_rounded)(const SpmvPlan *, const float *rounded, const void *alpha, const void *x, const void *beta,
                             void *y, void *work, SpmvExec *);
  /* May be NULL. As spmv_mult_step(); only called if the matrix has nonzeros. */
  SpmvStatus (*step)(const SpmvPlan *, const void *x, const SpmvStep *, void *y, void *work, SpmvExec *);
} SpmvSlots;

/* Records a formatted message in exec (which may be NULL) and returns status */
SPMV_API SpmvStatus spmv_fail(SpmvExec *, SpmvStatus, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Allocates from the hooks of a space; 0 bytes give NULL and success; the message of a failure names the array and the
   size */
SPMV_API SpmvStatus spmv_alloc(SpmvExec *, SpmvSpace, int64_t bytes, const char *name, void **block);
/* Several arrays from one allocation, since each cudaMalloc takes as long as a product: *array[i] gets bytes[i], aligned
   to 256 bytes, or NULL for 0 bytes. Pass *block to spmv_free(). */
SPMV_API SpmvStatus spmv_alloc_arrays(SpmvExec *, SpmvSpace, int count, const int64_t bytes[], const char *name,
                                      void **const array[], void **block);
SPMV_API void       spmv_free(const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace, void *block);
SPMV_API void       spmv_exec_free(SpmvExec *, SpmvSpace, void *block);
/* Frees a block by the hooks of a plan */
SPMV_API void spmv_plan_free(const SpmvPlan *, SpmvSpace, void *block);

/* Adds an array to a memory report and to its total */
SPMV_API void spmv_memory_add(SpmvMemory *, const char *name, SpmvArrayKind, int64_t bytes);

static inline int64_t spmv_index_bytes(SpmvIndex t) { return t == SPMV_I64 ? 8 : 4; }
static inline int64_t spmv_scalar_bytes(SpmvScalar t) { return t == SPMV_F32 ? 4 : 8; }

/* --------------------------------------------------------------------------------------- 3. devices and copies --- */

/* Number of usable CUDA devices: 0 if the library was built without CUDA or the machine has no device. reason (may be
   NULL) says which of the two. The CUDA runtime is asked once per process. */
SPMV_API int spmv_device_count(char reason[SPMV_MESSAGE_MAX]);

/* An identifier of the current device that is unique on its host; -1 if unknown */
SPMV_API int64_t spmv_device_place(void);

/* Free and total bytes of the current device */
SPMV_API SpmvStatus spmv_device_memory(int64_t *free_bytes, int64_t *total_bytes, SpmvExec *);

/* Device memory without hooks comes from a pool of each device, which keeps freed memory for the next conversion, at
   most the given number of bytes; -1, the default: a 64th of the device's memory, or 64 MiB if that is more; 0: nothing,
   freed memory goes back to the driver at once. Memory that the device shares with the host is kept up to the same limit,
   apart from the pool, and page-locked memory up to 256 MiB of it. Only this library can use the memory that is kept. Any
   thread may call this at any time. */
SPMV_API void spmv_device_keep(int64_t bytes);
/* Gives back the memory that is kept, and destroys the pools that have no block in use; a later allocation makes them
   again. Call it after all plans are destroyed, before cudaDeviceReset(), and before the library is unloaded. A no-op
   without a device. */
SPMV_API void spmv_device_release(void);

/* Memory for a few calls on exec->stream, in whose order device memory is taken and freed: the host does not wait. Only
   that stream may use it, and not be captured meanwhile. Blocks of spmv_alloc() may be freed so, too, when the host has
   waited for other streams that used them. Between spmv_scratch_hold() and spmv_scratch_release() device memory is kept
   for repeated work; spmv_scratch_trim() ends a round of it: what this round or the one before used at a time is kept.
   If an allocation of this library fails, kept memory is released, and it is tried again. Any thread may call these at
   any time. A device without pools keeps nothing, and waits; hooks get each call. */
SPMV_API SpmvStatus spmv_scratch_alloc(SpmvExec *, SpmvSpace, int64_t bytes, const char *name, void **block);
SPMV_API void       spmv_scratch_free(SpmvExec *, SpmvSpace, void *block);
/* exec with scratch memory as its device memory, for objects that only its stream uses: exec must outlive them */
SPMV_API SpmvExec spmv_scratch_exec(SpmvExec *exec);
SPMV_API void     spmv_scratch_hold(void);
SPMV_API void     spmv_scratch_release(void);
SPMV_API void     spmv_scratch_trim(void);
/* Bytes of scratch memory of the process, in use or kept, without that of hooks */
SPMV_API int64_t spmv_scratch_bytes(void);

/* Page-locked host memory: copies from and to it can overlap work on the device */
SPMV_API SpmvStatus spmv_pinned_alloc(SpmvExec *, int64_t bytes, void **block);
SPMV_API void       spmv_pinned_free(void *block);

/* Memory that the host and the current device read and write at one address. The driver moves its pages to whichever
   touches them; the device's work must be done before the host does, and they begin on the device, in the order of
   exec->stream. spmv_copy() may call its space either. NULL if the device has no such memory or too little of it, or if
   the block would be so small that a copy costs less. Freeing waits for all work of the device. */
SPMV_API void *spmv_shared_alloc(int64_t bytes, SpmvExec *);
SPMV_API void  spmv_shared_free(void *block);
/* Whether such a block contains p */
SPMV_API int spmv_shared_holds(const void *p);
/* Blocks of fewer bytes are refused; -1, the default: 2 MiB, from which on a copy costs more */
SPMV_API void spmv_shared_least(int64_t bytes);

/* Copies between spaces, ordered on exec->stream. When the call returns, a pageable host source may be overwritten. A
   pinned source may be overwritten, and a host destination read, only after spmv_stream_wait(), which waits for
   everything enqueued on the stream.

   From 4 MiB on, pageable memory is copied to and from a device through pinned buffers. Up to 8 threads fill or empty
   them, at most one for each processor that the calling thread may run on; they end with the call. With one processor,
   while the stream is being captured, or if memory cannot be pinned, the CUDA runtime copies. */
SPMV_API SpmvStatus spmv_copy(void *to, SpmvSpace to_space, const void *from, SpmvSpace from_space, int64_t bytes,
                              SpmvExec *);
/* Frees these buffers once the device has read them, and the 4 KiB through which a conversion gets sizes from the
   device. They come from the CUDA runtime, not from hooks, belong to the process, and take 2 MiB for each thread of a
   copy, so at most 16 MiB, until this call or the end of the process; a later copy makes them again. Call it before
   cudaDeviceReset(), and before the library is unloaded. Any thread may call it at any time; it cannot fail, and is a
   no-op without buffers. */
SPMV_API void       spmv_staging_release(void);
SPMV_API SpmvStatus spmv_stream_wait(SpmvExec *);
SPMV_API SpmvStatus spmv_stream_create(SpmvExec *, void **stream);
SPMV_API void       spmv_stream_destroy(void *stream);

/* -------------------------------------------------------------------------------------- 4. products of matrices --- */

/* C = A B, A^T B, B^T A B (B is the P of P^T A P), or B A B^T (B is the R of R A R^T) */
typedef enum { SPMV_SPGEMM_AB, SPMV_SPGEMM_ATB, SPMV_SPGEMM_PTAP, SPMV_SPGEMM_RART } SpmvSpgemmKind;

/* The symbolic part of a product, reused whenever the values change; serves one numeric call at a time */
typedef struct SpmvSpgemm SpmvSpgemm;

/* Finds the pattern of C from the patterns of A and B alone: entries that cancel stay. Both patterns lie in exec->space
   and have the same index type; columns ascend strictly. Rows, columns and nonzeros of A, B, C and of intermediate
   products must fit 32 bits, else SPMV_ERR_OVERFLOW. The patterns may be freed afterwards. *product is NULL after a
   failure. On the device the host waits a few times. */
SPMV_API SpmvStatus spmv_spgemm_symbolic(SpmvSpgemmKind, const SpmvPattern *a, const SpmvPattern *b, SpmvScalar,
                                         SpmvExec *, SpmvSpgemm **product);
/* The pattern of C, in the space of the product and of the index type of A and B; columns ascend. The arrays belong to
   the product. */
SPMV_API void spmv_spgemm_pattern(const SpmvSpgemm *, SpmvPattern *c);
/* The values of C from those of A and B, all in the space of the product and in CSR order. Every sum has a fixed order,
   so the same values give the same bits. Except for small matrices it may take scratch memory from
   spmv_scratch_alloc(). */
SPMV_API SpmvStatus spmv_spgemm_numeric(SpmvSpgemm *, const void *a_values, const void *b_values, void *c_values,
                                        SpmvExec *);
/* Bytes that the product holds, the peak of scratch memory of its numeric calls, and the additions and multiplications
   of one numeric call */
SPMV_API void spmv_spgemm_info(const SpmvSpgemm *, int64_t *bytes, int64_t *scratch_bytes, double *flops);
/* Frees a product and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_spgemm_destroy(SpmvSpgemm **);

#ifdef __cplusplus
}
#endif
#include "spmv_values.h"
#endif
