// Maps as sets of integer points of isl, a library that decides Presburger arithmetic and shares no
// code with this one: it judges what map/ says about maps.
//
// Mathematics. The graph of a map f is { (d, s, rt, r) : (d, s, rt) in the domain, f(d, s, rt) = r
// } over mathematical integers. It is built from the parts of the map (intervals, constraints,
// floordiv and mod), and from nothing that map/ computes. Everything else is a projection of it:
// the relation leaves out the range variables, the image everything but the results.
//
// Errors. Questions to isl can take very long. One that takes more than kMaxOperations steps of isl
// gives a set of which nothing is known, and so does every operation on such a set.
//
// Example:
//   IslJudge judge;
//   const IslSet relation =
//       judge.Relation(*ParseIndexingMap("(d0)[s0] -> (d0 + s0), ..", context));
//   EXPECT_EQ(relation.Equals(judge.Relation(simplified)), true);
//
// Source: isl's manual, https://libisl.sourceforge.io/manual.pdf.
#ifndef XLA_INDEXING_TESTS_MAP_ISL_JUDGE_H_
#define XLA_INDEXING_TESTS_MAP_ISL_JUDGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/indexing_map.h"

struct isl_ctx;
struct isl_set;

namespace xla_indexing {

// A set of integer points. Two that are compared or intersected have the same number of dimensions.
class IslSet {
 public:
  // None where isl gave up.
  std::optional<bool> IsEmpty() const;
  std::optional<bool> Equals(const IslSet& other) const;
  std::optional<bool> IsSubsetOf(const IslSet& other) const;
  // Whether isl's coalescing makes one conjunction of constraints of it; nullopt if isl gave up.
  std::optional<bool> IsOneBasicSet() const;
  // Whether the set is a finite box with strides, and which one, in the form of map/count/image.h; an
  // empty set of at least one dimension is the box of counts 0. Ends fit int64.
  struct Box {
    bool is_box = false;
    std::vector<StridedRange> ranges;
  };
  std::optional<Box> AsBox() const;

  IslSet Intersect(const IslSet& other) const;
  IslSet Union(const IslSet& other) const;
  // Takes the set as a relation between the first half of the dimensions and the second half, and
  // returns the union of its powers from the first on. `*is_exact` says whether isl found just that,
  // and not more.
  IslSet TransitiveClosure(bool* is_exact) const;
  // The projection onto these dimensions, which are given in increasing order.
  IslSet ProjectOnto(llvm::ArrayRef<int> dimensions) const;

 private:
  friend class IslJudge;
  IslSet(std::shared_ptr<isl_ctx> context, isl_set* set);
  isl_set* Copy() const;
  int NumDimensions() const;

  std::shared_ptr<isl_ctx> context_;
  std::shared_ptr<isl_set> set_;  // null: isl gave up
};

class IslJudge {
 public:
  static constexpr uint64_t kMaxOperations = 10'000;

  IslJudge();

  // Where the variables of a map lie among the dimensions of a set of `num_dimensions`.
  struct Places {
    int num_dimensions = 0;
    std::vector<int> dims;
    std::vector<int> ranges;
    std::vector<int> runtimes;
    std::vector<int> results;
  };
  // The variables, in the order: dimensions, range variables, runtime variables, results.
  static Places PlacesInOrder(const IndexingMap& map);

  // The points x whose coordinates at these places are a point of the map's graph.
  IslSet Graph(const IndexingMap& map, const Places& places) const;
  IslSet Graph(const IndexingMap& map) const { return Graph(map, PlacesInOrder(map)); }
  // The set of all (d, rt, r), without the range variables.
  IslSet Relation(const IndexingMap& map) const;
  // The set of all (d, s, rt).
  IslSet Domain(const IndexingMap& map) const;
  // The set of all r.
  IslSet Image(const IndexingMap& map) const;

 private:
  std::shared_ptr<isl_ctx> context_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_MAP_ISL_JUDGE_H_
