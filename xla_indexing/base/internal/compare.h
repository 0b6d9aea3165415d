// Comparing in three ways, for orders that look at one thing after another.
//
//   if (int c = CompareValues(a.size, b.size)) return c;
//   return CompareValues(a.place, b.place);
#ifndef XLA_INDEXING_BASE_INTERNAL_COMPARE_H_
#define XLA_INDEXING_BASE_INTERNAL_COMPARE_H_

namespace xla_indexing::internal {

// -1, 0 or 1: a is less than b, neither, or greater.
template <typename T>
int CompareValues(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_INTERNAL_COMPARE_H_
