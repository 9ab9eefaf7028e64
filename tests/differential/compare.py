"""Compares the text that one program printed with two matrix types.

Numbers are compared with a tolerance, everything else exactly. The names of the type under test are first mapped to
those of the reference type, and the lines that only a packed type adds to a matrix view are taken out.
"""
import re

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])|(?<!\w)[-+]?(?:nan|inf)(?!\w)", re.I)
LEAK = re.compile(r"^\[\s*\d+\]\s*(Total space allocated|\d+ bytes)", re.M)


def map_type_names(text, type_name, reference):
    """Renames seq<type>, mpi<type> and <type> to the reference's names; both are root names such as aijcrsv and aij."""
    if type_name == reference:
        return text
    return re.sub(rf"(?<![A-Za-z])(seq|mpi)?{re.escape(type_name)}(?![A-Za-z])", rf"\1{reference}", text)


def drop_view_block(text, start="packed format"):
    """Removes lines that our types add to a view: the line that begins with start, and deeper indented ones below it."""
    kept, block = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.lstrip().startswith(start):
            block = indent
        elif block is None or indent <= block:
            kept.append(line)
            block = None
    return "\n".join(kept)


def drop_lines(text, pattern):
    return "\n".join(line for line in text.splitlines() if not re.search(pattern, line))


def tokens(text):
    """A list of floats and of the words between them, blanks squeezed."""
    found, end = [], 0
    for match in NUMBER.finditer(text):
        found += text[end : match.start()].split()
        found.append(float(match.group()))
        end = match.end()
    return found + text[end:].split()


def close(a, b, rtol, atol):
    if isinstance(a, float) and isinstance(b, float):
        if a != a or b != b:
            return a != a and b != b
        return a == b or abs(a - b) <= atol + rtol * max(abs(a), abs(b))
    return a == b


def first_difference(expected, actual, rtol, atol):
    """None if the texts agree, else one line about the first difference."""
    left, right = tokens(expected), tokens(actual)
    for position, (a, b) in enumerate(zip(left, right)):
        if not close(a, b, rtol, atol):
            around = " ".join(str(t) for t in left[max(0, position - 8) : position])
            return f"after '{around}': expected {a}, got {b}"
    if len(left) != len(right):
        longer, name = (left, "missing") if len(left) > len(right) else (right, "unexpected")
        rest = " ".join(str(t) for t in longer[min(len(left), len(right)) :][:12])
        return f"{abs(len(left) - len(right))} words {name}, from '{rest}'"
    return None


def leaks(text):
    """True when -malloc_dump reported memory that was not freed."""
    return LEAK.search(text) is not None


def essence(text):
    """The lines of an output that tell why the program stopped: the first PETSc errors, else the last lines."""
    errors = [line for line in text.splitlines() if "PETSC ERROR" in line and "-----" not in line]
    frames = [line for line in errors if re.search(r"ERROR: +#", line)][:4]
    return "\n    ".join(errors[:3] + frames) if errors else text.strip()[-600:]


def conversions(trace):
    """How often a matrix of ours was packed, from -log_trace; only the first product of a pattern packs."""
    return len(re.findall(r"Event begin: MatPackConvert$", trace, re.M))
