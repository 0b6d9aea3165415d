// One indexing map of an operand together with what its runtime variables are bound to and how much
// it says.
//
// Mathematics. For a content of the tensors that bindings name, every runtime variable is a
// function of the point (d, s), so that the map is the relation
//
//   { d -> f(d, s, rt(d, s)) : some s with (d, s, rt(d, s)) in the domain },
//
// where a point whose binding names an element outside its tensor is not in the domain.
//
// Example, the operand of a dynamic-slice of f32[10] to f32[4] with the start `of`:
//
//   (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]
//     rt0: of, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]

#ifndef XLA_INDEXING_OPS_OPERAND_INDEXING_H_
#define XLA_INDEXING_OPS_OPERAND_INDEXING_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/exactness.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing {

class OperandIndexing {
 public:
  // One binding for each runtime variable of the map, in their order.
  explicit OperandIndexing(IndexingMap map, RuntimeVarIndexings bindings = {},
                           ExactnessLabel label = ExactnessLabel::Exact());

  // An answer that says nothing. Its map has neither variables nor results and no meaning.
  static OperandIndexing Unknown(mlir::MLIRContext* context, std::string reason);

  const IndexingMap& map() const { return map_; }
  absl::Span<const RuntimeVarIndexing> bindings() const { return bindings_; }
  const ExactnessLabel& label() const { return label_; }
  bool IsExact() const { return label_.IsExact(); }
  bool IsUnknown() const { return label_.exactness == Exactness::kUnknown; }
  // Never so for an unknown answer.
  bool IsKnownEmpty() const { return !IsUnknown() && map_.IsKnownEmpty(); }

  // For restricting the domain. Variables must stay as many as they are.
  IndexingMap& mutable_map() { return map_; }
  // For rebinding variables. Bindings must stay as many as they are.
  absl::Span<RuntimeVarIndexing> mutable_bindings() { return absl::MakeSpan(bindings_); }
  // The label becomes the weaker of its own and this one.
  void Weaken(const ExactnessLabel& label);

  // Brings map and bindings into normal form, the same relation:
  //   - results, constraints, intervals and the elements of bindings are simplified together;
  //   - runtime variables with equal bindings become one, in whose interval both intervals meet;
  //   - range variables that a constraint gives the value of are replaced by it
  //     (ops/determined_ranges.h);
  //   - range variables that only constraints use are eliminated where that is exact
  //     (map/existential.h), and those of one residue class count its elements;
  //   - range variables that results, constraints and bindings do not use are dropped, and so are
  //     runtime variables that nothing uses and whose interval excludes no value;
  //   - runtime variables are put in topological order (a variable stands after those that its
  //     element reads), in the order of CompareBindings where that leaves a choice;
  //   - range variables are numbered in the order in which results, then constraints, then bindings
  //     use them.
  // Returns whether anything changed.
  bool Simplify();

  // The same relation with runtime variables in the order that Simplify() gives them and those with
  // equal bindings merged; nothing else changes.
  void OrderRuntimeVariables();

  // The map from the dimensions of this map, and the symbols that the element uses, to the element
  // that runtime variable `i` is read from. Variables keep the names that they have in this map.
  IndexingMap ElementMap(int i) const;

  // The map, its label where it is not exact, and a line for each runtime variable, as
  // print-indexing writes them; lines are separated, not ended, by line feeds.
  std::string ToString(const HloComputation* analysed = nullptr) const;
  // The first line of that: map and label.
  std::string MapToString() const;
  // A line for runtime variable `i` without the indentation:
  // `rt0: of, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]`.
  std::string BindingToString(int i, const HloComputation* analysed = nullptr) const;

  // Equal maps, bindings and labels, compared as they are; names do not count. All unknown answers
  // with one reason are equal.
  friend bool operator==(const OperandIndexing& a, const OperandIndexing& b);
  friend bool operator!=(const OperandIndexing& a, const OperandIndexing& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const OperandIndexing& indexing) {
    h = H::combine(std::move(h), indexing.map_, indexing.label_);
    for (const RuntimeVarIndexing& binding : indexing.bindings_) {
      h = H::combine(std::move(h), static_cast<size_t>(hash_value(binding)));
    }
    return h;
  }

  // Whether both name the same relation, whatever their labels.
  static bool SameRelation(const OperandIndexing& a, const OperandIndexing& b) {
    return a.map_ == b.map_ && a.bindings_ == b.bindings_ && a.IsUnknown() == b.IsUnknown();
  }

 private:
  void DropUnusedSymbols();
  void OrderRangeVariables();
  // Returns whether variables were merged.
  bool MergeAndOrderRuntimeVariables();

  IndexingMap map_;
  RuntimeVarIndexings bindings_;
  ExactnessLabel label_;
};

// The relation { d -> r : some m with d -> m in `first` and m -> r in `second` }, with the bindings
// of both over its variables; not simplified, but with runtime variables in topological order and
// merged where their bindings are equal.
//
// Exactness: exact after exact is exact; otherwise the weaker label counts. A composition that is
// known to be empty is exact whatever the labels.
//
// Both speak of one run of the program: the call paths of bindings start at the same computation.
//
// InvalidArgument where the results of `first` are not as many as the dimensions of `second`;
// OutOfRange where an expression passes a bound of affine/build.h. The caller then widens.
absl::StatusOr<OperandIndexing> ComposeOperandIndexing(const OperandIndexing& first,
                                                       const OperandIndexing& second);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_OPERAND_INDEXING_H_
