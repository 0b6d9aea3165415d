// Which elements an element depends on: the judge of the library's indexing maps.
//
// For small shapes and concrete values of integer operands, the exact relation between the elements
// of a result and those of the operands (of one instruction) or parameters (of a computation), by
// executing the definitions of the operations (operations.h) on arrays whose elements carry their
// sources. Nothing here knows affine maps.
//
// Example: for `t = f32[3,2] transpose(p), dimensions={1,0}` with `p = f32[2,3] parameter(0)`, the
// relation of (output leaf 0, operand 0, operand leaf 0) holds (1, 3): element 1 of t, {0, 1}, is
// element 3 of p, {1, 0}.

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_DEPENDENCE_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_DEPENDENCE_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {

// Pairs (output element, operand element), both as row-major positions; sorted, without duplicates.
// On several devices the elements of device p of an array of n elements are p * n, p * n + 1, ..
using Relation = std::vector<std::pair<int64_t, int64_t>>;

// The pairs the other way round.
Relation Converse(const Relation& relation);

struct LeafPair {
  int64_t output_leaf = 0;
  int64_t operand = 0;  // Or the parameter's number.
  int64_t operand_leaf = 0;

  friend bool operator<(const LeafPair& a, const LeafPair& b) {
    return std::tie(a.output_leaf, a.operand, a.operand_leaf) <
           std::tie(b.output_leaf, b.operand, b.operand_leaf);
  }
  friend bool operator==(const LeafPair& a, const LeafPair& b) = default;
};

// One entry for every output leaf, operand and operand leaf, also where nothing is read.
using Dependence = std::map<LeafPair, Relation>;

// The dependence of an instruction of an executed computation on its operands. A value passed twice
// is two operands.
absl::StatusOr<Dependence> DependenceOfInstruction(const HloInstruction& instruction,
                                                   const Devices& devices);

// The dependence of a computation's root on its parameters, given the values of the parameters by
// number.
absl::StatusOr<Dependence> DependenceOfComputation(const HloComputation& computation,
                                                   Operands arguments, uint64_t seed,
                                                   const ExecutionOptions& options = {});
// The dependence on several devices, with the arguments and the seed of each.
absl::StatusOr<Dependence> DependenceOfComputation(const HloComputation& computation,
                                                   const DeviceOperands& arguments,
                                                   const std::vector<uint64_t>& seeds,
                                                   const ExecutionOptions& options = {});

// The dependence of a result on operands, by what computes it from values every element of which is
// a source of its own.
absl::StatusOr<Dependence> DependenceOf(
    Operands operands, absl::FunctionRef<absl::StatusOr<Value>(Operands numbered)> compute);

// Values for the parameters of a computation, with arbitrary integers.
std::vector<Value> RandomArguments(const HloComputation& computation, uint64_t seed);

// `&values[0], &values[1], ...`
std::vector<const Value*> Pointers(const std::vector<Value>& values);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_DEPENDENCE_H_
