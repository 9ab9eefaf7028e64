/*
  command_line.hpp - the options of spmv_bench
*/
#ifndef BENCH_COMMAND_LINE_HPP
#define BENCH_COMMAND_LINE_HPP

#include "matrix.hpp"

#include <functional>

namespace bench
{

struct CommandLine {
  std::vector<std::string> matrices, files, graphs, orders{"keep"}, formats;
  std::vector<int>         dofs{3}, blocks{1};
  std::string              out, commit = "unknown", write;
  double                   budget = 0; /* seconds; 0: unlimited */
  bool peers = true, convert_once = false, counts = false, list = false, probe = false, statistics = false,
       help = false;
};

/* Throws std::runtime_error for wrong usage. Without any matrix, file or graph, matrices are `defaults`, or without them
   the default set. */
CommandLine parse_command_line(int argc, const char *const *argv, const std::vector<std::string> &defaults = {});
std::string usage();

/* A matrix that is made just before it is measured; name is for messages */
struct MatrixSource {
  std::string          name;
  std::function<Csr()> make;
};
std::vector<MatrixSource> matrix_sources(const CommandLine &);

} // namespace bench
#endif
