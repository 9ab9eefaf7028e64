/* A library with the file name of an old PETSc, and nothing else of it. */
int other_petsc(void);

int other_petsc(void) { return 1; }
