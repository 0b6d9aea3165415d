// The 134 opcodes of HLO, their spelling in HLO text and how many operands each takes, and one opcode,
// kUnknown, for all that are spelt otherwise: those of a newer HLO. An instruction of such an opcode keeps
// its spelling (HloInstruction::opcode_name), and its result is anything that depends on its operands.
//
// The one table below is the only list of opcodes in the library; everything else that depends on
// the set of opcodes is generated from it.

#ifndef XLA_INDEXING_HLO_TYPES_OPCODE_H_
#define XLA_INDEXING_HLO_TYPES_OPCODE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// V(enumerator, name in text, number of operands or -1 where it varies, elementwise).
//
// Elementwise: every element of the result is a function of the operands' elements at the same
// index alone (of the only element where an operand of select or clamp has rank 0).
#define XLA_INDEXING_OPCODES(V)                                     \
  V(kAbs, "abs", 1, true)                                           \
  V(kAcos, "acos", 1, true)                                         \
  V(kAcosh, "acosh", 1, true)                                       \
  V(kAdd, "add", 2, true)                                           \
  V(kAddDependency, "add-dependency", 2, false)                     \
  V(kAfterAll, "after-all", -1, false)                              \
  V(kAllGather, "all-gather", -1, false)                            \
  V(kAllGatherDone, "all-gather-done", 1, false)                    \
  V(kAllGatherStart, "all-gather-start", -1, false)                 \
  V(kAllReduce, "all-reduce", -1, false)                            \
  V(kAllReduceDone, "all-reduce-done", 1, false)                    \
  V(kAllReduceStart, "all-reduce-start", -1, false)                 \
  V(kAllToAll, "all-to-all", -1, false)                             \
  V(kAnd, "and", 2, true)                                           \
  V(kAsin, "asin", 1, true)                                         \
  V(kAsinh, "asinh", 1, true)                                       \
  V(kAsyncDone, "async-done", 1, false)                             \
  V(kAsyncStart, "async-start", -1, false)                          \
  V(kAsyncUpdate, "async-update", -1, false)                        \
  V(kAtan2, "atan2", 2, true)                                       \
  V(kAtanh, "atanh", 1, true)                                       \
  V(kBatchNormGrad, "batch-norm-grad", 5, false)                    \
  V(kBatchNormInference, "batch-norm-inference", 5, false)          \
  V(kBatchNormTraining, "batch-norm-training", 3, false)            \
  V(kBitcast, "bitcast", 1, false)                                  \
  V(kBitcastConvert, "bitcast-convert", 1, false)                   \
  V(kBroadcast, "broadcast", 1, false)                              \
  V(kCall, "call", -1, false)                                       \
  V(kCbrt, "cbrt", 1, true)                                         \
  V(kCeil, "ceil", 1, true)                                         \
  V(kCholesky, "cholesky", 1, false)                                \
  V(kClamp, "clamp", 3, true)                                       \
  V(kCountLeadingZeros, "count-leading-zeros", 1, true)             \
  V(kCollectiveBroadcast, "collective-broadcast", -1, false)        \
  V(kCollectivePermute, "collective-permute", -1, false)            \
  V(kCollectivePermuteDone, "collective-permute-done", 1, false)    \
  V(kCollectivePermuteStart, "collective-permute-start", -1, false) \
  V(kCollectiveReduce, "collective-reduce", -1, false)              \
  V(kCompare, "compare", 2, true)                                   \
  V(kComplex, "complex", 2, true)                                   \
  V(kConcatenate, "concatenate", -1, false)                         \
  V(kConditional, "conditional", -1, false)                         \
  V(kConstant, "constant", 0, false)                                \
  V(kConvert, "convert", 1, true)                                   \
  V(kConvolution, "convolution", -1, false)                         \
  V(kCopy, "copy", 1, true)                                         \
  V(kCopyDone, "copy-done", 1, false)                               \
  V(kCopyStart, "copy-start", 1, false)                             \
  V(kCosine, "cosine", 1, true)                                     \
  V(kCosh, "cosh", 1, true)                                         \
  V(kCustomCall, "custom-call", -1, false)                          \
  V(kDivide, "divide", 2, true)                                     \
  V(kDomain, "domain", 1, false)                                    \
  V(kDot, "dot", 2, false)                                          \
  V(kDynamicReshape, "dynamic-reshape", -1, false)                  \
  V(kDynamicSlice, "dynamic-slice", -1, false)                      \
  V(kDynamicUpdateSlice, "dynamic-update-slice", -1, false)         \
  V(kErf, "erf", 1, true)                                           \
  V(kExponential, "exponential", 1, true)                           \
  V(kExponentialMinusOne, "exponential-minus-one", 1, true)         \
  V(kFft, "fft", 1, false)                                          \
  V(kFloor, "floor", 1, true)                                       \
  V(kFusion, "fusion", -1, false)                                   \
  V(kGather, "gather", 2, false)                                    \
  V(kGetDimensionSize, "get-dimension-size", 1, false)              \
  V(kGetTupleElement, "get-tuple-element", 1, false)                \
  V(kImag, "imag", 1, true)                                         \
  V(kInfeed, "infeed", 1, false)                                    \
  V(kIota, "iota", 0, false)                                        \
  V(kIsFinite, "is-finite", 1, true)                                \
  V(kLog, "log", 1, true)                                           \
  V(kLogPlusOne, "log-plus-one", 1, true)                           \
  V(kLogistic, "logistic", 1, true)                                 \
  V(kMap, "map", -1, false)                                         \
  V(kMaximum, "maximum", 2, true)                                   \
  V(kMinimum, "minimum", 2, true)                                   \
  V(kMulhi, "mulhi", 2, true)                                       \
  V(kMultiply, "multiply", 2, true)                                 \
  V(kNegate, "negate", 1, true)                                     \
  V(kNot, "not", 1, true)                                           \
  V(kOptBarrier, "opt-barrier", 1, false)                           \
  V(kOr, "or", 2, true)                                             \
  V(kOutfeed, "outfeed", 2, false)                                  \
  V(kPad, "pad", 2, false)                                          \
  V(kParameter, "parameter", 0, false)                              \
  V(kPartitionId, "partition-id", 0, false)                         \
  V(kPopcnt, "popcnt", 1, true)                                     \
  V(kPower, "power", 2, true)                                       \
  V(kRaggedAllToAll, "ragged-all-to-all", 6, false)                 \
  V(kRaggedDot, "ragged-dot", 3, false)                             \
  V(kReal, "real", 1, true)                                         \
  V(kRecv, "recv", 1, false)                                        \
  V(kRecvDone, "recv-done", 1, false)                               \
  V(kReduce, "reduce", -1, false)                                   \
  V(kReducePrecision, "reduce-precision", 1, true)                  \
  V(kReduceScatter, "reduce-scatter", -1, false)                    \
  V(kReduceWindow, "reduce-window", -1, false)                      \
  V(kRemainder, "remainder", 2, true)                               \
  V(kReplicaId, "replica-id", 0, false)                             \
  V(kReshape, "reshape", 1, false)                                  \
  V(kReverse, "reverse", 1, false)                                  \
  V(kRng, "rng", -1, false)                                         \
  V(kRngBitGenerator, "rng-bit-generator", 1, false)                \
  V(kRngGetAndUpdateState, "rng-get-and-update-state", 0, false)    \
  V(kRoundNearestAfz, "round-nearest-afz", 1, true)                 \
  V(kRoundNearestEven, "round-nearest-even", 1, true)               \
  V(kRsqrt, "rsqrt", 1, true)                                       \
  V(kScaledDot, "scaled-dot", 4, false)                             \
  V(kScan, "scan", -1, false)                                       \
  V(kScatter, "scatter", -1, false)                                 \
  V(kSelect, "select", 3, true)                                     \
  V(kSelectAndScatter, "select-and-scatter", 3, false)              \
  V(kSend, "send", 2, false)                                        \
  V(kSendDone, "send-done", 1, false)                               \
  V(kSetDimensionSize, "set-dimension-size", 2, false)              \
  V(kShiftLeft, "shift-left", 2, true)                              \
  V(kShiftRightArithmetic, "shift-right-arithmetic", 2, true)       \
  V(kShiftRightLogical, "shift-right-logical", 2, true)             \
  V(kSign, "sign", 1, true)                                         \
  V(kSine, "sine", 1, true)                                         \
  V(kSinh, "sinh", 1, true)                                         \
  V(kSlice, "slice", 1, false)                                      \
  V(kSort, "sort", -1, false)                                       \
  V(kSqrt, "sqrt", 1, true)                                         \
  V(kStochasticConvert, "stochastic-convert", 2, true)              \
  V(kSubtract, "subtract", 2, true)                                 \
  V(kTan, "tan", 1, true)                                           \
  V(kTanh, "tanh", 1, true)                                         \
  V(kTopk, "topk", 1, false)                                        \
  V(kTranspose, "transpose", 1, false)                              \
  V(kTriangularSolve, "triangular-solve", 2, false)                 \
  V(kTuple, "tuple", -1, false)                                     \
  V(kWhile, "while", 1, false)                                      \
  V(kXor, "xor", 2, true)                                           \
  V(kUnknown, "unknown", -1, false)

enum class HloOpcode : uint8_t {
#define XLA_INDEXING_DECLARE(enumerator, name, arity, elementwise) enumerator,
  XLA_INDEXING_OPCODES(XLA_INDEXING_DECLARE)
#undef XLA_INDEXING_DECLARE
};

inline constexpr int kOpcodeCount = 0
#define XLA_INDEXING_COUNT(enumerator, name, arity, elementwise) +1
    XLA_INDEXING_OPCODES(XLA_INDEXING_COUNT)
#undef XLA_INDEXING_COUNT
    ;

// The spelling of an opcode in HLO text, such as `dynamic-update-slice`; that of an instruction is
// HloInstruction::opcode_name.
absl::string_view OpcodeName(HloOpcode opcode);

// The opcode spelt `name`, if there is one; never kUnknown.
std::optional<HloOpcode> OpcodeFromName(absl::string_view name);

// What `name` is where it is no opcode but one of the steps that text has for any operation that runs
// asynchronously: `custom-call-start` is an async-start of a custom-call.
struct AsyncStep {
  HloOpcode step = HloOpcode::kAsyncStart;
  HloOpcode wrapped = HloOpcode::kCustomCall;
};
std::optional<AsyncStep> AsyncStepFromName(absl::string_view name);

// The number of operands that `opcode` takes; empty where it depends on the instruction.
std::optional<int> OpcodeArity(HloOpcode opcode);

// Whether the opcode does not say what an instruction does: custom calls and opcodes that are not known.
bool IsOpaque(HloOpcode opcode);

// Whether an element of the result depends on the operands' elements at the same index alone.
bool IsElementwise(HloOpcode opcode);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_OPCODE_H_
