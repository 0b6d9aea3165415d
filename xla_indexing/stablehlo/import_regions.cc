// What has a region, calls, what other devices have a part in, and what is outside of the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/types_and_attributes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

Shape OneOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

const HloInstruction* OneOrTuple(ImportedOp& call, const ImportedOperands& values) {
  return values.size() == 1 ? values[0] : call.AddTuple(values);
}

// The elements of what is a tuple unless it is one value.
ImportedOperands ElementsOf(ImportedOp& call, const HloInstruction* made, bool is_one) {
  if (is_one) return {made};
  ImportedOperands elements;
  const size_t count = made->shape().IsTuple() ? made->shape().tuple_elements().size() : 0;
  for (size_t i = 0; i < count; ++i) {
    elements.push_back(call.AddElement(made, static_cast<int64_t>(i)));
  }
  return elements;
}

// The results, and one array more for each captured value.
Shape WithCaptured(ImportedOp& call) {
  std::vector<Shape> shapes = call.importer.ResultShapes(call.op);
  const Shape first = shapes.empty() ? Shape() : shapes[0];
  for (const HloInstruction* scalar : call.Captured(0)) {
    shapes.push_back(first);
    shapes.back().SetElementType(scalar->shape().element_type());
  }
  return OneOrTuple(std::move(shapes));
}

// Whether a type is another one with more bits.
bool IsWider(ElementType type, ElementType than) {
  return BitWidth(type) > BitWidth(than) && IsSignedIntegral(type) == IsSignedIntegral(than) &&
         IsUnsignedIntegral(type) == IsUnsignedIntegral(than) &&
         IsComplex(type) == IsComplex(than) && !IsPred(than);
}

// Converts an operand to the element type of the region's argument, where that has more bits.
void Promote(ImportedOp& call, size_t argument, size_t operand) {
  mlir::Region& region = call.op.getRegion(0);
  if (argument >= region.getNumArguments()) return;
  const HloInstruction*& value = call.operands[operand];
  const Shape taken =
      call.importer.ShapeOf(call.op, region.getArgument(static_cast<unsigned>(argument)).getType());
  Shape shape = value->shape();
  if (!taken.IsArray() || !shape.IsArray() ||
      !IsWider(taken.element_type(), shape.element_type())) {
    return;
  }
  shape.SetElementType(taken.element_type());
  value = call.AddStep(HloOpcode::kConvert, {value}, shape);
}

}  // namespace

// reduce, reduce_window, scatter, sort, map. What the region captures is one more array of each
// kind that it has: for reductions there are as many initial values, or updates behind the indices,
// as there are arrays.
void ImportOfElements(ImportedOp& call) {
  const bool is_reduction = call.rule.form == RegionForm::kReducer;
  const size_t count = call.operands.size();
  const size_t indices = call.rule.opcode == HloOpcode::kScatter ? 1 : 0;
  const size_t arrays = is_reduction ? (count - indices) / 2 : count;
  const Shape like = call.operands[0]->shape();
  if (is_reduction) {
    if (count != 2 * arrays + indices) {
      return call.Fail(indices == 1 ? "updates are" : "an initial value is",
                       " expected for each of the arrays");
    }
    for (size_t i = 0; i < count; ++i) {
      if (i < arrays || i >= arrays + indices) Promote(call, i % (arrays + indices), i);
    }
    call.AddCaptured(count, indices == 1 ? call.operands[arrays + 1]->shape()
                                         : Shape::Scalar(ElementType::kPred));
  }
  call.AddCaptured(arrays, like);
  if (call.rule.form == RegionForm::kSort) {
    const int64_t dim = call.IntAt("dimension").value_or(-1);
    call.given.emplace_back("dimension", Ints{dim < 0 && like.IsArray() ? dim + like.rank() : dim});
  }
  const Shape shape = call.rule.form == RegionForm::kMap ? call.shape : WithCaptured(call);
  if (!call.failed()) call.Bind(call.AddMain(call.operands, shape));
}

void ImportScan(ImportedOp& call) {
  const Ints sizes = call.IntsAt("operandSegmentSizes");
  if (sizes.size() != 2) return call.Fail("operandSegmentSizes: two numbers are expected");
  call.given.emplace_back("num_carries", Ints{sizes[1]});
  ImportPlain(call);
}

void ImportWhile(ImportedOp& call) {
  if (call.op.getNumResults() != call.operands.size()) {
    return call.Fail("it has ", call.operands.size(), " operands and ", call.op.getNumResults(),
                     " results");
  }
  llvm::append_range(call.operands, call.Captured(0));
  if (call.failed()) return;
  const HloInstruction* tuple = call.AddTuple(call.operands);
  call.Bind(call.AddMain({tuple}, tuple->shape()));
}

void ImportConditional(ImportedOp& call) {
  for (unsigned i = 0; i < call.op.getNumRegions(); ++i) {
    const ImportedOperands captured = call.Captured(i);
    if (call.failed()) return;
    call.operands.push_back(call.AddTuple(captured));
  }
  ImportPlain(call);
}

void ImportCall(ImportedOp& call) {
  const mlir::Attribute callee = call.Find("callee");
  const HloComputation* called =
      call.importer.FunctionNamed(call.op, callee ? callee : call.Find("decomposition"));
  if (called == nullptr) return;
  call.Bind(call.AddMain(HloOpcode::kCall, call.operands, call.shape, {{Key::kToApply, called}}));
}

// ---- What other devices have a part in.

namespace {

// Where pieces are cut along one dimension and put together along another, HLO exchanges them along
// the first, and the piece's number is then moved to the second, as XLA's builder does. Null after
// an error.
const HloInstruction* AddExchange(ImportedOp& call, const HloInstruction* operand,
                                  const Shape& to) {
  const int64_t split = call.IntAt("split_dimension").value_or(0);
  const int64_t concat = call.IntAt("concat_dimension").value_or(0);
  const int64_t count = call.IntAt("split_count").value_or(1);
  const Shape& from = operand->shape();
  if (split == concat) return call.AddMain({operand}, to);
  if (!from.IsArray() || !from.IsStatic() || std::min(split, concat) < 0 ||
      std::max(split, concat) >= from.rank() || count < 1 || from.dimension(split) % count != 0) {
    call.Fail("dimension ", split, " of ", from.ToString(), " cannot be cut into ", count,
              " pieces that are put together along ", concat);
    return nullptr;
  }
  HloInstruction* exchanged = call.AddStep(HloOpcode::kAllToAll, {operand}, from);
  call.SetAttributes(exchanged);
  Ints cut, permutation, moved;
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i == split) cut.push_back(count);
    cut.push_back(i == split ? from.dimension(i) / count : from.dimension(i));
    if (i == concat) permutation.push_back(split);
    permutation.push_back(i >= split ? i + 1 : i);
  }
  for (const int64_t dim : permutation) moved.push_back(cut[static_cast<size_t>(dim)]);
  const auto array = [&](const Ints& sizes) { return Shape::Array(from.element_type(), sizes); };
  const HloInstruction* pieces = call.AddStep(HloOpcode::kReshape, {exchanged}, array(cut));
  const HloInstruction* transposed = call.AddStep(HloOpcode::kTranspose, {pieces}, array(moved),
                                                  {{Key::kDimensions, permutation}});
  return call.AddMain(HloOpcode::kReshape, {transposed}, to);
}

}  // namespace

void ImportAllToAll(ImportedOp& call) {
  const std::vector<Shape> shapes = call.importer.ResultShapes(call.op);
  if (shapes.size() != call.operands.size()) {
    return call.Fail("it has ", call.operands.size(), " operands and ", shapes.size(), " results");
  }
  for (size_t i = 0; i < shapes.size() && !call.failed(); ++i) {
    call.importer.BindResult(call.op.getResult(static_cast<unsigned>(i)),
                             AddExchange(call, call.operands[i], shapes[i]));
  }
}

void ImportAsyncDone(ImportedOp& call) { call.Bind(call.operands[0]); }

namespace {

// A custom call with the operation's attribute `path`, of this kind of Shardy's.
HloInstruction* AddSharded(ImportedOp& call, absl::string_view target,
                           const ImportedOperands& operands, const Shape& shape,
                           absl::string_view kind, absl::string_view path) {
  HloInstruction* made =
      call.AddMain(HloOpcode::kCustomCall, operands, shape, {{Key::kCustomCallTarget, target}});
  const std::string text = ShardyText(kind, call.Find(path));
  made->SetTextAttribute("frontend_attributes",
                         absl::StrCat("{xla.sdy.", path, "=\"", absl::CEscape(text), "\"}"));
  return made;
}

}  // namespace

void ImportShardingConstraint(ImportedOp& call) {
  call.Bind(AddSharded(call, "Sharding", call.operands, call.shape, "sharding", "sharding"));
}

void ImportManualComputation(ImportedOp& call) {
  const HloComputation* body = call.Region(0);
  std::vector<Shape> shapes;
  for (const HloInstruction* parameter : body->parameters()) shapes.push_back(parameter->shape());
  ImportedOperands local;
  if (!shapes.empty()) {
    const bool is_one = shapes.size() == 1 && call.operands.size() == 1;
    const HloInstruction* cut =
        AddSharded(call, "xla.sdy.GlobalToLocalShape", call.operands,
                   is_one ? shapes[0] : Shape::Tuple(shapes), "sharding_per_value", "in_shardings");
    local = ElementsOf(call, cut, is_one);
  }
  const HloInstruction* inner = call.AddStep(
      HloOpcode::kCall, local, body->root_instruction()->shape(), {{Key::kToApply, body}});
  call.Bind(AddSharded(call, "xla.sdy.LocalToGlobalShape",
                       ElementsOf(call, inner, call.op.getNumResults() == 1), call.shape,
                       "sharding_per_value", "out_shardings"));
}

// ---- What is outside of the program.

namespace {

// The results but for the token, which is the last.
std::vector<Shape> DataShapes(ImportedOp& call) {
  std::vector<Shape> shapes = call.importer.ResultShapes(call.op);
  if (!shapes.empty() && shapes.back().IsToken()) {
    shapes.pop_back();
  } else {
    call.Fail("arrays and a token are expected as its results");
  }
  return shapes;
}

// Binds the results to (data, token), where the data is a tuple or one array.
void BindDataAndToken(ImportedOp& call, const HloInstruction* made) {
  const HloInstruction* data = call.AddElement(made, 0);
  ImportedOperands values = ElementsOf(call, data, !data->shape().IsTuple());
  values.push_back(call.AddElement(made, 1));
  for (const auto& [result, value] : llvm::zip(call.op.getResults(), values)) {
    call.importer.BindResult(result, value);
  }
}

// What a send or recv of the data is, and then its `-done`, of this shape.
const HloInstruction* AddTransfer(ImportedOp& call, const ImportedOperands& operands,
                                  const Shape& data, HloOpcode done, const Shape& done_shape) {
  const HloInstruction* begun = call.AddMain(
      operands, Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()}));
  HloInstruction* ended = call.AddStep(done, {begun}, done_shape);
  call.SetAttributes(ended);
  return ended;
}

}  // namespace

void ImportBarrier(ImportedOp& call) {
  const HloInstruction* operand = OneOrTuple(call, call.operands);
  call.Bind(call.AddMain({operand}, operand->shape()));
}

void ImportInfeed(ImportedOp& call) {
  const Shape data = Shape::Tuple(DataShapes(call));
  if (call.failed()) return;
  BindDataAndToken(call, call.AddMain(call.operands, Shape::Tuple({data, Shape::Token()})));
}

void ImportSend(ImportedOp& call) {
  const HloInstruction* token = call.operands.back();
  call.operands.pop_back();
  const HloInstruction* data = OneOrTuple(call, call.operands);
  call.Bind(AddTransfer(call, {data, token}, data->shape(), HloOpcode::kSendDone, Shape::Token()));
}

void ImportRecv(ImportedOp& call) {
  const Shape data = OneOrTuple(DataShapes(call));
  if (call.failed()) return;
  BindDataAndToken(call, AddTransfer(call, call.operands, data, HloOpcode::kRecvDone,
                                     Shape::Tuple({data, Shape::Token()})));
}

void ImportOutfeed(ImportedOp& call) {
  const HloInstruction* token = call.operands.back();
  call.operands.pop_back();
  const HloInstruction* data = call.AddTuple(call.operands);
  HloInstruction* made = call.AddMain({data, token}, call.shape);
  made->SetTextAttribute("outfeed_shape", data->shape().ToString());
  call.Bind(made);
}

namespace {

// The elements of a list; none if the attribute is absent or is not a list.
llvm::ArrayRef<mlir::Attribute> ListOf(mlir::Attribute attribute) {
  auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  return list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>();
}

// `{{0}: (1, {})}` of #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index =
// 1, ..>.
std::string AliasesText(llvm::ArrayRef<mlir::Attribute> list) {
  std::vector<std::string> aliases;
  for (const mlir::Attribute alias : list) {
    const std::string text = AttributeText(alias);
    const auto value_of = [&](absl::string_view key) {
      return absl::StrReplaceAll(AttributePart(text, key), {{"[", ""}, {"]", ""}, {" ", ""}});
    };
    aliases.push_back(absl::StrCat("{", value_of("output_tuple_indices"), "}: (",
                                   value_of("operand_index"), ", {",
                                   value_of("operand_tuple_indices"), "})"));
  }
  return absl::StrCat("{", absl::StrJoin(aliases, ", "), "}");
}

// Gives arrays the layouts that `operand_layouts` or `result_layouts` says; false where there are
// none.
bool TakeLayouts(ImportedOp& call, absl::string_view name, std::vector<Shape>* shapes) {
  auto layouts = mlir::dyn_cast_or_null<mlir::ArrayAttr>(call.Find(name));
  if (!layouts || layouts.size() != shapes->size()) return false;
  for (const auto& [shape, layout] : llvm::zip(*shapes, layouts)) {
    if (!shape.IsArray() || shape.rank() == 0) continue;
    Ints order;
    if (!AddInts(layout, &order) || static_cast<int64_t>(order.size()) != shape.rank()) {
      call.Fail("a layout does not fit ", shape.ToString());
      return false;
    }
    Layout given;
    given.minor_to_major.assign(order.begin(), order.end());
    shape.SetLayout(std::move(given));
  }
  return true;
}

// The text of a string, or of the attributes of a typed interface.
void SetBackendConfig(ImportedOp& call, HloInstruction* made) {
  mlir::Attribute given = call.Find("mhlo.backend_config");
  if (!given) given = call.Find("backend_config");
  const std::string config = AttributeText(given);
  Lexer lexer(config);
  if (!mlir::isa_and_nonnull<mlir::DictionaryAttr>(given)) {
    if (config.empty()) return;
    made->SetTextAttribute("backend_config", absl::StrCat("\"", absl::CEscape(config), "\""));
  } else if (IsInBraces(lexer)) {
    made->SetTextAttribute("backend_config", config);
  }
}

}  // namespace

void ImportCustomCall(ImportedOp& call) {
  std::vector<Shape> results = call.importer.ResultShapes(call.op), operands;
  for (const HloInstruction* operand : call.operands) operands.push_back(operand->shape());
  if (TakeLayouts(call, "result_layouts", &results)) call.shape = OneOrTuple(std::move(results));
  HloInstruction* made = call.AddMain(call.operands, call.shape);
  if (TakeLayouts(call, "operand_layouts", &operands)) {
    const std::string texts = absl::StrJoin(
        operands, ", ",
        [](std::string* out, const Shape& shape) { absl::StrAppend(out, shape.ToString()); });
    made->SetTextAttribute("operand_layout_constraints", absl::StrCat("{", texts, "}"));
  }
  made->SetAttribute(Key::kCustomCallTarget, call.TextAt("call_target_name"));
  if (call.BoolAt("has_side_effect")) {
    made->SetTextAttribute("custom_call_has_side_effect", "true");
  }
  const auto aliases = ListOf(call.Find("output_operand_aliases"));
  if (!aliases.empty()) made->SetAttribute(Key::kOutputToOperandAliasing, AliasesText(aliases));
  const absl::string_view versions[] = {"API_VERSION_STATUS_RETURNING",
                                        "API_VERSION_STATUS_RETURNING_UNIFIED",
                                        "API_VERSION_TYPED_FFI"};
  const int64_t version =
      call.IntAt("api_version").value_or(call.Find("mhlo.backend_config") ? 4 : 1);
  if (version >= 2 && version <= 4) made->SetTextAttribute("api_version", versions[version - 2]);
  std::vector<const HloComputation*> called;
  for (const mlir::Attribute one : ListOf(call.Find("called_computations"))) {
    called.push_back(call.importer.FunctionNamed(call.op, one));
  }
  if (call.failed()) return;
  if (!called.empty()) made->SetAttribute(Key::kCalledComputations, called);
  SetBackendConfig(call, made);
  call.Bind(made);
}

}  // namespace xla_indexing::internal
