"""dolfinx_elasticity.py with the rigid-body modes for GAMG, as DOLFINx's own elasticity demo gives them.

    PETSC_OPTIONS="-ksp_type cg -pc_type gamg -mg_levels_pc_type jacobi" python3 -m petscpack run dolfinx_elasticity_gamg.py [cells per edge] [solves]
"""
import dolfinx_elasticity

dolfinx_elasticity.main(with_modes=True)
