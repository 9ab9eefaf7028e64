/* The tables of options that belong to no format. */
#include "tables.h"
#include <stdio.h>

static const char *const places[] = {"auto", "host", "gpu", NULL};

static const SpmvOptionDesc class_rows[] = {
    [AIJFMT_CHECK]   = {"check", SPMV_OPTION_BOOL, 0, 0, 1, NULL, "compare products with the parent type's",
                        "compare every product with that of the parent type, and stop with an error if they differ"},
    [AIJFMT_DECLINE] = {"decline", SPMV_OPTION_BOOL, 1, 0, 1, NULL, "do not pack what CSR stores in less",
                        "the parent type does the products if the packed arrays would take more bytes than CSR, or "
                        "if no format takes the pattern; false: pack such a pattern, or stop with an error"},
    [AIJFMT_DEVICE]  = {"device", SPMV_OPTION_ENUM, AIJFMT_AUTO, 0, 0, places, "where to store and compute",
                        "where packed arrays are stored and where products and values are computed; auto: on the GPU "
                         "if there is one, but small matrices where their vectors are; gpu: small matrices too"},
    {.key = NULL},
};

static const SpmvOptionDesc auto_rows[] = {
    [AIJAUTO_EXPECTED] = {"expected", SPMV_OPTION_INT, 0, 0, 1e15, NULL, "products expected of a pattern; 0: learned",
                          "products within which a conversion must pay; 0: as many as the last pattern had, at "
                          "first 500"},
    [AIJAUTO_TRIAL]    = {"trial", SPMV_OPTION_INT, 0, 0, 1000, NULL,
                          "products measured per type; results may vary by run",
                          "products that are measured, of the parent type and then of each format tried, at most "
                             "two; the fastest stays; "
                             "results may differ between runs in the last bits; 0: the choice follows predictions"},
    {.key = NULL},
};

static const SpmvOptionDesc process_rows[] = {
    [PETSCPACK_DEVICE_KEEP] = {"device_keep", SPMV_OPTION_INT, -1, -1, 1e15, NULL,
                               "bytes of freed GPU memory to keep; -1: a 64th of all, at least 64 MiB",
                               "bytes of freed memory on each device that are kept for the next matrix; -1: a 64th of "
                               "its memory, at least 64 MiB"},
    {.key = NULL},
};

const SpmvFormat AIJFmtClassTable = {
    .abi = SPMV_ABI, .name = "fmt", .summary = "Options that all packed types share", .options = class_rows};
const SpmvFormat AIJFmtAutoTable = {
    .abi = SPMV_ABI, .name = "auto", .summary = "The choice among the formats", .options = auto_rows};
const SpmvFormat AIJFmtProcessTable = {
    .abi = SPMV_ABI, .name = "petscpack", .summary = "Options of the whole process", .options = process_rows};

void AIJFmtOptionName(const SpmvFormat *table, const char key[], char name[], size_t size)
{
  snprintf(name, size, "-%s%s_%s", table == &AIJFmtProcessTable ? "" : "mat_aij", table->name, key);
}
