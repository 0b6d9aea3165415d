// Scatter, variadic and in its general form with batching dimensions: the updates are windows that
// ops/rules/indexed/indexed_windows.h places in the operands, at the indices as they are,
//
//   rt_j = indices[b with j at index_vector_dim],   origin_k(b) = rt_j, b_m or 0,
//
// and element u = (b, w) of every update goes to element origin(b) + w, through the combiner:
//
//   r[d] = combiner(.. combiner(a[d], updates[u]) .., updates[u'])
//          for all u, u', .. with origin + w = d, in any order.
//
// A window that is not wholly inside the operand is dropped (IndexingOptions::scatter_bounds: or
// the elements of it that are outside). Which operands and updates the combiner puts into which
// result is in ops/rules/arithmetic/combiner.h.
//
// Whether update u lands on d is decided by the whole index vector of b, wherever its window goes:
//
//   r[d] reads rt_j(b) for every j  iff  for some values of the indices the window of b has d.
//
// The values are any that the element type of the indices has, so that this is a condition on d and
// b alone: d_m = b_m in batching dimensions, and d_k in [v_k, v_k + size_k - 1] in the others, for
// some v_k of the element type with which the window is inside (v_k = 0 where dimension k is not
// indexed). Shapes and attributes say it; what the indices are computed from, and the combiner, do
// not matter: a constant index vector is read as any other. From the indices the same condition is
// on the elements that are reached.
//
// The element of an operand that the combiner replaces is not read. "Where no window is" takes one
// map for all elements, larger than what is read, or several (ops/rules/indexed/outside_windows.h).
//
// Sources: XLA's operation semantics; the StableHLO RFC on batching dimensions.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/rules/arithmetic/combiner.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/indexed/indexed_windows.h"
#include "xla_indexing/ops/rules/indexed/outside_windows.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using IndexVector = IndexedWindows::IndexVector;

struct Scatter {
  explicit Scatter(const BuildContext& build)
      : count(build.instruction.operand_count() / 2),
        windows(IndexedWindows::OfScatter(build.instruction,
                                          build.options.scatter_bounds == ScatterBounds::kWindow
                                              ? IndexedWindows::Outside::kDropped
                                              : IndexedWindows::Outside::kElementsDropped)),
        reads(ReadsOfCombiner(*build.instruction.to_apply(), count)) {
    has_updates = !absl::c_linear_search(windows.windows().dimensions(), 0) &&
                  !absl::c_linear_search(windows.array().dimensions(), 0);
    for (int64_t k = 0; k < windows.array().rank(); ++k) {
      if (windows.WindowSize(k) == Shape::kUnboundedSize &&
          !windows.array().IsUnboundedDimension(k)) {
        targets = ExactnessLabel::OverApproximate("the windows have no known size");
      }
    }
    label = reads.is_exact || !targets.IsExact()
                ? targets
                : ExactnessLabel::OverApproximate(
                      "what the combiner reads differs with the number of updates");
  }

  int64_t count;
  IndexedWindows windows;
  CombinerReads reads;
  bool has_updates;        // Whether some updates stay inside.
  ExactnessLabel targets;  // The label of where the updates go.
  ExactnessLabel label;    // The label of what is combined there.
};

// Identities, which are their own converse: what result `leaf` reads of operand `operand`.
void AddOperand(BuildContext& build, const Scatter& scatter, int64_t leaf, int64_t operand) {
  const bool is_combined = scatter.reads.operands[leaf].test(operand);
  if (leaf != operand) {
    // Read where there are updates.
    if (!is_combined || !scatter.has_updates) return;
    MapBuilder builder = build.FromOutput(operand, leaf);
    const IndexVector batch = scatter.windows.AddBatchAt(&builder);
    scatter.windows.AddOffsetsAt(scatter.windows.AddOrigin(batch, &builder), &builder);
    IndexVector element;
    for (int64_t k = 0; k < scatter.windows.array().rank(); ++k) element.push_back(builder.Dim(k));
    build.Add(leaf, operand, 0, builder.Build(element, scatter.label));
    return;
  }
  OperandIndexing identity = IdentityIndexing(scatter.windows.array(), build.mlir_context);
  if (is_combined && scatter.has_updates) identity.Weaken(scatter.label);
  if (!is_combined && scatter.has_updates) {
    std::optional<OperandIndexingSet> pieces = OutsideWindows(build, scatter.windows);
    if (pieces && build.TakesPieces(pieces->size())) {
      build.Add(leaf, operand, 0, *std::move(pieces));
      return;
    }
    identity.Weaken(
        ExactnessLabel::OverApproximate("elements that the updates overwrite are not read"));
  }
  build.Add(leaf, operand, 0, std::move(identity));
}

}  // namespace

void ScatterOutputToInput(BuildContext& build, int64_t output_leaf) {
  const Scatter scatter(build);
  const IndexedWindows& windows = scatter.windows;
  for (int64_t i = 0; i < scatter.count; ++i) AddOperand(build, scatter, output_leaf, i);
  if (!scatter.has_updates) return;
  {
    MapBuilder builder = build.FromOutput(scatter.count, output_leaf);
    const AffineExpr j = builder.AddRangeOverAxis(windows.VectorSize());
    const IndexVector batch = windows.AddBatchAt(&builder);
    windows.KeepReachable(&builder);
    build.Add(output_leaf, scatter.count, 0,
              builder.Build(windows.ElementOfIndices(batch, j), scatter.targets));
  }
  for (const unsigned i : scatter.reads.updates[output_leaf].set_bits()) {
    const int64_t operand = scatter.count + 1 + i;
    MapBuilder builder = build.FromOutput(operand, output_leaf);
    const IndexVector batch = windows.AddBatchAt(&builder);
    const IndexVector offsets = windows.AddOffsetsAt(windows.AddOrigin(batch, &builder), &builder);
    build.Add(output_leaf, operand, 0,
              builder.Build(windows.WindowElement(batch, offsets), scatter.label));
  }
}

void ScatterInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const Scatter scatter(build);
  const IndexedWindows& windows = scatter.windows;
  for (int64_t leaf = 0; leaf < scatter.count; ++leaf) {
    if (operand < scatter.count) {
      AddOperand(build, scatter, leaf, operand);
      continue;
    }
    if (!scatter.has_updates) continue;
    MapBuilder builder = build.ToOutput(operand, leaf);
    if (operand == scatter.count) {
      const IndexVector element =
          windows.AddReachedElements(windows.BatchOfIndices(builder), &builder);
      build.Add(leaf, operand, 0, builder.Build(element, scatter.targets));
      continue;
    }
    if (!scatter.reads.updates[leaf].test(operand - scatter.count - 1)) continue;
    IndexVector offsets;
    for (const int64_t dim : windows.window_dims()) offsets.push_back(builder.Dim(dim));
    const IndexVector origin = windows.AddOrigin(windows.BatchOfWindow(builder), &builder);
    const IndexVector element = windows.ArrayElement(origin, offsets, &builder);
    build.Add(leaf, operand, 0, builder.Build(element, scatter.label));
  }
}

}  // namespace xla_indexing::internal
