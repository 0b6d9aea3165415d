// What each operation of StableHLO is in HLO: one table of names, opcodes and attributes, and a
// function for each of those that are more than that; and how the attributes are read.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/parts/parse_attributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/types_and_attributes.h"

namespace xla_indexing::internal {

namespace {

using Key = AttributeKey;

constexpr size_t kShownText = 60;

// `{{0,1},{2,3}}` of dense<[[0, 1], [2, 3]]>; -1 fills up short groups.
std::string GroupsText(ImportedOp& call, absl::string_view path) {
  const Ints ids = call.IntsAt(path);
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.Find(path));
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
  const std::string sum = call.WordAt("algorithm.accumulation_type");
  if (sum.empty()) return "";
  const std::string lhs = call.WordAt("algorithm.lhs_precision_type");
  const std::string rhs = call.WordAt("algorithm.rhs_precision_type");
  const bool is_f8 = absl::StartsWithIgnoreCase(lhs, "f8");
  std::string name = absl::StrCat("dot_", is_f8 ? "any_f8_any_f8" : lhs + "_" + rhs, "_", sum);
  const int64_t products = call.IntAt("algorithm.num_primitive_operations").value_or(1);
  if (products > 1) absl::StrAppend(&name, "_x", products);
  if (call.BoolAt("algorithm.allow_imprecise_accumulation")) {
    absl::StrAppend(&name, "_fast_accum");
  }
  return absl::AsciiStrToLower(name);
}

// `{high,high}` of `[HIGH, DEFAULT]`: the same for both operands, since no map depends on it.
std::string PrecisionText(absl::string_view given) {
  for (const absl::string_view level : {"HIGHEST", "HIGH"}) {
    if (!absl::StrContains(given, level)) continue;
    const std::string word = absl::AsciiStrToLower(level);
    return absl::StrCat("{", word, ",", word, "}");
  }
  return "";
}

// The value of an attribute that is text in HLO; empty for none.
std::string TextOf(ImportedOp& call, const OpAttributeRule& of) {
  const std::string& path = of.path;
  switch (of.key) {
    case Key::kOther: {
      auto number = mlir::dyn_cast_or_null<mlir::FloatAttr>(call.Find(path));
      return number ? absl::StrCat(number.getValueAsDouble()) : PrecisionText(call.TextAt(path));
    }
    case Key::kReplicaGroups:
    case Key::kSourceTargetPairs:
      return GroupsText(call, path);
    case Key::kComparisonType:
      return call.WordAt(path) == "TOTALORDER" ? "TOTALORDER" : "";
    case Key::kAlgorithm:
      if (call.rule.opcode == HloOpcode::kDot) return DotAlgorithm(call);
      [[fallthrough]];
    case Key::kDistribution:
      return absl::StrCat("rng_", absl::AsciiStrToLower(call.WordAt(path)));
    default:
      return call.WordAt(path);
  }
}

// Gives the instruction three lists of one number for each dimension as one list of three numbers
// each.
template <typename Of>
void SetLists(ImportedOp& call, Key key, const char* const (&names)[3], HloInstruction* made) {
  std::vector<Ints> lists;
  for (const char* name : names) lists.push_back(call.IntsAt(name));
  if (lists[0].size() != lists[1].size() || lists[0].size() != lists[2].size()) {
    return call.Fail("there are ", lists[0].size(), " numbers in ", names[0], ", ", lists[1].size(),
                     " in ", names[1], " and ", lists[2].size(), " in ", names[2]);
  }
  std::vector<Of> of;
  of.reserve(lists[0].size());
  for (size_t i = 0; i < lists[0].size(); ++i) {
    of.push_back({lists[0][i], lists[1][i], lists[2][i]});
  }
  made->SetAttribute(key, absl::Span<const Of>(of));
}

// The labels of a convolution, [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f].
ConvolutionDimensionNumbers LabelsOf(ImportedOp& call) {
  ConvolutionDimensionNumbers numbers;
  const std::string text = call.TextAt("dimension_numbers");
  const size_t begin = std::min(text.find('['), text.size());
  const size_t end = std::min(text.rfind(']'), text.size());
  const std::string labels =
      absl::StrReplaceAll(absl::string_view(text).substr(begin, end - std::min(begin, end)),
                          {{"]x[", "_"}, {"[", ""}, {"]", ""}, {",", ""}, {" ", ""}});
  Lexer lexer(labels);
  if (ReadDimensionLabels(lexer, &numbers) && lexer.AtEnd() &&
      numbers.kernel_rank == call.operands[1]->shape().rank()) {
    return numbers;
  }
  call.Fail("dimension_numbers: labels such as [b, 0, f]x[0, i, o]->[b, 0, f] are expected, not '",
            text.substr(0, 100), "'");
  return {};
}

// What the attributes say of a window.
Window WindowOf(ImportedOp& call) {
  Window window;
  const bool is_convolution = call.rule.opcode == HloOpcode::kConvolution;
  Ints sizes = call.IntsAt("window_dimensions");
  if (is_convolution) {
    sizes.clear();
    for (const int64_t dim : LabelsOf(call).kernel_spatial) {
      sizes.push_back(call.operands[1]->shape().dimension(dim));
    }
  }
  // `each` numbers for a dimension; where there is no list, those of a window without it.
  const auto read = [&](absl::string_view name, size_t each, int64_t absent) {
    Ints given = call.IntsAt(name);
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

// Gives the instruction one attribute of the rule.
void SetAttribute(ImportedOp& call, const OpAttributeRule& of, HloInstruction* made) {
  const std::string& path = of.path;
  switch (KindOf(of.key)) {
    case AttributeKind::kIntegers: {
      const Ints ints = call.IntsAt(path);
      if (!of.is_optional || !ints.empty()) made->SetAttribute(of.key, ints);
      return;
    }
    case AttributeKind::kInteger:
    case AttributeKind::kBool: {
      const int64_t value = call.IntAt(path).value_or(of.key == Key::kLargest ? 1 : 0);
      if (of.is_optional && value == 0) return;
      if (KindOf(of.key) == AttributeKind::kBool) return made->SetAttribute(of.key, value != 0);
      return made->SetAttribute(of.key, value);
    }
    case AttributeKind::kSlice:
      return SetLists<SliceRange>(call, of.key, {"start_indices", "limit_indices", "strides"},
                                  made);
    case AttributeKind::kPadding:
      return SetLists<PaddingDimension>(
          call, of.key, {"edge_padding_low", "edge_padding_high", "interior_padding"}, made);
    case AttributeKind::kWindow: {
      const Window window = WindowOf(call);
      return made->SetAttribute(of.key, &window);
    }
    case AttributeKind::kDimensionLabels: {
      const ConvolutionDimensionNumbers numbers = LabelsOf(call);
      return made->SetAttribute(of.key, &numbers);
    }
    case AttributeKind::kComputation:
      return made->SetAttribute(of.key, call.Region(of.region));
    case AttributeKind::kComputations:
      return made->SetAttribute(of.key, call.importer.RegionsOf(call.op).computations);
    default: {
      const std::string text = TextOf(call, of);
      if (!text.empty()) made->SetTextAttribute(of.name, text);
      return;
    }
  }
}

}  // namespace

OpRule::OpRule(std::string name, HloOpcode opcode, int least_operands, absl::string_view attributes,
               void (*import)(ImportedOp&), RegionForm form)
    : name(std::move(name)),
      opcode(opcode),
      least_operands(least_operands),
      import(import == nullptr ? ImportPlain : import),
      form(form) {
  for (const absl::string_view of : absl::StrSplit(attributes, ' ', absl::SkipEmpty())) {
    const std::vector<absl::string_view> names = absl::StrSplit(of, '=');
    absl::string_view name = names.front();
    const bool is_optional = absl::ConsumeSuffix(&name, "?");
    const absl::string_view path = names.size() == 1 ? name : names.back();
    const Key key = AttributeKeyFromName(name).value_or(Key::kOther);
    this->attributes.push_back({key, std::string(name), std::string(path), is_optional, regions});
    const AttributeKind kind = KindOf(key);
    if (kind == AttributeKind::kComputation || kind == AttributeKind::kComputations) ++regions;
  }
}

mlir::Attribute ImportedOp::Find(absl::string_view name) const {
  const llvm::StringRef key(name.data(), name.size());
  if (rule.import != ImportPlain || !Is("custom_call")) return op.getAttr(key);
  for (const char* attributes : {"mhlo.attributes", "backend_config", "mhlo.backend_config"}) {
    auto all = op.getAttrOfType<mlir::DictionaryAttr>(attributes);
    if (all && all.contains(key)) return all.get(key);
  }
  return {};
}

std::string ImportedOp::TextAt(absl::string_view path) const {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, absl::MaxSplits('.', 1));
  if (parts.size() == 2) return AttributePart(AttributeText(Find(parts[0])), parts[1]);
  if (const mlir::Attribute own = Find(path)) return AttributeText(own);
  for (const char* numbers : {"dimension_numbers", "dot_dimension_numbers",
                              "ragged_dot_dimension_numbers", "scatter_dimension_numbers"}) {
    const mlir::Attribute all = Find(numbers);
    if (all != nullptr) return AttributePart(AttributeText(all), path);
  }
  return "";
}

Ints ImportedOp::IntsAt(absl::string_view path) {
  for (const auto& [name, numbers] : given) {
    if (name == path) return numbers;
  }
  Ints ints;
  const mlir::Attribute own = Find(path);
  if (!(own == nullptr ? AddIntsOfText(TextAt(path), &ints) : AddInts(own, &ints))) {
    Fail(path, ": numbers are expected, not '", TextAt(path).substr(0, kShownText), "'");
  }
  return ints;
}

std::optional<int64_t> ImportedOp::IntAt(absl::string_view path) {
  const Ints ints = IntsAt(path);
  if (ints.size() == 1) return ints.front();
  if (!ints.empty()) Fail(path, ": one number is expected, not ", ints.size());
  return std::nullopt;
}

std::string ImportedOp::WordAt(absl::string_view path) {
  const std::string text = TextAt(path);
  absl::string_view word = absl::StripAsciiWhitespace(text);
  word.remove_prefix(word.find_last_of(' ') + 1);
  const auto is_of_word = [](char c) { return absl::ascii_isalnum(c) || c == '_'; };
  if (absl::c_all_of(word, is_of_word)) return std::string(word);
  Fail(path, ": a word is expected, not '", text.substr(0, kShownText), "'");
  return "";
}

void ImportedOp::SetAttributes(HloInstruction* made) {
  for (const OpAttributeRule& of : rule.attributes) SetAttribute(*this, of, made);
}

// `%5`, an addition, is add.5; where nothing has a name, the last word of its location is one.
HloInstruction* ImportedOp::AddMain(HloOpcode opcode, const ImportedOperands& from, const Shape& to,
                                    ImportedAttributes given) {
  const absl::string_view text = importer.TextOf(op);
  const absl::string_view word = WordOf(op.getLoc());
  std::string name(OpcodeName(opcode));
  if (!text.empty() && !absl::ascii_isdigit(text[0])) {
    name = HloNameOf(text);
  } else {
    if (!word.empty()) name = HloNameOf(word);
    if (!text.empty()) absl::StrAppend(&name, ".", text);
  }
  return importer.AddNamed(op, opcode, name, from, to, given, /*is_main=*/true);
}

HloInstruction* ImportedOp::AddStep(HloOpcode opcode, const ImportedOperands& from, const Shape& to,
                                    ImportedAttributes given) {
  const absl::string_view text = importer.TextOf(op);
  std::string name(OpcodeName(opcode));
  if (!text.empty()) absl::StrAppend(&name, ".", HloNameOf(absl::StrCat("n", text)).substr(1));
  return importer.AddNamed(op, opcode, name, from, to, given);
}

const HloInstruction* ImportedOp::AddElement(const HloInstruction* tuple, int64_t index) {
  return AddStep(HloOpcode::kGetTupleElement, {tuple}, tuple->shape().tuple_element(index),
                 {{Key::kIndex, index}});
}

const HloInstruction* ImportedOp::AddTuple(const ImportedOperands& elements) {
  return AddStep(HloOpcode::kTuple, elements, TupleShapeOf(elements));
}

void ImportedOp::Bind(const HloInstruction* made) {
  if (failed()) return;
  const Shape& of = made->shape();
  const bool is_in_tuple = op.getNumResults() != 1 ||
                           (of.IsTuple() && !EqualIgnoringLayout(of, importer.ResultShape(op)));
  if (is_in_tuple && of.IsTuple() && of.tuple_elements().size() < op.getNumResults()) {
    return Fail("it has ", op.getNumResults(), " results, and ", of.tuple_elements().size(),
                " values for them");
  }
  for (const mlir::OpResult result : op.getResults()) {
    if (!is_in_tuple) {
      importer.BindResult(result, made);
    } else if (!result.use_empty()) {
      importer.BindResult(result, AddElement(made, result.getResultNumber()));
    }
  }
}

HloInstruction* ImportedOp::AddMain(const ImportedOperands& from, const Shape& to) {
  HloInstruction* made = AddMain(rule.opcode, from, to);
  SetAttributes(made);
  return made;
}

ImportedOperands ImportedOp::Captured(size_t region) {
  ImportedOperands captured;
  for (const mlir::Value value : importer.RegionsOf(op).captures[region]) {
    captured.push_back(importer.ValueOf(op, value));
  }
  return failed() ? ImportedOperands() : captured;
}

void ImportedOp::AddCaptured(size_t at, const Shape& like) {
  importer.ImportMoved(op);
  for (const HloInstruction* scalar : Captured(0)) {
    if (!like.IsScalar()) {
      Shape shape = like;
      shape.SetElementType(scalar->shape().element_type());
      scalar = AddStep(HloOpcode::kBroadcast, {scalar}, shape, {{Key::kDimensions, Ints()}});
    }
    operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(at++), scalar);
  }
}

void ImportPlain(ImportedOp& call) { call.Bind(call.AddMain(call.operands, call.shape)); }
namespace {

// The attributes of a row that are put together of several lists.
template <typename... Lists>
std::string Join(const Lists&... lists) {
  return absl::StrJoin({absl::string_view(lists)...}, " ");
}

// Attributes that several operations have.
constexpr char kBatchNorm[] = "feature_index epsilon";
constexpr char kConvolution[] =
    "feature_group_count? batch_group_count? window dim_labels operand_precision=precision_config";
constexpr char kDevices[] =
    "channel_id?=channel_handle.handle replica_groups use_global_device_ids?";
constexpr char kDot[] =
    "lhs_batch_dims?=lhs_batching_dimensions lhs_contracting_dims=lhs_contracting_dimensions "
    "rhs_batch_dims?=rhs_batching_dimensions rhs_contracting_dims=rhs_contracting_dimensions "
    "algorithm operand_precision=precision_config";
constexpr char kGather[] =
    "offset_dims collapsed_slice_dims start_index_map operand_batching_dims? "
    "start_indices_batching_dims? index_vector_dim slice_sizes indices_are_sorted?";
constexpr char kRaggedDot[] =
    "lhs_batch_dims?=lhs_batching_dimensions lhs_contracting_dims=lhs_contracting_dimensions "
    "rhs_batch_dims?=rhs_batching_dimensions rhs_contracting_dims=rhs_contracting_dimensions "
    "lhs_ragged_dims=lhs_ragged_dimensions rhs_group_dims=rhs_group_dimensions "
    "operand_precision=precision_config";
constexpr char kScatter[] =
    "update_window_dims inserted_window_dims scatter_dims_to_operand_dims input_batching_dims? "
    "scatter_indices_batching_dims? index_vector_dim indices_are_sorted? unique_indices? to_apply";
constexpr char kTransfer[] = "channel_id=channel_handle.handle is_host_transfer?";
constexpr char kTriangularSolve[] = "left_side lower unit_diagonal transpose_a";

// Whether an operation that is not known, one in its regions, or a function that these call, may read
// other devices.
bool MayReadOtherDevices(mlir::Operation& op) {
  constexpr llvm::StringLiteral kSigns[] = {"callee",         "called_computations",
                                            "channel_handle", "decomposition",
                                            "replica_groups", "source_target_pairs"};
  const auto look = [&](mlir::Operation* inner) {
    const auto has = [&](llvm::StringRef name) { return inner->hasAttr(name); };
    return llvm::any_of(kSigns, has) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  return op.walk(look).wasInterrupted();
}

// An operation that is not known, or whose regions HLO has no place for: all that it may read is its
// operands, and what its regions use.
void ImportUnknown(ImportedOp& call) {
  if (call.op.getNumRegions() > 0)
    call.AddCaptured(call.operands.size(), Shape::Scalar(ElementType::kPred));
  if (call.failed()) return;
  HloInstruction* made = call.AddMain(HloOpcode::kUnknown, call.operands, call.shape);
  std::string name = HloNameOf(call.op.getName().getStringRef().str());
  if (OpcodeFromName(name).has_value()) name.insert(0, "mlir.");
  made->SetAttribute(AttributeKey::kUnknownOpcode, absl::string_view(name));
  if (MayReadOtherDevices(call.op)) {
    made->SetAttribute(AttributeKey::kReplicaGroups, absl::string_view("{}"));
  }
  call.Bind(made);
}

// The name, the opcode, the least number of operands, the attributes; then the function of those
// that need more, and what becomes of the regions. There is a region for each attribute that is a
// computation. A name without a dialect's is one of StableHLO, CHLO and MHLO.
std::vector<OpRule> OpTable() {
  using Op = HloOpcode;
  using Form = RegionForm;
  return {
      {"after_all", Op::kAfterAll},
      {"all_gather", Op::kAllGather, 1, Join("dimensions=all_gather_dim", kDevices)},
      {"all_reduce", Op::kAllReduce, 1, Join(kDevices, "to_apply"), {}, Form::kPlain},
      // A future is what it will be.
      {"async_done", Op::kCall, 1, "", ImportAsyncDone},
      {"async_start", Op::kCall, 0, "to_apply", {}, Form::kPlain},
      {"all_to_all", Op::kAllToAll, 1, Join(kDevices, "dimensions=split_dimension"),
       ImportAllToAll},
      {"batch_norm_grad", Op::kBatchNormGrad, 5, kBatchNorm},
      {"batch_norm_inference", Op::kBatchNormInference, 5, kBatchNorm},
      {"batch_norm_training", Op::kBatchNormTraining, 3, kBatchNorm},
      {"bitcast_convert", Op::kBitcastConvert, 1},
      {"broadcast", Op::kBroadcast, 1, "", ImportBroadcast},
      {"broadcast_compare", Op::kCompare, 2, "direction=comparison_direction", ImportBroadcasting},
      {"broadcast_in_dim", Op::kBroadcast, 1, "", ImportBroadcast},
      {"func.call", Op::kCall, 0, "", ImportCall},
      {"case", Op::kConditional, 1, "branch_computations", ImportConditional, Form::kBranches},
      {"cholesky", Op::kCholesky, 1, "lower"},
      {"collective_broadcast", Op::kCollectiveBroadcast, 1, kDevices},
      {"collective_permute", Op::kCollectivePermute, 1,
       "channel_id?=channel_handle.handle source_target_pairs"},
      {"compare", Op::kCompare, 2, "direction=comparison_direction type=compare_type"},
      {"composite", Op::kCall, 0, "", ImportCall},
      {"concatenate", Op::kConcatenate, 1, "dimensions=dimension"},
      {"constant", Op::kConstant, 0, "", ImportConstant},
      {"convolution", Op::kConvolution, 2, kConvolution},
      {"create_token", Op::kAfterAll},
      {"custom_call", Op::kCustomCall, 0, "", ImportCustomCall},
      {"dot", Op::kDot, 2, kDot, ImportDot},
      {"dot_general", Op::kDot, 2, kDot},
      {"dynamic_broadcast_in_dim", Op::kBroadcast, 2, "", ImportDynamic},
      {"dynamic_conv", Op::kCustomCall, 3, "", ImportDynamic},
      {"dynamic_gather", Op::kCustomCall, 3, "", ImportDynamic},
      {"dynamic_iota", Op::kIota, 1, "iota_dimension", ImportDynamic},
      {"dynamic_pad", Op::kCustomCall, 5, "", ImportDynamic},
      {"dynamic_reshape", Op::kReshape, 2, "", ImportDynamic},
      {"dynamic_slice", Op::kDynamicSlice, 1, "dynamic_slice_sizes=slice_sizes"},
      {"dynamic_update_slice", Op::kDynamicUpdateSlice, 2},
      {"einsum", Op::kDot, 2, kDot, ImportEinsum},
      {"fft", Op::kFft, 1, "fft_type fft_length"},
      {"gather", Op::kGather, 2, kGather, ImportGather},
      {"get_dimension_size", Op::kGetDimensionSize, 1, "dimensions=dimension"},
      {"get_tuple_element", Op::kGetTupleElement, 1, "index"},
      {"if", Op::kConditional, 1, "true_computation false_computation", ImportConditional,
       Form::kBranches},
      {"infeed", Op::kInfeed, 1, "", ImportInfeed},
      {"iota", Op::kIota, 0, "iota_dimension"},
      {"sdy.manual_computation", Op::kCall, 0, "to_apply", ImportManualComputation, Form::kPlain},
      {"map", Op::kMap, 1, "dimensions to_apply", ImportOfElements, Form::kMap},
      {"sdy.named_computation", Op::kCall, 0, "to_apply", {}, Form::kPlain},
      {"optimization_barrier", Op::kOptBarrier, 0, "", ImportBarrier},
      {"outfeed", Op::kOutfeed, 1, "", ImportOutfeed},
      {"pad", Op::kPad, 2, "padding"},
      {"partition_id", Op::kPartitionId},
      {"ragged_all_to_all", Op::kRaggedAllToAll, 6, "channel_id? replica_groups"},
      {"ragged_dot", Op::kRaggedDot, 3, kRaggedDot},
      {"real_dynamic_slice", Op::kCustomCall, 4, "", ImportDynamic},
      {"recv", Op::kRecv, 1, kTransfer, ImportRecv},
      {"reduce", Op::kReduce, 2, "dimensions to_apply", ImportOfElements, Form::kReducer},
      {"reduce_precision", Op::kReducePrecision, 1, "exponent_bits mantissa_bits"},
      {"reduce_scatter",
       Op::kReduceScatter,
       1,
       Join("dimensions=scatter_dimension", kDevices, "to_apply"),
       {},
       Form::kPlain},
      {"reduce_window", Op::kReduceWindow, 2, "window to_apply", ImportOfElements, Form::kReducer},
      {"replica_id", Op::kReplicaId},
      {"reshape", Op::kReshape, 1},
      {"sdy.reshard", Op::kCustomCall, 1, "", ImportShardingConstraint},
      {"reverse", Op::kReverse, 1, "dimensions"},
      {"rng", Op::kRng, 2, "distribution=rng_distribution", ImportRng},
      {"rng_bit_generator", Op::kRngBitGenerator, 1, "algorithm=rng_algorithm"},
      {"scan", Op::kScan, 1, "dimensions=dimension num_carries is_reverse? to_apply", ImportScan,
       Form::kPlain},
      {"scatter", Op::kScatter, 3, kScatter, ImportOfElements, Form::kReducer},
      {"select_and_scatter", Op::kSelectAndScatter, 3, "window select scatter", {}, Form::kPlain},
      {"send", Op::kSend, 1, kTransfer, ImportSend},
      {"set_dimension_size", Op::kSetDimensionSize, 2, "dimensions=dimension"},
      {"sdy.sharding_constraint", Op::kCustomCall, 1, "", ImportShardingConstraint},
      {"slice", Op::kSlice, 1, "slice"},
      {"sort", Op::kSort, 1, "is_stable? dimensions=dimension to_apply", ImportOfElements,
       Form::kSort},
      {"square", Op::kMultiply, 1, "", ImportSquare},
      {"top_k", Op::kTopk, 1, "k largest"},
      {"topk", Op::kTopk, 1, "k largest"},
      {"transpose", Op::kTranspose, 1, "dimensions=permutation"},
      {"triangular_solve", Op::kTriangularSolve, 2, kTriangularSolve},
      {"tuple", Op::kTuple},
      {"unary_einsum", Op::kDot, 1, kDot, ImportEinsum},
      {"uniform_dequantize", Op::kConvert, 1},
      {"uniform_quantize", Op::kConvert, 1},
      {"while", Op::kWhile, 0, "condition body", ImportWhile, Form::kWhile},
  };
}

// The rule for an operation of that name; null if there is none.
const OpRule* FindRule(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* rules = new absl::flat_hash_map<std::string, std::shared_ptr<const OpRule>>();
    const auto add = [&](const OpRule& rule) {
      const auto kept = std::make_shared<const OpRule>(rule);
      if (absl::StrContains(rule.name, '.')) {
        rules->emplace(rule.name, kept);
        return;
      }
      for (const char* dialect : {"stablehlo.", "chlo.", "mhlo."}) {
        rules->emplace(dialect + rule.name, kept);
      }
    };
    for (const OpRule& rule : OpTable()) add(rule);
    // The functions of each element that are opcodes have the name that HLO has for them, with
    // other hyphens. Those of the table stay.
    for (int i = 0; i < kOpcodeCount; ++i) {
      const auto opcode = static_cast<HloOpcode>(i);
      if (!IsElementwise(opcode)) continue;
      const std::string name = absl::StrReplaceAll(OpcodeName(opcode), {{"-", "_"}});
      add({name, opcode, OpcodeArity(opcode).value_or(1)});
      add({"broadcast_" + name, opcode, 2, "", ImportBroadcasting});
    }
    // Those that are no opcodes.
    for (const char* name :
         {"atan", "bessel_i1e", "conj", "constant_like", "digamma", "erf_inv", "erfc", "is_inf",
          "is_neg_inf", "is_pos_inf", "lgamma", "next_after", "polygamma", "zeta"}) {
      add({name, HloOpcode::kMap, 1, "", ImportFunctionOfElements, RegionForm::kFunction});
    }
    for (const char* name : {"next_after", "polygamma", "zeta"}) {
      add({absl::StrCat("broadcast_", name), HloOpcode::kMap, 2, "", ImportBroadcasting,
           RegionForm::kFunction});
    }
    return rules;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second.get();
}

// The rule for the operation that a custom call stands for: one of HLO that StableHLO does not have, as
// `mhlo.topk` of TensorFlow and older exports of JAX, and `ragged_all_to_all` of JAX. Null for others.
const OpRule* RuleOfTarget(mlir::Operation& op) {
  auto target = op.getAttrOfType<mlir::StringAttr>("call_target_name");
  if (!target || op.getNumRegions() > 0) return nullptr;
  const std::string name = target.str();
  const OpRule* meant = absl::StartsWith(name, "mhlo.") ? FindRule(name)
                        : name == "ragged_all_to_all"   ? FindRule("mhlo." + name)
                                                        : nullptr;
  return meant != nullptr && meant->regions == 0 && meant->import == ImportPlain ? meant : nullptr;
}

// The rule for an operation that is not known.
const OpRule& UnknownRule() {
  static const auto* const kUnknown = new OpRule("", HloOpcode::kUnknown, 0, "", ImportUnknown);
  return *kUnknown;
}

const OpRule& OpRuleOf(mlir::Operation& op) {
  const llvm::StringRef name = op.getName().getStringRef();
  const OpRule* rule = FindRule(absl::string_view(name.data(), name.size()));
  if (rule == nullptr) return UnknownRule();
  if (rule->import == ImportCustomCall) {
    const OpRule* meant = RuleOfTarget(op);
    return meant == nullptr ? *rule : *meant;
  }
  const bool is_function =
      op.getNumResults() == 1 && op.getNumOperands() > 0 && op.getNumRegions() == 0;
  return rule->form == RegionForm::kFunction && !is_function ? UnknownRule() : *rule;
}

}  // namespace

const OpRule& OpRuleNamed(absl::string_view name) {
  return *FindRule(absl::StrCat("stablehlo.", name));
}

RegionForm FormOf(mlir::Operation& op) { return OpRuleOf(op).form; }

bool CanMove(mlir::Operation& op) {
  if (op.getNumResults() != 1 || op.getNumRegions() != 0) return false;
  switch (const HloOpcode opcode = OpRuleOf(op).opcode) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kDot:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kPad:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return IsElementwise(opcode);
  }
}

void ImportOp(ModuleImporter& importer, mlir::Operation& op) {
  ImportedOp call{importer, op, OpRuleOf(op)};
  for (const mlir::Value operand : op.getOperands()) {
    call.operands.push_back(importer.ValueOf(op, operand));
  }
  call.shape = importer.ResultShape(op);
  if (importer.failed()) return;
  const std::optional<int> arity = OpcodeArity(call.rule.opcode);
  const int operands = static_cast<int>(op.getNumOperands());
  if (operands < call.rule.least_operands ||
      (call.rule.import == ImportPlain && arity.has_value() && operands != *arity) ||
      op.getNumRegions() < call.rule.regions) {
    return call.Fail("it has ", operands, " operands, ", op.getNumResults(), " results and ",
                     op.getNumRegions(), " regions, which is not what it takes");
  }
  const bool fits = op.getNumRegions() == 0 || importer.RegionsOf(op).fit;
  fits ? call.rule.import(call) : ImportUnknown(call);
  importer.FinishInstructions();
}

}  // namespace xla_indexing::internal
