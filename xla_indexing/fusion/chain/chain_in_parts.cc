#include "xla_indexing/fusion/chain/chain_in_parts.h"

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/affine/mixed_radix/positional_lowering.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/chain/reindexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// A part ends before its place has more digits, those of its sources counted as often as they
// occur.
constexpr size_t kMaxDigitsOfPart = 16;

// A part of a chain, from the indices of an array, or from one index: the place in it.
struct ChainPart {
  ChainPart(const Shape& shape, std::optional<AffineExpr> place, int64_t num_elements,
            mlir::MLIRContext* context) {
    Indices& indices = position.indices;
    if (!place) {
      for (const int64_t size : shape.dimensions()) {
        variables.push_back(mlir::getAffineDimExpr(variables.size(), context));
        indices.push_back(algebra.AddVariable(size));
      }
      return;
    }
    variables.push_back(*place);
    indices.push_back(algebra.AddVariable(num_elements));
    is_valid = Reshape(shape.dimensions(), &indices);
  }

  bool Reshape(absl::Span<const int64_t> sizes, Indices* indices) {
    std::optional<Indices> reshaped =
        algebra.Reshape(*indices, llvm::ArrayRef(sizes.data(), sizes.size()));
    if (!reshaped) return false;
    *indices = *std::move(reshaped);
    return true;
  }
  // The place where the steps have led to; nullopt if that cannot be said.
  std::optional<Number> Place(const Position& at, int64_t num_elements) {
    Indices place = at.indices;
    return Reshape({num_elements}, &place) ? std::optional(std::move(place[0])) : std::nullopt;
  }

  PositionalAlgebra algebra;
  llvm::SmallVector<AffineExpr, 4> variables;
  Position position;
  bool is_valid = true;
};

const Shape& EndOf(const ReindexingStep& step) {
  return step.direction == Direction::kOutputToInput
             ? step.instruction->operand(step.operand)->shape()
             : step.instruction->shape();
}

}  // namespace

std::optional<IndexingMap> MapOfChainInParts(const Shape& from,
                                             llvm::ArrayRef<ReindexingStep> steps,
                                             mlir::MLIRContext* context) {
  if (IsOff(Engine::kChainInParts)) return std::nullopt;
  const absl::StatusOr<int64_t> num_elements = from.ElementCount();
  if (!num_elements.ok() || *num_elements < 1) return std::nullopt;
  Variables dims;
  llvm::SmallVector<Interval, 8> dim_bounds;
  for (const int64_t size : from.dimensions()) {
    dim_bounds.push_back(Interval::OfSize(size));
    dims.push_back({dim_bounds.back(), {}});
  }
  Variables ranges;
  Constraints constraints;
  ExprSimplifier simplifier(
      context, dim_bounds,
      llvm::SmallVector<Interval, 8>(kMaxParts, Interval::OfSize(*num_elements)));
  const auto lower = [&](ChainPart& part, llvm::ArrayRef<Number> numbers) {
    PositionalLowering lowering(&part.algebra, &simplifier, part.variables);
    llvm::SmallVector<AffineExpr, 4> exprs;
    for (const Number& number : numbers) exprs.push_back(lowering.Lower(number));
    return exprs;
  };

  std::optional<AffineExpr> place;
  const Shape* shape = &from;
  for (size_t begin = 0;;) {
    ChainPart part(*shape, place, *num_elements, context);
    // The steps that are in this part, and where they have led to.
    std::optional<Number> end;
    size_t next = begin;
    for (; part.is_valid && next < steps.size(); ++next) {
      Position moved = part.position;
      const ReindexingStep& step = steps[next];
      if (ApplyReindexing(*step.instruction, step.operand, step.direction,
                          part.algebra.num_variables(), part.algebra, moved) != Reindexed::kMoved) {
        return std::nullopt;
      }
      std::optional<Number> end_of_step = part.Place(moved, *num_elements);
      if (!end_of_step) return std::nullopt;
      if (next > begin && part.algebra.NodesOf(*end_of_step) > kMaxDigitsOfPart) break;
      part.position = std::move(moved);
      end = std::move(end_of_step);
      shape = &EndOf(step);
    }
    if (!part.is_valid) return std::nullopt;
    const bool is_last = next == steps.size();
    llvm::SmallVector<AffineExpr, 4> exprs =
        lower(part, is_last ? llvm::ArrayRef(part.position.indices) : llvm::ArrayRef(*end));
    if (llvm::is_contained(exprs, AffineExpr())) return std::nullopt;
    if (is_last) {
      const mlir::AffineMap affine_map =
          mlir::AffineMap::get(dims.size(), ranges.size(), exprs, context);
      return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges), {},
                         std::move(constraints));
    }
    if (ranges.size() == kMaxParts) return std::nullopt;
    place = mlir::getAffineSymbolExpr(ranges.size(), context);
    ranges.push_back({Interval::OfSize(*num_elements), {}});
    const AffineExpr difference = Sub(exprs[0], *place);
    if (!difference) return std::nullopt;
    constraints.push_back({difference, Interval::Point(0)});
    begin = next;
  }
}

}  // namespace xla_indexing::internal
