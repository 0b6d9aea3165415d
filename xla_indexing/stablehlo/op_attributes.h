// Attributes of operations as numbers and text, whoever made them.
//
// What is a list of numbers comes as `array<i64: 1, 0>`, `dense<[[0, 1]]> : tensor<1x2xi64>`, an
// array of integers, or as text `[1, 0]`; a word as a string, as `#stablehlo<precision HIGH>` or as
// text. An attribute of StableHLO that has parts, `#stablehlo.gather<offset_dims = [1], ..>`, is
// read as the text that it prints as: so it makes no difference whether the real dialect has parsed
// it.

#ifndef XLA_INDEXING_STABLEHLO_OP_ATTRIBUTES_H_
#define XLA_INDEXING_STABLEHLO_OP_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "mlir/IR/Attributes.h"

namespace xla_indexing::internal {

// An attribute as text: a string's contents; of `#stablehlo.kind<..>` what follows the dialect's
// name.
std::string AttributeText(mlir::Attribute attribute);
// The same of an attribute of Shardy, `#sdy.kind<..>`, of which the pretty form may leave out the
// kind and the brackets.
std::string ShardyText(absl::string_view kind, mlir::Attribute attribute);
// The value of `key = value` in the text `kind<key = value, ..>`; a key alone has the value `true`.
std::optional<absl::string_view> AttributePart(absl::string_view text, absl::string_view key);

// All numbers of an attribute, or of a text, in row-major order, at most 2^20; true counts as 1.
// Nothing where it has something else.
std::optional<std::vector<int64_t>> AttributeInts(mlir::Attribute attribute);
std::optional<std::vector<int64_t>> IntsOfText(absl::string_view text);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_OP_ATTRIBUTES_H_
