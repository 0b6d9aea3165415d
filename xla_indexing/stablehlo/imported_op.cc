#include "xla_indexing/stablehlo/imported_op.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/parts/parse_attributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

// `{{0,1},{2,3}}` of dense<[[0, 1], [2, 3]]>; -1 fills up short groups.
std::string GroupsText(ImportedOp& call, absl::string_view path) {
  const Ints ids = call.attributes.Ints(path);
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.attributes.Find(path));
  const int64_t columns =
      dense && dense.getType().getRank() == 2 ? dense.getType().getDimSize(1) : 0;
  std::vector<std::string> groups;
  Ints group;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0) group.push_back(ids[i]);
    if (columns > 0 && (static_cast<int64_t>(i) + 1) % columns != 0) continue;
    groups.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    group.clear();
  }
  return absl::StrCat("{", absl::StrJoin(groups, ","), "}");
}

// The algorithm of a dot is named after its types: dot_bf16_bf16_f32_x3. Empty where none is given.
std::string DotAlgorithm(ImportedOp& call) {
  OpAttributes& given = call.attributes;
  if (!given.Has("algorithm.accumulation_type")) return "";
  const std::string lhs = given.Word("algorithm.lhs_precision_type");
  const std::string rhs = given.Word("algorithm.rhs_precision_type");
  std::string name = absl::StrCat("dot_", lhs, "_", rhs, "_");
  if (absl::StartsWithIgnoreCase(lhs, "f8")) name = "dot_any_f8_any_f8_";
  absl::StrAppend(&name, given.Word("algorithm.accumulation_type"));
  const int64_t products = given.Int("algorithm.num_primitive_operations").value_or(1);
  if (products > 1) absl::StrAppend(&name, "_x", products);
  if (given.Bool("algorithm.allow_imprecise_accumulation")) absl::StrAppend(&name, "_fast_accum");
  return absl::AsciiStrToLower(name);
}

// The value of an attribute that is a word of HLO; empty for none.
std::string TextOf(ImportedOp& call, Key key, absl::string_view path) {
  switch (key) {
    case Key::kReplicaGroups:
    case Key::kSourceTargetPairs:
      return GroupsText(call, path);
    case Key::kComparisonType:
      return call.attributes.Word(path) == "TOTALORDER" ? "TOTALORDER" : "";
    case Key::kAlgorithm:
      if (call.rule.opcode == HloOpcode::kDot) return DotAlgorithm(call);
      [[fallthrough]];
    case Key::kDistribution:
      return absl::StrCat("rng_", absl::AsciiStrToLower(call.attributes.Word(path)));
    default:
      return call.attributes.Word(path);
  }
}

// Lists of one number for each dimension, given apart: `names` of a slice or of padding. Empty after an error.
std::vector<Ints> ListsOf(ImportedOp& call, const char* const (&names)[3]) {
  std::vector<Ints> lists;
  for (const char* name : names) lists.push_back(call.attributes.Ints(name));
  if (lists[0].size() == lists[1].size() && lists[0].size() == lists[2].size()) return lists;
  call.Fail("there are ", lists[0].size(), " numbers in ", names[0], ", ", lists[1].size(), " in ",
            names[1], " and ", lists[2].size(), " in ", names[2]);
  return std::vector<Ints>(3);
}

// The labels of a convolution, [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], and the sizes of its window.
ConvolutionDimensionNumbers LabelsOf(ImportedOp& call, Ints* sizes) {
  ConvolutionDimensionNumbers numbers;
  const std::string text = call.attributes.Text("dimension_numbers");
  const size_t begin = std::min(text.find('['), text.size());
  const size_t end = std::min(text.rfind(']'), text.size());
  const std::string labels =
      absl::StrReplaceAll(absl::string_view(text).substr(begin, end - std::min(begin, end)),
                          {{"]x[", "_"}, {"[", ""}, {"]", ""}, {",", ""}, {" ", ""}});
  Lexer lexer(labels);
  const Shape& kernel = call.operands[1]->shape();
  if (!ReadDimensionLabels(lexer, &numbers) || !lexer.AtEnd() ||
      numbers.kernel_rank != kernel.rank()) {
    call.Fail(
        "dimension_numbers: labels such as [b, 0, f]x[0, i, o]->[b, 0, f] are expected, not '",
        text.substr(0, 100), "'");
    return {};
  }
  for (const int64_t dim : numbers.kernel_spatial) sizes->push_back(kernel.dimension(dim));
  return numbers;
}

// What the attributes say of a window.
Window WindowOf(ImportedOp& call) {
  Window window;
  const bool is_convolution = call.rule.opcode == HloOpcode::kConvolution;
  Ints sizes;
  if (is_convolution) {
    LabelsOf(call, &sizes);
  } else {
    sizes = call.attributes.Ints("window_dimensions");
  }
  // `each` numbers for a dimension; where there is no list, those of a window without it.
  const auto read = [&](absl::string_view name, size_t each, int64_t absent) {
    Ints given = call.attributes.Ints(name);
    if (given.empty()) return Ints(each * sizes.size(), absent);
    if (given.size() != each * sizes.size()) {
      call.Fail(name, ": ", given.size(), " numbers are given for a window of ", sizes.size(),
                " dimensions");
    }
    return given;
  };
  const Ints strides = read("window_strides", 1, 1);
  const Ints padding = read("padding", 2, 0);
  const Ints base = read(is_convolution ? "lhs_dilation" : "base_dilations", 1, 1);
  const Ints dilations = read(is_convolution ? "rhs_dilation" : "window_dilations", 1, 1);
  const Ints reversal = read("window_reversal", 1, 0);
  for (size_t i = 0; i < sizes.size() && !call.failed(); ++i) {
    window.dimensions.push_back({.size = sizes[i],
                                 .stride = strides[i],
                                 .padding_low = padding[2 * i],
                                 .padding_high = padding[2 * i + 1],
                                 .base_dilation = base[i],
                                 .window_dilation = dilations[i],
                                 .window_reversal = reversal[i] != 0});
  }
  return window;
}

// Gives the instruction one attribute of the rule; `region` is the next region of the operation that is one.
void SetAttribute(ImportedOp& call, const OpAttributeRule& of, size_t* region,
                  HloInstruction* made) {
  const std::string& path = of.path;
  switch (KindOf(of.key)) {
    case AttributeKind::kIntegers: {
      const Ints ints = call.attributes.Ints(path);
      if (!of.is_optional || !ints.empty()) made->SetAttribute(of.key, SpanOf(ints));
      return;
    }
    case AttributeKind::kInteger: {
      const int64_t value = call.attributes.Int(path).value_or(0);
      if (!of.is_optional || value != 0) made->SetAttribute(of.key, value);
      return;
    }
    case AttributeKind::kBool: {
      const bool value = call.attributes.Int(path).value_or(of.key == Key::kLargest ? 1 : 0) != 0;
      if (!of.is_optional || value) made->SetAttribute(of.key, value);
      return;
    }
    case AttributeKind::kSlice: {
      const auto lists = ListsOf(call, {"start_indices", "limit_indices", "strides"});
      std::vector<SliceRange> ranges;
      ranges.reserve(lists[0].size());
      for (size_t i = 0; i < lists[0].size(); ++i) {
        ranges.push_back({lists[0][i], lists[1][i], lists[2][i]});
      }
      return made->SetAttribute(of.key, absl::Span<const SliceRange>(ranges));
    }
    case AttributeKind::kPadding: {
      const auto lists =
          ListsOf(call, {"edge_padding_low", "edge_padding_high", "interior_padding"});
      std::vector<PaddingDimension> padding;
      padding.reserve(lists[0].size());
      for (size_t i = 0; i < lists[0].size(); ++i) {
        padding.push_back({lists[0][i], lists[1][i], lists[2][i]});
      }
      return made->SetAttribute(of.key, absl::Span<const PaddingDimension>(padding));
    }
    case AttributeKind::kWindow: {
      const Window window = WindowOf(call);
      return made->SetAttribute(of.key, &window);
    }
    case AttributeKind::kDimensionLabels: {
      Ints unused;
      const ConvolutionDimensionNumbers numbers = LabelsOf(call, &unused);
      return made->SetAttribute(of.key, &numbers);
    }
    case AttributeKind::kComputation:
      return made->SetAttribute(of.key, call.Region((*region)++));
    case AttributeKind::kComputations: {
      const std::vector<const HloComputation*>& all = call.importer.RegionsOf(call.op).computations;
      return made->SetAttribute(of.key, absl::MakeConstSpan(all));
    }
    default: {
      const std::string text = TextOf(call, of.key, path);
      if (!text.empty()) made->SetAttribute(of.key, absl::string_view(text));
      return;
    }
  }
}

}  // namespace

OpRule::OpRule(std::string name, HloOpcode opcode, int least_operands, int least_results,
               absl::string_view attributes, void (*import)(ImportedOp&), RegionForm form,
               int regions)
    : name(std::move(name)),
      opcode(opcode),
      least_operands(least_operands),
      least_results(least_results),
      import(import == nullptr ? ImportPlain : import),
      form(form),
      regions(regions) {
  for (const absl::string_view of : absl::StrSplit(attributes, ' ', absl::SkipEmpty())) {
    const std::vector<absl::string_view> names = absl::StrSplit(of, '=');
    absl::string_view name = names.front();
    const bool is_optional = absl::ConsumeSuffix(&name, "?");
    const absl::string_view path = names.size() == 1 ? name : names.back();
    this->attributes.push_back(
        {AttributeKeyFromName(name).value(), std::string(path), is_optional});
  }
}

void ImportedOp::SetAttributes(HloInstruction* made) {
  size_t region = 0;
  for (const OpAttributeRule& of : rule.attributes) SetAttribute(*this, of, &region, made);
  if (auto epsilon = mlir::dyn_cast_or_null<mlir::FloatAttr>(attributes.Find("epsilon"))) {
    made->SetTextAttribute("epsilon", absl::StrCat(epsilon.getValueAsDouble()));
  }
  const std::string precision = attributes.Text("precision_config");
  for (const absl::string_view level : {"HIGHEST", "HIGH"}) {
    // The same for both operands, since no map depends on it.
    if (!absl::StrContains(precision, level)) continue;
    const std::string word = absl::AsciiStrToLower(level);
    made->SetTextAttribute("operand_precision", absl::StrCat("{", word, ",", word, "}"));
    break;
  }
}

HloInstruction* ImportedOp::AddMain(const ImportedOperands& from, const Shape& to) {
  HloInstruction* made = AddMain(rule.opcode, from, to);
  SetAttributes(made);
  return made;
}

void ImportedOp::AddCaptured(size_t at, const Shape& like) {
  ImportedOperands captured;
  importer.ImportMoved(op);
  for (const mlir::Value value : Captures(0)) {
    const HloInstruction* scalar = importer.ValueOf(op, value);
    if (scalar == nullptr) return;
    if (!like.IsScalar()) {
      Shape shape = like;
      shape.SetElementType(scalar->shape().element_type());
      scalar = importer.AddSplat(op, scalar, shape);
    }
    captured.push_back(scalar);
  }
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(at), captured.begin(),
                  captured.end());
}

void ImportPlain(ImportedOp& call) { call.Bind(call.AddMain(call.operands, call.shape)); }

}  // namespace xla_indexing::internal
