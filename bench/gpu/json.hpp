/*
  json.hpp - JSON values over tools/json_text.h, for writing only; objects keep the order in which keys were set. A copy
  shares its text with the original.
*/
#ifndef BENCH_JSON_HPP
#define BENCH_JSON_HPP

#include <json_text.h>
#include <memory>
#include <string>
#include <type_traits>

namespace bench
{

class Json
{
public:
  struct Member {
    Json       &of;
    std::string key;
    template <class T>
    void operator=(const T &v)
    {
      of.set(key.c_str(), v);
    }
  };
  Json() { json_raw(text_.get(), nullptr, "null"); }
  template <class T>
  Json(const T &v)
  {
    set(nullptr, v);
  }
  /* With lines, each member has a line */
  static Json object(bool lines = false) { return Json('{', lines); }
  static Json array(bool lines = false) { return Json('[', lines); }

  Member      operator[](const std::string &key) { return {*this, key}; } /* set it once */
  void        push(const Json &v) { set(nullptr, v); }
  std::string text() const
  {
    JsonText  *j      = text_.get();
    const auto depth  = j->depth;
    const auto length = j->length;
    json_end_all(j);
    const std::string whole = j->text;
    j->depth                = depth;
    j->length               = length;
    return whole;
  }

private:
  Json(char bracket, bool lines)
  {
    text_->lines = lines;
    json_begin(text_.get(), nullptr, bracket);
  }
  template <class T>
  void set(const char *key, const T &v)
  {
    JsonText *j = text_.get();
    if constexpr (std::is_same<T, Json>::value) json_raw(j, key, v.text().c_str());
    else if constexpr (std::is_same<T, bool>::value) json_bool(j, key, v);
    else if constexpr (std::is_arithmetic<T>::value) json_number(j, key, static_cast<double>(v));
    else json_string(j, key, std::string(v).c_str());
  }
  static void free(JsonText *j)
  {
    json_free(j);
    delete j;
  }

  std::shared_ptr<JsonText> text_{new JsonText{}, free};
};

} // namespace bench
#endif
