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
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/op_attributes.h"
#include "xla_indexing/stablehlo/shapes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

}  // namespace

void ImportConstant(ImportedOp& call) {
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.attributes.Find("value"));
  const bool is_splat = dense && dense.isSplat() && call.shape.IsArray() && call.shape.rank() > 0;
  const Shape stored = is_splat ? Shape::Scalar(call.shape.element_type()) : call.shape;
  const absl::StatusOr<Literal> literal = LiteralOfAttribute(call.attributes.Find("value"), stored);
  if (!literal.ok()) return call.Fail(literal.status().message());
  HloInstruction* made = is_splat ? call.AddStep(HloOpcode::kConstant, {}, stored)
                                  : call.AddMain(HloOpcode::kConstant, {}, stored);
  made->SetAttribute(Key::kConstantValue, &*literal);
  if (is_splat) {
    made = call.AddMain(HloOpcode::kBroadcast, {made}, call.shape);
    made->SetAttribute(Key::kDimensions, absl::Span<const int64_t>());
  }
  call.Bind(made);
}

namespace {

// The operand in the shape of the result, its dimensions these of the result. HLO's broadcast has no dimensions
// of size 1 that grow: they are reshaped away first. Null after an error.
HloInstruction* AddBroadcast(ImportedOp& call, const HloInstruction* operand, const Ints& dims,
                             bool is_main) {
  const Shape& from = operand->shape();
  if (!from.IsArray() || !call.shape.IsArray() ||
      static_cast<int64_t>(dims.size()) != from.rank()) {
    call.Fail("broadcast_dimensions: ", dims.size(), " numbers are given for an operand ",
              from.ToString());
    return nullptr;
  }
  Ints kept;
  Shape kept_shape = Shape::Scalar(from.element_type());
  for (int64_t i = 0; i < from.rank(); ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (dim < 0 || dim >= call.shape.rank()) {
      call.Fail("broadcast_dimensions: the result ", call.shape.ToString(), " has no dimension ",
                dim);
      return nullptr;
    }
    if (from.dimension(i) == 1 && call.shape.dimension(dim) != 1) continue;
    kept.push_back(dim);
    kept_shape.AddDimension(from.dimension(i), from.IsDynamicDimension(i));
  }
  if (kept_shape.HasUnboundedDimension() && kept_shape.rank() != from.rank()) {
    ImportedOperands operands = {operand};
    for (int64_t i = 0; i < from.rank(); ++i) {
      if (from.dimension(i) == 1 && !absl::c_linear_search(kept, dims[static_cast<size_t>(i)])) {
        continue;
      }
      operands.push_back(call.AddStep(HloOpcode::kGetDimensionSize, {operand},
                                      Shape::Scalar(ElementType::kS32), {i}));
    }
    operand = call.AddStep(HloOpcode::kDynamicReshape, operands, kept_shape);
  } else if (kept_shape.rank() != from.rank()) {
    operand = call.AddStep(HloOpcode::kReshape, {operand}, kept_shape);
  }
  Shape to = call.shape;
  to.SetElementType(from.element_type());
  HloInstruction* made = is_main ? call.AddMain(HloOpcode::kBroadcast, {operand}, to)
                                 : call.AddStep(HloOpcode::kBroadcast, {operand}, to);
  made->SetAttribute(Key::kDimensions, SpanOf(kept));
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
  const bool has_dims = !call.Is("broadcast");
  const Ints dims = has_dims ? call.attributes.Ints("broadcast_dimensions")
                             : LastDimensions(call, *call.operands[0]);
  call.Bind(AddBroadcast(call, call.operands[0], dims, /*is_main=*/true));
}

// HLO leaves it open what a dimension is that is batching and indexed; StableHLO has none.
void ImportGather(ImportedOp& call) {
  const Ints batching = call.attributes.Ints("operand_batching_dims");
  for (const int64_t dim : call.attributes.Ints("start_index_map")) {
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
  HloInstruction* made = call.AddMain(HloOpcode::kMap, call.operands, call.shape);
  Ints dims(static_cast<size_t>(call.shape.IsArray() ? call.shape.rank() : 0));
  std::iota(dims.begin(), dims.end(), 0);
  made->SetAttribute(Key::kDimensions, SpanOf(dims));
  made->SetAttribute(Key::kToApply, call.Region(0));
  call.Bind(made);
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
  HloInstruction* made = call.AddMain(*opcode, call.operands, call.shape);
  if (*opcode == HloOpcode::kCompare) {
    made->SetAttribute(Key::kDirection,
                       absl::string_view(call.attributes.Word("comparison_direction")));
  }
  call.Bind(made);
}

// The shape is that of the result.
void ImportRng(ImportedOp& call) {
  call.operands.resize(2);
  ImportPlain(call);
}

// The last dimension of the first and the first of the second.
void ImportDot(ImportedOp& call) {
  const int64_t last = std::max<int64_t>(call.operands[0]->shape().rank() - 1, 0);
  call.attributes.Give("lhs_contracting_dimensions", {last});
  call.attributes.Give("rhs_contracting_dimensions", {0});
  ImportPlain(call);
}

}  // namespace xla_indexing::internal
