/*
  option_pages.c - writes the pages of docs/options from the tables of options: one page for each table, and one that
  lists them. With --check, compares the existing pages with the text that it would write.

    option_pages [--check] FOLDER
*/
#include "../../src/mat/impls/aij/tables.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char note[] = "<!-- Made from the table of options. After a change of the table:\n"
                           "     cmake --build build --target renew_option_pages -->\n";

static void title_of(const SpmvFormat *table, char *title, size_t size)
{
  snprintf(title, size, "%s%s", table == &AIJFmtProcessTable ? "" : "aij", table->name);
}

/* Values from the returned one on reproduce a paper, and get a mark; 0: none do */
static double paper_from(const SpmvFormat *table, const SpmvOptionDesc *o)
{
  return table->paper_from ? table->paper_from[o - table->options] : 0;
}

static void print_values(FILE *page, const SpmvFormat *table, const SpmvOptionDesc *o)
{
  const double marked = paper_from(table, o);
  char         range[SPMV_MESSAGE_MAX];

  if (o->kind == SPMV_OPTION_ENUM) {
    for (int i = 0; o->choices[i]; i++)
      fprintf(page, "%s`%s`%s", i ? ", " : "", o->choices[i], marked > 0 && i >= marked ? " \\*" : "");
    return;
  }
  spmv_option_range(o, range, sizeof range);
  fprintf(page, "%s%s", range, marked > 0 ? " (all but 0 \\*)" : "");
}

/* The options of the process whose values do not fit a table of options, or that no C function sets later. The test
   option_pages_help compares the names with those in the output of -help. */
static void print_further(FILE *page)
{
  fputs(
      "| `-petscpack_cudss` | text | `auto`, `off`, a path | `auto` | how factorizations find NVIDIA's library cuDSS; "
      "`off`: PETSc factors ([direct.md](../direct.md)) |\n"
      "| `-petscpack_cudss_least_rows` | integer | 0 or more | `10000` | matrices with fewer rows are factored by "
      "PETSc |\n"
      "| `-petscpack_nccl` | text | `auto`, `off`, a path | `auto` | how solvers on several GPUs find NVIDIA's library "
      "NCCL; "
      "`off`: messages go by MPI ([several-gpus.md](../several-gpus.md)) |\n"
      "| `-petscpack_replace` | list | `aij`, `cg`, `gmres`, `richardson`, `mg`, `gamg`, `hypre`, `lu`, `cholesky`, "
      "`ilu`, `icc` | none | these type "
      "names of PETSc mean `aijauto`, `cgdevice`, `gmresdevice`, `richardsondevice`, `mgdevice` and `gamgdevice`, and "
      "so does hypre's BoomerAMG; `gamg` without a named type of GAMG takes `aggdevice`; `lu` and `cholesky` take the "
      "package `cudss`, `ilu` and `icc` the package `petscpack` ([solving.md](../solving.md#options)) |\n"
      "| `-petscpack_replace_packages` | list | `mumps`, `superlu_dist`, `superlu`, `umfpack`, `cholmod`, `klu`, "
      "`pastix`, `strumpack` | "
      "none | where `lu` or `cholesky` names one of these packages, the package `cudss` factors under its name "
      "([direct.md](../direct.md)) |\n"
      "| `-petscpack_summary` | truth value | `false`, `true` | `false` | `PetscFinalize()` prints on the standard "
      "error "
      "stream what ran on the GPU, and a line for each solver that did not run there as a whole: the call on the host, "
      "why, and what to try |\n"
      "| `-petscpack_summary_lines` | integer | 0 to 1000 | `10` | solvers in this table at most, those that took "
      "longest first; the others are counted |\n",
      page);
}

static void print_table(FILE *page, const SpmvFormat *table)
{
  static const char *const kinds[] = {
      [SPMV_OPTION_INT]  = "integer",
      [SPMV_OPTION_REAL] = "real",
      [SPMV_OPTION_ENUM] = "choice",
      [SPMV_OPTION_BOOL] = "truth value",
  };
  char name[128], text[64];
  int  papers = 0;

  fprintf(page, "| option | type | values | default | meaning |\n|---|---|---|---|---|\n");
  for (const SpmvOptionDesc *o = table->options; o && o->key; o++) {
    AIJFmtOptionName(table, o->key, name, sizeof name);
    fprintf(page, "| `%s` | %s | ", name, kinds[o->kind]);
    print_values(page, table, o);
    papers |= paper_from(table, o) > 0;
    spmv_option_text(o, o->default_value, text, sizeof text);
    fprintf(page, " | `%s` | %s |\n", text, o->detail ? o->detail : o->help);
  }
  if (papers)
    fputs("\n\\* only for comparison with the paper: an error in a build with `-DPETSCPACK_PAPERS=OFF`, such as the "
          "wheel\n",
          page);
}

/* A value that is not the default, for an example */
static double other_value(const SpmvOptionDesc *o)
{
  if (o->kind == SPMV_OPTION_ENUM) return o->choices[1] && o->default_value == 0 ? 1 : 0;
  if (o->kind == SPMV_OPTION_BOOL) return o->default_value == 0;
  return o->default_value == o->max ? o->min : o->max;
}

static void print_calls(FILE *page, const SpmvFormat *table)
{
  char text[64];

  fprintf(page, "\nFrom C, for a matrix `A`, with values other than the defaults:\n\n```c\n");
  for (const SpmvOptionDesc *o = table->options; o && o->key; o++) {
    spmv_option_text(o, other_value(o), text, sizeof text);
    fprintf(page, "PetscCall(MatAIJFmtSetOption(A, \"%s\", \"%s\"));\n", o->key, text);
  }
  fprintf(page, "```\n");
}

static void write_page(FILE *page, const SpmvFormat *table)
{
  char title[64];

  title_of(table, title, sizeof title);
  fprintf(page, "# Options of `%s`\n\n%s\n%s.\n\n", title, note, table->summary);
  print_table(page, table);
  if (table == &AIJFmtProcessTable) {
    print_further(page);
    fprintf(page,
            "\nThe options are read when the types are registered: during `PetscInitialize()` with `-dll_append`,"
            " else in\n`PetscPackInitializePackage()`. From C: `PetscPackSetDeviceKeep()`, `PetscPackSetNCCL()`,"
            " `PetscPackReplaceType()`;\nfor the summary, `PetscOptionsSetValue()` before the types are registered.\n");
  } else print_calls(page, table);
  fprintf(page, "\n[How options are set](README.md)\n");
}

static const SpmvFormat *table_at(int i)
{
  const int formats = spmv_format_count();

  return i < formats        ? spmv_format_get(i)
         : i == formats     ? &AIJFmtAutoTable
         : i == formats + 1 ? &AIJFmtClassTable
         : i == formats + 2 ? &AIJFmtProcessTable
                            : NULL;
}

static void write_list(FILE *page)
{
  const SpmvFormat *table;
  char              title[64];

  fprintf(page, "# Options\n\n%s\n| page | content |\n|---|---|\n", note);
  for (int i = 0; (table = table_at(i)); i++) {
    title_of(table, title, sizeof title);
    fprintf(page, "| [%s](%s.md) | %s |\n", title, title, table->summary);
  }
  fprintf(
      page,
      "\nSet an option on the command line or in `PETSC_OPTIONS`. If the matrix has a prefix, it comes first:\n"
      "`-mine_mat_aijrbp_min_run 4`. PETSc reads it when the matrix gets its type and in `MatSetFromOptions()`.\n\n"
      "From C, name an option by its key, the part after `-mat_aij<format>_`: `MatAIJFmtSetOption()` takes the text "
      "of\n"
      "the command line, and `MatAIJFmtGetOption()` returns it. Integers up to 2^53 are exact.\n\n"
      "A wrong key or value is an error that lists the valid ones and changes nothing. The range of an option does\n"
      "not depend on other options, and a matrix is packed at its next product, not while options are set: set "
      "several\n"
      "options one after the other, in any order.\n");
}

/* Returns 0 if the file at path holds this text */
static int compare(const char *path, const char *text, size_t length)
{
  FILE  *file = fopen(path, "r");
  char  *there;
  size_t got;

  if (!file) {
    fprintf(stderr, "%s: is not there\n", path);
    return 1;
  }
  there = malloc(length + 1);
  got   = there ? fread(there, 1, length + 1, file) : 0;
  fclose(file);
  if (there && got == length && !memcmp(there, text, length)) {
    free(there);
    return 0;
  }
  free(there);
  fprintf(stderr, "%s: differs from the table; renew it: cmake --build build --target renew_option_pages\n", path);
  return 1;
}

static int replace(const char *path, const char *text, size_t length)
{
  FILE *file = fopen(path, "w");

  if (file && fwrite(text, 1, length, file) == length && !fclose(file)) return 0;
  perror(path);
  return 1;
}

/* Writes or checks the page of a table; for NULL, the list of pages */
static int make_page(const char *folder, const SpmvFormat *table, int check)
{
  char   path[1024], title[64] = "README", *text = NULL;
  size_t length = 0;
  FILE  *page   = open_memstream(&text, &length);
  int    failed;

  if (!page) return 1;
  if (table) {
    title_of(table, title, sizeof title);
    write_page(page, table);
  } else write_list(page);
  fclose(page);
  snprintf(path, sizeof path, "%s/%s.md", folder, title);
  failed = check ? compare(path, text, length) : replace(path, text, length);
  free(text);
  return failed;
}

/* Finds pages that belong to no table, such as that of a removed format */
static int find_others(const char *folder, size_t pages)
{
  char   pattern[1024];
  glob_t found;
  int    failed;

  snprintf(pattern, sizeof pattern, "%s/*.md", folder);
  failed = glob(pattern, 0, NULL, &found) || found.gl_pathc != pages;
  if (failed) fprintf(stderr, "%s: not %zu pages; remove those that belong to no table\n", folder, pages);
  globfree(&found);
  return failed;
}

int main(int argc, char **argv)
{
  const int check  = argc == 3 && !strcmp(argv[1], "--check");
  int       tables = 0, failed = 0;

  if (argc != 2 + check) {
    fprintf(stderr, "usage: option_pages [--check] FOLDER\n");
    return 2;
  }
  failed += make_page(argv[1 + check], NULL, check);
  for (; table_at(tables); tables++) failed += make_page(argv[1 + check], table_at(tables), check);
  failed += find_others(argv[1 + check], (size_t)tables + 1);
  return failed != 0;
}
