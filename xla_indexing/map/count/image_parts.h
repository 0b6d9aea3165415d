// The image of a map as a product of sets of fewer results.
//
// Mathematics. The image is the product of the images of the components
// (map/expr/components.h). The image of a component is written in the first of these ways that
// is possible:
//
//   1. a progression, for one result                            map/count/progression_of_values.h
//   2. an explicit set { r : constraints on r }, which falls    map/sets/project.h
//      apart into components again
//   3. the results of all points
//
// All variables, dimensions, range and runtime variables, take all their values.
//
// Example: (d0, d1) -> (d0, d0 + d1 floordiv 2, d1 * 0 + 3): results 0 and 1 are one part,
// { (r0, r1) : r1 - r0 in .. }, and result 2 is {3}.
#ifndef XLA_INDEXING_MAP_COUNT_IMAGE_PARTS_H_
#define XLA_INDEXING_MAP_COUNT_IMAGE_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::internal {

// One factor of an image.
struct ImagePart {
  llvm::SmallVector<int, 4> results;  // ascending

  // Exactly one of the next three describes the set. For one result, its values as a finite
  // progression.
  std::optional<Progression> progression;
  // The set as a domain: a dimension for each result, nothing else.
  std::optional<IndexingMap> domain;
  // The set as the results of a map of range variables alone.
  std::optional<IndexingMap> map;
  // Whether no two points of `map` have the same results.
  bool is_injective = false;
};

struct ImageParts {
  std::vector<ImagePart> parts;
  // Whether the domain has a point; where that is not known, the image may also be empty.
  Answer has_point = Answer::kYes;
};

// All parts, where none needs a projection; none otherwise.
std::optional<ImageParts> ProgressionPartsOf(const IndexingMap& map);

// All parts; nullopt if an expression cannot be written.
std::optional<ImageParts> PartsOf(const IndexingMap& map, StepBudget* budget);

// Calls visit(results) for each element of a part at least once. False where that takes more steps
// than are left, or a number does not fit int64.
bool ForEachElement(const ImagePart& part, StepBudget* budget,
                    llvm::function_ref<void(llvm::ArrayRef<int64_t> results)> visit);

// Intervals that hold the values of the results.
llvm::SmallVector<Interval, 4> HullOf(const ImagePart& part);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_COUNT_IMAGE_PARTS_H_
