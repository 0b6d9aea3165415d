// Reading of the structured values of attributes.

#ifndef XLA_INDEXING_HLO_TEXT_PARTS_PARSE_ATTRIBUTES_H_
#define XLA_INDEXING_HLO_TEXT_PARTS_PARSE_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute_values.h"

namespace xla_indexing::internal {

using IntegerList = absl::InlinedVector<int64_t, 8>;

// `{1,0}`.
bool ReadIntegers(Lexer& lexer, IntegerList* values);
// `{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x2 rhs_dilate=2x2 rhs_reversal=1x1}`, all but the
// size optional and in any order.
bool ReadWindow(Lexer& lexer, Window* window);
// `b01f_01io->b01f`.
bool ReadDimensionLabels(Lexer& lexer, ConvolutionDimensionNumbers* numbers);
// `1_2x-1_0_3`: low, high and interior padding of each dimension. Nothing at all for rank 0.
bool ReadPadding(Lexer& lexer, std::vector<PaddingDimension>* padding);
// `{[1:9:2], [0:4]}`.
bool ReadSlice(Lexer& lexer, std::vector<SliceRange>* slice);

// The sparsity of the kernel in the `sparsity_config` of a convolution; nullopt if it says nothing of the
// kernel, or something else.
std::optional<KernelSparsity> ParseKernelSparsity(absl::string_view config);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_PARTS_PARSE_ATTRIBUTES_H_
