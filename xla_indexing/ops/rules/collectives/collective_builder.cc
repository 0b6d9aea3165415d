#include "xla_indexing/ops/rules/collectives/collective_builder.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/affine/spelling/evident_form.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

CollectiveMapBuilder::CollectiveMapBuilder(const Shape& from, const Shape& to,
                                           const DeviceGroups& groups,
                                           const DeviceGroupPiece* piece,
                                           mlir::MLIRContext* context)
    : map_(from, to, context), from_(from), to_(to), groups_(groups), piece_(piece) {
  replica_map_.readers = Interval::OfSize(groups.device_count);
  replica_map_.device = mlir::getAffineDimExpr(from.rank(), context);
  if (piece != nullptr) replica_map_.constraints = piece->readers;
}

AffineExpr CollectiveMapBuilder::ReaderPosition() {
  if (reader_position_) return reader_position_;
  reader_position_ = map_.AddRange(Interval::OfSize(group_size()));
  if (piece_ != nullptr) {
    replica_map_.constraints.push_back(
        {Sub(piece_->position, reader_position_), Interval::Point(0)});
  }
  return reader_position_;
}

void CollectiveMapBuilder::RestrictReaderPosition(int64_t position) {
  if (piece_ == nullptr) return;
  // Without its constant the constraint may be one on the reader alone, which narrows its interval.
  LinearSum sum = LinearSum::FromExpr(piece_->position);
  const Interval interval = Interval::Point(position).Sub(sum.constant());
  sum.AddConstant(-sum.constant());
  AffineExpr expr = sum.ToExpr(piece_->position.getContext());
  replica_map_.constraints.push_back(
      expr ? Constraint{expr, interval} : Constraint{piece_->position, Interval::Point(position)});
}

AffineExpr CollectiveMapBuilder::AddOtherPosition() {
  return map_.AddRange(piece_ ? piece_->others : Interval::OfSize(groups_.max_group_size));
}

void CollectiveMapBuilder::SetOtherPosition(AffineExpr position) {
  if (piece_ == nullptr) {
    replica_map_.device = map_.AddRange(Interval::OfSize(groups_.device_count));
    return;
  }
  if (piece_->others != Interval::OfSize(piece_->group_size)) {
    map_.Constrain(position, piece_->others);
  }
  replica_map_.device = Substitute(piece_->device, {}, {position});
}

void CollectiveMapBuilder::SetAnyOtherPosition() {
  SetOtherPosition(piece_ ? AddOtherPosition() : AffineExpr());
}

OperandIndexing CollectiveMapBuilder::Build(llvm::ArrayRef<AffineExpr> results,
                                            ExactnessLabel label) {
  const Interval devices = Interval::OfSize(groups_.device_count);
  if (map_.IsTooLarge(results) || !replica_map_.device ||
      llvm::any_of(replica_map_.constraints, [](const Constraint& c) { return !c.expr; })) {
    return OnAnyDevice(WholeTensorIndexing(from_, to_,
                                           "whole tensor: the expression of an index or a device "
                                           "passes 64 bits or is too large",
                                           map_.Value(0).getContext()),
                       devices, devices);
  }
  if (piece_ == nullptr) {
    label = ExactnessLabel::Weaker(label, ExactnessLabel::OverApproximate(absl::StrCat(
                                              "the device is not known: ", groups_.unknown)));
  }
  return WithReplicaMap(map_.Build(results, std::move(label)), replica_map_, groups_.device_count);
}

OperandIndexingSet BuildForPieces(
    const Shape& from, const Shape& to, const DeviceGroups& groups, mlir::MLIRContext* context,
    llvm::function_ref<OperandIndexing(CollectiveMapBuilder& builder)> build) {
  OperandIndexingSet maps;
  const auto add = [&](const DeviceGroupPiece* piece) {
    CollectiveMapBuilder builder(from, to, groups, piece, context);
    AddUnlessEmpty(build(builder), &maps);
  };
  if (!groups.unknown.empty()) add(nullptr);
  for (const DeviceGroupPiece& piece : groups.pieces) add(&piece);
  return maps;
}

OperandIndexing WithReplicaMap(OperandIndexing indexing, ReplicaMap replica_map,
                               std::optional<int64_t> device_count) {
  const IndexingMap& map = indexing.map();
  if (map.IsKnownEmpty() || replica_map.readers.IsEmpty()) {
    indexing.SetReplicaMap(kPartsFit, std::move(replica_map));
    return indexing;
  }
  AffineExpr reader = indexing.Reader();
  llvm::SmallVector<Interval, 4> dims = map.DimBounds();
  dims.push_back(replica_map.readers);
  const llvm::SmallVector<Interval, 4> symbols = map.SymbolBounds();
  const auto range_of = [&](AffineExpr variable) -> const Interval* {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
      return &dims[dim.getPosition()];
    }
    return &symbols[llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition()];
  };
  std::optional<ExprSimplifier> simplifier;
  const auto form_of = [&](AffineExpr expr) {
    if (IsEvidentForm(expr, range_of)) return expr;
    if (!simplifier) simplifier.emplace(map.context(), dims, symbols);
    return simplifier->Simplify(expr);
  };
  replica_map.device = form_of(replica_map.device);
  for (int i = 0; i < map.num_runtimes(); ++i) {
    RuntimeVarIndexing binding = indexing.bindings()[i];
    if (!binding.device) continue;
    binding.device = form_of(binding.device);
    if (binding.device == reader) binding.device = {};
    indexing.SetBinding(kPartsFit, i, std::move(binding));
  }
  Constraints constraints = std::exchange(replica_map.constraints, {});
  for (const Constraint& constraint : constraints) {
    if (!simplifier) simplifier.emplace(map.context(), dims, symbols);
    AffineExpr expr = simplifier->Simplify(constraint.expr);
    if (simplifier->Range(expr).IsSubsetOf(constraint.interval)) continue;
    if (expr == reader) {
      replica_map.readers = replica_map.readers.Intersect(constraint.interval);
    } else {
      replica_map.constraints.push_back({expr, constraint.interval});
    }
  }
  const bool is_same_device =
      replica_map.device == reader && replica_map.constraints.empty() && device_count &&
      replica_map.readers == Interval::OfSize(*device_count) &&
      llvm::none_of(indexing.bindings(),
                    [](const RuntimeVarIndexing& binding) { return !!binding.device; });
  if (!is_same_device) indexing.SetReplicaMap(kPartsFit, std::move(replica_map));
  return indexing;
}

}  // namespace xla_indexing::internal
