/* An empty library with the file name of an old PETSc. */
int other_petsc(void);

int other_petsc(void) { return 1; }
