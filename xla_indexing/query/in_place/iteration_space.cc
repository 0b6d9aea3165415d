#include "xla_indexing/query/in_place/iteration_space.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/map/sets/inverse.h"

namespace xla_indexing::internal {

std::vector<int64_t> IterationSpace::ElementAt(absl::Span<const int64_t> coordinates) const {
  if (!elements) return {coordinates.begin(), coordinates.end()};
  const auto element =
      elements->map().Evaluate(llvm::ArrayRef<int64_t>(coordinates.data(), coordinates.size()), {});
  if (!element.ok()) return {};
  return {element->begin(), element->end()};
}

LoopOrder IterationSpace::Loops() const {
  LoopOrder order;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == CoordinateKind::kLoop) order.push_back({static_cast<int>(i), false});
  }
  return order;
}

IterationSpace ElementsOf(const Shape& array) {
  IterationSpace space;
  space.kinds.assign(array.rank(), CoordinateKind::kLoop);
  return space;
}

absl::StatusOr<IterationSpace> IterationsOf(const IterationMap& iterations, const Shape& array) {
  const IndexingMap& map = iterations.elements;
  if (map.num_results() != array.rank() || map.num_runtimes() != 0 ||
      absl::c_any_of(iterations.together, [&](int i) { return i < 0 || i >= map.num_ranges(); })) {
    return absl::InvalidArgumentError(
        absl::StrCat("in place: iterations ", map.ToString(), " are none of ", array.ToString()));
  }
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  IterationSpace space;
  space.kinds.assign(map.num_dims(), CoordinateKind::kParallel);
  for (int i = 0; i < map.num_ranges(); ++i) {
    const bool is_together = absl::c_linear_search(iterations.together, i);
    space.kinds.push_back(is_together ? CoordinateKind::kTogether : CoordinateKind::kLoop);
  }
  space.elements = OperandIndexing(kPartsFit, map.ConvertRangeVariablesToDimensions());
  absl::StatusOr<IndexingMap> inverse = Inverse(space.elements->map());
  if (!inverse.ok()) {
    return absl::UnimplementedError(absl::StrCat(
        "which iteration computes an element is not known: ", inverse.status().message()));
  }
  space.iteration_of = OperandIndexing(kPartsFit, *std::move(inverse));
  return space;
}

absl::StatusOr<IterationSpace> BytesOf(const Shape& array, mlir::MLIRContext* context) {
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  if (!layout.ok()) return absl::UnimplementedError(layout.status().message());
  const int64_t in_byte = 8 / layout->width;
  const int64_t rank = array.rank();
  const int64_t minor = rank == 0 ? -1 : layout->major_to_minor.back();
  if (!layout->tilings.empty() || rank == 0 || array.dimension(minor) % in_byte != 0) {
    return absl::UnimplementedError("elements are narrower than a byte, and rows no whole bytes");
  }
  Variables loops;
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = array.dimension(i);
    loops.push_back({Interval::OfSize(i == minor ? size / in_byte : size), {}});
    results.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  loops.push_back({Interval::OfSize(in_byte), {}});
  results[minor] = Add(Scale(results[minor], in_byte), mlir::getAffineSymbolExpr(rank, context));
  const mlir::AffineMap map = mlir::AffineMap::get(0, loops.size(), results, context);
  return IterationsOf(
      {IndexingMap(kPartsFit, map, {}, std::move(loops), {}), {static_cast<int>(rank)}}, array);
}

LoopOrder OrderOfMemory(const Shape& array) {
  LoopOrder order;
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  for (int64_t i = 0; i < array.rank(); ++i) {
    order.push_back({static_cast<int>(layout.ok() ? layout->major_to_minor[i] : i), false});
  }
  return order;
}

}  // namespace xla_indexing::internal
