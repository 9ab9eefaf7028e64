/*
  fold_paper_fold.cu - format fold as a kernel of fold_paper, by include/spmv_kernels.h only
*/
#include "fold_paper.hpp"

#include "spmv_kernels.h"

#include <cstring>

namespace bench
{
namespace
{

constexpr int TABLE_LANES = 32; /* rows of a slice of the table */

/* Key and text of an option */
using Settings = std::vector<std::pair<const char *, const char *>>;

const Settings PUBLISHED = {{"q", "1.5"}, {"layout", "uniform"}};
const Settings GATHERED  = {{"q", "1.5"}, {"layout", "uniform"}, {"gather", "device"}};
const Settings AUTOMATIC = {};
const Settings UNFOLDED  = {{"q", "1000000"}, {"layout", "uniform"}};

SpmvOptions fold_options(const Settings &settings)
{
  const SpmvFormat *format = spmv_format_find("fold");
  char              message[SPMV_MESSAGE_MAX];
  SpmvOptions       options;

  if (!format) throw std::runtime_error("the library has no format fold");
  spmv_options_init(&options, format);
  for (const auto &s : settings)
    if (spmv_options_set_text(&options, s.first, s.second, message)) throw std::runtime_error(message);
  return options;
}

void check(SpmvStatus status, const SpmvExec &exec, const char *what)
{
  if (status) throw std::runtime_error(std::string(what) + ": " + spmv_status_text(status) + ": " + exec.message);
}

SpmvPattern host_pattern(const Csr &a)
{
  SpmvPattern p{};

  p.rows       = a.rows;
  p.cols       = a.cols;
  p.nnz        = a.nnz;
  p.index_type = SPMV_I32;
  p.space      = SPMV_HOST;
  p.row_ptr    = a.row_ptr.data();
  p.col        = a.col.data();
  return p;
}

template <class T>
SpmvCsr device_csr(const TypedMatrix<T> &m)
{
  SpmvCsr a{};

  a.pattern         = host_pattern(m.host);
  a.pattern.space   = SPMV_DEVICE;
  a.pattern.row_ptr = m.row_ptr.data();
  a.pattern.col     = m.col.data();
  a.scalar_type     = sizeof(T) == 4 ? SPMV_F32 : SPMV_F64;
  a.values_space    = SPMV_DEVICE;
  a.values          = m.values.data();
  return a;
}

std::int64_t bytes_of(const SpmvMemory &m, const char *array)
{
  for (int i = 0; i < m.count; i++)
    if (std::strcmp(m.array[i].name, array) == 0) return m.array[i].bytes;
  throw std::runtime_error(std::string("format fold reports no array ") + array);
}

template <class T>
class FoldRival : public Rival<T>
{
public:
  FoldRival(const TypedMatrix<T> &m, const Settings &settings)
  {
    const SpmvOptions options = fold_options(settings);
    const SpmvCsr     a       = device_csr(m);
    SpmvAnalysis      analysis;

    spmv_exec_init(&exec_, SPMV_DEVICE);
    exec_.stream = m.stream;
    check(spmv_analyze(options.format, &a.pattern, a.scalar_type, &options, &exec_, &analysis), exec_, "analyze");
    this->facts["accepted"] = analysis.accepted != 0;
    this->facts["reason"]   = std::string(analysis.reason);
    const SpmvStatus status = spmv_build(&a, &analysis, &exec_, &plan_);
    spmv_analysis_clear(&analysis, &exec_);
    check(status, exec_, "build");
    const SpmvMemory &memory  = plan_->memory;
    this->matrix_bytes        = memory.total_bytes;
    this->facts["work_bytes"] = memory.work_bytes;
    work_                     = DeviceArray<char>(static_cast<std::size_t>(memory.work_bytes));
  }
  ~FoldRival() override { spmv_destroy(&plan_); }
  void mult(const T *x, T *y) override
  {
    const T one = 1, zero = 0;

    check(spmv_mult(plan_, &one, x, &zero, y, work_.data(), &exec_), exec_, "mult");
  }

private:
  SpmvExec          exec_;
  SpmvPlan         *plan_ = nullptr;
  DeviceArray<char> work_;
};

template <class T>
RivalMaker<T> fold_maker(const char *name, const Settings &settings)
{
  return {name, [&settings](const TypedMatrix<T> &m, std::string &) -> std::unique_ptr<Rival<T>> {
            return std::make_unique<FoldRival<T>>(m, settings);
          }};
}

template <class T>
RivalMaker<T> ell_maker(const char *name)
{
  return {name, [](const TypedMatrix<T> &m, std::string &reason) -> std::unique_ptr<Rival<T>> {
            const std::int64_t lanes  = (m.host.rows + TABLE_LANES - 1) / TABLE_LANES * TABLE_LANES;
            const double       stored = static_cast<double>(lanes) *
                                  static_cast<double>(row_statistics(m.host.rows, m.host.row_ptr.data()).longest);
            if (stored > MAX_FILL * static_cast<double>(m.host.nnz)) {
              reason = "fill " + std::to_string(stored / static_cast<double>(m.host.nnz));
              return nullptr;
            }
            return std::make_unique<FoldRival<T>>(m, UNFOLDED);
          }};
}

} // namespace

template <class T>
std::vector<RivalMaker<T>> fold_rivals()
{
  return {fold_maker<T>("fold_published", PUBLISHED), fold_maker<T>("fold_gathered", GATHERED),
          fold_maker<T>("fold_auto", AUTOMATIC), ell_maker<T>("ell")};
}
template std::vector<RivalMaker<float>>  fold_rivals<float>();
template std::vector<RivalMaker<double>> fold_rivals<double>();

Json count_table(const Csr &a)
{
  const SpmvOptions   options = fold_options(PUBLISHED);
  const SpmvPattern   pattern = host_pattern(a);
  const RowStatistics rows    = row_statistics(a.rows, a.row_ptr.data());
  SpmvExec            exec;
  SpmvAnalysis        analysis;
  Json                r = Json::object();

  spmv_exec_init(&exec, SPMV_HOST);
  check(spmv_analyze(options.format, &pattern, SPMV_F64, &options, &exec, &analysis), exec, "analyze");
  const SpmvMemory memory = analysis.memory;
  spmv_analysis_clear(&analysis, &exec);
  const std::int64_t slice_ptr = bytes_of(memory, "slice_ptr") / 8;
  const std::int64_t entries   = bytes_of(memory, "columns") / 4;
  const std::int64_t lanes     = TABLE_LANES * (slice_ptr - 1);
  const std::int64_t width     = lanes > 0 ? entries / lanes : 0;

  r["name"]       = a.name;
  r["rows"]       = a.rows;
  r["nnz"]        = a.nnz;
  r["longest"]    = rows.longest;
  r["mean"]       = rows.mean;
  r["width"]      = width;
  r["table_rows"] = lanes;
  if (a.rows > 0) r["rows_growth"] = static_cast<double>(lanes) / static_cast<double>(a.rows);
  if (width > 0) r["loop_reduction"] = static_cast<double>(rows.longest) / static_cast<double>(width);
  return r;
}

} // namespace bench
