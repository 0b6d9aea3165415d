#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/import_ops.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

void ImportDot(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  const Ints lhs = {std::max<int64_t>(call.operands[0]->shape().rank() - 1, 0)};
  made->SetAttribute(AttributeKey::kLhsContractingDims, SpanOf(lhs));
  made->SetAttribute(AttributeKey::kRhsContractingDims, SpanOf(Ints{0}));
  BindMain(call, made);
}

// Its algorithm is named after its types: dot_bf16_bf16_f32_x3.
void ImportDotGeneral(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  if (call.attributes.Has("algorithm.accumulation_type")) {
    const std::string lhs = call.attributes.Word("algorithm.lhs_precision_type");
    const std::string rhs = call.attributes.Word("algorithm.rhs_precision_type");
    std::string name = absl::StrCat("dot_", lhs, "_", rhs, "_");
    if (absl::StartsWithIgnoreCase(lhs, "f8")) name = "dot_any_f8_any_f8_";
    absl::StrAppend(&name, call.attributes.Word("algorithm.accumulation_type"));
    const int64_t products = call.attributes.Int("algorithm.num_primitive_operations").value_or(1);
    if (products > 1) absl::StrAppend(&name, "_x", products);
    if (call.attributes.Bool("algorithm.allow_imprecise_accumulation")) {
      absl::StrAppend(&name, "_fast_accum");
    }
    made->SetAttribute(AttributeKey::kAlgorithm, absl::string_view(absl::AsciiStrToLower(name)));
  }
  BindMain(call, made);
}

namespace {

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

}  // namespace

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
  made->SetAttribute(AttributeKey::kWindow, &window);
  made->SetAttribute(AttributeKey::kDimLabels, &numbers);
  BindMain(call, made);
}

namespace {

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

}  // namespace

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
  if (window.has_value()) made->SetAttribute(AttributeKey::kWindow, &*window);
  made->SetAttribute(AttributeKey::kToApply, call.importer.RegionsOf(call.op).computations[0]);
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
  made->SetAttribute(AttributeKey::kToApply, call.importer.RegionsOf(call.op).computations[0]);
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
  made->SetAttribute(AttributeKey::kDimensions, SpanOf(Ints{dim}));
  made->SetAttribute(AttributeKey::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindWithCaptured(call, made);
}

void ImportMap(ImportedOp& call) {
  const Shape like = call.operands[0]->shape();
  AddCaptured(call, call.operands.size(), &like);
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(AttributeKey::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  BindMain(call, made);
}

void ImportSelectAndScatter(ImportedOp& call) {
  const Window window = WindowOf(call, call.attributes.Ints("window_dimensions"), "", "");
  if (call.importer.failed()) return;
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  made->SetAttribute(AttributeKey::kWindow, &window);
  made->SetAttribute(AttributeKey::kSelect, call.importer.RegionsOf(call.op).computations[0]);
  made->SetAttribute(AttributeKey::kScatter, call.importer.RegionsOf(call.op).computations[1]);
  BindMain(call, made);
}

}  // namespace xla_indexing::internal
