#!/usr/bin/env python3
"""Extracts events from -log_view :file:ascii_csv, one file per run of a program, as JSON.

    bench/solve/solve_log.py log.json run.csv [more.csv ...]

Files are named PROGRAM.TYPE.csv. The time of an event is that of the slowest process, summed over stages. On a GPU PETSc's clock
does not wait for the device, unless the event itself does: KSPSolve does, MatMult does not. If there is a file PROGRAM.TYPE.log
with the output of -ksp_converged_reason, the iterations of the last solve are recorded, too.
"""
import csv
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # in a bundle all scripts are in one folder
from figures import save  # noqa: E402

EVENTS = ("KSPSetUp", "KSPSolve", "KSPSolve_FS_0", "PCSetUp", "PCSetUpOnBlocks", "PCApply", "MGDevSetUp", "MGDevCycle", "PCGAMGCreateG", "GAMG Coarsen", "PCGAMGProl", "PCGAMGOptProl",
          "PCGAMGCreateL", "GAMG PtAP", "MatMult", "MatMultAdd", "MatMultTranspose", "MatResidual", "MatPtAPSymbolic", "MatPtAPNumeric",
          "MatMatMultSym", "MatMatMultNum", "MatAssemblyEnd", "MatConvert", "MatPackConvert", "MatPackRefresh", "MatSetPreallCOO",
          "MatSetValuesCOO", "MatCUSPARSCopyTo", "MatCUSPARSGenT", "MatLoad", "VecScatterBegin", "VecScatterEnd", "SFPack",
          "SFUnpack")


def events_of(path):
    """Count and seconds by event: the maximum over processes in each stage, summed over stages."""
    largest = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            row = {(key or "").strip(): (value or "").strip() for key, value in row.items() if isinstance(value, str)}
            key = row.get("Stage Name"), row.get("Event Name")
            if key[1] not in EVENTS:
                continue
            count, seconds = int(float(row["Count"])), float(row["Time"])
            if count:
                known = largest.get(key, (0, 0.0))
                largest[key] = (max(known[0], count), max(known[1], seconds))
    found = {}
    for (_, event), (count, seconds) in largest.items():
        known = found.setdefault(event, {"count": 0, "seconds": 0.0})
        known["count"] += count
        known["seconds"] += seconds
    return found


def iterations_of(path):
    """The iterations in the last line of -ksp_converged_reason, or None."""
    try:
        found = re.findall(r"solve (?:converged|did not converge) due to \w+ iterations (\d+)", path.read_text(errors="replace"))
    except OSError:
        return None
    return int(found[-1]) if found else None


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: solve_log.py log.json run.csv [more.csv ...]")
    runs = []
    for path in map(Path, sys.argv[2:]):
        program, _, matrix_type = path.stem.rpartition(".")
        run = {"program": program, "type": matrix_type, "events": {}}
        try:
            run["events"] = events_of(path)
        except (OSError, KeyError, ValueError, csv.Error) as error:
            run["error"] = f"{type(error).__name__}: {error}"
        iterations = iterations_of(path.with_suffix(".log"))
        if iterations is not None:
            run["iterations"] = iterations
        if not run["events"]:
            run.setdefault("error", "no event was logged")
        runs.append(run)
    save(sys.argv[1], {"schema": 1, "header": {"program": "solve_log"}, "runs": runs})


if __name__ == "__main__":
    main()
