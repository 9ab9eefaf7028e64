/*
  tables.h - the tables of options that belong to no format, and the names of all options in PETSc's database

  It does not include PETSc, because the program that writes docs/options reads it too.
*/
#pragma once

#include <spmv_kernels.h>

/* Positions in the table of options that all formats share, -mat_aijfmt_* */
enum { AIJFMT_CHECK, AIJFMT_DECLINE, AIJFMT_DEVICE };
/* The choices of -mat_aijfmt_device */
enum { AIJFMT_AUTO, AIJFMT_ON_HOST, AIJFMT_ON_GPU };

/* Positions in the table of options of aijauto, -mat_aijauto_* */
enum { AIJAUTO_EXPECTED, AIJAUTO_TRIAL };
/* Positions in the table of options of the process, -petscpack_* */
enum { PETSCPACK_DEVICE_KEEP };

/* Not formats: spmv_options_*() take their names and tables */
extern const SpmvFormat AIJFmtClassTable;   /* of a matrix of any packed type */
extern const SpmvFormat AIJFmtAutoTable;    /* of a matrix of type aijauto, instead of a format */
extern const SpmvFormat AIJFmtProcessTable; /* of the process, -petscpack_* */

/* "-mat_aijrbp_min_run" */
void AIJFmtOptionName(const SpmvFormat *, const char key[], char name[], size_t size);
