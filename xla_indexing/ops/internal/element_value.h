// The value of one element of an HLO value, as far as the module fixes it.
//
// The element is followed through data movement and integer arithmetic to constants and iotas. What
// cannot be followed becomes an unknown: a number that some element of some instruction has. The
// value is then, case by case, an affine expression over the variables of a map and the unknowns,
//
//   value = cases[i].value   where all of cases[i].when hold;
//
// cases are disjoint and cover the domain of the map.
//
// Example: element (d0) of maximum(iota, broadcast(constant(3))) is 3 where d0 <= 2 and d0 where
// d0 >= 3.
//
// Elements of a computation that is called are followed into the values that its caller passes, and
// a call into the computation that it calls. A leaf of the state of a loop is what LoopState says.
//
// Arithmetic is followed where ranges prove that its result fits the element type, so that no value
// wraps. Values of unsigned types are zero-extended.

#ifndef XLA_INDEXING_OPS_INTERNAL_ELEMENT_VALUE_H_
#define XLA_INDEXING_OPS_INTERNAL_ELEMENT_VALUE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/internal/domain.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::internal {

struct ValueCase {
  Constraints when;
  mlir::AffineExpr value;
};
using ValueCases = std::vector<ValueCase>;

using CallPath = llvm::SmallVector<const HloInstruction*, 1>;

// What is known of the leaves of a loop's state when an iteration begins.
struct LoopState {
  const HloInstruction* loop = nullptr;
  // The value of a leaf that is a scalar; null where it is not known.
  std::function<mlir::AffineExpr(int64_t leaf)> value;
  // Whether a leaf is in every iteration what it is when the loop begins.
  std::function<bool(int64_t leaf)> is_initial;
};

// Whether more may be known of an element of this instruction, to which no call leads, than that it
// is one of its elements.
bool MayBeFollowed(const HloInstruction& instruction);

class ElementEvaluator {
 public:
  // The most cases that are followed.
  static constexpr size_t kMaxCases = 64;

  // Values are over the variables of `domain`, none of which may have an empty interval; its
  // constraints are ignored. Unknowns are symbols after those of the domain.
  ElementEvaluator(Domain domain, mlir::MLIRContext* context, LoopState loop = {});

  // The value of an element of a leaf of integers or predicates of an instruction that is reached
  // by these calls.
  ValueCases Evaluate(const HloInstruction* instruction, int64_t leaf,
                      llvm::ArrayRef<mlir::AffineExpr> element, CallPath path = {});

  // Takes unknowns to be in this interval, for answers that hold where they are.
  void AssumeOfUnknowns(const Interval& interval) { assumed_ = interval; }
  // The values that an unknown may have.
  Interval ValuesOf(const RuntimeVarIndexing& unknown) const {
    return unknown.ValueRange().Intersect(assumed_);
  }

  // The unknowns so far, not all of which need occur in the last value: symbol FirstUnknown() + i
  // is the value of unknowns()[i], without a value function.
  const RuntimeVarIndexings& unknowns() const { return unknowns_; }
  unsigned FirstUnknown() const { return first_unknown_; }
  // Whether an expression mentions an unknown.
  bool HasUnknown(mlir::AffineExpr expr) const;

  // An interval that contains the values of `expr` where `when` holds; empty where it never holds.
  Interval RangeOf(mlir::AffineExpr expr, const Constraints& when) const;

 private:
  struct Element {
    const HloInstruction* instruction;
    int64_t leaf;
    llvm::SmallVector<mlir::AffineExpr, 4> index;
    CallPath path;

    ElementType type() const { return instruction->shape().Leaf(leaf).element_type(); }
  };

  ValueCases EvaluateWhere(const Element& element, const Constraints& when);
  // Nothing where the element cannot be followed.
  std::optional<ValueCases> Follow(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowConstant(const Element& element, const Constraints& when);
  // The elements of a literal that the index can have, one by one where they are few.
  std::optional<ValueCases> FollowEachIndex(const Literal& literal,
                                            llvm::ArrayRef<mlir::AffineExpr> index,
                                            const Constraints& when) const;
  std::optional<ValueCases> FollowIota(const Element& element, const Constraints& when);
  // `when` and that the index is in the domain of the map; with an empty interval where that is
  // never so. Nothing where it depends on unknowns.
  std::optional<Constraints> WhereMapped(const IndexingMap& map,
                                         llvm::ArrayRef<mlir::AffineExpr> index,
                                         const Constraints& when) const;
  std::optional<ValueCases> FollowMovement(const Element& element, const Constraints& when);
  // A parameter to what the caller passes, and a call to the root of what it calls.
  std::optional<ValueCases> FollowParameter(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowCall(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowDynamicSlice(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowSelect(const Element& element, const Constraints& when);
  // A reduction of few elements, one after the other.
  std::optional<ValueCases> FollowReduce(const Element& element, const Constraints& when);
  std::optional<ValueCases> FollowArithmetic(const Element& element, const Constraints& when);
  ValueCases Unknown(const Element& element, const Constraints& when);

  // The operation on operand values, where `when` holds.
  std::optional<ValueCases> Apply(const HloInstruction& instruction,
                                  llvm::ArrayRef<mlir::AffineExpr> values, const Constraints& when);
  std::optional<ValueCases> Compare(const HloInstruction& instruction, mlir::AffineExpr difference,
                                    const Constraints& when) const;
  std::optional<ValueCases> Clamp(mlir::AffineExpr lower, mlir::AffineExpr value,
                                  mlir::AffineExpr upper, const Constraints& when) const;
  // The quotient or remainder of division that rounds toward zero, with floors: x = -7, y = 3 has
  // floor -3, rest 2 and the quotient -3 + 1.
  std::optional<ValueCases> Divide(const HloInstruction& instruction, mlir::AffineExpr x,
                                   mlir::AffineExpr y, const Constraints& when) const;
  // One case, if the value fits the type.
  std::optional<ValueCases> Fitting(mlir::AffineExpr value, ElementType type,
                                    const Constraints& when) const;
  // `low` where expr <= bound, `high` where expr > bound; one case where the range of expr decides.
  // Nothing where it does not and expr has unknowns.
  std::optional<ValueCases> Split(mlir::AffineExpr expr, int64_t bound, mlir::AffineExpr low,
                                  mlir::AffineExpr high, const Constraints& when) const;

  Domain domain_;
  mlir::MLIRContext* context_;
  const LoopState loop_;
  unsigned first_unknown_;
  RuntimeVarIndexings unknowns_;
  Interval assumed_ = Interval::All();
  int visits_ = 0;
  int depth_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_ELEMENT_VALUE_H_
