/*
  mgdevice_table.c - compares KSPCGDEVICE with the hierarchies of PCGAMG and PCMG to KSPCG with PETSc's own cycle: a
  table of problems, cycles, smoothers and coarsest levels. Each row tells whether the device must serve, or why it must
  not.

    mgdevice_table [-rows NAME] [-sample n: every n-th row] [-view]
*/
static const char help[] = "Compares multigrid on the device with PETSc's.\n";

#include "mgdevice_test.h"

/* The smoothers of PCMG are SOR by default */
#define JACOBI "-mg_levels_pc_type jacobi "
#define COARSE "-pc_gamg_coarse_eq_limit 8 "

static const MGRow rows[] = {
    /* PCGAMG: numbers of steps, cycles, smoothers */
    {"gamg", MG_SCALAR, 0, "", NULL},
    {"gamg three unknowns", MG_ELASTIC, 0, COARSE, NULL},
    {"gamg tetrahedra", MG_TETRAHEDRA, 0, COARSE, NULL},
    {"gamg jumps", MG_JUMPS, 0, COARSE, NULL},
    {"gamg null space", MG_SINGULAR, 0, COARSE, NULL},
    {"gamg steps 1", MG_SCALAR, 0, COARSE "-mg_levels_ksp_max_it 1", NULL},
    {"gamg steps 3", MG_SCALAR, 0, COARSE "-mg_levels_ksp_max_it 3", NULL},
    {"gamg steps 4", MG_ELASTIC, 0, COARSE "-mg_levels_ksp_max_it 4", NULL},
    {"gamg w", MG_SCALAR, 0, COARSE "-pc_mg_cycle_type w", NULL},
    {"gamg w three unknowns", MG_ELASTIC, 0, "-pc_gamg_coarse_eq_limit 4 -pc_mg_cycle_type w", NULL},
    {"gamg two cycles", MG_SCALAR, 0, COARSE "-pc_mg_multiplicative_cycles 2", NULL},
    {"gamg richardson", MG_SCALAR, 0,
     COARSE "-mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.6 -mg_levels_ksp_max_it 2", NULL},
    {"gamg richardson scale 1", MG_SCALAR, 0, COARSE "-mg_levels_ksp_type richardson", NULL},
    {"gamg pbjacobi", MG_ELASTIC, 0, COARSE "-mg_levels_pc_type pbjacobi", NULL},
    {"gamg pbjacobi richardson", MG_TETRAHEDRA, 0,
     COARSE "-mg_levels_pc_type pbjacobi -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.5", NULL},
    {"gamg none", MG_SCALAR, 0, COARSE "-mg_levels_pc_type none", NULL},
    {"gamg rowmax", MG_SCALAR, 0, COARSE "-mg_levels_pc_jacobi_type rowmax", NULL},
    {"gamg bounds", MG_SCALAR, 0, COARSE "-mg_levels_ksp_chebyshev_eigenvalues 0.2,2.1", NULL},
    {"gamg transform", MG_SCALAR, 0, COARSE "-mg_levels_ksp_chebyshev_esteig 0,0.2,0,1.05", NULL},
#if PETSC_VERSION_GE(3, 19, 0)
    {"gamg fourth", MG_SCALAR, 0, COARSE "-mg_levels_ksp_chebyshev_kind fourth -mg_levels_ksp_max_it 3", NULL},
    {"gamg optimised 1", MG_SCALAR, 0, COARSE "-mg_levels_ksp_chebyshev_kind opt_fourth -mg_levels_ksp_max_it 1", NULL},
    {"gamg optimised 4", MG_ELASTIC, 0, COARSE "-mg_levels_ksp_chebyshev_kind opt_fourth -mg_levels_ksp_max_it 4",
     NULL},
    {"gamg optimised 16", MG_SCALAR, 0, COARSE "-mg_levels_ksp_chebyshev_kind opt_fourth -mg_levels_ksp_max_it 16",
     NULL},
#endif
    /* PCMG on grids */
    {"mg 1", MG_GRID, 1, "-mg_levels_ksp_type preonly -mg_levels_pc_type lu", NULL},
    {"mg 2", MG_GRID, 2, JACOBI, NULL},
    {"mg 3", MG_GRID, 3, JACOBI "-mg_levels_ksp_max_it 3", NULL},
    {"mg 3 jumps", MG_GRID_JUMPS, 3, JACOBI, NULL},
    {"mg 3 null space", MG_GRID_SINGULAR, 3, JACOBI "-mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type svd",
     NULL},
    {"mg 4 w", MG_GRID, 4, JACOBI "-pc_mg_cycle_type w", NULL},
    {"mg 3 unknowns", MG_GRID_UNKNOWNS, 3, JACOBI, NULL},
    {"mg 8", MG_LINE, 8, JACOBI "-mg_levels_ksp_max_it 1", NULL},
    {"mg 6 w", MG_LINE, 6, JACOBI "-pc_mg_cycle_type w -mg_levels_ksp_max_it 2", NULL}, /* 32 visits of the coarsest */
    {"mg up otherwise", MG_GRID_UP, 3, JACOBI "-mg_levels_ksp_max_it 2", NULL},
    {"mg restriction plain", MG_GRID_RESTRICTION, 3, JACOBI, NULL},
    {"mg interpolation transposed", MG_GRID_INTERPOLATION, 3, JACOBI, NULL},
    /* Functions for M; main() asks for the GPU, because the matrices are small */
    {"M mg sor", MG_GRID, 3, "", NULL},
    {"M mg sor w, null space", MG_GRID_SINGULAR, 3,
     "-pc_mg_cycle_type w -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type svd", NULL},
    {"M mg sor up otherwise", MG_GRID_UP, 3, "-mg_levels_ksp_max_it 2", NULL},
    {"M gamg sor three unknowns", MG_ELASTIC, 0, COARSE "-mg_levels_pc_type sor", NULL},
    {"M gamg sor 2 steps 1.2", MG_SCALAR, 0,
     COARSE "-mg_levels_pc_type sor -mg_levels_pc_sor_omega 1.2 -mg_levels_ksp_max_it 2 ", NULL},
    {"M gamg sor richardson", MG_TETRAHEDRA, 0,
     COARSE "-mg_levels_pc_type sor -mg_levels_ksp_type richardson -mg_levels_pc_sor_lits 2", NULL},
    {"M gamg bjacobi sor", MG_SCALAR, 0,
     COARSE "-mg_levels_pc_type bjacobi -mg_levels_sub_pc_type sor -mg_levels_sub_mat_aijfmt_device gpu", NULL},
    {"M gamg bjacobi icc", MG_SCALAR, 0,
     COARSE "-mg_levels_pc_type bjacobi -mg_levels_sub_pc_type icc -mg_levels_sub_mat_aijfmt_device gpu "
            "-mg_levels_sub_pc_factor_mat_solver_type petscpack",
     NULL},
    {"M gamg asm sor", MG_SCALAR, 0,
     COARSE "-mg_levels_pc_type asm -mg_levels_sub_pc_type sor -mg_levels_sub_mat_aijfmt_device gpu", NULL},
    /* The coarsest level */
    {"coarse cholesky", MG_GRID, 3, JACOBI "-mg_coarse_pc_type cholesky", NULL},
    {"coarse svd", MG_GRID, 3, JACOBI "-mg_coarse_pc_type svd", NULL},
    {"coarse redundant", MG_GRID, 3, JACOBI "-mg_coarse_pc_type redundant", NULL},
    {"coarse bjacobi", MG_GRID, 3, JACOBI "-mg_coarse_pc_type bjacobi -mg_coarse_sub_pc_type lu", NULL},
    {"coarse singular by petsc", MG_SINGULAR_UNKNOWN, 0, COARSE, NULL},
    {"coarse jacobi by petsc", MG_GRID, 3, JACOBI "-mg_coarse_pc_type jacobi", NULL},
    {"coarse large by petsc", MG_LARGE, 2, JACOBI, NULL},
    /* Hierarchies left to PETSc */
    {"no small sor", MG_GRID, 3, "", "fewer than"},
    {"no asm", MG_GRID, 3, "-mg_levels_pc_type asm", "the preconditioner of a block is not on the GPU"},
    {"no ilu of petsc", MG_GRID, 3, "-mg_levels_pc_type ilu", "ilu of the smoother is PETSc's own"},
    {"no gmres", MG_GRID, 3, JACOBI "-mg_levels_ksp_type gmres", "level 2: the smoother is gmres"},
    {"no norm", MG_GRID, 3, JACOBI "-mg_levels_ksp_norm_type unpreconditioned -mg_levels_ksp_convergence_test skip",
     "level 2: the smoother computes norms"},
    {"no additive", MG_GRID, 3, JACOBI "-pc_mg_type additive", "the multigrid is not multiplicative"},
    {"no kaskade", MG_GRID, 3, JACOBI "-pc_mg_type kaskade", "the multigrid is not multiplicative"},
    {"no self scale", MG_GRID, 3, JACOBI "-mg_levels_ksp_type richardson -mg_levels_ksp_richardson_self_scale",
     "the smoother scales itself"},
    {"no 65 steps", MG_GRID, 2, JACOBI "-mg_levels_ksp_max_it 65", "level 1: the smoother has more than 64 steps"},
    {"no residual of the user", MG_GRID_RESIDUAL, 3, JACOBI, "level 2: the residual is a function of the user"},
    {"no null space", MG_GRID_NULL, 2, JACOBI, "level 1: the smoother has another null space than the solver"},
    {"no other matrix", MG_GRID_OTHER, 2, JACOBI, "level 1: the smoother has another matrix than the residual"},
};

int main(int argc, char **argv)
{
  char      only[64] = "";
  PetscInt  sample   = 1;
  PetscBool one, asks, all;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rows", only, sizeof only, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &sample, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_aijfmt_device", &all));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i += (size_t)sample) {
    PetscCall(PetscStrcmp(only, rows[i].name, &one));
    if (only[0] && !one) continue;
    PetscCall(PetscStrbeginswith(rows[i].name, "M ", &asks));
    if (asks) PetscCall(PetscOptionsInsertString(NULL, "-mat_aijfmt_device gpu"));
    PetscCall(MGTestRow(&rows[i], (PetscInt)i));
    if (asks && !all) PetscCall(PetscOptionsClearValue(NULL, "-mat_aijfmt_device"));
  }
  return CGDevTestEnd();
}
