// What each operation of StableHLO is in HLO: one table of names, opcodes and attributes, and a function for
// each of those that are more than that.

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {
namespace {

// The attributes of a row that are put together of several lists.
template <typename... Lists>
std::string Join(const Lists&... lists) {
  return absl::StrJoin({absl::string_view(lists)...}, " ");
}

// Attributes that several operations have.
constexpr char kBatchNorm[] = "feature_index";
constexpr char kConvolution[] = "feature_group_count? batch_group_count? window dim_labels";
constexpr char kDevices[] =
    "channel_id?=channel_handle.handle replica_groups use_global_device_ids?";
constexpr char kDot[] =
    "lhs_batch_dims?=lhs_batching_dimensions lhs_contracting_dims=lhs_contracting_dimensions "
    "rhs_batch_dims?=rhs_batching_dimensions rhs_contracting_dims=rhs_contracting_dimensions "
    "algorithm";
constexpr char kGather[] =
    "offset_dims collapsed_slice_dims start_index_map operand_batching_dims? "
    "start_indices_batching_dims? index_vector_dim slice_sizes indices_are_sorted?";
constexpr char kRaggedDot[] =
    "lhs_batch_dims?=lhs_batching_dimensions lhs_contracting_dims=lhs_contracting_dimensions "
    "rhs_batch_dims?=rhs_batching_dimensions rhs_contracting_dims=rhs_contracting_dimensions "
    "lhs_ragged_dims=lhs_ragged_dimensions rhs_group_dims=rhs_group_dimensions";
constexpr char kScatter[] =
    "update_window_dims inserted_window_dims scatter_dims_to_operand_dims input_batching_dims? "
    "scatter_indices_batching_dims? index_vector_dim indices_are_sorted? unique_indices? to_apply";
constexpr char kTransfer[] = "channel_id=channel_handle.handle is_host_transfer?";
constexpr char kTriangularSolve[] = "left_side lower unit_diagonal transpose_a";

// The name, the opcode, the least numbers of operands and of results, the attributes; then the function of those
// that need more, and what becomes of how many regions.
const std::vector<OpRule>& OpTable() {
  using Op = HloOpcode;
  using Form = RegionForm;
  static const auto* const kRules = new std::vector<OpRule>{
      {"after_all", Op::kAfterAll},
      {"all_gather", Op::kAllGather, 1, 1, Join("dimensions=all_gather_dim", kDevices)},
      {"all_reduce", Op::kAllReduce, 1, 1, Join(kDevices, "to_apply"), {}, Form::kPlain, 1},
      {"all_to_all", Op::kAllToAll, 1, 1, Join(kDevices, "dimensions=split_dimension"),
       ImportAllToAll},
      {"batch_norm_grad", Op::kBatchNormGrad, 5, 3, kBatchNorm},
      {"batch_norm_inference", Op::kBatchNormInference, 5, 1, kBatchNorm},
      {"batch_norm_training", Op::kBatchNormTraining, 3, 3, kBatchNorm},
      {"bitcast_convert", Op::kBitcastConvert, 1},
      {"broadcast", Op::kBroadcast, 1, 1, "", ImportBroadcast},
      {"broadcast_in_dim", Op::kBroadcast, 1, 1, "", ImportBroadcast},
      {"call", Op::kCall, 0, 0, "", ImportCall},
      {"case", Op::kConditional, 1, 0, "branch_computations", ImportConditional, Form::kBranches,
       1},
      {"cholesky", Op::kCholesky, 1, 1, "lower"},
      {"collective_broadcast", Op::kCollectiveBroadcast, 1, 1, kDevices},
      {"collective_permute", Op::kCollectivePermute, 1, 1,
       "channel_id?=channel_handle.handle source_target_pairs"},
      {"compare", Op::kCompare, 2, 1, "direction=comparison_direction type=compare_type"},
      {"composite", Op::kCall, 0, 0, "", ImportCall},
      {"concatenate", Op::kConcatenate, 1, 1, "dimensions=dimension"},
      {"constant", Op::kConstant, 0, 1, "", ImportConstant},
      {"convolution", Op::kConvolution, 2, 1, kConvolution},
      {"create_token", Op::kAfterAll},
      {"custom_call", Op::kCustomCall, 0, 0, "", ImportCustomCall},
      {"dot", Op::kDot, 2, 1, kDot, ImportDot},
      {"dot_general", Op::kDot, 2, 1, kDot},
      {"dynamic_broadcast_in_dim", Op::kBroadcast, 2, 1, "", ImportDynamic},
      {"dynamic_conv", Op::kCustomCall, 3, 1, "", ImportDynamic},
      {"dynamic_gather", Op::kCustomCall, 3, 1, "", ImportDynamic},
      {"dynamic_iota", Op::kIota, 1, 1, "iota_dimension", ImportDynamic},
      {"dynamic_pad", Op::kCustomCall, 5, 1, "", ImportDynamic},
      {"dynamic_reshape", Op::kReshape, 2, 1, "", ImportDynamic},
      {"dynamic_slice", Op::kDynamicSlice, 1, 1, "dynamic_slice_sizes=slice_sizes"},
      {"dynamic_update_slice", Op::kDynamicUpdateSlice, 2},
      {"einsum", Op::kDot, 2, 1, kDot, ImportEinsum},
      {"fft", Op::kFft, 1, 1, "fft_type fft_length"},
      {"gather", Op::kGather, 2, 1, kGather, ImportGather},
      {"get_dimension_size", Op::kGetDimensionSize, 1, 1, "dimensions=dimension"},
      {"get_tuple_element", Op::kGetTupleElement, 1, 1, "index"},
      {"if", Op::kConditional, 1, 0, "true_computation false_computation", ImportConditional,
       Form::kBranches, 2},
      {"infeed", Op::kInfeed, 1, 1, "", ImportInfeed},
      {"iota", Op::kIota, 0, 1, "iota_dimension"},
      {"manual_computation", Op::kCall, 0, 0, "", ImportManualComputation, Form::kPlain, 1},
      {"map", Op::kMap, 1, 1, "dimensions to_apply", ImportOfElements, Form::kMap, 1},
      {"optimization_barrier", Op::kOptBarrier, 1, 1, "", ImportBarrier},
      {"outfeed", Op::kOutfeed, 1, 1, "", ImportOutfeed},
      {"pad", Op::kPad, 2, 1, "padding"},
      {"partition_id", Op::kPartitionId},
      {"ragged_dot", Op::kRaggedDot, 3, 1, kRaggedDot},
      {"real_dynamic_slice", Op::kCustomCall, 4, 1, "", ImportDynamic},
      {"recv", Op::kRecv, 1, 1, kTransfer, ImportRecv},
      {"reduce", Op::kReduce, 2, 1, "dimensions to_apply", ImportOfElements, Form::kReducer, 1},
      {"reduce_precision", Op::kReducePrecision, 1, 1, "exponent_bits mantissa_bits"},
      {"reduce_scatter",
       Op::kReduceScatter,
       1,
       1,
       Join("dimensions=scatter_dimension", kDevices, "to_apply"),
       {},
       Form::kPlain,
       1},
      {"reduce_window", Op::kReduceWindow, 2, 1, "window to_apply", ImportOfElements,
       Form::kReducer, 1},
      {"replica_id", Op::kReplicaId},
      {"reshape", Op::kReshape, 1},
      {"reshard", Op::kCustomCall, 1, 1, "", ImportShardingConstraint},
      {"reverse", Op::kReverse, 1, 1, "dimensions"},
      {"rng", Op::kRng, 2, 1, "distribution=rng_distribution", ImportRng},
      {"rng_bit_generator", Op::kRngBitGenerator, 1, 2, "algorithm=rng_algorithm"},
      {"scatter", Op::kScatter, 3, 1, kScatter, ImportOfElements, Form::kReducer, 1},
      {"select_and_scatter",
       Op::kSelectAndScatter,
       3,
       1,
       "window select scatter",
       {},
       Form::kPlain,
       2},
      {"send", Op::kSend, 1, 1, kTransfer, ImportSend},
      {"set_dimension_size", Op::kSetDimensionSize, 2, 1, "dimensions=dimension"},
      {"sharding_constraint", Op::kCustomCall, 1, 1, "", ImportShardingConstraint},
      {"slice", Op::kSlice, 1, 1, "slice"},
      {"sort", Op::kSort, 1, 1, "is_stable? dimensions=dimension to_apply", ImportOfElements,
       Form::kSort, 1},
      {"square", Op::kMultiply, 1, 1, "", ImportSquare},
      {"top_k", Op::kTopk, 1, 2, "k largest"},
      {"transpose", Op::kTranspose, 1, 1, "dimensions=permutation"},
      {"triangular_solve", Op::kTriangularSolve, 2, 1, kTriangularSolve},
      {"tuple", Op::kTuple},
      {"unary_einsum", Op::kDot, 1, 1, kDot, ImportEinsum},
      {"uniform_dequantize", Op::kConvert, 1},
      {"uniform_quantize", Op::kConvert, 1},
      {"while", Op::kWhile, 0, 0, "condition body", ImportWhile, Form::kWhile, 2},
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

// The functions of each element that are opcodes have the name that HLO has for them, with other hyphens.
std::string HyphenatedName(llvm::StringRef name) {
  return absl::StrReplaceAll(name.str(), {{"_", "-"}});
}

const absl::flat_hash_map<absl::string_view, const OpRule*>& RulesByName() {
  static const auto* const kByName = [] {
    auto* rules = new absl::flat_hash_map<absl::string_view, const OpRule*>();
    for (const OpRule& rule : OpTable()) rules->emplace(rule.name, &rule);
    for (int i = 0; i < kOpcodeCount; ++i) {
      const auto opcode = static_cast<HloOpcode>(i);
      if (!IsElementwise(opcode)) continue;
      auto rule =
          std::make_unique<OpRule>(OpRule{absl::StrReplaceAll(OpcodeName(opcode), {{"-", "_"}}),
                                          opcode, OpcodeArity(opcode).value_or(1)});
      // Those of the table stay; the map keeps the others.
      if (rules->emplace(rule->name, rule.get()).second) static_cast<void>(rule.release());
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
      new OpRule{"", HloOpcode::kMap, 1, 1, "", ImportFunctionOfElements};
  static const OpRule* const kBroadcasting =
      new OpRule{"", HloOpcode::kMap, 2, 1, "", ImportBroadcasting};
  const llvm::StringRef name = op.getName().stripDialect();
  // The others are on values of all devices, unlike their namesakes.
  if (dialect == "sdy" && name != "manual_computation" && name != "sharding_constraint" &&
      name != "reshard") {
    return nullptr;
  }
  if (dialect == "chlo" && name.starts_with("broadcast_")) {
    const std::optional<HloOpcode> opcode =
        OpcodeFromName(HyphenatedName(name.drop_front(strlen("broadcast_"))));
    if (IsFunctionOfElements(op) || (opcode.has_value() && IsElementwise(*opcode))) {
      return kBroadcasting;
    }
  }
  if (IsFunctionOfElements(op)) return kFunction;
  const auto found = RulesByName().find(absl::string_view(name.data(), name.size()));
  return found == RulesByName().end() ? nullptr : found->second;
}

}  // namespace

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

namespace {

// An operation that is not known: all that it may read is its operands, and what its regions use.
void ImportUnknown(ImportedOp& call) {
  if (call.op.getNumRegions() > 0)
    call.AddCaptured(call.operands.size(), Shape::Scalar(ElementType::kPred));
  if (call.failed()) return;
  HloInstruction* made = call.AddMain(call.operands, call.shape);
  std::string name = HloNameOf(call.op.getName().getStringRef().str());
  if (OpcodeFromName(name).has_value()) name.insert(0, "mlir.");
  made->SetAttribute(AttributeKey::kUnknownOpcode, absl::string_view(name));
  call.Bind(made);
}

}  // namespace

void ImportOp(ModuleImporter& importer, mlir::Operation& op) {
  static const OpRule* const kUnknown =
      new OpRule{"", HloOpcode::kUnknown, 0, 0, "", ImportUnknown};
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
      (call.rule.import == ImportPlain && arity.has_value() && operands != *arity) ||
      static_cast<int>(op.getNumResults()) < call.rule.least_results ||
      static_cast<int>(op.getNumRegions()) < call.rule.regions) {
    return call.Fail("it has ", operands, " operands, ", op.getNumResults(), " results and ",
                     op.getNumRegions(), " regions, which is not what it takes");
  }
  call.rule.import(call);
  if (!call.attributes.error().empty()) call.Fail(call.attributes.error());
  importer.FinishInstructions();
}

}  // namespace xla_indexing::internal
