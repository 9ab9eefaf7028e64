/*
  results.hpp - the results of a run as JSON, and the loop over its matrices
*/
#ifndef BENCH_RESULTS_HPP
#define BENCH_RESULTS_HPP

#include "command_line.hpp"
#include "json.hpp"

namespace bench
{

struct MatrixResult {
  Json              matrix;  /* one object: name, sizes, and further facts */
  std::vector<Json> records; /* one object per kernel */
  int               faults = 0;
};

/* The results so far. They are written after each matrix, so that an interrupted run keeps its results. */
class Results
{
public:
  /* Without a path nothing is written */
  Results(const std::string &path, Json header) : path_(path), header_(std::move(header)) {}
  void        add(const MatrixResult &);
  void        leave_out(const std::string &matrix, const std::string &reason);
  std::string text() const;

private:
  void        write_file() const;
  std::string path_;
  Json        header_, matrices_ = Json::array(true), records_ = Json::array(true), left_out_ = Json::array(true);
};

/* Makes, checks and measures each matrix, and adds its results; after `budget` seconds (0: unlimited) the other
   matrices are left out. Returns the number of kernels and matrices that failed. */
int measure_all(const std::vector<MatrixSource> &, double budget, Results &,
                const std::function<MatrixResult(const Csr &)> &measure);

} // namespace bench
#endif
