/* solve_json.c - writes the results of solve_bench as JSON. */
#include "../first_line.h"
#include "solve_bench.h"
#include <json_text.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

/* A negative number means "none" */
static double Known(double value) { return value >= 0 ? value : NAN; }

static void WriteHeader(JsonText *j, const Settings *s, int ranks)
{
  char         text[TEXT], gpu[TEXT], cuda[TEXT];
  const time_t now = time(NULL);

  json_begin(j, "header", '{');
  json_string(j, "program", "solve_bench");
  (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  json_string(j, "date", text);
  first_line("/proc/cpuinfo", "model name", text, sizeof text);
  json_string(j, "machine", text);
  DeviceName(gpu, cuda);
  JSON_STRINGS(j, {"gpu", gpu}, {"cuda", cuda});
  first_line("/proc/driver/nvidia/version", "NVRM version", text, sizeof text);
  json_string(j, "driver", text);
  snprintf(text, sizeof text, "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  JSON_STRINGS(j, {"petsc", text}, {"commit", s->commit});
  JSON_NUMBERS(j, {"scalar_bytes", sizeof(PetscScalar)}, {"index_bytes", sizeof(PetscInt)}, {"ranks", ranks},
               {"repeat", s->repeat}, {"rtol", s->rtol}, {"residual_limit", s->limit}, {"diagonal_shift", s->shift});
  json_string(j, "launcher", s->launcher);
  json_bool(j, "gpu_aware_mpi", s->gpu_aware_mpi);
  json_begin(j, "devices", '[');
  for (int i = 0; s->devices && i < ranks; i++) json_string(j, NULL, s->devices + (size_t)i * TEXT);
  json_end(j);
  json_end(j);
}

static void WritePhase(JsonText *j, const Phase *p)
{
  json_begin(j, NULL, '{');
  json_string(j, "name", p->name);
  json_numbers(j, "seconds", (int)p->count, p->seconds);
  JSON_NUMBERS(j, {"batch", p->batch}, {"device_bytes", Known(p->device_bytes)});
  if (p->deviation >= 0) json_number(j, "deviation", p->deviation);
  if (p->residual >= 0) {
    JSON_NUMBERS(j, {"iterations", p->iterations}, {"reason", p->reason}, {"residual", p->residual});
  }
  if (p->error[0]) json_string(j, "error", p->error);
  json_end(j);
}

static void WriteLoop(JsonText *j, const NewtonLoop *loop)
{
  double total = loop->assembly;

  json_begin(j, NULL, '{');
  json_string(j, "by", loop->by);
  json_number(j, "assembly", Known(loop->assembly));
  json_numbers(j, "values", (int)loop->count, loop->values);
  json_numbers(j, "setup", (int)loop->count, loop->setup);
  json_numbers(j, "solve", (int)loop->count, loop->solve);
  json_begin(j, "iterations", '[');
  for (PetscInt i = 0; i < loop->count; i++) {
    json_number(j, NULL, loop->iterations[i]);
    total += loop->values[i] + loop->setup[i] + loop->solve[i];
  }
  json_end(j);
  JSON_NUMBERS(j, {"total", Known(total)}, {"residual", Known(loop->residual)},
               {"device_bytes", Known(loop->device_bytes)});
  if (loop->error[0]) json_string(j, "error", loop->error);
  json_end(j);
}

static void WriteLevel(JsonText *j, const Level *level)
{
  json_begin(j, NULL, '{');
  JSON_NUMBERS(j, {"rows", level->rows}, {"nonzeros", level->nonzeros}, {"interpolation", level->interpolation},
               {"steps", level->steps});
  json_end(j);
}

static void WriteCounters(JsonText *j, const KSPDeviceInfo *info)
{
  json_begin(j, "cgdevice", '{');
  JSON_STRINGS(j, {"used", KSPDeviceModes[info->used]}, {"reason", info->reason});
  JSON_NUMBERS(j, {"solves_device", info->solves_device}, {"solves_host", info->solves_host}, {"graphs", info->graphs},
               {"conversions", info->conversions}, {"refreshes", info->refreshes}, {"bytes", info->bytes});
  json_end(j);
}

PetscErrorCode CellVerdict(const Settings *s, const Cell *cell, char verdict[TEXT])
{
  PetscFunctionBeginUser;
  verdict[0] = 0;
  for (PetscInt i = 0; i < cell->phases; i++) {
    const Phase *p = &cell->phase[i];
    if (p->deviation > 1e5 * PETSC_MACHINE_EPSILON)
      PetscCall(PetscSNPrintf(verdict, TEXT, "%s: differs from the host by %g", p->name, p->deviation));
    if (p->residual >= 0 && !(p->residual <= s->limit))
      PetscCall(PetscSNPrintf(verdict, TEXT, "%s: the residual is %g", p->name, p->residual));
    if (p->residual >= 0 && p->reason < 0)
      PetscCall(PetscSNPrintf(verdict, TEXT, "%s: did not converge, reason %d", p->name, (int)p->reason));
  }
  for (PetscInt i = 0; i < cell->loops; i++)
    if (cell->loop[i].residual > s->limit)
      PetscCall(
          PetscSNPrintf(verdict, TEXT, "steps by %s: the residual is %g", cell->loop[i].by, cell->loop[i].residual));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteCell(JsonText *j, const Problem *p, const Settings *s, const Cell *c)
{
  char verdict[TEXT];

  PetscFunctionBeginUser;
  PetscCall(CellVerdict(s, c, verdict));
  json_begin(j, NULL, '{');
  JSON_STRINGS(j, {"matrix", p->name}, {"type", c->type}, {"solver", c->solver});
  json_number(j, "steps", s->steps);
  if (c->from_elements) {
    json_string(j, "assembly", "elements");
    json_number(j, "entries", c->entries);
    json_string(j, "list", c->on_device ? "device" : "host");
  }
  if (c->peak_bytes > 0) json_number(j, "peak_bytes", c->peak_bytes);
  if (c->running) json_string(j, "error", "the process ended while this was measured");
  else if (c->error[0]) json_string(j, "error", c->error);
  if (verdict[0]) json_string(j, "wrong", verdict);
  json_begin(j, "phases", '[');
  for (PetscInt i = 0; i < c->phases; i++) WritePhase(j, &c->phase[i]);
  json_end(j);
  json_begin(j, "loops", '[');
  for (PetscInt i = 0; i < c->loops; i++) WriteLoop(j, &c->loop[i]);
  json_end(j);
  if (c->levels) {
    json_begin(j, "levels", '[');
    for (PetscInt i = 0; i < c->levels; i++) WriteLevel(j, &c->level[i]);
    json_end(j);
  }
  if (c->has_counters) WriteCounters(j, &c->counters);
  json_end(j);
  PetscFunctionReturn(0);
}

PetscErrorCode WriteJson(const Problem *p, const Settings *s, const Cell cells[], PetscInt count)
{
  JsonText    j = {.lines = 4};
  PetscMPIInt rank, ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (rank || !s->json[0]) PetscFunctionReturn(0);
  json_begin(&j, NULL, '{');
  json_number(&j, "schema", 1);
  WriteHeader(&j, s, ranks);
  json_begin(&j, "matrices", '[');
  json_begin(&j, NULL, '{');
  json_string(&j, "name", p->name);
  JSON_NUMBERS(&j, {"rows", p->all_rows}, {"nonzeros", p->nonzeros}, {"block_size", p->block_size});
  json_string(&j, "near_null_space", p->near ? "rigid motions" : "constant by unknown of a node");
  json_end(&j);
  json_end(&j);
  json_begin(&j, "cells", '[');
  for (PetscInt i = 0; i < count; i++) PetscCall(WriteCell(&j, p, s, &cells[i]));
  PetscCheck(!json_save(&j, s->json), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written", s->json);
  json_free(&j);
  PetscFunctionReturn(0);
}
