/* object.h - the life of an object that owns memory, such as a solver or a product of matrices: its struct begins with
   an SpmvObject. */
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

enum { SPMV_OBJECT_BLOCKS = 16 };

typedef struct {
  SpmvSpace     space;        /* that of the exec by which it was made */
  SpmvAllocator host, device; /* the hooks of that exec, which free what they have allocated */
  int64_t       bytes;        /* of its blocks in `space` */
  int           blocks;
  struct {
    SpmvSpace space;
    void     *begin, *first; /* the first array lies at the beginning or, on the emulated GPU, before a guard */
    int64_t   bytes;
  } block[SPMV_OBJECT_BLOCKS];
} SpmvObject;

/* Makes an object of so many bytes, zeros after its SpmvObject. `checked` is the result of the caller's check of its
   arguments; if that has failed, or there is no memory, *out becomes NULL, and the status is returned. out is the
   address of a pointer to the object. */
SpmvStatus spmv_object_create(SpmvStatus checked, int64_t bytes, const char *name, SpmvExec *, void *out);
/* The last statement of a function that creates an object: returns the status; after a failure `destroy` is called */
#define SPMV_OBJECT_MADE(status, destroy, out)                                                                         \
  const SpmvStatus made_ = (status);                                                                                   \
  if (made_) destroy(out);                                                                                             \
  return made_
/* Frees the object with all its blocks and sets the pointer to NULL; NULL and a pointer to NULL are accepted. The second
   does not wait for the device, so only exec->stream may have used the object. */
void spmv_object_destroy(void *out);
void spmv_object_destroy_on(void *out, SpmvExec *);

/* Allocates several arrays as one block of the object; an array of 0 bytes becomes NULL */
SpmvStatus spmv_object_hold(SpmvObject *, SpmvSpace, int count, const int64_t bytes[], const char *name,
                            void **const array[], SpmvExec *);
/* Allocates an array of zeros on the host, as a block of the object; out is the address of a pointer to it */
SpmvStatus spmv_object_hold_zeros(SpmvObject *, int64_t bytes, const char *name, void *out, SpmvExec *);
/* Frees the block that has this array as its first one, which only exec->stream has used; NULL is accepted */
void spmv_object_drop(SpmvObject *, const void *first, SpmvExec *);

/* Fails if exec is for the device and there is none; `who` begins the messages */
SpmvStatus spmv_check_space(const char *who, SpmvExec *);
/* The same, and fails if exec is for the host */
SpmvStatus spmv_check_device(const char *who, SpmvExec *);

SPMV_C_END
