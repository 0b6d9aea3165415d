// Counts the elements of a part of an image, and classifies those of a block of results by the images
// that have them: parts of map/count/count_image.h.
//
// Example: for the progressions {0, 2, 4, 6} and {3, 4, 5, 6} the classes are {0}: 2 elements,
// {1}: 2 elements, {0, 1}: 2 elements.
#ifndef XLA_INDEXING_MAP_COUNT_BLOCK_CLASSES_H_
#define XLA_INDEXING_MAP_COUNT_BLOCK_CLASSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/count/image_parts.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::internal {

// A set of images, by their numbers: 64 to a word.
using ImageMask = std::vector<uint64_t>;

// How many elements are in these images and in no others. Classes of no images are left out.
using ClassSizes = std::map<ImageMask, Int128>;

// The classes of a block of one result, where image i has the values of a finite progression. They are
// found from the ends and residues of the progressions. nullopt if the least common multiple of the
// strides has too many residues.
std::optional<ClassSizes> ClassesOfProgressions(llvm::ArrayRef<Progression> progressions,
                                                StepBudget* budget);

// The classes of a block of any number of results, where image i has the product of parts[i]. Marks
// each element in an array that spans the box between the least and the greatest elements. None
// where the box, or the elements, are more than the steps that are left.
std::optional<ClassSizes> ClassesOfElements(llvm::ArrayRef<std::vector<const ImagePart*>> parts,
                                            StepBudget* budget);

// The number of elements of a part.
Interval CountPart(const ImagePart& part, StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_COUNT_BLOCK_CLASSES_H_
