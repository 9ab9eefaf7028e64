#!/usr/bin/env python3
"""Shows that faults which only the emulated GPU or machine code can show make a test fail.

    scripts/mutants.py [--work DIR] [name ...]     all mutants, or those named; --work: kept for the next call

A mutant is a copy of the source tree with one change. The script builds the kernel library for the emulated GPU
(PETSCPACK_CUDA=EMULATED, without PETSc) in build-mutants/, checks that the tests of all mutants pass, then for each
mutant that its test fails. Where nvcc is, the mutant of machine code is compiled for sm_90, too. Ends with "N caught,
M missed" and, if one was missed, the exit status 1.
"""
import argparse
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = "src/kernels/"
JOBS = os.environ.get("JOBS", str(os.cpu_count()))

Mutant = namedtuple("Mutant", "name file old new test")
MUTANTS = [
    Mutant("wait_moved_down", "crsv/crsv_device_stream.cu",
           "  spmv_wait_for_previous(a.x, a.out.y);\n  mine.multiply(a.x, b, product);\n",
           "  mine.multiply(a.x, b, product);\n  spmv_wait_for_previous(a.x, a.out.y);\n", "unit_overlap_test"),
    Mutant("wait_left_out", "engine/project.cu", "  spmv_wait_for_previous(partial, sums);\n", "", "unit_cycle_null_test"),
    Mutant("fence_left_out", "crsv/crsv_device.cu",
           "    return spmv_overlap_fence(exec); /* the previous kernel of the stream may have written the values */\n",
           "    return SPMV_SUCCESS;\n", "unit_overlap_test"),
    Mutant("launch_added", "crsv/crsv_device_stream.cu", ", out};\n\n    SPMV_LAUNCH_OVERLAPPED",
           ", out};\n\n    SPMV_TRY(spmv_overlap_fence(exec));\n    SPMV_LAUNCH_OVERLAPPED", "unit_device_counts"),
    Mutant("wait_of_the_host_added", "codsell/codsell_device_slices.cu", "  return spmv_fetch(host_totals, totals, sizeof *totals, exec);\n",
           "  SPMV_TRY(spmv_fetch(host_totals, totals, sizeof *totals, exec));\n"
           "  return spmv_fetch(host_totals, totals, sizeof *totals, exec);\n", "unit_device_counts"),
    Mutant("overrun_by_one", "fold/fold_device_layout.cu",
           'spmv_arena_array(&a->arena, s->slices + 1, "slice_ptr"', 'spmv_arena_array(&a->arena, s->slices, "slice_ptr"',
           "conformance_fold_backward"),
    Mutant("free_without_a_wait", "device/pool.cu", "  may_fail(cudaDeviceSynchronize()); /* any stream may still use them */\n", "",
           "unit_scratch_test"),
    Mutant("block_of_another_stream", "device/pool.cu", "use == SPMV_FOR_ALL_STREAMS ? p->stream : (cudaStream_t)stream)",
           "p->stream)", "unit_scratch_test"),
    Mutant("wide_order_cut", "plan/transpose.cu", "type = order_bytes(plan) == 4 ? SPMV_I32 : SPMV_I64;", "type = SPMV_I32;",
           "unit_transpose_test"),
    Mutant("ticket_not_drawn", "factor/factor_turns.cuh", "    drawn[1] = turns->epoch + 1;",
           "    drawn[1] = turns->epoch + 1;\n    if (drawn[0] < gridDim.x) drawn[0] = blockIdx.x;",
           "unit_factor_test_backward"),
    Mutant("launches_not_counted", "factor/factor_turns.cuh", "(turns->epoch + 1) % UINT32_MAX", "turns->epoch", "unit_factor_test"),
    Mutant("launch_without_a_number", "factor/factor_turns.cuh", "(turns->epoch + 1) % UINT32_MAX", "turns->epoch + 1", "unit_factor_test"),
]
MACHINE_CODE = MUTANTS[0]


def run(command, log, **more):
    with open(log, "a") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **more).returncode


class Copy:
    """The copy of the source tree, and its builds"""

    def __init__(self, work):
        self.source, self.log = work / "source", work / "log"
        work.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = set(filter(None, files.split("\0")))
        for name in sorted(names):
            self.restore(name)
        for left in (self.source / "src").rglob("*"):  # files of an earlier call that are gone
            if left.is_file() and str(left.relative_to(self.source)) not in names:
                left.unlink()
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.source), CCACHE_NOHASHDIR="1")

    def restore(self, name):
        """Copies a file if it differs, so that what did not change is not built again"""
        old, new = ROOT / name, self.source / name
        if new.exists() and new.read_bytes() == old.read_bytes():
            return
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(old, new)
        os.utime(new)

    def configure(self, build, *options):
        ccache = shutil.which("ccache")
        launchers = [f"-DCMAKE_{l}_COMPILER_LAUNCHER={ccache}" for l in ("C", "CXX", "CUDA")] if ccache else []
        command = ["cmake", "-S", self.source, "-B", self.source / build, "-DCMAKE_BUILD_TYPE=Release", "-DPETSCPACK_PETSC=OFF"]
        if run([*command, *options, *launchers], self.log, env=self.environment):
            sys.exit(f"mutants.py: cmake failed: {self.log}")

    def make(self, build, *targets):
        command = ["cmake", "--build", self.source / build, "-j", JOBS, "--target", *targets]
        if run(command, self.log, env=self.environment):
            sys.exit(f"mutants.py: the build failed: {self.log}")

    def passes(self, tests):
        self.make("emulated", "unit_kernels", "conf_kernels")
        wanted = "^(" + "|".join(tests) + ")$"
        return run(["ctest", "--test-dir", self.source / "emulated", "-R", wanted, "--no-tests=error"], self.log) == 0

    def waits_early(self, mutant):
        """Whether the machine code of the mutant's file passes"""
        kernel = KERNELS + mutant.file
        self.make("cuda", kernel + ".o")
        check = [sys.executable, self.source / "scripts/check_waits.py", self.source / "cuda", Path(mutant.file).name]
        return run(check, self.log) == 0

    def change(self, mutant):
        file = self.source / KERNELS / mutant.file
        text = file.read_text()
        if text.count(mutant.old) != 1:
            sys.exit(f"mutants.py: {mutant.name}: its text is not once in {mutant.file}")
        file.write_text(text.replace(mutant.old, mutant.new))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, default=ROOT / "build-mutants")
    parser.add_argument("names", nargs="*", metavar="name")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if m.name in arguments.names or not arguments.names]
    if unknown := set(arguments.names) - {m.name for m in MUTANTS}:
        sys.exit(f"mutants.py: unknown: {' '.join(unknown)}")
    copy, caught, missed = Copy(arguments.work), 0, 0
    nvcc = MACHINE_CODE in chosen and (shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"))
    copy.configure("emulated", "-DPETSCPACK_CUDA=EMULATED")
    if not copy.passes({m.test for m in chosen}):
        sys.exit(f"mutants.py: a test fails without a mutant: {copy.log}")
    if nvcc:
        copy.configure("cuda", "-DPETSCPACK_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90", f"-DCMAKE_CUDA_COMPILER={nvcc}")
        if not copy.waits_early(MACHINE_CODE):
            sys.exit(f"mutants.py: check_waits.py fails without a mutant: {copy.log}")
    for mutant in chosen:
        copy.change(mutant)
        results = [(mutant.test, copy.passes([mutant.test]))]
        if nvcc and mutant is MACHINE_CODE:
            results.append(("check_waits.py", copy.waits_early(mutant)))
        copy.restore(KERNELS + mutant.file)
        for test, passed in results:
            caught, missed = caught + (not passed), missed + passed
            print(f"{mutant.name}: {'NOT caught by' if passed else 'caught by'} {test}", flush=True)
    print(f"{caught} caught, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
