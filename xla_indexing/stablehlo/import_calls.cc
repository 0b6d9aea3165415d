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
#include "absl/types/span.h"
#include "llvm/ADT/APInt.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

const HloInstruction* OneOrTuple(ImportedOp& call, const ImportedOperands& values) {
  return values.size() == 1 ? values[0] : call.AddTuple(values);
}

// The results but for the token, which is the last.
std::vector<Shape> DataShapes(ImportedOp& call) {
  std::vector<Shape> shapes;
  for (const mlir::Type type : call.op.getResultTypes()) {
    shapes.push_back(call.importer.ShapeOf(call.op, type));
  }
  if (shapes.empty() || !shapes.back().IsToken()) {
    call.Fail("arrays and a token are expected as its results");
  } else {
    shapes.pop_back();
  }
  return shapes;
}

// Binds the results to (data, token), where the data is a tuple or one array.
void BindDataAndToken(ImportedOp& call, const HloInstruction* made) {
  const HloInstruction* data = call.AddElement(made, 0);
  const unsigned last = call.op.getNumResults() - 1;
  for (unsigned i = 0; i < last; ++i) {
    call.importer.BindResult(call.op.getResult(i),
                             data->shape().IsTuple() ? call.AddElement(data, i) : data);
  }
  call.importer.BindResult(call.op.getResult(last), call.AddElement(made, 1));
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
  std::vector<Shape> shapes = DataShapes(call);
  if (call.failed()) return;
  const Shape shape = Shape::Tuple({Shape::Tuple(std::move(shapes)), Shape::Token()});
  BindDataAndToken(call, call.AddMain(call.operands, shape));
}

void ImportSend(ImportedOp& call) {
  const HloInstruction* token = call.operands.back();
  call.operands.pop_back();
  const HloInstruction* data = OneOrTuple(call, call.operands);
  call.Bind(AddTransfer(call, {data, token}, data->shape(), HloOpcode::kSendDone, Shape::Token()));
}

void ImportRecv(ImportedOp& call) {
  std::vector<Shape> shapes = DataShapes(call);
  if (call.failed()) return;
  const Shape data = shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
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

// `{{0}: (1, {})}` of #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, ..>.
std::string AliasesText(mlir::Attribute attribute) {
  std::vector<std::string> aliases;
  auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  for (const mlir::Attribute alias : list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    const std::string text = AttributeText(alias);
    const auto value_of = [&](absl::string_view key) {
      return absl::StrReplaceAll(AttributePart(text, key).value_or(""),
                                 {{"[", ""}, {"]", ""}, {" ", ""}});
    };
    aliases.push_back(absl::StrCat("{", value_of("output_tuple_indices"), "}: (",
                                   value_of("operand_index"), ", {",
                                   value_of("operand_tuple_indices"), "})"));
  }
  return aliases.empty() ? "" : absl::StrCat("{", absl::StrJoin(aliases, ", "), "}");
}

// Gives arrays the layouts that `operand_layouts` or `result_layouts` says; false where there are none.
bool TakeLayouts(ImportedOp& call, absl::string_view name, std::vector<Shape>* shapes) {
  auto layouts = mlir::dyn_cast_or_null<mlir::ArrayAttr>(call.attributes.Find(name));
  if (!layouts || layouts.size() != shapes->size()) return false;
  for (size_t i = 0; i < shapes->size(); ++i) {
    Shape& shape = (*shapes)[i];
    if (!shape.IsArray() || shape.rank() == 0) continue;
    auto dims = mlir::dyn_cast<mlir::DenseIntElementsAttr>(layouts[i]);
    if (!dims || dims.getNumElements() != shape.rank()) {
      call.Fail("a layout does not fit ", shape.ToString());
      return false;
    }
    Layout given;
    for (const llvm::APInt& dim : dims.getValues<llvm::APInt>()) {
      given.minor_to_major.push_back(dim.getSExtValue());
    }
    shape.SetLayout(std::move(given));
  }
  return true;
}

// The text of a string, or of the attributes of a typed interface.
void SetBackendConfig(ImportedOp& call, HloInstruction* made) {
  mlir::Attribute given = call.attributes.Find("mhlo.backend_config");
  if (!given) given = call.attributes.Find("backend_config");
  const std::string config = AttributeText(given);
  Lexer lexer(config);
  absl::string_view unused;
  if (!mlir::isa_and_nonnull<mlir::DictionaryAttr>(given)) {
    if (config.empty()) return;
    made->SetTextAttribute("backend_config", absl::StrCat("\"", absl::CEscape(config), "\""));
  } else if (lexer.ReadBraces(&unused) && lexer.AtEnd()) {
    made->SetTextAttribute("backend_config", config);
  }
}

void SetCalledComputations(ImportedOp& call, HloInstruction* made) {
  auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(call.attributes.Find("called_computations"));
  if (!list || list.empty()) return;
  std::vector<const HloComputation*> called;
  for (const mlir::Attribute one : list) {
    auto symbol = mlir::dyn_cast<mlir::FlatSymbolRefAttr>(one);
    called.push_back(call.importer.FunctionNamed(call.op, symbol ? symbol.getValue().str() : ""));
  }
  if (call.failed()) return;
  made->SetAttribute(Key::kCalledComputations, absl::MakeConstSpan(called));
}

}  // namespace

void ImportCustomCall(ImportedOp& call) {
  const bool is_one = call.op.getNumResults() == 1;
  std::vector<Shape> results = {call.shape}, operands;
  if (!is_one) results = {call.shape.tuple_elements().begin(), call.shape.tuple_elements().end()};
  for (const HloInstruction* operand : call.operands) operands.push_back(operand->shape());
  if (TakeLayouts(call, "result_layouts", &results)) {
    call.shape = is_one ? results[0] : Shape::Tuple(std::move(results));
  }
  HloInstruction* made = call.AddMain(call.operands, call.shape);
  if (TakeLayouts(call, "operand_layouts", &operands)) {
    const std::string texts = absl::StrJoin(
        operands, ", ",
        [](std::string* out, const Shape& shape) { absl::StrAppend(out, shape.ToString()); });
    made->SetTextAttribute("operand_layout_constraints", absl::StrCat("{", texts, "}"));
  }
  made->SetAttribute(Key::kCustomCallTarget,
                     absl::string_view(call.attributes.Text("call_target_name")));
  if (call.attributes.Bool("has_side_effect")) {
    made->SetTextAttribute("custom_call_has_side_effect", "true");
  }
  const std::string aliases = AliasesText(call.attributes.Find("output_operand_aliases"));
  if (!aliases.empty()) {
    made->SetAttribute(Key::kOutputToOperandAliasing, absl::string_view(aliases));
  }
  const absl::string_view versions[] = {"API_VERSION_STATUS_RETURNING",
                                        "API_VERSION_STATUS_RETURNING_UNIFIED",
                                        "API_VERSION_TYPED_FFI"};
  const int64_t version = call.attributes.Int("api_version")
                              .value_or(call.attributes.Find("mhlo.backend_config") ? 4 : 1);
  if (version >= 2 && version <= 4) made->SetTextAttribute("api_version", versions[version - 2]);
  SetCalledComputations(call, made);
  SetBackendConfig(call, made);
  call.Bind(made);
}

}  // namespace xla_indexing::internal
