/* layouts.c - compares the layouts of src/sys/private.c with those in the sources of one version of PETSc; it is compiled
   only: scripts/check_layouts.sh. */
#include <stddef.h>
#include <../src/ksp/ksp/impls/cheby/chebyshevimpl.h>
#include <../src/ksp/ksp/impls/rich/richardsonimpl.h>
#include <../src/mat/impls/aij/seq/aij.h>
#include "sys/private.c"

/* The struct of PCGAMGAGG, copied from a file that cannot be included */
#include "agg_struct.h"

#define SAME(ours, theirs, field)                                                                                      \
  _Static_assert(offsetof(ours, field) == offsetof(theirs, field), #theirs " has " #field " in another place")

SAME(SeqAIJ, Mat_SeqAIJ, maxnz);
SAME(SeqAIJ, Mat_SeqAIJ, imax);
SAME(SeqAIJ, Mat_SeqAIJ, ilen);
SAME(SeqAIJ, Mat_SeqAIJ, rmax);
SAME(SeqAIJ, Mat_SeqAIJ, free_ij);
SAME(SeqAIJ, Mat_SeqAIJ, free_a);
SAME(SeqAIJ, Mat_SeqAIJ, nz);
SAME(SeqAIJ, Mat_SeqAIJ, i);
SAME(SeqAIJ, Mat_SeqAIJ, j);
SAME(SeqAIJ, Mat_SeqAIJ, diag);
SAME(SeqAIJ, Mat_SeqAIJ, nonzerorowcnt);
SAME(SeqAIJ, Mat_SeqAIJ, a);
#if PETSC_VERSION_LT(3, 22, 0)
SAME(SeqAIJ, Mat_SeqAIJ, singlemalloc);
#endif

SAME(Chebyshev, KSP_Chebyshev, emin);
SAME(Chebyshev, KSP_Chebyshev, emax);
SAME(Chebyshev, KSP_Chebyshev, emin_computed);
SAME(Chebyshev, KSP_Chebyshev, emax_computed);
SAME(Chebyshev, KSP_Chebyshev, emin_provided);
SAME(Chebyshev, KSP_Chebyshev, emax_provided);
SAME(Chebyshev, KSP_Chebyshev, kspest);
SAME(Chebyshev, KSP_Chebyshev, tform);
#if PETSC_VERSION_GE(3, 19, 0)
SAME(Chebyshev, KSP_Chebyshev, betas);
SAME(Chebyshev, KSP_Chebyshev, num_betas_alloc);
SAME(Chebyshev, KSP_Chebyshev, chebykind);
#endif
SAME(Chebyshev, KSP_Chebyshev, eststeps);
SAME(Chebyshev, KSP_Chebyshev, usenoisy);
#if PETSC_VERSION_LT(3, 26, 0)
SAME(Chebyshev, KSP_Chebyshev, amatid);
SAME(Chebyshev, KSP_Chebyshev, pmatid);
#endif
SAME(Chebyshev, KSP_Chebyshev, amatstate);
SAME(Chebyshev, KSP_Chebyshev, pmatstate);

SAME(Richardson, KSP_Richardson, scale);
SAME(Richardson, KSP_Richardson, selfscale);

#if PETSC_VERSION_LT(3, 22, 0)
SAME(GamgAgg, PC_GAMG_AGG, nsmooths);
SAME(GamgAgg, PC_GAMG_AGG, aggressive_coarsening_levels);
SAME(GamgAgg, PC_GAMG_AGG, crs);
#endif
