#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

// The results, and one array more for each captured value.
Shape WithCaptured(ImportedOp& call) {
  std::vector<Shape> shapes;
  for (const mlir::Type type : call.op.getResultTypes()) {
    shapes.push_back(call.importer.ShapeOf(call.op, type));
  }
  const Shape first = shapes.empty() ? Shape() : shapes[0];
  for (const mlir::Value value : call.Captures(0)) {
    shapes.push_back(first);
    shapes.back().SetElementType(call.importer.ShapeOf(call.op, value.getType()).element_type());
  }
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

ImportedOperands CapturedBy(ImportedOp& call, size_t region) {
  ImportedOperands captured;
  for (const mlir::Value value : call.Captures(region)) {
    captured.push_back(call.importer.ValueOf(call.op, value));
  }
  return captured;
}

}  // namespace

// reduce, reduce_window, scatter, sort, map. What the region captures is one more array of each kind that it has: for
// reductions there are as many initial values, or updates behind the indices, as there are arrays.
void ImportOfElements(ImportedOp& call) {
  const size_t count = call.operands.size();
  const size_t indices = call.rule.opcode == HloOpcode::kScatter ? 1 : 0;
  const size_t arrays = call.IsReduction() ? (count - indices) / 2 : count;
  if (call.IsReduction() && count != 2 * arrays + indices) {
    return call.Fail(indices == 1 ? "updates are" : "an initial value is",
                     " expected for each of the arrays");
  }
  const Shape like = call.operands[0]->shape();
  if (call.IsReduction()) {
    call.AddCaptured(count, indices == 1 ? call.operands[arrays + 1]->shape()
                                         : Shape::Scalar(ElementType::kPred));
  }
  call.AddCaptured(arrays, like);
  if (call.rule.form == RegionForm::kSort) {
    const int64_t dim = call.attributes.Int("dimension").value_or(-1);
    call.attributes.Give("dimension", {dim < 0 && like.IsArray() ? dim + like.rank() : dim});
  }
  const Shape shape = call.rule.form == RegionForm::kMap ? call.shape : WithCaptured(call);
  if (!call.failed()) call.Bind(call.AddMain(call.operands, shape));
}

void ImportWhile(ImportedOp& call) {
  ImportedOperands state = call.operands;
  const ImportedOperands captured = CapturedBy(call, 0);
  if (call.failed()) return;
  if (call.op.getNumResults() != call.operands.size()) {
    return call.Fail("it has ", call.operands.size(), " operands and ", call.op.getNumResults(),
                     " results");
  }
  state.insert(state.end(), captured.begin(), captured.end());
  const HloInstruction* tuple = call.AddTuple(state);
  call.Bind(call.AddMain({tuple}, tuple->shape()));
}

void ImportConditional(ImportedOp& call) {
  for (unsigned i = 0; i < call.op.getNumRegions(); ++i) {
    const ImportedOperands captured = CapturedBy(call, i);
    if (call.failed()) return;
    call.operands.push_back(call.AddTuple(captured));
  }
  ImportPlain(call);
}

void ImportCall(ImportedOp& call) {
  const absl::string_view key = call.attributes.Has("callee") ? "callee" : "decomposition";
  auto symbol = mlir::dyn_cast_or_null<mlir::FlatSymbolRefAttr>(call.attributes.Find(key));
  const std::string name = symbol ? symbol.getValue().str() : "";
  const HloComputation* callee = call.importer.FunctionNamed(call.op, name);
  if (callee == nullptr) return;
  HloInstruction* made = call.AddMain(call.operands, call.shape);
  made->SetAttribute(AttributeKey::kToApply, callee);
  call.Bind(made);
}

}  // namespace xla_indexing::internal
