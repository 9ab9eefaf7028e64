/*
  codsell.c - format codsell, SELL-C-sigma with dictionary-compressed positions: slots, options, view, manual page.

  Source: Murakami, a storage format for sparse matrices with dictionary compression of the positions of nonzeros.
*/
#include "codsell_host.h"
#include <stdio.h>

static const char *const c_names[]    = {"8", "16", "32", "64", NULL};
static const char *const word_names[] = {"auto",
#define WORD(n) #n,
                                         CODSELL_WORD_LIST(WORD)
#undef WORD
                                             NULL};

static const SpmvOptionDesc options[] = {
    [CODSELL_OPTION_C] = {"c", SPMV_OPTION_ENUM, 2, 0, 0, c_names, "rows per slice", NULL},
    [CODSELL_OPTION_SIGMA] =
        {"sigma", SPMV_OPTION_INT, 0, 0, CODSELL_MAX_SIGMA, NULL, "rows per sorted window; 1: unsorted; 0: choose",
         "rows per window, which are sorted by length; 1: not sorted, 0: only where that saves padding"},
    [CODSELL_OPTION_WORD] = {"word", SPMV_OPTION_ENUM, 0, 0, 0, word_names, "positions per word",
                             "positions per word of the dictionary; auto: the number that needs fewest bytes"},
    {.key = NULL},
};

static void view_kinds(const CodsellShape *s, SpmvPrint print, void *ctx)
{
  static const char *const name[CODSELL_KINDS] = {"uniform",          "ids8",          "ids16",
                                                  "starts16_uniform", "starts16_ids8", "starts32_uniform",
                                                  "starts32_ids8",    "columns16",     "columns32"};
  char                     line[SPMV_MESSAGE_MAX];
  size_t                   used = (size_t)snprintf(line, sizeof line, "slices by kind:");

  for (int k = 0; k < CODSELL_KINDS; k++)
    if (s->kinds[k] > 0 && used < sizeof line)
      used += (size_t)snprintf(line + used, sizeof line - used, " %s %lld", name[k], (long long)s->kinds[k]);
  print(ctx, line);
}

void codsell_print(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const CodsellShape *s      = &((const CodsellPlan *)base)->shape;
  const int64_t       values = s->columns << s->log_c;
  char                line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "c: %d, sigma: %lld%s, slices: %lld, padding: %.2f %%", 1 << s->log_c,
           s->sorted ? (long long)s->window : 1LL, s->sorted ? "" : " (not permuted)", (long long)s->slices,
           values ? 100.0 * (double)s->padding / (double)values : 0.0);
  print(ctx, line);
  snprintf(line, sizeof line, "word: %d, words in the dictionary: %lld, codes: %lld bytes", s->word,
           (long long)s->words, (long long)s->code_bytes);
  print(ctx, line);
  view_kinds(s, print, ctx);
  snprintf(line, sizeof line, "long rows: %lld with %lld nonzeros, of more than %d or far from the diagonal",
           (long long)s->long_rows, (long long)s->long_nnz, s->longest);
  print(ctx, line);
}

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(CodsellAnalysis),
    .plan_bytes     = sizeof(CodsellPlan),
    .analyze        = codsell_host_analyze,
    .clear_analysis = codsell_host_clear_analysis,
    .build          = codsell_host_build,
    .update_values  = codsell_host_update,
    .extract_values = codsell_host_extract,
    .mult           = codsell_host_mult,
    .add_transposed = codsell_host_add_transposed,
    .view           = codsell_print,
    .clear          = codsell_free_arrays,
};

/*MC
   MATAIJCODSELL = "aijcodsell" - A sparse matrix stored as SELL-C-sigma (slices of rows of about equal length), with
   the positions of its nonzeros compressed by a dictionary.

   Options Database Keys:
+  -mat_type aijcodsell - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijcodsell_c - rows per slice
.  -mat_aijcodsell_sigma - rows per window, which are sorted by length
-  -mat_aijcodsell_word - positions per word of the dictionary

   Level: beginner

   Notes:
   The page docs/options/aijcodsell.md has the values and the defaults of the options.

   Except for its products the matrix behaves as `MATAIJ`: it is assembled, factored and multiplied with other matrices
   in the same way.

   The type is fastest if many rows have the same pattern relative to their index: stencils, and finite elements on
   structured meshes. Each slice stores its positions in the form that takes the fewest bytes, so the type works for
   every matrix. If the layout would take more bytes than CSR, the products are those of `MATAIJ`, and the view gives
   the reason.

   Source: S. Murakami, a storage format with dictionary compression of nonzero positions for sparse matrix-vector
   products on GPUs.

.seealso: `MatAIJFmtSetOption()`, `MATAIJRBP`, `MATAIJCRSV`, `MATAIJ`
M*/
const SpmvFormat spmv_format_codsell = {
    .abi     = SPMV_ABI,
    .name    = "codsell",
    .summary = "SELL-C-sigma with dictionary-compressed positions",
    .options = options,
    .host    = &host_slots,
    .device  = SPMV_DEVICE_SLOTS(codsell_device_slots),
};
