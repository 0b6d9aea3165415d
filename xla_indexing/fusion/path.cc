#include "xla_indexing/fusion/path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {
namespace {

// (d0, d1, ..) -> (d0, d1, ..) over exactly the box of the shape.
bool IsIdentityOf(const IndexingMap& map, const Shape& shape) {
  if (!map.affine_map().isIdentity() || map.num_symbols() > 0 || !map.constraints().empty()) {
    return false;
  }
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!(map.dims()[i].bounds == Interval::OfSize(shape.dimension(i)))) return false;
  }
  return true;
}

}  // namespace

Path::Origin::Origin(OperandIndexing map, const Shape& leads_to)
    : base(std::move(map)), hash(absl::HashOf(base)), shape(leads_to) {}

Path::Path(OperandIndexing base, const Shape& shape)
    : origin_(std::make_shared<Origin>(std::move(base), shape)), hash_(origin_->hash) {}

bool Path::Extend(const HloInstruction& instruction, Direction direction) {
  Origin& origin = *origin_;
  if (origin.base.IsUnknown()) return false;
  if (!origin.algebra) {
    if (!IsReindexing(instruction)) return false;
    mlir::MLIRContext* context = origin.base.map().context();
    llvm::SmallVector<Interval, 4> box;
    for (const int64_t size : origin.shape.dimensions()) box.push_back(Interval::OfSize(size));
    origin.algebra.emplace(context, box);
    for (size_t i = 0; i < box.size(); ++i) {
      origin.variables.push_back(
          origin.algebra->Evaluate(mlir::getAffineDimExpr(i, context), {}, {}));
    }
  }
  Indices indices = indices_.value_or(origin.variables);
  if (!ApplyReindexing(instruction, direction, *origin.algebra, indices)) return false;
  indices_ = std::move(indices);
  if (*indices_ == origin.variables) indices_.reset();
  hash_ = origin.hash;
  if (!indices_) return true;
  // Terms of equal sums may stand in different orders.
  for (const LinearSum& index : *indices_) {
    size_t terms = 0;
    for (const Term& term : index.terms()) {
      terms += absl::HashOf(term.atom.getAsOpaquePointer(), term.coefficient);
    }
    hash_ = absl::HashOf(hash_, index.constant(), terms);
  }
  return true;
}

OperandIndexing Path::Map(const Shape& here) const {
  const OperandIndexing& base = origin_->base;
  if (!indices_ || base.IsUnknown()) return base;
  mlir::MLIRContext* context = base.map().context();
  const auto sizes = origin_->shape.dimensions();
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (const LinearSum& index : *indices_) {
    if (mlir::AffineExpr result = origin_->algebra->Lower(index)) results.push_back(result);
  }
  OperandIndexing chain =
      results.size() == indices_->size()
          ? OperandIndexing(IndexingMap::FromTensorSizes(
                mlir::AffineMap::get(sizes.size(), 0, results, context),
                llvm::SmallVector<int64_t, 4>(sizes.begin(), sizes.end())))
          : WholeTensorIndexing(origin_->shape, here,
                                "whole tensor: the index expressions of a chain are too large",
                                context);
  if (base.IsExact() && base.bindings().empty() && !ChangesDevice() &&
      IsIdentityOf(base.map(), origin_->shape)) {
    return chain;
  }
  absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(base, chain);
  if (!composed.ok()) {
    composed = ComposeOperandIndexing(
        base,
        WholeTensorIndexing(origin_->shape, here,
                            absl::StrCat("whole tensor: ", composed.status().message()), context));
  }
  if (!composed.ok()) {
    return OperandIndexing::Unknown(context, std::string(composed.status().message()));
  }
  composed->Simplify();
  return *std::move(composed);
}

bool operator==(const Path& a, const Path& b) {
  return a.hash_ == b.hash_ && a.indices_ == b.indices_ &&
         (a.origin_ == b.origin_ || (!a.indices_ && a.origin_->base == b.origin_->base));
}

void PathSet::Add(Path path) {
  if (std::find(paths_.begin(), paths_.end(), path) == paths_.end()) {
    paths_.push_back(std::move(path));
  }
}

void PathSet::Merge(const Shape& shape) {
  OperandIndexingSet maps;
  for (const Path& path : paths_) maps.Add(path.Map(shape));
  maps.DropCovered(shape);
  paths_.clear();
  for (const OperandIndexing& map : maps) paths_.push_back(Path(map, shape));
}

}  // namespace xla_indexing
