// What the values of instructions are made of: what the module fixes, data, or what callers pass.
//
// It is found in one pass over a computation and kept, and tells in constant time whether it is worth
// following an element (ops/values/element_value.h).
//
// Example: of select(compare(iota, p), x, constant), in a computation that is called with p and x, some
// elements may be fixed (constant), it is given (p, x), and of data where a caller passes data.
#ifndef XLA_INDEXING_OPS_DECISIONS_VALUE_ORIGINS_H_
#define XLA_INDEXING_OPS_DECISIONS_VALUE_ORIGINS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/values/array_operations.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/known_arrays.h"
#include "xla_indexing/ops/values/known_leaves.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {

class ValueOrigins {
 public:
  // `environment`, which has to outlive this, knows of loops and of the scalars that callers pass.
  explicit ValueOrigins(Dependence dependence,
                        const ValueEnvironment& environment = UnknownEnvironment())
      : dependence_(dependence), environment_(&environment) {}

  // Arrays that are given for parameters of a computation, by number, of which null ones are not known; before
  // anything is asked. They may be large, as may be what is computed from them.
  void SetArguments(const HloComputation& computation,
                    std::vector<std::shared_ptr<const Literal>> arguments) {
    given_to_ = &computation;
    arguments_ = std::move(arguments);
  }

  Dependence dependence() const { return dependence_; }
  const ValueEnvironment& environment() const { return *environment_; }

  // Whether the module may fix some elements, or a caller whose operands are looked at.
  bool MayBeFixed(const HloInstruction& instruction, bool is_called) {
    const Origins origins = Of(instruction);
    return origins.fixed || (is_called && origins.given) || instruction.shape().IsTuple();
  }
  // Whether a value depends on what callers of its computation pass.
  bool IsGiven(const HloInstruction& instruction) { return Of(instruction).given; }
  // Whether a value depends on nothing that the module does not say.
  bool IsOfModule(const HloInstruction& instruction) {
    const Origins origins = Of(instruction);
    return !origins.data && !origins.given;
  }
  // Likewise, not even on scalars.
  bool IsOfModuleAlone(const HloInstruction& instruction) {
    return IsOfModule(instruction) && !Of(instruction).scalar;
  }
  // Whether a value depends on more than the module and scalars.
  bool IsOfData(const HloInstruction& instruction) { return !IsOfModule(instruction); }
  // Whether the module fixes some elements, or all.
  bool IsPartlyOfModule(const HloInstruction& instruction) {
    return Of(instruction).fixed || IsOfModule(instruction);
  }
  // What is passed for a leaf of a parameter, array by array, if all callers pass the same; nothing otherwise,
  // and for the state of a loop that changes.
  std::optional<LeafSource> PassedFor(const HloInstruction& parameter, int64_t leaf);

  // A leaf of an instruction that is reached by these calls, if it depends on nothing but the module and
  // is computed with few steps; null otherwise (ops/values/known_arrays.h).
  const Literal* KnownArray(const HloInstruction& instruction, int64_t leaf, const CallPath& path,
                            mlir::MLIRContext* context);

  // What was computed has taken steps of questions' budgets.
  void ForgetArrays() { arrays_.clear(); }

  // Which elements of its operand a scatter replaces, by indices that the module fixes; null if that is not
  // known.
  std::shared_ptr<const Literal> ReplacedBy(const HloInstruction& scatter,
                                            mlir::MLIRContext* context) {
    const Literal* indices = KnownArray(*scatter.operand(1), 0, {}, context);
    StepBudget steps(kMaxStepsOfArrays);
    return indices == nullptr ? nullptr : ReplacedByScatter(scatter, *indices, context, &steps);
  }

  // Whether some elements may be made of numbers that the module gives and that count as infinite.
  bool MayBeMadeOfInfinite(const HloInstruction& instruction) { return Of(instruction).large; }

  // Whether values may decide that elements of operands do not matter, so that the maps of this
  // instruction depend on more than its shape.
  bool MayDecideReads(const HloInstruction& instruction);
  // Whether some elements that a reduction combines may decide it, such as 0 a product, or one of two complex
  // factors the other. That is not followed.
  bool MayHideDecision(const HloInstruction& instruction);

 private:
  struct Origins {
    bool fixed = false;     // some element may be known
    bool zero = false;      // and be 0, or an integer that decides what it is combined with
    bool infinite = false;  // and be infinite
    bool data = false;
    bool given = false;
    bool scalar = false;  // numbers that are made of an integer, a scalar that is not known
    bool large = false;   // made of a number that counts as infinite
  };

  Origins Of(const HloInstruction& instruction);
  // The origins of an instruction's operands, which come before it.
  struct OfOperands;
  Origins Find(const HloInstruction& instruction, const std::vector<Origins>& before);
  Origins FindOfCall(const OfOperands& operands);
  bool FindLarge(const HloInstruction& instruction, const std::vector<Origins>& before);
  // Whether some elements may be known of an operand that a sort compares by.
  static bool HasFixedKey(const OfOperands& sort);
  Origins FindOfElementwise(const OfOperands& operands, bool is_float) const;
  Origins OriginsOfParameter(const HloInstruction& parameter, int64_t leaf);
  // Each instruction that calls the computation.
  const std::vector<const HloInstruction*>& CallersOf(const HloComputation& computation);
  std::optional<LeafSource> PassedBy(const HloInstruction& caller, const HloInstruction& parameter,
                                     int64_t leaf);

  // The leaves of an instruction that is reached by these calls.
  const KnownLeaves& ArraysOf(const HloInstruction& instruction, const CallPath& path,
                              mlir::MLIRContext* context);
  KnownLeaves ArraysPassed(const HloInstruction& parameter, const CallPath& path,
                           mlir::MLIRContext* context);

  // For an array, with what it is made of; for reads, where each is made anew.
  static constexpr int64_t kMaxStepsOfArrays = int64_t{1} << 20;
  static constexpr int64_t kMaxStepsOfIndices = int64_t{1} << 17;
  static constexpr int64_t kMaxStepsFromArguments = int64_t{1} << 27;
  // The array that is given for a parameter; null if there is none.
  std::shared_ptr<const Literal> ArgumentFor(const HloInstruction& parameter) const;

  Dependence dependence_;
  const ValueEnvironment* environment_;
  const HloComputation* given_to_ = nullptr;
  std::vector<std::shared_ptr<const Literal>> arguments_;
  const HloModule* module_ = nullptr;  // of these callers
  absl::flat_hash_map<const HloComputation*, std::vector<const HloInstruction*>> callers_;
  absl::flat_hash_map<const HloInstruction*, std::vector<bool>> passed_through_;
  // By position.
  absl::flat_hash_map<const HloComputation*, std::vector<Origins>> known_;
  // By instruction and calls.
  using Place = std::pair<const HloInstruction*, std::vector<const HloInstruction*>>;
  absl::node_hash_map<Place, KnownLeaves> arrays_;
  StepBudget steps_from_arguments_{kMaxStepsFromArguments};
  int depth_of_arrays_ = 0;  // of callers that are asked one for another
};

// Whether values may decide reads of instructions of an opcode.
bool DecidesReads(HloOpcode opcode);

// Arrays that the module fixes are known.
class KnownArrays : public ValueEnvironment {
 public:
  // `origins` and `context` outlive it.
  KnownArrays(ValueOrigins& origins, mlir::MLIRContext* context,
              TellsApart tells_apart = TellsApart::kNothing)
      : ValueEnvironment(tells_apart), origins_(origins), context_(context) {}

  const Literal* KnownArray(const HloInstruction& instruction, int64_t leaf,
                            const CallPath& path) const override {
    return origins_.KnownArray(instruction, leaf, path, context_);
  }

 protected:
  ValueOrigins& origins() const { return origins_; }

 private:
  ValueOrigins& origins_;
  mlir::MLIRContext* context_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_DECISIONS_VALUE_ORIGINS_H_
