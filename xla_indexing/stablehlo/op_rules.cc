#include "xla_indexing/stablehlo/op_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/stablehlo/op_attributes.h"
#include "xla_indexing/stablehlo/shapes.h"

namespace xla_indexing::internal {
namespace {

struct OpAttributeRule {
  AttributeKey key;
  absl::string_view path;    // In the operation (op_attributes.h).
  bool is_optional = false;  // Left out where it is empty, 0 or false.
};

// One operation that is being imported, its operands made and counted.
struct ImportedOp {
  ModuleImporter& importer;
  mlir::Operation& op;
  const struct OpRule& rule;
  OpAttributes attributes;
  ImportedOperands operands;
  Shape shape;  // That of the results.
};

struct OpRule {
  absl::string_view name;  // Without the dialect's.
  HloOpcode opcode;
  int least_operands = 0;
  int least_results = 1;
  std::vector<OpAttributeRule> attributes = {};
  void (*import)(ImportedOp&) = nullptr;  // Null: the opcode, the operands and the attributes.
  RegionForm form = RegionForm::kNone;
  int regions = 0;
};

using Ints = std::vector<int64_t>;
using Key = AttributeKey;

absl::Span<const int64_t> SpanOf(const Ints& ints) { return ints; }

// Takes the attributes of the rule.
void SetRuleAttributes(ImportedOp& call, HloInstruction* made) {
  for (const OpAttributeRule& of : call.rule.attributes) {
    switch (KindOf(of.key)) {
      case AttributeKind::kIntegers: {
        const Ints ints = call.attributes.Ints(of.path);
        if (!of.is_optional || !ints.empty()) made->SetAttribute(of.key, SpanOf(ints));
        break;
      }
      case AttributeKind::kInteger: {
        const int64_t value = call.attributes.Int(of.path).value_or(0);
        if (!of.is_optional || value != 0) made->SetAttribute(of.key, value);
        break;
      }
      case AttributeKind::kBool: {
        const bool value = call.attributes.Bool(of.path);
        if (!of.is_optional || value) made->SetAttribute(of.key, value);
        break;
      }
      default: {
        const std::string word = call.attributes.Word(of.path);
        if (!of.is_optional || !word.empty()) made->SetAttribute(of.key, absl::string_view(word));
        break;
      }
    }
  }
  const std::string precision = call.attributes.Text("precision_config");
  for (const absl::string_view level : {"HIGHEST", "HIGH"}) {
    // The same for both operands, since no map depends on it.
    if (!absl::StrContains(precision, level)) continue;
    const std::string word = absl::AsciiStrToLower(level);
    made->SetTextAttribute("operand_precision", absl::StrCat("{", word, ",", word, "}"));
    break;
  }
}

// The instruction that the operation is, with the attributes of its rule and perhaps others.
HloInstruction* AddMainOf(ImportedOp& call, const ImportedOperands& operands, const Shape& shape) {
  HloInstruction* made = call.importer.AddMain(call.op, call.rule.opcode, operands, shape);
  SetRuleAttributes(call, made);
  return made;
}

void BindMain(ImportedOp& call, const HloInstruction* made) {
  call.importer.Bind(call.op, made, call.op.getNumResults() != 1);
}

void ImportPlain(ImportedOp& call) { BindMain(call, AddMainOf(call, call.operands, call.shape)); }

// ---- Constants and what only moves elements.

void ImportConstant(ImportedOp& call) {
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.attributes.Find("value"));
  const bool is_splat = dense && dense.isSplat() && call.shape.IsArray() && call.shape.rank() > 0;
  const Shape stored = is_splat ? Shape::Scalar(call.shape.element_type()) : call.shape;
  const absl::StatusOr<Literal> literal = LiteralOfAttribute(call.attributes.Find("value"), stored);
  if (!literal.ok()) return call.importer.Fail(call.op, literal.status().message());
  HloInstruction* made = is_splat
                             ? call.importer.AddStep(call.op, HloOpcode::kConstant, {}, stored)
                             : call.importer.AddMain(call.op, HloOpcode::kConstant, {}, stored);
  made->SetAttribute(Key::kConstantValue, &*literal);
  if (is_splat) {
    made = call.importer.AddMain(call.op, HloOpcode::kBroadcast, {made}, call.shape);
    made->SetAttribute(Key::kDimensions, absl::Span<const int64_t>());
  }
  BindMain(call, made);
}

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
  made->SetAttribute(Key::kDimensions, SpanOf(kept));
  return made;
}

// The last dimensions of the result.
Ints LastDimensions(ImportedOp& call, const HloInstruction& operand) {
  Ints dims(operand.shape().IsArray() ? static_cast<size_t>(operand.shape().rank()) : 0);
  std::iota(dims.begin(), dims.end(), call.shape.rank() - static_cast<int64_t>(dims.size()));
  return dims;
}

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
  made->SetAttribute(Key::kSlice, absl::Span<const SliceRange>(ranges));
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
  made->SetAttribute(Key::kPadding, absl::Span<const PaddingDimension>(padding));
  BindMain(call, made);
}

// An operation whose sizes are operands, where the type of the result says what they are.
void ImportDynamic(ImportedOp& call) {
  const llvm::StringRef name = call.op.getName().stripDialect();
  if (call.shape.IsArray() && call.shape.IsStatic()) {
    if (name == "dynamic_broadcast_in_dim") return ImportBroadcast(call);
    call.operands.resize(name == "dynamic_iota" ? 0 : 1);
    return ImportPlain(call);
  }
  HloInstruction* made =
      call.importer.AddMain(call.op, HloOpcode::kCustomCall, call.operands, call.shape);
  made->SetAttribute(Key::kCustomCallTarget,
                     absl::string_view(absl::StrCat("stablehlo.", name.str())));
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

// ---- Functions of each element.

void ImportSquare(ImportedOp& call) {
  call.operands.push_back(call.operands[0]);
  ImportPlain(call);
}

void ImportCompare(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  if (call.attributes.Word("compare_type") == "TOTALORDER") {
    made->SetAttribute(Key::kComparisonType, absl::string_view("TOTALORDER"));
  }
  BindMain(call, made);
}

// A function that HLO has no opcode for (ModuleImporter::ScalarFunction).
void ImportFunctionOfElements(ImportedOp& call) {
  HloInstruction* made = call.importer.AddMain(call.op, HloOpcode::kMap, call.operands, call.shape);
  Ints dims(static_cast<size_t>(call.shape.IsArray() ? call.shape.rank() : 0));
  std::iota(dims.begin(), dims.end(), 0);
  made->SetAttribute(Key::kDimensions, SpanOf(dims));
  made->SetAttribute(Key::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindMain(call, made);
}

// ---- Sums of products, reductions, windows.

void ImportDot(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  const Ints lhs = {std::max<int64_t>(call.operands[0]->shape().rank() - 1, 0)};
  made->SetAttribute(Key::kLhsContractingDims, SpanOf(lhs));
  made->SetAttribute(Key::kRhsContractingDims, SpanOf(Ints{0}));
  BindMain(call, made);
}

// What the attributes say of a window of these sizes.
Window WindowOf(ImportedOp& call, const Ints& sizes, absl::string_view base,
                absl::string_view dilation) {
  const Ints strides = call.attributes.Ints("window_strides");
  const Ints padding = call.attributes.Ints("padding");
  const Ints base_dilations = call.attributes.Ints(base);
  const Ints dilations = call.attributes.Ints(dilation);
  const Ints reversal = call.attributes.Ints("window_reversal");
  Window window;
  const auto check = [&](const Ints& given, absl::string_view what, size_t each) {
    if (!given.empty() && given.size() != each * sizes.size()) {
      call.importer.Fail(call.op, what, ": ", given.size(), " numbers are given for a window of ",
                         sizes.size(), " dimensions");
    }
  };
  check(strides, "window_strides", 1);
  check(padding, "padding", 2);
  check(base_dilations, base, 1);
  check(dilations, dilation, 1);
  check(reversal, "window_reversal", 1);
  if (call.importer.failed()) return window;
  for (size_t i = 0; i < sizes.size(); ++i) {
    WindowDimension& dim = window.dimensions.emplace_back();
    dim.size = sizes[i];
    if (!strides.empty()) dim.stride = strides[i];
    if (!padding.empty()) dim.padding_low = padding[2 * i];
    if (!padding.empty()) dim.padding_high = padding[2 * i + 1];
    if (!base_dilations.empty()) dim.base_dilation = base_dilations[i];
    if (!dilations.empty()) dim.window_dilation = dilations[i];
    if (!reversal.empty()) dim.window_reversal = reversal[i] != 0;
  }
  return window;
}

// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`; false where it is not that.
bool ReadLabels(absl::string_view text, ConvolutionDimensionNumbers* numbers) {
  struct Side {
    char first, second;
    int64_t* first_dim;
    int64_t* second_dim;
    absl::InlinedVector<int64_t, 3>* spatial;
    int64_t* rank;
  };
  const Side sides[] = {{'b', 'f', &numbers->input_batch, &numbers->input_feature,
                         &numbers->input_spatial, &numbers->input_rank},
                        {'i', 'o', &numbers->kernel_input_feature, &numbers->kernel_output_feature,
                         &numbers->kernel_spatial, &numbers->kernel_rank},
                        {'b', 'f', &numbers->output_batch, &numbers->output_feature,
                         &numbers->output_spatial, &numbers->output_rank}};
  for (const Side& side : sides) {
    const size_t open = text.find('[');
    const size_t close = text.find(']');
    if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) {
      return false;
    }
    const std::vector<absl::string_view> labels =
        absl::StrSplit(text.substr(open + 1, close - open - 1), ',');
    text.remove_prefix(close + 1);
    *side.rank = static_cast<int64_t>(labels.size());
    if (labels.size() < 2) return false;
    side.spatial->assign(labels.size() - 2, -1);
    for (size_t i = 0; i < labels.size(); ++i) {
      const absl::string_view label = absl::StripAsciiWhitespace(labels[i]);
      uint32_t number = 0;
      const auto dim = static_cast<int64_t>(i);
      if (label.size() == 1 && label[0] == side.first && *side.first_dim < 0) {
        *side.first_dim = dim;
      } else if (label.size() == 1 && label[0] == side.second && *side.second_dim < 0) {
        *side.second_dim = dim;
      } else if (absl::SimpleAtoi(label, &number) && number < side.spatial->size() &&
                 (*side.spatial)[number] < 0) {
        (*side.spatial)[number] = dim;
      } else {
        return false;
      }
    }
  }
  return numbers->input_spatial.size() == numbers->kernel_spatial.size() &&
         numbers->input_spatial.size() == numbers->output_spatial.size();
}

void ImportConvolution(ImportedOp& call) {
  ConvolutionDimensionNumbers numbers;
  const std::string text = call.attributes.Text("dimension_numbers");
  const Shape& kernel = call.operands[1]->shape();
  if (!ReadLabels(text, &numbers) || numbers.kernel_rank != kernel.rank()) {
    return call.importer.Fail(call.op,
                              "dimension_numbers: labels such as [b, 0, f]x[0, i, o]->[b, 0, f] ",
                              "are expected, not '", text.substr(0, 100), "'");
  }
  Ints sizes;
  for (const int64_t dim : numbers.kernel_spatial) sizes.push_back(kernel.dimension(dim));
  const Window window = WindowOf(call, sizes, "lhs_dilation", "rhs_dilation");
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(Key::kWindow, &window);
  made->SetAttribute(Key::kDimLabels, &numbers);
  BindMain(call, made);
}

// Puts what the region captures, as arrays like `like`, behind the first `count` operands at `at`.
void AddCaptured(ImportedOp& call, size_t at, const Shape* like) {
  ImportedOperands captured;
  for (const mlir::Value value : call.importer.RegionsOf(call.op).captures[0]) {
    const HloInstruction* scalar = call.importer.ValueOf(call.op, value);
    if (scalar == nullptr) return;
    if (like != nullptr) {
      Shape shape = *like;
      shape.SetElementType(scalar->shape().element_type());
      scalar = call.importer.AddSplat(call.op, scalar, shape);
    }
    captured.push_back(scalar);
  }
  call.operands.insert(call.operands.begin() + static_cast<std::ptrdiff_t>(at), captured.begin(),
                       captured.end());
}

// The results, and one array more for each captured value.
Shape WithCaptured(ImportedOp& call) {
  std::vector<Shape> shapes;
  for (const mlir::Type type : call.op.getResultTypes()) {
    shapes.push_back(call.importer.ShapeOf(call.op, type));
  }
  const Shape first = shapes.empty() ? Shape() : shapes[0];
  for (const mlir::Value value : call.importer.RegionsOf(call.op).captures[0]) {
    shapes.push_back(first);
    shapes.back().SetElementType(call.importer.ShapeOf(call.op, value.getType()).element_type());
  }
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

void BindWithCaptured(ImportedOp& call, const HloInstruction* made) {
  call.importer.Bind(
      call.op, made,
      call.op.getNumResults() + call.importer.RegionsOf(call.op).captures[0].size() != 1);
}

// reduce, reduce_window: arrays, then an initial value for each.
void ImportReduce(ImportedOp& call) {
  const size_t arrays = call.operands.size() / 2;
  if (call.operands.size() != 2 * arrays) {
    return call.importer.Fail(call.op, "an initial value is expected for each of the arrays");
  }
  std::optional<Window> window;
  if (call.rule.opcode == HloOpcode::kReduceWindow) {
    window = WindowOf(call, call.attributes.Ints("window_dimensions"), "base_dilations",
                      "window_dilations");
  }
  const Shape like = call.operands[0]->shape();
  AddCaptured(call, call.operands.size(), nullptr);
  AddCaptured(call, arrays, &like);
  const Shape shape = WithCaptured(call);
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, shape);
  if (window.has_value()) made->SetAttribute(Key::kWindow, &*window);
  made->SetAttribute(Key::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindWithCaptured(call, made);
}

// Arrays, the indices, then updates for each array.
void ImportScatter(ImportedOp& call) {
  const size_t arrays = call.operands.size() / 2;
  if (call.operands.size() != 2 * arrays + 1) {
    return call.importer.Fail(call.op, "updates are expected for each of the arrays");
  }
  const Shape like = call.operands[0]->shape();
  const Shape like_updates = call.operands[arrays + 1]->shape();
  AddCaptured(call, call.operands.size(), &like_updates);
  AddCaptured(call, arrays, &like);
  const Shape shape = WithCaptured(call);
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, shape);
  made->SetAttribute(Key::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindWithCaptured(call, made);
}

void ImportSort(ImportedOp& call) {
  const Shape like = call.operands[0]->shape();
  int64_t dim = call.attributes.Int("dimension").value_or(-1);
  if (dim < 0 && like.IsArray()) dim += like.rank();
  AddCaptured(call, call.operands.size(), &like);
  const Shape shape = WithCaptured(call);
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, shape);
  made->SetAttribute(Key::kDimensions, SpanOf(Ints{dim}));
  made->SetAttribute(Key::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindWithCaptured(call, made);
}

void ImportMap(ImportedOp& call) {
  const Shape like = call.operands[0]->shape();
  AddCaptured(call, call.operands.size(), &like);
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(Key::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindMain(call, made);
}

void ImportSelectAndScatter(ImportedOp& call) {
  const Window window = WindowOf(call, call.attributes.Ints("window_dimensions"), "", "");
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(Key::kWindow, &window);
  made->SetAttribute(Key::kSelect, call.importer.RegionsOf(call.op).computations[0]);
  made->SetAttribute(Key::kScatter, call.importer.RegionsOf(call.op).computations[1]);
  BindMain(call, made);
}

// ---- Control.

ImportedOperands CapturedBy(ImportedOp& call, size_t region) {
  ImportedOperands captured;
  for (const mlir::Value value : call.importer.RegionsOf(call.op).captures[region]) {
    captured.push_back(call.importer.ValueOf(call.op, value));
  }
  return captured;
}

void ImportWhile(ImportedOp& call) {
  ImportedOperands state = call.operands;
  const ImportedOperands captured = CapturedBy(call, 0);
  if (call.importer.failed()) return;
  state.insert(state.end(), captured.begin(), captured.end());
  const HloInstruction* tuple = call.importer.AddTuple(call.op, state);
  HloInstruction* made = AddMainOf(call, {tuple}, tuple->shape());
  made->SetAttribute(Key::kCondition, call.importer.RegionsOf(call.op).computations[0]);
  made->SetAttribute(Key::kBody, call.importer.RegionsOf(call.op).computations[1]);
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
    made->SetAttribute(Key::kTrueComputation, branches[0]);
    made->SetAttribute(Key::kFalseComputation, branches[1]);
  } else {
    made->SetAttribute(Key::kBranchComputations, absl::MakeConstSpan(branches));
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
  made->SetAttribute(Key::kToApply, callee);
  BindMain(call, made);
}

void ImportBarrier(ImportedOp& call) {
  const HloInstruction* operand = call.operands[0];
  if (call.operands.size() != 1) operand = call.importer.AddTuple(call.op, call.operands);
  BindMain(call, AddMainOf(call, {operand}, operand->shape()));
}

// ((T, ..), token) and (T, .., token).
void ImportInfeed(ImportedOp& call) {
  std::vector<Shape> shapes(call.shape.tuple_elements().begin(), call.shape.tuple_elements().end());
  if (shapes.size() != call.op.getNumResults() || shapes.empty()) {
    return call.importer.Fail(call.op, "arrays and a token are expected as its results");
  }
  const Shape token = shapes.back();
  shapes.pop_back();
  HloInstruction* made =
      AddMainOf(call, call.operands, Shape::Tuple({Shape::Tuple(std::move(shapes)), token}));
  const HloInstruction* data = call.importer.AddElement(call.op, made, 0);
  const unsigned last = call.op.getNumResults() - 1;
  for (unsigned i = 0; i < last; ++i) {
    call.importer.BindResult(call.op.getResult(i), call.importer.AddElement(call.op, data, i));
  }
  call.importer.BindResult(call.op.getResult(last), call.importer.AddElement(call.op, made, 1));
}

void ImportOutfeed(ImportedOp& call) {
  const HloInstruction* token = call.operands.back();
  call.operands.pop_back();
  const HloInstruction* data = call.importer.AddTuple(call.op, call.operands);
  HloInstruction* made = AddMainOf(call, {data, token}, call.shape);
  made->SetTextAttribute("outfeed_shape", data->shape().ToString());
  BindMain(call, made);
}

// ---- Devices.

// `{{0,1},{2,3}}` of dense<[[0, 1], [2, 3]]>; -1 fills up short groups.
std::string GroupsText(ImportedOp& call, absl::string_view path) {
  const Ints ids = call.attributes.Ints(path);
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.attributes.Find(path));
  const int64_t columns =
      dense && dense.getType().getRank() == 2 ? dense.getType().getDimSize(1) : 0;
  std::vector<std::string> groups;
  std::vector<int64_t> group;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0) group.push_back(ids[i]);
    if (columns > 0 && (static_cast<int64_t>(i) + 1) % columns != 0) continue;
    groups.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    group.clear();
  }
  return absl::StrCat("{", absl::StrJoin(groups, ","), "}");
}

void SetDevices(ImportedOp& call, HloInstruction* made) {
  const int64_t channel = call.attributes.Int("channel_handle.handle").value_or(0);
  if (channel > 0) made->SetAttribute(Key::kChannelId, channel);
  const bool is_permute = call.rule.opcode == HloOpcode::kCollectivePermute;
  made->SetAttribute(
      is_permute ? Key::kSourceTargetPairs : Key::kReplicaGroups,
      absl::string_view(GroupsText(call, is_permute ? "source_target_pairs" : "replica_groups")));
  if (call.attributes.Bool("use_global_device_ids")) {
    made->SetAttribute(Key::kUseGlobalDeviceIds, true);
  }
}

void ImportCollective(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  SetDevices(call, made);
  if (call.rule.form == RegionForm::kPlain) {
    made->SetAttribute(Key::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  }
  BindMain(call, made);
}

// Where pieces are cut along one dimension and put together along another, HLO exchanges them along the
// first, and the piece's number is then moved to the second, as XLA's builder does.
void ImportAllToAll(ImportedOp& call) {
  const int64_t split = call.attributes.Int("split_dimension").value_or(0);
  const int64_t concat = call.attributes.Int("concat_dimension").value_or(0);
  const int64_t count = call.attributes.Int("split_count").value_or(1);
  const Shape& from = call.operands[0]->shape();
  if (split == concat || call.operands.size() != 1) {
    HloInstruction* made = AddMainOf(call, call.operands, call.shape);
    SetDevices(call, made);
    made->SetAttribute(Key::kDimensions, SpanOf(Ints{split}));
    return BindMain(call, made);
  }
  if (!from.IsArray() || !from.IsStatic() || std::min(split, concat) < 0 ||
      std::max(split, concat) >= from.rank() || count < 1 || from.dimension(split) % count != 0) {
    return call.importer.Fail(call.op, "dimension ", split, " of ", from.ToString(),
                              " cannot be cut into ", count, " pieces that are put together along ",
                              concat);
  }
  HloInstruction* exchanged =
      call.importer.AddStep(call.op, HloOpcode::kAllToAll, call.operands, from);
  SetDevices(call, exchanged);
  exchanged->SetAttribute(Key::kDimensions, SpanOf(Ints{split}));
  Ints cut, permutation, moved;
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i == split) cut.push_back(count);
    cut.push_back(i == split ? from.dimension(i) / count : from.dimension(i));
    if (i == concat) permutation.push_back(split);
    permutation.push_back(i >= split ? i + 1 : i);
  }
  for (const int64_t dim : permutation) moved.push_back(cut[static_cast<size_t>(dim)]);
  const HloInstruction* pieces = call.importer.AddStep(call.op, HloOpcode::kReshape, {exchanged},
                                                       Shape::Array(from.element_type(), cut));
  HloInstruction* transposed = call.importer.AddStep(call.op, HloOpcode::kTranspose, {pieces},
                                                     Shape::Array(from.element_type(), moved));
  transposed->SetAttribute(Key::kDimensions, SpanOf(permutation));
  BindMain(call, call.importer.AddMain(call.op, HloOpcode::kReshape, {transposed}, call.shape));
}

HloInstruction* AddSharded(ImportedOp& call, absl::string_view target,
                           const ImportedOperands& operands, const Shape& shape,
                           absl::string_view key, absl::string_view value) {
  HloInstruction* made = call.importer.AddMain(call.op, HloOpcode::kCustomCall, operands, shape);
  made->SetAttribute(Key::kCustomCallTarget, target);
  made->SetTextAttribute("frontend_attributes",
                         absl::StrCat("{", key, "=\"", absl::CEscape(value), "\"}"));
  return made;
}

void ImportShardingConstraint(ImportedOp& call) {
  BindMain(call, AddSharded(call, "Sharding", call.operands, call.shape, "xla.sdy.sharding",
                            absl::StrCat("#sdy.sharding", call.attributes.Text("sharding"))));
}

void ImportManualComputation(ImportedOp& call) {
  const HloComputation* body = call.importer.RegionsOf(call.op).computations[0];
  const auto per_value = [&](absl::string_view path) {
    return absl::StrCat("#sdy.sharding_per_value<", call.attributes.Text(path), ">");
  };
  ImportedOperands local;
  std::vector<Shape> shapes;
  for (const HloInstruction* parameter : body->parameters()) shapes.push_back(parameter->shape());
  if (shapes.size() == 1 && call.operands.size() == 1) {
    local.push_back(AddSharded(call, "xla.sdy.GlobalToLocalShape", call.operands, shapes[0],
                               "xla.sdy.in_shardings", per_value("in_shardings")));
  } else if (!shapes.empty()) {
    const HloInstruction* cut =
        AddSharded(call, "xla.sdy.GlobalToLocalShape", call.operands, Shape::Tuple(shapes),
                   "xla.sdy.in_shardings", per_value("in_shardings"));
    for (size_t i = 0; i < shapes.size(); ++i) {
      local.push_back(call.importer.AddElement(call.op, cut, static_cast<int64_t>(i)));
    }
  }
  const Shape& result = body->root_instruction()->shape();
  HloInstruction* inner = call.importer.AddStep(call.op, HloOpcode::kCall, local, result);
  inner->SetAttribute(Key::kToApply, body);
  ImportedOperands results = {inner};
  if (call.op.getNumResults() != 1) {
    results.clear();
    for (int64_t i = 0;
         result.IsTuple() && i < static_cast<int64_t>(result.tuple_elements().size()); ++i) {
      results.push_back(call.importer.AddElement(call.op, inner, i));
    }
  }
  BindMain(call, AddSharded(call, "xla.sdy.LocalToGlobalShape", results, call.shape,
                            "xla.sdy.out_shardings", per_value("out_shardings")));
}

// ---- What has texts of its own.

void ImportRng(ImportedOp& call) {
  const bool is_bits = call.rule.opcode == HloOpcode::kRngBitGenerator;
  if (!is_bits) call.operands.resize(2);
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  const std::string word =
      absl::AsciiStrToLower(call.attributes.Word(is_bits ? "rng_algorithm" : "rng_distribution"));
  made->SetAttribute(is_bits ? Key::kAlgorithm : Key::kDistribution,
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
  made->SetAttribute(Key::kLargest, true);
  BindMain(call, made);
}

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
  made->SetAttribute(Key::kCustomCallTarget, absl::string_view(target));
  if (call.attributes.Bool("has_side_effect")) {
    made->SetTextAttribute("custom_call_has_side_effect", "true");
  }
  if (const std::string aliases = AliasesText(call.attributes.Find("output_operand_aliases"));
      !aliases.empty()) {
    made->SetAttribute(Key::kOutputToOperandAliasing, absl::string_view(aliases));
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
  if (!called.empty()) made->SetAttribute(Key::kCalledComputations, absl::MakeConstSpan(called));
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
    made->SetAttribute(Key::kDirection,
                       absl::string_view(call.attributes.Word("comparison_direction")));
  }
  BindMain(call, made);
}

// ---- The table.

const std::vector<OpRule>& OpTable() {
  using enum HloOpcode;
  using Form = RegionForm;
  static const auto* const kRules = new std::vector<OpRule>{
      {"after_all", kAfterAll},
      {"all_gather", kAllGather, 1, 1, {{Key::kDimensions, "all_gather_dim"}}, ImportCollective},
      {"all_reduce", kAllReduce, 1, 1, {}, ImportCollective, Form::kPlain, 1},
      {"all_to_all", kAllToAll, 1, 1, {}, ImportAllToAll},
      {"batch_norm_grad",
       kBatchNormGrad,
       5,
       3,
       {{Key::kFeatureIndex, "feature_index"}},
       ImportBatchNorm},
      {"batch_norm_inference",
       kBatchNormInference,
       5,
       1,
       {{Key::kFeatureIndex, "feature_index"}},
       ImportBatchNorm},
      {"batch_norm_training",
       kBatchNormTraining,
       3,
       3,
       {{Key::kFeatureIndex, "feature_index"}},
       ImportBatchNorm},
      {"bitcast_convert", kBitcastConvert, 1},
      {"broadcast", kBroadcast, 1, 1, {}, ImportBroadcast},
      {"broadcast_in_dim", kBroadcast, 1, 1, {}, ImportBroadcast},
      {"call", kCall, 0, 0, {}, ImportCall},
      {"case", kConditional, 1, 0, {}, ImportConditional, Form::kBranches, 1},
      {"cholesky", kCholesky, 1, 1, {{Key::kLower, "lower"}}},
      {"collective_broadcast", kCollectiveBroadcast, 1, 1, {}, ImportCollective},
      {"collective_permute", kCollectivePermute, 1, 1, {}, ImportCollective},
      {"compare", kCompare, 2, 1, {{Key::kDirection, "comparison_direction"}}, ImportCompare},
      {"composite", kCall, 0, 0, {}, ImportCall},
      {"concatenate", kConcatenate, 1, 1, {{Key::kDimensions, "dimension"}}},
      {"constant", kConstant, 0, 1, {}, ImportConstant},
      {"convolution",
       kConvolution,
       2,
       1,
       {{Key::kFeatureGroupCount, "feature_group_count", true},
        {Key::kBatchGroupCount, "batch_group_count", true}},
       ImportConvolution},
      {"create_token", kAfterAll},
      {"custom_call", kCustomCall, 0, 0, {}, ImportCustomCall},
      {"dot", kDot, 2, 1, {}, ImportDot},
      {"dot_general",
       kDot,
       2,
       1,
       {{Key::kLhsBatchDims, "dot_dimension_numbers.lhs_batching_dimensions", true},
        {Key::kLhsContractingDims, "dot_dimension_numbers.lhs_contracting_dimensions"},
        {Key::kRhsBatchDims, "dot_dimension_numbers.rhs_batching_dimensions", true},
        {Key::kRhsContractingDims, "dot_dimension_numbers.rhs_contracting_dimensions"}}},
      {"dynamic_broadcast_in_dim", kBroadcast, 2, 1, {}, ImportDynamic},
      {"dynamic_conv", kCustomCall, 3, 1, {}, ImportDynamic},
      {"dynamic_gather", kCustomCall, 3, 1, {}, ImportDynamic},
      {"dynamic_iota", kIota, 1, 1, {{Key::kIotaDimension, "iota_dimension"}}, ImportDynamic},
      {"dynamic_pad", kCustomCall, 5, 1, {}, ImportDynamic},
      {"dynamic_reshape", kReshape, 2, 1, {}, ImportDynamic},
      {"dynamic_slice", kDynamicSlice, 1, 1, {{Key::kDynamicSliceSizes, "slice_sizes"}}},
      {"dynamic_update_slice", kDynamicUpdateSlice, 2},
      {"fft", kFft, 1, 1, {{Key::kFftType, "fft_type"}, {Key::kFftLength, "fft_length"}}},
      {"gather",
       kGather,
       2,
       1,
       {{Key::kOffsetDims, "dimension_numbers.offset_dims"},
        {Key::kCollapsedSliceDims, "dimension_numbers.collapsed_slice_dims"},
        {Key::kStartIndexMap, "dimension_numbers.start_index_map"},
        {Key::kOperandBatchingDims, "dimension_numbers.operand_batching_dims", true},
        {Key::kStartIndicesBatchingDims, "dimension_numbers.start_indices_batching_dims", true},
        {Key::kIndexVectorDim, "dimension_numbers.index_vector_dim"},
        {Key::kSliceSizes, "slice_sizes"},
        {Key::kIndicesAreSorted, "indices_are_sorted", true}},
       ImportGather},
      {"get_dimension_size", kGetDimensionSize, 1, 1, {{Key::kDimensions, "dimension"}}},
      {"get_tuple_element", kGetTupleElement, 1, 1, {{Key::kIndex, "index"}}},
      {"if", kConditional, 1, 0, {}, ImportConditional, Form::kBranches, 2},
      {"infeed", kInfeed, 1, 1, {}, ImportInfeed},
      {"iota", kIota, 0, 1, {{Key::kIotaDimension, "iota_dimension"}}},
      {"manual_computation", kCall, 0, 0, {}, ImportManualComputation, Form::kPlain, 1},
      {"map", kMap, 1, 1, {{Key::kDimensions, "dimensions"}}, ImportMap, Form::kMap, 1},
      {"optimization_barrier", kOptBarrier, 1, 1, {}, ImportBarrier},
      {"outfeed", kOutfeed, 1, 1, {}, ImportOutfeed},
      {"pad", kPad, 2, 1, {}, ImportPad},
      {"partition_id", kPartitionId},
      {"ragged_dot",
       kRaggedDot,
       3,
       1,
       {{Key::kLhsBatchDims, "ragged_dot_dimension_numbers.lhs_batching_dimensions", true},
        {Key::kLhsContractingDims, "ragged_dot_dimension_numbers.lhs_contracting_dimensions"},
        {Key::kRhsBatchDims, "ragged_dot_dimension_numbers.rhs_batching_dimensions", true},
        {Key::kRhsContractingDims, "ragged_dot_dimension_numbers.rhs_contracting_dimensions"},
        {Key::kLhsRaggedDims, "ragged_dot_dimension_numbers.lhs_ragged_dimensions"},
        {Key::kRhsGroupDims, "ragged_dot_dimension_numbers.rhs_group_dimensions"}}},
      {"real_dynamic_slice", kCustomCall, 4, 1, {}, ImportDynamic},
      {"reduce",
       kReduce,
       2,
       1,
       {{Key::kDimensions, "dimensions"}},
       ImportReduce,
       Form::kReducer,
       1},
      {"reduce_precision",
       kReducePrecision,
       1,
       1,
       {{Key::kExponentBits, "exponent_bits"}, {Key::kMantissaBits, "mantissa_bits"}}},
      {"reduce_scatter",
       kReduceScatter,
       1,
       1,
       {{Key::kDimensions, "scatter_dimension"}},
       ImportCollective,
       Form::kPlain,
       1},
      {"reduce_window", kReduceWindow, 2, 1, {}, ImportReduce, Form::kReducer, 1},
      {"replica_id", kReplicaId},
      {"reshape", kReshape, 1},
      {"reverse", kReverse, 1, 1, {{Key::kDimensions, "dimensions"}}},
      {"rng", kRng, 2, 1, {}, ImportRng},
      {"rng_bit_generator", kRngBitGenerator, 1, 2, {}, ImportRng},
      {"scatter",
       kScatter,
       3,
       1,
       {{Key::kUpdateWindowDims, "scatter_dimension_numbers.update_window_dims"},
        {Key::kInsertedWindowDims, "scatter_dimension_numbers.inserted_window_dims"},
        {Key::kScatterDimsToOperandDims, "scatter_dimension_numbers.scatter_dims_to_operand_dims"},
        {Key::kInputBatchingDims, "scatter_dimension_numbers.input_batching_dims", true},
        {Key::kScatterIndicesBatchingDims,
         "scatter_dimension_numbers.scatter_indices_batching_dims", true},
        {Key::kIndexVectorDim, "scatter_dimension_numbers.index_vector_dim"},
        {Key::kIndicesAreSorted, "indices_are_sorted", true},
        {Key::kUniqueIndices, "unique_indices", true}},
       ImportScatter,
       Form::kReducer,
       1},
      {"select_and_scatter", kSelectAndScatter, 3, 1, {}, ImportSelectAndScatter, Form::kPlain, 2},
      {"set_dimension_size", kSetDimensionSize, 2, 1, {{Key::kDimensions, "dimension"}}},
      {"sharding_constraint", kCustomCall, 1, 1, {}, ImportShardingConstraint},
      {"slice", kSlice, 1, 1, {}, ImportSlice},
      {"sort", kSort, 1, 1, {{Key::kIsStable, "is_stable", true}}, ImportSort, Form::kSort, 1},
      {"square", kMultiply, 1, 1, {}, ImportSquare},
      {"top_k", kTopk, 1, 2, {{Key::kTopKCount, "k"}}, ImportTopK},
      {"transpose", kTranspose, 1, 1, {{Key::kDimensions, "permutation"}}},
      {"triangular_solve",
       kTriangularSolve,
       2,
       1,
       {{Key::kLeftSide, "left_side"},
        {Key::kLower, "lower"},
        {Key::kUnitDiagonal, "unit_diagonal"},
        {Key::kTransposeA, "transpose_a"}}},
      {"tuple", kTuple},
      {"uniform_dequantize", kConvert, 1},
      {"uniform_quantize", kConvert, 1},
      {"while", kWhile, 0, 0, {}, ImportWhile, Form::kWhile, 2},
  };
  return *kRules;
}

// The functions of each element in StableHLO and CHLO that are no opcodes of HLO.
const llvm::StringSet<>& FunctionsOfElements() {
  static const auto* const kNames = new llvm::StringSet<>{"atan",
                                                          "bessel_i1e",
                                                          "conj",
                                                          "constant_like",
                                                          "digamma",
                                                          "erf_inv",
                                                          "erfc",
                                                          "is_inf",
                                                          "is_neg_inf",
                                                          "is_pos_inf",
                                                          "lgamma",
                                                          "next_after",
                                                          "polygamma",
                                                          "zeta",
                                                          "broadcast_next_after",
                                                          "broadcast_polygamma",
                                                          "broadcast_zeta"};
  return *kNames;
}

const absl::flat_hash_map<absl::string_view, const OpRule*>& RulesByName() {
  static const auto* const kByName = [] {
    auto* rules = new absl::flat_hash_map<absl::string_view, const OpRule*>();
    for (const OpRule& rule : OpTable()) rules->emplace(rule.name, &rule);
    // Those that are functions of each element have the name that HLO has for them, with other hyphens.
    static auto* const names = new std::vector<std::string>();
    static auto* const elementwise = new std::vector<OpRule>();
    names->reserve(kOpcodeCount);
    elementwise->reserve(kOpcodeCount);
    for (int i = 0; i < kOpcodeCount; ++i) {
      const auto opcode = static_cast<HloOpcode>(i);
      if (!IsElementwise(opcode)) continue;
      names->push_back(absl::StrReplaceAll(OpcodeName(opcode), {{"-", "_"}}));
      elementwise->push_back({names->back(), opcode, OpcodeArity(opcode).value_or(1)});
      rules->emplace(names->back(), &elementwise->back());
    }
    return rules;
  }();
  return *kByName;
}

// Whether it is a function of each element that HLO has no opcode for.
bool IsFunctionOfElements(mlir::Operation& op) {
  return op.getName().getDialectNamespace() == "chlo" && op.getNumResults() == 1 &&
         op.getNumOperands() > 0 && op.getNumRegions() == 0 &&
         FunctionsOfElements().contains(op.getName().stripDialect());
}

// The rule for an operation; null if the operation is not known.
const OpRule* FindOpRule(mlir::Operation& op) {
  const llvm::StringRef dialect = op.getName().getDialectNamespace();
  if (dialect != "stablehlo" && dialect != "chlo" && dialect != "mhlo" && dialect != "sdy" &&
      dialect != "func") {
    return nullptr;
  }
  static const OpRule* const kFunction =
      new OpRule{"", HloOpcode::kMap, 1, 1, {}, ImportFunctionOfElements};
  static const OpRule* const kBroadcasting =
      new OpRule{"", HloOpcode::kMap, 2, 1, {}, ImportBroadcasting};
  const llvm::StringRef name = op.getName().stripDialect();
  if (dialect == "chlo" && name.starts_with("broadcast_")) {
    const std::string of = name.drop_front(strlen("broadcast_")).str();
    const std::optional<HloOpcode> opcode = OpcodeFromName(absl::StrReplaceAll(of, {{"_", "-"}}));
    if (IsFunctionOfElements(op) || (opcode.has_value() && IsElementwise(*opcode))) {
      return kBroadcasting;
    }
  }
  if (IsFunctionOfElements(op)) return kFunction;
  const auto found = RulesByName().find(absl::string_view(name.data(), name.size()));
  return found == RulesByName().end() ? nullptr : found->second;
}

RegionForm FormOf(mlir::Operation& op) {
  if (IsFunctionOfElements(op)) return RegionForm::kFunction;
  const OpRule* rule = FindOpRule(op);
  return rule == nullptr ? RegionForm::kNone : rule->form;
}

void ImportOp(ModuleImporter& importer, mlir::Operation& op) {
  static const OpRule* const kUnknown = new OpRule{"", HloOpcode::kUnknown, 0, 0};
  const OpRule* rule = FindOpRule(op);
  ImportedOp call{importer, op, rule == nullptr ? *kUnknown : *rule, OpAttributes(op), {}, {}};
  for (const mlir::Value operand : op.getOperands()) {
    call.operands.push_back(importer.ValueOf(op, operand));
  }
  call.shape = importer.ResultShape(op);
  if (importer.failed()) return;
  const std::optional<int> arity = OpcodeArity(call.rule.opcode);
  const int operands = static_cast<int>(op.getNumOperands());
  if (operands < call.rule.least_operands ||
      (call.rule.import == nullptr && arity.has_value() && operands != *arity) ||
      static_cast<int>(op.getNumResults()) < call.rule.least_results ||
      static_cast<int>(op.getNumRegions()) < call.rule.regions) {
    return importer.Fail(op, "it has ", operands, " operands, ", op.getNumResults(),
                         " results and ", op.getNumRegions(),
                         " regions, which is not what it takes");
  }
  if (call.rule.import != nullptr) {
    call.rule.import(call);
  } else if (rule == nullptr) {
    // All that it may read: its operands, and what its regions use.
    if (op.getNumRegions() > 0) AddCaptured(call, call.operands.size(), nullptr);
    if (importer.failed()) return;
    HloInstruction* made = importer.AddMain(op, HloOpcode::kUnknown, call.operands, call.shape);
    made->SetAttribute(AttributeKey::kUnknownOpcode,
                       absl::string_view(op.getName().getStringRef().str()));
    BindMain(call, made);
  } else {
    ImportPlain(call);
  }
  if (!call.attributes.error().empty()) importer.Fail(op, call.attributes.error());
  importer.FinishInstructions();
}

}  // namespace

OpRules StableHloRules() { return {ImportOp, FormOf}; }

}  // namespace xla_indexing::internal
