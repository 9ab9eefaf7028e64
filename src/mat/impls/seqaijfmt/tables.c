/* The tables of options that belong to no format. */
#include "tables.h"
#include <petscpack.h>
#include <stdio.h>

static const char *const places[] = {MATAIJFMT_DEVICE_AUTO, MATAIJFMT_DEVICE_HOST, MATAIJFMT_DEVICE_GPU, NULL};

static const SpmvOptionDesc class_rows[] = {
    [AIJFMT_CHECK] = {"check", SPMV_OPTION_BOOL, 0, 0, 1, NULL,
                      "compare every product with that of the parent type, and stop where they differ"},
    [AIJFMT_EAGER] = {"eager", SPMV_OPTION_BOOL, 0, 0, 1, NULL, "convert at assembly, not at the first product"},
    [AIJFMT_DECLINE] =
        {"decline", SPMV_OPTION_BOOL, 1, 0, 1, NULL,
         "let the analysis of a pattern leave the products to the parent type; false insists on the format"},
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

static const SpmvOptionDesc process_rows[] = {
    {"device_keep", SPMV_OPTION_INT, -1, -1, 1e15, NULL,
     "bytes of freed memory of each device that are kept for the next matrix; -1: 64 MiB"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

const SpmvFormat AIJFmtClassTable = {
    .abi = SPMV_ABI, .name = "fmt", .summary = "What matrices of all packed types have", .options = class_rows};
const SpmvFormat AIJFmtProcessTable = {
    .abi = SPMV_ABI, .name = "petscpack", .summary = "What holds for the whole process", .options = process_rows};

void AIJFmtOptionName(const SpmvFormat *table, const char key[], char name[], size_t size)
{
  snprintf(name, size, "-%s%s_%s", table == &AIJFmtProcessTable ? "" : "mat_aij", table->name, key);
}
