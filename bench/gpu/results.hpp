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
  Json              matrix;  /* one object: name, sizes, and what else the program says of it */
  std::vector<Json> records; /* one object per kernel */
  int               faults = 0;
};

/* The results so far; written after each matrix, so that a run that is stopped leaves what it measured */
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
  Json        header_, matrices_ = Json::array(), records_ = Json::array(), left_out_ = Json::array();
};

/* Makes and checks each matrix, measures it and adds what came of it; after budget seconds (0: no end) the rest is left
   out. Returns how many kernels or matrices failed. */
int measure_all(const std::vector<MatrixSource> &, double budget, Results &,
                const std::function<MatrixResult(const Csr &)> &measure);

} // namespace bench
#endif
