// The operations of HLO executed on arrays with sources, each a plain loop over the indices of its
// definition. An element of the result gets the sources of every element that the definition names
// for it, whether or not its number can matter: select names all three operands, reduce its init
// values also where there is nothing to reduce.
//
// The instruction must be valid (shapes verified) and `operands` hold the value of each operand.
// None of these needs attention to integer values that are not known: execute.cc gives every
// integer element of a result a value afterwards.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_OPERATIONS_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_OPERATIONS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {

using Operands = absl::Span<const Value* const>;

// elementwise.cc
Array Elementwise(const HloInstruction& instruction, Operands operands);
Array Map(const HloInstruction& instruction, Operands operands);
Array Iota(const HloInstruction& instruction, Operands operands);
Value Constant(const HloInstruction& instruction);

// rearrangement.cc: every element of the result is one element of an operand.
Array Broadcast(const HloInstruction& instruction, Operands operands);
Array Concatenate(const HloInstruction& instruction, Operands operands);
Array Pad(const HloInstruction& instruction, Operands operands);
Array Reshape(const HloInstruction& instruction, Operands operands);
Array Reverse(const HloInstruction& instruction, Operands operands);
// set-dimension-size and dynamic-reshape, of sizes that are all of the array: every element reads
// the sizes.
Array WithSizes(const HloInstruction& instruction, Operands operands);
Array Slice(const HloInstruction& instruction, Operands operands);
Array Transpose(const HloInstruction& instruction, Operands operands);

// bitcast.cc. Unimplemented for layouts that are more than an order of dimensions and tiles.
Array BitcastConvert(const HloInstruction& instruction, Operands operands);
absl::StatusOr<Array> Bitcast(const HloInstruction& instruction, Operands operands);

// addressing.cc: places that integer operands name.
Array DynamicSlice(const HloInstruction& instruction, Operands operands);
Array DynamicUpdateSlice(const HloInstruction& instruction, Operands operands);
Array Gather(const HloInstruction& instruction, Operands operands);

// scatter.cc. `combiner` are the parameters of its combiner, by number, that each of its results is
// computed from. A window that is partly outside is dropped as a whole, or element by element.
Value Scatter(const HloInstruction& instruction, Operands operands,
              absl::Span<const SourceSet> combiner, bool drops_whole_windows);
// By position in the results, the positions in the updates of what reaches it, in row-major order.
using UpdatesByPlace = std::map<int64_t, std::vector<int64_t>>;
UpdatesByPlace UpdatesOfPlaces(const HloInstruction& instruction, Operands operands,
                               bool drops_whole_windows);

// reduction.cc: elements computed from many.
Array Dot(const HloInstruction& instruction, Operands operands);
Array RaggedDot(const HloInstruction& instruction, Operands operands);
Value Reduce(const HloInstruction& instruction, Operands operands);
Array ScaledDot(const HloInstruction& instruction, Operands operands);

// rows.cc: rows, planes and features computed together.
Array BatchNormInference(const HloInstruction& instruction, Operands operands);
Value BatchNormGrad(const HloInstruction& instruction, Operands operands);
Value BatchNormTraining(const HloInstruction& instruction, Operands operands);
Value Fft(const HloInstruction& instruction, Operands operands);
Value RandomNumbers(const HloInstruction& instruction, Operands operands);
Value Sort(const HloInstruction& instruction, Operands operands);
Value Topk(const HloInstruction& instruction, Operands operands);

// triangular.cc. The part of a factor that is not specified has no sources.
Array Cholesky(const HloInstruction& instruction, Operands operands);
Array TriangularSolve(const HloInstruction& instruction, Operands operands);

// window.cc: windows that slide.
Array Convolution(const HloInstruction& instruction, Operands operands);
Value ReduceWindow(const HloInstruction& instruction, Operands operands);
Array SelectAndScatter(const HloInstruction& instruction, Operands operands);

// transfer.cc: operations that hand arrays on.
Value CopyStart(Operands operands);
Value CopyDone(const HloInstruction& instruction, Operands operands);
Value AsyncDone(const HloInstruction& instruction, Operands operands);
Value Send(const HloInstruction& instruction, Operands operands);
Value RecvDone(const HloInstruction& instruction, Operands operands);

// control.cc: operations that run computations on whole values. `Run` executes a computation on
// arguments; `number` tells several runs of one computation by one instruction apart.
using Run = absl::FunctionRef<absl::StatusOr<Value>(const HloComputation& computation,
                                                    Operands arguments, int64_t number)>;
absl::StatusOr<Value> AsyncStart(const HloInstruction& instruction, Operands operands, Run run);
absl::StatusOr<Value> AsyncUpdate(const HloInstruction& instruction, Operands operands, Run run);
absl::StatusOr<Value> Call(const HloInstruction& instruction, Operands operands, Run run);
absl::StatusOr<Value> Conditional(const HloInstruction& instruction, Operands operands, Run run);
// loop.cc. ResourceExhausted where the loop does not end after kMaxIterations.
inline constexpr int64_t kMaxIterations = 400;
absl::StatusOr<Value> While(const HloInstruction& instruction, Operands operands, Run run);
absl::StatusOr<Value> Scan(const HloInstruction& instruction, Operands operands, Run run);

// custom_call.cc: by its target; one that is not known reads everything.
Value CustomCall(const HloInstruction& instruction, Operands operands);
// Whether the result of a custom call of this target is its operand.
bool HandsOnItsOperand(absl::string_view target);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_OPERATIONS_H_
