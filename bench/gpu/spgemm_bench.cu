/*
  spgemm_bench.cu - spgemm_bench: products A P and P^T A P of the library against cuSPARSE, for matrices of the
  catalogue and prolongators of smoothed aggregation (spgemm_case.hpp)

    spgemm_bench [--matrix family:size]... [--out file] [--commit text] [--no-peers] [--budget seconds]

  Measured for each: the times of the first symbolic phase, of later ones, and of the numeric phase; the bytes held, the
  scratch memory, and the decrease of free memory by cudaMemGetInfo() in the symbolic phase. The time to transpose P,
  which cuSPARSE needs, is not counted. Scratch memory is kept between numeric phases, as the plugin keeps it for a
  product that is computed a second time.
*/
#include "run_matrices.cuh"
#include "spgemm_case.hpp"
#include "spgemm_peer.cuh"
#include "status.hpp"
#include "timing.cuh"

#include <spmv_kernels.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace bench
{
namespace
{

constexpr int    SYMBOLIC_RUNS = 5, NUMERIC_RUNS = 20;
constexpr double TOLERANCE = 1e-12; /* for each value, relative to the largest absolute value of the result */

const char *const DEFAULT_MATRICES[] = {"tet3_natural:68", "tet3_rcm:68",    "hex3:60",      "tet3_natural:16",
                                        "stencil7:120",    "p1_natural:100", "stencil27:80", "stencil7:16"};

/* Keeps scratch memory for a scope */
class KeptScratch
{
public:
  KeptScratch() { spmv_scratch_hold(); }
  ~KeptScratch() { spmv_scratch_release(); }
  KeptScratch(const KeptScratch &)            = delete;
  KeptScratch &operator=(const KeptScratch &) = delete;
};

/* A result on the host */
struct Product {
  Array<std::int32_t> row_ptr, col;
  Array<double>       values;
};

/* Patterns must be equal, and values may differ by rounding; returns a message about a fault, or "" */
std::string compare(const Product &own, const Product &peer)
{
  double largest = 0, worst = 0;

  if (own.row_ptr.bytes() != peer.row_ptr.bytes() || own.col.bytes() != peer.col.bytes() ||
      std::memcmp(own.row_ptr.data(), peer.row_ptr.data(), own.row_ptr.bytes()) != 0 ||
      std::memcmp(own.col.data(), peer.col.data(), own.col.bytes()) != 0)
    return "patterns differ";
  for (std::size_t k = 0; k < own.values.size(); k++) {
    largest = std::fmax(largest, std::fabs(peer.values[k]));
    worst   = std::fmax(worst, std::fabs(own.values[k] - peer.values[k]));
    if (std::isnan(own.values[k])) return "a value is not a number";
  }
  return worst <= TOLERANCE * largest ? "" : "values differ by " + std::to_string(worst);
}

SpmvPattern device_pattern(const Csr &host, const DeviceCsr &m)
{
  return {host.rows, host.cols, host.nnz, SPMV_I32, SPMV_DEVICE, m.row_ptr.data(), m.col.data()};
}

Json measure_own(SpmvSpgemmKind kind, const Csr &a, const Csr &p, cudaStream_t stream, Product &result, int &faults)
{
  const DeviceCsr   there_a(a), there_p(p);
  const SpmvPattern pattern_a = device_pattern(a, there_a), pattern_p = device_pattern(p, there_p);
  ::SpmvSpgemm     *product = nullptr;
  SpmvExec          exec;
  SpmvPattern       c;
  Json              r = Json::object();

  spmv_exec_init(&exec, SPMV_DEVICE);
  exec.stream         = stream;
  const auto symbolic = [&] {
    spmv_spgemm_destroy(&product);
    check(spmv_spgemm_symbolic(kind, &pattern_a, &pattern_p, SPMV_F64, &exec, &product), exec);
  };
  const std::int64_t before = free_bytes();
  r["kernel"]               = "spmvpack";
  r["symbolic_first_s"]     = wall_seconds_of(symbolic);
  r["device_bytes"]         = before - free_bytes();
  r["symbolic_s"]           = median_seconds(SYMBOLIC_RUNS, symbolic);
  spmv_spgemm_pattern(product, &c);
  DeviceArray<double> values(static_cast<std::size_t>(c.nnz)), again(static_cast<std::size_t>(c.nnz));
  const auto          numeric = [&](DeviceArray<double> &to) {
    check(spmv_spgemm_numeric(product, there_a.values.data(), there_p.values.data(), to.data(), &exec), exec);
  };
  {
    const KeptScratch kept;
    numeric(again);
    r["numeric_s"] = median_seconds(NUMERIC_RUNS, [&] { numeric(values); });
  }
  std::int64_t bytes, scratch;
  double       flops;
  spmv_spgemm_info(product, &bytes, &scratch, &flops);
  r["held_bytes"]     = bytes;
  r["scratch_bytes"]  = scratch;
  r["flops"]          = flops;
  r["nnz"]            = c.nnz;
  const bool the_same = differing(values.data(), again.data(), c.nnz, stream) == 0;
  r["repeatable"]     = the_same;
  faults += !the_same;
  result.row_ptr = Array<std::int32_t>(static_cast<std::size_t>(c.rows) + 1);
  result.col     = Array<std::int32_t>(static_cast<std::size_t>(c.nnz));
  result.values  = values.on_host();
  BENCH_CUDA(cudaMemcpy(result.row_ptr.data(), c.row_ptr, result.row_ptr.bytes(), cudaMemcpyDeviceToHost));
  BENCH_CUDA(cudaMemcpy(result.col.data(), c.col, result.col.bytes(), cudaMemcpyDeviceToHost));
  spmv_spgemm_destroy(&product);
  return r;
}

/* The matrices and products of cuSPARSE for A P, or P^T (A P) */
struct Peer {
  PeerMatrix                   a, p, pt, ap, c;
  std::unique_ptr<PeerProduct> first, second;

  Peer(const Csr &a_, const Csr &p_, const Csr &pt_) : a(a_), p(p_), pt(pt_), ap(a_.rows, p_.cols), c(p_.cols, p_.cols)
  {
  }
  void symbolic(SpmvSpgemmKind kind, cudaStream_t stream)
  {
    first = std::make_unique<PeerProduct>(stream, a, p, ap);
    first->symbolic();
    if (kind == SPMV_SPGEMM_AB) return;
    second = std::make_unique<PeerProduct>(stream, pt, ap, c);
    second->symbolic();
  }
  void numeric()
  {
    first->numeric();
    if (second) second->numeric();
  }
};

Json measure_peer(SpmvSpgemmKind kind, const Csr &a, const Csr &p, cudaStream_t stream, const Product &own, int &faults)
{
  const Csr pt = transposed(p);
  Peer      peer(a, p, pt);
  Json      r = Json::object();

  const std::int64_t before = free_bytes();
  r["kernel"]               = "cusparse";
  r["symbolic_first_s"]     = wall_seconds_of([&] { peer.symbolic(kind, stream); });
  r["device_bytes"]         = before - free_bytes();
  peer.numeric();
  r["numeric_s"]      = median_seconds(NUMERIC_RUNS, [&] { peer.numeric(); });
  const PeerMatrix &c = kind == SPMV_SPGEMM_AB ? peer.ap : peer.c;
  r["nnz"]            = c.nnz;
  const Product other = {c.row_ptr.on_host(), c.col.on_host(), c.values.on_host()};
  r["fault"]          = compare(own, other);
  faults += !compare(own, other).empty();
  return r;
}

/* A failure of the peer, such as running out of memory, is recorded and is not a fault */
Json measure_peer_or_say(SpmvSpgemmKind kind, const Csr &a, const Csr &p, cudaStream_t stream, const Product &own,
                         int &faults)
{
  try {
    return measure_peer(kind, a, p, stream, own, faults);
  } catch (const std::exception &e) {
    Json r      = Json::object();
    r["kernel"] = "cusparse";
    r["reason"] = e.what();
    return r;
  }
}

MatrixResult measure(const Csr &a, const CommandLine &c, cudaStream_t stream)
{
  const Csr    p = make_prolongator(a);
  MatrixResult m;

  m.matrix           = Json::object();
  m.matrix["name"]   = a.name;
  m.matrix["rows"]   = a.rows;
  m.matrix["nnz"]    = a.nnz;
  m.matrix["p_cols"] = p.cols;
  m.matrix["p_nnz"]  = p.nnz;
  for (const auto kind : {SPMV_SPGEMM_PTAP, SPMV_SPGEMM_AB}) {
    Product    own;
    const auto add = [&](Json r) {
      r["matrix"]  = a.name;
      r["product"] = kind == SPMV_SPGEMM_AB ? "A P" : "P^T A P";
      std::fprintf(stderr, "  %s\n", r.text().c_str());
      m.records.push_back(std::move(r));
    };
    add(measure_own(kind, a, p, stream, own, m.faults));
    if (c.peers) add(measure_peer_or_say(kind, a, p, stream, own, m.faults));
  }
  return m;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  return bench::run_matrices("spgemm_bench", argc, argv,
                             {std::begin(bench::DEFAULT_MATRICES), std::end(bench::DEFAULT_MATRICES)}, bench::measure);
}
