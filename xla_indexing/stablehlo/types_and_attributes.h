// Types and attributes of MLIR as what HLO has for them: shapes, constants, numbers and text,
// whoever made them.
//
//   tensor<2x?xbf16>                              bf16[2,?]
//   tensor<?x3xi1, #stablehlo.bounds<4, ?>>       pred[<=4,3]
//   tensor<4x!quant.uniform<i8:f32, 0.5:3>>       s8[4], what is stored
//   tuple<tensor<i32>, !stablehlo.token>          (s32[], token[])
//   !stablehlo.future<tensor<4xf32>>              f32[4], what it will be
//
// What is a list of numbers comes as `array<i64: 1, 0>`, `dense<[[0, 1]]> : tensor<1x2xi64>`, an
// array of integers, or as text `[1, 0]`; a word as a string, as `#stablehlo<precision HIGH>` or as
// text. An attribute of StableHLO that has parts, `#stablehlo.gather<offset_dims = [1], ..>`, is
// read as the text that it prints as: so it makes no difference whether the real dialect has parsed
// it.

#ifndef XLA_INDEXING_STABLEHLO_TYPES_AND_ATTRIBUTES_H_
#define XLA_INDEXING_STABLEHLO_TYPES_AND_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Whether it may be printed. A type or an attribute may name the same part twice, and so on: its text
// is then much longer than that which it was read from.
bool HasFewParts(mlir::Type type);
bool HasFewParts(mlir::Attribute attribute);

// An error where HLO has no such type.
absl::StatusOr<Shape> ShapeOfType(mlir::Type type);

// The value of a constant of that shape. One that is not in the program (a resource) is elided.
absl::StatusOr<Literal> LiteralOfAttribute(mlir::Attribute value, const Shape& shape);

// An attribute as text: a string's contents; of `#stablehlo.kind<..>` what follows the dialect's
// name.
std::string AttributeText(mlir::Attribute attribute);
// The same of an attribute of Shardy, `#sdy.kind<..>`, of which the pretty form may leave out the
// kind and the brackets.
std::string ShardyText(absl::string_view kind, mlir::Attribute attribute);
// The value of `key = value` in the text `kind<key = value, ..>`; empty where there is none, and
// `true` of a key alone.
std::string AttributePart(absl::string_view text, absl::string_view key);

// Appends all numbers of an attribute, or of a text, in row-major order; true counts as 1. False
// where it has something else, or more than 2^20.
bool AddInts(mlir::Attribute attribute, std::vector<int64_t>* ints, int depth = 0);
bool AddIntsOfText(absl::string_view text, std::vector<int64_t>* ints);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_TYPES_AND_ATTRIBUTES_H_
