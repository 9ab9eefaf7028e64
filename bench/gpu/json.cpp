/*
  json.cpp - see json.hpp
*/
#include "json.hpp"

#include <cmath>
#include <cstdio>

namespace bench
{

/* JSON has no NaN and no infinity: they are written as null */
Json::Json(double v)
{
  char buffer[32];

  if (!std::isfinite(v)) return;
  std::snprintf(buffer, sizeof buffer, "%.10g", v);
  text_ = buffer;
}

Json Json::object()
{
  Json v;
  v.kind_ = Kind::object;
  return v;
}

Json Json::array()
{
  Json v;
  v.kind_ = Kind::array;
  return v;
}

Json &Json::operator[](const std::string &key)
{
  for (auto &item : items_)
    if (item.first == key) return item.second;
  items_.emplace_back(key, Json());
  return items_.back().second;
}

std::string Json::quoted(const std::string &v)
{
  std::string r = "\"";

  for (const char c : v) {
    char escape[8];
    if (c == '"' || c == '\\') (r += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      r += escape;
    } else r += c;
  }
  return r + '"';
}

std::string Json::text(int broken_levels, int indent) const
{
  if (kind_ == Kind::scalar) return text_;
  const bool        broken = broken_levels > 0 && !items_.empty(), object = kind_ == Kind::object;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string       r = object ? "{" : "[";

  for (std::size_t i = 0; i < items_.size(); i++) {
    if (i > 0) r += broken ? "," : ", ";
    if (broken) r += "\n " + margin;
    if (object) r += quoted(items_[i].first) + ": ";
    r += items_[i].second.text(broken_levels - 1, indent + 1);
  }
  if (broken) r += "\n" + margin;
  return r + (object ? "}" : "]");
}

} // namespace bench
