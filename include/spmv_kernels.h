/*
  spmv_kernels.h - the C interface of libspmvpack: packed sparse-matrix formats and their product

      y = alpha A x + beta y

  The library knows raw pointers, sizes and streams. It never sees PETSc, prints nothing and never exits. What it
  keeps for the process is listed in docs/architecture.md. Four parts of this header:

    1. use a format        SpmvExec, SpmvPattern, SpmvCsr, SpmvOptions, spmv_format_find(),
                           spmv_analyze() to spmv_destroy()
    2. write a format      SpmvSlots, SpmvPlan, spmv_fail(), spmv_alloc(): see docs/adding-a-format.md
    3. devices and copies  spmv_device_count(), spmv_copy(): what a caller without a CUDA compiler needs
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

/* Raised whenever SpmvFormat or a struct that crosses the interface changes; checked when the registry is read */
#define SPMV_ABI 10

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
  char          message[SPMV_MESSAGE_MAX]; /* after a failed call: what went wrong, the value, the remedy */
} SpmvExec;

/* The pattern of a CSR matrix. row_ptr has shape [rows+1], col [nnz]; both are of index_type and lie in space.
   host_row_ptr and host_col are the same arrays on the host (as PETSc keeps them), or NULL where there are none; for a
   pattern on the host they are row_ptr and col, or NULL. */
typedef struct {
  int64_t     rows, cols, nnz;
  SpmvIndex   index_type;
  SpmvSpace   space;
  const void *row_ptr, *col;
  const void *host_row_ptr, *host_col;
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
  int64_t       work_bytes;    /* size of the work of a product, in the plan's space */
  int64_t       host_bytes;    /* of total_bytes, what a plan on the device keeps in host memory */
} SpmvMemory;

/* The result of an analysis of a pattern. spmv_analyze() sets the fields above memory, and csr_bytes in it, before it
   calls the format; accepted and reason follow from memory. data belongs to the format; spmv_analysis_clear() frees
   it. */
typedef struct {
  const struct SpmvFormat *format;
  const struct SpmvSlots  *slots; /* the table whose build serves this analysis */
  SpmvOptions              options;
  SpmvScalar               scalar_type;
  SpmvSpace                space; /* of the plan */
  int64_t                  rows, cols, nnz;
  SpmvMemory               memory; /* exactly what the plan will have in its field memory */
  void                    *data;
  int                      accepted; /* 0: there is nothing to pack, or CSR takes fewer bytes; reason says which */
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
  const struct SpmvSlots *host, *device; /* what it does in each space; NULL: it has no plans there */
  int                     borrows;       /* 1: a plan may point into its CSR, see SpmvSlots.build */
  double padding_factor; /* of a format that pads on purpose: accepted up to this multiple of the bytes of CSR; 0: 1 */
} SpmvFormat;

/* Number of formats, and the i-th in the order of formats.def (NULL outside 0 .. count-1) */
SPMV_API int               spmv_format_count(void);
SPMV_API const SpmvFormat *spmv_format_get(int i);
/* The format of that name ("rbp"), or NULL */
SPMV_API const SpmvFormat *spmv_format_find(const char *name);
/* Checks the ABI, and the mandatory slots of both tables, of one format or of all.
   message gets the fault. */
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
/* The text of a value of an option, as a user types it, and the text of its range: "0 to 4096", "one of csr ell", "true
   or false". The value must be in the range. Both texts end within size. */
SPMV_API void spmv_option_text(const SpmvOptionDesc *, double value, char *text, size_t size);
SPMV_API void spmv_option_range(const SpmvOptionDesc *, char *text, size_t size);

/* Checks the invariants of a CSR pattern on the host: monotone row_ptr from 0 to nnz, columns in range and ascending */
SPMV_API SpmvStatus spmv_pattern_check(const SpmvPattern *, SpmvExec *);

/* Bytes of nnz values, nnz columns and rows+1 pointers */
SPMV_API int64_t spmv_csr_bytes(const SpmvPattern *, SpmvScalar);

/* Analyses a pattern. It may lie on the host for a plan in any space, and on the device for a plan there. Options must
   be of the format. After a failure there is nothing to clear. */
SPMV_API SpmvStatus spmv_analyze(const SpmvFormat *, const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *,
                                 SpmvAnalysis *);
/* Makes a plan from a CSR. The analysis must come from the same pattern, scalar type and space; it may serve several
   builds, also if it declined. *plan is NULL after a failure. */
SPMV_API SpmvStatus spmv_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **plan);
SPMV_API void       spmv_analysis_clear(SpmvAnalysis *, SpmvExec *);

/*
  y = alpha A x + beta y with x of shape [cols], y of shape [rows], both in the plan's space; alpha and beta point to
  scalars of the plan's scalar type on the host. beta == 0 never reads y, alpha == 0 never reads x, and x and y do not
  overlap.

  Padding must not touch NaN or Inf in x: row i of y depends on those x alone in whose columns row i has nonzeros. So
  padding may not multiply 0 by an x of its own choice. docs/testing.md tells how that is tested.

  On the device it only enqueues on exec->stream: no allocation, no synchronization. work has memory.work_bytes bytes
  (NULL when 0) and may hold anything; two products at a time need two of them.
*/
SPMV_API SpmvStatus spmv_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                              SpmvExec *);
/* y = alpha A^T x + beta y with x of shape [rows], y of shape [cols]; the rest as for spmv_mult(), but work is not used:
   one transposed product of a plan at a time */
SPMV_API SpmvStatus spmv_multtranspose(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                                       void *work, SpmvExec *);
/* A step of a smoother in the pass of the product: y = current x + before y + correction M (b - A x), for a square A and
   a diagonal M. */
typedef struct {
  double current, before, correction;
} SpmvFactors;
typedef struct {
  const SpmvFactors *factors; /* in the plan's space; NULL: y = b - A x, and the rest is not read */
  const void        *m;       /* [rows], or NULL for the identity */
  const void        *b;       /* [rows]; y, x and b do not overlap */
  int                adds;    /* 0: y is not read, as if before were 0 */
} SpmvStep;
/* Whether the format of a plan has it; y, x and work as for spmv_mult() */
SPMV_API int        spmv_has_step(const SpmvPlan *);
SPMV_API SpmvStatus spmv_mult_step(const SpmvPlan *, const void *x, const SpmvStep *, void *y, void *work, SpmvExec *);
/* Must be called between build or new values and the first transposed product. It may allocate, which plan->memory then
   reports, and wait. A second call does nothing, and after new values a plan of A^T gets them in place. */
SPMV_API SpmvStatus spmv_prepare_transpose(SpmvPlan *, SpmvExec *);

/* New values of shape [nnz], in CSR order. No pattern comes with them: it must still be the one that the plan was built
   from, which is not checked. For a plan on the device, values may lie on the host or on the device; for a plan on the
   host, on the host only. Also to be called when values that the plan borrows have new contents: on the device a product
   may read the matrix before the kernel in front of it has ended, and waits for that end only before it touches x, y
   and work. This call puts the new values and the product in order. */
SPMV_API SpmvStatus spmv_update_values(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
/* Copies the values of the plan to values [nnz], in CSR order. Values on the host may be read when the call returns,
   values on the device later in the stream. */
SPMV_API SpmvStatus spmv_extract_values(const SpmvPlan *, void *values, SpmvSpace values_space, SpmvExec *);

/* Prints what is special to a plan, one line per fact */
SPMV_API void spmv_view(const SpmvPlan *, SpmvPrint, void *ctx);
/* Frees a plan and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_destroy(SpmvPlan **);

/* ------------------------------------------------------------------------------------------- 2. write a format --- */

/* Every private plan begins with this struct, so that the caller can read the sizes and destroy without a format */
struct SpmvPlan {
  const SpmvFormat       *format;
  const struct SpmvSlots *slots;
  SpmvOptions             options;
  int64_t                 rows, cols, nnz;
  SpmvIndex               index_type;
  SpmvScalar              scalar_type;
  SpmvSpace               space;
  SpmvMemory              memory;
  SpmvAllocator           host, device; /* hooks that made its arrays, and will free them */
  void                   *arrays;       /* on a device: one block of memory with all arrays that format.h allocated */
  struct {                              /* for products with A^T, where the format makes a plan of it */
    SpmvPlan *plan;                     /* NULL until it is made */
    void     *work, *csr;               /* of that plan: the work of its product, and the CSR that it borrows */
    void     *values;                   /* in that CSR, or NULL */
    void     *order;  /* where nonzero k of A^T is in A; 32 bits each, 64 if there are 2^31 or more; or NULL */
    int       is_old; /* the plan of A^T has other values than A */
  } transpose;
};

/* Nonzeros by coordinates in CSR order, in device memory: row [nnz], col [nnz], and values [nnz] of the plan's scalar
   type. row and col are NULL where values alone are wanted. Where diagonal [rows] is not NULL, row, col and values are:
   diagonal[i] becomes the diagonal entry of row i, and stays as it was in a row without one. */
typedef struct {
  int32_t *row, *col;
  void    *values, *diagonal;
} SpmvNonzeros;

/* Products with rounded values, of plans in double precision on a device; all three are there */
typedef struct {
  /* How many values the product reads; 0 where this plan has no such product */
  int64_t (*count)(const SpmvPlan *);
  /* Writes them to rounded [count] */
  SpmvStatus (*round)(const SpmvPlan *, float *rounded, SpmvExec *);
  /* As mult of SpmvSlots with rounded in place of the values of the plan; x, y, work and sums are double */
  SpmvStatus (*mult)(const SpmvPlan *, const float *rounded, const void *alpha, const void *x, const void *beta,
                     void *y, void *work, SpmvExec *);
} SpmvRoundedSlots;

/* The functions of a format for one space: a constant table. spmv_analyze() to spmv_destroy() check arguments, choose the table, and
   do what is the same for all formats: they allocate and free the structs of analyses and plans, scale y, keep a plan
   of A^T. A slot is mandatory unless it says "may be NULL". */
typedef struct SpmvSlots {
  /* Bytes of SpmvAnalysis.data, and of the plan, which begins with an SpmvPlan. The slots get both structs zeroed. */
  int64_t analysis_bytes, plan_bytes;

  /* May be NULL. The table that serves these options in place of this one: another layout of the format. */
  const struct SpmvSlots *(*choose)(const SpmvOptions *);

  /* Reads the pattern only. It succeeds for every valid matrix, of any shape. It sets memory to the exact bytes of the
     plan; a size that does not fit int64_t becomes one that no memory has. */
  SpmvStatus (*analyze)(const SpmvPattern *, SpmvAnalysis *, SpmvExec *);
  /* May be NULL. Frees what the data of an analysis points to, also after a failure. */
  void (*clear_analysis)(void *data, SpmvExec *);

  /* Fills a plan, whose common part is set. A pattern that was declined must be built too, so that a user can insist;
     where that is not feasible it fails with SPMV_ERR_MEMORY or SPMV_ERR_OVERFLOW. What it has allocated by then is
     freed by clear.

     A format that borrows may keep pointers to those arrays of the CSR that lie in the plan's space: the
     arrays must then outlive the plan, and the pattern must neither change nor be moved. All other formats copy. */
  SpmvStatus (*build)(const SpmvCsr *, const SpmvAnalysis *, SpmvPlan *, SpmvExec *);

  /* Copies values into the plan; those of a plan on the host lie there. No pattern comes with them: the
     plan itself must tell where each value belongs. On the device a product may begin before the kernels in front of it
     have ended: device/overlap.cuh says what must follow the writing of values. */
  SpmvStatus (*update_values)(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
  /* Copies the values back, into the plan's space. May be NULL if list_nonzeros is there. */
  SpmvStatus (*extract_values)(const SpmvPlan *, void *values, SpmvExec *);

  /* As spmv_mult(), but alpha is not 0 and there are nonzeros */
  SpmvStatus (*mult)(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                     SpmvExec *);
  /* May be NULL. y += alpha A^T x, with alpha not 0 and nonzeros; y has been scaled. */
  SpmvStatus (*add_transposed)(const SpmvPlan *, const void *alpha, const void *x, void *y, SpmvExec *);
  /* In tables for the device; may be NULL. Without add_transposed, a plan of A^T is made from this list, of the same format and
     with the same options. For a diagonal it only enqueues. */
  SpmvStatus (*list_nonzeros)(const SpmvPlan *, const SpmvNonzeros *, SpmvExec *);
  /* May be NULL. Makes the plan of A^T in another way. */
  SpmvStatus (*prepare_transpose)(SpmvPlan *, SpmvExec *);

  /* Prints one line per fact about a plan that is not common to all formats */
  void (*view)(const SpmvPlan *, SpmvPrint, void *ctx);
  /* May be NULL. Frees the arrays of a plan, also of one whose build failed. */
  void (*clear)(SpmvPlan *);
  /* May be NULL */
  const SpmvRoundedSlots *rounded;
  /* May be NULL. As spmv_mult_step(), for plans with nonzeros. */
  SpmvStatus (*step)(const SpmvPlan *, const void *x, const SpmvStep *, void *y, void *work, SpmvExec *);
} SpmvSlots;

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
/* Frees a block by the hooks of a plan */
SPMV_API void spmv_plan_free(const SpmvPlan *, SpmvSpace, void *block);

/* Adds an array to a memory report and to its total */
SPMV_API void spmv_memory_add(SpmvMemory *, const char *name, SpmvArrayKind, int64_t bytes);

static inline int64_t spmv_index_bytes(SpmvIndex t) { return t == SPMV_I64 ? 8 : 4; }
static inline int64_t spmv_scalar_bytes(SpmvScalar t) { return t == SPMV_F32 ? 4 : 8; }

/* --------------------------------------------------------------------------------------- 3. devices and copies --- */

/* CUDA devices that can be used: 0 when the library was built without CUDA or the machine has none. reason (may be
   NULL) tells which of the two. Asked once per process. */
SPMV_API int spmv_device_count(char reason[SPMV_MESSAGE_MAX]);

/* A number that is another one for each device of the host, or -1 where it is not known: of the current device */
SPMV_API int64_t spmv_device_place(void);

/* Free and total bytes of the current device */
SPMV_API SpmvStatus spmv_device_memory(int64_t *free_bytes, int64_t *total_bytes, SpmvExec *);

/* Device memory without hooks comes from a pool of each device, which keeps some of what is freed for the next
   conversion: at most so many bytes; -1, the default: 64 MiB; 0: nothing, all is given back at once. Memory that is
   kept serves this library alone. Any thread may call it at any time. */
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

   From 4 MiB on, pageable memory goes to a device, and comes from it, through pinned buffers that up to 8 threads fill or
   empty, as many as the processors that the calling thread may run on; they end with the call. With one processor, while the stream is being
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

/* -------------------------------------------------------------------------------------- 4. products of matrices --- */

/* C = A B, A^T B, B^T A B (B is called P then), or B A B^T (B is called R then) */
typedef enum { SPMV_SPGEMM_AB, SPMV_SPGEMM_ATB, SPMV_SPGEMM_PTAP, SPMV_SPGEMM_RART } SpmvSpgemmKind;

/* What a product of two patterns needs to be computed again with other values; serves one numeric call at a time */
typedef struct SpmvSpgemm SpmvSpgemm;

/* Finds the pattern of C: an entry is there if some product of an entry of A and one of B belongs to it, whatever their
   values. Both patterns lie in exec->space and have the same index type; columns ascend strictly. Rows, columns and
   nonzeros of A, B, C and of what lies between them must fit 32 bits, else SPMV_ERR_OVERFLOW. The patterns may be freed
   afterwards. *product is NULL after a failure. On the device it waits a few times. */
SPMV_API SpmvStatus spmv_spgemm_symbolic(SpmvSpgemmKind, const SpmvPattern *a, const SpmvPattern *b, SpmvScalar,
                                         SpmvExec *, SpmvSpgemm **product);
/* The pattern of C, in the space of the product and of the index type of A and B; columns ascend. It belongs to the
   product and lives as long. */
SPMV_API void spmv_spgemm_pattern(const SpmvSpgemm *, SpmvPattern *c);
/* The values of C from those of A and B, all in the space of the product and in CSR order. Every sum has a fixed order:
   the same values give the same bits. It may allocate scratch and wait; not for small matrices. */
SPMV_API SpmvStatus spmv_spgemm_numeric(SpmvSpgemm *, const void *a_values, const void *b_values, void *c_values,
                                        SpmvExec *);
/* Bytes that the product holds, the most that a numeric call has needed beyond that, and the additions and
   multiplications of a numeric call */
SPMV_API void spmv_spgemm_info(const SpmvSpgemm *, int64_t *bytes, int64_t *scratch_bytes, double *flops);
/* Frees a product and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_spgemm_destroy(SpmvSpgemm **);

#ifdef __cplusplus
}
#endif
#include "spmv_values.h"
#endif
