/*
  parallel.hpp - loops over independent items on all cores, by lambdas
*/
#ifndef BENCH_PARALLEL_HPP
#define BENCH_PARALLEL_HPP

#include "gen.h"
#include "parallel.h"

#include <algorithm>
#include <cstdint>

namespace bench
{

/* Calls body(begin, end) for ranges that cover 0 .. n-1; free threads take the next range. body must not throw. */
template <class Body>
void parallel_ranges(std::int64_t n, const Body &body)
{
  gen_parallel(
      n, [](void *context, std::int64_t begin, std::int64_t end) { (*static_cast<const Body *>(context))(begin, end); },
      const_cast<void *>(static_cast<const void *>(&body)));
}

/* A number uniform in [-1, 1) that depends on its position only */
inline double signed_uniform(std::uint64_t position) { return 2 * gen_fraction(position) - 1; }

} // namespace bench
#endif
