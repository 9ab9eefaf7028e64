/* The advice as text. */
#include "advise.h"

enum { BAR = 40 /* characters of the longest bar of the histogram */, NUMBER = 32 };

static PetscErrorCode ViewLengths(const AdviceFacts *f, PetscViewer viewer)
{
  double most = 0;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  row lengths: %.0f to %.0f, %.1f in the mean; %.0f rows are empty\n",
                                   f->shortest, f->longest, f->rows > 0 ? f->nonzeros / f->rows : 0, f->empty_rows));
  for (int i = 0; i < ADVICE_LENGTHS; i++) most = PetscMax(most, f->lengths[i]);
  for (int i = 0; i < ADVICE_LENGTHS; i++) {
    char class[2 * NUMBER], bar[BAR + 1];
    double from, to;
    int    length;

    if (f->lengths[i] == 0) continue;
    AdviceLengthClass(i, &from, &to);
    if (from < to) PetscCall(PetscSNPrintf(class, sizeof class, "%.0f to %.0f", from, to));
    else PetscCall(PetscSNPrintf(class, sizeof class, "%.0f", from));
    length = (int)PetscMax(1, BAR * f->lengths[i] / most);
    for (int c = 0; c < length; c++) bar[c] = '#';
    bar[length] = 0;
    PetscCall(PetscViewerASCIIPrintf(viewer, "    %16s %12.0f  %s\n", class, f->lengths[i], bar));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewFacts(MatAIJFmtAdvice advice, PetscViewer viewer)
{
  const AdviceFacts *f = &advice->facts;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "Matrix %s: %.0f rows, %.0f columns, %.0f nonzeros, %d process%s\n",
                                   advice->name, f->rows, f->cols, f->nonzeros, (int)advice->processes,
                                   advice->processes > 1 ? "es" : ""));
  PetscCall(ViewLengths(f, viewer));
  if (f->block > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  unknowns per node: %d (blocks of that size are %.0f%% full)\n",
                                     f->block, 100 * f->block_fill));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  unknowns per node: 1 (no blocks were found)\n"));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "  bandwidth: %.0f below the diagonal, %.0f above it\n", f->lower, f->upper));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  structure: %s; values: %s\n", f->structure, f->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Seconds(double seconds, PetscBool known, char text[NUMBER])
{
  PetscFunctionBegin;
  if (known) PetscCall(PetscSNPrintf(text, NUMBER, "%.2e", seconds));
  else PetscCall(PetscStrncpy(text, "-", NUMBER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewType(const AdviceRow *row, const AdviceRow *parent, int place, PetscBool measured,
                               PetscViewer viewer)
{
  const AdviceCost *cost = &row->at[place], *compared = &parent->at[place];
  const double      pays = AdvicePaysAfter(cost, compared);
  char              text[4][NUMBER], after[NUMBER] = "never";

  PetscFunctionBegin;
  if (row->format && cost->declined == cost->blocks) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %-12s declines: %s\n", AdviceType(row, place), cost->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Seconds(cost->product, cost->known, text[0]));
  PetscCall(Seconds(cost->convert, cost->known && row->format ? PETSC_TRUE : PETSC_FALSE, text[1]));
  PetscCall(Seconds(cost->measured, cost->measured > 0 ? PETSC_TRUE : PETSC_FALSE, text[2]));
  PetscCall(Seconds(cost->measured_convert, cost->measured > 0 && row->format ? PETSC_TRUE : PETSC_FALSE, text[3]));
  if (!row->format || !cost->known) PetscCall(PetscStrncpy(after, "-", sizeof after));
  else if (pays > 0) PetscCall(PetscSNPrintf(after, sizeof after, "%.0f", pays));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %-12s %14.0f %6.2f %10s %10s", AdviceType(row, place), cost->bytes,
                                   cost->bytes / compared->bytes, text[0], text[1]));
  if (measured) PetscCall(PetscViewerASCIIPrintf(viewer, " %10s %10s", text[2], text[3]));
  PetscCall(PetscViewerASCIIPrintf(viewer, " %11s", after));
  if (cost->declined > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  (%.0f of %.0f blocks decline: %s)", cost->declined, cost->blocks,
                                     cost->reason));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewPlace(MatAIJFmtAdvice advice, int place, PetscViewer viewer)
{
  const AdvicePlaceInfo *p        = &advice->place[place];
  const PetscBool        measured = advice->measured && place != ADVICE_H200 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s (%.3g bytes/s", p->title, p->machine.bandwidth));
  if (place == ADVICE_HOST)
    PetscCall(PetscViewerASCIIPrintf(viewer, " from memory, %.3g nonzeros/s):\n", p->machine.rate));
  else PetscCall(PetscViewerASCIIPrintf(viewer, " from memory, %.2e s a launch):\n", p->machine.launch));
  if (p->note[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s.\n", p->note));
  if (measured)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %-12s %14s %6s %21s %21s\n", "", "", "", "predicted", "measured"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %-12s %14s %6s %10s %10s", "type", "bytes", "of aij", "product/s",
                                   "convert/s"));
  if (measured) PetscCall(PetscViewerASCIIPrintf(viewer, " %10s %10s", "product/s", "convert/s"));
  PetscCall(PetscViewerASCIIPrintf(viewer, " %11s\n", "pays after"));
  for (int i = 0; i < advice->count; i++)
    PetscCall(ViewType(&advice->row[i], &advice->row[0], place, measured, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatAIJFmtAdviceView - Prints what `MatAIJFmtAdvise()` has found

  Collective

  Input Parameters:
+ advice - the advice
- viewer - an ASCII viewer on the communicator of the matrix

  Level: beginner

  Note:
  Bytes are sums over all processes; times are of the process that takes longest, without communication.

.seealso: `MatAIJFmtAdvise()`, `MatAIJFmtAdviceWrite()`, `MatAIJFmtAdviceGetJSON()`
@*/
PetscErrorCode MatAIJFmtAdviceView(MatAIJFmtAdvice advice, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscAssertPointer(advice, 1);
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCheck(ascii, PetscObjectComm((PetscObject)viewer), PETSC_ERR_SUP,
             "An advice needs a viewer of type %s; this one is of type %s", PETSCVIEWERASCII,
             ((PetscObject)viewer)->type_name);
  PetscCall(ViewFacts(advice, viewer));
  for (int place = 0; place < ADVICE_PLACES; place++)
    if (advice->place[place].present) PetscCall(ViewPlace(advice, place, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "Options for %d products or more:\n", AIJFMT_EXPECTED_AT_FIRST));
  for (int place = 0; place < ADVICE_PLACES; place++) {
    const AdvicePlaceInfo *p = &advice->place[place];

    if (p->present)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %-24s -%smat_type %s\n", p->title,
                                       advice->prefix ? advice->prefix : "", AdviceType(&advice->row[p->best], place)));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %-24s -%smat_type %s\n", "chosen in each run",
                                   advice->prefix ? advice->prefix : "", MATAIJAUTO));
  PetscFunctionReturn(PETSC_SUCCESS);
}
