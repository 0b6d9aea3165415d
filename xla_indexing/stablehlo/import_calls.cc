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
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/import_ops.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

ImportedOperands CapturedBy(ImportedOp& call, size_t region) {
  ImportedOperands captured;
  for (const mlir::Value value : call.importer.RegionsOf(call.op).captures[region]) {
    captured.push_back(call.importer.ValueOf(call.op, value));
  }
  return captured;
}

}  // namespace

void ImportWhile(ImportedOp& call) {
  ImportedOperands state = call.operands;
  const ImportedOperands captured = CapturedBy(call, 0);
  if (call.importer.failed()) return;
  state.insert(state.end(), captured.begin(), captured.end());
  const HloInstruction* tuple = call.importer.AddTuple(call.op, state);
  HloInstruction* made = AddMainOf(call, {tuple}, tuple->shape());
  made->SetAttribute(AttributeKey::kCondition, call.importer.RegionsOf(call.op).computations[0]);
  made->SetAttribute(AttributeKey::kBody, call.importer.RegionsOf(call.op).computations[1]);
  if (call.op.getNumResults() != call.operands.size()) {
    return call.importer.Fail(call.op, "it has ", call.operands.size(), " operands and ",
                              call.op.getNumResults(), " results");
  }
  call.importer.Bind(call.op, made, /*is_in_tuple=*/true);
}

void ImportConditional(ImportedOp& call) {
  const std::vector<const HloComputation*> branches = call.importer.RegionsOf(call.op).computations;
  for (size_t i = 0; i < branches.size(); ++i) {
    const ImportedOperands captured = CapturedBy(call, i);
    if (call.importer.failed()) return;
    call.operands.push_back(call.importer.AddTuple(call.op, captured));
  }
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  if (call.op.getName().stripDialect() == "if" && branches.size() == 2) {
    made->SetAttribute(AttributeKey::kTrueComputation, branches[0]);
    made->SetAttribute(AttributeKey::kFalseComputation, branches[1]);
  } else {
    made->SetAttribute(AttributeKey::kBranchComputations, absl::MakeConstSpan(branches));
  }
  BindMain(call, made);
}

void ImportCall(ImportedOp& call) {
  const absl::string_view key = call.attributes.Has("callee") ? "callee" : "decomposition";
  auto symbol = mlir::dyn_cast_or_null<mlir::FlatSymbolRefAttr>(call.attributes.Find(key));
  const std::string name = symbol ? symbol.getValue().str() : "";
  const HloComputation* callee = call.importer.FunctionNamed(call.op, name);
  if (callee == nullptr) return;
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(AttributeKey::kToApply, callee);
  BindMain(call, made);
}

void ImportBarrier(ImportedOp& call) {
  const HloInstruction* operand = call.operands[0];
  if (call.operands.size() != 1) operand = call.importer.AddTuple(call.op, call.operands);
  BindMain(call, AddMainOf(call, {operand}, operand->shape()));
}

namespace {

// The results but for the token, which is the last.
std::vector<Shape> DataShapes(ImportedOp& call) {
  std::vector<Shape> shapes;
  for (const mlir::Type type : call.op.getResultTypes()) {
    shapes.push_back(call.importer.ShapeOf(call.op, type));
  }
  if (shapes.empty() || !shapes.back().IsToken()) {
    call.importer.Fail(call.op, "arrays and a token are expected as its results");
  } else {
    shapes.pop_back();
  }
  return shapes;
}

// Binds the results to (data, token), where the data is a tuple or one array.
void BindDataAndToken(ImportedOp& call, const HloInstruction* made) {
  const HloInstruction* data = call.importer.AddElement(call.op, made, 0);
  const unsigned last = call.op.getNumResults() - 1;
  for (unsigned i = 0; i < last; ++i) {
    call.importer.BindResult(call.op.getResult(i), data->shape().IsTuple()
                                                       ? call.importer.AddElement(call.op, data, i)
                                                       : data);
  }
  call.importer.BindResult(call.op.getResult(last), call.importer.AddElement(call.op, made, 1));
}

void SetTransfer(ImportedOp& call, HloInstruction* made) {
  made->SetAttribute(AttributeKey::kChannelId,
                     call.attributes.Int("channel_handle.handle").value_or(0));
  if (call.attributes.Bool("is_host_transfer")) {
    made->SetAttribute(AttributeKey::kIsHostTransfer, true);
  }
}

}  // namespace

void ImportInfeed(ImportedOp& call) {
  std::vector<Shape> shapes = DataShapes(call);
  if (call.importer.failed()) return;
  BindDataAndToken(call,
                   AddMainOf(call, call.operands,
                             Shape::Tuple({Shape::Tuple(std::move(shapes)), Shape::Token()})));
}

// A send and its send-done: one value, or a tuple of them.
void ImportSend(ImportedOp& call) {
  const HloInstruction* token = call.operands.back();
  call.operands.pop_back();
  const HloInstruction* data =
      call.operands.size() == 1 ? call.operands[0] : call.importer.AddTuple(call.op, call.operands);
  HloInstruction* sent =
      AddMainOf(call, {data, token},
                Shape::Tuple({data->shape(), Shape::Scalar(ElementType::kU32), Shape::Token()}));
  SetTransfer(call, sent);
  HloInstruction* done =
      call.importer.AddStep(call.op, HloOpcode::kSendDone, {sent}, Shape::Token());
  SetTransfer(call, done);
  BindMain(call, done);
}

void ImportRecv(ImportedOp& call) {
  std::vector<Shape> shapes = DataShapes(call);
  if (call.importer.failed()) return;
  const Shape data = shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
  HloInstruction* received = AddMainOf(
      call, call.operands, Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()}));
  SetTransfer(call, received);
  HloInstruction* done = call.importer.AddStep(call.op, HloOpcode::kRecvDone, {received},
                                               Shape::Tuple({data, Shape::Token()}));
  SetTransfer(call, done);
  BindDataAndToken(call, done);
}

void ImportOutfeed(ImportedOp& call) {
  const HloInstruction* token = call.operands.back();
  call.operands.pop_back();
  const HloInstruction* data = call.importer.AddTuple(call.op, call.operands);
  HloInstruction* made = AddMainOf(call, {data, token}, call.shape);
  made->SetTextAttribute("outfeed_shape", data->shape().ToString());
  BindMain(call, made);
}

namespace {

// `{{0}: (1, {})}` of #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, ..>.
std::string AliasesText(mlir::Attribute attribute) {
  std::vector<std::string> aliases;
  auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  if (!list) return "";
  for (const mlir::Attribute alias : list) {
    const std::string text = AttributeText(alias);
    const auto value_of = [&](const char* key) {
      const size_t at = text.find(key);
      const size_t begin = at == std::string::npos ? at : text.find('=', at);
      if (begin == std::string::npos) return std::string();
      const size_t end =
          text.find_first_of(text.find('[', begin) == begin + 2 ? "]" : ",>", begin + 1);
      return absl::StrReplaceAll(text.substr(begin + 1, end - begin - 1), {{"[", ""}, {" ", ""}});
    };
    aliases.push_back(absl::StrCat("{", value_of("output_tuple_indices"), "}: (",
                                   value_of("operand_index"), ", {",
                                   value_of("operand_tuple_indices"), "})"));
  }
  return aliases.empty() ? "" : absl::StrCat("{", absl::StrJoin(aliases, ", "), "}");
}

// The shape with the layout that one of `operand_layouts`, `result_layouts` says.
Shape WithLayout(ImportedOp& call, Shape shape, mlir::Attribute layout) {
  auto dims = mlir::dyn_cast<mlir::DenseIntElementsAttr>(layout);
  if (!shape.IsArray() || shape.rank() == 0 || !dims || dims.getNumElements() != shape.rank()) {
    if (shape.IsArray() && shape.rank() > 0)
      call.importer.Fail(call.op, "a layout does not fit ", shape.ToString());
    return shape;
  }
  Layout given;
  for (const llvm::APInt& dim : dims.getValues<llvm::APInt>()) {
    given.minor_to_major.push_back(dim.getSExtValue());
  }
  shape.SetLayout(std::move(given));
  return shape;
}

}  // namespace

void ImportCustomCall(ImportedOp& call) {
  Shape shape = call.shape;
  auto results = mlir::dyn_cast_or_null<mlir::ArrayAttr>(call.attributes.Find("result_layouts"));
  if (results && results.size() == call.op.getNumResults()) {
    if (shape.IsTuple()) {
      std::vector<Shape> shapes;
      shapes.reserve(results.size());
      for (size_t i = 0; i < results.size(); ++i) {
        shapes.push_back(
            WithLayout(call, shape.tuple_element(static_cast<int64_t>(i)), results[i]));
      }
      shape = Shape::Tuple(std::move(shapes));
    } else {
      shape = WithLayout(call, shape, results[0]);
    }
  }
  HloInstruction* made = AddMainOf(call, call.operands, shape);
  auto operands = mlir::dyn_cast_or_null<mlir::ArrayAttr>(call.attributes.Find("operand_layouts"));
  if (operands && operands.size() == call.operands.size()) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < operands.size(); ++i) {
      Shape of_operand = call.operands[i]->shape();
      texts.push_back(WithLayout(call, of_operand, operands[i]).ToString());
    }
    made->SetTextAttribute("operand_layout_constraints",
                           absl::StrCat("{", absl::StrJoin(texts, ", "), "}"));
  }
  const std::string target = call.attributes.Text("call_target_name");
  made->SetAttribute(AttributeKey::kCustomCallTarget, absl::string_view(target));
  if (call.attributes.Bool("has_side_effect")) {
    made->SetTextAttribute("custom_call_has_side_effect", "true");
  }
  if (const std::string aliases = AliasesText(call.attributes.Find("output_operand_aliases"));
      !aliases.empty()) {
    made->SetAttribute(AttributeKey::kOutputToOperandAliasing, absl::string_view(aliases));
  }
  const absl::string_view versions[] = {"", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                        "API_VERSION_STATUS_RETURNING_UNIFIED",
                                        "API_VERSION_TYPED_FFI"};
  const int64_t version = call.attributes.Int("api_version")
                              .value_or(call.attributes.Find("mhlo.backend_config") ? 4 : 1);
  if (version > 1 && version <= 4) {
    made->SetTextAttribute("api_version", versions[version]);
  }
  std::vector<const HloComputation*> called;
  if (auto list =
          mlir::dyn_cast_or_null<mlir::ArrayAttr>(call.attributes.Find("called_computations"))) {
    for (const mlir::Attribute one : list) {
      auto symbol = mlir::dyn_cast<mlir::FlatSymbolRefAttr>(one);
      called.push_back(call.importer.FunctionNamed(call.op, symbol ? symbol.getValue().str() : ""));
    }
  }
  if (call.importer.failed()) return;
  if (!called.empty())
    made->SetAttribute(AttributeKey::kCalledComputations, absl::MakeConstSpan(called));
  // A string, or the attributes of a typed interface.
  mlir::Attribute given = call.attributes.Find("mhlo.backend_config");
  if (!given) given = call.attributes.Find("backend_config");
  const bool is_typed = mlir::isa_and_nonnull<mlir::DictionaryAttr>(given);
  const std::string config = AttributeText(given);
  Lexer lexer(config);
  absl::string_view unused;
  if (is_typed && lexer.ReadBraces(&unused) && lexer.AtEnd()) {
    made->SetTextAttribute("backend_config", config);
  } else if (!is_typed && !config.empty()) {
    made->SetTextAttribute("backend_config", absl::StrCat("\"", absl::CEscape(config), "\""));
  }
  BindMain(call, made);
}

}  // namespace xla_indexing::internal
