/* The tables of options that belong to no format. */
#include "tables.h"
#include <petscpack.h>
#include <stdio.h>

static const char *const places[]   = {MATAIJFMT_DEVICE_AUTO, MATAIJFMT_DEVICE_HOST, MATAIJFMT_DEVICE_GPU, NULL};
static const char *const declines[] = {"false", "bytes", "predicted", "measured", NULL};

static const char *const processors[] = {"auto", "amd", "intel", "other", NULL};

static const SpmvOptionDesc class_rows[] = {
    [AIJFMT_CHECK] = {"check", SPMV_OPTION_BOOL, 0, 0, 1, NULL,
                      "compare every product with that of the parent type, and stop where they differ"},
    [AIJFMT_EAGER] = {"eager", SPMV_OPTION_BOOL, 0, 0, 1, NULL, "convert at assembly, not at the first product"},
    [AIJFMT_DECLINE] =
        {"decline", SPMV_OPTION_ENUM, AIJFMT_BY_PREDICTION, 0, 0, declines,
         "when the parent type does the products; bytes: where the format needs more of them; predicted, or true: also "
         "where its products are expected to be slower; measured: where the first products were slower; false: never"},
    [AIJFMT_DEVICE] =
        {"device", SPMV_OPTION_ENUM, AIJFMT_AUTO, 0, 0, places,
         "where the packed arrays lie; auto: on the GPU, where there is one; a small matrix, where its vectors are"},
    [AIJFMT_VALUES]   = {"values", SPMV_OPTION_ENUM, AIJFMT_AUTO, 0, 0, places,
                         "where values are changed, added and multiplied; gpu: in a CSR on the GPU; host: without one; "
                           "auto: on the host "
                           "until an operation is faster on the GPU, or values arrive there"},
    [AIJFMT_PRODUCTS] = {"products", SPMV_OPTION_ENUM, AIJFMT_AUTO, 0, 0, places,
                         "where products of matrices are computed; auto: on the GPU, where there is one, but small "
                         "ones where the values are"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

static const SpmvOptionDesc auto_rows[] = {
    [AIJAUTO_EXPECTED] =
        {"expected", SPMV_OPTION_INT, 0, 0, 1e15, NULL,
         "products for which a conversion must pay; 0: as many as the pattern before had, at first 500"},
    [AIJAUTO_TRIAL] = {"trial", SPMV_OPTION_INT, 0, 0, 1000, NULL,
                       "products that each of the three best formats does before one of them is chosen by its time; "
                       "0: none, the choice follows the prediction"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

static const SpmvOptionDesc process_rows[] = {
    {"device_keep", SPMV_OPTION_INT, -1, -1, 1e15, NULL,
     "bytes of freed memory of each device that are kept for the next matrix; -1: 64 MiB"},
    {"host_bandwidth", SPMV_OPTION_REAL, 0, 0, 1e18, NULL,
     "bytes per second that one core reads from memory, for predictions; 0: measured once, and kept in a file"},
    {"host_rate", SPMV_OPTION_REAL, 0, 0, 1e18, NULL,
     "nonzeros per second that one core multiplies as plain CSR in its cache; 0: measured once, and kept in a file"},
    {"gpu_bandwidth", SPMV_OPTION_REAL, 0, 0, 1e18, NULL,
     "bytes per second that the GPU reads and writes when it copies; 0: measured once, and kept in a file"},
    {"gpu_launch", SPMV_OPTION_REAL, 0, 0, 1, NULL,
     "seconds from one launch of a kernel to the next; 0: measured once, and kept in a file"},
    {"probe_days", SPMV_OPTION_REAL, 30, 0, 1e6, NULL,
     "days after which measured numbers of the machine are measured again; 0: never"},
    {"host_processor", SPMV_OPTION_ENUM, PETSCPACK_PROCESSOR_AUTO, 0, 0, processors,
     "the maker of the processor, for predictions: what products cost besides memory; auto: of the one that is there"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

const SpmvFormat AIJFmtClassTable = {
    .abi = SPMV_ABI, .name = "fmt", .summary = "What matrices of all packed types have", .options = class_rows};
/* Of what formats can do, what is asked before one of them is chosen: whether a plan may lie on the GPU */
#if defined(SPMV_HAVE_CUDA)
enum { AUTO_CAPS = SPMV_CAP_DEVICE };
#else
enum { AUTO_CAPS = 0 };
#endif

const SpmvFormat AIJFmtAutoTable    = {.abi     = SPMV_ABI,
                                       .caps    = AUTO_CAPS,
                                       .name    = "auto",
                                       .summary = "The choice among the formats",
                                       .options = auto_rows};
const SpmvFormat AIJFmtProcessTable = {
    .abi = SPMV_ABI, .name = "petscpack", .summary = "What holds for the whole process", .options = process_rows};

void AIJFmtOptionName(const SpmvFormat *table, const char key[], char name[], size_t size)
{
  snprintf(name, size, "-%s%s_%s", table == &AIJFmtProcessTable ? "" : "mat_aij", table->name, key);
}
