/*
  mat_options.c - tests that do not fit the table of conf_mat.c: options and their prefixes, options of duplicates,
  counters, and the run-time check of products
*/
static const char help[] = "Options of the packed types, and the check of their products.\n";

#include "mat_options.h"
#include "../../src/mat/impls/aij/tables.h"

static PetscInt failed;

PetscErrorCode Expect(PetscBool right, const char *type, const char *what)
{
  PetscFunctionBeginUser;
  if (!right) {
    failed++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", type, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateBanded(const char *type, const char *prefix, Mat *A)
{
  const PetscInt n = 60;
  PetscInt       low, high;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 6, NULL, 6, NULL));
  PetscCall(MatGetOwnershipRange(*A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    for (PetscInt j = PetscMax(0, i - 2); j < PetscMin(n, i + 4); j++)
      PetscCall(MatSetValue(*A, i, j, i + 2 * j + 1, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Class options: default, from the options database with a prefix, set by key, and in a duplicate */
static PetscErrorCode Flags(const char *type)
{
  static const char *const set[][2] = {{"decline", "false"}, {"device", "host"}};
  Mat                      A, B;
  char                     text[16];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mine_mat_aijfmt_check", "1"));
  PetscCall(CreateBanded(type, "mine_", &A));
  PetscCall(CreateBanded(type, "other_", &B));
  PetscCall(PetscOptionsClearValue(NULL, "-mine_mat_aijfmt_check"));
  PetscCall(MatAIJFmtGetOption(A, "check", text, sizeof text));
  PetscCall(Expect(text[0] == 't', type, "the option with the prefix of the matrix is not read"));
  PetscCall(MatAIJFmtGetOption(B, "check", text, sizeof text));
  PetscCall(Expect(text[0] == 'f', type, "the option of another prefix is read"));
  PetscCall(MatDestroy(&B));
  for (int i = 0; i < 2; i++) PetscCall(MatAIJFmtSetOption(A, set[i][0], set[i][1]));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatDestroy(&A));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatAIJFmtGetOption(B, set[i][0], text, sizeof text));
    PetscCall(Expect(!strcmp(text, set[i][1]), type, "a duplicate forgets an option of all types"));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every option in the format's table: a duplicate has the value that was set */
static PetscErrorCode FormatOptions(const char *type, const SpmvFormat *format)
{
  Mat  A, B;
  char now[64], copy[64];

  PetscFunctionBeginUser;
  for (const SpmvOptionDesc *o = format->options; o && o->key; o++) {
    PetscCall(CreateBanded(type, NULL, &A));
    if (o->kind == SPMV_OPTION_ENUM)
      PetscCall(MatAIJFmtSetOption(A, o->key, o->choices[1] ? o->choices[1] : o->choices[0]));
    else if (o->kind == SPMV_OPTION_BOOL)
      PetscCall(MatAIJFmtSetOption(A, o->key, o->default_value != 0 ? "false" : "true"));
    else {
      PetscCall(PetscSNPrintf(now, sizeof(now), "%g", o->max));
      PetscCall(MatAIJFmtSetOption(A, o->key, now));
    }
    PetscCall(ConfMultiply(A));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(ConfMultiply(B));
    PetscCall(MatAIJFmtGetOption(A, o->key, now, sizeof(now)));
    PetscCall(MatAIJFmtGetOption(B, o->key, copy, sizeof(copy)));
    PetscCall(Expect(!strcmp(now, copy), type, "a duplicate forgets an option of the format"));
    PetscCall(TestDestroyMats(&A, &B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view of an unused matrix says so, and the view of a used matrix does not */
static PetscErrorCode ViewBefore(const char *type)
{
  static const char hint[] = "not packed yet: the first product does it";
  char              text[TEST_VIEW];
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(CreateBanded(type, NULL, &A));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(TestView((PetscObject)A, PETSC_VIEWER_ASCII_INFO, text));
  PetscCall(Expect(strstr(text, hint) != NULL, type, "the view of a matrix not yet used does not say so"));
  PetscCall(ConfMultiply(A));
  PetscCall(TestView((PetscObject)A, PETSC_VIEWER_ASCII_INFO, text));
  PetscCall(Expect(strstr(text, hint) == NULL, type, "the view of a matrix in use says that it is not"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One conversion per block for any number of products, and memory only after the conversion */
static PetscErrorCode Counters(const char *type)
{
  Mat           A;
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  PetscCall(CreateBanded(type, NULL, &A));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(info.conversions == 0 && info.bytes == 0, type, "converted before the first product"));
  for (int k = 0; k < 5; k++) PetscCall(ConfMultiply(A));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(info.conversions == info.blocks_converted && info.blocks_converted > 0, type,
                   "not one conversion per block"));
  PetscCall(Expect(info.products >= 5 && info.fallbacks == 0 && info.refreshes == 0, type,
                   "products, fallbacks or refreshes are counted wrongly"));
  PetscCall(Expect(info.bytes > 0 && info.bytes == info.values_bytes + info.indices_bytes + info.pointers_bytes, type,
                   "bytes are not the sum of their parts"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes a value behind PETSc's back, through an array that was restored: the packed copy is then stale, and the check
   must stop the product. Formats that borrow PETSc's arrays cannot go stale in this way. */
static PetscErrorCode CheckFindsFault(const char *type)
{
  Mat            A;
  Vec            x, y;
  PetscScalar   *value, *kept;
  MatAIJFmtInfo  info;
  PetscErrorCode status;

  PetscFunctionBeginUser;
  PetscCall(CreateBanded(type, NULL, &A));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(MatAIJFmtSetOption(A, "check", "true"));
  PetscCall(ConfCreateVecs(A, 1, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatSeqAIJGetArray(A, &value));
  kept = value;
  PetscCall(MatSeqAIJRestoreArray(A, &value));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  kept[7] += 100;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  status = MatMult(A, x, y);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Expect((info.own_bytes >= info.values_bytes) == (status != PETSC_SUCCESS), type,
                   "the check does not tell a wrong product from a right one"));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option of the process, not of a matrix: it is read when the package is initialized */
static PetscErrorCode DeviceKeep(void)
{
  PetscInt64     bytes;
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(PetscPackGetDeviceKeep(&bytes));
  PetscCall(Expect(bytes == -1, "petscpack", "the default of -petscpack_device_keep is not -1"));
  PetscCall(PetscPackFinalizePackage());
  PetscCall(PetscOptionsSetValue(NULL, "-petscpack_device_keep", "65536"));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscPackGetDeviceKeep(&bytes));
  PetscCall(Expect(bytes == 65536, "petscpack", "-petscpack_device_keep was not read"));
  PetscCall(PetscPackSetDeviceKeep(0));
  PetscCall(PetscPackGetDeviceKeep(&bytes));
  PetscCall(Expect(bytes == 0, "petscpack", "PetscPackSetDeviceKeep() had no effect"));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = PetscPackSetDeviceKeep(-2);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Expect(code == PETSC_ERR_ARG_OUTOFRANGE, "petscpack", "PetscPackSetDeviceKeep(-2) was taken"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nccl(void)
{
  const char    *nccl;
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(PetscPackGetNCCL(&nccl));
  PetscCall(Expect(!strcmp(nccl, "auto"), "petscpack", "the default of -petscpack_nccl is not auto"));
  PetscCall(PetscPackFinalizePackage());
  PetscCall(PetscOptionsSetValue(NULL, "-petscpack_nccl", "off"));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscPackGetNCCL(&nccl));
  PetscCall(Expect(!strcmp(nccl, "off"), "petscpack", "-petscpack_nccl was not read"));
  PetscCall(PetscPackSetNCCL("/a/libnccl.so.2"));
  PetscCall(PetscPackGetNCCL(&nccl));
  PetscCall(Expect(!strcmp(nccl, "/a/libnccl.so.2"), "petscpack", "PetscPackSetNCCL() had no effect"));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = PetscPackSetNCCL("");
  PetscCall(PetscPopErrorHandler());
  PetscCall(Expect(code == PETSC_ERR_ARG_WRONG, "petscpack", "PetscPackSetNCCL() took an empty text"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        type[CONF_TYPE_MAX];
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscPackInitializePackage()); /* a second call changes nothing */
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int f = 0; ConfFormat(f); f++) {
    const SpmvFormat *table = f < spmv_format_count() ? spmv_format_get(f) : &AIJFmtAutoTable;

    PetscCall(PetscSNPrintf(type, sizeof(type), "aij%s", ConfFormat(f)));
    PetscCall(Flags(type));
    PetscCall(FormatOptions(type, table));
    PetscCall(Tables(type, table));
    PetscCall(ViewBefore(type));
    PetscCall(Counters(type));
    PetscCall(OptionsSurvive(type));
    PetscCall(RefusedOptionIsRefusedAgain(type));
    PetscCall(SubclassOfOurs(type));
    PetscCall(RowsOutOfOrder(type));
    if (size == 1) PetscCall(CheckFindsFault(type));
  }
  PetscCall(DeviceKeep());
  PetscCall(Nccl());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failed\n", failed));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
