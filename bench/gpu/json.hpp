/*
  json.hpp - JSON values for writing only; objects keep the order in which keys were set
*/
#ifndef BENCH_JSON_HPP
#define BENCH_JSON_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench
{

class Json
{
public:
  Json() = default; /* null */
  Json(bool v) : text_(v ? "true" : "false") {}
  Json(double v);
  Json(std::int64_t v) : text_(std::to_string(v)) {}
  Json(int v) : text_(std::to_string(v)) {}
  Json(const std::string &v) : text_(quoted(v)) {}
  Json(const char *v) : text_(quoted(v)) {}
  static Json object();
  static Json array();

  /* The member of an object; a new member is null */
  Json &operator[](const std::string &key);
  void  push(Json v) { items_.emplace_back(std::string(), std::move(v)); }
  /* Arrays and objects of the outer `broken_levels` levels have one line per element; inner ones are on one line */
  std::string text(int broken_levels = 2, int indent = 0) const;

private:
  enum class Kind { scalar, object, array };
  static std::string quoted(const std::string &);

  Kind                                      kind_ = Kind::scalar;
  std::string                               text_ = "null";
  std::vector<std::pair<std::string, Json>> items_;
};

} // namespace bench
#endif
