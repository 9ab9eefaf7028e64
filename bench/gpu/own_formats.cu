/*
  own_formats.cu - the formats of the library as kernels of the benchmark, by include/spmv_kernels.h only

  Each conversion is made several times, and its least time is reported, because the first one includes loading device
  code. Allocation hooks count device memory, so that the peak is exact.
*/
#include "kernel.hpp"

#include "spmv_kernels.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace bench
{
namespace
{

constexpr int CONVERSIONS = 3; /* repetitions */

/* Counts the memory that the library allocates. Its address is the context of the hooks, so it must not move. */
class TrackedMemory
{
public:
  TrackedMemory() { spmv_exec_init(&plain_, SPMV_DEVICE); }
  SpmvAllocator hooks() { return {allocate, release, this}; }
  void          begin()
  {
    peak_    = live_;
    start_   = live_;
    seconds_ = 0;
  }
  std::int64_t peak() const { return peak_ - start_; }
  double       seconds() const { return seconds_; }

private:
  static void *allocate(void *ctx, std::size_t bytes)
  {
    auto        *self  = static_cast<TrackedMemory *>(ctx);
    const double begin = wall_seconds();
    void        *block = nullptr;

    if (spmv_alloc(&self->plain_, SPMV_DEVICE, static_cast<std::int64_t>(bytes), "block", &block)) return nullptr;
    self->size_[block] = static_cast<std::int64_t>(bytes);
    self->live_ += static_cast<std::int64_t>(bytes);
    self->peak_ = std::max(self->peak_, self->live_);
    self->seconds_ += wall_seconds() - begin;
    return block;
  }
  static void release(void *ctx, void *block)
  {
    auto        *self  = static_cast<TrackedMemory *>(ctx);
    const double begin = wall_seconds();

    if (!block) return;
    self->live_ -= self->size_[block];
    self->size_.erase(block);
    spmv_exec_free(&self->plain_, SPMV_DEVICE, block);
    self->seconds_ += wall_seconds() - begin;
  }
  std::unordered_map<void *, std::int64_t> size_;
  std::int64_t                             live_ = 0, peak_ = 0, start_ = 0;
  double                                   seconds_ = 0;
  SpmvExec                                 plain_; /* without hooks */
};

struct Choice {
  std::string name;
  SpmvOptions options;
};

enum class Source { device, host };
const struct {
  Source      source;
  const char *name;
} sources[] = {{Source::device, "device"}, {Source::host, "host"}};

SpmvCsr csr_from(const Problem &p, Source source)
{
  const bool device = source == Source::device;
  SpmvCsr    a{};

  a.pattern.rows       = p.host.rows;
  a.pattern.cols       = p.host.cols;
  a.pattern.nnz        = p.host.nnz;
  a.pattern.index_type = SPMV_I32;
  a.pattern.space      = device ? SPMV_DEVICE : SPMV_HOST;
  a.pattern.row_ptr    = device ? p.device.row_ptr.data() : p.host.row_ptr.data();
  a.pattern.col        = device ? p.device.col.data() : p.host.col.data();
  a.scalar_type        = SPMV_F64;
  a.values_space       = a.pattern.space;
  a.values             = device ? p.device.values.data() : p.host.values.data();
  return a;
}

class FormatKernel : public Kernel
{
public:
  FormatKernel(const Problem &p, const Choice &choice, bool convert_once)
      : format_(choice.options.format), options_(choice.options)
  {
    name       = choice.name;
    own        = true;
    repeatable = true;
    spmv_exec_init(&exec_, SPMV_DEVICE);
    exec_.stream = p.stream;
    exec_.device = memory_.hooks();
    for (const auto &s : sources)
      if (!convert_once || &s == sources) measure_conversion(p, s.source, s.name, convert_once ? 1 : CONVERSIONS);
    if (!plan_) throw std::runtime_error("no conversion: " + conversions.front().error);
    const SpmvMemory &m    = plan_->memory;
    work_                  = DeviceArray<char>(static_cast<std::size_t>(m.work_bytes));
    matrix_bytes           = m.total_bytes;
    facts["padding_bytes"] = m.padding_bytes;
    facts["work_bytes"]    = m.work_bytes;
    facts["host_bytes"]    = m.host_bytes;
    Json arrays            = Json::object();
    for (int i = 0; i < m.count; i++) arrays[m.array[i].name] = m.array[i].bytes;
    facts["arrays"] = std::move(arrays);
  }
  ~FormatKernel() override { spmv_destroy(&plan_); }
  void mult(double alpha, const double *x, double beta, double *y) override
  {
    check(spmv_mult(plan_, &alpha, x, &beta, y, work_.data(), &exec_), "mult");
  }
  bool update_values(const double *values) override
  {
    check(spmv_update_values(plan_, values, SPMV_DEVICE, &exec_), "update_values");
    return true;
  }

private:
  void check(SpmvStatus status, const char *what)
  {
    if (status) throw std::runtime_error(std::string(what) + ": " + spmv_status_text(status) + ": " + exec_.message);
  }
  /* Analyzes and builds a plan, and keeps the facts of the analysis for the results */
  SpmvPlan *convert(const SpmvCsr &a)
  {
    SpmvAnalysis analysis;
    SpmvPlan    *plan = nullptr;

    check(spmv_analyze(format_, &a.pattern, a.scalar_type, &options_, &exec_, &analysis), "analyze");
    accepted        = analysis.accepted != 0;
    facts["reason"] = std::string(analysis.reason);
    if (!plan_) facts["predicted_bytes"] = analysis.memory.total_bytes;
    const SpmvStatus status = spmv_build(&a, &analysis, &exec_, &plan);
    spmv_analysis_clear(&analysis, &exec_);
    check(status, "build");
    return plan;
  }
  /* Times the conversion from one source; the plan of the first source that works is measured */
  void measure_conversion(const Problem &p, Source source, const char *source_name, int times)
  {
    const SpmvCsr a = csr_from(p, source);
    Conversion    c;

    c.source = source_name;
    try {
      for (int i = 0; i < times; i++) {
        SpmvPlan *plan = nullptr;
        memory_.begin();
        const double seconds = wall_seconds_of([&] { plan = convert(a); });
        if (i == 0) c.first_seconds = seconds;
        if (i == 0 || seconds < c.seconds) {
          c.seconds            = seconds;
          c.allocation_seconds = memory_.seconds();
        }
        c.peak_bytes = memory_.peak();
        if (!plan_) plan_ = plan;
        else spmv_destroy(&plan);
      }
    } catch (const std::runtime_error &e) {
      c.error = e.what();
    }
    conversions.push_back(c);
  }

  TrackedMemory     memory_;
  const SpmvFormat *format_;
  SpmvOptions       options_;
  SpmvExec          exec_;
  SpmvPlan         *plan_ = nullptr;
  DeviceArray<char> work_;
};

std::vector<std::string> split(const std::string &text, char separator)
{
  std::vector<std::string> r;
  std::size_t              begin = 0;

  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    r.push_back(text.substr(begin, end - begin));
  r.push_back(text.substr(begin));
  return r;
}

/* name[:option=value...] */
Choice parse(const std::string &text)
{
  const auto        parts  = split(text, ':');
  const SpmvFormat *format = spmv_format_find(parts[0].c_str());
  char              message[SPMV_MESSAGE_MAX];
  Choice            choice;

  if (!format) throw std::runtime_error("unknown format '" + parts[0] + "'");
  if (!format->device) throw std::runtime_error("format '" + parts[0] + "' has no device kernels here");
  choice.name = text;
  spmv_options_init(&choice.options, format);
  for (std::size_t i = 1; i < parts.size(); i++) {
    const auto equals = parts[i].find('=');
    if (equals == std::string::npos)
      throw std::runtime_error("'" + parts[i] + "' in '" + text + "' is not option=value");
    if (spmv_options_set_text(&choice.options, parts[i].substr(0, equals).c_str(), parts[i].substr(equals + 1).c_str(),
                              message))
      throw std::runtime_error(message);
  }
  return choice;
}

/* Every format with device kernels */
std::vector<std::string> all_formats()
{
  std::vector<std::string> r;

  for (int i = 0; i < spmv_format_count(); i++)
    if (spmv_format_get(i)->device) r.push_back(spmv_format_get(i)->name);
  return r;
}

} // namespace

std::vector<KernelMaker> own_formats(const std::vector<std::string> &texts, bool convert_once)
{
  std::vector<KernelMaker> r;

  for (const auto &text : texts.empty() ? all_formats() : texts) {
    const Choice choice = parse(text);
    r.push_back({text,
                 [choice, convert_once](const Problem &p, std::string &) {
                   return std::make_unique<FormatKernel>(p, choice, convert_once);
                 },
                 true});
  }
  return r;
}

} // namespace bench
