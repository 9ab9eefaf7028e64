/* library.h - libraries of the user that are opened at run time. */
#pragma once

#include "format.h"

SPMV_C_BEGIN

/* Opens a library, which stays open, and writes the addresses of its functions of these names to a table of as many
   pointers to functions. *handle is NULL after a failure, and the message says what is missing. */
SpmvStatus spmv_library_open(const char *path, const char *what, int functions, const char *const name[], void *table,
                             void **handle, SpmvExec *);

SPMV_C_END
