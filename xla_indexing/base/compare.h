// Three-way comparison, for orders that compare one field after another.
//
//   if (int c = CompareValues(a.size, b.size)) return c;
//   return CompareValues(a.place, b.place);
#ifndef XLA_INDEXING_BASE_COMPARE_H_
#define XLA_INDEXING_BASE_COMPARE_H_

namespace xla_indexing::internal {

// -1 where a is less than b, 1 where it is greater, and otherwise 0.
template <typename T>
int CompareValues(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_COMPARE_H_
