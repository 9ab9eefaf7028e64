/* The advice as JSON: what the program writes with --json, what Python reads, and what the HTML page is made from. */
#include "advise.h"
#include <math.h>
#include <stdlib.h>

enum { FORMAT_VERSION = 1 /* raised when a name goes or gets another meaning */ };

static void String(FILE *out, const char *text)
{
  fputc('"', out);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\') fprintf(out, "\\%c", *c);
    else if (*c < ' ') fprintf(out, "\\u%04x", *c);
    else fputc(*c, out);
  }
  fputc('"', out);
}

static void Member(FILE *out, const char *name, const char *text)
{
  fprintf(out, "\"%s\": ", name);
  if (text) String(out, text);
  else fprintf(out, "null");
}

/* JSON has no infinity */
static void Number(FILE *out, const char *name, double value)
{
  fprintf(out, "\"%s\": ", name);
  if (isfinite(value)) fprintf(out, "%.15g", value);
  else fprintf(out, "null");
}

static void OrNull(FILE *out, const char *name, double value, PetscBool known)
{
  Number(out, name, known ? value : INFINITY);
}

static void Facts(FILE *out, const AdviceFacts *f)
{
  const char *separator = "";

  fprintf(out, "  \"rows\": %.0f,\n  \"cols\": %.0f,\n  \"nonzeros\": %.0f,\n", f->rows, f->cols, f->nonzeros);
  fprintf(out, "  \"row_lengths\": {\"min\": %.0f, \"mean\": %.15g, \"max\": %.0f, \"empty_rows\": %.0f,\n",
          f->shortest, f->rows > 0 ? f->nonzeros / f->rows : 0, f->longest, f->empty_rows);
  fprintf(out, "    \"histogram\": [");
  for (int i = 0; i < ADVICE_LENGTHS; i++) {
    double from, to;

    if (f->lengths[i] == 0) continue;
    AdviceLengthClass(i, &from, &to);
    fprintf(out, "%s{\"from\": %.0f, \"to\": %.0f, \"rows\": %.0f}", separator, from, to, f->lengths[i]);
    separator = ", ";
  }
  fprintf(out, "]},\n  \"block\": {\"size\": %d, \"fill\": %.15g},\n", f->block, f->block_fill);
  fprintf(out, "  \"bandwidth\": {\"lower\": %.0f, \"upper\": %.0f},\n  \"symmetry\": {", f->lower, f->upper);
  Member(out, "structure", f->structure);
  fprintf(out, ", ");
  Member(out, "values", f->values);
  fprintf(out, "},\n  \"pattern\": {\"rows\": %d, \"cols\": %d, \"nonzeros\": [", f->cell_rows, f->cell_cols);
  for (int i = 0; i < f->cell_rows; i++) {
    fprintf(out, "%s\n    [", i ? "," : "");
    for (int j = 0; j < f->cell_cols; j++) fprintf(out, "%s%.0f", j ? ", " : "", f->cells[i * f->cell_cols + j]);
    fprintf(out, "]");
  }
  fprintf(out, "]},\n");
}

static void Type(FILE *out, const AdviceRow *row, const AdviceRow *parent, int place)
{
  const AdviceCost *cost = &row->at[place], *compared = &parent->at[place];
  const double      pays = AdvicePaysAfter(cost, compared);

  fprintf(out, "      {");
  Member(out, "type", AdviceType(row, place));
  fprintf(out, ", ");
  Number(out, "bytes", cost->bytes);
  fprintf(out, ", ");
  OrNull(out, "product", cost->product, cost->known);
  fprintf(out, ", ");
  OrNull(out, "conversion", cost->convert, cost->known);
  fprintf(out, ", ");
  OrNull(out, "measured_product", cost->measured, cost->measured > 0);
  fprintf(out, ", ");
  OrNull(out, "measured_conversion", cost->measured_convert, cost->measured > 0);
  fprintf(out, ", ");
  OrNull(out, "pays_after", pays, row->format && pays > 0);
  fprintf(out, ",\n       \"blocks\": %.0f, \"declined\": %.0f, ", cost->blocks, cost->declined);
  Member(out, "reason", cost->reason[0] ? cost->reason : NULL);
  fprintf(out, "}");
}

static void Place(FILE *out, MatAIJFmtAdvice advice, int place)
{
  const AdvicePlaceInfo *p = &advice->place[place];
  const SpmvMachine     *m = &p->machine;
  char                   options[PETSC_MAX_PATH_LEN];

  snprintf(options, sizeof options, "-%smat_type %s", advice->prefix ? advice->prefix : "",
           AdviceType(&advice->row[p->best], place));
  fprintf(out, "    {");
  Member(out, "name", p->name);
  fprintf(out, ", ");
  Member(out, "title", p->title);
  fprintf(out, ", ");
  Member(out, "note", p->note);
  fprintf(out, ",\n     \"machine\": {\"bandwidth\": %.6g, \"cache_bandwidth\": %.6g, \"cache_bytes\": %.6g, ",
          m->bandwidth, m->cache_bandwidth, m->cache_bytes);
  fprintf(out, "\"rate\": %.6g, \"launch\": %.6g},\n     ", m->rate, m->launch);
  Member(out, "best", AdviceType(&advice->row[p->best], place));
  fprintf(out, ", ");
  Member(out, "options", options);
  fprintf(out, ",\n     \"types\": [\n");
  for (int i = 0; i < advice->count; i++) {
    if (i) fprintf(out, ",\n");
    Type(out, &advice->row[i], &advice->row[0], place);
  }
  fprintf(out, "]}");
}

static void Document(FILE *out, MatAIJFmtAdvice advice)
{
  const char *separator = "";

  fprintf(out, "{\n  \"version\": %d,\n  ", FORMAT_VERSION);
  Member(out, "name", advice->name);
  fprintf(out, ",\n  \"processes\": %d,\n  \"measured\": %s,\n", (int)advice->processes,
          advice->measured ? "true" : "false");
  Facts(out, &advice->facts);
  fprintf(out, "  \"places\": [\n");
  for (int place = 0; place < ADVICE_PLACES; place++) {
    if (!advice->place[place].present) continue;
    fprintf(out, "%s", separator);
    Place(out, advice, place);
    separator = ",\n";
  }
  fprintf(out, "\n  ]\n}\n");
}

/* Makes advice->json, once */
PetscErrorCode AdviceJSON(MatAIJFmtAdvice advice)
{
  size_t length;
  FILE  *out;

  PetscFunctionBegin;
  if (advice->json) PetscFunctionReturn(PETSC_SUCCESS);
  out = open_memstream(&advice->json, &length);
  PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the text of an advice");
  Document(out, advice);
  if (fclose(out)) {
    free(advice->json);
    advice->json = NULL;
  }
  PetscCheck(advice->json, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the text of an advice");
  PetscFunctionReturn(PETSC_SUCCESS);
}
