// Random modules of HLO, printed as StableHLO and read back, depend on their parameters as before: by brute force,
// by the definitions of the operations (tests/reference).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing {
namespace {

using Key = AttributeKey;

std::string ElementTypeText(ElementType type) {
  if (IsPred(type)) return "i1";
  if (IsComplex(type))
    return absl::StrCat("complex<", ElementTypeText(ComplexComponentType(type)), ">");
  const std::string name(ElementTypeName(type));
  if (IsSignedIntegral(type)) return absl::StrCat("i", name.substr(1));
  if (IsUnsignedIntegral(type)) return absl::StrCat("ui", name.substr(1));
  // f8E4M3FN
  return BitWidth(type) > 8 ? name : absl::StrCat("f", absl::AsciiStrToUpper(name.substr(1)));
}

std::string TypeText(const Shape& shape) {
  if (shape.IsToken()) return "!stablehlo.token";
  std::vector<std::string> parts;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_elements()) parts.push_back(TypeText(element));
    return absl::StrCat("tuple<", absl::StrJoin(parts, ", "), ">");
  }
  for (const int64_t size : shape.dimensions()) parts.push_back(absl::StrCat(size, "x"));
  return absl::StrCat("tensor<", absl::StrJoin(parts, ""), ElementTypeText(shape.element_type()),
                      ">");
}

std::string ListText(absl::Span<const int64_t> ints) {
  return absl::StrCat("array<i64", ints.empty() ? "" : ": ", absl::StrJoin(ints, ", "), ">");
}

// Prints one module in the generic form; false where it has something that StableHLO has not, or that is not
// printed here.
class StableHloText {
 public:
  std::optional<std::string> Print(const HloModule& module) {
    for (const HloComputation* computation : module.computations()) {
      const bool is_entry = computation == module.entry_computation();
      if (!is_entry && !IsFunction(*computation, module)) continue;
      Body(*computation, absl::StrCat("func.func @", is_entry ? "main" : NameOf(*computation)));
    }
    if (!is_printed_) return std::nullopt;
    return absl::StrCat("module {\n", text_, "}\n");
  }

 private:
  static std::string NameOf(const HloComputation& computation) {
    return absl::StrReplaceAll(computation.name(), {{"-", "_"}, {"main", "f_main"}});
  }

  static bool IsFunction(const HloComputation& computation, const HloModule& module) {
    for (const HloComputation* caller : module.computations()) {
      for (const HloInstruction* i : caller->instructions()) {
        if (i->inlined_computation() == &computation) return true;
      }
    }
    return false;
  }

  std::string Value(const HloInstruction& i) { return absl::StrCat("%", prefix_, i.name()); }

  // The instructions of a computation: as a function, or as the block of a region.
  void Body(const HloComputation& computation, const std::string& function) {
    std::vector<std::string> arguments;
    const std::string outer = std::exchange(
        prefix_, absl::StrCat("c", computation.index_in_module(), "_", ++bodies_, "_"));
    for (const HloInstruction* p : computation.parameters()) {
      arguments.push_back(absl::StrCat(Value(*p), ": ", TypeText(p->shape())));
    }
    const HloInstruction& root = *computation.root_instruction();
    const bool is_function = !function.empty();
    absl::StrAppend(&text_, is_function ? function : "^bb0", "(", absl::StrJoin(arguments, ", "),
                    ")",
                    is_function ? absl::StrCat(" -> (", TypeText(root.shape()), ") {\n") : ":\n");
    for (const HloInstruction* i : computation.instructions()) {
      // The root of a region that is a tuple is the list of results.
      const bool is_list = !is_function && i == &root && i->opcode() == HloOpcode::kTuple;
      if (i->opcode() != HloOpcode::kParameter && !is_list) Print(*i);
    }
    std::vector<std::string> values, types;
    if (!is_function && root.opcode() == HloOpcode::kTuple) {
      for (const HloInstruction* element : root.operands()) {
        values.push_back(Value(*element));
        types.push_back(TypeText(element->shape()));
      }
    } else if (!is_function && root.shape().IsTuple()) {
      is_printed_ = false;
    } else {
      values.push_back(Value(root));
      types.push_back(TypeText(root.shape()));
    }
    absl::StrAppend(&text_, is_function ? "func.return " : "stablehlo.return ",
                    absl::StrJoin(values, ", "), " : ", absl::StrJoin(types, ", "), "\n",
                    is_function ? "}\n" : "");
    prefix_ = outer;
  }

  // `%x = "name"(operands) <{attributes}> ({regions}) : types`, with a tuple of several results behind it.
  void Operation(const HloInstruction& i, absl::string_view name,
                 const std::vector<std::string>& attributes,
                 std::vector<const HloComputation*> regions = {}) {
    std::vector<std::string> operands, types, results, result_types;
    for (const HloInstruction* operand : i.operands()) {
      operands.push_back(Value(*operand));
      types.push_back(TypeText(operand->shape()));
    }
    const bool is_tuple = i.shape().IsTuple() && name != "stablehlo.tuple" && name != "func.call" &&
                          name != "stablehlo.get_tuple_element";
    const int64_t count = is_tuple ? static_cast<int64_t>(i.shape().tuple_elements().size()) : 1;
    for (int64_t r = 0; is_tuple && r < count; ++r) {
      results.push_back(absl::StrCat(Value(i), "_all#", r));
      result_types.push_back(TypeText(i.shape().tuple_element(r)));
    }
    if (!is_tuple) result_types.push_back(TypeText(i.shape()));
    absl::StrAppend(&text_, "  ", Value(i), is_tuple ? absl::StrCat("_all:", count) : "", " = \"",
                    name, "\"(", absl::StrJoin(operands, ", "), ")");
    if (!attributes.empty()) absl::StrAppend(&text_, " <{", absl::StrJoin(attributes, ", "), "}>");
    for (size_t r = 0; r < regions.size(); ++r) {
      absl::StrAppend(&text_, r == 0 ? " ({\n" : "}, {\n");
      Body(*regions[r], "");
    }
    if (!regions.empty()) absl::StrAppend(&text_, "})");
    absl::StrAppend(&text_, " : (", absl::StrJoin(types, ", "), ") -> (",
                    absl::StrJoin(result_types, ", "), ")\n");
    if (!is_tuple) return;
    absl::StrAppend(&text_, "  ", Value(i), " = \"stablehlo.tuple\"(", absl::StrJoin(results, ", "),
                    ") : (", absl::StrJoin(result_types, ", "), ") -> ", TypeText(i.shape()), "\n");
  }

  static std::string Attribute(absl::string_view name, const std::string& value) {
    return absl::StrCat(name, " = ", value);
  }
  static std::string Lists(const HloInstruction& i,
                           const std::vector<std::pair<absl::string_view, Key>>& parts) {
    std::vector<std::string> texts;
    for (const auto& [name, key] : parts) {
      texts.push_back(absl::StrCat(name, " = [", absl::StrJoin(i.GetIntegers(key), ", "), "]"));
    }
    return absl::StrJoin(texts, ", ");
  }

  // A scalar's has no dimensions and is not written.
  static Window WindowOr(const HloInstruction& i) {
    return i.window() == nullptr ? Window() : *i.window();
  }

  std::vector<std::string> WindowAttributes(const Window& window, bool is_convolution) {
    std::vector<int64_t> sizes, strides, base, dilations;
    std::vector<std::string> padding, reversal;
    for (const WindowDimension& dim : window.dimensions) {
      sizes.push_back(dim.size);
      strides.push_back(dim.stride);
      base.push_back(dim.base_dilation);
      dilations.push_back(dim.window_dilation);
      padding.push_back(absl::StrCat("[", dim.padding_low, ", ", dim.padding_high, "]"));
      reversal.push_back(dim.window_reversal ? "true" : "false");
    }
    std::vector<std::string> all = {Attribute("window_strides", ListText(strides))};
    if (!padding.empty()) {
      all.push_back(absl::StrCat("padding = dense<[", absl::StrJoin(padding, ", "), "]> : tensor<",
                                 padding.size(), "x2xi64>"));
    }
    all.push_back(Attribute(is_convolution ? "lhs_dilation" : "base_dilations", ListText(base)));
    all.push_back(
        Attribute(is_convolution ? "rhs_dilation" : "window_dilations", ListText(dilations)));
    if (!is_convolution) all.push_back(Attribute("window_dimensions", ListText(sizes)));
    if (is_convolution && !reversal.empty()) {
      all.push_back(
          absl::StrCat("window_reversal = array<i1: ", absl::StrJoin(reversal, ", "), ">"));
    }
    return all;
  }

  void Constant(const HloInstruction& i) {
    const Literal& literal = *i.literal();
    if (!i.shape().IsArray() || literal.IsElided() || IsComplex(i.shape().element_type())) {
      is_printed_ = false;
      return;
    }
    std::vector<std::string> values;
    for (int64_t e = 0; e < literal.ElementCount(); ++e) {
      const auto integer = literal.IntegerAt(e);
      // What a number is does not matter where it is none that addresses.
      values.push_back(IsPred(i.shape().element_type())       ? (*integer != 0 ? "true" : "false")
                       : integer.has_value()                  ? absl::StrCat(*integer)
                       : IsIntegral(i.shape().element_type()) ? "-1"
                                                              : "1.0");
    }
    const std::string flat =
        TypeText(Shape::Array(i.shape().element_type(), {literal.ElementCount()}));
    absl::StrAppend(&text_, "  ", Value(i), "_flat = \"stablehlo.constant\"() <{value = dense<[",
                    absl::StrJoin(values, ", "), "]> : ", flat, "}> : () -> ", flat, "\n  ",
                    Value(i), " = \"stablehlo.reshape\"(", Value(i), "_flat) : (", flat, ") -> ",
                    TypeText(i.shape()), "\n");
  }

  void Print(const HloInstruction& i) {
    const auto op = [](absl::string_view name) { return absl::StrCat("stablehlo.", name); };
    const auto ints = [&](absl::string_view name, Key key) {
      return Attribute(name, ListText(i.GetIntegers(key)));
    };
    if (!i.shape().IsStatic() || i.GetTextByName("precision_config")) is_printed_ = false;
    switch (i.opcode()) {
      case HloOpcode::kConstant:
        return Constant(i);
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
        return Operation(i, "func.call",
                         {absl::StrCat("callee = @", NameOf(*i.inlined_computation()))});
      case HloOpcode::kTuple:
        return Operation(i, op("tuple"), {});
      case HloOpcode::kGetTupleElement:
        return Operation(i, op("get_tuple_element"),
                         {absl::StrCat("index = ", i.tuple_index(), " : i32")});
      case HloOpcode::kIota:
        return Operation(i, op("iota"),
                         {absl::StrCat("iota_dimension = ", i.iota_dimension(), " : i64")});
      case HloOpcode::kBroadcast:
        return Operation(i, op("broadcast_in_dim"),
                         {ints("broadcast_dimensions", Key::kDimensions)});
      case HloOpcode::kTranspose:
        return Operation(i, op("transpose"), {ints("permutation", Key::kDimensions)});
      case HloOpcode::kReverse:
        return Operation(i, op("reverse"), {ints("dimensions", Key::kDimensions)});
      case HloOpcode::kReshape:
        return Operation(i, op("reshape"), {});
      case HloOpcode::kConcatenate:
        return Operation(i, op("concatenate"),
                         {absl::StrCat("dimension = ", i.dimensions()[0], " : i64")});
      case HloOpcode::kDynamicSlice:
        return Operation(i, op("dynamic_slice"), {ints("slice_sizes", Key::kDynamicSliceSizes)});
      case HloOpcode::kDynamicUpdateSlice:
        return Operation(i, op("dynamic_update_slice"), {});
      case HloOpcode::kSlice: {
        std::vector<int64_t> starts, limits, strides;
        for (const SliceRange& range : i.slice()) {
          starts.push_back(range.start);
          limits.push_back(range.limit);
          strides.push_back(range.stride);
        }
        return Operation(i, op("slice"),
                         {Attribute("start_indices", ListText(starts)),
                          Attribute("limit_indices", ListText(limits)),
                          Attribute("strides", ListText(strides))});
      }
      case HloOpcode::kPad: {
        std::vector<int64_t> low, high, interior;
        for (const PaddingDimension& dim : i.padding()) {
          low.push_back(dim.low);
          high.push_back(dim.high);
          interior.push_back(dim.interior);
        }
        return Operation(i, op("pad"),
                         {Attribute("edge_padding_low", ListText(low)),
                          Attribute("edge_padding_high", ListText(high)),
                          Attribute("interior_padding", ListText(interior))});
      }
      case HloOpcode::kCompare:
        return Operation(i, op("compare"),
                         {absl::StrCat("comparison_direction = #stablehlo<comparison_direction ",
                                       i.comparison_direction(), ">")});
      case HloOpcode::kReducePrecision:
        return Operation(
            i, op("reduce_precision"),
            {absl::StrCat("exponent_bits = ", *i.GetInteger(Key::kExponentBits), " : i32"),
             absl::StrCat("mantissa_bits = ", *i.GetInteger(Key::kMantissaBits), " : i32")});
      case HloOpcode::kDot:
        return Operation(
            i, op("dot_general"),
            {absl::StrCat("dot_dimension_numbers = #stablehlo.dot<",
                          Lists(i, {{"lhs_batching_dimensions", Key::kLhsBatchDims},
                                    {"rhs_batching_dimensions", Key::kRhsBatchDims},
                                    {"lhs_contracting_dimensions", Key::kLhsContractingDims},
                                    {"rhs_contracting_dimensions", Key::kRhsContractingDims}}),
                          ">")});
      case HloOpcode::kGather:
        return Operation(
            i, op("gather"),
            {absl::StrCat("dimension_numbers = #stablehlo.gather<",
                          Lists(i, {{"offset_dims", Key::kOffsetDims},
                                    {"collapsed_slice_dims", Key::kCollapsedSliceDims},
                                    {"operand_batching_dims", Key::kOperandBatchingDims},
                                    {"start_indices_batching_dims", Key::kStartIndicesBatchingDims},
                                    {"start_index_map", Key::kStartIndexMap}}),
                          ", index_vector_dim = ", *i.GetInteger(Key::kIndexVectorDim), ">"),
             ints("slice_sizes", Key::kSliceSizes)});
      case HloOpcode::kScatter:
        return Operation(
            i, op("scatter"),
            {absl::StrCat(
                 "scatter_dimension_numbers = #stablehlo.scatter<",
                 Lists(i, {{"update_window_dims", Key::kUpdateWindowDims},
                           {"inserted_window_dims", Key::kInsertedWindowDims},
                           {"input_batching_dims", Key::kInputBatchingDims},
                           {"scatter_indices_batching_dims", Key::kScatterIndicesBatchingDims},
                           {"scatter_dims_to_operand_dims", Key::kScatterDimsToOperandDims}}),
                 ", index_vector_dim = ", *i.GetInteger(Key::kIndexVectorDim), ">"),
             absl::StrCat("unique_indices = ", i.GetBool(Key::kUniqueIndices) ? "true" : "false")},
            {i.to_apply()});
      case HloOpcode::kReduce:
        return Operation(i, op("reduce"), {ints("dimensions", Key::kDimensions)}, {i.to_apply()});
      case HloOpcode::kMap:
        return Operation(i, op("map"), {ints("dimensions", Key::kDimensions)}, {i.to_apply()});
      case HloOpcode::kSort:
        return Operation(i, op("sort"), {absl::StrCat("dimension = ", i.dimensions()[0], " : i64")},
                         {i.to_apply()});
      case HloOpcode::kReduceWindow:
        return Operation(i, op("reduce_window"), WindowAttributes(WindowOr(i), false),
                         {i.to_apply()});
      case HloOpcode::kConvolution: {
        std::vector<std::string> attributes = WindowAttributes(WindowOr(i), true);
        // b01f_01io->b01f as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f].
        std::string labels = "[";
        const std::string given = i.convolution_dimension_numbers()->ToString();
        for (size_t c = 0; c < given.size(); ++c) {
          if (given[c] == '-') {
            labels += "]->[";
            ++c;
          } else {
            absl::StrAppend(
                &labels, given[c] == '_'
                             ? "]x["
                             : absl::StrCat(labels.back() == '[' ? "" : ", ", given.substr(c, 1)));
          }
        }
        attributes.push_back(absl::StrCat("dimension_numbers = #stablehlo.conv<", labels, "]>"));
        attributes.push_back(
            absl::StrCat("feature_group_count = ", i.feature_group_count(), " : i64"));
        attributes.push_back(absl::StrCat("batch_group_count = ", i.batch_group_count(), " : i64"));
        if (i.is_sparse()) is_printed_ = false;
        return Operation(i, op("convolution"), attributes);
      }
      default:
        if (!IsElementwise(i.opcode()) || i.opcode() == HloOpcode::kCopy) is_printed_ = false;
        return Operation(i, op(absl::StrReplaceAll(i.opcode_name(), {{"-", "_"}})), {});
    }
  }

  std::string text_;
  std::string prefix_;
  int bodies_ = 0;
  bool is_printed_ = true;
};

void ExpectSameDependence(const std::string& hlo_text, uint64_t seed, int* checked) {
  const auto hlo = ParseAndVerifyModule(hlo_text);
  ASSERT_TRUE(hlo.ok()) << hlo.status();
  const HloComputation& entry = *(*hlo)->entry_computation();
  for (const HloInstruction* i : entry.instructions()) {
    if (i->HasAttribute(Key::kOperandBatchingDims) &&
        i->gather_dimension_numbers().HasBatchingAndIndexed())
      return;
  }
  const std::optional<std::string> text = StableHloText().Print(**hlo);
  if (!text.has_value()) return;
  const auto read = ReadAndVerifyStableHlo(*text, "random.mlir");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << *text << hlo_text;
  const HloComputation& again = *(*read)->entry_computation();
  const auto arguments = reference::RandomArguments(entry, seed);
  const auto before =
      reference::DependenceOfComputation(entry, reference::Pointers(arguments), seed);
  if (!before.ok()) return;
  const auto after =
      reference::DependenceOfComputation(again, reference::Pointers(arguments), seed);
  ASSERT_TRUE(after.ok()) << after.status() << "\n" << *text;
  const auto same = [](const auto& a, const auto& b) {
    return !(a.first < b.first) && !(b.first < a.first) && a.second == b.second;
  };
  EXPECT_TRUE(std::equal(before->begin(), before->end(), after->begin(), after->end(), same))
      << *text << hlo_text;
  ++*checked;
}

// Those that are printed, but for functions of each element.
const std::set<absl::string_view> kPrinted = {
    "add",         "broadcast", "call",          "concatenate",
    "convolution", "dot",       "dynamic-slice", "dynamic-update-slice",
    "fusion",      "gather",    "iota",          "map",
    "pad",         "reduce",    "reduce-window", "reshape",
    "reverse",     "scatter",   "slice",         "sort",
    "transpose"};

TEST(RandomStableHlo, OperationsDependOnTheSame) {
  std::map<std::string, int> checked;
  const int seeds = 300 * ChosenEffort().times / ChosenEffort().one_of;
  for (const HloOpcode opcode : RandomOpcodes()) {
    for (int seed = 0; seed < seeds && !HasFailure(); ++seed) {
      ExpectSameDependence(RandomOperationModule(opcode, static_cast<uint64_t>(seed)),
                           static_cast<uint64_t>(seed), &checked[std::string(OpcodeName(opcode))]);
    }
  }
  for (const absl::string_view opcode : kPrinted) {
    EXPECT_GT(checked[std::string(opcode)], seeds / 10) << opcode;
  }
}

// Fusions and calls of the operations that are printed.
TEST(RandomStableHlo, FusionsDependOnTheSame) {
  std::vector<HloOpcode> opcodes;
  for (const HloOpcode opcode : RandomOpcodes()) {
    if (opcode != HloOpcode::kCopy && opcode != HloOpcode::kBitcast &&
        opcode != HloOpcode::kBitcastConvert &&
        (IsElementwise(opcode) || kPrinted.contains(OpcodeName(opcode)))) {
      opcodes.push_back(opcode);
    }
  }
  int checked = 0;
  const int seeds = 10000 * ChosenEffort().times / ChosenEffort().one_of;
  for (int seed = 0; seed < seeds && !HasFailure(); ++seed) {
    ExpectSameDependence(RandomFusionModule(opcodes, static_cast<uint64_t>(seed)),
                         static_cast<uint64_t>(seed), &checked);
  }
  std::cout << checked << " of " << seeds << " modules are compared\n";
  EXPECT_GT(checked, seeds / 20);
}

}  // namespace
}  // namespace xla_indexing
