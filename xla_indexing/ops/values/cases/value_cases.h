// Values that are known case by case, as expressions over the variables of a map and unknowns:
//
//   value = cases[i].value   where all of cases[i].when hold;
//
// cases are disjoint. An unknown is a number that some element of some instruction has; it is a
// symbol after those of the map.
//
// A floating point number is an element of a table at a place that is such an expression
// (ops/values/cases/float_values.h).
//
// Example: element (d0) of maximum(iota, broadcast(constant(3))) is 3 where d0 <= 2 and d0 where
// d0 >= 3.

#ifndef XLA_INDEXING_OPS_VALUES_CASES_VALUE_CASES_H_
#define XLA_INDEXING_OPS_VALUES_CASES_VALUE_CASES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {

struct FloatTable;

// The interval that an unknown is taken to be in, for answers that hold where it is.
using Assumption = std::function<Interval(const RuntimeVarIndexing& unknown)>;

struct ValueCase {
  Constraints when;
  mlir::AffineExpr value;
  // Where this is not null the value is the floating point number floats->At(value). Null if that
  // is not known, and for integers and predicates.
  std::shared_ptr<const FloatTable> floats = {};
};
using ValueCases = std::vector<ValueCase>;

// The most cases that are followed.
inline constexpr size_t kMaxValueCases = 64;

inline bool HoldsIntegers(ElementType type) { return IsIntegral(type) || IsPred(type); }

// Makes one case of those that have one value and conditions that are one.
ValueCases MergeCases(ValueCases cases);

// The variables that values are functions of, and the intervals that they are in.
class ValueVariables {
 public:
  // The variables of the domain, none of which may have an empty interval; its constraints are
  // ignored.
  ValueVariables(Domain domain, mlir::MLIRContext* context);

  const Domain& domain() const { return domain_; }

  mlir::MLIRContext* context() const { return context_; }

  // Unknown i is symbol FirstUnknown() + i: the value of unknowns()[i], without a value function.
  unsigned FirstUnknown() const { return first_unknown_; }
  const RuntimeVarIndexings& unknowns() const { return unknowns_; }
  // The symbol of an unknown, which is new or one of those before, and is in this interval here; in
  // one of these intervals wherever it is asked for.
  mlir::AffineExpr SymbolOf(RuntimeVarIndexing unknown, const Interval& values = Interval::All());
  void AssumeOfUnknowns(Assumption assumption) {
    assumption_ = std::move(assumption);
    ranges_.clear();
  }
  // The values that an unknown may have, and those of them that it is taken to have.
  Interval BoundsOf(const RuntimeVarIndexing& unknown) const;
  Interval ValuesOf(const RuntimeVarIndexing& unknown) const {
    const Interval bounds = BoundsOf(unknown);
    return assumption_ ? bounds.Intersect(assumption_(unknown)) : bounds;
  }
  // Whether an expression mentions an unknown.
  bool HasUnknown(mlir::AffineExpr expr) const;
  // Lets cases be distinguished by unknowns as well, where these are elements at constant places of
  // what is outside of a loop, so that they are the same in all of its iterations; of anything where
  // there is no loop.
  void TellApartOutsideOf(const HloInstruction* loop) { outside_of_ = loop; }
  // Whether cases may be distinguished by an expression: it has no unknowns but such.
  bool MayTellApart(mlir::AffineExpr expr) const;

  // The expression in normal form, wherever these conditions hold or not.
  mlir::AffineExpr Simplified(mlir::AffineExpr expr) const;

  // An interval that contains the values of `expr` where `when` holds; empty where it never holds.
  Interval RangeOf(mlir::AffineExpr expr, const Constraints& when) const;

  // `low` where expr <= bound, `high` where expr > bound; one case where the range of expr decides.
  // Nullopt if it does not and MayTellApart(expr) does not hold.
  std::optional<ValueCases> Split(mlir::AffineExpr expr, int64_t bound, mlir::AffineExpr low,
                                  mlir::AffineExpr high, const Constraints& when) const;
  // One case, if the value is an integer that fits the type.
  std::optional<ValueCases> Fitting(mlir::AffineExpr value, ElementType type,
                                    const Constraints& when) const;
  // What an integer is in the type, of less than 64 bits, where it wraps: one case for each multiple
  // of 2^bits that is added, if there are few and MayTellApart(value) holds.
  std::optional<ValueCases> Wrapping(mlir::AffineExpr value, ElementType type,
                                     const Constraints& when) const;

 private:
  // The domain with the unknowns that these expressions mention.
  Domain DomainOf(mlir::AffineExpr expr, const Constraints& when) const;
  Interval RangeOfAnew(mlir::AffineExpr expr, const Constraints& when) const;

  Domain domain_;
  mlir::MLIRContext* context_;
  unsigned first_unknown_;
  RuntimeVarIndexings unknowns_;
  absl::flat_hash_map<RuntimeVarIndexing, size_t> places_of_unknowns_;
  std::vector<Interval> values_of_unknowns_;
  Assumption assumption_;
  std::optional<const HloInstruction*> outside_of_;
  // Ranges under conditions that were asked for before, in the same way by each element that is looked at.
  using Conditional = std::pair<const void*, std::vector<std::pair<const void*, Interval>>>;
  mutable absl::flat_hash_map<Conditional, Interval> ranges_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_VALUE_CASES_H_
