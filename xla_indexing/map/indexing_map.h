// An indexing map: which elements of one tensor an element of another depends on.
//
// Mathematics. A map is an affine function f(d, s, rt) with a domain:
//
//   d  in dimension intervals   one for each dimension of the tensor that the map starts from
//   s  in range intervals       existential: d maps to a result for every value of s
//   rt in runtime intervals     fixed but unknown until the program runs, as an offset in memory
//   g(d, s, rt) in [lo, hi]     for each constraint g
//
// For fixed runtime values the map is the relation { d -> f(d, s, rt) : some s, all of the above
// hold }. Expressions are quasi-affine: sums of integer multiples of variables, floordiv and mod by
// positive constants. Intervals are closed; their ends may be infinite; a domain may be empty.
//
// Symbols of the `mlir::AffineMap` are the range variables followed by the runtime variables.
//
// Example, the update of a dynamic-update-slice (the parser and printer are in map/text/text.h):
//
//   (d0){rt0} -> (d0 - rt0), domain: d0 in [0, 19], rt0 in [0, 15], d0 - rt0 in [0, 4]
//
// A map's parts fit together, as Verify() says, from its creation on: functions that take parts
// verify them, and their overloads with kPartsFit are for parts that are known to fit. A map and
// what it is composed with or constrained by are of one MLIRContext.
//
// Errors. Members that can fail return a Status that names variable, place and numbers. A position
// that is not less than its number of variables, and numbers of variables that differ in spite of
// kPartsFit, end the program (base/check.h). Source: the indexing analysis of XLA, "Function and
// Domain".
#ifndef XLA_INDEXING_MAP_INDEXING_MAP_H_
#define XLA_INDEXING_MAP_INDEXING_MAP_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/check.h"
#include "xla_indexing/base/numbers/interval.h"

// Whoever looks into an affine map, or makes names, includes mlir/IR/AffineMap.h or
// mlir/IR/BuiltinAttributes.h: a third of what the headers of this library would cost to compile.
namespace mlir {
class AffineMap;
class StringAttr;
}  // namespace mlir

namespace xla_indexing {

// A name that an MLIRContext keeps, so that it is no larger than a pointer. Null if there is no name.
class VariableName {
 public:
  VariableName() = default;
  VariableName(mlir::StringAttr name);  // NOLINT(google-explicit-constructor): the same in short

  explicit operator bool() const { return attribute_ != nullptr; }
  // Empty if there is no name.
  llvm::StringRef text() const;

  friend bool operator==(VariableName a, VariableName b) = default;

 private:
  const void* attribute_ = nullptr;
};

// A variable's closed interval and, optionally, its name. Without a name it prints as d0, s0 or rt0
// by kind and position. Names are presentation: equality and hashing of maps ignore them.
struct Variable {
  Interval bounds;
  VariableName name;  // null: the default name
};

// expr in interval.
struct Constraint {
  mlir::AffineExpr expr;
  Interval interval;

  friend bool operator==(const Constraint& a, const Constraint& b) {
    return a.expr == b.expr && a.interval == b.interval;
  }
};

using Variables = llvm::SmallVector<Variable, 4>;
using Constraints = llvm::SmallVector<Constraint, 2>;

// Says that the caller knows that the parts of a map fit together, so that only their numbers are
// checked.
struct PartsFit {
  explicit constexpr PartsFit() = default;
};
inline constexpr PartsFit kPartsFit{};

// Where range and runtime variables went when some were removed: the new position of each, or
// kRemoved.
struct VariableRemap {
  static constexpr int kRemoved = -1;
  llvm::SmallVector<int, 4> ranges;
  llvm::SmallVector<int, 4> runtimes;
  bool changed = false;  // some variable was removed
};

struct SimplifyOptions {
  // Keeps all range variables: for callers to whom a point of the domain is given by all its
  // variables, such as the threads and loops of a mapping.
  bool keep_variables = false;
  // The rules that were used are appended to it unless it is null.
  RuleTrace* trace = nullptr;
};

namespace internal {
class JoinedRelation;
}  // namespace internal

class IndexingMap {
 public:
  // A map with no variables and no results.
  explicit IndexingMap(mlir::MLIRContext* context);

  // The map of these parts, constraints as by AddConstraint; what Verify() says where they do not
  // fit together.
  static absl::StatusOr<IndexingMap> Create(mlir::AffineMap affine_map, Variables dims,
                                            Variables ranges, Variables runtimes,
                                            Constraints constraints = {});
  IndexingMap(PartsFit, mlir::AffineMap affine_map, Variables dims, Variables ranges,
              Variables runtimes, Constraints constraints = {});

  // Variables d_i in [0, dim_sizes[i] - 1] and s_j in [0, range_sizes[j] - 1]. Size 0: empty
  // domain. Errors as those of Create, and for a negative size.
  static absl::StatusOr<IndexingMap> FromTensorSizes(mlir::AffineMap affine_map,
                                                     llvm::ArrayRef<int64_t> dim_sizes,
                                                     llvm::ArrayRef<int64_t> range_sizes = {});

  // Numbers of variables agree with the affine map's, expressions are of its context, mention
  // declared variables only and are sums of multiples of variables, floordiv and mod with every
  // divisor at least 1; nesting is within kMaxExprDepth, and the terms of one expression, at all
  // levels of nesting together, within kMaxSummands; custom names are identifiers.
  absl::Status Verify() const;
  // Whether an expression is one of a map of this context with these numbers of variables.
  static absl::Status VerifyExpr(mlir::AffineExpr expr, int num_dims, int num_symbols,
                                 mlir::MLIRContext* context);

  mlir::MLIRContext* context() const;
  mlir::AffineMap affine_map() const;
  llvm::ArrayRef<mlir::AffineExpr> results() const { return results_; }
  int num_results() const { return static_cast<int>(results_.size()); }

  llvm::ArrayRef<Variable> dims() const {
    return llvm::ArrayRef<Variable>(variables_).take_front(num_dims_);
  }
  llvm::ArrayRef<Variable> ranges() const { return symbols().take_front(num_ranges_); }
  llvm::ArrayRef<Variable> runtimes() const { return symbols().drop_front(num_ranges_); }
  llvm::ArrayRef<Constraint> constraints() const { return constraints_; }
  int num_dims() const { return num_dims_; }
  int num_ranges() const { return num_ranges_; }
  int num_runtimes() const { return num_symbols() - num_ranges_; }
  int num_symbols() const { return static_cast<int>(variables_.size()) - num_dims_; }

  // The variable behind symbol number `symbol` of the affine map: ranges first, then runtimes.
  const Variable& symbol(int symbol) const { return variables_[num_dims_ + symbol]; }
  llvm::ArrayRef<Variable> symbols() const {
    return llvm::ArrayRef<Variable>(variables_).drop_front(num_dims_);
  }
  // Intervals of all symbols, ranges first.
  llvm::SmallVector<Interval, 4> SymbolBounds() const;
  llvm::SmallVector<Interval, 4> DimBounds() const;

  Variable& mutable_dim(int i) {
    Check(i >= 0 && i < num_dims(), "IndexingMap::mutable_dim() of a dimension that is not there");
    return variables_[i];
  }
  Variable& mutable_range(int i) {
    Check(i >= 0 && i < num_ranges(),
          "IndexingMap::mutable_range() of a range variable that is not there");
    return variables_[num_dims_ + i];
  }
  Variable& mutable_runtime(int i) {
    Check(i >= 0 && i < num_runtimes(),
          "IndexingMap::mutable_runtime() of a runtime variable that is not there");
    return variables_[num_dims_ + num_ranges_ + i];
  }

  // Restricts the domain to the points with expr in interval. A constraint on a variable narrows
  // its interval; one on an expression that is already constrained intersects with it; one that
  // holds everywhere leaves the map as it is. For an expression over variables that this map does
  // not have the result is InvalidArgument, and the map does not change.
  absl::Status AddConstraint(mlir::AffineExpr expr, Interval interval);
  void AddConstraint(PartsFit, mlir::AffineExpr expr, Interval interval);

  // Whether some interval, of a variable or of a constraint, is empty. A domain may be empty
  // without this being known; Simplify() decides more.
  bool IsKnownEmpty() const;

  // The canonical empty map with these numbers of variables and results: results are 0, all
  // intervals empty, no constraints (without variables: the one constraint that 0 is in the empty
  // interval).
  static IndexingMap MakeEmpty(mlir::MLIRContext* context, int num_dims, int num_ranges,
                               int num_runtimes, int num_results);

  // --- Evaluation ---

  // Whether the point is in the domain. Sizes must match (InvalidArgument otherwise).
  absl::StatusOr<bool> Contains(llvm::ArrayRef<int64_t> dims,
                                llvm::ArrayRef<int64_t> symbols) const;

  // The results at a point, which need not be in the domain. OutOfRange on int64 overflow.
  absl::StatusOr<llvm::SmallVector<int64_t, 4>> Evaluate(llvm::ArrayRef<int64_t> dims,
                                                         llvm::ArrayRef<int64_t> symbols) const;

  // Calls `visit(dims, symbols, results)` for every point of the domain in lexicographic order, at
  // most `max_points` candidate points; ResourceExhausted beyond, FailedPrecondition for an
  // infinite interval.
  absl::Status ForEachPoint(
      int64_t max_points,
      llvm::function_ref<void(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                              llvm::ArrayRef<int64_t> results)>
          visit) const;

  // --- Rewriting ---

  // Brings results, constraints and intervals into normal form (docs/simplifier.md). Variables of
  // one value are replaced by it, and equalities are used where that makes an expression shorter.
  //
  // The relation between dimensions, runtime variables and results stays the same, as SameRelation
  // (map/sets/decide.h) compares them: range variables, of which only that some value exists
  // counts, are replaced, eliminated, joined, dropped and numbered in the order of their use. With
  // `keep_variables` it is the same function of the same variables, as SameFunction compares them.
  // Dimensions and runtime variables always stay, so without range variables both are one.
  //
  // Simplifying twice changes nothing more. Returns whether anything changed.
  bool Simplify(const SimplifyOptions& options = {});

  // Drops range and runtime variables that neither results nor constraints use. A variable with an
  // empty interval makes the map the canonical empty one.
  VariableRemap RemoveUnusedSymbols();

  // Returns the map with dimension i replaced by dim_replacements[i] and symbol j by
  // symbol_replacements[j] (kept where that is null) in results and constraints. Intervals are not
  // changed. OutOfRange where a constant would not fit.
  absl::StatusOr<IndexingMap> Substitute(
      llvm::ArrayRef<mlir::AffineExpr> dim_replacements,
      llvm::ArrayRef<mlir::AffineExpr> symbol_replacements) const;

  // Turns range variables into further dimensions, after the existing ones.
  IndexingMap ConvertRangeVariablesToDimensions() const;

  // --- Comparison and text ---

  // Maps are equal where their affine maps, intervals and constraints (in any order) are; names do
  // not count. All empty maps with equal numbers of dimensions and results are equal. Maps of two
  // contexts are not.
  friend bool operator==(const IndexingMap& a, const IndexingMap& b);
  friend bool operator!=(const IndexingMap& a, const IndexingMap& b) { return !(a == b); }
  friend llvm::hash_code hash_value(const IndexingMap& map);
  template <typename H>
  friend H AbslHashValue(H h, const IndexingMap& map) {
    return H::combine(std::move(h), static_cast<size_t>(hash_value(map)));
  }

  // The text form, one line; see map/text/text.h for the grammar.
  std::string ToString() const;

 private:
  friend class internal::JoinedRelation;

  // How the map is simplified as a function of all its variables, and what variables may come into an
  // expression that equalities make shorter: the first of the dimensions, range and runtime variables.
  struct FunctionOptions {
    int num_dims;
    bool ranges;
    bool runtimes;
    RuleTrace* trace;
  };
  bool SimplifyFunction(const FunctionOptions& options);
  // Likewise for a map without constraints.
  bool SimplifyResults(RuleTrace* trace);
  // The declared variable that an expression consists of, or null.
  Variable* FindVariable(mlir::AffineExpr expr);
  // Whether the constraint need not be kept in constraints_: it holds everywhere, or it is on one
  // declared variable, whose interval it then narrows.
  bool AbsorbConstraint(const Constraint& constraint);
  // Replaces the constraints by these, which may be in any order and several on one expression.
  void SetConstraints(Constraints constraints);

  void SetAffineMap(mlir::AffineMap affine_map);

  const void* affine_map_ = nullptr;          // as mlir::AffineMap::getAsOpaquePointer() says it
  llvm::ArrayRef<mlir::AffineExpr> results_;  // of the affine map, where the context keeps them
  // Dimensions, range variables, runtime variables: few, mostly, and so in one place.
  Variables variables_;
  int num_dims_ = 0;
  int num_ranges_ = 0;
  Constraints constraints_;  // in summand order, one for each expression
};

// For GoogleTest's messages.
void PrintTo(const IndexingMap& map, std::ostream* os);

// The relation { d -> r : exists m with d -> m in `first` and m -> r in `second` }: `first` goes
// from the consumer's output to the producer's output, `second` on to the producer's operand.
//
// Variables: dimensions of `first`; range variables of `second`, then of `first`; runtime variables
// of `second`, then of `first`. The dimension intervals of `second` become constraints on the
// results of `first`. The result is not simplified. InvalidArgument where first.num_results() !=
// second.num_dims() and for maps of two contexts; OutOfRange where a constant would not fit int64
// or an expression would have too many summands or levels.
absl::StatusOr<IndexingMap> ComposeIndexingMaps(const IndexingMap& first,
                                                const IndexingMap& second);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_INDEXING_MAP_H_
