/* The advice as text. */
#include "advise.h"
#include <math.h>

enum { BAR = 40 /* characters of the longest bar of the histogram */, NUMBER = 32 };

static void Lengths(FILE *out, const AdviceFacts *f)
{
  double most = 0, from, to;

  fprintf(out, "  row lengths: %.0f to %.0f, %.1f in the mean; %.0f rows are empty\n", fabs(f->most.minus_shortest),
          f->most.longest, f->rows > 0 ? f->sum.nonzeros / f->rows : 0, f->sum.empty_rows);
  for (int i = 0; i < ADVICE_LENGTHS; i++) most = PetscMax(most, f->sum.lengths[i]);
  for (int i = 0; i < ADVICE_LENGTHS; i++) {
    char class[2 * NUMBER];
    const int bar = (int)PetscMax(1, BAR * f->sum.lengths[i] / most);

    if (f->sum.lengths[i] == 0) continue;
    AdviceLengthClass(i, &from, &to);
    if (from < to) snprintf(class, sizeof class, "%.0f to %.0f", from, to);
    else snprintf(class, sizeof class, "%.0f", from);
    fprintf(out, "    %16s %12.0f  %.*s\n", class, f->sum.lengths[i], bar, "########################################");
  }
}

static void Facts(FILE *out, const Advice *advice)
{
  const AdviceFacts *f = &advice->facts;

  fprintf(out, "Matrix %s: %.0f rows, %.0f columns, %.0f nonzeros, %d process%s\n", advice->name, f->rows, f->cols,
          f->sum.nonzeros, (int)advice->processes, advice->processes > 1 ? "es" : "");
  Lengths(out, f);
  if (f->block == 1) fprintf(out, "  unknowns per node: 1 (no blocks were found)\n");
  else fprintf(out, "  unknowns per node: %d (blocks of that size are %.0f%% full)\n", f->block, 100 * f->block_fill);
  fprintf(out, "  bandwidth: %.0f below the diagonal, %.0f above it\n", f->most.lower, f->most.upper);
  fprintf(out, "  structure: %s; values: %s\n", f->structure, f->values);
}

static void Seconds(FILE *out, double seconds)
{
  if (isnan(seconds)) fprintf(out, " %10s", "-");
  else fprintf(out, " %10.2e", seconds);
}

static void Type(FILE *out, const AdviceCost *cost, const AdviceCost *parent, PetscBool measured)
{
  const double pays          = AdvicePaysAfter(cost, parent);
  char         after[NUMBER] = "never";

  if (AdviceDeclines(cost)) {
    fprintf(out, "  %-12s declined: %s\n", cost->type, cost->reason);
    return;
  }
  fprintf(out, "  %-12s %14.0f %6.2f", cost->type, cost->bytes, cost->bytes / parent->bytes);
  Seconds(out, cost->product);
  Seconds(out, cost == parent ? NAN : cost->convert);
  if (measured) Seconds(out, cost->measured);
  if (measured) Seconds(out, cost == parent ? NAN : cost->measured_convert);
  if (cost == parent || (isnan(cost->product) && isnan(cost->measured))) snprintf(after, sizeof after, "-");
  else if (!isnan(pays)) snprintf(after, sizeof after, "%.0f", pays);
  fprintf(out, " %11s", after);
  if (cost->declined > 0)
    fprintf(out, "  (%.0f of %.0f blocks declined: %s)", cost->declined, cost->blocks, cost->reason);
  fprintf(out, "\n");
}

static void Place(FILE *out, const Advice *advice, const AdvicePlace *place)
{
  const PetscBool measured = advice->measured && place->available ? PETSC_TRUE : PETSC_FALSE;

  fprintf(out, "%s; predicted seconds are those of %s:\n", place->title, place->machine);
  if (!place->available) fprintf(out, "  %s.\n", place->note);
  if (measured) fprintf(out, "  %-12s %14s %6s %21s %21s\n", "", "", "", "predicted", "measured");
  fprintf(out, "  %-12s %14s %6s %10s %10s", "type", "bytes", "of aij", "product/s", "convert/s");
  if (measured) fprintf(out, " %10s %10s", "product/s", "convert/s");
  fprintf(out, " %11s\n", "pays after");
  for (int i = 0; i < advice->count; i++) Type(out, &place->row[i], &place->row[0], measured);
}

void AdviceText(const Advice *advice, FILE *out)
{
  const char *prefix = advice->prefix ? advice->prefix : "";

  Facts(out, advice);
  for (int p = 0; p < ADVICE_PLACES; p++) Place(out, advice, &advice->place[p]);
  fprintf(out, "Options for %d products or more:\n", SPMV_PREDICT_PRODUCTS);
  for (int p = 0; p < ADVICE_PLACES; p++) {
    const AdvicePlace *place = &advice->place[p];

    fprintf(out, "  %-24s -%smat_type %s\n", place->title, prefix, place->row[place->best].type);
  }
  fprintf(out, "  %-24s -%smat_type %s\n", "chosen in each run", prefix, MATAIJAUTO);
}
