/*
  factor_bench.cu - factor_bench: ILU(0) of the library against cuSPARSE's csrilu02 and SpSV

    factor_bench [--matrix family:size]... [--blocks n,n,...] [--out file] [--commit text] [--no-peers] [--budget seconds]

  Patterns are those of the catalogue, with positive definite values. Measured for the library and for
  cuSPARSE: the analysis of a pattern, the first and later factorizations, an application (solves with L and U) as one of
  many without a wait between them, and the device memory. cuSPARSE has one block, with which its solution is compared.
*/
#include "catalog.hpp"
#include "cusparse_spmv.cuh"
#include "run_matrices.cuh"
#include "status.hpp"
#include "timing.cuh"

#include <spmv_factor.h>

#include <cmath>
#include <cstdio>

namespace bench
{
namespace
{

constexpr int    RUNS = 7, APPLICATIONS = 10;
constexpr double TOLERANCE = 1e-10; /* of a solution, relative to its largest entry */

const char *const DEFAULT_MATRICES[] = {"p1_natural:114", "p1_rcm:114",    "tri_rcm:853", "tet3_natural:68",
                                        "tet3_rcm:68",    "stencil5:1000", "stencil7:100"};

/* A positive definite matrix and its vectors on the device */
struct Problem {
  const Csr          &pattern;
  DeviceArray<int>    row_ptr, col;
  DeviceArray<double> values, b, x;
  cudaStream_t        stream;

  Problem(const Csr &a, cudaStream_t s)
      : pattern(a), row_ptr(DeviceArray<int>::copy_of(a.row_ptr)), col(DeviceArray<int>::copy_of(a.col)),
        values(DeviceArray<double>::copy_of(definite_values(a))), x(static_cast<std::size_t>(a.rows)), stream(s)
  {
    Array<double> right(static_cast<std::size_t>(a.rows));

    for (std::size_t i = 0; i < right.size(); i++) right[i] = 1 + std::sin(0.7 * static_cast<double>(i));
    b = DeviceArray<double>::copy_of(right);
  }
};

/* Seconds of an application, the median of several runs */
double seconds_applied(const Problem &p, const std::function<void()> &apply)
{
  EventTimer          timer;
  std::vector<double> seconds;

  apply();
  for (int i = 0; i < RUNS; i++)
    seconds.push_back(timer.seconds(p.stream, [&] {
      for (int n = 0; n < APPLICATIONS; n++) apply();
    }) / APPLICATIONS);
  return spread_of(seconds).median;
}

void measure_phases(const Problem &p, Json &r, const std::function<void()> &analyse,
                    const std::function<void()> &factor, const std::function<void()> &apply)
{
  const std::int64_t before = free_bytes();

  r["analysis_s"]      = wall_seconds_of(analyse);
  r["first_numeric_s"] = wall_seconds_of(factor);
  r["device_bytes"]    = before - free_bytes();
  r["numeric_s"]       = median_seconds(RUNS, factor);
  r["apply_s"]         = seconds_applied(p, apply);
}

Json measure_own(Problem &p, int blocks)
{
  const Csr         &a       = p.pattern;
  const SpmvPattern  pattern = {a.rows, a.cols, a.nnz, SPMV_I32, SPMV_HOST, a.row_ptr.data(), a.col.data()};
  SpmvFactorization *f       = nullptr;
  SpmvFactorOptions  options;
  SpmvFactorInfo     info;
  SpmvExec           exec;
  Json               r = Json::object();

  spmv_factor_options_init(&options);
  options.blocks = blocks;
  spmv_exec_init(&exec, SPMV_DEVICE);
  exec.stream = p.stream;
  measure_phases(
      p, r, [&] { check(spmv_factor_create(&pattern, SPMV_F64, &options, &exec, &f), exec); },
      [&] { check(spmv_factor_numeric(f, p.values.data(), &exec), exec); },
      [&] { check(spmv_factor_solve(f, 0, p.b.data(), p.x.data(), &exec), exec); });
  spmv_factor_info(f, &info);
  r["kernel"] = "spmvpack";
  r["blocks"] = blocks;
  r["levels"] = info.levels[0];
  r["widest"] = info.widest[0];
  spmv_factor_destroy(&f);
  return r;
}

/* A solve with one triangle by SpSV */
class PeerTriangle
{
public:
  PeerTriangle(cusparseHandle_t handle, const Problem &a, const DeviceArray<double> &values, cusparseFillMode_t fill,
               cusparseDiagType_t diagonal, double *from, double *to)
      : handle_(handle)
  {
    const auto  rows  = static_cast<std::int64_t>(a.row_ptr.size()) - 1;
    std::size_t bytes = 0;

    BENCH_CUSPARSE(cusparseCreateCsr(&matrix_, rows, rows, static_cast<std::int64_t>(a.col.size()),
                                     const_cast<int *>(a.row_ptr.data()), const_cast<int *>(a.col.data()),
                                     const_cast<double *>(values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    BENCH_CUSPARSE(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    BENCH_CUSPARSE(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    BENCH_CUSPARSE(cusparseCreateDnVec(&from_, rows, from, CUDA_R_64F));
    BENCH_CUSPARSE(cusparseCreateDnVec(&to_, rows, to, CUDA_R_64F));
    BENCH_CUSPARSE(cusparseSpSV_createDescr(&solver_));
    BENCH_CUSPARSE(
        cusparseSpSV_bufferSize(handle_, PLAIN, &ONE, matrix_, from_, to_, CUDA_R_64F, ALGORITHM, solver_, &bytes));
    buffer_ = DeviceArray<char>(bytes);
    BENCH_CUSPARSE(cusparseSpSV_analysis(handle_, PLAIN, &ONE, matrix_, from_, to_, CUDA_R_64F, ALGORITHM, solver_,
                                         buffer_.data()));
  }
  ~PeerTriangle()
  {
    cusparseSpSV_destroyDescr(solver_);
    cusparseDestroyDnVec(from_);
    cusparseDestroyDnVec(to_);
    cusparseDestroySpMat(matrix_);
  }
  PeerTriangle(const PeerTriangle &)            = delete;
  PeerTriangle &operator=(const PeerTriangle &) = delete;

  void solve() const
  {
    BENCH_CUSPARSE(cusparseSpSV_solve(handle_, PLAIN, &ONE, matrix_, from_, to_, CUDA_R_64F, ALGORITHM, solver_));
  }
  /* After the values have changed */
  void refresh(const DeviceArray<double> &values) const
  {
    BENCH_CUSPARSE(
        cusparseSpSV_updateMatrix(handle_, solver_, const_cast<double *>(values.data()), CUSPARSE_SPSV_UPDATE_GENERAL));
  }

private:
  static constexpr double              ONE       = 1;
  static constexpr cusparseOperation_t PLAIN     = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cusparseSpSVAlg_t   ALGORITHM = CUSPARSE_SPSV_ALG_DEFAULT;
  cusparseHandle_t                     handle_;
  cusparseSpMatDescr_t                 matrix_ = nullptr;
  cusparseDnVecDescr_t                 from_ = nullptr, to_ = nullptr;
  cusparseSpSVDescr_t                  solver_ = nullptr;
  DeviceArray<char>                    buffer_;
};

/* ILU(0) by cuSPARSE */
class PeerFactors
{
public:
  explicit PeerFactors(Problem &p)
      : p_(p), handle_(p.stream), values_(p.values.size()), y_(p.x.size()), rows_(static_cast<int>(p.pattern.rows)),
        nnz_(static_cast<int>(p.pattern.nnz))
  {
    BENCH_CUSPARSE(cusparseCreateMatDescr(&descriptor_));
    BENCH_CUSPARSE(cusparseCreateCsrilu02Info(&info_));
  }
  ~PeerFactors()
  {
    cusparseDestroyCsrilu02Info(info_);
    cusparseDestroyMatDescr(descriptor_);
  }
  PeerFactors(const PeerFactors &)            = delete;
  PeerFactors &operator=(const PeerFactors &) = delete;

  void analyse()
  {
    const Problem &a     = p_;
    int            bytes = 0;

    BENCH_CUSPARSE(cusparseDcsrilu02_bufferSize(handle_, rows_, nnz_, descriptor_, values_.data(), a.row_ptr.data(),
                                                a.col.data(), info_, &bytes));
    buffer_ = DeviceArray<char>(static_cast<std::size_t>(bytes));
    BENCH_CUSPARSE(cusparseDcsrilu02_analysis(handle_, rows_, nnz_, descriptor_, values_.data(), a.row_ptr.data(),
                                              a.col.data(), info_, POLICY, buffer_.data()));
    lower_ = std::make_unique<PeerTriangle>(handle_, a, values_, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT,
                                            p_.b.data(), y_.data());
    upper_ = std::make_unique<PeerTriangle>(handle_, a, values_, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT,
                                            y_.data(), p_.x.data());
  }
  void factor()
  {
    const Problem &a = p_;

    BENCH_CUDA(cudaMemcpyAsync(values_.data(), a.values.data(), a.values.size() * sizeof(double),
                               cudaMemcpyDeviceToDevice, p_.stream));
    BENCH_CUSPARSE(cusparseDcsrilu02(handle_, rows_, nnz_, descriptor_, values_.data(), a.row_ptr.data(), a.col.data(),
                                     info_, POLICY, buffer_.data()));
    lower_->refresh(values_);
    upper_->refresh(values_);
  }
  void apply() const
  {
    lower_->solve();
    upper_->solve();
  }

private:
  static constexpr cusparseSolvePolicy_t POLICY = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  Problem                               &p_;
  Handle                                 handle_;
  DeviceArray<double>                    values_, y_;
  DeviceArray<char>                      buffer_;
  int                                    rows_, nnz_;
  cusparseMatDescr_t                     descriptor_ = nullptr;
  csrilu02Info_t                         info_       = nullptr;
  std::unique_ptr<PeerTriangle>          lower_, upper_;
};

Json measure_peer(Problem &p)
{
  Json r      = Json::object();
  r["kernel"] = "cusparse";
  try {
    PeerFactors peer(p);
    measure_phases(
        p, r, [&] { peer.analyse(); }, [&] { peer.factor(); }, [&] { peer.apply(); });
  } catch (const std::exception &e) {
    r["reason"] = e.what();
  }
  return r;
}

/* The largest difference, relative to the largest entry; infinity if one is not a number */
double difference(const Array<double> &a, const Array<double> &b)
{
  double largest = 0, worst = 0;

  for (std::size_t i = 0; i < a.size(); i++) {
    const double here = std::fabs(a[i] - b[i]);
    if (std::isnan(here)) return INFINITY;
    largest = std::fmax(largest, std::fabs(a[i]));
    worst   = std::fmax(worst, here);
  }
  return worst / largest;
}

MatrixResult measure(const Csr &a, const CommandLine &c, cudaStream_t stream)
{
  Problem      p(a, stream);
  MatrixResult m;
  const auto   add = [&](Json r) {
    r["matrix"] = a.name;
    std::fprintf(stderr, "  %s\n", r.text().c_str());
    m.records.push_back(std::move(r));
  };

  m.matrix         = Json::object();
  m.matrix["name"] = a.name;
  m.matrix["rows"] = a.rows;
  m.matrix["nnz"]  = a.nnz;
  for (const int blocks : c.blocks) {
    add(measure_own(p, blocks));
    if (!c.peers || blocks > 1) continue;
    const Array<double> own  = p.x.on_host();
    Json                r    = measure_peer(p);
    const double        away = difference(own, p.x.on_host());
    r["difference"]          = away;
    m.faults += !(away <= TOLERANCE);
    add(std::move(r));
  }
  return m;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  return bench::run_matrices("factor_bench", argc, argv,
                             {std::begin(bench::DEFAULT_MATRICES), std::end(bench::DEFAULT_MATRICES)}, bench::measure);
}
