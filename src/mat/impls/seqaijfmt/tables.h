/*
  tables.h - the tables of options that belong to no format, and the names of all options in PETSc's database

  It knows no PETSc, so that the program that writes docs/options reads them too.
*/
#pragma once

#include <spmv_kernels.h>

/* Positions in the table of options that all formats share, -mat_aijfmt_* */
enum { AIJFMT_CHECK, AIJFMT_EAGER, AIJFMT_DECLINE, AIJFMT_DEVICE, AIJFMT_VALUES, AIJFMT_PRODUCTS };
/* The choices of the last three */
enum { AIJFMT_AUTO, AIJFMT_ON_HOST, AIJFMT_ON_GPU };
/* The choices of AIJFMT_DECLINE: never; or by bytes; and by predicted or by measured time besides */
enum { AIJFMT_INSIST, AIJFMT_BY_BYTES, AIJFMT_BY_PREDICTION, AIJFMT_BY_MEASUREMENT };

/* Positions in the table of options of aijauto, -mat_aijauto_* */
enum { AIJAUTO_EXPECTED, AIJAUTO_TRIAL };
/* Positions in the table of options of the process that describe the machine: 0 where it is measured */
enum {
  PETSCPACK_DEVICE_KEEP,
  PETSCPACK_HOST_BANDWIDTH,
  PETSCPACK_HOST_RATE,
  PETSCPACK_GPU_BANDWIDTH,
  PETSCPACK_GPU_LAUNCH,
  PETSCPACK_PROBE_DAYS,
  PETSCPACK_HOST_PROCESSOR
};
/* The choices of the last one */
enum { PETSCPACK_PROCESSOR_AUTO, PETSCPACK_PROCESSOR_AMD, PETSCPACK_PROCESSOR_INTEL, PETSCPACK_PROCESSOR_OTHER };

/* Not formats: they lend their names and tables to spmv_options_*() */
extern const SpmvFormat AIJFmtClassTable;   /* of a matrix of any packed type */
extern const SpmvFormat AIJFmtAutoTable;    /* of a matrix of type aijauto, in the place of a format */
extern const SpmvFormat AIJFmtProcessTable; /* of the process, -petscpack_* */

/* "-mat_aijrbp_min_run" */
void AIJFmtOptionName(const SpmvFormat *, const char key[], char name[], size_t size);
