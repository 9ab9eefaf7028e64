/*
  cg_bench.cu - cg_bench: microseconds of an iteration of conjugate gradients, for each mode and format, and of the
  product alone

    cg_bench [--matrix family:size]... [--formats a,b] [--out file] [--commit text] [--budget seconds]

  Patterns are those of the catalogue; values are replaced by symmetric positive definite ones. The preconditioner is
  the diagonal, the norm PETSc's default. Measured for each mode and format: the time of an iteration, from 200
  iterations without a convergence test, and the time and number of iterations of a whole solve to 1e-8; both also with
  the matrix in single precision, without the corrections that such a solve would need for full accuracy. The persistent
  kernel has its own product, and is measured for matrices of at most 128 MB.
*/
#include "catalog.hpp"
#include "run_matrices.cuh"
#include "status.hpp"
#include "timing.cuh"

#include <spmv_cg.h>
#include <spmv_values.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace bench
{
namespace
{

constexpr int          RUNS = 7, ITERATIONS = 200, MOST_ITERATIONS = 20000;
constexpr double       RTOL             = 1e-8;
constexpr std::int64_t PERSISTENT_BYTES = 128 << 20;

/* About 10^3, 10^4, 10^5, 250 000, 10^6 and 4 10^6 rows of both families */
const char *const DEFAULT_MATRICES[] = {"stencil7:10",  "tet3_rcm:7",  "stencil7:22",  "tet3_rcm:15",
                                        "stencil7:46",  "tet3_rcm:32", "stencil7:63",  "tet3_rcm:44",
                                        "stencil7:100", "tet3_rcm:70", "stencil7:159", "tet3_rcm:110"};

/* Data that all solvers of one matrix share: the matrix, the vectors and the inverse of its diagonal, on the device */
struct Problem {
  const Csr          &pattern;
  Array<double>       spd;
  DeviceArray<int>    row_ptr, col;
  DeviceArray<double> values, b, m, x, r;
  double              norm = 0; /* of M b, at iteration 0 */
  SpmvExec            exec;

  Problem(const Csr &a, cudaStream_t stream)
      : pattern(a), spd(definite_values(a)), row_ptr(DeviceArray<int>::copy_of(a.row_ptr)),
        col(DeviceArray<int>::copy_of(a.col)), values(DeviceArray<double>::copy_of(spd)),
        x(static_cast<std::size_t>(a.rows)), r(static_cast<std::size_t>(a.rows))
  {
    Array<double> right(static_cast<std::size_t>(a.rows)), inverse(static_cast<std::size_t>(a.rows));

    for (std::int64_t i = 0; i < a.rows; i++) {
      for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++)
        if (a.col[k] == i) inverse[i] = 1 / spd[k];
      right[i] = 1 + std::sin(0.7 * static_cast<double>(i));
      norm += right[i] * inverse[i] * right[i] * inverse[i];
    }
    norm = std::sqrt(norm);
    b    = DeviceArray<double>::copy_of(right);
    m    = DeviceArray<double>::copy_of(inverse);
    spmv_exec_init(&exec, SPMV_DEVICE);
    exec.stream = stream;
  }
  SpmvCsr csr()
  {
    SpmvCsr c{};

    c.pattern      = {pattern.rows, pattern.cols, pattern.nnz, SPMV_I32, SPMV_DEVICE, row_ptr.data(), col.data()};
    c.scalar_type  = SPMV_F64;
    c.values_space = SPMV_DEVICE;
    c.values       = values.data();
    return c;
  }
  /* x = 0 and r = b */
  void reset()
  {
    const std::size_t bytes  = static_cast<std::size_t>(pattern.rows) * sizeof(double);
    const auto        stream = static_cast<cudaStream_t>(exec.stream);

    BENCH_CUDA(cudaMemsetAsync(x.data(), 0, bytes, stream));
    BENCH_CUDA(cudaMemcpyAsync(r.data(), b.data(), bytes, cudaMemcpyDeviceToDevice, stream));
  }
};

/* The plan of a format, and its product */
class Plan
{
public:
  Plan(Problem &p, const std::string &name, bool round) : exec_(p.exec)
  {
    const SpmvFormat *format = spmv_format_find(name.c_str());
    const SpmvCsr     csr    = p.csr();
    SpmvAnalysis      analysis;
    SpmvOptions       options;

    if (!format) throw std::runtime_error("there is no format " + name);
    spmv_options_init(&options, format);
    check(spmv_analyze(format, &csr.pattern, SPMV_F64, &options, &exec_, &analysis), exec_);
    const SpmvStatus status = spmv_build(&csr, &analysis, &exec_, &plan_);
    spmv_analysis_clear(&analysis, &exec_);
    check(status, exec_);
    work_         = DeviceArray<char>(static_cast<std::size_t>(plan_->memory.work_bytes));
    product_      = {};
    product_.plan = plan_;
    product_.work = work_.data();
    if (!round) return;
    rounded_ = DeviceArray<char>(static_cast<std::size_t>(spmv_rounded_bytes(plan_)));
    check(spmv_round_values(plan_, rounded_.data(), &exec_), exec_);
    product_.rounded = rounded_.data();
  }
  ~Plan() { spmv_destroy(&plan_); }
  Plan(const Plan &)            = delete;
  Plan &operator=(const Plan &) = delete;

  double product_seconds(Problem &p)
  {
    EventTimer          timer;
    std::vector<double> seconds;
    const auto          work = [&] {
      for (int i = 0; i < ITERATIONS; i++)
        check(spmv_operator_product(&product_, p.b.data(), p.r.data(), &exec_), exec_);
    };
    for (int i = 0; i < RUNS; i++)
      seconds.push_back(timer.seconds(static_cast<cudaStream_t>(exec_.stream), work) / ITERATIONS);
    return spread_of(seconds).median;
  }

  void       *product_ctx() { return &product_; }
  const char *kind() const { return product_.rounded ? "rounded" : "double"; }

private:
  SpmvExec          exec_;
  SpmvPlan         *plan_ = nullptr;
  SpmvOperator      product_{};
  DeviceArray<char> work_, rounded_;
};

class Engine
{
public:
  Engine(Problem &p, SpmvCgMode mode, Plan *plan) : p_(p)
  {
    const SpmvCsr csr = p.csr();
    SpmvCgOptions o;

    spmv_cg_options_init(&o);
    o.rows           = p.pattern.rows;
    o.mode           = mode;
    o.preconditioner = SPMV_PC_DIAGONAL;
    o.product        = spmv_operator_product;
    o.product_ctx    = plan ? plan->product_ctx() : nullptr;
    o.matrix         = &csr;
    check(spmv_cg_create(&o, &p_.exec, &cg_), p_.exec);
  }
  ~Engine() { spmv_cg_destroy(&cg_); }
  Engine(const Engine &)            = delete;
  Engine &operator=(const Engine &) = delete;

  /* Seconds of a solve, including all work that it enqueued; a negative tolerance is never met */
  double solve(double tolerance, std::int64_t most, SpmvCgResult &result)
  {
    const SpmvTest test = {0, 0, tolerance, 0, INFINITY, 0, most, -1, 0};

    p_.reset();
    check(spmv_cg_start(cg_, p_.x.data(), p_.r.data(), p_.m.data(), SPMV_CG_PRECONDITIONED, &p_.exec), p_.exec);
    return wall_seconds_of([&] { check(spmv_cg_run(cg_, INT64_MAX, &test, &result, &p_.exec), p_.exec); });
  }
  SpmvCgInfo info() const
  {
    SpmvCgInfo i;

    spmv_cg_info(cg_, &i);
    return i;
  }

private:
  Problem &p_;
  SpmvCg  *cg_ = nullptr;
};

/* Measures a solver; returns a message about a fault, or "" */
std::string measure_engine(Problem &p, Engine &engine, Json &r)
{
  std::vector<double> iteration, whole;
  SpmvCgResult        result, first{}, solved{};
  std::string         fault;

  for (int i = 0; i <= RUNS; i++) {
    const double seconds = engine.solve(-1, ITERATIONS, result);
    if (i == 0) first = result; /* the first solve captures the graphs */
    else iteration.push_back(seconds / ITERATIONS);
    if (result.completed != ITERATIONS) fault = "it ended early";
    if (std::memcmp(&result.norm, &first.norm, sizeof result.norm) != 0) fault = "norms differ from run to run";
  }
  for (int i = 0; i < 3; i++) whole.push_back(engine.solve(RTOL * p.norm, MOST_ITERATIONS, solved));
  if (solved.reason != SPMV_RTOL) fault = "no convergence";
  const Spread     s    = spread_of(iteration);
  const SpmvCgInfo info = engine.info();
  r["iteration_s"]      = s.median;
  r["lower_s"]          = s.lower;
  r["upper_s"]          = s.upper;
  r["solve_s"]          = spread_of(whole).median;
  r["iterations"]       = solved.iterations;
  r["held_bytes"]       = info.bytes;
  r["vector_bytes"]     = info.traffic_bytes;
  r["blocks"]           = info.blocks;
  r["lanes"]            = info.lanes;
  r["fault"]            = fault;
  return fault;
}

const char *const MODE_NAMES[] = {"host", "chunk", "graph", "persistent"};

MatrixResult measure(const Csr &a, const CommandLine &c, cudaStream_t stream)
{
  const auto   formats = c.formats.empty() ? std::vector<std::string>{"crsv", "rbp"} : c.formats;
  Problem      p(a, stream);
  MatrixResult result;
  const auto   add = [&](const std::string &format, SpmvCgMode mode, Plan *plan, double product_seconds) {
    Json r      = Json::object();
    r["matrix"] = a.name;
    r["format"] = format;
    r["mode"]   = MODE_NAMES[mode];
    if (plan) r["product_s"] = product_seconds;
    if (plan) r["product"] = plan->kind();
    try {
      Engine engine(p, mode, plan);
      result.faults += !measure_engine(p, engine, r).empty();
    } catch (const std::exception &e) {
      r["fault"] = e.what();
      result.faults++;
    }
    std::fprintf(stderr, "  %s\n", r.text().c_str());
    result.records.push_back(std::move(r));
  };

  result.matrix         = Json::object();
  result.matrix["name"] = a.name;
  result.matrix["rows"] = a.rows;
  result.matrix["nnz"]  = a.nnz;
  for (const auto &format : formats) {
    Plan         plan(p, format, false), rounded(p, format, true);
    const double product_seconds = plan.product_seconds(p);
    add(format, SPMV_CG_CHUNK, &plan, product_seconds);
    add(format, SPMV_CG_GRAPH, &plan, product_seconds);
    add(format, SPMV_CG_GRAPH, &rounded, rounded.product_seconds(p));
  }
  if (csr_bytes(a) <= PERSISTENT_BYTES) add("csr", SPMV_CG_PERSISTENT, nullptr, 0);
  return result;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  return bench::run_matrices("cg_bench", argc, argv,
                             {std::begin(bench::DEFAULT_MATRICES), std::end(bench::DEFAULT_MATRICES)}, bench::measure);
}
