#include "xla_indexing/stablehlo/op_rules.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
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
namespace {

using Key = AttributeKey;

const std::vector<OpRule>& OpTable() {
  using enum HloOpcode;
  using Form = RegionForm;
  const std::vector<OpAttributeRule> of_batch_norm = {
      {Key::kFeatureIndex, "feature_index"},
  };
  const std::vector<OpAttributeRule> of_convolution = {
      {Key::kFeatureGroupCount, "feature_group_count", true},
      {Key::kBatchGroupCount, "batch_group_count", true},
  };
  const std::vector<OpAttributeRule> of_dot = {
      {Key::kLhsBatchDims, "dot_dimension_numbers.lhs_batching_dimensions", true},
      {Key::kLhsContractingDims, "dot_dimension_numbers.lhs_contracting_dimensions"},
      {Key::kRhsBatchDims, "dot_dimension_numbers.rhs_batching_dimensions", true},
      {Key::kRhsContractingDims, "dot_dimension_numbers.rhs_contracting_dimensions"},
  };
  const std::vector<OpAttributeRule> of_gather = {
      {Key::kOffsetDims, "dimension_numbers.offset_dims"},
      {Key::kCollapsedSliceDims, "dimension_numbers.collapsed_slice_dims"},
      {Key::kStartIndexMap, "dimension_numbers.start_index_map"},
      {Key::kOperandBatchingDims, "dimension_numbers.operand_batching_dims", true},
      {Key::kStartIndicesBatchingDims, "dimension_numbers.start_indices_batching_dims", true},
      {Key::kIndexVectorDim, "dimension_numbers.index_vector_dim"},
      {Key::kSliceSizes, "slice_sizes"},
      {Key::kIndicesAreSorted, "indices_are_sorted", true},
  };
  const std::vector<OpAttributeRule> of_ragged_dot = {
      {Key::kLhsBatchDims, "ragged_dot_dimension_numbers.lhs_batching_dimensions", true},
      {Key::kLhsContractingDims, "ragged_dot_dimension_numbers.lhs_contracting_dimensions"},
      {Key::kRhsBatchDims, "ragged_dot_dimension_numbers.rhs_batching_dimensions", true},
      {Key::kRhsContractingDims, "ragged_dot_dimension_numbers.rhs_contracting_dimensions"},
      {Key::kLhsRaggedDims, "ragged_dot_dimension_numbers.lhs_ragged_dimensions"},
      {Key::kRhsGroupDims, "ragged_dot_dimension_numbers.rhs_group_dimensions"},
  };
  const std::vector<OpAttributeRule> of_reduce_precision = {
      {Key::kExponentBits, "exponent_bits"},
      {Key::kMantissaBits, "mantissa_bits"},
  };
  const std::vector<OpAttributeRule> of_reduce = {
      {Key::kDimensions, "dimensions"},
  };
  const std::vector<OpAttributeRule> of_reduce_scatter = {
      {Key::kDimensions, "scatter_dimension"},
  };
  const std::vector<OpAttributeRule> of_scatter = {
      {Key::kUpdateWindowDims, "scatter_dimension_numbers.update_window_dims"},
      {Key::kInsertedWindowDims, "scatter_dimension_numbers.inserted_window_dims"},
      {Key::kScatterDimsToOperandDims, "scatter_dimension_numbers.scatter_dims_to_operand_dims"},
      {Key::kInputBatchingDims, "scatter_dimension_numbers.input_batching_dims", true},
      {Key::kScatterIndicesBatchingDims, "scatter_dimension_numbers.scatter_indices_batching_dims",
       true},
      {Key::kIndexVectorDim, "scatter_dimension_numbers.index_vector_dim"},
      {Key::kIndicesAreSorted, "indices_are_sorted", true},
      {Key::kUniqueIndices, "unique_indices", true},
  };
  const std::vector<OpAttributeRule> of_triangular_solve = {
      {Key::kLeftSide, "left_side"},
      {Key::kLower, "lower"},
      {Key::kUnitDiagonal, "unit_diagonal"},
      {Key::kTransposeA, "transpose_a"},
  };
  static const auto* const kRules = new std::vector<OpRule>{
      {"after_all", kAfterAll},
      {"all_gather", kAllGather, 1, 1, {{Key::kDimensions, "all_gather_dim"}}, ImportCollective},
      {"all_reduce", kAllReduce, 1, 1, {}, ImportCollective, Form::kPlain, 1},
      {"all_to_all", kAllToAll, 1, 1, {}, ImportAllToAll},
      {"batch_norm_grad", kBatchNormGrad, 5, 3, of_batch_norm, ImportBatchNorm},
      {"batch_norm_inference", kBatchNormInference, 5, 1, of_batch_norm, ImportBatchNorm},
      {"batch_norm_training", kBatchNormTraining, 3, 3, of_batch_norm, ImportBatchNorm},
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
      {"convolution", kConvolution, 2, 1, of_convolution, ImportConvolution},
      {"create_token", kAfterAll},
      {"custom_call", kCustomCall, 0, 0, {}, ImportCustomCall},
      {"dot", kDot, 2, 1, {}, ImportDot},
      {"dot_general", kDot, 2, 1, of_dot, ImportDotGeneral},
      {"dynamic_broadcast_in_dim", kBroadcast, 2, 1, {}, ImportDynamic},
      {"dynamic_conv", kCustomCall, 3, 1, {}, ImportDynamic},
      {"dynamic_gather", kCustomCall, 3, 1, {}, ImportDynamic},
      {"dynamic_iota", kIota, 1, 1, {{Key::kIotaDimension, "iota_dimension"}}, ImportDynamic},
      {"dynamic_pad", kCustomCall, 5, 1, {}, ImportDynamic},
      {"dynamic_reshape", kReshape, 2, 1, {}, ImportDynamic},
      {"dynamic_slice", kDynamicSlice, 1, 1, {{Key::kDynamicSliceSizes, "slice_sizes"}}},
      {"dynamic_update_slice", kDynamicUpdateSlice, 2},
      {"fft", kFft, 1, 1, {{Key::kFftType, "fft_type"}, {Key::kFftLength, "fft_length"}}},
      {"gather", kGather, 2, 1, of_gather, ImportGather},
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
      {"ragged_dot", kRaggedDot, 3, 1, of_ragged_dot},
      {"recv", kRecv, 1, 1, {}, ImportRecv},
      {"real_dynamic_slice", kCustomCall, 4, 1, {}, ImportDynamic},
      {"reduce", kReduce, 2, 1, of_reduce, ImportReduce, Form::kReducer, 1},
      {"reduce_precision", kReducePrecision, 1, 1, of_reduce_precision},
      {"reduce_scatter", kReduceScatter, 1, 1, of_reduce_scatter, ImportCollective, Form::kPlain,
       1},
      {"reduce_window", kReduceWindow, 2, 1, {}, ImportReduce, Form::kReducer, 1},
      {"replica_id", kReplicaId},
      {"reshape", kReshape, 1},
      {"reshard", kCustomCall, 1, 1, {}, ImportShardingConstraint},
      {"reverse", kReverse, 1, 1, {{Key::kDimensions, "dimensions"}}},
      {"rng", kRng, 2, 1, {}, ImportRng},
      {"rng_bit_generator", kRngBitGenerator, 1, 2, {}, ImportRng},
      {"scatter", kScatter, 3, 1, of_scatter, ImportScatter, Form::kReducer, 1},
      {"select_and_scatter", kSelectAndScatter, 3, 1, {}, ImportSelectAndScatter, Form::kPlain, 2},
      {"send", kSend, 1, 1, {}, ImportSend},
      {"set_dimension_size", kSetDimensionSize, 2, 1, {{Key::kDimensions, "dimension"}}},
      {"sharding_constraint", kCustomCall, 1, 1, {}, ImportShardingConstraint},
      {"slice", kSlice, 1, 1, {}, ImportSlice},
      {"sort", kSort, 1, 1, {{Key::kIsStable, "is_stable", true}}, ImportSort, Form::kSort, 1},
      {"square", kMultiply, 1, 1, {}, ImportSquare},
      {"top_k", kTopk, 1, 2, {{Key::kTopKCount, "k"}}, ImportTopK},
      {"transpose", kTranspose, 1, 1, {{Key::kDimensions, "permutation"}}},
      {"triangular_solve", kTriangularSolve, 2, 1, of_triangular_solve},
      {"tuple", kTuple},
      {"uniform_dequantize", kConvert, 1},
      {"uniform_quantize", kConvert, 1},
      {"while", kWhile, 0, 0, {}, ImportWhile, Form::kWhile, 2},
  };
  return *kRules;
}

// The functions of each element in StableHLO and CHLO that are no opcodes of HLO.
const llvm::StringSet<>& FunctionsOfElements() {
  static const auto* const kNames = new llvm::StringSet<>{
      "atan",
      "bessel_i1e",
      "broadcast_next_after",
      "broadcast_polygamma",
      "broadcast_zeta",
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
  };
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

}  // namespace

const OpRule& OpRuleNamed(absl::string_view name) { return *RulesByName().at(name); }

namespace {

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
  // The others are on values of all devices, unlike their namesakes.
  if (dialect == "sdy" && name != "manual_computation" && name != "sharding_constraint" &&
      name != "reshard") {
    return nullptr;
  }
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

bool CanMove(mlir::Operation& op) {
  const OpRule* rule = FindOpRule(op);
  if (rule == nullptr || op.getNumResults() != 1 || op.getNumRegions() != 0) return false;
  switch (rule->opcode) {
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
      return IsElementwise(rule->opcode);
  }
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
    std::string name = HloNameOf(op.getName().getStringRef().str());
    if (OpcodeFromName(name).has_value()) name.insert(0, "mlir.");
    made->SetAttribute(AttributeKey::kUnknownOpcode, absl::string_view(name));
    BindMain(call, made);
  } else {
    ImportPlain(call);
  }
  if (!call.attributes.error().empty()) importer.Fail(op, call.attributes.error());
  importer.FinishInstructions();
}

}  // namespace

OpRules StableHloRules() { return {ImportOp, FormOf, CanMove}; }
}  // namespace xla_indexing::internal
