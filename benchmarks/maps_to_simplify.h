// Maps before they are simplified.
#ifndef XLA_INDEXING_BENCHMARKS_MAPS_TO_SIMPLIFY_H_
#define XLA_INDEXING_BENCHMARKS_MAPS_TO_SIMPLIFY_H_

#include <string>
#include <vector>

namespace xla_indexing {

struct NamedMap {
  std::string name;
  std::string text;
};

// The examples of the indexing document, and what compositions of its operations look like.
const std::vector<NamedMap>& ExampleMaps();

// The example maps and others: reshapes, threads of a grid, digits of all kinds.
const std::vector<NamedMap>& MapsToSimplify();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BENCHMARKS_MAPS_TO_SIMPLIFY_H_
