#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/import_ops.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"
#include "xla_indexing/stablehlo/shapes.h"

namespace xla_indexing::internal {

void ImportConstant(ImportedOp& call) {
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.attributes.Find("value"));
  const bool is_splat = dense && dense.isSplat() && call.shape.IsArray() && call.shape.rank() > 0;
  const Shape stored = is_splat ? Shape::Scalar(call.shape.element_type()) : call.shape;
  const absl::StatusOr<Literal> literal = LiteralOfAttribute(call.attributes.Find("value"), stored);
  if (!literal.ok()) return call.importer.Fail(call.op, literal.status().message());
  HloInstruction* made = is_splat
                             ? call.importer.AddStep(call.op, HloOpcode::kConstant, {}, stored)
                             : call.importer.AddMain(call.op, HloOpcode::kConstant, {}, stored);
  made->SetAttribute(AttributeKey::kConstantValue, &*literal);
  if (is_splat) {
    made = call.importer.AddMain(call.op, HloOpcode::kBroadcast, {made}, call.shape);
    made->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>());
  }
  BindMain(call, made);
}

namespace {

// The operand in the shape of the result, its dimensions these of the result. HLO's broadcast has no dimensions
// of size 1 that grow: they are reshaped away first. Null after an error.
HloInstruction* AddBroadcast(ImportedOp& call, const HloInstruction* operand, const Ints& dims,
                             bool is_main) {
  const Shape& from = operand->shape();
  if (!from.IsArray() || !call.shape.IsArray() ||
      static_cast<int64_t>(dims.size()) != from.rank()) {
    call.importer.Fail(call.op, "broadcast_dimensions: ", dims.size(),
                       " numbers are given for an operand ", from.ToString());
    return nullptr;
  }
  Ints kept;
  Shape kept_shape = Shape::Scalar(from.element_type());
  for (int64_t i = 0; i < from.rank(); ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (dim < 0 || dim >= call.shape.rank()) {
      call.importer.Fail(call.op, "broadcast_dimensions: the result ", call.shape.ToString(),
                         " has no dimension ", dim);
      return nullptr;
    }
    if (from.dimension(i) == 1 && call.shape.dimension(dim) != 1) continue;
    kept.push_back(dim);
    kept_shape.AddDimension(from.dimension(i), from.IsDynamicDimension(i));
  }
  if (kept_shape.rank() != from.rank()) {
    operand = call.importer.AddStep(call.op, HloOpcode::kReshape, {operand}, kept_shape);
  }
  Shape to = call.shape;
  to.SetElementType(from.element_type());
  HloInstruction* made = is_main
                             ? call.importer.AddMain(call.op, HloOpcode::kBroadcast, {operand}, to)
                             : call.importer.AddStep(call.op, HloOpcode::kBroadcast, {operand}, to);
  made->SetAttribute(AttributeKey::kDimensions, SpanOf(kept));
  return made;
}

// The last dimensions of the result.
Ints LastDimensions(ImportedOp& call, const HloInstruction& operand) {
  Ints dims(operand.shape().IsArray() ? static_cast<size_t>(operand.shape().rank()) : 0);
  std::iota(dims.begin(), dims.end(), call.shape.rank() - static_cast<int64_t>(dims.size()));
  return dims;
}

}  // namespace

void ImportBroadcast(ImportedOp& call) {
  const bool has_dims = call.op.getName().stripDialect() != "broadcast";
  const Ints dims = has_dims ? call.attributes.Ints("broadcast_dimensions")
                             : LastDimensions(call, *call.operands[0]);
  BindMain(call, AddBroadcast(call, call.operands[0], dims, /*is_main=*/true));
}

void ImportSlice(ImportedOp& call) {
  const Ints starts = call.attributes.Ints("start_indices");
  const Ints limits = call.attributes.Ints("limit_indices");
  const Ints strides = call.attributes.Ints("strides");
  if (starts.size() != limits.size() || starts.size() != strides.size()) {
    return call.importer.Fail(call.op, "there are ", starts.size(), " starts, ", limits.size(),
                              " limits and ", strides.size(), " strides");
  }
  std::vector<SliceRange> ranges;
  ranges.reserve(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) ranges.push_back({starts[i], limits[i], strides[i]});
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(AttributeKey::kSlice, absl::Span<const SliceRange>(ranges));
  BindMain(call, made);
}

void ImportPad(ImportedOp& call) {
  const Ints low = call.attributes.Ints("edge_padding_low");
  const Ints high = call.attributes.Ints("edge_padding_high");
  const Ints interior = call.attributes.Ints("interior_padding");
  if (low.size() != high.size() || low.size() != interior.size()) {
    return call.importer.Fail(call.op, "there are ", low.size(), " low, ", high.size(),
                              " high and ", interior.size(), " interior paddings");
  }
  std::vector<PaddingDimension> padding;
  padding.reserve(low.size());
  for (size_t i = 0; i < low.size(); ++i) padding.push_back({low[i], high[i], interior[i]});
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(AttributeKey::kPadding, absl::Span<const PaddingDimension>(padding));
  BindMain(call, made);
}

namespace {

constexpr int kMaxConstantSteps = 8;
constexpr int64_t kMaxConstantInts = 1 << 10;

// Appends the numbers of a constant, also where it is put together of constants; false if it is none, or has none
// or many. Each constant that is looked at has some, so that their number bounds the time.
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
    case HloOpcode::kBroadcast: {
      Ints one;
      if (value.operand(0)->shape().rank() != 0 ||
          !AddConstantInts(*value.operand(0), steps - 1, &one)) {
        return false;
      }
      ints->insert(ints->end(), static_cast<size_t>(*count), one[0]);
      return true;
    }
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
  absl::string_view name;
  absl::string_view fixed;
  size_t first;
  std::vector<absl::string_view> attributes;
};

const SizesAsOperands* FindSizesAsOperands(llvm::StringRef name) {
  static const auto* const kAll = new std::vector<SizesAsOperands>{
      {"dynamic_conv", "convolution", 2, {"padding"}},
      {"dynamic_gather", "gather", 2, {"slice_sizes"}},
      {"dynamic_pad", "pad", 2, {"edge_padding_low", "edge_padding_high", "interior_padding"}},
      {"real_dynamic_slice", "slice", 1, {"start_indices", "limit_indices", "strides"}},
  };
  for (const SizesAsOperands& one : *kAll) {
    if (one.name == absl::string_view(name.data(), name.size())) return &one;
  }
  return nullptr;
}

// Whether it was imported as the operation with constant sizes.
bool ImportWithConstantSizes(ImportedOp& call) {
  const SizesAsOperands* sizes = FindSizesAsOperands(call.op.getName().stripDialect());
  if (sizes == nullptr || call.operands.size() != sizes->first + sizes->attributes.size()) {
    return false;
  }
  std::vector<Ints> numbers(sizes->attributes.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!AddConstantInts(*call.operands[sizes->first + i], kMaxConstantSteps, &numbers[i])) {
      return false;
    }
  }
  ImportedOp fixed{call.importer,   call.op,       OpRuleNamed(sizes->fixed),
                   call.attributes, call.operands, call.shape};
  fixed.operands.resize(sizes->first);
  for (size_t i = 0; i < numbers.size(); ++i) {
    fixed.attributes.Give(sizes->attributes[i], numbers[i]);
  }
  fixed.rule.import(fixed);
  if (!fixed.attributes.error().empty()) call.importer.Fail(call.op, fixed.attributes.error());
  return true;
}

// A slice of a constant size whose start is an operand. It lies within the array, as that of HLO is made to.
bool ImportWithConstantStrides(ImportedOp& call) {
  Ints strides;
  if (call.op.getName().stripDialect() != "real_dynamic_slice" || call.operands.size() != 4 ||
      !call.shape.IsArray() || !call.shape.IsStatic() || call.shape.rank() == 0 ||
      !AddConstantInts(*call.operands[3], kMaxConstantSteps, &strides) ||
      !absl::c_all_of(strides, [](int64_t stride) { return stride == 1; })) {
    return false;
  }
  const HloInstruction* starts = call.operands[1];
  if (!SameDimensions(starts->shape(), Shape::Array(ElementType::kS64, Ints{call.shape.rank()}))) {
    return false;
  }
  const ElementType type = starts->shape().element_type();
  ImportedOperands operands = {call.operands[0]};
  for (int64_t i = 0; i < call.shape.rank(); ++i) {
    HloInstruction* one =
        call.importer.AddStep(call.op, HloOpcode::kSlice, {starts}, Shape::Array(type, Ints{1}));
    const SliceRange range = {i, i + 1, 1};
    one->SetAttribute(AttributeKey::kSlice, absl::MakeConstSpan(&range, 1));
    operands.push_back(
        call.importer.AddStep(call.op, HloOpcode::kReshape, {one}, Shape::Scalar(type)));
  }
  HloInstruction* made =
      call.importer.AddMain(call.op, HloOpcode::kDynamicSlice, operands, call.shape);
  made->SetAttribute(AttributeKey::kDynamicSliceSizes, call.shape.dimensions());
  BindMain(call, made);
  return true;
}

}  // namespace

namespace {

// Whether it is known which dimensions of the operand have size 1: those of unknown sizes may be repeated, or not.
bool KnowsRepeated(ImportedOp& call) {
  const Shape& from = call.operands[0]->shape();
  const Ints dims = call.attributes.Ints("broadcast_dimensions");
  const Ints kept = call.attributes.Ints("known_nonexpanding_dimensions");
  if (!from.IsArray() || !call.shape.IsArray() ||
      static_cast<int64_t>(dims.size()) != from.rank()) {
    return false;
  }
  for (int64_t i = 0; i < from.rank(); ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (from.dimension(i) == 1 || absl::c_linear_search(kept, i)) continue;
    if (dim < 0 || dim >= call.shape.rank() || from.IsDynamicDimension(i) ||
        from.dimension(i) != call.shape.dimension(dim)) {
      return false;
    }
  }
  return true;
}

}  // namespace

// An operation whose sizes are operands: what it is with constant sizes, where these are constants or the type
// of the result says them.
void ImportDynamic(ImportedOp& call) {
  if (ImportWithConstantSizes(call) || ImportWithConstantStrides(call)) return;
  if (call.rule.opcode == HloOpcode::kBroadcast && KnowsRepeated(call))
    return ImportBroadcast(call);
  const bool is_known = call.rule.opcode != HloOpcode::kCustomCall;
  if (is_known && call.shape.IsArray() && call.shape.IsStatic()) {
    if (call.rule.opcode == HloOpcode::kBroadcast) return ImportBroadcast(call);
    call.operands.resize(call.rule.opcode == HloOpcode::kIota ? 0 : 1);
    return ImportPlain(call);
  }
  HloInstruction* made =
      call.importer.AddMain(call.op, HloOpcode::kCustomCall, call.operands, call.shape);
  made->SetAttribute(
      AttributeKey::kCustomCallTarget,
      absl::string_view(absl::StrCat("stablehlo.", call.op.getName().stripDialect().str())));
  BindMain(call, made);
}

// HLO leaves it open what a dimension is that is batching and indexed; StableHLO has none.
void ImportGather(ImportedOp& call) {
  const Ints batching = call.attributes.Ints("dimension_numbers.operand_batching_dims");
  for (const int64_t dim : call.attributes.Ints("dimension_numbers.start_index_map")) {
    if (std::find(batching.begin(), batching.end(), dim) == batching.end()) continue;
    return call.importer.Fail(call.op, "dimension ", dim,
                              " is in start_index_map and in operand_batching_dims");
  }
  ImportPlain(call);
}

void ImportSquare(ImportedOp& call) {
  call.operands.push_back(call.operands[0]);
  ImportPlain(call);
}

void ImportCompare(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  if (call.attributes.Word("compare_type") == "TOTALORDER") {
    made->SetAttribute(AttributeKey::kComparisonType, absl::string_view("TOTALORDER"));
  }
  BindMain(call, made);
}

// A function that HLO has no opcode for (ModuleImporter::ScalarFunction).
void ImportFunctionOfElements(ImportedOp& call) {
  HloInstruction* made = call.importer.AddMain(call.op, HloOpcode::kMap, call.operands, call.shape);
  Ints dims(static_cast<size_t>(call.shape.IsArray() ? call.shape.rank() : 0));
  std::iota(dims.begin(), dims.end(), 0);
  made->SetAttribute(AttributeKey::kDimensions, SpanOf(dims));
  made->SetAttribute(AttributeKey::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindMain(call, made);
}

// Operands are broadcast as numpy does it, or as the attribute says.
void ImportBroadcasting(ImportedOp& call) {
  const Ints given = call.attributes.Ints("broadcast_dimensions");
  for (const HloInstruction*& operand : call.operands) {
    if (SameDimensions(operand->shape(), call.shape)) continue;
    const bool is_given = static_cast<int64_t>(given.size()) == operand->shape().rank() &&
                          operand->shape().rank() < call.shape.rank();
    operand = AddBroadcast(call, operand, is_given ? given : LastDimensions(call, *operand),
                           /*is_main=*/false);
    if (operand == nullptr) return;
  }
  const llvm::StringRef name = call.op.getName().stripDialect().drop_front(strlen("broadcast_"));
  const std::optional<HloOpcode> opcode =
      OpcodeFromName(absl::StrReplaceAll(name.str(), {{"_", "-"}}));
  if (!opcode.has_value()) return ImportFunctionOfElements(call);
  HloInstruction* made = call.importer.AddMain(call.op, *opcode, call.operands, call.shape);
  if (*opcode == HloOpcode::kCompare) {
    made->SetAttribute(AttributeKey::kDirection,
                       absl::string_view(call.attributes.Word("comparison_direction")));
  }
  BindMain(call, made);
}

void ImportRng(ImportedOp& call) {
  const bool is_bits = call.rule.opcode == HloOpcode::kRngBitGenerator;
  if (!is_bits) call.operands.resize(2);
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  const std::string word =
      absl::AsciiStrToLower(call.attributes.Word(is_bits ? "rng_algorithm" : "rng_distribution"));
  made->SetAttribute(is_bits ? AttributeKey::kAlgorithm : AttributeKey::kDistribution,
                     absl::string_view(absl::StrCat("rng_", word)));
  BindMain(call, made);
}

void ImportBatchNorm(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  if (auto epsilon = mlir::dyn_cast_or_null<mlir::FloatAttr>(call.attributes.Find("epsilon"))) {
    made->SetTextAttribute("epsilon", absl::StrCat(epsilon.getValueAsDouble()));
  }
  BindMain(call, made);
}

void ImportTopK(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(AttributeKey::kLargest, true);
  BindMain(call, made);
}

}  // namespace xla_indexing::internal
