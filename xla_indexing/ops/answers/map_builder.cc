#include "xla_indexing/ops/answers/map_builder.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/affine/spelling/evident_form.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

Interval IndicesOfAxis(int64_t size) {
  return size == Shape::kUnboundedSize ? Interval::AtLeast(0) : Interval::OfSize(size);
}

MapBuilder::MapBuilder(const Shape& from, const Shape& to, mlir::MLIRContext* context,
                       OneValued one_valued)
    : context_(context), from_(&from), to_(&to), one_valued_(one_valued) {
  for (const int64_t size : from.dimensions()) domain_.dims.push_back({IndicesOfAxis(size), {}});
}

AffineExpr MapBuilder::Dim(int64_t i) const {
  const Interval& bounds = domain_.dims[i].bounds;
  if (one_valued_ == OneValued::kValues && bounds.IsPoint()) return Value(bounds.lower());
  return mlir::getAffineDimExpr(i, context_);
}

AffineExpr MapBuilder::Value(int64_t value) const { return Constant(value, context_); }

AffineExpr MapBuilder::AddRange(const Interval& interval) {
  assert(domain_.runtimes.empty() && "range variables come before runtime variables");
  if (interval.IsPoint()) return Value(interval.lower());
  domain_.ranges.push_back({interval, {}});
  return mlir::getAffineSymbolExpr(domain_.ranges.size() - 1, context_);
}

AffineExpr MapBuilder::AddRuntime(RuntimeVarIndexing binding) {
  const Interval values = binding.value.Apply(Interval::All());
  if (one_valued_ == OneValued::kValues && values.IsPoint()) return Value(values.lower());
  domain_.runtimes.push_back({values, {}});
  bindings_.push_back(std::move(binding));
  return mlir::getAffineSymbolExpr(domain_.ranges.size() + domain_.runtimes.size() - 1, context_);
}

void MapBuilder::Constrain(AffineExpr expr, const Interval& interval) {
  if (!domain_.Constrain(expr, interval)) too_large_ = true;
}

void MapBuilder::ConstrainDim(int64_t i, const Interval& interval) {
  Interval& bounds = domain_.dims[i].bounds;
  bounds = bounds.Intersect(interval);
}

void MapBuilder::ConstrainResidue(AffineExpr expr, int64_t modulus, const Interval& residues) {
  if (!domain_.ConstrainResidue(expr, modulus, residues)) too_large_ = true;
}

AffineExpr MapBuilder::ExactQuotient(AffineExpr numerator, int64_t divisor,
                                     const Interval& interval) {
  const Interval multiples = interval.Mul(divisor);
  if (interval.IsFinite() && !multiples.IsFinite()) too_large_ = true;
  Constrain(numerator, multiples);
  if (divisor == 1) return numerator;
  ConstrainResidue(numerator, divisor, Interval::Point(0));
  return FloorDiv(numerator, divisor);
}

void MapBuilder::Simplify(llvm::MutableArrayRef<AffineExpr> exprs) const {
  llvm::SmallVector<Interval, 4> dims;
  llvm::SmallVector<Interval, 4> symbols;
  for (const Variable& variable : domain_.dims) dims.push_back(variable.bounds);
  for (const Variable& variable : domain_.ranges) symbols.push_back(variable.bounds);
  for (const Variable& variable : domain_.runtimes) symbols.push_back(variable.bounds);
  if (llvm::is_contained(dims, Interval::Empty()) ||
      llvm::is_contained(symbols, Interval::Empty())) {
    return;
  }
  const auto range_of = [&](AffineExpr variable) -> const Interval* {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
      return &dims[dim.getPosition()];
    }
    return &symbols[llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition()];
  };
  std::optional<ExprSimplifier> simplifier;
  for (AffineExpr& expr : exprs) {
    if (!expr || IsEvidentForm(expr, range_of)) continue;
    if (!simplifier) simplifier.emplace(context_, dims, symbols);
    expr = simplifier->Simplify(expr);
  }
}

bool MapBuilder::IsTooLarge(llvm::ArrayRef<AffineExpr> results) const {
  return too_large_ || llvm::is_contained(results, AffineExpr());
}

OperandIndexing MapBuilder::Build(llvm::ArrayRef<AffineExpr> results, ExactnessLabel label) const {
  assert(static_cast<int64_t>(results.size()) == to_->rank());
  if (IsTooLarge(results)) {
    return WholeTensorIndexing(*from_, *to_, "whole tensor: an index expression passes 64 bits",
                               context_);
  }
  return OperandIndexing(kPartsFit, domain_.MakeMap(results, context_), bindings_,
                         std::move(label));
}

// Every element of `to` for every element of `from`.
OperandIndexing EveryElement(const Shape& from, const Shape& to, ExactnessLabel label,
                             mlir::MLIRContext* context) {
  MapBuilder builder(from, to, context);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const int64_t size : to.dimensions()) indices.push_back(builder.AddRangeOverAxis(size));
  return builder.Build(indices, std::move(label));
}

OperandIndexing WholeTensorIndexing(const Shape& from, const Shape& to, std::string reason,
                                    mlir::MLIRContext* context) {
  return EveryElement(from, to, ExactnessLabel::OverApproximate(std::move(reason)), context);
}

OperandIndexing IdentityIndexing(const Shape& shape, mlir::MLIRContext* context,
                                 OneValued one_valued) {
  const auto dims = [&] {
    Variables variables;
    for (const int64_t size : shape.dimensions()) variables.push_back({IndicesOfAxis(size), {}});
    return variables;
  };
  llvm::SmallVector<AffineExpr, 4> indices;
  bool is_simplified = true;
  for (const int64_t size : shape.dimensions()) {
    const bool is_value = size == 1 && one_valued == OneValued::kValues;
    indices.push_back(is_value ? Constant(0, context)
                               : mlir::getAffineDimExpr(indices.size(), context));
    // A dimension of one value is replaced by it, and one of none makes the map the empty one.
    is_simplified = is_simplified && (size > 1 || is_value || size == Shape::kUnboundedSize);
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(indices.size(), /*symbolCount=*/0, indices, context);
  const auto map = [&] { return IndexingMap(kPartsFit, affine_map, dims(), {}, {}); };
  return is_simplified ? OperandIndexing::InNormalForm(map()) : OperandIndexing(kPartsFit, map());
}

}  // namespace xla_indexing::internal
