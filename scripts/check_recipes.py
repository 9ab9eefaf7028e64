#!/usr/bin/env python3
"""The checks of scripts/check_packages.sh in Python: recipes must parse, render, and agree with the source tree.

The conda recipe is rendered by rattler-build's own code. Spack's recipe is read as a syntax tree, because Spack is no
package of PyPI: that Spack accepts it is not checked, only what is looked for below. No recipe is built here.
"""
import ast
import re
import sys
from pathlib import Path

import rattler_build

ROOT = Path(__file__).resolve().parent.parent
CMAKE = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"^project\(petscpack VERSION ([0-9.]+)", CMAKE, re.M)[1]
OPTIONS = set(re.findall(r"^option\((\w+)|^set\((\w+) \w+ CACHE", CMAKE, re.M))
OPTIONS = {name for pair in OPTIONS for name in pair if name} | {"BUILD_TESTING", "MPI_C_COMPILER"}
faults = 0


def check(ok, fault):
    global faults
    if not ok:
        print(fault)
        faults += 1


def check_defines(where, names):
    check(names, f"{where}: sets no option of CMake")
    for name in names:
        check(name in OPTIONS or name.startswith("CMAKE_"), f"{where}: CMakeLists.txt has no option {name}")


def check_conda():
    folder = ROOT / "packaging/conda"
    variants = rattler_build.VariantConfig.from_file(str(folder / "variants.yaml"))
    platform = rattler_build.PlatformConfig(target_platform="linux-64")
    rendered = rattler_build.Stage0Recipe.from_file(folder / "recipe.yaml").render(
        variants, rattler_build.RenderConfig(platform=platform))
    check(len(rendered) == len(variants.get_values("mpi")) * len(variants.get_values("petsc")),
          f"{folder}: {len(rendered)} packages, which is not one for each MPI and PETSc")
    for recipe in (r.recipe.to_dict() for r in rendered):
        check(recipe["package"]["version"] == VERSION, f"{folder}: version {recipe['package']['version']}, not {VERSION}")
        check_defines(folder, re.findall(r"-D(\w+)=", "\n".join(recipe["build"]["script"])))
        contents, program = recipe["tests"][0]["package_contents"]["files"], recipe["tests"][1]
        needed = [ROOT / name for name in contents if name.startswith("include/")]
        needed += [ROOT / name for name in program["files"]["source"] + recipe["about"]["license_file"]]
        for path in needed:
            check(path.is_file(), f"{folder}: {path} is not there")


def calls_of(tree, name):
    """Calls of a function or method of this name."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "attr", getattr(n.func, "id", "")) == name]


def check_spack():
    path = ROOT / "packaging/spack/spack_repo/petscpack/packages/petscpack/package.py"
    tree = ast.parse(path.read_text(), str(path))
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    check([c.name for c in classes] == [path.parent.name.capitalize()], f"{path}: Spack wants one class, named as the folder")
    versions = [call.args[0].value for call in calls_of(tree, "version")]
    check(versions == [VERSION], f"{path}: versions {versions}, not {VERSION}")
    check(f"petscpack-{VERSION}.tar.gz" in path.read_text(), f"{path}: the url is not that of version {VERSION}")
    names = [call.args[0].value for function in ("define", "define_from_variant") for call in calls_of(tree, function)]
    check_defines(path, names)


def check_petsc():
    path = ROOT / "packaging/petsc/petscpack.py"
    text = path.read_text()
    ast.parse(text, str(path))
    makefile = (ROOT / "makefile.petsc").read_text()
    for target in ("install", "check"):
        check(f"' {target}'" in text and re.search(rf"^{target}:", makefile, re.M), f"{path}: makefile.petsc has no target {target}")


def check_debian():
    path = ROOT / "packaging/debian/changelog"
    version = re.match(r"petscpack \((.*)-\d+\)", path.read_text())
    check(version and version[1] == VERSION, f"{path}: not of version {VERSION}")


if __name__ == "__main__":
    for name in ("conda", "spack", "petsc", "debian"):
        before = faults
        globals()[f"check_{name}"]()
        print(f"check {name}: {faults - before} faults")
    sys.exit(faults > 0)
