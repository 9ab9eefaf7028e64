/*
  clock.hpp - wall time, and the date for results
*/
#ifndef BENCH_CLOCK_HPP
#define BENCH_CLOCK_HPP

#include <chrono>
#include <ctime>
#include <string>

namespace bench
{

/* Seconds since an arbitrary moment */
inline double wall_seconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::string utc_now()
{
  char              text[32];
  const std::time_t now = std::time(nullptr);

  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

} // namespace bench
#endif
