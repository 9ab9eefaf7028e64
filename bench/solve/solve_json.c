/* solve_json.c - writes the results of solve_bench as JSON. */
#include "solve_bench.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static void WriteText(FILE *file, const char text[])
{
  fputc('"', file);
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') fputc('\\', file);
    fputc((unsigned char)*c < ' ' ? ' ' : *c, file);
  }
  fputc('"', file);
}

/* Writes "key": "text" after a separator */
static void WriteField(FILE *file, const char separator[], const char key[], const char text[])
{
  fprintf(file, "%s\"%s\": ", separator, key);
  WriteText(file, text);
}

/* Writes a number, unless it is negative, which means "none", or not finite, which JSON does not have */
static void WriteNumber(FILE *file, const char key[], double value)
{
  if (value >= 0 && value <= PETSC_MAX_REAL) fprintf(file, ", \"%s\": %.9g", key, value);
  else fprintf(file, ", \"%s\": null", key);
}

static void WriteSeconds(FILE *file, const char key[], PetscInt count, const double seconds[])
{
  fprintf(file, ", \"%s\": [", key);
  for (PetscInt i = 0; i < count; i++) fprintf(file, "%s%.9g", i ? ", " : "", seconds[i]);
  fputc(']', file);
}

/* The text after the colon in the first line that begins with key, of a system file; else an empty text */
static void FirstLine(const char path[], const char key[], char text[TEXT])
{
  char  line[TEXT];
  FILE *file = fopen(path, "r");

  text[0] = 0;
  while (file && !text[0] && fgets(line, sizeof line, file)) {
    const char *colon         = strchr(line, ':');
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, key, strlen(key)) && colon) snprintf(text, TEXT, "%s", colon + 1 + strspn(colon + 1, " \t"));
  }
  if (file) fclose(file);
}

static void WriteHeader(FILE *file, const Settings *s, int ranks)
{
  char         text[TEXT], gpu[TEXT], cuda[TEXT];
  const time_t now = time(NULL);

  (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  WriteField(file, "{\"schema\": 1,\n\"header\": {\"program\": \"solve_bench\", ", "date", text);
  FirstLine("/proc/cpuinfo", "model name", text);
  WriteField(file, ", ", "machine", text);
  DeviceName(gpu, cuda);
  WriteField(file, ", ", "gpu", gpu);
  WriteField(file, ", ", "cuda", cuda);
  FirstLine("/proc/driver/nvidia/version", "NVRM version", text);
  WriteField(file, ", ", "driver", text);
  fprintf(file, ", \"petsc\": \"%d.%d.%d\"", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  WriteField(file, ", ", "commit", s->commit);
  fprintf(file,
          ", \"scalar_bytes\": %d, \"index_bytes\": %d, \"ranks\": %d, \"repeat\": %d, \"rtol\": %g, "
          "\"residual_limit\": %g, \"diagonal_shift\": %g",
          (int)sizeof(PetscScalar), (int)sizeof(PetscInt), ranks, (int)s->repeat, s->rtol, s->limit, s->shift);
  WriteField(file, ", ", "launcher", s->launcher);
  fprintf(file, ", \"gpu_aware_mpi\": %s, \"devices\": [", s->gpu_aware_mpi ? "true" : "false");
  for (int i = 0; s->devices && i < ranks; i++) {
    if (i) fprintf(file, ", ");
    WriteText(file, s->devices + (size_t)i * TEXT);
  }
  fprintf(file, "]},\n");
}

static void WritePhase(FILE *file, const char separator[], const Phase *p)
{
  WriteField(file, separator, "name", p->name);
  WriteSeconds(file, "seconds", p->count, p->seconds);
  fprintf(file, ", \"batch\": %d", (int)p->batch);
  WriteNumber(file, "device_bytes", p->device_bytes);
  if (p->deviation >= 0) WriteNumber(file, "deviation", p->deviation);
  if (p->residual >= 0) {
    fprintf(file, ", \"iterations\": %d, \"reason\": %d", (int)p->iterations, (int)p->reason);
    WriteNumber(file, "residual", p->residual);
  }
  if (p->error[0]) WriteField(file, ", ", "error", p->error);
  fputc('}', file);
}

static void WriteLoop(FILE *file, const char separator[], const NewtonLoop *loop)
{
  double total = loop->assembly;

  WriteField(file, separator, "by", loop->by);
  WriteNumber(file, "assembly", loop->assembly);
  WriteSeconds(file, "values", loop->count, loop->values);
  WriteSeconds(file, "setup", loop->count, loop->setup);
  WriteSeconds(file, "solve", loop->count, loop->solve);
  fprintf(file, ", \"iterations\": [");
  for (PetscInt i = 0; i < loop->count; i++) {
    fprintf(file, "%s%d", i ? ", " : "", (int)loop->iterations[i]);
    total += loop->values[i] + loop->setup[i] + loop->solve[i];
  }
  fprintf(file, "]");
  WriteNumber(file, "total", total);
  WriteNumber(file, "residual", loop->residual);
  WriteNumber(file, "device_bytes", loop->device_bytes);
  if (loop->error[0]) WriteField(file, ", ", "error", loop->error);
  fputc('}', file);
}

static void WriteLevel(FILE *file, const char separator[], const Level *level)
{
  fprintf(file, "%s{\"rows\": %lld, \"nonzeros\": %.0f, \"interpolation\": %.0f, \"steps\": %d}", separator,
          (long long)level->rows, level->nonzeros, level->interpolation, (int)level->steps);
}

static void WriteCounters(FILE *file, const KSPDeviceInfo *info)
{
  const struct {
    const char *key;
    double      value;
  } counters[] = {
      {"solves_device", (double)info->solves_device},
      {"solves_host", (double)info->solves_host},
      {"graphs", (double)info->graphs},
      {"conversions", (double)info->conversions},
      {"refreshes", (double)info->refreshes},
      {"bytes", (double)info->bytes}, /* cycles and cycle_setups belong here if the struct has them */
  };

  WriteField(file, ",\n  \"cgdevice\": {", "used", KSPDeviceModes[info->used]);
  WriteField(file, ", ", "reason", info->reason);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(counters); i++)
    WriteNumber(file, counters[i].key, counters[i].value);
  fputc('}', file);
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

static PetscErrorCode WriteCell(FILE *file, const char separator[], const Problem *p, const Settings *s, const Cell *c)
{
  char verdict[TEXT];

  PetscFunctionBeginUser;
  PetscCall(CellVerdict(s, c, verdict));
  WriteField(file, separator, "matrix", p->name);
  WriteField(file, ", ", "type", c->type);
  WriteField(file, ", ", "solver", c->solver);
  fprintf(file, ", \"steps\": %d", (int)s->steps);
  if (c->from_elements)
    fprintf(file, ", \"assembly\": \"elements\", \"entries\": %lld, \"list\": \"%s\"", (long long)c->entries,
            c->on_device ? "device" : "host");
  if (c->peak_bytes > 0) WriteNumber(file, "peak_bytes", c->peak_bytes);
  if (c->running) WriteField(file, ", ", "error", "the process ended while this was measured");
  else if (c->error[0]) WriteField(file, ", ", "error", c->error);
  if (verdict[0]) WriteField(file, ", ", "wrong", verdict);
  fprintf(file, ",\n  \"phases\": [");
  for (PetscInt i = 0; i < c->phases; i++) WritePhase(file, i ? ",\n   {" : "\n   {", &c->phase[i]);
  fprintf(file, "],\n  \"loops\": [");
  for (PetscInt i = 0; i < c->loops; i++) WriteLoop(file, i ? ",\n   {" : "\n   {", &c->loop[i]);
  fputc(']', file);
  if (c->levels) fprintf(file, ",\n  \"levels\": [");
  for (PetscInt i = 0; i < c->levels; i++) WriteLevel(file, i ? ", " : "", &c->level[i]);
  if (c->levels) fputc(']', file);
  if (c->has_counters) WriteCounters(file, &c->counters);
  fputc('}', file);
  PetscFunctionReturn(0);
}

PetscErrorCode WriteJson(const Problem *p, const Settings *s, const Cell cells[], PetscInt count)
{
  FILE       *file;
  char        part[PETSC_MAX_PATH_LEN + 8];
  PetscMPIInt rank, ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (rank || !s->json[0]) PetscFunctionReturn(0);
  snprintf(part, sizeof part, "%s.part", s->json); /* a crash while it is written keeps the old file */
  file = fopen(part, "w");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", s->json);
  WriteHeader(file, s, ranks);
  WriteField(file, "\"matrices\": [{", "name", p->name);
  fprintf(file,
          ", \"rows\": %lld, \"nonzeros\": %.0f, \"block_size\": %d, \"near_null_space\": \"%s\"}],\n\"cells\": [",
          (long long)p->all_rows, p->nonzeros, (int)p->block_size,
          p->near ? "rigid motions" : "constant by unknown of a node");
  for (PetscInt i = 0; i < count; i++) PetscCall(WriteCell(file, i ? ",\n {" : "\n {", p, s, &cells[i]));
  fprintf(file, "\n]}\n");
  PetscCheck(!fclose(file) && !rename(part, s->json), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written",
             s->json);
  PetscFunctionReturn(0);
}
