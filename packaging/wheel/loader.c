/*
  loader.c - libpetscpack.so of the wheel. It needs only libc: it finds the PETSc that calls it, and opens the variant
  of petscpack that was compiled for that minor version, that MPI, those scalars and those indices. A variant is linked
  with neither PETSc nor MPI; it finds both in the global scope of the process, into which this loader promotes them.

  All checks come before anything in the process is changed, except for the layout of a Mat, which only the variant
  knows and checks before it registers a type. A mismatch is an error of PETSc.
*/
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "loader.h"
#include "spmv_kernels.h"
#include "variant.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int         PetscDLLibraryRegister_petscpack(void);
EXPORT int         petscpack_refuse_kernels(const void *caller);
EXPORT const char *petscpack_variant_path(void);

enum { TEXT_MAX = 1024, CANDIDATES_MAX = 8 };

/* The PETSc of the process. Its functions are called without its headers: an integer has 4 or 8 bytes and a truth value
   1 or 4, so PETSc writes them into 64 bits that were set to zero. */
typedef struct {
  void       *handle;
  char        path[PETSCPACK_PATH_MAX]; /* path of its library; "" if PETSc is part of the program */
  int64_t     major, minor, subminor;
  const char *scalars, *mpi; /* such as "real double" and "openmpi" */
  int         index_bits;
  char        devices[TEXT_MAX]; /* such as " cuda" */
} Petsc;

typedef struct {
  int  count;
  char path[CANDIDATES_MAX][PETSCPACK_PATH_MAX];
} Candidates;

static char  folder[PETSCPACK_PATH_MAX]; /* folder of this library */
static char  variant_path[PETSCPACK_PATH_MAX + 96];
static char  served[PETSCPACK_PATH_MAX]; /* library of the PETSc that the variant serves */
static void *variant;

/* The path of the variant that serves this process; "" before it is opened */
const char *petscpack_variant_path(void) { return variant_path; }

static int64_t Call(const Petsc *p, const char *name, int64_t first, void *second, void *third)
{
  int (*function)(int64_t, void *, void *) = (int (*)(int64_t, void *, void *))dlsym(p->handle, name);

  return function ? function(first, second, third) : -1;
}

/* MPI_COMM_SELF of this MPI, an address or an integer, as the register in which a call passes it */
static uintptr_t CommSelf(const Petsc *p)
{
  if (p->mpi && !strcmp(p->mpi, "openmpi")) return (uintptr_t)dlsym(p->handle, "ompi_mpi_comm_self");
  if (p->mpi && !strcmp(p->mpi, "mpich")) return 0x44000001;
  return p->mpi ? 1 /* MPIUNI */ : 0x102 /* the standard ABI */;
}

/* Raises an error of PETSc with that text, or prints it if no PETSc can raise it. Returns the code. */
__attribute__((format(printf, 3, 4))) static int Raise(const Petsc *p, int code, const char *format, ...)
{
  typedef int (*Error)(uintptr_t, int, const char *, const char *, int, int, const char *, ...);
  char    text[2 * TEXT_MAX];
  Error   error;
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments); /* before dlsym(), which frees the text of dlerror() */
  va_end(arguments);
  error = p && p->handle ? (Error)dlsym(p->handle, "PetscError") : NULL;
  if (error) return error(CommSelf(p), __LINE__, "PetscDLLibraryRegister_petscpack", __FILE__, code, 0, "%s", text);
  fprintf(stderr, "petscpack: %s\n", text);
  return code;
}

/* Accepts libpetsc.so.3.26, libpetsc_real.so.3.18, libpetsc64_complex.so.3.18; not libpetscpack.so */
static int IsPetscName(const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

  if (strncmp(name, "libpetsc", 8)) return 0;
  name += strncmp(name + 8, "64", 2) ? 8 : 10;
  return (*name == '.' || *name == '_') && strstr(name, ".so");
}

static int NoteCandidate(struct dl_phdr_info *object, size_t size, void *context)
{
  Candidates *c = context;

  (void)size;
  if (c->count < CANDIDATES_MAX && IsPetscName(object->dlpi_name))
    snprintf(c->path[c->count++], PETSCPACK_PATH_MAX, "%s", object->dlpi_name);
  return 0;
}

static const char *MpiOf(const Petsc *p)
{
  if (dlsym(p->handle, "ompi_mpi_comm_world")) return "openmpi";
  if (dlsym(p->handle, "MPIR_Dup_fn")) return "mpich"; /* declared in its mpi.h, so part of its ABI */
  return dlsym(p->handle, "Petsc_MPI_Init") ? "no MPI" : NULL;
}

static int OpenPetsc(Petsc *p, const char *path)
{
  p->handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  snprintf(p->path, sizeof p->path, "%s", path ? path : "");
  p->mpi = p->handle ? MpiOf(p) : NULL;
  return p->handle && dlsym(p->handle, "PetscGetVersionNumber");
}

static int HasStarted(const Petsc *p)
{
  int64_t started = 0;

  Call(p, "PetscInitialized", (int64_t)(intptr_t)&started, NULL, NULL);
  return started != 0;
}

/* Finds the PETSc that calls us, or for petscpack.load() the one of the process. A second PETSc is refused: the PETSc
   that is served enters the global scope, where its functions would replace those of the other one. */
static int FindPetsc(Petsc *p, const void *caller)
{
  Candidates c = {0};
  Dl_info    object, of_petsc;
  int        ready; /* within PetscInitialize(), or after it */

  ready = dladdr(caller, &object) && OpenPetsc(p, object.dli_fname) &&
          dladdr(dlsym(p->handle, "PetscGetVersionNumber"), &of_petsc) && of_petsc.dli_fbase == object.dli_fbase;
  dl_iterate_phdr(NoteCandidate, &c);
  for (int i = 0; i < c.count && !ready; i++) ready = OpenPetsc(p, c.path[i]) && HasStarted(p);
  if (!ready && !(OpenPetsc(p, NULL) && HasStarted(p))) /* NULL: PETSc may be part of the program */
    return Raise(NULL, PETSCPACK_ERR_LIB, "no PETSc has started in this process");
  if (c.count > 1)
    return Raise(p, PETSCPACK_ERR_LIB, "this process has two PETScs, %s and %s: petscpack can serve a single one",
                 c.path[0], c.path[1]);
  return 0;
}

static void Ask(Petsc *p)
{
  static const char *const packages[] = {"cuda", "hip", "sycl", "kokkos", "viennacl"};
  static const char *const scalars[]  = {"unknown", "real double", "complex double", "", "", "real single"};
  int64_t                  type = 0, found = 0, bytes = 0;

  Call(p, "PetscDataTypeFromString", (int64_t)(intptr_t) "scalar", &type, &found);
  p->scalars = type >= 0 && type < (int64_t)(sizeof scalars / sizeof *scalars) ? scalars[type] : "real quadruple";
  Call(p, "PetscDataTypeGetSize", type, &bytes, NULL);
  if (type == 2 /* PETSC_COMPLEX */ && bytes != 16) p->scalars = bytes == 8 ? "complex single" : "complex quadruple";
  Call(p, "PetscDataTypeGetSize", 16 /* PETSC_INT */, &bytes, NULL);
  p->index_bits = (int)(8 * bytes);
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
    int64_t has = 0;
    if (!Call(p, "PetscHasExternalPackage", (int64_t)(intptr_t)packages[i], &has, NULL) && has)
      snprintf(p->devices + strlen(p->devices), sizeof p->devices - strlen(p->devices), " %s", packages[i]);
  }
}

static int AskVersion(Petsc *p)
{
  int64_t release = 0;
  int (*version)(int64_t *, int64_t *, int64_t *, int64_t *) =
      (int (*)(int64_t *, int64_t *, int64_t *, int64_t *))dlsym(p->handle, "PetscGetVersionNumber");

  return version(&p->major, &p->minor, &p->subminor, &release);
}

static int CompareNames(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Lists what this installation serves, such as "3.18-openmpi 3.26-mpich", without indices and scalars: each pair that is
   there has its four variants, unless files were removed */
static void WhatIsHere(char *text, size_t size)
{
  char           path[PETSCPACK_PATH_MAX + 16];
  char          *names[64];
  size_t         count = 0;
  struct dirent *entry;
  DIR           *files;

  snprintf(path, sizeof path, "%s/variants", folder);
  files   = opendir(path);
  text[0] = 0;
  while (files && (entry = readdir(files)) && count < sizeof names / sizeof *names)
    if (strstr(entry->d_name, "mpi") && !strstr(entry->d_name, "-64") && !strstr(entry->d_name, "-complex"))
      names[count++] = strndup(entry->d_name, strlen(entry->d_name) - 3);
  if (files) closedir(files);
  qsort(names, count, sizeof *names, CompareNames);
  for (size_t i = 0; i < count; i++) {
    snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? " " : "", names[i]);
    free(names[i]);
  }
}

/* What a user whose PETSc has no variant can do: the beginning of the sentence that names the command */
static const char *WayOut(const Petsc *p)
{
  if (strstr(p->devices, " hip") || strstr(p->devices, " sycl"))
    return "petscpack computes on NVIDIA's GPUs or on the host. For the host build";
  if (!strstr(p->scalars, "double")) return "Take a PETSc in double precision, or build";
  return "For this PETSc build";
}

static int RefuseUnfit(const Petsc *p)
{
  char  here[TEXT_MAX], prefix[PETSCPACK_PATH_MAX];
  char  conf[PETSCPACK_PATH_MAX + 32];
  char *slash;

  WhatIsHere(here, sizeof here);
  snprintf(prefix, sizeof prefix, "%s", p->path);
  for (int up = 0; up < 2; up++)
    if ((slash = strrchr(prefix, '/'))) *slash = 0;
  snprintf(conf, sizeof conf, "%s/lib/petsc/conf", prefix);
  if (access(conf, R_OK)) prefix[0] = 0; /* not every installation keeps its library below PETSC_DIR */
  return Raise(
      p, PETSCPACK_ERR_LIB,
      "this wheel of petscpack does not fit the PETSc of the program.\n"
      "Found: PETSc %d.%d.%d, %s, %d-bit indices, devices:%s, MPI: %s, in %.300s.\n"
      "The wheel holds: PETSc and MPI %.500s; real or complex double, indices of 32 or 64 bits, no devices.\n"
      "%s petscpack from source: PETSC_DIR=%.200s pip install --force-reinstall --no-binary petscpack petscpack",
      (int)p->major, (int)p->minor, (int)p->subminor, p->scalars, p->index_bits, p->devices[0] ? p->devices : " none",
      p->mpi ? p->mpi : "neither Open MPI's nor MPICH's ABI", p->path, here, WayOut(p),
      prefix[0] ? prefix : "<its folder>");
}

static int RefuseBroken(const Petsc *p, const char *what)
{
  return Raise(p, PETSCPACK_ERR_LIB,
               "this installation of petscpack is damaged: %.1000s. Install it again: pip install --force-reinstall "
               "petscpack",
               what ? what : "unknown error of the dynamic linker");
}

/* Opens the kernels, which every variant needs under this file name */
static int OpenKernels(const Petsc *p, void **kernels)
{
  char path[PETSCPACK_PATH_MAX + 32];
  const SpmvFormat *(*format)(int);

  snprintf(path, sizeof path, "%s/libspmvpack.so", folder);
  *kernels = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*kernels) return RefuseBroken(p, dlerror());
  format = (const SpmvFormat *(*)(int))dlsym(*kernels, "spmv_format_get");
  if (!format) return RefuseBroken(p, dlerror());
  if (format(0)->abi != SPMV_ABI) return RefuseBroken(p, "libspmvpack.so is of another version of petscpack");
  return 0;
}

/* Checks that the variant is bound to this PETSc and to these kernels. It is not if another PETSc or another
   libspmvpack entered the global scope earlier. */
static int CheckBinding(const Petsc *p, void *opened, const char *name, void *kernels)
{
  const PetscPackVariant *v = dlsym(opened, PETSCPACK_VARIANT);

  if (!v) return RefuseBroken(p, dlerror());
  if (v->abi != SPMV_ABI) return RefuseBroken(p, "a variant is of another version of petscpack");
  if (strcmp(v->name, name)) return RefuseBroken(p, "a variant has the file name of another one");
  if (v->petsc != (PetscPackFunction)dlsym(p->handle, "PetscGetVersionNumber"))
    return Raise(p, PETSCPACK_ERR_LIB,
                 "another PETSc comes before %s in the global scope of this process: petscpack cannot serve this one",
                 p->path);
  if (v->kernels != (PetscPackFunction)dlsym(kernels, "spmv_format_get"))
    return Raise(
        p, PETSCPACK_ERR_LIB,
        "this program has a libspmvpack of its own in the global scope: petscpack cannot use %s/libspmvpack.so",
        folder);
  return 0;
}

static int OpenVariant(Petsc *p)
{
  char  path[PETSCPACK_PATH_MAX + 96], name[64];
  void *kernels, *opened;
  int   error;

  snprintf(name, sizeof name, "%d.%d-%s%s%s", (int)p->major, (int)p->minor, p->mpi ? p->mpi : "none",
           p->index_bits == 64 ? "-64" : "", strstr(p->scalars, "complex") ? "-complex" : "");
  snprintf(path, sizeof path, "%s/variants/%s.so", folder, name);
  if (access(path, R_OK) || !strstr(p->scalars, "double") || p->devices[0]) return RefuseUnfit(p);
  if ((error = OpenKernels(p, &kernels))) return error;
  if (p->path[0] && !dlopen(p->path, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL)) return RefuseBroken(p, dlerror());
  opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!opened) return RefuseBroken(p, dlerror());
  if ((error = CheckBinding(p, opened, name, kernels))) {
    dlclose(opened);
    return error;
  }
  snprintf(variant_path, sizeof variant_path, "%s", path);
  snprintf(served, sizeof served, "%s", p->path);
  variant = opened;
  return 0;
}

static void FindFolder(void)
{
  Dl_info self;
  char   *slash;

  if (dladdr((const void *)FindFolder, &self)) snprintf(folder, sizeof folder, "%s", self.dli_fname);
  slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  else snprintf(folder, sizeof folder, ".");
}

static int Register(const void *caller)
{
  Petsc p = {0};
  int (*registers)(void);
  int error;

  FindFolder();
  if ((error = FindPetsc(&p, caller)) || (error = AskVersion(&p))) return error;
  Ask(&p);
  if (variant && strcmp(served, p.path))
    return Raise(&p, PETSCPACK_ERR_LIB, "petscpack serves one PETSc of a process, and serves %s already; this is %s",
                 served, p.path);
  if (!variant && (error = OpenVariant(&p))) return error;
  registers = (int (*)(void))dlsym(variant, "PetscDLLibraryRegister_petscpack");
  return registers ? registers() : RefuseBroken(&p, dlerror());
}

/* Called by PETSc for -dll_append libpetscpack.so, or by petscpack.load() after PETSc has started */
int PetscDLLibraryRegister_petscpack(void) { return Register(__builtin_return_address(0)); }

/* Called if libspmvpack.so was given to -dll_append */
int petscpack_refuse_kernels(const void *caller)
{
  Petsc p = {0};

  FindFolder();
  if (!FindPetsc(&p, caller)) Ask(&p);
  return Raise(&p, PETSCPACK_ERR_LIB, "libspmvpack.so is no plugin of PETSc: give %s/libpetscpack.so to -dll_append",
               folder);
}
