// The value of one element of an HLO value, as far as the module fixes it.
//
// The element is followed through data movement and arithmetic to constants and iotas. What cannot be
// followed becomes an unknown: a number that some element of some instruction has. The value is then,
// case by case, an affine expression over the variables of a map and the unknowns
// (ops/values/cases/value_cases.h); the cases cover the domain of the map.
//
// Elements of a computation that is called are followed into the values that its caller passes, and
// a call into the computation that it calls. What it is given otherwise is what a ValueEnvironment says.
//
// What an operation does to integers and predicates is in ops/values/cases/integer_values.h, what it does
// to floats in ops/values/cases/float_values.h, and what the elements of constants are in
// ops/values/cases/listed_values.h. Values of unsigned types are zero-extended.

#ifndef XLA_INDEXING_OPS_VALUES_ELEMENT_VALUE_H_
#define XLA_INDEXING_OPS_VALUES_ELEMENT_VALUE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

using CallPath = llvm::SmallVector<const HloInstruction*, 1>;

// A loop that is reached by these calls, in these iterations of the loops among them.
struct CalledLoop {
  const HloInstruction& loop;
  const CallPath& path;
  llvm::ArrayRef<mlir::AffineExpr> iterations;
};

// What is known of the values that a computation is given: nothing here; what its callers pass
// (ops/values/passed_values.h), or what the state of a loop is in its iterations, is known to classes that
// derive from this. It outlives whoever asks.
class ValueEnvironment {
 public:
  // By which unknowns cases are distinguished: by none, by elements of what a loop begins with, or by all,
  // also by what an iteration begins with.
  enum class TellsApart : uint8_t { kNothing, kInitialValues, kAllValues };

  explicit ValueEnvironment(TellsApart tells_apart = TellsApart::kNothing)
      : tells_apart_(tells_apart) {}
  virtual ~ValueEnvironment() = default;

  TellsApart tells_apart() const { return tells_apart_; }

  // If this is not kReads, the cases in which a value is known are kept where it is not known in others,
  // and what is sure of an operation is applied although an operand is not known
  // (ops/values/cases/sure_values.h). Then these are asked: whether an element of the instruction may be known,
  // and what the only caller of its computation passes for a parameter's leaf.
  virtual Dependence dependence() const { return Dependence::kReads; }
  // `is_called`: a call leads to it.
  virtual bool MayBeKnown(const HloInstruction& /*instruction*/, bool /*is_called*/) const {
    return true;
  }
  // Whether elements may be made of numbers that count as infinite; others are finite.
  virtual bool MayBeMadeOfInfinite(const HloInstruction& /*instruction*/) const { return true; }
  virtual std::optional<LeafSource> PassedByOnlyCaller(const HloInstruction& /*parameter*/,
                                                       int64_t /*leaf*/) const {
    return std::nullopt;
  }

  // All elements of a leaf, if the module fixes them; null otherwise.
  virtual const Literal* KnownArray(const HloInstruction& /*instruction*/, int64_t /*leaf*/,
                                    const CallPath& /*path*/) const {
    return nullptr;
  }

  // The loop whose state the next three know, when an iteration begins; null if there is none.
  virtual const HloInstruction* loop() const { return nullptr; }
  // The value of a leaf of the state that is a scalar; null if it is not known.
  virtual mlir::AffineExpr ValueOfState(int64_t /*leaf*/) const { return {}; }
  // Whether a leaf is in every iteration what it is when the loop begins.
  virtual bool IsInitial(int64_t /*leaf*/) const { return false; }
  // What has been added to a leaf, a scalar, since the loop began, with a sum that wraps; null if that is not
  // known. Asked where initial values are distinguished.
  virtual mlir::AffineExpr AddedTo(int64_t /*leaf*/) const { return {}; }

  // What is known of a leaf of a parameter, a scalar, to which no call leads; that it is itself, if nothing.
  virtual PassedScalar Passed(const HloInstruction& parameter, int64_t leaf) const {
    return {&parameter, leaf};
  }
  // How often a loop runs, over the variables of the domain; nullopt if that is not known.
  virtual std::optional<ValueCases> Iterations(const CalledLoop& /*loop*/,
                                               const Domain& /*domain*/) const {
    return std::nullopt;
  }
  // The value of a leaf of its state, a scalar, at the beginning of iteration k, likewise.
  virtual std::optional<ValueCases> InIteration(const CalledLoop& /*loop*/,
                                                const Domain& /*domain*/, int64_t /*leaf*/,
                                                mlir::AffineExpr /*k*/) const {
    return std::nullopt;
  }

 private:
  TellsApart tells_apart_;
};

// Whether a combiner is one operation on its two parameters for which neither their order nor that of
// the elements matters.
bool IsOrderlessCombiner(const HloInstruction& root);
// Operations whose result is made of elements of their operands, at places that shapes and
// attributes fix.
bool MovesElements(HloOpcode opcode);

// Nothing is known, and nothing distinguished.
const ValueEnvironment& UnknownEnvironment();

// Whether more may be known of an element of this instruction, to which no call leads, than that it
// is one of its elements.
bool MayBeFollowed(const HloInstruction& instruction);

class ElementEvaluator {
 public:
  // Values are over the variables of `domain`, as those of ValueVariables.
  ElementEvaluator(Domain domain, mlir::MLIRContext* context,
                   const ValueEnvironment& environment = UnknownEnvironment());

  // The value of an element of a leaf of integers or predicates of an instruction that is reached
  // by these calls. Numbers of iterations come first, as in RuntimeVarIndexing, but for that of the
  // environment's loop. It is asked for where `when` holds, which is then a part of each case.
  ValueCases Evaluate(const HloInstruction* instruction, int64_t leaf,
                      llvm::ArrayRef<mlir::AffineExpr> element, CallPath path = {},
                      const Constraints& when = {});

  // The value of an element of an elementwise operation where one operand is not known, with the symbol
  // that stands for that one. Nullopt if it cannot be followed.
  std::optional<ValueCases> EvaluateWithout(const HloInstruction& instruction, int64_t operand,
                                            llvm::ArrayRef<mlir::AffineExpr> element,
                                            mlir::AffineExpr* without);

  // The first instruction of which a value was not found although nothing of it is unknown; null if there is
  // none. Of partial values.
  const HloInstruction* missed() const { return missed_.value; }
  // A parameter for which callers pass different values, of which some may be known.
  const HloInstruction* missed_parameter() const { return missed_.parameter; }
  // Callers will be asked for what it is.
  void ForgetMissedParameter() { missed_.parameter = nullptr; }

  // Says that the value of an instruction was not found.
  void SetMissed(const HloInstruction& instruction) {
    const bool is_parameter = instruction.opcode() == HloOpcode::kParameter;
    missed_.Add(is_parameter ? Missed{nullptr, &instruction} : Missed{&instruction, nullptr});
  }

  // How many elements were looked at.
  int visits() const { return visits_; }

  // Looks for the intervals that unknowns are in, in what computes them: and(x, 31) is in [0, 31].
  void FindRangesOfUnknowns() { finds_ranges_ = true; }

  // What ValueVariables says; not all unknowns need occur in the last value.
  void AssumeOfUnknowns(Assumption assumption) {
    variables_.AssumeOfUnknowns(std::move(assumption));
  }
  Interval ValuesOf(const RuntimeVarIndexing& unknown) const {
    return variables_.ValuesOf(unknown);
  }
  Interval BoundsOf(const RuntimeVarIndexing& unknown) const {
    return variables_.BoundsOf(unknown);
  }
  const RuntimeVarIndexings& unknowns() const { return variables_.unknowns(); }
  unsigned FirstUnknown() const { return variables_.FirstUnknown(); }
  bool HasUnknown(mlir::AffineExpr expr) const { return variables_.HasUnknown(expr); }
  bool MayTellApart(mlir::AffineExpr expr) const { return variables_.MayTellApart(expr); }
  // The value of an element of an array, a factor of a product, where `when` holds, in cases of which each is 0
  // or nowhere 0 where it is known. Of partial values.
  ValueCases EvaluateFactor(const RuntimeVarIndexing& factor, const Constraints& when);
  // The symbol of a runtime variable.
  mlir::AffineExpr SymbolOf(const RuntimeVarIndexing& variable) {
    return variables_.SymbolOf(variable, variable.ValueRange());
  }
  // The element of a literal that is somebody's own.
  std::optional<ValueCases> EvaluateIn(const Literal& literal,
                                       llvm::ArrayRef<mlir::AffineExpr> element) {
    return OfLiteral(literal, {nullptr, 0, {element.begin(), element.end()}, {}, {}}, {});
  }
  // Whether a value is 0 for certain.
  bool IsZero(const ValueCase& value) const;
  Interval RangeOf(mlir::AffineExpr expr, const Constraints& when) const {
    return variables_.RangeOf(expr, when);
  }

 private:
  struct Element {
    const HloInstruction* instruction;
    int64_t leaf;
    llvm::SmallVector<mlir::AffineExpr, 4> index;
    CallPath path;
    llvm::SmallVector<mlir::AffineExpr, 1> iterations;  // of loops on the path, the outermost first
    bool is_factor = false;                             // All that is asked is whether it is 0.

    ElementType type() const { return instruction->shape().Leaf(leaf).element_type(); }
    // Whether it is a scalar, or the only integer of an array.
    bool IsScalar() const {
      return index.empty() ||
             (IsIntegral(type()) && absl::c_all_of(instruction->shape().Leaf(leaf).dimensions(),
                                                   [](int64_t size) { return size == 1; }));
    }
    // An element of another instruction of the same computation, reached in the same way; no factor.
    Element Of(const HloInstruction* other, int64_t of_leaf,
               llvm::ArrayRef<mlir::AffineExpr> at) const {
      return {other, of_leaf, {at.begin(), at.end()}, path, iterations};
    }
    // What an elementwise operation combines for this element of it, of operand `i`; no factor.
    Element OfOperand(int64_t i) const {
      const HloInstruction* operand = instruction->operand(i);
      return Of(operand, 0,
                operand->shape().IsScalar() ? llvm::ArrayRef<mlir::AffineExpr>() : index);
    }
  };

  // The first ones that were missed; null if there is none.
  struct Missed {
    const HloInstruction* value = nullptr;
    const HloInstruction* parameter = nullptr;

    bool IsNothing() const { return value == nullptr && parameter == nullptr; }
    void Add(const Missed& later) {
      if (value == nullptr) value = later.value;
      if (parameter == nullptr) parameter = later.parameter;
    }
  };

  static RuntimeVarIndexing BindingOf(const Element& element);

  static Element ElementOf(const RuntimeVarIndexing& binding);

  // The value where `when` holds; partial values that were found before are not looked for again.
  ValueCases EvaluateWhere(const Element& element, const Constraints& when);
  ValueCases EvaluateAnew(const Element& element, const Constraints& when);
  // Nullopt if the element cannot be followed; `range`, if it is not null and something is known,
  // is then an interval that the element is in where `when` holds.
  std::optional<ValueCases> Follow(const Element& element, const Constraints& when,
                                   Interval* range);
  // Whether elements of the array may be known, wherever it is passed from.
  bool MayBeKnown(const Element& element) const;
  // Whether the element could be followed, if those of the operands can.
  bool IsMissed(const Element& element) const;
  // An interval that contains the values of all cases.
  Interval RangeOfCases(const ValueCases& cases) const;
  std::optional<ValueCases> FollowConstant(const Element& element, const Constraints& when);
  std::optional<ValueCases> OfLiteral(const Literal& literal, const Element& element,
                                      const Constraints& when);
  // The element of an array that the module fixes.
  std::optional<ValueCases> FollowArray(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowIota(const Element& element, const Constraints& when);
  // `when` and that the index is in the domain of the map; with an empty interval where that is
  // never so. Nullopt if it depends on unknowns.
  std::optional<Constraints> WhereMapped(const IndexingMap& map,
                                         llvm::ArrayRef<mlir::AffineExpr> index,
                                         const Constraints& when) const;
  std::optional<ValueCases> FollowMovement(const Element& element, const Constraints& when);
  // A parameter to what the caller passes, a leaf of a state to which something was added to what the
  // loop begins with, and a call to the root of what it calls.
  std::optional<ValueCases> FollowParameter(const Element& element, const Constraints& when);
  // To what the only caller passes; what is not known there is the parameter's own element.
  std::optional<ValueCases> FollowOnlyCaller(const Element& element, const Constraints& when);
  using UnknownPredicate = llvm::function_ref<bool(const RuntimeVarIndexing& unknown)>;
  bool MentionsUnknown(mlir::AffineExpr expr, UnknownPredicate is_such) const;
  // The cases, with the element's own value where it is of something that `is_foreign`.
  ValueCases WithOwnUnknowns(ValueCases cases, const Element& element, UnknownPredicate is_foreign);
  std::optional<ValueCases> FollowCount(const Element& initial, mlir::AffineExpr added,
                                        const Constraints& when);
  // The computations that a call or conditional may call, and where each is the one; null if it is not known
  // which. Empty for a conditional of another form, and of too many cases.
  std::vector<std::pair<const HloComputation*, Constraints>> CalledWhere(const Element& element,
                                                                         const Constraints& when);
  std::optional<ValueCases> FollowCall(const Element& element, const Constraints& when,
                                       Interval* range);
  std::optional<ValueCases> FollowDynamicSlice(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowSelect(const Element& element, const Constraints& when,
                                         Interval* range);
  // A reduction of few elements, one after the other.
  std::optional<ValueCases> FollowReduce(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowArithmetic(const Element& element, const Constraints& when,
                                             Interval* range, int64_t without = -1);
  // A factor by the operands that decide whether it is 0: what is not 0 stands for all that is not. Nullopt
  // where its value has to be found.
  std::optional<ValueCases> FollowFactor(const Element& element, const Constraints& when);
  // Whether an element is finite, as is assumed of all that is not made of infinite constants.
  bool IsFinite(const Element& element, const Constraints& when);
  // The values that all operands of an elementwise operation have together.
  struct OperandValues {
    Constraints when;
    llvm::SmallVector<ValueCase, 3> values;
  };
  // Nullopt if some cannot be followed; `without` is the number of one that is not, or -1.
  std::optional<std::vector<OperandValues>> OperandsOf(const Element& element,
                                                       const Constraints& when, int64_t without);
  // The operand of an elementwise operation, in cases that decide its result or do not, if values are partial.
  ValueCases OperandCases(const HloInstruction& instruction, const Element& source,
                          const Constraints& when);
  // Cases of an operand that decide the result of an operation or do so nowhere; as they are, and missed, if
  // these are too many.
  ValueCases SplitCases(HloOpcode opcode, const Element& operand, ValueCases cases);
  // Whether an operation may be the minimum of a maximum, or the other way round, whose bounds meet, so that
  // it is a bound. That is not followed.
  bool MayMeetBounds(const Element& element, llvm::ArrayRef<ValueCase> values,
                     const Constraints& when);
  // An elementwise operation on values of which some may not be known, of partial values.
  ValueCases ApplyToPartial(const Element& element, llvm::ArrayRef<ValueCase> values,
                            const Constraints& when);
  // An element that is somewhere in `range`.
  ValueCases Unknown(const Element& element, const Constraints& when,
                     const Interval& range = Interval::All());

  mlir::MLIRContext* context() const { return variables_.context(); }
  bool KeepsPartialValues() const { return environment_.dependence() != Dependence::kReads; }

  ValueVariables variables_;
  const ValueEnvironment& environment_;
  bool finds_ranges_ = false;
  Missed missed_;
  // Partial values where no condition restricts them.
  // With what was missed.
  absl::flat_hash_map<RuntimeVarIndexing, std::pair<ValueCases, Missed>> values_;
  int visits_ = 0;
  int depth_ = 0;
};

// An interval that contains the values of runtime variable `i`, by its binding and what computes the
// element, whatever the interval that the map gives it.
Interval ValuesOfRuntime(const OperandIndexing& indexing, int i);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_ELEMENT_VALUE_H_
