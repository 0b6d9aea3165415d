// Types, verification, folding, ranges and canonical forms of the operations.
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/lowering/dialect/indexing_dialect.h"
#include "xla_indexing/lowering/dialect/map_of_values.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::dialect {
namespace {

constexpr unsigned kBitsOfIndex = 64;

Interval ToInterval(const mlir::ConstantIntRanges& range) {
  const llvm::APInt& least = range.smin();
  const llvm::APInt& greatest = range.smax();
  if (least.getBitWidth() != kBitsOfIndex) return Interval::All();
  return Interval::Closed(least.getSExtValue(), greatest.getSExtValue());
}

mlir::ConstantIntRanges ToRange(const Interval& interval) {
  // What never happens is in any range.
  if (interval.IsEmpty()) return mlir::ConstantIntRanges::maxRange(kBitsOfIndex);
  const auto number = [](int64_t value) {
    return llvm::APInt(kBitsOfIndex, static_cast<uint64_t>(value), /*isSigned=*/true);
  };
  return mlir::ConstantIntRanges::fromSigned(
      number(interval.has_lower() ? interval.lower() : INT64_MIN),
      number(interval.has_upper() ? interval.upper() : INT64_MAX));
}

// An apply of a composed, simplified map of fewer arguments.
struct ComposeApply : mlir::OpRewritePattern<ApplyOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(ApplyOp op, mlir::PatternRewriter& rewriter) const override {
    const absl::StatusOr<internal::MapOfValues> composed =
        internal::ComposedWithApplies(op.getMap().getMap(), op.getArgs());
    if (!composed.ok()) return rewriter.notifyMatchFailure(op, "the composed map is too large");
    const IndexingMapAttr map = IndexingMapAttr::get(composed->map);
    if (map == op.getMap() && llvm::equal(composed->values, op.getArgs())) return mlir::failure();
    rewriter.replaceOpWithNewOp<ApplyOp>(op, map, composed->values);
    return mlir::success();
  }
};

struct NarrowLoop : mlir::OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(LoopOp op, mlir::PatternRewriter& rewriter) const override {
    const IndexingMap& map = op.getMap().getMap();
    const IndexingMapAttr narrowed = IndexingMapAttr::get(
        internal::Narrowed(map, llvm::map_to_vector<8>(op.getArgs(), internal::KnownRange)));
    if (narrowed == op.getMap()) return mlir::failure();
    rewriter.modifyOpInPlace(op, [&] { op.setMapAttr(narrowed); });
    return mlir::success();
  }
};

}  // namespace

mlir::LogicalResult ApplyOp::inferReturnTypes(mlir::MLIRContext* context,
                                              std::optional<mlir::Location>, Adaptor adaptor,
                                              llvm::SmallVectorImpl<mlir::Type>& types) {
  const IndexingMapAttr map = adaptor.getMap();
  if (!map) return mlir::failure();
  types.assign(map.getMap().num_results(), mlir::IndexType::get(context));
  return mlir::success();
}

mlir::LogicalResult ApplyOp::verify() {
  const IndexingMap& map = getMap().getMap();
  if (static_cast<int64_t>(getArgs().size()) == map.num_dims() + map.num_symbols()) {
    return mlir::success();
  }
  return emitOpError() << "has " << getArgs().size() << " arguments for a map of " << map.num_dims()
                       << " dimensions and " << map.num_symbols() << " symbols";
}

mlir::LogicalResult ApplyOp::fold(FoldAdaptor adaptor,
                                  llvm::SmallVectorImpl<mlir::OpFoldResult>& values) {
  const IndexingMap& map = getMap().getMap();
  if (map.num_results() == 0) return mlir::failure();
  llvm::SmallVector<int64_t, 8> numbers;
  for (const mlir::Attribute argument : adaptor.getArgs()) {
    const auto number = mlir::dyn_cast_if_present<mlir::IntegerAttr>(argument);
    if (number) numbers.push_back(number.getValue().getSExtValue());
  }
  mlir::Builder builder(getContext());
  if (numbers.size() == getArgs().size()) {
    const llvm::ArrayRef<int64_t> all = numbers;
    const auto results =
        map.Evaluate(all.take_front(map.num_dims()), all.drop_front(map.num_dims()));
    // What is too large to be a number is left as it is.
    if (!results.ok()) return mlir::failure();
    for (const int64_t result : *results) values.push_back(builder.getIndexAttr(result));
    return mlir::success();
  }
  for (const mlir::AffineExpr result : map.results()) {
    if (const auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(result)) {
      values.push_back(builder.getIndexAttr(constant.getValue()));
    } else if (const auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(result)) {
      values.push_back(getArgs()[dim.getPosition()]);
    } else if (const auto symbol = mlir::dyn_cast<mlir::AffineSymbolExpr>(result)) {
      values.push_back(getArgs()[map.num_dims() + symbol.getPosition()]);
    } else {
      return mlir::failure();
    }
  }
  return mlir::success();
}

void ApplyOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns,
                                          mlir::MLIRContext* context) {
  patterns.add<ComposeApply>(context);
}

void ApplyOp::inferResultRanges(llvm::ArrayRef<mlir::ConstantIntRanges> ranges,
                                mlir::SetIntRangeFn set_range) {
  const IndexingMap map =
      internal::InRanges(getMap().getMap(), llvm::map_to_vector<8>(ranges, ToInterval));
  for (const auto& [value, result] : llvm::zip(getValues(), map.results())) {
    set_range(value, ToRange(RangeOf(map, result)));
  }
}

mlir::LogicalResult LoopOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location>,
                                             Adaptor adaptor,
                                             llvm::SmallVectorImpl<mlir::Type>& types) {
  llvm::append_range(types, adaptor.getInits().getTypes());
  return mlir::success();
}

mlir::LogicalResult LoopOp::verifyRegions() {
  const IndexingMap& map = getMap().getMap();
  if (static_cast<int64_t>(getArgs().size()) != map.num_dims() + map.num_runtimes()) {
    return emitOpError() << "has " << getArgs().size() << " arguments for a map of "
                         << map.num_dims() << " dimensions and " << map.num_runtimes()
                         << " runtime variables";
  }
  for (const auto& [i, range] : llvm::enumerate(map.ranges())) {
    if (!range.bounds.IsFinite()) {
      return emitOpError() << "goes over range variable " << i << ", which is in "
                           << range.bounds.ToString();
    }
  }
  llvm::SmallVector<mlir::Type, 8> types(map.num_ranges() + map.num_results(),
                                         mlir::IndexType::get(getContext()));
  llvm::append_range(types, getInits().getTypes());
  if (!llvm::equal(types, getBody().getArgumentTypes())) {
    return emitOpError() << "has a body of other arguments than " << map.num_ranges()
                         << " range variables, " << map.num_results() << " results and "
                         << getInits().size() << " carried values";
  }
  auto yield = mlir::dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || !llvm::equal(yield.getValues().getTypes(), getInits().getTypes())) {
    return emitOpError() << "has a body that does not yield the types that it carries";
  }
  return mlir::success();
}

mlir::LogicalResult LoopOp::fold(FoldAdaptor, llvm::SmallVectorImpl<mlir::OpFoldResult>& values) {
  if (!getMap().getMap().IsKnownEmpty() || getInits().empty()) return mlir::failure();
  llvm::append_range(values, getInits());
  return mlir::success();
}

void LoopOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns,
                                         mlir::MLIRContext* context) {
  patterns.add<NarrowLoop>(context);
}

void LoopOp::inferResultRanges(llvm::ArrayRef<mlir::ConstantIntRanges> ranges,
                               mlir::SetIntRangeFn set_range) {
  const IndexingMap map = internal::InRanges(
      getMap().getMap(), llvm::map_to_vector<8>(ranges.take_front(getArgs().size()), ToInterval));
  for (const auto& [i, variable] : llvm::enumerate(map.ranges())) {
    set_range(getBody().getArgument(i), ToRange(variable.bounds));
  }
  for (const auto& [i, result] : llvm::enumerate(map.results())) {
    set_range(getBody().getArgument(map.num_ranges() + i), ToRange(RangeOf(map, result)));
  }
  // What is carried is not followed.
  for (const mlir::BlockArgument argument :
       getBody().getArguments().drop_front(map.num_ranges() + map.num_results())) {
    const unsigned width = mlir::ConstantIntRanges::getStorageBitwidth(argument.getType());
    if (width != 0) set_range(argument, mlir::ConstantIntRanges::maxRange(width));
  }
  for (const mlir::Value value : getCarried()) {
    const unsigned width = mlir::ConstantIntRanges::getStorageBitwidth(value.getType());
    if (width != 0) set_range(value, mlir::ConstantIntRanges::maxRange(width));
  }
}

}  // namespace xla_indexing::dialect
