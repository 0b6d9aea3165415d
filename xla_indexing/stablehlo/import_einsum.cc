// Sums of products by an equation, `ab,bc->ac`: a letter for each dimension of each operand and of the result, and the
// sum over the letters that the result has not. As a dot of
//
//   - operands of which a letter that stands twice is the diagonal: a gather at (0, 0), (1, 1), ..
//   - and with the dimensions that the other sums alone: sum_b x[a, b] * y[c] is that over b of x[a, b] * y'[b, c],
//     where y' repeats y.
//
// One operand is multiplied by a 1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

// An array, and the letter of each of its dimensions.
struct Lettered {
  const HloInstruction* array;
  std::string letters;

  bool Has(char letter) const { return letters.find(letter) != std::string::npos; }
  int64_t DimOf(char letter) const { return static_cast<int64_t>(letters.find(letter)); }
  int64_t SizeOf(char letter) const { return array->shape().dimension(DimOf(letter)); }
};

// The letters of each operand and of the result. False after an error.
bool ReadEquation(ImportedOp& call, std::vector<std::string>* letters) {
  // The pretty form has it in quotes.
  const std::string text =
      absl::StrReplaceAll(call.attributes.Text("einsum_config"), {{" ", ""}, {"\"", ""}});
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  if (sides.size() == 2) {
    *letters = absl::StrSplit(sides[0], ',');
    letters->push_back(sides[1]);
  }
  const auto fail = [&](const auto&... why) {
    call.Fail("einsum_config '", absl::string_view(text).substr(0, 100), "': ", why...);
    return false;
  };
  const size_t operands = call.Is("einsum") ? 2 : 1;
  if (call.operands.size() != operands || letters->size() != operands + 1) {
    return fail("an equation such as ab,bc->ac with a part for each of ", operands,
                " operands is expected");
  }
  for (size_t i = 0; i < letters->size(); ++i) {
    const Shape& shape = i < call.operands.size() ? call.operands[i]->shape() : call.shape;
    const std::string& part = (*letters)[i];
    const bool is_letters = absl::c_all_of(part, [](char c) { return absl::ascii_isalpha(c); });
    if (!is_letters || !shape.IsArray() || static_cast<int64_t>(part.size()) != shape.rank()) {
      return fail("'", part, "' is not a letter for each dimension of ", shape.ToString());
    }
  }
  const std::string& result = letters->back();
  for (const char letter : result) {
    const auto has = [&](const std::string& part) { return absl::StrContains(part, letter); };
    if (!std::any_of(letters->begin(), letters->end() - 1, has)) {
      return fail("no operand has '", std::string(1, letter), "'");
    }
    if (absl::c_count(result, letter) > 1) {
      return fail("the result has '", std::string(1, letter), "' twice");
    }
  }
  return true;
}

// The elements of an array whose indices of one letter are equal: its first dimension is then that letter.
bool TakeDiagonal(ImportedOp& call, char letter, Lettered* of) {
  const Shape& from = of->array->shape();
  const int64_t size = of->SizeOf(letter);
  Ints start_map, offsets, slice_sizes, sizes = {size};
  std::string letters(1, letter);
  for (int64_t i = 0; i < from.rank(); ++i) {
    const char own = of->letters[static_cast<size_t>(i)];
    slice_sizes.push_back(own == letter ? 1 : from.dimension(i));
    if (own == letter) {
      start_map.push_back(i);
      if (from.dimension(i) == size && !from.IsDynamicDimension(i)) continue;
      call.Fail("einsum_config: '", letters, "' stands for ", size, " and ", from.dimension(i));
      return false;
    }
    offsets.push_back(static_cast<int64_t>(letters.size()));
    sizes.push_back(from.dimension(i));
    letters.push_back(own);
  }
  HloInstruction* places = call.AddStep(
      HloOpcode::kIota, {},
      Shape::Array(ElementType::kS64, Ints{size, static_cast<int64_t>(start_map.size())}));
  places->SetAttribute(Key::kIotaDimension, int64_t{0});
  HloInstruction* made = call.AddStep(HloOpcode::kGather, {of->array, places},
                                      Shape::Array(from.element_type(), sizes));
  made->SetAttribute(Key::kOffsetDims, SpanOf(offsets));
  made->SetAttribute(Key::kCollapsedSliceDims, SpanOf(start_map));
  made->SetAttribute(Key::kStartIndexMap, SpanOf(start_map));
  made->SetAttribute(Key::kIndexVectorDim, int64_t{1});
  made->SetAttribute(Key::kSliceSizes, SpanOf(slice_sizes));
  *of = {made, letters};
  return true;
}

// Repeats an array along the dimensions that are summed and only the other one has.
void RepeatAlongSummed(ImportedOp& call, const Lettered& other, const std::string& result,
                       Lettered* of) {
  Shape shape = of->array->shape();
  std::string letters = of->letters;
  Ints dims(letters.size());
  std::iota(dims.begin(), dims.end(), 0);
  for (const char letter : other.letters) {
    if (of->Has(letter) || absl::StrContains(result, letter)) continue;
    const int64_t dim = other.DimOf(letter);
    shape.AddDimension(other.SizeOf(letter), other.array->shape().IsDynamicDimension(dim));
    letters.push_back(letter);
  }
  if (letters.size() == of->letters.size()) return;
  *of = {call.AddStep(HloOpcode::kBroadcast, {of->array}, shape, dims), letters};
}

// The dot of both, whose dimensions are those of its batch, then the others of each; transposed to the result.
void AddDot(ImportedOp& call, const Lettered& lhs, const Lettered& rhs, const std::string& result) {
  std::string batch, summed, letters;
  for (const char letter : lhs.letters) {
    if (rhs.Has(letter)) (absl::StrContains(result, letter) ? batch : summed).push_back(letter);
  }
  letters = batch;
  Shape shape = Shape::Scalar(call.shape.element_type());
  const auto dims_of = [](const Lettered& of, const std::string& some) {
    Ints dims;
    for (const char letter : some) dims.push_back(of.DimOf(letter));
    return dims;
  };
  for (const Lettered* of : {&lhs, &rhs}) {
    for (const char letter : of->letters) {
      if (!absl::StrContains(batch + summed, letter)) letters.push_back(letter);
    }
  }
  Ints permutation;
  for (const char letter : letters) {
    const Lettered& of = lhs.Has(letter) ? lhs : rhs;
    shape.AddDimension(of.SizeOf(letter), of.array->shape().IsDynamicDimension(of.DimOf(letter)));
  }
  for (const char letter : result) {
    permutation.push_back(static_cast<int64_t>(letters.find(letter)));
  }
  call.attributes.Give("lhs_batching_dimensions", dims_of(lhs, batch));
  call.attributes.Give("lhs_contracting_dimensions", dims_of(lhs, summed));
  call.attributes.Give("rhs_batching_dimensions", dims_of(rhs, batch));
  call.attributes.Give("rhs_contracting_dimensions", dims_of(rhs, summed));
  if (letters == result) return call.Bind(call.AddMain({lhs.array, rhs.array}, call.shape));
  HloInstruction* dot = call.AddStep(HloOpcode::kDot, {lhs.array, rhs.array}, shape);
  call.SetAttributes(dot);
  HloInstruction* made = call.AddMain(HloOpcode::kTranspose, {dot}, call.shape);
  made->SetAttribute(Key::kDimensions, SpanOf(permutation));
  call.Bind(made);
}

// Whether a letter stands for one size.
bool SizesAgree(ImportedOp& call, const Lettered& lhs, const Lettered& rhs) {
  for (const char letter : lhs.letters) {
    if (!rhs.Has(letter) || lhs.SizeOf(letter) == rhs.SizeOf(letter)) continue;
    call.Fail("einsum_config: '", std::string(1, letter), "' stands for ", lhs.SizeOf(letter),
              " and ", rhs.SizeOf(letter));
    return false;
  }
  return true;
}

}  // namespace

void ImportEinsum(ImportedOp& call) {
  std::vector<std::string> letters;
  if (!ReadEquation(call, &letters)) return;
  const std::string result = letters.back();
  std::vector<Lettered> arrays;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    arrays.push_back({call.operands[i], letters[i]});
    for (const char letter : letters[i]) {
      if (absl::c_count(arrays[i].letters, letter) < 2) continue;
      if (!TakeDiagonal(call, letter, &arrays[i])) return;
    }
  }
  if (arrays.size() == 1) {
    const Literal one = Literal::IntegerScalar(ElementType::kS32, 1);
    HloInstruction* made = call.AddStep(HloOpcode::kConstant, {}, one.shape());
    made->SetAttribute(Key::kConstantValue, &one);
    made = call.AddStep(HloOpcode::kConvert, {made}, Shape::Scalar(call.shape.element_type()));
    arrays.push_back({made, ""});
  }
  if (!SizesAgree(call, arrays[0], arrays[1])) return;
  RepeatAlongSummed(call, arrays[0], result, &arrays[1]);
  RepeatAlongSummed(call, arrays[1], result, &arrays[0]);
  AddDot(call, arrays[0], arrays[1], result);
}

}  // namespace xla_indexing::internal
