// An array seen with its dimensions in digits, from which maps have no floors and remainders.
//
// Example: (d0 floordiv 9, d0 mod 9) of [90] is (d0, d1) of [10, 9].
#ifndef XLA_INDEXING_QUERY_UTILIZATION_DIGIT_SHAPE_H_
#define XLA_INDEXING_QUERY_UTILIZATION_DIGIT_SHAPE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

struct DigitShape {
  std::vector<int64_t> sizes;
  // For each dimension of the array the weights of its digits, the greatest first.
  std::vector<std::vector<int64_t>> weights;
};
// Where floors and remainders in the maps, and in their constraints, are digits of the dimensions of
// the array from which they start. Nullopt if there are none.
std::optional<DigitShape> CommonDigits(const std::vector<OperandIndexing>& maps,
                                       const std::vector<int64_t>& sizes);
// The map from the digits. Nullopt if it cannot be written.
std::optional<OperandIndexing> FromDigits(const OperandIndexing& map, const DigitShape& digits);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_UTILIZATION_DIGIT_SHAPE_H_
