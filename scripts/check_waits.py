#!/usr/bin/env python3
"""Checks in machine code that overlapped kernels (docs/decisions/0014) touch nothing of other kernels before they wait.

    scripts/check_waits.py BUILD [source ...]     a build directory with code for sm_90: the objects of all files that
                                                  launch such kernels, or of these files, are disassembled

On every path from the begin of a kernel to its first wait (ACQBULK) there may be no load through __ldca() (x and work;
machine code says STRONG), no store and no atomic operation. Products must have such a load, because the assembler may
move other loads of x in front of the wait. Kernels without arrays of a matrix may not load from global memory at all
before they wait. cuobjdump and nvdisasm are taken from the PATH, from the folder of nvcc, or from PyPI, once, into
~/.cache/petscpack.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "src/kernels"
PACKAGES = ("nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm") # the first runs the second

# Kernels of products, by a part of the name, and whether they find their part of the matrix before they wait
PRODUCTS = {"crsv_stream": True, "rbp_block_of_units": True, "codsell_product": True, "spmv_sum_long_rows": True,
            "fold_multiply": True, "fold_sum_shares": True, "fold_add_pieces": False}
PLAIN = re.compile("fold_multiplyI[df]+Lb1E") # launched without overlap: x was gathered by a kernel before it

FUNCTION = re.compile(r"\s*Function : (\S+)")
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(@!?U?P[T0-9]+ )?\s*([A-Z0-9_]+)((?:\.[A-Z0-9_]+)*)([^;]*);")
BEGINS = {"ACQBULK", "PREEXIT"} # griddepcontrol.wait and .launch_dependents
LOADS = {"LDG", "LD", "LDGSTS", "TEX", "UBLKCP"}
WRITES = {"STG", "ST", "ATOMG", "ATOM", "RED", "REDG"}


def die(message):
    sys.exit(f"check_waits.py: {message}")


def add_disassembler():
    """Puts cuobjdump on the PATH"""
    nvcc = shutil.which("nvcc")
    os.environ["PATH"] += os.pathsep + os.pathsep.join([os.path.dirname(nvcc or ""), "/usr/local/cuda/bin"])
    if shutil.which("cuobjdump") and shutil.which("nvdisasm"):
        return
    venv, tools = Path.home() / ".cache/petscpack/cuobjdump", "lib/python*/site-packages/nvidia/*/bin"
    if not list(venv.glob(f"{tools}/nvdisasm")):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", *PACKAGES], check=True)
    for folder in venv.glob(tools):
        os.environ["PATH"] += f"{os.pathsep}{folder}"
    if not shutil.which("nvdisasm"):
        die(f"{venv} has no nvdisasm")


def sources():
    """Files that launch overlapped kernels, and those that include such a header"""
    files = {p: p.read_text() for p in KERNELS.rglob("*.cu*")}
    launch = {p.name for p, text in files.items() if re.search(r"^\s.*SPMV_LAUNCH_OVERLAPPED\(", text, re.M)}
    return sorted(p for p, text in files.items() if p.suffix == ".cu" and
                  (p.name in launch or any(f'{name}"' in text for name in launch)))


def functions(text):
    """The instructions of each kernel: address, whether it is conditional, operation, suffixes, operands"""
    name, code = None, []
    for line in text.splitlines():
        if found := FUNCTION.match(line):
            if name:
                yield name, code
            name, code = found.group(1), []
        elif name and (found := INSTRUCTION.match(line)):
            condition = (found.group(2) or "").strip()
            code.append((int(found.group(1), 16), condition not in ("", "@PT"), found.group(3), found.group(4), found.group(5)))
    if name:
        yield name, code


def target(operands):
    found = re.search(r"0x([0-9a-f]+)\s*$", operands.strip())
    return int(found.group(1), 16) if found else None


def before_wait(code):
    """The instructions that a thread may reach before it has waited"""
    at = {instruction[0]: i for i, instruction in enumerate(code)}
    reached, todo = set(), [0]
    while todo:
        i = todo.pop()
        if i in reached or i >= len(code):
            continue
        _, conditional, operation, _, operands = code[i]
        if operation == "ACQBULK" and not conditional:
            continue
        reached.add(i)
        if operation in ("BRA", "JMP", "CALL"):
            to = target(operands)
            if to not in at:
                die(f"cannot follow {operation}{operands}")
            todo.append(at[to])
        elif operation in ("BRX", "JMX", "BRXU"):
            die(f"cannot follow {operation}: the table of its targets is not in the text")
        if not conditional and operation in ("EXIT", "RET", "BRA", "JMP"):
            continue
        todo.append(i + 1)
    return [code[i] for i in sorted(reached)]


def faults(name, code):
    product = next((kernel for kernel in PRODUCTS if kernel in name), None)
    if product and not any(operation in LOADS and ".STRONG" in suffixes for _, _, operation, suffixes, _ in code):
        yield f"{name}: reads x and work by other loads than __ldca()"
    for address, _, operation, suffixes, _ in before_wait(code):
        load = operation in LOADS and (".STRONG" in suffixes or not PRODUCTS.get(product))
        if load or operation in WRITES:
            yield f"{name}: {operation}{suffixes} at {address:#x} may come before the wait"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    add_disassembler()
    objects = Path(sys.argv[1]) / "CMakeFiles/spmvpack_objects.dir/src/kernels"
    kernels, wrong = 0, []
    for source in (source for source in sources() if source.name in sys.argv[2:] or not sys.argv[2:]):
        compiled = objects / source.relative_to(KERNELS).parent / (source.name + ".o")
        if not compiled.exists():
            die(f"no {compiled}")
        command = ["cuobjdump", "-sass", "-arch", "sm_90", compiled]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = [(name, code) for name, code in functions(text) if any(i[2] in BEGINS for i in code) and not PLAIN.search(name)]
        if not found:
            die(f"{source.name} has no kernel for sm_90 that waits")
        kernels += len(found)
        wrong += [fault for name, code in found for fault in faults(name, code)]
    print("\n".join(wrong))
    print(f"{kernels} overlapped kernels, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
