// The maps from the start of a walk to one leaf of one instruction.
//
// A path is a map (`base`) from the start to some leaf on the way, followed by a chain of
// reindexings from that leaf's indices to those of the leaf where the path is now.
#ifndef XLA_INDEXING_FUSION_CHAIN_PATH_H_
#define XLA_INDEXING_FUSION_CHAIN_PATH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/memory/copy_on_write.h"
#include "xla_indexing/base/memory/positions_by_hash.h"
#include "xla_indexing/fusion/chain/reindexing.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

class PathSet;

class Path {
 public:
  // The path that is `base`, which leads to an array of this shape.
  Path(OperandIndexing base, const Shape& shape);
  // The path from each element of an array to itself, the map of which is made when it is asked for:
  // not where a chain of reindexings follows.
  Path(const Shape& shape, mlir::MLIRContext* context);
  // The path that is the normal form of `base`, which is made when it is asked for: not where a
  // chain of reindexings follows, whose map is simplified together with it.
  static Path OfNormalForm(OperandIndexing base, const Shape& shape);

  // Appends to `end` the paths that continue this one through the instruction, a reindexing of that
  // operand. Refused where they cannot be expressed.
  Reindexed Extend(const HloInstruction& instruction, int64_t operand, Direction direction,
                   PathSet* end) const;

  // The simplified map of the whole path, which ends at an array of shape `here`. Where the index
  // expressions of a chain exceed the bounds of affine/normal_form/simplifier.h it is the whole array,
  // over-approximate.
  OperandIndexing Map(const Shape& here) const;

  bool IsUnknown() const { return origin_->known_base && origin_->known_base->IsUnknown(); }
  // Whether the path leads to other devices (ops/answers/parts/replica_map.h), which its base decides:
  // reindexings stay on their device.
  bool ChangesDevice() const {
    return origin_->known_base && origin_->known_base->replica_map() != nullptr;
  }

  // Makes the normal form of OfNormalForm(), once for all paths that begin with it. Returns whether
  // there is an element that the path leads to, as far as that is known.
  bool Settle();

  // Settled paths that may be united have equal hashes.
  size_t hash() {
    if (hash_ == 0) hash_ = MakeHash();
    return hash_;
  }

  // The union with the other path of the same hash, where that is one path
  // (fusion/chain/position_union.h): this path, the other one, or a new one that this path
  // becomes.
  enum class Union { kNone, kThis, kOther, kBecome };
  Union Unite(const Path& other);

  // Whether other paths of the same map can be contained in this one only in the way of Contains():
  // it leads from each element to one.
  bool IsFunction() const;
  bool HasSameOrigin(const Path& other) const { return origin_ == other.origin_; }

 private:
  // Where the chain begins. The algebra is made when the first reindexing comes.
  struct Origin {
    Origin(std::optional<OperandIndexing> map, const Shape& leads_to, mlir::MLIRContext* of_map)
        : known_base(std::move(map)), shape(leads_to), context(of_map) {}
    const OperandIndexing& base();

    std::optional<OperandIndexing> known_base;  // none: the identity of the shape
    bool is_settled = true;
    size_t hash = 0;  // once it was asked for, which is after it was settled
    Shape shape;
    mlir::MLIRContext* context;
    llvm::SmallVector<mlir::AffineExpr, 4> dim_exprs;  // of the shape, once they were written
    std::optional<PositionalAlgebra> algebra;
    Position start;
  };

  size_t MakeHash() const;
  // The map of the chain alone; nullopt if its expressions would be too long.
  std::optional<OperandIndexing> MapOfChain() const;
  // A position, and its indices in the form that WithPinnedNumber() gives, where it gives one.
  struct Place {
    explicit Place(const Position& at) : position(at) {}

    Position position;
    std::unique_ptr<const Indices> with_pinned;
  };
  Path(std::shared_ptr<Origin> origin, std::shared_ptr<Place> place);

  const Position& position() const { return place_ ? place_->position : origin_->start; }
  void SetPlace(std::shared_ptr<Place> place);
  // The indices that are compared.
  const Indices& indices() const {
    return place_ && place_->with_pinned ? *place_->with_pinned : position().indices;
  }

  std::shared_ptr<Origin> origin_;
  std::shared_ptr<const Place> place_;  // null: that of the origin
  size_t hash_ = 0;                     // once it was asked for
};

// Paths to one leaf. Paths of one map that are one function are united where they can be, for which
// they are settled: a path by itself is not. Copies share their paths, since elementwise instructions
// hand them on.
//
// Paths that lead to *every* element of the leaf, exactly, are not among paths(). Of these a set keeps only
// the conditions on the element that they start from, as numbers that the walk gives (fusion/walk/traversal.h).
// Number 0 is no condition: each element of the start leads to every element of the leaf.
class PathSet {
 public:
  // Sets of numbers of conditions.
  using Conditions = uint32_t;
  static constexpr Conditions kUnconditional = 1;
  static constexpr size_t kMaxConditions = 32;

  bool empty() const { return every_element_ == 0 && paths().empty(); }
  size_t size() const {
    return paths().size() + static_cast<size_t>(std::popcount(every_element_));
  }
  Conditions every_element() const { return every_element_; }
  void AddEveryElement(Conditions conditions) { every_element_ |= conditions; }
  // Whether each element of the start leads to every element.
  bool LeadsToEveryElement() const { return (every_element_ & kUnconditional) != 0; }
  // Where it does, leaves out the paths that this covers: those that stay on their device.
  void DropBesideEveryElement();
  llvm::ArrayRef<Path> paths() const {
    return paths_ ? llvm::ArrayRef<Path>((*paths_)->list) : llvm::ArrayRef<Path>();
  }

  // Adds a path, or unites it with others.
  void Add(Path path);
  void Add(const PathSet& other);
  // Appends to `moved` the paths that continue these through the instruction, a reindexing of that
  // operand, and to `refused` the paths whose continuation cannot be expressed.
  void Extend(const HloInstruction& instruction, int64_t operand, Direction direction,
              PathSet* moved, PathSet* refused) const;
  // Whether Merge() may leave fewer: paths that are functions of one map cover one another only
  // where Add() has seen it.
  bool MaySubsumeOneAnother() const;
  // Replaces the paths, which end at an array of this shape, by their maps. Maps that others cover
  // (ops/answers/coalesce.h) are left out; if more than `enough` remain, pairs are replaced by one
  // map where that is possible, and if there are more still, they are united as sets of pairs
  // (map/union/unite_graphs.h). Returns whether it came to that.
  bool Merge(const Shape& shape, size_t enough);

 private:
  struct Paths {
    llvm::SmallVector<Path, 1> list;
    PositionsByHash positions;  // of a number of paths at the front of a list that is long
  };
  // Takes the first path that unites with `path` out of the list, and makes `path` their union.
  // Returns kNone if no path does. If the path in the list is the union it stays there, and the
  // answer is kOther.
  static Path::Union UniteWithOne(Paths& paths, Path& path);

  std::optional<CopyOnWrite<Paths>> paths_;  // none of an empty set
  Conditions every_element_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CHAIN_PATH_H_
