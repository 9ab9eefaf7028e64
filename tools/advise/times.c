/*
  times.c - what every type would cost: the formats analyze the pattern of each sequential block, as they do before a
  conversion, and the model of spmv_predict.h turns bytes into seconds. Blocks that a format declines are counted as
  what they become, blocks of the parent type.
*/
#include "advise.h"

/* By how much measured products must be faster: other programs on the machine disturb them by a few percent */
#define MEASURE_MARGIN 1.05

static const char note_of_estimate[] = "There is no GPU here, so these are estimates from the bytes of arrays on the "
                                       "host; on a GPU aijrbp takes fewer where "
                                       "many rows have the same pattern";

/* Seconds of a product: measured where both types were measured, so that like is compared with like */
double AdviceProduct(const AdviceCost *cost, const AdviceCost *compared)
{
  return cost->measured > 0 && compared->measured > 0 ? cost->measured : cost->product;
}

static double Conversion(const AdviceCost *cost, const AdviceCost *parent)
{
  return cost->measured > 0 && parent->measured > 0 ? cost->measured_convert : cost->convert;
}

/* A smaller part of a product is no gain: times that the clock cannot tell apart differ by rounding */
#define LEAST_GAIN 1e-6

/* Products after which a conversion has paid; 0: never */
double AdvicePaysAfter(const AdviceCost *cost, const AdviceCost *parent)
{
  const double before = AdviceProduct(parent, cost), gain = before - AdviceProduct(cost, parent);

  if (!cost->known || !parent->known || gain <= LEAST_GAIN * before) return 0;
  return PetscMax(1, PetscCeilReal(Conversion(cost, parent) / gain));
}

static void Add(AdviceCost *cost, const SpmvWorkload *work, const SpmvMachine *machine)
{
  SpmvPrediction predicted;

  if (!spmv_predict(work, machine, &predicted)) cost->known = PETSC_FALSE;
  cost->bytes += (double)work->bytes;
  cost->product += predicted.product;
  cost->convert += predicted.convert;
}

/* A block by one format; the analysis is for plans in exec->space, the prediction for any place */
static PetscErrorCode AddFormat(const SpmvFormat *format, const SpmvPattern *pattern, const SpmvPatternFacts *facts,
                                SpmvExec *exec, SpmvSpace predicted, const SpmvMachine *machine, AdviceCost *cost)
{
  SpmvOptions  options;
  SpmvAnalysis analysis;
  SpmvWorkload work;
  const char  *reason = NULL;
  SpmvStatus   status;

  PetscFunctionBegin;
  spmv_options_init(&options, format);
  cost->blocks++;
  exec->message[0] = 0;
  status           = spmv_pattern_check(pattern, exec);
  if (!status) status = spmv_analyze(format, pattern, AIJFMT_SCALAR, &options, exec, &analysis);
  if (status == SPMV_ERR_MEMORY || status == SPMV_ERR_DEVICE) AIJFmtCallSpmv(exec, status);
  if (status) reason = exec->message;
  else if (!analysis.accepted) reason = analysis.reason;
  if (reason) {
    cost->declined++;
    if (!cost->reason[0]) PetscCall(PetscStrncpy(cost->reason, reason, sizeof cost->reason));
    spmv_workload_csr(pattern, AIJFMT_SCALAR, predicted, facts, &work);
  } else {
    spmv_workload(&analysis, facts, &work);
    work.space = predicted;
  }
  if (!status) spmv_analysis_clear(&analysis, exec);
  Add(cost, &work, machine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The costs of one type in one place over all processes; reason becomes that of the first process with one */
static PetscErrorCode Reduce(MPI_Comm comm, AdviceCost *cost)
{
  double sum[] = {cost->bytes, cost->blocks, cost->declined}, most[] = {cost->product, cost->convert, !cost->known};
  PetscMPIInt rank, processes, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &processes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, comm));
  first = cost->reason[0] ? rank : processes;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first < processes) PetscCallMPI(MPI_Bcast(cost->reason, sizeof cost->reason, MPI_CHAR, first, comm));
  cost->bytes    = sum[0];
  cost->blocks   = sum[1];
  cost->declined = sum[2];
  cost->product  = most[0];
  cost->convert  = most[1];
  cost->known    = most[2] == 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PredictPlace(const AdviceMatrix *m, const SpmvPatternFacts facts[2], AdvicePlace place,
                                   MatAIJFmtAdvice advice)
{
  const SpmvSpace    predicted = place == ADVICE_HOST ? SPMV_HOST : SPMV_DEVICE;
  const SpmvMachine *machine   = &advice->place[place].machine;
  SpmvWorkload       work;
  SpmvExec           exec;

  PetscFunctionBegin;
  spmv_exec_init(&exec, advice->place[ADVICE_GPU].present ? predicted : SPMV_HOST);
  for (int i = 0; i < advice->count; i++) {
    AdviceCost *cost = &advice->row[i].at[place];

    cost->known = PETSC_TRUE;
    for (int b = 0; b < m->count; b++) {
      const SpmvFormat *format = advice->row[i].format;

      if (format) PetscCall(AddFormat(format, &m->pattern[b], &facts[b], &exec, predicted, machine, cost));
      else {
        spmv_workload_csr(&m->pattern[b], AIJFMT_SCALAR, predicted, &facts[b], &work);
        Add(cost, &work, machine);
      }
    }
    PetscCall(Reduce(advice->comm, cost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindPlaces(Mat A, MatAIJFmtAdvice advice)
{
  AdvicePlaceInfo *host = &advice->place[ADVICE_HOST], *gpu = &advice->place[ADVICE_GPU];
  AdvicePlaceInfo *h200 = &advice->place[ADVICE_H200];
  SpmvExec         exec;
  int              devices = spmv_device_count(NULL) > 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &devices, 1, MPI_INT, MPI_MIN, advice->comm));
  *host = (AdvicePlaceInfo){.present = PETSC_TRUE, .name = "host", .title = "This host, one core", .note = ""};
  *gpu  = (AdvicePlaceInfo){.name = "gpu", .title = "The GPU of this machine", .note = ""};
  *h200 = (AdvicePlaceInfo){
      .present = PETSC_TRUE, .name = "h200", .title = "An NVIDIA H200", .note = devices ? "" : note_of_estimate};
  gpu->present = devices ? PETSC_TRUE : PETSC_FALSE;
  spmv_exec_init(&exec, SPMV_HOST);
  PetscCall(AIJFmtMachineGet(A, &exec, &host->machine));
  spmv_machine_h200(&h200->machine);
  if (!gpu->present) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_init(&exec, SPMV_DEVICE);
  PetscCall(AIJFmtMachineGet(A, &exec, &gpu->machine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindType(const SpmvFormat *format, const char **type)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < AIJFmtRowCount(); r++) {
    PetscBool same;

    PetscCall(PetscStrcmp(AIJFmtRowGet(r)->format, format->name, &same));
    if (same) *type = AIJFmtRowGet(r)->root;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
PetscErrorCode AdvicePredict(const AdviceMatrix *m, MatAIJFmtAdvice advice)
{
  SpmvPatternFacts facts[2];

  PetscFunctionBegin;
  advice->count       = PetscMin(spmv_format_count() + 1, ADVICE_ROWS_MAX);
  advice->row[0].type = MATAIJ;
  for (int i = 1; i < advice->count; i++) {
    advice->row[i].format = spmv_format_get(i - 1);
    PetscCall(FindType(advice->row[i].format, &advice->row[i].type));
  }
  PetscCall(FindPlaces(m->whole, advice));
  for (int b = 0; b < m->count; b++) spmv_pattern_facts(&m->pattern[b], &facts[b]);
  for (int place = 0; place < ADVICE_PLACES; place++)
    if (advice->place[place].present) PetscCall(PredictPlace(m, facts, (AdvicePlace)place, advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rule of MATAIJAUTO: the least time of a conversion and all products that are expected, and a gain above the error
   of predictions where nothing was measured */
PetscErrorCode AdviceChooseBest(MatAIJFmtAdvice advice)
{
  PetscFunctionBegin;
  for (int place = 0; place < ADVICE_PLACES; place++) {
    const AdviceCost *parent = &advice->row[0].at[place];
    double            least  = AIJFMT_EXPECTED_AT_FIRST;

    advice->place[place].best = 0;
    for (int i = 1; advice->place[place].present && i < advice->count; i++) {
      const AdviceCost *cost   = &advice->row[i].at[place];
      const double      margin = cost->measured > 0 && parent->measured > 0 ? MEASURE_MARGIN : SPMV_PREDICT_MARGIN;
      const double own   = Conversion(cost, parent) + AIJFMT_EXPECTED_AT_FIRST * margin * AdviceProduct(cost, parent);
      const double times = own / AdviceProduct(parent, cost); /* in products of the parent */

      if (advice->facts.nonzeros == 0 || !cost->known || cost->declined == cost->blocks || !(times < least)) continue;
      least                     = times;
      advice->place[place].best = i;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
