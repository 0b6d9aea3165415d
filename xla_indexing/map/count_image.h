// How many elements the union of the images of several maps has.
//
// Mathematics. Each image is a product of sets of some of the results (map/internal/image_parts.h).
// Of one image, the counts of its parts are multiplied. Of several, results that are in one part of
// any image are a *block*; every image is then a product over the same blocks. The elements of a
// block fall into classes by the images whose set has them, and
//
//   | union | = sum over (class of block 1) x (class of block 2) x .. of the product of their
//   sizes,
//
// where some image is in all of the classes. It is summed block by block, over the sets of images
// that are still in all classes. Sizes of classes are counted in closed form for a result that is a
// strided range in every image (between two ends, by residues); otherwise element by element, in
// an array of the places that there are.
//
// Steps, and counts that are not found within them, are those of map/internal/count_points.h. What
// is known then: no less than the largest of the images, no more than their sum, nor than the
// places.
//
// Example: the union of { (i, i) : i < 4 } and { (2*i, j) : i < 2, j < 4 } has 4 + 8 - 2 elements.
#ifndef XLA_INDEXING_MAP_COUNT_IMAGE_H_
#define XLA_INDEXING_MAP_COUNT_IMAGE_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// The counting steps that a question takes at most.
inline constexpr int64_t kMaxCountingSteps = int64_t{1} << 26;

// The number of elements in the union of the images of maps of one context, which have as many
// results as there are `sizes` (an error of the program otherwise); all results are in [0, size -
// 1]. All variables of a map take all their values.
Interval CountUnionOfImages(llvm::ArrayRef<IndexingMap> maps, llvm::ArrayRef<int64_t> sizes,
                            StepBudget* budget);

// The number of elements in the image of a map, wherever they are.
Interval CountImage(const IndexingMap& map, StepBudget* budget);

// The number of pairs (d, f(d, s, rt)) of a map, for some values of its other variables.
Interval CountPairs(const IndexingMap& map, StepBudget* budget);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_COUNT_IMAGE_H_
