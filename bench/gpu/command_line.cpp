/*
  command_line.cpp - see command_line.hpp
*/
#include "command_line.hpp"
#include "catalog.hpp"
#include "gen_published.h"
#include "readers.hpp"

#include <stdexcept>

namespace bench
{
namespace
{

std::vector<std::string> split_at_commas(const std::string &text)
{
  std::vector<std::string> r;
  std::size_t              begin = 0;

  for (std::size_t end; (end = text.find(',', begin)) != std::string::npos; begin = end + 1)
    r.push_back(text.substr(begin, end - begin));
  r.push_back(text.substr(begin));
  return r;
}

double number(const std::string &option, const std::string &text, double least)
{
  std::size_t used = 0;
  double      v    = 0;

  try {
    v = std::stod(text, &used);
  } catch (const std::exception &) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !(v >= least))
    throw std::runtime_error(option + " needs a number of at least " + std::to_string(least) + ", not '" + text + "'");
  return v;
}

std::vector<int> numbers(const std::string &option, const std::string &value)
{
  std::vector<int> r;

  for (const auto &text : split_at_commas(value)) r.push_back(static_cast<int>(number(option, text, 1)));
  return r;
}

/* Handles options with a value; false for an unknown option */
bool take_value(CommandLine &c, const std::string &option, const std::string &value)
{
  if (option == "--set") {
    for (auto &name : matrix_set(value)) c.matrices.push_back(name);
  } else if (option == "--matrix") c.matrices.push_back(value);
  else if (option == "--file") c.files.push_back(value);
  else if (option == "--graph") c.graphs.push_back(value);
  else if (option == "--order") c.orders = split_at_commas(value);
  else if (option == "--dof") c.dofs = numbers(option, value);
  else if (option == "--blocks") c.blocks = numbers(option, value);
  else if (option == "--formats") c.formats = split_at_commas(value);
  else if (option == "--out") c.out = value;
  else if (option == "--commit") c.commit = value;
  else if (option == "--budget") c.budget = number(option, value, 0);
  else if (option == "--write") c.write = value;
  else return false;
  return true;
}

bool take_flag(CommandLine &c, const std::string &option)
{
  if (option == "--no-peers") c.peers = false;
  else if (option == "--convert-once") c.convert_once = true;
  else if (option == "--list") c.list = true;
  else if (option == "--probe") c.probe = true;
  else if (option == "--statistics") c.statistics = true;
  else if (option == "--counts") c.counts = true;
  else if (option == "--shapes")
    for (const auto &shape : published_shapes) c.matrices.push_back(std::string("shape:") + shape.name);
  else if (option == "--help") c.help = true;
  else return false;
  return true;
}

Csr graph_matrix(const std::string &path, const std::string &order, int dofs)
{
  Graph      g     = read_graph(path);
  const auto slash = path.find_last_of('/');

  if (order == "rcm") g = own(gen_graph_ordered(g.get(), GEN_RCM));
  if (order == "random") g = own(gen_graph_ordered(g.get(), GEN_SHUFFLED));
  Csr a   = make_matrix(gen_on_graph(g.get(), dofs));
  a.name  = (slash == std::string::npos ? path : path.substr(slash + 1)) + ":" + order + ":" + std::to_string(dofs);
  a.group = dofs == 1 ? "fem1" : "fem3-unstructured";
  if (order == "random") a.group = dofs == 1 ? "fem1-random-order" : "fem3-random-order";
  return a;
}

} // namespace

std::string usage()
{
  return "spmv_bench: sparse matrix times vector on one GPU, formats of the library against cuSPARSE\n"
         "  --set small|default|large   matrices of a set (default without --matrix, --file and --graph)\n"
         "  --matrix family[:size]      one matrix; may be given several times; --list shows the families\n"
         "  --matrix shape:name         one of the shapes of the Fold paper (shape:F1, ...); --shapes: all of them\n"
         "  --counts                    fold_paper: only the sizes of the tables of fold (no GPU needed)\n"
         "  --file path                 PETSc binary, or Matrix Market (.mtx)\n"
         "  --graph path                node graph (int32 nodes, entries, pointers, neighbours)\n"
         "  --order keep,rcm,random     node orders of a graph (keep)\n"
         "  --dof 1,3                   dofs per node of a graph (3)\n"
         "  --blocks 1,132              factor_bench: numbers of blocks of rows (1)\n"
         "  --formats a:option=v,b      formats of the library (all with device kernels)\n"
         "  --no-peers                  without cuSPARSE\n"
         "  --convert-once              a single conversion, from the device, for sweeps over many options\n"
         "  --budget seconds            do not begin another matrix after this time\n"
         "  --out file                  results as JSON, rewritten after each matrix (standard output at the end)\n"
         "  --commit text               recorded in the results\n"
         "  --probe                     only print the GPU\n"
         "  --list, --statistics        families and sets; sizes and row lengths of the matrices (no GPU needed)\n"
         "  --write file                write the given matrix as PETSc binary (no GPU needed)\n"
         "Exit status: 0 all checks passed, 1 a format of the library or a matrix failed, 2 wrong usage, 77 no usable "
         "GPU.\n";
}

CommandLine parse_command_line(int argc, const char *const *argv, const std::vector<std::string> &defaults)
{
  CommandLine c;

  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    if (take_flag(c, option)) continue;
    if (i + 1 >= argc) throw std::runtime_error("unknown option or missing value: '" + option + "'");
    if (!take_value(c, option, argv[++i])) throw std::runtime_error("unknown option '" + option + "'");
  }
  for (const auto &order : c.orders)
    if (order != "keep" && order != "rcm" && order != "random")
      throw std::runtime_error("unknown order '" + order + "'");
  if (c.matrices.empty() && c.files.empty() && c.graphs.empty())
    c.matrices = defaults.empty() ? matrix_set("default") : defaults;
  if (!c.write.empty() && matrix_sources(c).size() != 1) throw std::runtime_error("--write needs exactly one matrix");
  return c;
}

std::vector<MatrixSource> matrix_sources(const CommandLine &c)
{
  std::vector<MatrixSource> r;

  for (const auto &path : c.files) r.push_back({path, [path] { return read_matrix(path); }});
  for (const auto &path : c.graphs)
    for (const auto &order : c.orders)
      for (const int dofs : c.dofs) r.push_back({path + " " + order, [=] { return graph_matrix(path, order, dofs); }});
  for (const auto &name : c.matrices) r.push_back({name, [name] { return make_matrix(name); }});
  return r;
}

} // namespace bench
