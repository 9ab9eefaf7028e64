/* The tables of formats and papers, expanded from formats.def and papers.def, and the check that each is complete. */
#include <spmv_kernels.h>
#include <stdio.h>
#include <string.h>

#define SPMV_FORMAT(name, TYPE, summary) extern const SpmvFormat spmv_format_##name;
#include "formats.def"
#undef SPMV_FORMAT
#if defined(SPMV_PAPERS)
  #define SPMV_PAPER(name) extern const SpmvPaper spmv_paper_##name;
  #include "papers/papers.def"
  #undef SPMV_PAPER
#endif

static const SpmvFormat *const formats[] = {
#define SPMV_FORMAT(name, TYPE, summary) &spmv_format_##name,
#include "formats.def"
#undef SPMV_FORMAT
};

static const SpmvPaper *const papers[] = {
#if defined(SPMV_PAPERS)
  #define SPMV_PAPER(name) &spmv_paper_##name,
  #include "papers/papers.def"
  #undef SPMV_PAPER
#endif
    NULL,
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

const SpmvPaper *spmv_format_paper(const SpmvFormat *format)
{
  for (int i = 0; papers[i]; i++)
    if (!strcmp(papers[i]->format, format->name)) return papers[i];
  return NULL;
}

static SpmvStatus fault(const SpmvFormat *f, const char *what, char *message)
{
  snprintf(message, SPMV_MESSAGE_MAX, "format %s: %s", f->name ? f->name : "(no name)", what);
  return SPMV_ERR_FORMAT;
}

/* The first fault of a table of slots, or NULL */
static const char *slots_fault(const SpmvSlots *s)
{
  if (!s->analyze || !s->build || !s->update_values || !s->mult || !s->view ||
      s->plan_bytes < (int64_t)sizeof(SpmvPlan))
    return "a mandatory slot is NULL";
  if (!s->add_transposed && !s->list_nonzeros && !s->prepare_transpose) return "no slot for transposed products";
  if (!s->extract_values && !s->list_nonzeros) return "no slot that reads values back: extract_values or list_nonzeros";
  return NULL;
}

SpmvStatus spmv_format_check(const SpmvFormat *f, char message[SPMV_MESSAGE_MAX])
{
  const SpmvPaper       *paper    = f->name ? spmv_format_paper(f) : NULL;
  const SpmvSlots *const tables[] = {f->host, f->device, paper ? paper->host : NULL, paper ? paper->device : NULL};
  int                    options  = 0;

  message[0] = 0;
  if (f->abi != SPMV_ABI) return fault(f, "built for another SPMV_ABI", message);
  if (!f->name || !f->summary) return fault(f, "no name or summary", message);
  if (!f->host && !f->device) return fault(f, "neither host nor device plans", message);
  for (int i = 0; i < 4; i++) {
    const char *what = tables[i] ? slots_fault(tables[i]) : NULL;
    if (what) return fault(f, what, message);
  }
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
