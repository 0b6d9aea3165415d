// The maps from the start of a walk to one leaf of one instruction.
//
// A path is a map (`base`) from the start to some leaf on the way, followed by a chain of
// reindexings from that leaf's indices to those of the leaf where the path is now.
#ifndef XLA_INDEXING_FUSION_PATH_H_
#define XLA_INDEXING_FUSION_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/reindexing.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing {

class Path {
 public:
  // The path that is `base`, which leads to an array of this shape.
  Path(OperandIndexing base, const Shape& shape);

  // Goes on through a reindexing of that operand; false, unchanged, where the instruction is none.
  bool Extend(const HloInstruction& instruction, int64_t operand, Direction direction);

  // The map of the whole path, which has led to an array of shape `here`, simplified. A chain whose
  // index expressions pass the bounds of affine/simplifier.h reads everything, over-approximate.
  OperandIndexing Map(const Shape& here) const;

  // Whether the path leads to other devices (ops/replica_map.h). Reindexings do not.
  bool ChangesDevice() const { return origin_->base.replica_map() != nullptr; }

  size_t hash() const { return hash_; }

  // Whether the paths are the same chain of reindexings after the same map.
  friend bool operator==(const Path& a, const Path& b);

 private:
  // Where the chain begins. The algebra is made when the first reindexing comes.
  struct Origin {
    Origin(OperandIndexing map, const Shape& leads_to);

    OperandIndexing base;
    size_t hash;
    Shape shape;
    std::optional<PositionalAlgebra> algebra;
    Position start;
  };

  // The map of the chain alone; none where its expressions would be too long.
  std::optional<OperandIndexing> MapOfChain() const;

  std::shared_ptr<Origin> origin_;
  std::optional<Position> position_;  // none: that of the origin
  size_t hash_;
};

// Paths to one leaf, without duplicates.
class PathSet {
 public:
  bool empty() const { return paths_.empty(); }
  size_t size() const { return paths_.size(); }
  const std::vector<Path>& paths() const { return paths_; }

  // Adds a path that is not there yet.
  void Add(Path path);
  // Replaces the paths to an array of this shape by their maps, without those that others cover
  // (ops/covers.h).
  void Merge(const Shape& shape);
  void Clear() { paths_.clear(); }

 private:
  std::vector<Path> paths_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_PATH_H_
