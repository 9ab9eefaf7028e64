"""The steps of a run on a machine with a GPU, as data. gpu_run.py runs them; its help, the table in bench/README.md (which
scripts/check_source.sh compares) and the list of programs in a bundle are made from these tables.

A command is a line. `$name` is a setting, an entry of WORDS, or a value of the run: out, scratch, here (the bundle), part (the
folder of the step's part), commit, formats, limitN and eachN (N percent of the step's limit, of the limit of one command).
`$format` and `$ranks` repeat the line for each format and for 1 and 2 processes, `{a,b}` for a and b. Before the command stand

    @part      the line runs only if the setting STEP_PARTS has this part
    &          the line runs beside other lines; the next line without & waits for all of them
    120        seconds for the command, in place of the step's limit for one
    !name      a function of gpu_programs.py, with the words that follow
"""
from typing import NamedTuple


class Step(NamedTuple):
    name: str
    part: str       # of the bundle
    limit: int      # seconds
    each: float     # seconds for one command; below 1 a share of the limit, negative: by how much less than the limit
    help: str
    commands: str


STEPS = [
    Step("conformance", "cuda", 600, 1 / 2, "compares every format with the host on all data", """
        unit_kernels
        !conformance"""),
    Step("mat", "cuda", 600, 2 / 3, "the Mat types in PETSc: operations compared with plain AIJ, device memory, solvers", """
        mat_device_memory -mat_type aij$format -use_gpu_aware_mpi 0
        mat_truth -format $format $small -mat_aijfmt_decline 0 -malloc_dump
        mpiexec -n $ranks mat_decide -expect_gpu -use_gpu_aware_mpi 0 -malloc_dump
        mpiexec -n $ranks mat_coo $small -mat_aijfmt_decline 0 -expect 'coordinates sorted on the GPU' -malloc_dump
        mpiexec -n $ranks mat_transpose $small -mat_aijfmt_decline 0 -gpu -malloc_dump
        # without MPS, under which cuSPARSE, which does the products of declined matrices, gives wrong results at times
        & conf_mat -format $format -scratch $scratch/conf_mat.$format.declines $small -sample 3 -malloc_dump
        !share_gpu
        & mpiexec -n $ranks mat_values -format $format $small -malloc_dump
        & mpiexec -n $ranks mat_reads -format $format -scratch $scratch/mat_reads.$format.$ranks -mat_aijfmt_decline 0 $small -malloc_dump
        & mpiexec -n $ranks conf_mat -format $format -scratch $scratch/conf_mat.$format.$ranks $insist $small -malloc_dump
        !collect
        # matrices of plain aij, under the name of PETSc's type or under ours for their blocks
        & mpiexec -n $ranks conf_mat $replace -scratch $scratch/conf_mat.plain.$ranks $insist $small -sample 3 -malloc_dump
        & mpiexec -n $ranks mat_reads $replace -scratch $scratch/mat_reads.plain.$ranks -mat_aijfmt_decline 0 $small -sample 3 -malloc_dump
        & mpiexec -n $ranks conf_mat -mat_seqaij_type seqaijrbp -scratch $scratch/conf_mat.named.$ranks $insist $small -sample 7 -malloc_dump
        mpiexec -n 2 {ksp_history,ksp_refresh} $insist $small
        mpiexec -n 2 bench_kspsolve -n 100 -ksp_type cg -pc_type jacobi -mat_type aijfold -mat_aijfold_device_memory 20000000 -ksp_converged_reason \
          -ksp_error_if_not_converged $plugin"""),
    Step("fuzz", "cuda", 300, -5, "random sequences of operations on every type and on twins of plain aij, with matrices on the GPU", """
        $fuzz --seconds $each60 --parent aijcusparse --report $out/fuzz.md $FUZZ_ARGS -- -mat_aijfmt_device gpu -mat_no_inode $FUZZ_OPTIONS"""),
    Step("sanitizer", "cuda", 300, 1 / 3, "compute-sanitizer memcheck and racecheck on the quick conformance, and a few iterations of the engines", """
        $sanitizer --tool memcheck $guard $here/bin/unit_kernels $iterations cycle_graph_test.c
        $sanitizer --tool memcheck $guard $here/bin/conf_kernels --space device --tier quick --sample 1999
        # racecheck takes ten times as long
        $sanitizer --tool racecheck $guard $here/bin/unit_kernels $iterations
        $sanitizer --tool racecheck $guard $here/bin/conf_kernels --space device --tier quick --sample 14983"""),
    Step("petsc", "cuda", 240, 60, "PETSc's own programs, unmodified: compares iterations with aijcusparse and with aijrbp", """
        # aijcusparse takes no other vectors
        !compare aijcusparse $ranks ex2 -m 300 -n 300 -ksp_type cg -ksp_converged_reason -pc_type jacobi -vec_type cuda '-mat_type TYPE $plugin'
        !compare aijcusparse $ranks ex56 -ne 19 -alpha 1.e-3 -ksp_type cg -ksp_converged_reason -pc_type gamg -use_mat_nearnullspace \
          -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi '-mat_type TYPE $plugin'
        !compare aijcusparse $ranks bench_kspsolve -n 100 -ksp_type cg -ksp_converged_reason -pc_type jacobi '-mat_type TYPE $plugin'"""),
    Step("bench", "cuda", 420, 8 / 10, "spmv_bench against cuSPARSE, then petsc_bench and coo_bench against PETSc's types through MatMult and MatSetValuesCOO", """
        # the last matrix may begin just before the budget ends
        spmv_bench $BENCH_ARGS --budget $limit60 --commit $commit --out $out/bench.json
        !petsc_bench $PETSC_BENCH
        coo_bench -matrix stencil27:60 -repeat 3 -types aijcusparse,aijrbp,aijfold,aijcrsv,aijcodsell -json $out/coo_bench.json -use_gpu_aware_mpi \
          0"""),
    Step("sweep", "cuda", 240, 6 / 10, "spmv_bench of crsv with every number of threads per row and every variant, of fold over (q, r), and of fold with a "
         "matrix ten times larger than its limit of device memory", """
        # these compare options with each other, so without peers, which the step bench has; each is converted once
        spmv_bench $crsv_matrices --convert-once --formats $crsv_options --commit $commit --out $out/crsv.json
        spmv_bench --set default --no-peers --convert-once --budget $limit50 --commit $commit --formats $fold_sweep --out $out/fold.json
        spmv_bench --matrix tet3_rcm:65 --no-peers --convert-once --commit $commit --out $out/outofcore.json --formats $fold_limited"""),
    Step("fold_paper", "cuda", 120, -5, "the measurements of the paper on the Fold method, in single and double precision", """
        fold_paper $FOLD_PAPER_ARGS --commit $commit --out $out/fold_paper.json"""),
    Step("spgemm", "cuda", 120, -5, "spgemm_bench: products of matrices, compared with cuSPARSE", """
        unit_kernels spgemm_test.c aggregate_test.c aggregate_fault_test.c tentative_test.c
        spgemm_bench $SPGEMM_ARGS --commit $commit --out $out/spgemm.json"""),
    Step("incomplete", "cuda", 580, 1 / 4, "ILU(0), IC(0) and SOR: compared with the host, an application beside cuSPARSE's SpSV, whole solves, also with `mg` and on 16 processes", """
        unit_kernels factor_test.c factor_blocks_test.c factor_order_test.c factor_fault_test.c
        mpiexec -n $ranks incomplete_test -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        factor_bench $FACTOR_ARGS --budget $limit40 --commit $commit --out $out/factor.json
        !factors 1 40 aijrbp gmresdevice_ilu,cgdevice_icc,cgdevice_sor,aggdevice_gamg $ilu_matrices
        !factors 1 40 aijcusparse gmres_ilu,cg_icc $ilu_matrices
        !factors 1 30 aijrbp cgdevice_mg,cgdevice_jacobi_mg $mg_matrices
        !factors 16 40 aijrbp gmresdevice_bjacobi $ilu_matrices"""),
    Step("incomplete_fill", "cuda", 400, 1 / 4, "the same solves with ILU(1), and with ICC(0) in the order `nd`", """
        unit_kernels factor_fill_test.c
        !factors 1 80 aijrbp gmresdevice_ilu,cgdevice_icc $ilu_matrices
        !factors 1 100 aijcusparse gmres_ilu,cg_icc $ilu_matrices"""),
    Step("incomplete_host", "distro", 400, 1 / 4, "the rivals of the step incomplete: PETSc's ILU, ICC and block Jacobi on 1 and 16 processes", """
        !factors 16 60 aij gmres_bjacobi $ilu_matrices
        !factors 1 90 aij gmres_ilu,cg_icc,cg_sor $ilu_matrices
        !factors 1 60 aij cg_mg $mg_matrices"""),
    Step("coo", "cuda", 180, -5, "elements_bench: patterns and values from lists of element matrices, compared with the host", """
        unit_kernels coo_test.c coo_fault_test.c
        elements_bench $COO_ARGS --commit $commit --out $out/elements.json"""),
    Step("cg", "cuda", 180, -5, "KSPCGDEVICE compared with KSPCG, also with multigrid; cg_bench: iterations of its engine in every mode, and the product alone", """
        unit_kernels cg_test.c cg_fault_test.c operator_test.c cycle_test.c cycle_cg_test.c cycle_graph_test.c cycle_fault_test.c cycle_null_test.c \
          cycle_outer_test.c gmres_test.c
        cgdevice_compare -mode {auto,chunk,graph,persistent} -use_gpu_aware_mpi 0
        {cgdevice_cases,cgdevice_repeat,cgdevice_mixed,gmresdevice_test,mgdevice_table,mgdevice_repeat,mgdevice_single,mgdevice_pc,mgdevice_watch} \
          -use_gpu_aware_mpi 0
        {mgdevice_table,mgdevice_repeat} -use_gpu_aware_mpi 0 -mat_aijfmt_decline 0 -mat_aijfmt_device gpu
        cg_bench $CG_ARGS --budget $limit60 --commit $commit --out $out/cg.json"""),
    Step("gamg", "cuda", 120, 1 / 2, "the set-up of GAMG: graphs, aggregates, estimates, prolongators", """
        unit_kernels graph_test.c aggregate_test.c tentative_test.c aggregate_fault_test.c
        mat_graph -format rbp -expect_gpu -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        mat_shared -type aij$format -scratch $scratch/mat_shared.$format -mat_aijfmt_device gpu -mat_aijfmt_decline 0 -use_gpu_aware_mpi 0 -malloc_dump
        mat_fresh -type aij$format $small -mat_aijfmt_decline 0 -malloc_dump
        estimates_test -mat_aijfmt_device gpu -mat_aijfmt_decline 0 -use_gpu_aware_mpi 0
        aggdevice_test -type {aij,aijcusparse,aijrbp} -use_gpu_aware_mpi 0 -mat_aijfmt_device gpu"""),
    Step("solve", "cuda", 480, -20, "solve_bench: all phases of a solve with PETSc's types and with ours; PETSc's `ex56`, `bench_kspsolve` and `ex10` with -log_view", """
        !solve solve"""),
    Step("mg", "cuda", 360, -20, "solve_bench: CG with GAMG by KSPCG and by KSPCGDEVICE, 0.7 to 4 million rows", """
        !solve mg"""),
    Step("elements", "cuda", 420, -20, "solve_bench: from element matrices to the solution, and ten steps: 5,000 rows as a check, then 1 million; `aijrbp` and "
         "`aijauto` with `cgdevice` and GAMG by `aggdevice`, `aijcusparse` with `cg` and `gamg`", """
        !solve elements-solve"""),
    Step("stokes", "cuda", 60, -5, "PETSc's unmodified `ex42`: FGMRES with a field split, whose velocities have `gamg` or `gamgdevice`; fails if a cycle was not on the device", """
        !stokes"""),
    Step("launches", "cuda", 300, -5, "counts kernels of a warm solve by Nsight Compute, each node of a CUDA graph as one; skipped if it is not installed", """
        !skippable $here/solve_launches.py $out/launches.json --commit $commit $LAUNCHES_ARGS"""),
    Step("mpi", "cuda", 300, -20, "tests and measurements on two GPUs of one host, with `libnccl.so.2`; skipped with one GPU", """
        !two_gpus
        @tests 120 mpiexec -n 2 cgdevice_compare -mode graph -expect_nccl 1 -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 cgdevice_compare -mode chunk -expect_nccl 1 -mat_aijfmt_decline 0 -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 cgdevice_compare -mode graph -petscpack_nccl off -expect_nccl 0 -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 mgdevice_table -sample 13 -expect_nccl 1 -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 mgdevice_pc -expect_nccl 1 -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 gmresdevice_test -sample 9 -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 cgdevice_cases -expect_nccl 1 -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 aggdevice_test -type aijrbp -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 aggdevice_blocks -expect_nccl 1 -mat_aijfmt_decline 0 -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        @tests 60 mpiexec -n 2 estimates_test -mat_aijfmt_decline 0 -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        # mpiexec fails with the process that dies, so the message of the other one counts
        @tests !expect '^error [1-9][0-9]* after [0-9.]+ s' 90 mpiexec -disable-auto-cleanup -n 2 cgdevice_peer -use_gpu_aware_mpi 0
        @tests 120 mpiexec -n 2 conf_mat -format $MPI_FORMAT -sample 17 -scratch $scratch/conf_mat.bin -mat_aijfmt_decline 0 -mat_aijfmt_device gpu \
          -mat_no_inode -use_gpu_aware_mpi 0
        @fuzz $fuzz --seconds 100 --parent aijcusparse --report $out/fuzz-two.md --count $MPI_FUZZ --ranks 2 -- -mat_aijfmt_device gpu -mat_no_inode \
          -petscpack_replace cg,gmres,gamg
        @timelines 40 mpiexec -n 2 mult_timeline -n $MPI_N -mat_type $MPI_TYPE -iterations 8 -pc_type jacobi -ksp_type cgdevice -dll_append \
          $here/lib/libpetscpack.so -json $out/timeline-nccl.json -use_gpu_aware_mpi 0
        @timelines @rival 40 $here/mpiexec_gpu.sh -n 2 mult_timeline -n $MPI_N -mat_type aijcusparse -iterations 8 -pc_type jacobi -ksp_type cg \
          -json $out/timeline-aijcusparse.json -use_gpu_aware_mpi 1
        @timelines !table timeline.py $out/timeline-*.json
        @solves !mpi_solves"""),
    Step("mpi_large", "cuda", 590, -10, "two GPUs: set-ups of GAMG beside those of an earlier commit (`EARLIER`), and the largest problems with 32-bit indices; runs only if "
         "it is named", """
        !two_gpus
        @tests 60 mpiexec -n 2 estimates_test -mat_aijfmt_decline 0 -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
        @set_ups !mpi_set_ups $MPI_SET_UPS
        @gamg 200 mpiexec -n 2 mult_timeline -n $MPI_LARGEST_GAMG -ksp_type cgdevice -pc_type gamgdevice -pc_gamg_type aggdevice $largest -json \
          $out/largest-gamg.json
        @cg 300 mpiexec -n 2 mult_timeline -n $MPI_LARGEST_CG -ksp_type cgdevice -pc_type jacobi $largest -json $out/largest-cg.json
        !table timeline.py $out/largest-*.json"""),
    Step("distro", "distro", 500, 2 / 3, "a distribution's PETSc without CUDA, which keeps vectors on the host: PETSc's unmodified `ex2` with `aij` and `aijrbp`, "
         "then every format with its matrices on the GPU", """
        !compare aij $ranks ex2 -m 300 -n 300 -ksp_type cg -ksp_converged_reason -pc_type jacobi '-mat_type TYPE -dll_append \
          $part/lib/libpetscpack.so -mat_aijfmt_device gpu -ksp_view_mat ::ascii_info'
        # otherwise the host has computed all of this
        !contains $scratch/ex2.$ranks.aijrbp '^ +on the GPU|[1-9][0-9]* on the GPU, 0 declined'
        mpiexec -n $ranks mat_options -malloc_dump
        mpiexec -n $ranks ksp_history -mat_aijfmt_device gpu -mat_aijfmt_decline 0 -malloc_dump
        !share_gpu
        & mpiexec -n $ranks conf_mat -format $format -scratch $scratch/conf_mat.$format.$ranks -mat_aijfmt_device gpu -mat_aijfmt_decline 0 \
          -malloc_dump
        mpiexec -n 1 conf_mat -format rbp -scratch $scratch/conf_mat.bin -mat_aijfmt_device auto -mat_aijfmt_decline 0
        100 $fuzz --seconds 60 --parent aij --report $out/fuzz-distro.md $FUZZ_ARGS -- -mat_aijfmt_device gpu -mat_no_inode $FUZZ_OPTIONS"""),
    Step("mg_distro", "distro", 300, -20, "the step mg on that PETSc, compared with aij on one core: 0.4 million rows", """
        !solve mg_distro"""),
    Step("direct", "distro", 580, -20, "LU and Cholesky by cuDSS (`CUDSS`) on that PETSc: factor_test, then solve_bench beside MUMPS on one core", """
        factor_test -petscpack_cudss $CUDSS -petscpack_cudss_least_rows 0
        solve_bench -matrix tet3_rcm:21 $direct -json $out/direct-elasticity-29.json
        solve_bench -matrix stencil7:46 $direct -json $out/direct-scalar-97.json
        solve_bench -matrix stencil5:320 $direct -json $out/direct-plane-102.json
        # without MUMPS, which takes three minutes for each factorization
        solve_bench -matrix tet3_rcm:32 $direct -solvers lu_cudss,cholesky_cudss -json $out/direct-elasticity-98.json"""),
    Step("direct_host", "distro", 540, -20, "the rival of the step direct: MUMPS on 1 and 16 processes, with the BLAS of `distro/lib/openblas` if it is there", """
        # from small to large; what a limit cuts off leaves the phases before it
        !factors 16 30 aij lu_mumps,cholesky_mumps tet3_rcm:21 stencil7:31 stencil5:173
        !factors 1 60 aij lu_mumps,cholesky_mumps stencil5:173 stencil7:31 tet3_rcm:21
        !factors 16 60 aij lu_mumps,cholesky_mumps stencil5:320 stencil7:46 tet3_rcm:32
        !factors 16 40 aij lu_mumps,cholesky_mumps stencil5:550 stencil5:852
        !factors 1 100 aij cholesky_mumps,lu_mumps stencil5:320 stencil5:852 stencil7:46 tet3_rcm:32
        !factors 16 150 aij cholesky_mumps,lu_mumps stencil7:67 tet3_rcm:46
        !factors 1 100 aij cholesky_mumps,lu_mumps stencil7:67
        !factors 1 300 aij cholesky_mumps tet3_rcm:46"""),
    Step("direct_gpu", "distro", 480, -20, "the matrices of direct_host on the GPU: CG with GAMG, then cuDSS (`CUDSS`) with 16 processes and with one", """
        !factors 1 40 aijrbp cgdevice_gamg,aggdevice_gamg tet3_rcm:21 stencil7:31 stencil5:173 stencil5:320 stencil7:46 tet3_rcm:32 stencil5:550 \
          stencil5:852 stencil7:67 tet3_rcm:46
        !factors 16 60 aij lu_cudss,cholesky_cudss tet3_rcm:21 stencil7:46 tet3_rcm:32 stencil5:852 stencil7:67 tet3_rcm:46
        !factors 1 60 aij lu_cudss,cholesky_cudss tet3_rcm:21 stencil7:31 stencil5:173 stencil5:320 stencil7:46 tet3_rcm:32 stencil5:550 stencil5:852 \
          stencil7:67 tet3_rcm:46"""),
    Step("direct_matrices", "distro", 500, -20, "an unsymmetric and a saddle-point matrix, which multigrid does not solve, by cuDSS (`CUDSS`) and by MUMPS", """
        $PYTHON $here/direct_matrices.py $scratch 32
        !factors 1 60 aij lu_cudss convection.petsc stokes.petsc
        # LDL^T by cuDSS is judged not good enough for the second, and PETSc's needs diagonal entries
        !factors 16 40 aij lu_mumps convection.petsc
        !factors 16 150 aij cholesky_mumps,lu_mumps stokes.petsc
        !factors 1 250 aij lu_mumps convection.petsc stokes.petsc"""),
    Step("dolfinx", "dolfinx", 570, -10, "the binary wheel: programs of DOLFINx, unchanged, with aij on one core and with petscpack, compared; the CUDA context and the modules of the kernels apart", """
        $PYTHON $part/dolfinx_run.py $part/programs $out/dolfinx.json $DOLFINX_ARGS"""),
    Step("dolfinx_direct", "dolfinx", 570, -10, "LU in a program of DOLFINx, unchanged: by `run`, by MUMPS on one core and on 16 processes, and by PETSc", """
        !dolfinx_direct 60 run none heat:32 elasticity:22 heat:45 elasticity:31
        !dolfinx_direct 60 run mumps heat:32 elasticity:22 heat:45 elasticity:31
        !dolfinx_direct 60 16 mumps heat:32 elasticity:22 heat:45 elasticity:31
        !dolfinx_direct 100 1 mumps heat:32 elasticity:22 heat:45 elasticity:31
        # PETSc's own LU, 36 thousand rows only
        !dolfinx_direct 180 1 none heat:32 elasticity:22"""),
    Step("dolfinx_lu", "dolfinx", 400, -10, "LU in three programs of DOLFINx, unchanged, also with complex scalars (`SCALARS` of gpu_bundle.sh)", """
        !dolfinx_direct 60 run none poisson:45 helmholtz:45 heat:45
        !dolfinx_direct 60 16 mumps poisson:45 helmholtz:45 heat:45
        !dolfinx_direct 60 1 mumps poisson:45 helmholtz:45 heat:45"""),
    Step("coverage", "dolfinx", 300, -10, "the settings of public programs by the binary wheel: right, and where each runs", """
        $PYTHON $part/tests/coverage/coverage.py --python $PYTHON --folder $scratch/coverage --cudss $CUDSS --report $out/coverage.json"""),
    Step("auto", "cuda", 600, 300, "measures the choices of `aijauto` by petsc_bench; runs only if it is named", """
        !auto $AUTO_SPACE $AUTO_MATRICES"""),
]
ON_REQUEST = ("auto", "mpi_large")
PETSC_PROGRAMS = ("bench_kspsolve", "ex2", "ex10", "ex42", "ex56")  # of ksp/ksp/tutorials
BY_HAND = {"cuda": ("mat_auto",)}  # packed, though no step runs it

WORDS = {
    # small matrices forced to the GPU. Types of a PETSc with CUDA build on aijcusparse, which has no inodes; plain aij has none
    # either, because its orderings and factors would differ
    "small": "-mat_aijfmt_device gpu -use_gpu_aware_mpi 0 -mat_no_inode",
    "insist": "-mat_aijfmt_decline 0 -conf_mat_aijfmt_decline 0",  # one operation has a prefix
    "replace": "-petscpack_replace aij,cg,gmres,mg,gamg",
    "largest": "-mat_type $MPI_TYPE -iterations 8 -ksp_view -log_view $plugin",
    "plugin": "-dll_append $here/lib/libpetscpack.so -use_gpu_aware_mpi 0",
    "fuzz": "$here/fuzz.sh --program $part/bin/fuzz_mat --mpiexec $part/bin/mpiexec --where GPU",
    "direct": "-types aij -solvers lu_cudss,cholesky_cudss,lu_mumps,cholesky_mumps -steps 0 -repeat 3 -changes 1 -petscpack_cudss $CUDSS "
              "-petscpack_cudss_least_rows 0 -commit $commit",
    "incomplete": "$incomplete_host -gmresdevice_ilu_pc_factor_mat_solver_type petscpack -cgdevice_icc_pc_factor_mat_solver_type petscpack "
                  "-gmresdevice_bjacobi_sub_pc_factor_mat_solver_type petscpack -cgdevice_jacobi_mg_mg_levels_pc_type jacobi "
                  "-use_gpu_aware_mpi 0",
    "incomplete_fill": "$incomplete -gmresdevice_ilu_pc_factor_levels 1 -gmres_ilu_pc_factor_levels 1 -cgdevice_icc_pc_factor_mat_ordering_type nd "
                       "-cg_icc_pc_factor_mat_ordering_type nd",
    "incomplete_host": "-steps 0 -repeat 3 -changes 1 -rtol 1e-5 -commit $commit",  # 1e-5 is PETSc's default
    "ilu_matrices": "p1_rcm:114 tet3_rcm:69 tri_rcm:853",
    "mg_matrices": "stencil5:1025 stencil7:97",  # grids that halve to 3 x 3 and to 4 x 4 x 4 nodes
    "guard": "--error-exitcode 9 --print-limit 20",
    "iterations": "cg_of_a_few_iterations cycle_on_the_device_makes_levels_one_matrix cycle_takes_a_null_space_out_of_its_result "
                  "gmres_of_an_indefinite_and_of_a_singular_matrix gmres_of_several_thread_blocks cycle_between_double_vectors_of_many_rows",
    "crsv_matrices": "".join(f"--matrix {name} " for name in ("hex3:80", "tet3_rcm:65", "p1_rcm:130", "stencil7:200", "stencil5:2500", "p2_rcm:50",
                                                              "powerlaw:1000000")),
    "crsv_options": ",".join(["crsv", *(f"crsv:nt={n}" for n in ("rule", 1, 2, 4, 8, 16, 32)),
                              *(f"crsv:nt=rule:variant={v}" for v in ("no_readonly", "outer_loop", "shared"))]),
    "fold_limited": "fold" + "".join(f",fold:device_memory=43700000{gather}" for gather in ("", ":gather=host")),
}

# Name: default, meaning
SETTINGS = {
    "CONF_SAMPLE": ("5", "runs every N-th combination of the conformance table; 1: all, which takes minutes per format"),
    "CONF_SAMPLE_FULL": ("211", "the same for the table with larger matrices and every option setting, 0: none"),
    "CONF_FORMATS": ("", "only these formats"),
    "CONF_SHARES": ("", "processes for them (the number of cores; 1 without NVIDIA's MPS, by which processes share a GPU)"),
    "FUZZ_ARGS": ("--count 1000 --ranks 1", "arguments for fuzz.sh"),
    "FUZZ_OPTIONS": ("", "options for fuzz_mat, for example `-fuzz_skip` and operations to leave out"),
    "BENCH_ARGS": ("--set default", "arguments for spmv_bench"),
    "PETSC_BENCH": ("tet3_rcm:65 hex3:80", "matrices for petsc_bench"),
    "FOLD_PAPER_ARGS": ("--shapes --matrix powerlaw:1000000", "arguments for fold_paper"),
    "SPGEMM_ARGS": ("", "arguments for spgemm_bench"),
    "FACTOR_ARGS": ("", "arguments for factor_bench"),
    "COO_ARGS": ("", "arguments for elements_bench"),
    "CG_ARGS": ("", "arguments for cg_bench"),
    "SOLVE_SET": ("medium", "matrices of `solve`: `small` (0.1 million rows), `medium` (also 1 million), `large` (4 million)"),
    "SOLVE_PROGRAMS": ("1", "0: `solve` without PETSc's programs"),
    **{f"{step}_{what}": ("", f"{text} in the step `{step.lower()}`") for step in ("SOLVE", "MG", "ELEMENTS")
       for what, text in (("MATRICES", "matrices"), ("TYPES", "types"), ("ARGS", "further arguments for solve_bench"))},
    "STOKES_FORMS": ("aijcusparse_gamg aijrbp_gamg aijrbp_gamgdevice aijrbp_single aijrbp_replace", "runs of ex42; also `aij_gamg`"),
    "STOKES_ARGS": ("-mx 40", "arguments for ex42: 0.28 million unknowns"),
    "STOKES_VEC": ("cuda", "the type of its vectors"),
    "LAUNCHES_ARGS": ("", "arguments for solve_launches.py"),
    "MPI_PARTS": ("tests fuzz timelines solves rival", "parts of `mpi`. The rival, `aijcusparse` with GPU-aware MPI, needs `lib/ucx`"),
    "MPI_MATRICES": ("tet3_rcm:69 p1_rcm:114", "matrices for CG with Jacobi"),
    "MPI_GAMG": ("tet3_rcm:69", "matrices for CG with GAMG"),
    "MPI_TYPE": ("aijrbp", "our type"),
    "MPI_FORMAT": ("rbp", "the format of conf_mat"),
    "MPI_N": ("159", "the size of mult_timeline"),
    "MPI_LARGE_PARTS": ("tests set_ups gamg cg", "parts of `mpi_large`"),
    "MPI_SET_UPS": ("tet3_rcm:69 p1_rcm:114 tri_rcm:853 tet3_rcm:110 p1_rcm:159", "its matrices for set-ups"),
    "MPI_LARGEST_CG": ("840", "the size of its mult_timeline with CG: 593 million rows"),
    "MPI_LARGEST_GAMG": ("640", "the size of its mult_timeline with GAMG: 262 million rows"),
    "EARLIER": ("", "an unpacked bundle of an earlier commit, whose set-ups `mpi_large` measures in turns with ours"),
    "MPI_FUZZ": ("300", "random sequences"),
    "MPI_ARGS": ("", "further arguments for solve_bench"),
    "DOLFINX_ARGS": ("--cells 50 --newton-cells 41", "arguments for dolfinx_run.py"),
    "PYTHON": ("python3", "a Python 3.12 for the steps of the part dolfinx"),
    "AUTO_SPACE": ("gpu", "where `auto` measures: `gpu` or `host`"),
    "AUTO_MATRICES": ("circuit:1000000 edge_rcm:40 hex3:40 longrows:1000000 p1_random:60 p1_rcm:80 p2_rcm:30 p2tet3_rcm:20 powerlaw:300000 "
                      "stencil27:80 stencil5:1500 stencil7:120 stencil7:30 stencil9:1000 tet3_random:40 tet3_rcm:15 tet3_rcm:40",
                      "its matrices, besides the files `*.petsc` in `data/`"),
    "CUDSS": ("auto", "the library of the steps `direct`, `direct_gpu` and `coverage`, as for `-petscpack_cudss`"),
    "CUDA_HOME": ("/usr/local/cuda", "where the CUDA libraries are"),
}


def markdown():
    return "\n".join(["| step | part | seconds | what it does |", "| --- | --- | --- | --- |",
                      *(f"| `{s.name}` | `{s.part}` | {s.limit} | {s.help} |" for s in STEPS)])
