/*
  alias.c - conversions and matrix products that PETSc finds by type name.

  PETSc looks for composed functions such as MatConvert_seqaij_seqdense_C or MatProductSetFromOptions_seqaij_seqdense_C,
  spelled with the exact type names. Those of the parent type serve ours as well, so each is composed again under our
  name. They are read off template matrices: the parent itself, and the types that hold the other half of a pair.

  A pattern is such a name with '*' in place of our type name.
*/
#include "seqaijfmt.h"

typedef struct {
  char          *pattern;
  AIJFmtFunction function;
} Alias;

typedef struct {
  PetscInt count, capacity;
  Alias   *alias;
} AliasTable;

static AliasTable tables[2]; /* [parallel] */
static PetscBool  have_tables = PETSC_FALSE;

enum { MAX_WORDS = 16, MAX_NAME = 256 };

static const char *const parent_names[]      = {MATSEQAIJ, MATMPIAIJ};
static const char *const template_types[][5] = {{MATSEQAIJ, MATSEQDENSE, MATSEQBAIJ, MATSEQSBAIJ, MATIS},
                                                {MATMPIAIJ, MATMPIDENSE, MATMPIBAIJ, MATMPISBAIJ, MATIS}};

static PetscErrorCode Add(AliasTable *table, const char *pattern, AIJFmtFunction function)
{
  PetscFunctionBegin;
  if (table->count == table->capacity) {
    Alias *larger;
    PetscCall(PetscMalloc1(2 * table->capacity + 32, &larger));
    if (table->count) PetscCall(PetscArraycpy(larger, table->alias, table->count));
    PetscCall(PetscFree(table->alias));
    table->alias    = larger;
    table->capacity = 2 * table->capacity + 32;
  }
  PetscCall(PetscStrallocpy(pattern, &table->alias[table->count].pattern));
  table->alias[table->count++].function = function;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddConverter(AliasTable *table, const char *from, const char *to,
                                   PetscErrorCode (*function)(Mat, MatType, MatReuse, Mat *))
{
  char pattern[MAX_NAME];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(pattern, sizeof pattern, "MatConvert_%s_%s_C", from, to));
  PetscCall(Add(table, pattern, (AIJFmtFunction)function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every way to put '*' for one or more of the words that are the parent's name: A x A^T and the like have two */
static PetscErrorCode AddProduct(AliasTable *table, const char *parent, int words, char **word, AIJFmtFunction function)
{
  PetscBool is_parent[MAX_WORDS];
  int       parents = 0;

  PetscFunctionBegin;
  for (int w = 0; w < words && w < MAX_WORDS; w++) {
    PetscCall(PetscStrcmp(word[w], parent, &is_parent[w]));
    if (is_parent[w]) parents++;
  }
  for (int choice = 1; words <= MAX_WORDS && choice < 1 << parents; choice++) {
    char pattern[MAX_NAME] = "";
    for (int w = 0, seen = 0; w < words; w++) {
      const PetscBool ours = is_parent[w] && (choice >> seen & 1) ? PETSC_TRUE : PETSC_FALSE;
      if (is_parent[w]) seen++;
      if (w) PetscCall(PetscStrlcat(pattern, "_", sizeof pattern));
      PetscCall(PetscStrlcat(pattern, ours ? "*" : word[w], sizeof pattern));
    }
    PetscCall(Add(table, pattern, function));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Words of a converter: MatConvert, from, to, C. A sibling is another subclass of the parent: its converter would leave
   our operations half replaced, so the way to and from it leads through the parent. MATIS alone converts into the type
   that it is asked for; the other sources give the parent, which is then made ours. */
static PetscErrorCode AddConversion(AliasTable *table, const char *parent, char **word, AIJFmtFunction function)
{
  PetscBool from_parent, to_parent, sibling, from_is;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(word[1], parent, &from_parent));
  PetscCall(PetscStrcmp(word[2], parent, &to_parent));
  PetscCall(PetscStrcmp(word[1], MATIS, &from_is));
  PetscCall(PetscStrbeginswith(word[2], parent, &sibling));
  if (from_parent && sibling) {
    PetscCall(AddConverter(table, "*", word[2], MatConvert_AIJFmt_AIJ));
    PetscCall(AddConverter(table, word[2], "*", MatConvert_Other_AIJFmt));
  } else if (from_parent) PetscCall(AddConverter(table, "*", word[2], MatConvert_AIJFmt_Other));
  else if (to_parent && !from_is) PetscCall(AddConverter(table, word[1], "*", MatConvert_Other_AIJFmt));
  else if (to_parent)
    PetscCall(AddConverter(table, word[1], "*", (PetscErrorCode(*)(Mat, MatType, MatReuse, Mat *))function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherFromType(AliasTable *table, const char *parent, MatType type)
{
  Mat template;
  const char **names = NULL;
  int          count = 0;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &template));
  PetscCall(MatSetOptionsPrefix(template, "petscpack_template_"));
  PetscCall(MatSetSizes(template, 0, 0, 0, 0));
  PetscCall(MatSetType(template, type));
  PetscCall(PetscFunctionListGet(((PetscObject) template)->qlist, &names, &count));
  for (int i = 0; i < count && names[i]; i++) { /* PETSc 3.18 counts the NULL at the end, too */
    PetscBool      converter, product;
    AIJFmtFunction function;
    char         **word;
    int            words;

    PetscCall(PetscObjectQueryFunction((PetscObject) template, names[i], &function));
    PetscCall(PetscStrbeginswith(names[i], "MatConvert_", &converter));
    PetscCall(PetscStrbeginswith(names[i], "MatProductSetFromOptions_", &product));
    PetscCall(PetscStrToArray(names[i], '_', &words, &word));
    if (product) PetscCall(AddProduct(table, parent, words, word, function));
    if (converter && words == 4) PetscCall(AddConversion(table, parent, word, function));
    PetscCall(PetscStrToArrayDestroy(words, word));
  }
  PetscCall(PetscFree(names));
  PetscCall(MatDestroy(&template));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Gather(void)
{
  PetscFunctionBegin;
  if (have_tables) PetscFunctionReturn(PETSC_SUCCESS);
  have_tables = PETSC_TRUE;
  for (int parallel = 0; parallel < 2; parallel++) {
    AliasTable *table  = &tables[parallel];
    const char *parent = parent_names[parallel];

    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(template_types[parallel]); t++)
      PetscCall(GatherFromType(table, parent, template_types[parallel][t]));
    PetscCall(AddConverter(table, "*", parent, MatConvert_AIJFmt_AIJ));
    PetscCall(AddConverter(table, parent, "*", MatConvert_AIJ_AIJFmt));
    for (PetscInt i = 0; i < AIJFmtRowCount(); i++) {
      const AIJFmtRow *other = AIJFmtRowGet(i);
      PetscCall(AddConverter(table, "*", parallel ? other->mpi : other->seq, MatConvert_AIJ_AIJFmt));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compose(Mat A, const AIJFmtRow *row, PetscBool parallel, PetscBool remove)
{
  const AliasTable *table = &tables[parallel];
  const char       *type  = parallel ? row->mpi : row->seq;

  PetscFunctionBegin;
  PetscCall(Gather());
  for (PetscInt i = 0; i < table->count; i++) {
    char   name[MAX_NAME];
    size_t used = 0;

    for (const char *p = table->alias[i].pattern; *p && used + 1 < sizeof name; p++) {
      if (*p != '*') {
        name[used++] = *p;
        name[used]   = 0;
        continue;
      }
      name[used] = 0;
      PetscCall(PetscStrlcat(name, type, sizeof name));
      PetscCall(PetscStrlen(name, &used));
    }
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, remove ? NULL : table->alias[i].function));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtAliasesInstall(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  return Compose(A, row, parallel, PETSC_FALSE);
}

PetscErrorCode AIJFmtAliasesRemove(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  return Compose(A, row, parallel, PETSC_TRUE);
}

PetscErrorCode AIJFmtAliasesReset(void)
{
  PetscFunctionBegin;
  for (int parallel = 0; parallel < 2; parallel++) {
    AliasTable *table = &tables[parallel];
    for (PetscInt i = 0; i < table->count; i++) PetscCall(PetscFree(table->alias[i].pattern));
    PetscCall(PetscFree(table->alias));
    table->count = table->capacity = 0;
  }
  have_tables = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
