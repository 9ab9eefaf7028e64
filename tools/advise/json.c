/* The advice as JSON: the program writes it with --json, Python reads it, and the HTML page is made from it. */
#include "advise.h"
#include "../json_text.h"
#include <math.h>

enum { FORMAT_VERSION = 2 /* raised when a name is removed or changes its meaning */ };

static void Facts(JsonText *j, const AdviceFacts *f)
{
  JSON_NUMBERS(j, {"rows", f->rows}, {"cols", f->cols}, {"nonzeros", f->sum.nonzeros});
  json_begin(j, "row_lengths", '{');
  JSON_NUMBERS(j, {"min", fabs(f->most.minus_shortest)}, {"mean", f->rows > 0 ? f->sum.nonzeros / f->rows : 0},
               {"max", f->most.longest}, {"empty_rows", f->sum.empty_rows});
  json_begin(j, "histogram", '[');
  for (int i = 0; i < ADVICE_LENGTHS; i++) {
    double from, to;

    if (f->sum.lengths[i] == 0) continue;
    AdviceLengthClass(i, &from, &to);
    json_begin(j, NULL, '{');
    JSON_NUMBERS(j, {"from", from}, {"to", to}, {"rows", f->sum.lengths[i]});
    json_end(j);
  }
  json_end(j);
  json_end(j);
  json_begin(j, "block", '{');
  JSON_NUMBERS(j, {"size", f->block}, {"fill", f->block_fill});
  json_end(j);
  json_begin(j, "bandwidth", '{');
  JSON_NUMBERS(j, {"lower", f->most.lower}, {"upper", f->most.upper});
  json_end(j);
  json_begin(j, "symmetry", '{');
  JSON_STRINGS(j, {"structure", f->structure}, {"values", f->values});
  json_end(j);
  json_begin(j, "pattern", '{');
  JSON_NUMBERS(j, {"rows", f->cell_rows}, {"cols", f->cell_cols});
  json_begin(j, "nonzeros", '[');
  for (int i = 0; i < f->cell_rows; i++) json_numbers(j, NULL, f->cell_cols, &f->sum.cells[i * f->cell_cols]);
  json_end(j);
  json_end(j);
}

static void Type(JsonText *j, const AdviceCost *cost, const AdviceCost *parent)
{
  json_begin(j, NULL, '{');
  json_string(j, "type", cost->type);
  JSON_NUMBERS(j, {"bytes", cost->bytes}, {"product", cost->product}, {"conversion", cost->convert},
               {"measured_product", cost->measured}, {"measured_conversion", cost->measured_convert},
               {"pays_after", AdvicePaysAfter(cost, parent)});
  if (cost->reason[0]) json_string(j, "reason", cost->reason);
  else json_number(j, "reason", NAN);
  JSON_NUMBERS(j, {"blocks", cost->blocks}, {"declined", cost->declined});
  json_end(j);
}

static void Place(JsonText *j, const Advice *advice, const AdvicePlace *place)
{
  const char *best = place->row[place->best].type;
  char        options[PETSC_MAX_PATH_LEN];

  snprintf(options, sizeof options, "-%smat_type %s", advice->prefix ? advice->prefix : "", best);
  json_begin(j, NULL, '{');
  JSON_STRINGS(j, {"name", place->name}, {"title", place->title}, {"machine", place->machine},
               {"note", place->available ? "" : place->note}, {"best", best}, {"options", options});
  json_begin(j, "types", '[');
  for (int i = 0; i < advice->count; i++) Type(j, &place->row[i], &place->row[0]);
  json_end(j);
  json_end(j);
}

void AdviceJSON(const Advice *advice, FILE *out)
{
  JsonText j = {.digits = 15, .lines = 4};

  json_begin(&j, NULL, '{');
  json_number(&j, "version", FORMAT_VERSION);
  json_string(&j, "name", advice->name);
  json_number(&j, "processes", advice->processes);
  json_bool(&j, "measured", advice->measured);
  Facts(&j, &advice->facts);
  json_begin(&j, "places", '[');
  for (int place = 0; place < ADVICE_PLACES; place++) Place(&j, advice, &advice->place[place]);
  json_end_all(&j);
  if (!j.failed) fprintf(out, "%s\n", j.text);
  json_free(&j);
}
