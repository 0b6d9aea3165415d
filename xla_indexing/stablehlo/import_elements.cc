// What moves elements, functions of each element, sums of products, and operations whose sizes are
// operands.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/types_and_attributes.h"

namespace xla_indexing::internal {

using Key = AttributeKey;

void ImportConstant(ImportedOp& call) {
  const mlir::Attribute value = call.Find("value");
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(value);
  const bool is_splat = dense && dense.isSplat() && call.shape.IsArray() && call.shape.rank() > 0;
  const Shape stored = is_splat ? Shape::Scalar(call.shape.element_type()) : call.shape;
  const absl::StatusOr<Literal> literal = LiteralOfAttribute(value, stored);
  if (!literal.ok()) return call.Fail(literal.status().message());
  const ImportedAttributes attributes = {{Key::kConstantValue, &*literal}};
  if (!is_splat) return call.Bind(call.AddMain(HloOpcode::kConstant, {}, stored, attributes));
  const HloInstruction* one = call.AddStep(HloOpcode::kConstant, {}, stored, attributes);
  call.Bind(call.AddMain(HloOpcode::kBroadcast, {one}, call.shape, {{Key::kDimensions, Ints()}}));
}

namespace {

// The operand in the shape of the result, its dimensions these of the result. HLO's broadcast has
// no dimensions of size 1 that grow: they are reshaped away first. Null after an error.
HloInstruction* AddBroadcast(ImportedOp& call, const HloInstruction* operand, const Ints& dims,
                             bool is_main) {
  const Shape& from = operand->shape();
  if (!from.IsArray() || !call.shape.IsArray() ||
      static_cast<int64_t>(dims.size()) != from.rank()) {
    call.Fail("broadcast_dimensions: ", dims.size(), " numbers are given for an operand ",
              from.ToString());
    return nullptr;
  }
  Ints kept, kept_dims;
  Shape kept_shape = Shape::Scalar(from.element_type());
  for (int64_t i = 0; i < from.rank(); ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (dim < 0 || dim >= call.shape.rank()) {
      call.Fail("broadcast_dimensions: the result ", call.shape.ToString(), " has no dimension ",
                dim);
      return nullptr;
    }
    if (from.dimension(i) == 1 && call.shape.dimension(dim) != 1) continue;
    kept.push_back(i);
    kept_dims.push_back(dim);
    kept_shape.AddDimension(from.dimension(i), from.IsDynamicDimension(i));
  }
  if (kept_shape.rank() != from.rank()) {
    ImportedOperands operands = {operand};
    const bool has_sizes = kept_shape.HasUnboundedDimension();
    for (size_t i = 0; has_sizes && i < kept.size(); ++i) {
      operands.push_back(call.AddStep(HloOpcode::kGetDimensionSize, {operand},
                                      Shape::Scalar(ElementType::kS32),
                                      {{Key::kDimensions, Ints{kept[i]}}}));
    }
    operand = call.AddStep(has_sizes ? HloOpcode::kDynamicReshape : HloOpcode::kReshape, operands,
                           kept_shape);
  }
  Shape to = call.shape;
  to.SetElementType(from.element_type());
  const ImportedAttributes attributes = {{Key::kDimensions, kept_dims}};
  return is_main ? call.AddMain(HloOpcode::kBroadcast, {operand}, to, attributes)
                 : call.AddStep(HloOpcode::kBroadcast, {operand}, to, attributes);
}

// The last dimensions of the result, as many as the shape has.
Ints LastDimensions(ImportedOp& call, const Shape& shape) {
  Ints dims(shape.IsArray() ? static_cast<size_t>(shape.rank()) : 0);
  std::iota(dims.begin(), dims.end(), call.shape.rank() - static_cast<int64_t>(dims.size()));
  return dims;
}

}  // namespace

void ImportBroadcast(ImportedOp& call) {
  const Ints dims = call.Is("broadcast") ? LastDimensions(call, call.operands[0]->shape())
                                         : call.IntsAt("broadcast_dimensions");
  call.Bind(AddBroadcast(call, call.operands[0], dims, /*is_main=*/true));
}

// HLO leaves it open what a dimension is that is batching and indexed; StableHLO has none.
void ImportGather(ImportedOp& call) {
  const Ints batching = call.IntsAt("operand_batching_dims");
  for (const int64_t dim : call.IntsAt("start_index_map")) {
    if (!absl::c_linear_search(batching, dim)) continue;
    return call.Fail("dimension ", dim, " is in start_index_map and in operand_batching_dims");
  }
  ImportPlain(call);
}

void ImportSquare(ImportedOp& call) {
  call.operands.push_back(call.operands[0]);
  ImportPlain(call);
}

// A function that HLO has no opcode for (ModuleImporter::ScalarFunction).
void ImportFunctionOfElements(ImportedOp& call) {
  call.Bind(call.AddMain(
      HloOpcode::kMap, call.operands, call.shape,
      {{Key::kDimensions, LastDimensions(call, call.shape)}, {Key::kToApply, call.Region(0)}}));
}

// Operands are broadcast as numpy does it, or as the attribute says.
void ImportBroadcasting(ImportedOp& call) {
  const Ints given = call.IntsAt("broadcast_dimensions");
  for (const HloInstruction*& operand : call.operands) {
    const Shape& from = operand->shape();
    if (SameDimensions(from, call.shape)) continue;
    const bool is_given =
        static_cast<int64_t>(given.size()) == from.rank() && from.rank() < call.shape.rank();
    operand = AddBroadcast(call, operand, is_given ? given : LastDimensions(call, from),
                           /*is_main=*/false);
    if (operand == nullptr) return;
  }
  call.rule.form == RegionForm::kFunction ? ImportFunctionOfElements(call) : ImportPlain(call);
}

// The shape is that of the result.
void ImportRng(ImportedOp& call) {
  call.operands.resize(2);
  ImportPlain(call);
}

// The last dimension of the first and the first of the second.
void ImportDot(ImportedOp& call) {
  const int64_t last = std::max<int64_t>(call.operands[0]->shape().rank() - 1, 0);
  call.given.emplace_back("lhs_contracting_dimensions", Ints{last});
  call.given.emplace_back("rhs_contracting_dimensions", Ints{0});
  ImportPlain(call);
}

// ---- Operations whose sizes are operands.

namespace {

constexpr int kMaxConstantSteps = 8;
constexpr int64_t kMaxConstantInts = 1 << 10;

// Appends the numbers of a constant, also where it is put together of constants; false if it is
// none, or has none or many. Each constant that is looked at has some, so that their number bounds
// the time.
bool AddConstantInts(const HloInstruction& value, int steps, Ints* ints) {
  const absl::StatusOr<int64_t> count = value.shape().ElementCount();
  const auto known = static_cast<int64_t>(ints->size());
  if (steps == 0 || !value.shape().IsArray() || !value.shape().IsStatic() || !count.ok() ||
      *count < 1 || *count > kMaxConstantInts - known) {
    return false;
  }
  const auto add_operand = [&](const HloInstruction* operand) {
    return AddConstantInts(*operand, steps - 1, ints);
  };
  switch (value.opcode()) {
    case HloOpcode::kConstant:
      for (int64_t i = 0; i < *count; ++i) {
        const std::optional<int64_t> number = value.literal()->IntegerAt(i);
        if (!number.has_value()) return false;
        ints->push_back(*number);
      }
      return true;
    case HloOpcode::kBroadcast:
      if (!value.operand(0)->shape().IsScalar() || !add_operand(value.operand(0))) return false;
      ints->resize(static_cast<size_t>(known + *count), ints->back());
      return true;
    case HloOpcode::kReshape:
      return add_operand(value.operand(0));
    case HloOpcode::kConcatenate:
      return value.shape().rank() == 1 && absl::c_all_of(value.operands(), add_operand);
    default:
      return false;
  }
}

// What the last operands of an operation are as attributes of the one with constant sizes.
struct SizesAsOperands {
  const char* name;
  const char* fixed;
  size_t first;
  std::vector<const char*> attributes;
};

// Whether it was imported as the operation with constant sizes.
bool ImportWithConstantSizes(ImportedOp& call) {
  static const auto* const kAll = new std::vector<SizesAsOperands>{
      {"dynamic_conv", "convolution", 2, {"padding"}},
      {"dynamic_gather", "gather", 2, {"slice_sizes"}},
      {"dynamic_pad", "pad", 2, {"edge_padding_low", "edge_padding_high", "interior_padding"}},
      {"real_dynamic_slice", "slice", 1, {"start_indices", "limit_indices", "strides"}},
  };
  const auto of = absl::c_find_if(*kAll, [&](const auto& one) { return call.Is(one.name); });
  if (of == kAll->end() || call.operands.size() != of->first + of->attributes.size()) return false;
  ImportedOp fixed{call.importer, call.op, OpRuleNamed(of->fixed), call.operands, call.shape};
  fixed.operands.resize(of->first);
  for (size_t i = 0; i < of->attributes.size(); ++i) {
    Ints numbers;
    if (!AddConstantInts(*call.operands[of->first + i], kMaxConstantSteps, &numbers)) return false;
    fixed.given.emplace_back(of->attributes[i], numbers);
  }
  fixed.rule.import(fixed);
  return true;
}

// The elements of a list of one number for each dimension of the result, as scalars; false where it
// is none.
bool AddScalarsOf(ImportedOp& call, const HloInstruction* list, ImportedOperands* scalars) {
  const int64_t rank = call.shape.IsArray() ? call.shape.rank() : 0;
  if (!SameDimensions(list->shape(), Shape::Array(ElementType::kS64, {rank}))) return false;
  const ElementType type = list->shape().element_type();
  for (int64_t i = 0; i < rank; ++i) {
    const SliceRange range[] = {{i, i + 1, 1}};
    const HloInstruction* one =
        call.AddStep(HloOpcode::kSlice, {list}, Shape::Array(type, {1}), {{Key::kSlice, range}});
    scalars->push_back(call.AddStep(HloOpcode::kReshape, {one}, Shape::Scalar(type)));
  }
  return true;
}

// A slice of a constant size whose start is an operand. It lies within the array, as that of HLO is
// made to.
bool ImportWithConstantStrides(ImportedOp& call) {
  Ints strides;
  ImportedOperands operands = {call.operands[0]};
  if (!call.Is("real_dynamic_slice") || call.operands.size() != 4 || !call.shape.IsArray() ||
      !call.shape.IsStatic() || call.shape.rank() == 0 ||
      !AddConstantInts(*call.operands[3], kMaxConstantSteps, &strides) ||
      !absl::c_all_of(strides, [](int64_t stride) { return stride == 1; }) ||
      !AddScalarsOf(call, call.operands[1], &operands)) {
    return false;
  }
  call.Bind(call.AddMain(HloOpcode::kDynamicSlice, operands, call.shape,
                         {{Key::kDynamicSliceSizes, call.shape.dimensions()}}));
  return true;
}

// An array of the sizes of its bounds, whose sizes are then set.
bool ImportBoundedIota(ImportedOp& call) {
  ImportedOperands sizes;
  if (!call.shape.IsArray() || call.shape.HasUnboundedDimension() ||
      !AddScalarsOf(call, call.operands[0], &sizes)) {
    return false;
  }
  Shape shape = Shape::Array(call.shape.element_type(), call.shape.dimensions());
  HloInstruction* made = call.AddStep(HloOpcode::kIota, {}, shape);
  call.SetAttributes(made);
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (!call.shape.IsDynamicDimension(i)) continue;
    shape.SetDimension(i, shape.dimension(i), /*is_dynamic=*/true);
    made = call.AddStep(HloOpcode::kSetDimensionSize, {made, sizes[static_cast<size_t>(i)]}, shape,
                        {{Key::kDimensions, Ints{i}}});
  }
  call.Bind(made);
  return true;
}

// Elements keep their places in the row-major order of sizes that are known at run time.
bool ImportDynamicReshape(ImportedOp& call) {
  ImportedOperands operands = {call.operands[0]};
  if (!AddScalarsOf(call, call.operands[1], &operands)) return false;
  call.Bind(call.AddMain(HloOpcode::kDynamicReshape, operands, call.shape));
  return true;
}

// Whether it is known which dimensions of the operand are repeated. One of unknown size may be, if
// it is 1 at run time; but JAX repeats what has size 1 by its type, and takes a symbol for the same
// size in operand and result.
bool KnowsRepeated(ImportedOp& call) {
  const Shape& from = call.operands[0]->shape();
  const Ints dims = call.IntsAt("broadcast_dimensions");
  const Ints kept = call.IntsAt("known_nonexpanding_dimensions");
  if (!from.IsArray() || !call.shape.IsArray() ||
      static_cast<int64_t>(dims.size()) != from.rank()) {
    return false;
  }
  for (int64_t i = 0; i < from.rank(); ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (from.dimension(i) == 1 || absl::c_linear_search(kept, i)) continue;
    if (dim < 0 || dim >= call.shape.rank() ||
        (from.IsDynamicDimension(i) && !call.importer.has_symbols_of_jax()) ||
        from.dimension(i) != call.shape.dimension(dim)) {
      return false;
    }
  }
  return true;
}

}  // namespace

// What it is with constant sizes, where these are constants or the type of the result says them;
// what HLO has for sizes that are known at run time; else a custom call.
void ImportDynamic(ImportedOp& call) {
  if (ImportWithConstantSizes(call) || ImportWithConstantStrides(call)) return;
  const HloOpcode opcode = call.rule.opcode;
  const bool is_static = call.shape.IsArray() && call.shape.IsStatic();
  if (opcode == HloOpcode::kBroadcast && (is_static || KnowsRepeated(call))) {
    return ImportBroadcast(call);
  }
  if (is_static && (opcode == HloOpcode::kIota || opcode == HloOpcode::kReshape)) {
    call.operands.resize(opcode == HloOpcode::kIota ? 0 : 1);
    return ImportPlain(call);
  }
  if (opcode == HloOpcode::kIota && ImportBoundedIota(call)) return;
  if (opcode == HloOpcode::kReshape && ImportDynamicReshape(call)) return;
  const std::string target = absl::StrCat("stablehlo.", call.op.getName().stripDialect().str());
  call.Bind(call.AddMain(HloOpcode::kCustomCall, call.operands, call.shape,
                         {{Key::kCustomCallTarget, target}}));
}

// ---- Sums of products by an equation, `ab,bc->ac`: a letter for each dimension of each operand
// and of the result, and the sum over the letters that the result has not. As a dot of
//
//   - operands of which a letter that stands twice is the diagonal: a gather at (0, 0), (1, 1), ..
//   - and with the dimensions that the other sums alone: sum_b x[a, b] * y[c] is that over b of
//     x[a, b] * y'[b, c], where y' repeats y.
//
// One operand is multiplied by a 1.

namespace {

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
      absl::StrReplaceAll(call.TextAt("einsum_config"), {{" ", ""}, {"\"", ""}});
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

// The elements of an array whose indices of one letter are equal: its first dimension is then that
// letter.
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
  const HloInstruction* places =
      call.AddStep(HloOpcode::kIota, {},
                   Shape::Array(ElementType::kS64, {size, static_cast<int64_t>(start_map.size())}),
                   {{Key::kIotaDimension, int64_t{0}}});
  const HloInstruction* made = call.AddStep(HloOpcode::kGather, {of->array, places},
                                            Shape::Array(from.element_type(), sizes),
                                            {{Key::kOffsetDims, offsets},
                                             {Key::kCollapsedSliceDims, start_map},
                                             {Key::kStartIndexMap, start_map},
                                             {Key::kIndexVectorDim, int64_t{1}},
                                             {Key::kSliceSizes, slice_sizes}});
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
  *of = {call.AddStep(HloOpcode::kBroadcast, {of->array}, shape, {{Key::kDimensions, dims}}),
         letters};
}

// The dot of both, whose dimensions are those of its batch, then the others of each; transposed to
// the result.
void AddDot(ImportedOp& call, const Lettered& lhs, const Lettered& rhs, const std::string& result) {
  std::string batch, summed, others;
  for (const char letter : lhs.letters) {
    (!rhs.Has(letter) ? others : absl::StrContains(result, letter) ? batch : summed) += letter;
  }
  for (const char letter : rhs.letters) {
    if (!lhs.Has(letter)) others += letter;
  }
  const std::string letters = batch + others;
  Shape shape = Shape::Scalar(call.shape.element_type());
  for (const char letter : letters) {
    const Lettered& of = lhs.Has(letter) ? lhs : rhs;
    shape.AddDimension(of.SizeOf(letter), of.array->shape().IsDynamicDimension(of.DimOf(letter)));
  }
  const auto dims_of = [](const std::string& all, const std::string& some) {
    Ints dims;
    for (const char letter : some) dims.push_back(static_cast<int64_t>(all.find(letter)));
    return dims;
  };
  call.given.emplace_back("lhs_batching_dimensions", dims_of(lhs.letters, batch));
  call.given.emplace_back("lhs_contracting_dimensions", dims_of(lhs.letters, summed));
  call.given.emplace_back("rhs_batching_dimensions", dims_of(rhs.letters, batch));
  call.given.emplace_back("rhs_contracting_dimensions", dims_of(rhs.letters, summed));
  if (letters == result) return call.Bind(call.AddMain({lhs.array, rhs.array}, call.shape));
  HloInstruction* dot = call.AddStep(HloOpcode::kDot, {lhs.array, rhs.array}, shape);
  call.SetAttributes(dot);
  call.Bind(call.AddMain(HloOpcode::kTranspose, {dot}, call.shape,
                         {{Key::kDimensions, dims_of(letters, result)}}));
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
    const HloInstruction* made =
        call.AddStep(HloOpcode::kConstant, {}, one.shape(), {{Key::kConstantValue, &one}});
    made = call.AddStep(HloOpcode::kConvert, {made}, Shape::Scalar(call.shape.element_type()));
    arrays.push_back({made, ""});
  }
  if (!SizesAgree(call, arrays[0], arrays[1])) return;
  RepeatAlongSummed(call, arrays[0], result, &arrays[1]);
  RepeatAlongSummed(call, arrays[1], result, &arrays[0]);
  AddDot(call, arrays[0], arrays[1], result);
}

}  // namespace xla_indexing::internal
