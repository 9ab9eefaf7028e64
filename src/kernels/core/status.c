/* Texts of the status codes, and spmv_fail(), through which every failure is reported with its values. */
#include <spmv_kernels.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const status_text[SPMV_STATUS_COUNT] = {
    [SPMV_SUCCESS]         = "success",
    [SPMV_ERR_ARGUMENT]    = "invalid argument",
    [SPMV_ERR_OPTION]      = "invalid option",
    [SPMV_ERR_MATRIX]      = "invalid CSR matrix",
    [SPMV_ERR_MEMORY]      = "out of memory",
    [SPMV_ERR_OVERFLOW]    = "count too large for the index type",
    [SPMV_ERR_UNSUPPORTED] = "not supported by this format",
    [SPMV_ERR_DEVICE]      = "CUDA error",
    [SPMV_ERR_FORMAT]      = "incomplete format",
    [SPMV_ERR_PEER]        = "another process does not answer",
};

const char *spmv_status_text(SpmvStatus status)
{
  return (unsigned)status < SPMV_STATUS_COUNT ? status_text[status] : "unknown status";
}

SpmvStatus spmv_fail(SpmvExec *exec, SpmvStatus status, const char *format, ...)
{
  if (exec) {
    va_list args;
    va_start(args, format);
    vsnprintf(exec->message, sizeof exec->message, format, args);
    va_end(args);
  }
  return status;
}
