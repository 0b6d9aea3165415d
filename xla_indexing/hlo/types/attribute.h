// Attributes of instructions: what follows the operands, `name=value` after `name=value`.
//
// An instruction keeps its attributes in the order of the text. Those that indexing and shape
// inference need have a key and a typed value; the others (metadata, sharding, backend_config, ...)
// keep their text as it was written, so that printing gives it back. The values are views of memory
// that the module owns.
//
// Example: `dimensions={1,0}` has the key kDimensions and the integers {1, 0} as its value;
// `sharding={replicated}` has the key kSharding and the text `{replicated}`.

#ifndef XLA_INDEXING_HLO_TYPES_ATTRIBUTE_H_
#define XLA_INDEXING_HLO_TYPES_ATTRIBUTE_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing {

class HloComputation;
class HloInstruction;

// The kind of value that an attribute has, in the order of the alternatives of AttributeValue.
enum class AttributeKind : uint8_t {
  kBool,             // bool
  kInteger,          // int64_t
  kIntegers,         // Span<const int64_t>, `{1,0}`
  kText,             // string_view: the value as written: `LT`, `{devices=[2]0,1}`, `"{}"`
  kWindow,           // const Window*
  kDimensionLabels,  // const ConvolutionDimensionNumbers*
  kPadding,          // Span<const PaddingDimension>
  kSlice,            // Span<const SliceRange>
  kLiteral,          // const Literal*
  kComputation,      // const HloComputation*
  kComputations,     // Span<const HloComputation* const>
  kInstructions,     // Span<const HloInstruction* const>
  kString,           // string_view: what a quoted string stands for
};

// V(enumerator, name in text, kind). The first two are the values between the parentheses of
// `constant(1)` and `parameter(0)`, the third is the spelling of an opcode that is not known; they have
// no name in text. `kOther` is an attribute that is kept with its own name.
#define XLA_INDEXING_ATTRIBUTES(V)                                           \
  V(kConstantValue, "", kLiteral)                                            \
  V(kParameterNumber, "", kInteger)                                          \
  V(kUnknownOpcode, "", kText)                                               \
  V(kOther, "", kText)                                                       \
  V(kMetadata, "metadata", kText)                                            \
  V(kSharding, "sharding", kText)                                            \
  V(kFrontendAttributes, "frontend_attributes", kText)                       \
  V(kBackendConfig, "backend_config", kText)                                 \
  V(kDimensions, "dimensions", kIntegers)                                    \
  V(kSlice, "slice", kSlice)                                                 \
  V(kDynamicSliceSizes, "dynamic_slice_sizes", kIntegers)                    \
  V(kPadding, "padding", kPadding)                                           \
  V(kWindow, "window", kWindow)                                              \
  V(kDimLabels, "dim_labels", kDimensionLabels)                              \
  V(kFeatureGroupCount, "feature_group_count", kInteger)                     \
  V(kBatchGroupCount, "batch_group_count", kInteger)                         \
  V(kIndex, "index", kInteger)                                               \
  V(kIotaDimension, "iota_dimension", kInteger)                              \
  V(kDirection, "direction", kText)                                          \
  V(kComparisonType, "type", kText)                                          \
  V(kLhsBatchDims, "lhs_batch_dims", kIntegers)                              \
  V(kRhsBatchDims, "rhs_batch_dims", kIntegers)                              \
  V(kLhsContractingDims, "lhs_contracting_dims", kIntegers)                  \
  V(kRhsContractingDims, "rhs_contracting_dims", kIntegers)                  \
  V(kLhsRaggedDims, "lhs_ragged_dims", kIntegers)                            \
  V(kRhsGroupDims, "rhs_group_dims", kIntegers)                              \
  V(kOffsetDims, "offset_dims", kIntegers)                                   \
  V(kCollapsedSliceDims, "collapsed_slice_dims", kIntegers)                  \
  V(kStartIndexMap, "start_index_map", kIntegers)                            \
  V(kOperandBatchingDims, "operand_batching_dims", kIntegers)                \
  V(kStartIndicesBatchingDims, "start_indices_batching_dims", kIntegers)     \
  V(kSliceSizes, "slice_sizes", kIntegers)                                   \
  V(kIndexVectorDim, "index_vector_dim", kInteger)                           \
  V(kIndicesAreSorted, "indices_are_sorted", kBool)                          \
  V(kUniqueIndices, "unique_indices", kBool)                                 \
  V(kUpdateWindowDims, "update_window_dims", kIntegers)                      \
  V(kInsertedWindowDims, "inserted_window_dims", kIntegers)                  \
  V(kScatterDimsToOperandDims, "scatter_dims_to_operand_dims", kIntegers)    \
  V(kInputBatchingDims, "input_batching_dims", kIntegers)                    \
  V(kScatterIndicesBatchingDims, "scatter_indices_batching_dims", kIntegers) \
  V(kToApply, "to_apply", kComputation)                                      \
  V(kCalls, "calls", kComputation)                                           \
  V(kCondition, "condition", kComputation)                                   \
  V(kBody, "body", kComputation)                                             \
  V(kTrueComputation, "true_computation", kComputation)                      \
  V(kFalseComputation, "false_computation", kComputation)                    \
  V(kSelect, "select", kComputation)                                         \
  V(kScatter, "scatter", kComputation)                                       \
  V(kBranchComputations, "branch_computations", kComputations)               \
  V(kCalledComputations, "called_computations", kComputations)               \
  V(kControlPredecessors, "control-predecessors", kInstructions)             \
  V(kFusionKind, "kind", kText)                                              \
  V(kCustomCallTarget, "custom_call_target", kString)                        \
  V(kChannelId, "channel_id", kInteger)                                      \
  V(kReplicaGroups, "replica_groups", kText)                                 \
  V(kUseGlobalDeviceIds, "use_global_device_ids", kBool)                     \
  V(kHasDynamicRoot, "has_dynamic_root", kBool)                              \
  V(kSourceTargetPairs, "source_target_pairs", kText)                        \
  V(kIsStable, "is_stable", kBool)                                           \
  V(kTopKCount, "k", kInteger)                                               \
  V(kLargest, "largest", kBool)                                              \
  V(kNumCarries, "num_carries", kInteger)                                    \
  V(kIsReverse, "is_reverse", kBool)                                         \
  V(kFftType, "fft_type", kText)                                             \
  V(kFftLength, "fft_length", kIntegers)                                     \
  V(kFeatureIndex, "feature_index", kInteger)                                \
  V(kExponentBits, "exponent_bits", kInteger)                                \
  V(kMantissaBits, "mantissa_bits", kInteger)                                \
  V(kLeftSide, "left_side", kBool)                                           \
  V(kLower, "lower", kBool)                                                  \
  V(kUnitDiagonal, "unit_diagonal", kBool)                                   \
  V(kTransposeA, "transpose_a", kText)                                       \
  V(kDistribution, "distribution", kText)                                    \
  V(kAlgorithm, "algorithm", kText)                                          \
  V(kDelta, "delta", kInteger)                                               \
  V(kIsHostTransfer, "is_host_transfer", kBool)                              \
  V(kConstrainLayout, "constrain_layout", kBool)                             \
  V(kAsyncExecutionThread, "async_execution_thread", kString)                \
  V(kOutputToOperandAliasing, "output_to_operand_aliasing", kText)

enum class AttributeKey : uint8_t {
#define XLA_INDEXING_DECLARE(enumerator, name, kind) enumerator,
  XLA_INDEXING_ATTRIBUTES(XLA_INDEXING_DECLARE)
#undef XLA_INDEXING_DECLARE
};

AttributeKind KindOf(AttributeKey key);
absl::string_view AttributeName(AttributeKey key);
// The key of the attribute spelt `name`; none for attributes without a key of their own.
std::optional<AttributeKey> AttributeKeyFromName(absl::string_view name);

using AttributeValue =
    std::variant<bool, int64_t, absl::Span<const int64_t>, absl::string_view, const Window*,
                 const ConvolutionDimensionNumbers*, absl::Span<const PaddingDimension>,
                 absl::Span<const SliceRange>, const Literal*, const HloComputation*,
                 absl::Span<const HloComputation* const>, absl::Span<const HloInstruction* const>>;

struct Attribute {
  AttributeKey key = AttributeKey::kOther;
  absl::string_view name;  // As in the text; empty for the three that have none.
  AttributeValue value;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_ATTRIBUTE_H_
