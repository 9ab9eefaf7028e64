/*
  results.cpp - see results.hpp
*/
#include "results.hpp"
#include "clock.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench
{

void Results::add(const MatrixResult &r)
{
  matrices_.push(r.matrix);
  for (const auto &record : r.records) records_.push(record);
  write_file();
}

void Results::leave_out(const std::string &matrix, const std::string &reason)
{
  Json r      = Json::object();
  r["matrix"] = matrix;
  r["reason"] = reason;
  left_out_.push(std::move(r));
  write_file();
}

std::string Results::text() const
{
  Json all        = Json::object(true);
  all["schema"]   = 1;
  all["header"]   = header_;
  all["matrices"] = matrices_;
  all["records"]  = records_;
  all["left_out"] = left_out_;
  return all.text() + "\n";
}

void Results::write_file() const
{
  if (path_.empty()) return;
  std::ofstream file(path_);
  file << text();
  if (!file.flush()) throw std::runtime_error(path_ + ": cannot be written");
}

int measure_all(const std::vector<MatrixSource> &sources, double budget, Results &results,
                const std::function<MatrixResult(const Csr &)> &measure)
{
  const double begin  = wall_seconds();
  int          faults = 0;

  for (const auto &source : sources) {
    if (budget > 0 && wall_seconds() - begin > budget) {
      std::fprintf(stderr, "%s: left out, the budget of %g s is spent\n", source.name.c_str(), budget);
      results.leave_out(source.name, "budget");
      continue;
    }
    try {
      const Csr a = source.make();
      check_csr(a);
      std::fprintf(stderr, "%s: %lld rows, %lld nonzeros, %.1f MB, after %.1f s\n", a.name.c_str(),
                   static_cast<long long>(a.rows), static_cast<long long>(a.nnz),
                   static_cast<double>(csr_bytes(a)) * 1e-6, wall_seconds() - begin);
      if (a.nnz == 0) throw std::runtime_error("has no nonzeros: nothing to measure");
      const MatrixResult r = measure(a);
      faults += r.faults;
      results.add(r);
    } catch (const std::exception &e) {
      std::fprintf(stderr, "%s: FAILED: %s\n", source.name.c_str(), e.what());
      results.leave_out(source.name, e.what());
      faults++;
    }
  }
  return faults;
}

} // namespace bench
