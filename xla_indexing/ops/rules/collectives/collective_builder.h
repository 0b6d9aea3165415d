// Builds the maps of operations across replicas: an index and a device for each piece of the
// groups.
//
// The builder of an operation says, for a piece, what index the reader's element has on the other
// side and at which position Q of the group the device is. It may use the position P of the reader,
// which becomes a range variable that the replica map ties to the reader.

#ifndef XLA_INDEXING_OPS_RULES_COLLECTIVES_COLLECTIVE_BUILDER_H_
#define XLA_INDEXING_OPS_RULES_COLLECTIVES_COLLECTIVE_BUILDER_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/rules/collectives/device_groups.h"

namespace xla_indexing::internal {

// Builds one map across replicas.
class CollectiveMapBuilder {
 public:
  // Begins a map for one piece of the groups; the piece is null if nothing is known of them.
  CollectiveMapBuilder(const Shape& from, const Shape& to, const DeviceGroups& groups,
                       const DeviceGroupPiece* piece, mlir::MLIRContext* context);

  MapBuilder& map() { return map_; }
  // The number of devices of the group, or of the largest group where nothing is known.
  int64_t group_size() const { return piece_ ? piece_->group_size : groups_.max_group_size; }

  // The reader's position. The first call adds a range variable for it, and so has to come before
  // runtime variables are added.
  mlir::AffineExpr ReaderPosition();
  // Restricts the map to readers at this position.
  void RestrictReaderPosition(int64_t position);

  // A new range variable over the positions that the piece covers.
  mlir::AffineExpr AddOtherPosition();
  // Sets the device that is read to the one at this position, an expression over the map's
  // variables. Where nothing is known of the groups it is any device, a range variable.
  void SetOtherPosition(mlir::AffineExpr position);
  // Sets the device that is read to the one at any position.
  void SetAnyOtherPosition();
  // The device that was set, for bindings.
  mlir::AffineExpr OtherDevice() const { return replica_map_.device; }

  // The map with these results, and its replica map unless all devices read themselves. Where a
  // number would pass int64, the whole tensor of any device, over-approximate.
  OperandIndexing Build(llvm::ArrayRef<mlir::AffineExpr> results,
                        ExactnessLabel label = ExactnessLabel::Exact());

 private:
  MapBuilder map_;
  const Shape& from_;
  const Shape& to_;
  const DeviceGroups& groups_;
  const DeviceGroupPiece* piece_;
  mlir::AffineExpr reader_position_;
  ReplicaMap replica_map_;
};

// The maps of all pieces.
OperandIndexingSet BuildForPieces(
    const Shape& from, const Shape& to, const DeviceGroups& groups, mlir::MLIRContext* context,
    llvm::function_ref<OperandIndexing(CollectiveMapBuilder& builder)> build);

// `indexing` with this replica map, whose expressions are brought into normal form and what a
// constraint says of the reader alone into its interval; without it where it says that every device
// of the program reads itself (`device_count`, none: the number of devices is not known).
OperandIndexing WithReplicaMap(OperandIndexing indexing, ReplicaMap replica_map,
                               std::optional<int64_t> device_count);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_COLLECTIVES_COLLECTIVE_BUILDER_H_
