/* The advice as JSON: the program writes it with --json, Python reads it, and the HTML page is made from it. */
#include "advise.h"
#include <math.h>

enum { FORMAT_VERSION = 2 /* raised when a name is removed or changes its meaning */ };

/* Each function writes a member with a comma after it; the caller writes the last member of an object */
static void Text(FILE *out, const char *name, const char *text)
{
  fprintf(out, "\"%s\": \"", name);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c == '"' || *c == '\\') fprintf(out, "\\%c", *c);
    else if (*c < ' ') fprintf(out, "\\u%04x", *c);
    else fputc(*c, out);
  fprintf(out, "\", ");
}

/* JSON has neither NaN nor infinity */
static void Number(FILE *out, const char *name, double value)
{
  if (isfinite(value)) fprintf(out, "\"%s\": %.15g, ", name, value);
  else fprintf(out, "\"%s\": null, ", name);
}

static void Facts(FILE *out, const AdviceFacts *f)
{
  const char *separator = "";

  fprintf(out, "  \"rows\": %.0f,\n  \"cols\": %.0f,\n  \"nonzeros\": %.0f,\n", f->rows, f->cols, f->sum.nonzeros);
  fprintf(out, "  \"row_lengths\": {\"min\": %.0f, \"mean\": %.15g, \"max\": %.0f, \"empty_rows\": %.0f,\n",
          fabs(f->most.minus_shortest), f->rows > 0 ? f->sum.nonzeros / f->rows : 0, f->most.longest,
          f->sum.empty_rows);
  fprintf(out, "    \"histogram\": [");
  for (int i = 0; i < ADVICE_LENGTHS; i++) {
    double from, to;

    if (f->sum.lengths[i] == 0) continue;
    AdviceLengthClass(i, &from, &to);
    fprintf(out, "%s{\"from\": %.0f, \"to\": %.0f, \"rows\": %.0f}", separator, from, to, f->sum.lengths[i]);
    separator = ", ";
  }
  fprintf(out, "]},\n  \"block\": {\"size\": %d, \"fill\": %.15g},\n", f->block, f->block_fill);
  fprintf(out, "  \"bandwidth\": {\"lower\": %.0f, \"upper\": %.0f},\n", f->most.lower, f->most.upper);
  fprintf(out, "  \"symmetry\": {\"structure\": \"%s\", \"values\": \"%s\"},\n", f->structure, f->values);
  fprintf(out, "  \"pattern\": {\"rows\": %d, \"cols\": %d, \"nonzeros\": [", f->cell_rows, f->cell_cols);
  for (int i = 0; i < f->cell_rows; i++) {
    fprintf(out, "%s\n    [", i ? "," : "");
    for (int j = 0; j < f->cell_cols; j++) fprintf(out, "%s%.0f", j ? ", " : "", f->sum.cells[i * f->cell_cols + j]);
    fprintf(out, "]");
  }
  fprintf(out, "]},\n");
}

static void Type(FILE *out, const AdviceCost *cost, const AdviceCost *parent)
{
  fprintf(out, "      {");
  Text(out, "type", cost->type);
  Number(out, "bytes", cost->bytes);
  Number(out, "product", cost->product);
  Number(out, "conversion", cost->convert);
  Number(out, "measured_product", cost->measured);
  Number(out, "measured_conversion", cost->measured_convert);
  Number(out, "pays_after", AdvicePaysAfter(cost, parent));
  if (cost->reason[0]) Text(out, "reason", cost->reason);
  else fprintf(out, "\"reason\": null, ");
  fprintf(out, "\"blocks\": %.0f, \"declined\": %.0f}", cost->blocks, cost->declined);
}

static void Place(FILE *out, const Advice *advice, const AdvicePlace *place)
{
  const char *best = place->row[place->best].type;
  char        options[PETSC_MAX_PATH_LEN];

  snprintf(options, sizeof options, "-%smat_type %s", advice->prefix ? advice->prefix : "", best);
  fprintf(out, "    {");
  Text(out, "name", place->name);
  Text(out, "title", place->title);
  Text(out, "machine", place->machine);
  Text(out, "note", place->available ? "" : place->note);
  Text(out, "best", best);
  Text(out, "options", options);
  fprintf(out, "\"types\": [\n");
  for (int i = 0; i < advice->count; i++) {
    if (i) fprintf(out, ",\n");
    Type(out, &place->row[i], &place->row[0]);
  }
  fprintf(out, "]}");
}

void AdviceJSON(const Advice *advice, FILE *out)
{
  fprintf(out, "{\n  \"version\": %d,\n  ", FORMAT_VERSION);
  Text(out, "name", advice->name);
  fprintf(out, "\n  \"processes\": %d,\n  \"measured\": %s,\n", (int)advice->processes,
          advice->measured ? "true" : "false");
  Facts(out, &advice->facts);
  fprintf(out, "  \"places\": [\n");
  for (int place = 0; place < ADVICE_PLACES; place++) {
    if (place) fprintf(out, ",\n");
    Place(out, advice, &advice->place[place]);
  }
  fprintf(out, "\n  ]\n}\n");
}
