// How many elements the union of the images of several maps has.
//
// Mathematics. Each image is a product of sets of some of the results. For a single image, the
// counts of its parts are multiplied. For several images, results that are in one part of any image
// form a *block*; every image is then a product over the same blocks. The elements of a block fall
// into classes by the images whose set has them, and
//
//   | union | = sum of the product of sizes over (class of block 1) x (class of block 2) x ..
//
// where some image is in all of the classes. The sum is computed block by block, over the sets of
// images that are still in all classes. Sizes of classes are counted in closed form for a result
// that is a strided range in every image (between two ends, by residues); otherwise element by
// element, in an array with an entry for each possible index.
//
// A step of the budget is about one point that is looked at. A count that is not found within it is
// bounded: it is at least the count of the largest image, and at most the sum of the counts of all
// images and the number of possible indices.
//
// Example: the union of { (i, i) : i < 4 } and { (2*i, j) : i < 2, j < 4 } has 4 + 8 - 2 elements.
#ifndef XLA_INDEXING_MAP_COUNT_COUNT_IMAGE_H_
#define XLA_INDEXING_MAP_COUNT_COUNT_IMAGE_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

// The counting steps that a question takes at most.
inline constexpr int64_t kMaxCountingSteps = int64_t{1} << 26;

// The number of elements in the union of the images of maps of one context, which have as many
// results as there are `sizes` (an error of the program otherwise). All results are in
// [0, size - 1]. All variables of a map take all their values.
Interval CountUnionOfImages(llvm::ArrayRef<IndexingMap> maps, llvm::ArrayRef<int64_t> sizes,
                            StepBudget* budget);

// The number of elements in the image of a map, whatever their values.
Interval CountImage(const IndexingMap& map, StepBudget* budget);

// The number of pairs (d, r) where r = f(d, s, rt) for some s and rt.
Interval CountPairs(const IndexingMap& map, StepBudget* budget);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_COUNT_COUNT_IMAGE_H_
