#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/StringRef.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

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
  if (!fixed.attributes.error().empty()) call.Fail(fixed.attributes.error());
  return true;
}

// The elements of a list of one number for each dimension of the result, as scalars; false where it is none.
bool AddScalarsOf(ImportedOp& call, const HloInstruction* list, ImportedOperands* scalars) {
  const int64_t rank = call.shape.IsArray() ? call.shape.rank() : 0;
  if (!SameDimensions(list->shape(), Shape::Array(ElementType::kS64, Ints{rank}))) return false;
  const ElementType type = list->shape().element_type();
  for (int64_t i = 0; i < rank; ++i) {
    HloInstruction* one = call.AddStep(HloOpcode::kSlice, {list}, Shape::Array(type, Ints{1}));
    const SliceRange range = {i, i + 1, 1};
    one->SetAttribute(Key::kSlice, absl::MakeConstSpan(&range, 1));
    scalars->push_back(call.AddStep(HloOpcode::kReshape, {one}, Shape::Scalar(type)));
  }
  return true;
}

// A slice of a constant size whose start is an operand. It lies within the array, as that of HLO is made to.
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
  HloInstruction* made = call.AddMain(HloOpcode::kDynamicSlice, operands, call.shape);
  made->SetAttribute(Key::kDynamicSliceSizes, call.shape.dimensions());
  call.Bind(made);
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
                        {i});
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

// Whether it is known which dimensions of the operand are repeated. One of unknown size may be, if it is 1 at run time;
// but JAX repeats what has size 1 by its type, and takes a symbol for the same size in operand and result.
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
    if (dim < 0 || dim >= call.shape.rank() ||
        (from.IsDynamicDimension(i) && !call.importer.has_symbols_of_jax()) ||
        from.dimension(i) != call.shape.dimension(dim)) {
      return false;
    }
  }
  return true;
}

}  // namespace

// What it is with constant sizes, where these are constants or the type of the result says them; what HLO has for
// sizes that are known at run time; else a custom call.
void ImportDynamic(ImportedOp& call) {
  if (ImportWithConstantSizes(call) || ImportWithConstantStrides(call)) return;
  const bool is_static = call.shape.IsArray() && call.shape.IsStatic();
  switch (call.rule.opcode) {
    case HloOpcode::kBroadcast:
      if (is_static || KnowsRepeated(call)) return ImportBroadcast(call);
      break;
    case HloOpcode::kIota:
      if (!is_static && ImportBoundedIota(call)) return;
      if (is_static) {
        call.operands.clear();
        return ImportPlain(call);
      }
      break;
    case HloOpcode::kReshape:
      if (!is_static && ImportDynamicReshape(call)) return;
      if (is_static) {
        call.operands.resize(1);
        return ImportPlain(call);
      }
      break;
    default:
      break;
  }
  HloInstruction* made = call.AddMain(HloOpcode::kCustomCall, call.operands, call.shape);
  made->SetAttribute(
      Key::kCustomCallTarget,
      absl::string_view(absl::StrCat("stablehlo.", call.op.getName().stripDialect().str())));
  call.Bind(made);
}

}  // namespace xla_indexing::internal
