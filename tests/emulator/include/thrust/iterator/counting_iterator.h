/* thrust::counting_iterator of the emulator: the i-th element is first + i */
#ifndef SPMV_EMULATED_COUNTING_ITERATOR_H
#define SPMV_EMULATED_COUNTING_ITERATOR_H

#include <cstddef>
#include <iterator>

namespace thrust
{
template <typename T>
class counting_iterator
{
  T first;

public:
  typedef std::random_access_iterator_tag iterator_category;
  typedef T                               value_type, reference;
  typedef std::ptrdiff_t                  difference_type;
  typedef const T                        *pointer;

  explicit counting_iterator(T f = T()) : first(f) {}
  T operator*() const { return first; }
  template <typename I>
  T operator[](I i) const
  {
    return (T)(first + (T)i);
  }
  template <typename I>
  counting_iterator operator+(I i) const
  {
    return counting_iterator((T)(first + (T)i));
  }
};
} // namespace thrust
#endif
