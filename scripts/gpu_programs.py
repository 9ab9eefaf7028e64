"""Functions of gpu_steps.py: steps whose commands depend on the time that is left, or on what earlier commands have said."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOLVES = {  # set: matrices, types
    "small": ("stencil7:47 tet3_rcm:32", "aijcusparse aijrbp aijcodsell aijcrsv aijfold sellcuda"),
    "medium": ("stencil7:47 tet3_rcm:32 stencil7:100 tet3_rcm:69", "aijcusparse aijrbp aijcodsell aijcrsv aijfold sellcuda"),
    "large": ("stencil7:159 tet3_rcm:110", "aijcusparse aijrbp aijcodsell aijcrsv aijfold sellcuda"),
    "mg": ("tri_rcm:853 tet3_rcm:69 p1_rcm:114 p1_rcm:159 tet3_rcm:110", "aijcusparse aijrbp aijauto"),
    "mg_distro": ("tri_rcm:630 tet3_rcm:51 p1_rcm:74", "aijrbp aijauto aij"),
    "elements-solve": ("tet3_rcm:12 tet3_rcm:69", "aijrbp aijauto aijcusparse"),
}
PETSCS = ("aij", "aijcusparse")  # types of PETSc, which are the rivals of KSPCG alone
U = "-stokes_fieldsplit_u"
STOKES = ("-stokes_ksp_type fgmres -stokes_ksp_rtol 1e-8 -stokes_ksp_converged_reason -stokes_ksp_view -options_left -stokes_pc_type fieldsplit "
          "-stokes_pc_fieldsplit_type schur -stokes_pc_fieldsplit_schur_fact_type upper -stokes_fieldsplit_p_ksp_type preonly "
          f"-stokes_fieldsplit_p_pc_type jacobi {U}_ksp_type preonly {U}_mg_levels_ksp_type chebyshev {U}_mg_levels_pc_type jacobi")
FORMS = {  # the type of the matrices, the preconditioner of the velocities
    "aij_gamg": f"-dm_mat_type aij {U}_pc_type gamg",
    "aijcusparse_gamg": f"-dm_mat_type aijcusparse {U}_pc_type gamg",
    "aijrbp_gamg": f"PLUGIN -dm_mat_type aijrbp {U}_pc_type gamg",
    "aijrbp_gamgdevice": f"PLUGIN -dm_mat_type aijrbp {U}_pc_type gamgdevice",
    "aijrbp_single": f"PLUGIN -dm_mat_type aijrbp {U}_pc_type gamgdevice {U}_pc_mgdevice_precision single",
    "aijrbp_replace": f"PLUGIN -dm_mat_type aijrbp -petscpack_replace mg,gamg,gmres,cg {U}_pc_type gamg",
}


def asked(name, default):
    """A setting whose default is empty in the table, because it depends on the step"""
    return (os.environ.get(name) or default).split()


def fail(run, text):
    print(text, flush=True)
    run.failed = True


# ---- words of commands ----


def fold_sweep(run):
    """The settings of fold_sweep.py, without those that do not fold"""
    tool = next(path for path in (run.here / "fold_sweep.py", Path(__file__).parent.parent / "bench/papers/fold_sweep.py") if path.exists())
    formats = subprocess.run([sys.executable, tool, "--formats"], capture_output=True, text=True, check=True).stdout.strip().split(",")
    return ",".join(f for f in formats if "1000000" not in f)


def sanitizer(run):
    folders = () if run.dry else (Path(folder) for folder in (run.value("CUDA_HOME"), "/usr/local", "/opt"))
    return shutil.which("compute-sanitizer") or next((path for f in folders for path in f.rglob("compute-sanitizer")), "compute-sanitizer")


# ---- conformance ----


def share_gpu(run):
    """Processes that share a GPU take turns, which is slower than one process, unless an MPS server runs their kernels together"""
    if not run.dry:
        folder = run.scratch / "mps"
        folder.mkdir()
        os.environ.update(CUDA_MPS_PIPE_DIRECTORY=str(folder), CUDA_MPS_LOG_DIRECTORY=str(folder))
        if shutil.which("nvidia-cuda-mps-control") and subprocess.call(["nvidia-cuda-mps-control", "-d"]) == 0:
            run.shares = (int(run.value("CONF_SHARES") or len(os.sched_getaffinity(0))) - 1) // 2 * 2 + 1


def stop_sharing(run):
    if (run.scratch / "mps").is_dir() and shutil.which("nvidia-cuda-mps-control"):
        subprocess.run(["nvidia-cuda-mps-control"], input=b"quit\n", capture_output=True, check=False)


def collect(run):
    run.collect()


def conformance(run):
    """Divides a format's combinations among as many processes as there are cores, because most of the time is spent on the host.
    The number of shares is odd, because every fourth combination takes much longer than the others. Larger matrices and all
    option settings take longest, so they come last: the limit cuts only these."""
    share_gpu(run)
    for tier, name in (("quick", "CONF_SAMPLE"), ("full", "CONF_SAMPLE_FULL")):
        sample = int(run.value(name))
        for fmt in asked("CONF_FORMATS", " ".join([*run.formats, "papers"])) if sample else ():
            which = "--papers" if fmt == "papers" else f"--format {fmt}"
            for k in range(run.shares):
                run.aside(f"conf_kernels --space device --tier {tier} {which} --sample {sample * run.shares} --offset {sample * k}".split())
            texts = run.collect(show=False)
            for text in texts:
                print(*re.findall("^skipped:.*\n", text, re.M), *(text.splitlines(True)[-25:] if "\n= status 0" not in text else []), sep="", end="")
            counts = [found for text in texts for found in re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)]
            print(f"= {fmt}, {tier}: {sum(int(passed) for passed, _ in counts)} passed, {sum(int(failed) for _, failed in counts)} failed, "
                  f"{len(counts)} of {run.shares} shares to their end", flush=True)


# ---- programs of PETSc, and what programs say ----


def compare(run, theirs, ranks, *argv):
    """Runs one program with a type of PETSc and with ours; the lines about iterations must be equal"""
    found = {}
    for kind in (theirs, "aijrbp"):
        output = run.scratch / f"{argv[0]}.{ranks}.{kind}"
        run.attempt(["mpiexec", "-n", ranks, *argv[:-1], *argv[-1].replace("TYPE", kind).split()], output=output)
        print(run.text(output), end="", flush=True)
        found[kind] = re.findall(r"iterations[ =:]*[0-9]+|due to [A-Z_]+", run.text(output), re.I)
    if not run.dry and (not found["aijrbp"] or found["aijrbp"] != found[theirs]):
        fail(run, f"DIFFERENT iterations: {argv[0]} on {ranks} rank(s)")
    else:
        print(f"SAME iterations: {argv[0]} on {ranks} rank(s):", *found["aijrbp"], flush=True)


def contains(run, path, pattern):
    if not run.dry and not re.search(pattern, run.text(path), re.M):
        fail(run, f"{path} has no line with {pattern}")


def expect(run, pattern, seconds, *argv):
    """Runs a command whose output has a line with the pattern, whatever its status"""
    failed, output = run.failed, run.scratch / "expected"
    run.attempt(argv, int(seconds), output)
    run.failed = failed
    contains(run, output, pattern)


def skippable(run, *argv):
    if run.attempt(argv) == 77:
        sys.exit(77)


def table(run, script, *words):
    """Runs one of the scripts that make tables, even if the time is spent; a word with * is the files of that name"""
    paths = [path for word in map(str, words) for path in (sorted(Path("/").glob(word[1:])) if "*" in word and not run.dry else [word])]
    run.attempt(["python3", run.here / script, *paths], 60, least=0)


def petsc_bench(run, *matrices):
    """petsc_bench writes one JSON object per run; joins them to an array"""
    found, part, folder = [], run.scratch / "part.json", f"{run.scratch}/"
    for matrix in matrices:
        if run.attempt(["spmv_bench", "--matrix", matrix, "--write", f"{folder}{matrix}.petsc"]):
            continue
        for ranks in "12":
            run.attempt(["mpiexec", "-n", ranks, "petsc_bench", "-f", f"{folder}{matrix}.petsc", "-json", part, *run.value("plugin").split()])
            if part.exists():
                found.append(json.loads(part.read_text().replace(folder, "")))
                part.unlink()
    if found:
        (run.out / "petsc_bench.json").write_text(json.dumps(found, indent=1) + "\n")


def auto(run, space, *matrices):
    """aijauto, by prediction and by trial, against every type that it chooses from: MatMult(), and the first 500 products with the
    conversion"""
    parent, found = "aij" if space == "host" else "aijcusparse", []
    kinds = {"named": f"{parent},aijrbp,aijfold,aijcrsv,aijcodsell", "predicted": f"{parent},aijauto -mat_aijfmt_decline true",
             "trial": f"{parent},aijauto -mat_aijfmt_decline true -mat_aijauto_trial 4"}
    for matrix in [*sorted((run.here / "data").glob("*.petsc")), *matrices]:
        file, runs = matrix if isinstance(matrix, Path) else run.scratch / "matrix", {}
        if run.left() < 5 or file != matrix and run.attempt(["spmv_bench", "--matrix", matrix, "--write", file]):
            continue
        for name, types in kinds.items():
            run.attempt(["petsc_bench", *run.value("plugin").split(), "-f", file, "-types", *types.split(), "-batches", "9", "-batch", "20", "-first", "500",
                         "-mat_aijfmt_device", space, "-json", run.scratch / name])
            runs[name] = json.loads(run.text(run.scratch / name) or "null")
        found.append({"matrix": matrix.stem if file == matrix else matrix, "space": space, "commit": run.commit, **runs})
        if not run.dry:
            (run.out / "auto.json").write_text(json.dumps(found, indent=1) + "\n")


# ---- solves ----


def solve(run, name):
    """All results are in name.json and name.md. Each matrix and type has a separate process, so that a crash does not affect other
    cells. If the time is short, cells are left out."""
    step = "MG" if name.startswith("mg") else name.partition("-")[0].upper()
    matrices, types = SOLVES[run.value("SOLVE_SET") if name == "solve" else name]
    matrices, kinds = asked(f"{step}_MATRICES", matrices), asked(f"{step}_TYPES", types)
    out, name = (run.out / "mg_distro", "mg") if name == "mg_distro" else (run.out, name)
    parts = run.emptied(out / f"{name}-parts")
    if name == "solve" and run.value("SOLVE_PROGRAMS") != "0":  # these come first, because they are short and their time is known
        log_programs(run, parts, kinds)
    # at 4 million rows there is no time for a third type, unless it is asked for
    cells = [(m, k, parts / f"{m.replace(':', '-')}.{k}") for m in matrices for k in kinds
             if not (name == "mg" and k == "aijauto" and not run.value("MG_TYPES") and m.endswith((":159", ":110")))]
    for i, (matrix, kind, part) in enumerate(cells):
        share = min(max(run.left() * 3 // 2 // (len(cells) - i), 10), run.left())
        run.logged(["solve_bench", "-matrix", matrix, "-types", kind, *solve_arguments(name, matrix, kind), *run.value(f"{step}_ARGS").split(),
                    "-budget", share * 7 // 10, "-commit", run.commit, "-json", f"{part}.json", "-use_gpu_aware_mpi", "0", "-launcher", "",
                    "-options_left", "no"], share, Path(f"{part}.log"), least=8)
    if any(parts.glob("*.csv")):
        table(run, "solve_log.py", parts / "log_view.json", f"{parts}/*.csv")
    files = [*(Path(f"{part}.json") for _, _, part in cells), parts / "log_view.json"]
    table(run, "solve_table.py", *filter(run.made, files), "--merge", out / f"{name}.json", "--details", out / f"{name}.md")
    if name == "elements-solve":  # no phase and no step may be missing
        table(run, "solve_table.py", out / f"{name}.json", "--check")


def solve_arguments(name, matrix, kind):
    """Options that limit the time for matrices of about 1 million rows, and of 4 million. sellcuda has no Galerkin products and no
    assembly by COO."""
    if name == "elements-solve":
        return ["-assembly", "elements", "-peak", "-solvers", "cg_gamg" if kind in PETSCS else "aggdevice_gamg"]
    if name == "mg":
        return ["-steps", "0", "-repeat", "7", "-solvers", "cg_gamg" if kind in PETSCS else "cg_gamg,cgdevice_gamg,aggdevice_gamg"]
    size = int((re.findall(r":(\d+)$", matrix) or [0])[0])
    cells = "-loop_solvers cg_jacobi,cg_gamg -loop_seconds 3"
    if 105 <= size < 130 or size >= 140:
        cells = "-steps 3 -loop_solvers cg_jacobi -loops setvalues,coo_device -repeat 3"
    elif size >= 60:
        cells = "-loop_solvers cg_jacobi,cg_gamg -loop_seconds 2 -repeat 3"
    return (cells + (" -solvers products,cg_jacobi,gmres_jacobi -loops setvalues" if kind == "sellcuda" else "")).split()


def log_programs(run, parts, kinds):
    """Programs of PETSc with -log_view, whose times are the only ones here that are measured by PETSc"""
    jacobi, gamg = "-ksp_type cg -pc_type jacobi", "-ksp_type cg -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi"
    programs = {"ex56": f"ex56 -ne 39 -alpha 1.e-3 -use_mat_nearnullspace {gamg}", "bench_kspsolve": f"bench_kspsolve -n 100 {jacobi}"}
    for file in [Path("matrix.petsc")] if run.dry else sorted((run.here / "data").glob("*.petsc")):
        programs[f"ex10_{file.stem}"] = f"ex10 -f {file} -rhs one {jacobi}"
    for name, command in programs.items():
        for kind in (k for k in kinds if k != "sellcuda"):
            run.attempt([*command.split(), "-mat_type", kind, *run.value("plugin").split(), "-log_view", f":{parts}/{name}.{kind}.csv:ascii_csv"],
                        30, parts / f"{name}.{kind}.log")


def stokes(run):
    """stokes.json has the events of -log_view and the iterations of each run. KSPSolve is the whole solve, including the first
    products; KSPSolve_FS_0 is the preconditioner of the velocities, PCSetUpOnBlocks the set-ups of the blocks."""
    parts = run.emptied(run.out / "stokes-parts")
    events = {form: parts / f"ex42.{form}.csv" for form in run.value("STOKES_FORMS").split()}
    for form, file in events.items():
        options = FORMS[form].replace("PLUGIN", f"-dll_append {run.here}/lib/libpetscpack.so").split()
        status = run.attempt(["ex42", *run.value("STOKES_ARGS").split(), *STOKES.split(), "-dm_vec_type", run.value("STOKES_VEC"),
                              "-use_gpu_aware_mpi", "0", *options, "-log_view", f":{file}:ascii_csv"], output=file.with_suffix(".log"), least=3)
        if status == 0 and not run.dry:
            check_stokes(run, form, run.text(file.with_suffix(".log")))
    table(run, "solve_log.py", run.out / "stokes.json", *filter(run.made, events.values()))


def check_stokes(run, form, text):
    """Whether a run converged, and used the GPU as its form says"""
    print(f"{form}:", *re.findall(r"due to [A-Z_]+ iterations [0-9]+", text), flush=True)
    if "stokes_ solve converged due to" not in text:
        fail(run, f"{form}: no convergence")
    if "Option left" in text:
        fail(run, f"{form}: an option was not used")
    if form.endswith(("_gamgdevice", "_single", "_replace")) and not re.search(r"applications on the device [1-9][0-9]*, by PETSc 0;", text):
        fail(run, f"{form}: not all cycles on the device")
    if form.endswith("_single") and not re.search("precision of the cycle: single$", text, re.M):
        fail(run, f"{form}: not in single precision")


# ---- factorizations ----


def factors(run, ranks, seconds, kind, solvers, *matrices):
    """solve_bench with factorizations, or with a rival of them, for each matrix; the results of a number of processes are in one file.
    A name with .petsc is a file in the scratch folder. A matrix that takes longer than its seconds leaves the phases that it has reached. cuDSS orders with the threads of all cores, of
    which those of several processes are one's while the others wait; MUMPS and BLAS have none."""
    name, options = f"{run.step.name}-{ranks}", run.step.name if run.step.name.startswith("incomplete") else "direct"
    parts = run.out / f"{name}-parts"
    os.environ.pop("OMP_NUM_THREADS", None)
    if not run.dry:
        parts.mkdir(exist_ok=True)
    for matrix in matrices:
        part = parts / f"{matrix.replace(':', '-')}.{solvers.partition(',')[0]}"
        named = ["-f", run.scratch / matrix] if matrix.endswith(".petsc") else ["-matrix", matrix]
        run.logged(["mpiexec", "-n", ranks, "solve_bench", *named, *run.value(options).split(), "-types", kind, "-solvers", solvers,
                    "-launcher", f"mpiexec -n {ranks}", "-options_left", "no", "-json", f"{part}.json"], int(seconds), Path(f"{part}.log"))
    files = [parts / "*.json"] if run.dry else sorted(parts.glob("*.json"))
    if files:
        table(run, "solve_table.py", *files, "--merge", run.out / f"{name}.json", "--details", run.out / f"{name}.md")


def dolfinx_direct(run, seconds, how, package, *problems):
    """dolfinx_direct.py by `run`, plainly, or plainly on as many processes as `how` says; all results are in one file. By `run`, all
    solves must be on the GPU. The BLAS of DOLFINx's PETSc has no threads."""
    file, one, log = run.out / "dolfinx_direct.json", run.scratch / "one.json", run.scratch / "one.log"
    found = json.loads(run.text(file) or "[]")
    for problem in problems:
        name, cells = problem.split(":")
        one.unlink(missing_ok=True)
        argv = [*(["mpiexec", "-n", how] if how not in ("run", "1") else []), run.value("PYTHON"), *(["-m", "petscpack", "run"] if how == "run" else []),
                run.part / "dolfinx_direct.py", name, cells, *(["--package", package] if package != "none" else []), "--json", one]
        status = run.attempt(argv, int(seconds), log)
        print(run.text(log).rstrip(), flush=True)
        counted = re.search(r"solves with factors: (\d+) on the GPU, (\d+) by PETSc", run.text(log))
        found.append({"how": how, "package": package, "problem": problem, "status": status, "on_gpu": int(counted[1]) if counted else 0,
                      "result": json.loads(run.text(one) or "null")})
        if not run.dry:
            file.write_text(json.dumps(found, indent=1) + "\n")
            if how == "run" and not (counted and int(counted[1]) and not int(counted[2])):
                fail(run, f"{problem}: not all solves with factors on the GPU")


# ---- two GPUs ----


def two_gpus(run):
    """Each process needs a separate GPU; PETSc chooses it by rank modulo the number of GPUs"""
    log = run.scratch / "two.log"
    failed = run.attempt("mpiexec -n 2 solve_bench -matrix stencil7:12 -types aijcusparse -solvers products -repeat 1 -use_gpu_aware_mpi 0".split(), 60, log)
    devices = re.findall(r"^process \d+: GPU (.*)", run.text(log), re.M)
    print(run.text(log) if failed else "\n".join(devices), flush=True)
    if failed:
        sys.exit(1)
    if len(set(devices)) < 2 and not run.dry:
        print("this machine has fewer than 2 GPUs", flush=True)
        sys.exit(77)


def mpi_solves(run):
    """CG with Jacobi and with GAMG on one GPU and on two, matrix by matrix, so that all setups of a matrix can be compared even if
    the time ends early"""
    setups = {"one": ("1 GPU", []), "two": ("2 GPUs", ["mpiexec", "-n", "2"]), "aware": ("2 GPUs, GPU-aware MPI", [f"{run.here}/mpiexec_gpu.sh", "-n", "2"])}
    parts, taken, ours = run.emptied(run.out / "mpi-parts"), [], run.value("MPI_TYPE")
    for matrices, own, theirs in (("MPI_MATRICES", "cgdevice_jacobi", "cg_jacobi"), ("MPI_GAMG", "cgdevice_gamg,aggdevice_gamg", "cg_gamg")):
        cells = [("one", ours, own), ("two", ours, own), ("one", "aijcusparse", theirs), ("aware", "aijcusparse", theirs)]
        for matrix in run.value(matrices).split():
            for setup, kind, solvers in cells if "rival" in run.value("MPI_PARTS") else cells[:2]:
                title, launcher = setups[setup]
                file = parts / f"{setup}.{kind}.{matrix.replace(':', '-')}.{solvers.partition(',')[0]}"
                run.logged([*launcher, "solve_bench", "-matrix", matrix, "-types", kind, "-solvers", solvers, "-steps", "0", "-changes", "2", "-repeat", "5",
                            *run.value("MPI_ARGS").split(), "-json", f"{file}.json", "-commit", run.commit, "-launcher",
                            " ".join(launcher).rpartition("/")[2], "-options_left", "no", "-use_gpu_aware_mpi", "1" if setup == "aware" else "0"],
                           run.left() // 2, Path(f"{file}.log"))
                taken += ["--take", f"{title}={file}.json"] if run.made(Path(f"{file}.json")) else []
    table(run, "mpi_table.py", run.out / "mpi.json", *taken, "--details", run.out / "mpi.md")


def mpi_set_ups(run, *matrices):
    """CG with GAMG of type aggdevice at PETSc's defaults, on one GPU and on two, by this commit and by the one in EARLIER, in turns"""
    parts, taken, paths, folders = run.emptied(run.out / "set-ups-parts"), [], os.environ.get("LD_LIBRARY_PATH", ""), {"": run.here}
    if run.value("EARLIER"):
        folders[", earlier"] = Path(run.value("EARLIER")).resolve()
    for matrix in matrices:
        for ranks, (which, folder) in ((ranks, item) for ranks in "12" for item in folders.items()):
            file = parts / f"{matrix.replace(':', '-')}.{ranks}{which[2:]}"
            commit = dict(line.partition(" ")[::2] for line in run.text(folder / "MANIFEST").splitlines()).get("commit", "unknown")
            os.environ["LD_LIBRARY_PATH"] = f"{folder}/lib:{paths}"
            run.logged(["mpiexec", "-n", ranks, f"{folder}/bin/solve_bench", "-matrix", matrix, "-types", run.value("MPI_TYPE"), "-solvers",
                        "cgdevice_gamgdevice", "-cgdevice_gamgdevice_pc_gamg_type", "aggdevice", "-cgdevice_gamgdevice_pc_gamg_aggressive_square_graph",
                        "true", "-steps", "0", "-changes", "2", "-repeat", "5", "-json", f"{file}.json", "-commit", commit, "-launcher",
                        f"mpiexec -n {ranks}", "-options_left", "no", "-use_gpu_aware_mpi", "0"], 60, Path(f"{file}.log"))
            taken += ["--take", f"{ranks} GPU{'s' if ranks == '2' else ''}{which}={file}.json"] if run.made(Path(f"{file}.json")) else []
    os.environ["LD_LIBRARY_PATH"] = paths
    table(run, "mpi_table.py", run.out / "set-ups.json", *taken, "--details", run.out / "set-ups.md")
