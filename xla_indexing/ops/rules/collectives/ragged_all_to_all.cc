// Ragged-all-to-all: rows go between devices in blocks whose places and sizes are values. With m
// blocks for each pair of devices (the offsets have m * n elements in groups of n) and e(P, u) =
// P*m + u, device q at position Q sends to device p at position P, for u in [0, m - 1],
//
//   the rows  input_offsets(q)[e(P, u)] + [0, send_sizes(q)[e(P, u)] - 1]  of input(q)
//   to        output_offsets(q)[e(P, u)] + ..                              of the result of p,
//
// which knows the size as recv_sizes(p)[e(Q, u)]. Rows that nobody sends are those of the operand
// `output`. Both sizes must be equal, and blocks must neither overlap nor leave their arrays; then
//
//   r(p)[d] = input(q)[d_0 - oo + io, ..]  where 0 <= d_0 - oo < recv_sizes(p)[e(Q, u)]
//
// with oo and io the two offsets above. As with slices, every element of the result counts as
// reading all offsets and sizes that may decide about its place. One map cannot say "sent by
// nobody", so that the operand `output` is the identity, over-approximate.

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/ops/rules/collectives/collective_builder.h"
#include "xla_indexing/ops/rules/collectives/device_groups.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Indices = llvm::SmallVector<AffineExpr, 4>;

enum Operand : int64_t {
  kInput,
  kOutput,
  kInputOffsets,
  kSendSizes,
  kOutputOffsets,
  kReceiveSizes,
};

class RaggedAllToAll {
 public:
  RaggedAllToAll(BuildContext& build, const CollectiveGroups& collective, int64_t rank_from)
      : build_(build),
        groups_(AnalyseGroups(collective, mlir::getAffineDimExpr(rank_from, build.mlir_context))),
        blocks_(Offsets().dimension(0) / groups_.max_group_size) {}

  // Both directions of the operand `input`.
  void AddInput(Direction direction) {
    const bool forward = direction == Direction::kInputToOutput;
    const Shape& from = build_.Operand(forward ? kInput : kOutput);
    const Shape& to = build_.Operand(forward ? kOutput : kInput);
    build_.Add(0, kInput, 0, ForPieces(from, to, [&](CollectiveMapBuilder& builder) {
                 AffineExpr own = forward ? AffineExpr() : builder.ReaderPosition();
                 AffineExpr other = builder.AddOtherPosition();
                 AffineExpr block = builder.map().AddRange(Interval::OfSize(blocks_));
                 builder.SetOtherPosition(other);
                 // The sender knows the places, where its arrays speak of the receiver.
                 AffineExpr device = forward ? AffineExpr() : builder.OtherDevice();
                 AffineExpr element = Element(forward ? other : own, block);
                 AffineExpr input_offset = AddValue(kInputOffsets, element, device, &builder.map());
                 AffineExpr output_offset =
                     AddValue(kOutputOffsets, element, device, &builder.map());
                 AffineExpr size =
                     forward ? AddValue(kSendSizes, element, {}, &builder.map())
                             : AddValue(kReceiveSizes, Element(other, block), {}, &builder.map());
                 Indices indices;
                 for (int64_t i = 0; i < from.rank(); ++i) indices.push_back(builder.map().Dim(i));
                 AffineExpr row = Sub(indices[0], forward ? input_offset : output_offset);
                 builder.map().Constrain(row, Interval::AtLeast(0));
                 builder.map().Constrain(Sub(row, size), Interval::AtMost(-1));
                 indices[0] = builder.map().ExactQuotient(
                     Add(row, forward ? output_offset : input_offset), 1, to.dimension(0));
                 return builder.Build(indices);
               }));
  }

  // An array of the sender: its elements for the reader are read on every device that may send.
  void AddReadOfSenders(int64_t operand) {
    const Shape& from = build_.Output();
    build_.Add(0, operand, 0,
               ForPieces(from, build_.Operand(operand), [&](CollectiveMapBuilder& builder) {
                 AffineExpr own = builder.ReaderPosition();
                 AffineExpr block = builder.map().AddRange(Interval::OfSize(blocks_));
                 builder.SetAnyOtherPosition();
                 return builder.Build({Element(own, block)});
               }));
  }
  void AddReachOfSenders(int64_t operand) {
    const Shape& to = build_.Output();
    build_.Add(0, operand, 0,
               ForPieces(build_.Operand(operand), to, [&](CollectiveMapBuilder& builder) {
                 Indices indices;
                 for (const int64_t size : to.dimensions()) {
                   indices.push_back(builder.map().AddRangeOverAxis(size));
                 }
                 builder.SetOtherPosition(FloorDiv(builder.map().Dim(0), blocks_));
                 return builder.Build(indices);
               }));
  }

 private:
  const Shape& Offsets() const { return build_.Operand(kInputOffsets); }

  AffineExpr Element(AffineExpr position, AffineExpr block) const {
    return Add(Scale(position, blocks_), block);
  }

  AffineExpr AddValue(int64_t operand, AffineExpr element, AffineExpr device, MapBuilder* map) {
    RuntimeVarIndexing binding;
    binding.instruction = build_.instruction.operand(operand);
    binding.element = {element};
    binding.device = device;
    return map->AddRuntime(std::move(binding));
  }

  template <typename Build>
  OperandIndexingSet ForPieces(const Shape& from, const Shape& to, Build build) {
    return BuildForPieces(from, to, groups_, build_.mlir_context, build);
  }

  BuildContext& build_;
  const DeviceGroups groups_;
  const int64_t blocks_;
};

// The operand `output`; its own converse.
void AddOutput(BuildContext& build) {
  OperandIndexing identity = IdentityIndexing(build.Output(), build.mlir_context);
  identity.Weaken(ExactnessLabel::OverApproximate("rows that a device sends are not read"));
  build.Add(kOutput, std::move(identity));
}

// Whether offsets and sizes are vectors of some length.
bool HasBlocks(const BuildContext& build) {
  const Shape& offsets = build.Operand(kInputOffsets);
  return offsets.rank() == 1 && !offsets.IsUnboundedDimension(0) && offsets.dimension(0) > 0;
}

// The whole operand on any device, where it is not known which elements decide what.
void AddAnything(BuildContext& build, const CollectiveGroups& collective, int64_t operand,
                 Direction direction) {
  const bool forward = direction == Direction::kInputToOutput;
  const Shape& from = forward ? build.Operand(operand) : build.Output();
  const Shape& to = forward ? build.Output() : build.Operand(operand);
  const Interval devices = Interval::OfSize(collective.DeviceCount());
  build.Add(operand,
            OnAnyDevice(WholeTensorIndexing(from, to,
                                            "whole operand: the offsets are no vector of a "
                                            "known length",
                                            build.mlir_context),
                        devices, devices));
}

void AddRaggedOperand(BuildContext& build, int64_t operand, Direction direction) {
  const bool forward = direction == Direction::kInputToOutput;
  if (operand == kOutput) {
    AddOutput(build);
    return;
  }
  const absl::StatusOr<CollectiveGroups> collective = CollectiveGroupsOf(build.instruction);
  if (!collective.ok()) {
    build.status = collective.status();
    return;
  }
  if (!HasBlocks(build)) {
    AddAnything(build, *collective, operand, direction);
    return;
  }
  RaggedAllToAll ragged(build, *collective,
                        forward ? build.Operand(operand).rank() : build.Output().rank());
  if (operand == kInput) {
    ragged.AddInput(direction);
  } else if (operand == kReceiveSizes) {
    forward ? build.AddWholeReach(operand) : build.AddWholeRead(operand);
  } else {
    forward ? ragged.AddReachOfSenders(operand) : ragged.AddReadOfSenders(operand);
  }
}

}  // namespace

void RaggedAllToAllOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  for (int64_t operand = kInput; operand <= kReceiveSizes; ++operand) {
    AddRaggedOperand(build, operand, Direction::kOutputToInput);
  }
}

void RaggedAllToAllInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  AddRaggedOperand(build, operand, Direction::kInputToOutput);
}

}  // namespace xla_indexing::internal
