# For Spack 1.0 and newer. In the folder with the tarball petscpack-<version>.tar.gz:
#   spack repo add packaging/spack/spack_repo/petscpack && spack install --no-checksum petscpack
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Petscpack(CMakePackage, CudaPackage):
    """Packed sparse-matrix types for PETSc, which take less memory than CSR and have faster products."""

    manual_download = True
    url = f"file://{os.getcwd()}/petscpack-0.1.0.tar.gz"

    license("BSD-2-Clause")

    version("0.1.0")

    variant("pages", default=False, description="Python and matplotlib, for petscpack-advise --html")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("petsc@3.18:3.26 +mpi +shared ~complex")
    depends_on("petsc+cuda", when="+cuda")
    depends_on("mpi")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("python@3.9:", type="run", when="+pages")
    depends_on("py-matplotlib@3.5:", type="run", when="+pages")

    conflicts("cuda_arch=none", when="+cuda", msg="petscpack compiles for named GPUs: say cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define("BUILD_TESTING", False),
            self.define_from_variant("PETSCPACK_CUDA", "cuda"),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
