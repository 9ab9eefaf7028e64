/* thrust::transform_iterator of the emulator: the i-th element is f(in[i]) */
#ifndef SPMV_EMULATED_TRANSFORM_ITERATOR_H
#define SPMV_EMULATED_TRANSFORM_ITERATOR_H

#include <iterator>
#include <type_traits>
#include <utility>

namespace thrust
{
template <typename F, typename In>
class transform_iterator
{
  F  f;
  In in;

public:
  typedef std::random_access_iterator_tag                                            iterator_category;
  typedef std::decay_t<decltype(std::declval<const F &>()(std::declval<In &>()[0]))> value_type, reference;
  typedef std::ptrdiff_t                                                             difference_type;
  typedef const value_type                                                          *pointer;

  transform_iterator(In i, F function) : f(function), in(i) {}
  value_type operator*() const { return f(in[0]); }
  template <typename I>
  value_type operator[](I i) const
  {
    return f(in[i]);
  }
  template <typename I>
  transform_iterator operator+(I i) const
  {
    return transform_iterator(in + i, f);
  }
};
template <typename F, typename In>
transform_iterator<F, In> make_transform_iterator(In in, F f)
{
  return transform_iterator<F, In>(in, f);
}
} // namespace thrust
#endif
