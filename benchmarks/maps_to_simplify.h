// Maps before they are simplified: the examples of the indexing document, what compositions of its
// operations look like, and digits of all kinds.
#ifndef XLA_INDEXING_BENCHMARKS_MAPS_TO_SIMPLIFY_H_
#define XLA_INDEXING_BENCHMARKS_MAPS_TO_SIMPLIFY_H_

#include <string>
#include <vector>

namespace xla_indexing {

struct NamedMap {
  std::string name;
  std::string text;
};

const std::vector<NamedMap>& MapsToSimplify();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BENCHMARKS_MAPS_TO_SIMPLIFY_H_
