/* solve_elements.h - the list of the entries of all element matrices of a process, on the host and on the device */
#ifndef SOLVE_ELEMENTS_H
#define SOLVE_ELEMENTS_H

#include <petscsystypes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The elements of this process; node and point are both on the host or both on the device */
typedef struct {
  int64_t  count;
  int32_t *node;  /* [count][4], numbered as in the matrix */
  double  *point; /* [nodes][3], of all nodes; NULL: the problem is not made of elements */
} Elements;

/* Write the rows and columns of all entries, and the values for scale (see element_entry()) */
void ElementsList(const Elements *, PetscInt row[], PetscInt col[]);
void ElementsValues(const Elements *, const double scale[2], PetscScalar values[]);
/* The same on the device; they return an error of CUDA, or 0 */
int ElementsListThere(const Elements *, PetscInt row[], PetscInt col[]);
int ElementsValuesThere(const Elements *, const double scale[2], PetscScalar values[]);

#ifdef __cplusplus
}
#endif
#endif
