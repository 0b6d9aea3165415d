// The attributes of an operation as numbers and words, whoever made them.
//
// What is a list of numbers comes as `array<i64: 1, 0>`, `dense<[[0, 1]]> : tensor<1x2xi64>`, an array of
// integers, or as text `[1, 0]`; a word as a string, as `#stablehlo<precision HIGH>` or as text. An
// attribute of StableHLO that has parts, `#stablehlo.gather<offset_dims = [1], ..>`, is read as the text that
// it prints as: so it makes no difference whether the real dialect has parsed it. A path names a part,
// `channel_handle.handle`; those of the dimension numbers of dots, gathers and scatters go by their own names.
//
// What is absent is empty. The first attribute that is not what is asked for is kept as the error.
//
//   OpAttributes attributes(op);
//   const std::vector<int64_t> dims = attributes.Ints("offset_dims");
//   if (!attributes.error().empty()) ..   // "offset_dims: numbers are expected, not '[b]'"

#ifndef XLA_INDEXING_STABLEHLO_OP_ATTRIBUTES_H_
#define XLA_INDEXING_STABLEHLO_OP_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"

namespace xla_indexing::internal {

// An attribute as text: a string's contents; of `#stablehlo.kind<..>` what follows the dialect's name.
std::string AttributeText(mlir::Attribute attribute);
// The value of `key = value` in the text `kind<key = value, ..>`; a key alone has the value `true`.
std::optional<absl::string_view> AttributePart(absl::string_view text, absl::string_view key);

class OpAttributes {
 public:
  explicit OpAttributes(mlir::Operation& op) : op_(op) {}

  mlir::Attribute Find(absl::string_view name) const;
  bool Has(absl::string_view path) const;
  // All numbers in row-major order; true counts as 1. At most 2^20.
  std::vector<int64_t> Ints(absl::string_view path);
  // Empty where the attribute is absent; an error where it is not one number.
  std::optional<int64_t> Int(absl::string_view path);
  // A unit attribute is true.
  bool Bool(absl::string_view path);
  // The last word: HIGH of `#stablehlo<precision HIGH>`.
  std::string Word(absl::string_view path);
  // The whole text.
  std::string Text(absl::string_view path) const;

  // Lets `name` be these numbers, as if the operation had them as an attribute.
  void Give(absl::string_view name, std::vector<int64_t> ints);

  void Fail(absl::string_view path, absl::string_view what);
  const std::string& error() const { return error_; }

 private:
  // An attribute, and the part of it that is meant; empty for all of it.
  struct Place {
    mlir::Attribute attribute;
    absl::string_view part;
  };
  Place PlaceOf(absl::string_view path) const;
  bool AddInts(mlir::Attribute attribute, int depth, std::vector<int64_t>* ints);

  mlir::Operation& op_;
  std::vector<std::pair<absl::string_view, std::vector<int64_t>>> given_;
  std::string error_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_OP_ATTRIBUTES_H_
