/*
  measure.cu - see measure.hpp
*/
#include "measure.hpp"
#include "trial.hpp"

#include <algorithm>
#include <cstdio>
#include <spmv_kernels.h>
#include <stdexcept>

namespace bench
{
namespace
{

constexpr double MICRO = 1e6;

/* The usable entry with the least median time among those that choose() accepts, or null */
template <class Choose>
const Entry *fastest(const std::vector<Entry> &entries, const Choose &choose)
{
  const Entry *best = nullptr;

  for (const auto &e : entries)
    if (e.usable() && choose(e) && (!best || spread_of(e.warm).median < spread_of(best->warm).median)) best = &e;
  return best;
}

const Entry *named(const std::vector<Entry> &entries, const char *name)
{
  return fastest(entries, [name](const Entry &e) { return e.name == name; });
}

/* The kernel that runs by default: if the analysis declines, the library's plain CSR kernel, or, if that is not
   measured, the default of PETSc's aijcusparse */
const Entry *effective(const std::vector<Entry> &entries, const Entry &e)
{
  if (e.kernel->accepted) return &e;
  const Entry *crsv = named(entries, "crsv");
  return crsv ? crsv : named(entries, "cusparse_csr_alg1");
}

Json spread_json(const std::vector<double> &seconds)
{
  const Spread s = spread_of(seconds);
  Json         r = Json::object();

  r["median"] = s.median * MICRO;
  r["lower"]  = s.lower * MICRO;
  r["upper"]  = s.upper * MICRO;
  r["least"]  = s.least * MICRO;
  r["most"]   = s.most * MICRO;
  r["count"]  = static_cast<std::int64_t>(seconds.size());
  return r;
}

Json conversions_json(const Kernel &kernel, const Csr &a, double product, double upload)
{
  Json all = Json::object();

  for (const auto &c : kernel.conversions) {
    Json r = Json::object();
    if (!c.error.empty()) {
      r["error"] = c.error;
    } else {
      const bool         host  = c.source == "host";
      const std::int64_t given = host ? 0 : csr_bytes(a);
      r["us"]                  = c.seconds * MICRO;
      r["first_us"]            = c.first_seconds * MICRO;
      r["allocation_us"]       = c.allocation_seconds * MICRO;
      r["products"]            = c.seconds / product;
      if (host) r["products_without_upload"] = (c.seconds - upload) / product;
      r["peak_bytes"] = c.peak_bytes;
      /* relative to the CSR plus the format, which are held at the same time */
      r["peak_ratio"] =
          static_cast<double>(c.peak_bytes + given) / static_cast<double>(csr_bytes(a) + kernel.matrix_bytes);
    }
    all[c.source] = std::move(r);
  }
  return all;
}

/* Adds the timings of a kernel that passed */
void add_timings(Json &r, const Entry &e, const Csr &a)
{
  const double time  = spread_of(e.warm).median;
  const double bytes = static_cast<double>(e.kernel->matrix_bytes + 8 * (a.rows + a.cols));
  const double nnz   = static_cast<double>(a.nnz);

  r["us"]                = time * MICRO;
  r["gflops"]            = 2 * nnz / time * 1e-9;
  r["own_bytes"]         = bytes;
  r["own_bytes_per_s"]   = bytes / time;
  r["bytes_per_nonzero"] = static_cast<double>(e.kernel->matrix_bytes) / nnz;
  r["bytes_vs_csr"]      = static_cast<double>(e.kernel->matrix_bytes) / static_cast<double>(csr_bytes(a));
  r["warm_us"]           = spread_json(e.warm);
  r["cold_us"]           = spread_json(e.cold);
  r["general_us"]        = spread_json(e.general);
  r["error_bounds"]      = std::max(e.check.worst, e.general_check.worst);
  r["error_relative"]    = e.check.relative_two;
  r["bitwise_repeat"]    = e.repeat_differences == 0;
}

void add_own(Json &r, const std::vector<Entry> &entries, const Entry &e, const Csr &a, const Entry *peer, double upload)
{
  const double time = spread_of(e.warm).median;
  const Entry *used = effective(entries, e);

  r["accepted"]   = e.kernel->accepted;
  r["conversion"] = conversions_json(*e.kernel, a, time, upload);
  if (e.refreshable) {
    r["refresh_us"]       = spread_json(e.refresh);
    r["refresh_alone_us"] = spread_json(e.refresh_alone);
    r["refresh_products"] = spread_of(e.refresh).median / time;
  }
  if (!used) return;
  const double used_time = spread_of(used->warm).median;
  r["effective_kernel"]  = used->name;
  r["effective_us"]      = used_time * MICRO;
  if (peer) r["effective_speed"] = spread_of(peer->warm).median / used_time;
}

Json record_of(const std::vector<Entry> &entries, const Entry &e, const Csr &a, const Entry *peer, double upload)
{
  Json r = Json::object();

  r["matrix"] = a.name;
  r["kernel"] = e.name;
  if (!e.skipped.empty()) {
    r["skipped"] = e.skipped;
    return r;
  }
  r["ok"]  = e.usable();
  r["own"] = e.own;
  if (!e.error.empty()) r["error"] = e.error;
  if (!e.kernel) return r;
  if (e.usable()) {
    add_timings(r, e, a);
    if (peer) r["speed"] = spread_of(peer->warm).median / spread_of(e.warm).median;
    if (e.kernel->own) add_own(r, entries, e, a, peer, upload);
  }
  r["facts"] = e.kernel->facts;
  return r;
}

Json matrix_json(const Csr &a, const Entry *peer, double upload, double staged_upload)
{
  const RowStatistics rows = row_statistics(a.rows, a.row_ptr.data());
  Json                m    = Json::object();

  m["name"]             = a.name;
  m["group"]            = a.group;
  m["rows"]             = a.rows;
  m["cols"]             = a.cols;
  m["nnz"]              = a.nnz;
  m["csr_bytes"]        = csr_bytes(a);
  m["row_least"]        = rows.shortest;
  m["row_mean"]         = rows.mean;
  m["row_most"]         = rows.longest;
  m["upload_us"]        = upload * MICRO;
  m["staged_upload_us"] = staged_upload * MICRO;
  if (peer) {
    m["best_peer"]    = peer->name;
    m["best_peer_us"] = spread_of(peer->warm).median * MICRO;
  }
  return m;
}

void print_entry(const Entry &e, const Csr &a, const Entry *peer)
{
  if (!e.skipped.empty()) std::fprintf(stderr, "  %-28s skipped: %s\n", e.name.c_str(), e.skipped.c_str());
  else if (!e.usable()) std::fprintf(stderr, "  %-28s FAILED: %s\n", e.name.c_str(), e.error.c_str());
  else {
    const double time  = spread_of(e.warm).median;
    const double bytes = static_cast<double>(e.kernel->matrix_bytes + 8 * (a.rows + a.cols));
    std::fprintf(stderr, "  %-28s %9.1f us  %6.2fx  %5.2f TB/s  cold %9.1f us  bytes %.3f%s%s\n", e.name.c_str(),
                 time * MICRO, peer ? spread_of(peer->warm).median / time : 0.0, bytes / time * 1e-12,
                 spread_of(e.cold).median * MICRO,
                 static_cast<double>(e.kernel->matrix_bytes) / static_cast<double>(csr_bytes(a)),
                 e.repeat_differences ? "  bits vary" : "", e.kernel->accepted ? "" : "  declined");
  }
}

std::vector<Entry> make_entries(const Problem &p, const std::vector<KernelMaker> &makers)
{
  std::vector<Entry> entries;

  for (const auto &maker : makers) {
    Entry e;
    e.name = maker.name;
    e.own  = maker.own;
    try {
      e.kernel = maker.make(p, e.skipped);
    } catch (const std::runtime_error &error) {
      e.error = error.what();
    }
    entries.push_back(std::move(e));
  }
  return entries;
}

/* Uploads the CSR to new device memory in the same way as a conversion */
void upload_by_library(const Csr &a, cudaStream_t stream)
{
  SpmvExec   exec;
  const auto send = [&](const auto &host, auto device) {
    const auto bytes = static_cast<std::int64_t>(host.size() * sizeof(*host.data()));
    if (spmv_copy(device.data(), SPMV_DEVICE, host.data(), SPMV_HOST, bytes, &exec))
      throw std::runtime_error(exec.message);
    return device;
  };

  spmv_exec_init(&exec, SPMV_DEVICE);
  exec.stream        = stream;
  const auto row_ptr = send(a.row_ptr, DeviceArray<std::int32_t>(a.row_ptr.size()));
  const auto col     = send(a.col, DeviceArray<std::int32_t>(a.col.size()));
  const auto values  = send(a.values, DeviceArray<double>(a.values.size()));
  BENCH_CUDA(cudaStreamSynchronize(stream));
}

} // namespace

MatrixResult measure_matrix(const Csr &a, const std::vector<KernelMaker> &makers, cudaStream_t stream)
{
  MatrixResult               result;
  std::unique_ptr<DeviceCsr> device = std::make_unique<DeviceCsr>(a);
  /* timed the second time: the first time touches the pages on both sides */
  device.reset();
  const double upload = wall_seconds_of([&] { device = std::make_unique<DeviceCsr>(a); });
  upload_by_library(a, stream); /* allocates the pinned buffers, once per process */
  const double       staged_upload = wall_seconds_of([&] { upload_by_library(a, stream); });
  const Problem      problem{a, *device, stream};
  const Reference    reference = make_reference(a);
  Vectors            vectors(reference);
  std::vector<Entry> entries = make_entries(problem, makers);

  {
    DeviceArray<double> doubled(a.values.size());
    scale_values(doubled.data(), device->values.data(), 2, a.nnz, stream);
    for (auto &e : entries)
      if (e.usable()) verify(e, problem, reference, vectors, doubled);
  }
  time_in_turns(entries, problem, vectors);
  verify_again(entries, problem, reference, vectors);

  const Entry *peer = fastest(entries, [](const Entry &e) { return !e.kernel->own; });
  result.matrix     = matrix_json(a, peer, upload, staged_upload);
  for (const auto &e : entries) {
    result.faults += e.own && e.skipped.empty() && !e.usable();
    result.records.push_back(record_of(entries, e, a, peer, staged_upload));
    print_entry(e, a, peer);
  }
  return result;
}

} // namespace bench
