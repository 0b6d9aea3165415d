// A relation and the expressions that go with it, as one system over one domain.
//
// Mathematics. A relation { d -> f(d, s, rt) } is simplified together with all that depends on its
// variables: where each runtime variable is read, and on which device the relation maps to what it
// maps to. These are the results of one map, in this order:
//
//   f_1, .., f_n       the results of the relation
//   e_1, e_2, ..       the indices of the element that each runtime variable is read from
//   g_1, g_2, ..       the devices that runtime variables are read on, where that is not the reader
//   h                  the device that the relation maps to                  only with a reader
//
// The reader is the device that asks: the last dimension. f and e do not depend on it.
//
// Range variables are existential: only that some value of them exists counts. Simplify() brings
// the map into normal form (map/simplify/simplify.cc), and with v for any expression of the system, in
// rounds until nothing changes:
//
//   v of which an equality gives a shorter form w  v becomes w              s, rt and reader of w are in v
//   s that a constraint gives the value e          v(s) becomes v(e)        e has no rt with a source
//   s in no result                                 eliminated               where that is exact
//   s with values in one residue class             counts its elements      s in [l, u], l in the class
//   (e +- s) floordiv m alone                      t                        (e +- s) mod m is known
//   v of s floordiv m, v of s mod m, no others     s becomes m*t + u        s in [m*l, m*k - 1]
//   (e + c*s) mod n                                t                        all is said of s modulo n, which
//                                                                           is the number of its values
//   results functions of n*s + t alone             n*s + t is one variable  s is eliminated exactly
//   s in nothing                                   dropped                  always
//   rt in nothing                                  dropped                  its interval excludes no value
//   rt, rt' read from one place                    one variable             in both intervals
//
// The fourth is looked for first of all, before the normal form.
//
// (map/simplify/determined_ranges.h, existential.h, range_quotients.h, range_digits.h and
// window_sums.h have all but the last three). It numbers range variables in the order in which f,
// constraints, e, g and h use them, and runtime variables so that each stands after those that its
// element reads, by source, element, function and device where that leaves a choice.
//
// Example: (d0)[s0, s1] -> (s1 + d0), d0 in [0, 9], s0 in [0, 4], s1 in [0, 3]
// becomes  (d0)[s0] -> (d0 + s0), d0 in [0, 9], s0 in [0, 3].
#ifndef XLA_INDEXING_MAP_SIMPLIFY_JOINED_RELATION_H_
#define XLA_INDEXING_MAP_SIMPLIFY_JOINED_RELATION_H_

#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// What is known of a runtime variable in addition to the expressions of its element and its device. Two
// variables with equal sources, functions, elements and devices have the same value.
struct RuntimeDefinition {
  int id = 0;        // by which the owner of the relation knows it
  int source = 0;    // what is read: equal for equal sources, and ascending in their order
  int function = 0;  // what is done to the value, likewise
  int num_indices = 0;
  bool has_device = false;
  Interval values = Interval::All();  // that it can have
};

class JoinedRelation {
 public:
  // A map by itself. Its runtime variables, of which nothing is known, stay as they are.
  explicit JoinedRelation(IndexingMap map)
      : map_(std::move(map)), num_results_(map_.num_results()) {}
  // The system of these results, with a definition for each runtime variable.
  JoinedRelation(IndexingMap map, int num_results, std::vector<RuntimeDefinition> definitions,
                 bool has_reader)
      : map_(std::move(map)),
        num_results_(num_results),
        definitions_(std::move(definitions)),
        has_reader_(has_reader) {}

  const IndexingMap& map() const { return map_; }
  IndexingMap TakeMap() && { return std::move(map_); }
  int num_results() const { return num_results_; }
  llvm::ArrayRef<RuntimeDefinition> definitions() const { return definitions_; }
  bool has_reader() const { return has_reader_; }
  // The number of results that do not depend on the reader: f and e.
  int num_without_reader() const;
  // The indices of runtime variable `i`, and its device; null: the reader.
  llvm::ArrayRef<mlir::AffineExpr> Element(int i) const;
  mlir::AffineExpr Device(int i) const;
  bool DependsOnReader(mlir::AffineExpr expr) const;

  // Applies the rules above. Where the relation is known to be empty afterwards, nothing else of it
  // has a meaning. The rules that were used are appended to `trace` unless it is null. Returns
  // whether the map changed; of a relation with definitions that means nothing.
  bool Simplify(RuleTrace* trace = nullptr);
  // Merges and orders the runtime variables; nothing else changes. Returns whether some were
  // merged.
  bool OrderRuntimeVariables();

 private:
  // Which variables stay: range variables by their positions in the new order, and for every
  // runtime variable of the new order the ones that become it.
  struct Selection {
    llvm::SmallVector<int, 4> ranges;
    std::vector<llvm::SmallVector<int, 2>> runtimes;
  };
  // An expression of the system, with symbols replaced: what CompareDefined compares.
  struct Defined;

  // The map as a function of all its variables. Like the next one it returns whether it changed.
  bool SimplifyFunction(RuleTrace* trace);
  bool SimplifyRangeVariables(RuleTrace* trace);
  void DropUnusedSymbols();
  // Whether range variables have another order then, and whether some expression has several of
  // them: forms may depend on their order.
  enum class Reordered { kNone, kAlone, kTogether };
  Reordered OrderRangeVariables();
  llvm::SmallVector<mlir::AffineExpr, 8> ExprsInOrderOfUse() const;
  std::vector<llvm::SmallVector<int, 2>> RuntimesInOrder() const;
  Defined DefinedWith(int i, llvm::ArrayRef<mlir::AffineExpr> symbols) const;
  static int CompareDefined(const Defined& a, const Defined& b);
  Selection AllSymbols() const;
  // Renumbers, merges and drops symbols; leaves everything as it is where an expression would pass
  // a bound of affine/expr/build.h.
  void Select(const Selection& selection);

  IndexingMap map_;
  int num_results_;
  std::vector<RuntimeDefinition> definitions_;
  bool has_reader_ = false;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_JOINED_RELATION_H_
