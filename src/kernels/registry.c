/* The table of formats, expanded from formats.def, and the check that each row is complete. */
#include <spmv_kernels.h>
#include <stdio.h>
#include <string.h>

#define SPMV_FORMAT(name, TYPE, summary) extern const SpmvFormat spmv_format_##name;
#include "formats.def"
#undef SPMV_FORMAT

static const SpmvFormat *const formats[] = {
#define SPMV_FORMAT(name, TYPE, summary) &spmv_format_##name,
#include "formats.def"
#undef SPMV_FORMAT
};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

int spmv_format_count(void) { return FORMAT_COUNT; }

const SpmvFormat *spmv_format_get(int i) { return i >= 0 && i < FORMAT_COUNT ? formats[i] : NULL; }

const SpmvFormat *spmv_format_find(const char *name)
{
  for (int i = 0; i < FORMAT_COUNT; i++)
    if (!strcmp(formats[i]->name, name)) return formats[i];
  return NULL;
}

static SpmvStatus fault(const SpmvFormat *f, const char *what, char *message)
{
  snprintf(message, SPMV_MESSAGE_MAX, "format %s: %s", f->name ? f->name : "(no name)", what);
  return SPMV_ERR_FORMAT;
}

SpmvStatus spmv_format_check(const SpmvFormat *f, char message[SPMV_MESSAGE_MAX])
{
  int options = 0;

  message[0] = 0;
  if (f->abi != SPMV_ABI) return fault(f, "built for another SPMV_ABI", message);
  if (!f->name || !f->summary) return fault(f, "no name or summary", message);
  if (!f->analyze || !f->build || !f->mult || !f->memory || !f->view || !f->destroy)
    return fault(f, "a mandatory slot is NULL", message);
  if (!(f->caps & (SPMV_CAP_HOST | SPMV_CAP_DEVICE))) return fault(f, "neither host nor device plans", message);
  if (!(f->caps & SPMV_CAP_TRANSPOSE) != !f->multtranspose)
    return fault(f, "SPMV_CAP_TRANSPOSE and the slot multtranspose disagree", message);
  if (f->prepare_transpose && !f->multtranspose) return fault(f, "prepare_transpose without multtranspose", message);
  if (!(f->caps & SPMV_CAP_UPDATE) != !f->update_values)
    return fault(f, "SPMV_CAP_UPDATE and the slot update_values disagree", message);
  for (; f->options && f->options[options].key; options++) {
    const SpmvOptionDesc *d = &f->options[options];
    if (!d->help || (d->kind == SPMV_OPTION_ENUM && !d->choices))
      return fault(f, "an option lacks help or choices", message);
  }
  if (options > SPMV_OPTIONS_MAX) return fault(f, "more than SPMV_OPTIONS_MAX options", message);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_registry_check(char message[SPMV_MESSAGE_MAX])
{
  for (int i = 0; i < FORMAT_COUNT; i++) {
    SpmvStatus status = spmv_format_check(formats[i], message);
    if (status) return status;
  }
  return SPMV_SUCCESS;
}
