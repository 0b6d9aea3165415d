#include "xla_indexing/fusion/path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/build.h"
#include "xla_indexing/affine/positional_lowering.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/base/congruence.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/mix_bits.h"
#include "xla_indexing/fusion/position_union.h"
#include "xla_indexing/hlo/opcode.h"
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

Path::Path(std::shared_ptr<Origin> origin, Position position) : origin_(std::move(origin)) {
  SetPosition(std::move(position));
}

Reindexed Path::Extend(const HloInstruction& instruction, int64_t operand, Direction direction,
                       PathSet* end) const {
  Origin& origin = *origin_;
  if (origin.base.IsUnknown() || !IsReindexing(instruction, operand)) return Reindexed::kRefused;
  if (IsElementwise(instruction.opcode())) {
    end->Add(*this);
    return Reindexed::kMoved;
  }
  if (!origin.algebra) {
    origin.algebra.emplace();
    for (const int64_t size : origin.shape.dimensions()) {
      origin.start.indices.push_back(origin.algebra->AddVariable(size));
    }
  }
  Position moved = position();
  const Reindexed reindexed =
      ApplyReindexing(instruction, operand, direction, *origin.algebra, moved);
  if (reindexed == Reindexed::kMoved) end->Add(Path(origin_, std::move(moved)));
  return reindexed;
}

void Path::SetPosition(Position position) {
  hash_ = origin_->hash;
  if (position.indices == origin_->start.indices) {
    if (position.restrictions.empty()) {
      position_.reset();
      return;
    }
  } else {
    hash_ = MixBits(hash_ + HashOf(position.indices));
  }
  position_ = std::make_shared<const Position>(std::move(position));
}

bool Path::Contains(const Path& other) const {
  if (hash_ != other.hash_) return false;
  if (origin_ != other.origin_) {
    return !position_ && !other.position_ && origin_->base == other.origin_->base;
  }
  return position().indices == other.position().indices &&
         xla_indexing::Contains(position(), other.position());
}

bool Path::Unite(const Path& other) {
  if (hash_ != other.hash_ || origin_ != other.origin_ || !position_ || !other.position_ ||
      position_->indices != other.position_->indices) {
    return false;
  }
  std::optional<Position> both = UnionOf(*position_, *other.position_, *origin_->algebra);
  if (!both) return false;
  SetPosition(*std::move(both));
  return true;
}

bool Path::IsFunction() const {
  const IndexingMap& map = origin_->base.map();
  return !origin_->base.IsUnknown() && map.num_symbols() == 0 && !ChangesDevice() &&
         (!origin_->algebra || origin_->algebra->num_variables() == map.num_results());
}

std::optional<OperandIndexing> Path::MapOfChain() const {
  mlir::MLIRContext* context = origin_->base.map().context();
  const PositionalAlgebra& algebra = *origin_->algebra;
  Variables dims;
  Variables ranges;
  llvm::SmallVector<Interval, 8> dim_bounds;
  llvm::SmallVector<Interval, 8> range_bounds;
  llvm::SmallVector<mlir::AffineExpr, 8> variables;
  for (int i = 0; i < algebra.num_variables(); ++i) {
    const bool is_dim = i < origin_->shape.rank();
    const Interval bounds = algebra.RangeOfVariable(i);
    variables.push_back(is_dim ? mlir::getAffineDimExpr(dims.size(), context)
                               : mlir::getAffineSymbolExpr(ranges.size(), context));
    (is_dim ? dims : ranges).push_back({bounds, {}});
    (is_dim ? dim_bounds : range_bounds).push_back(bounds);
  }
  ExprSimplifier simplifier(context, dim_bounds, range_bounds);
  PositionalLowering lowering(&algebra, &simplifier, variables);
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (const Number& index : position_->indices) {
    results.push_back(lowering.Lower(index));
    if (!results.back()) return std::nullopt;
  }
  Constraints constraints;
  for (const Restriction& restriction :
       RestrictionsToWrite(position_->restrictions, *origin_->algebra)) {
    const mlir::AffineExpr index = lowering.Lower(restriction.index);
    if (!index) return std::nullopt;
    if (!restriction.interval.IsAll()) constraints.push_back({index, restriction.interval});
    const Congruence& residues = restriction.residues;
    if (residues.IsAll()) continue;
    const mlir::AffineExpr residue =
        Mod(Sub(index, Constant(residues.residue(), context)), residues.modulus());
    if (!residue) return std::nullopt;
    constraints.push_back({residue, Interval::Point(0)});
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), ranges.size(), results, context);
  const bool is_simple = constraints.empty() && ranges.empty();
  IndexingMap map(affine_map, std::move(dims), std::move(ranges), {}, std::move(constraints));
  if (is_simple) return OperandIndexing::InNormalForm(std::move(map));
  OperandIndexing chain(std::move(map));
  chain.Simplify();
  return chain;
}

OperandIndexing Path::Map(const Shape& here) const {
  const OperandIndexing& base = origin_->base;
  if (!position_ || base.IsUnknown()) return base;
  mlir::MLIRContext* context = base.map().context();
  std::optional<OperandIndexing> of_chain = MapOfChain();
  OperandIndexing chain =
      of_chain ? *std::move(of_chain)
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

void PathSet::Add(Path path) {
  const size_t hash = path.hash();
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (hashes_[i] == hash && paths_[i].Contains(path)) return;
  }
  for (size_t i = 0; i < paths_.size();) {
    if (hashes_[i] != hash || !(path.Contains(paths_[i]) || path.Unite(paths_[i]))) {
      ++i;
      continue;
    }
    std::swap(paths_[i], paths_.back());
    std::swap(hashes_[i], hashes_.back());
    paths_.pop_back();
    hashes_.pop_back();
    i = 0;  // The greater path may unite with others.
  }
  paths_.push_back(std::move(path));
  hashes_.push_back(hash);
}

void PathSet::Add(PathSet other) {
  if (empty()) {
    *this = std::move(other);
    return;
  }
  for (Path& path : other.paths_) Add(std::move(path));
}

bool PathSet::MayCoverOneAnother() const {
  return std::any_of(paths_.begin(), paths_.end(), [&](const Path& path) {
    return !path.HasSameOrigin(paths_.front()) || !path.IsFunction();
  });
}

void PathSet::Merge(const Shape& shape, size_t enough) {
  OperandIndexingSet maps;
  for (const Path& path : paths_) maps.Add(path.Map(shape));
  maps.DropCovered(shape);
  if (maps.size() > enough) maps.Simplify();
  *this = PathSet();
  for (const OperandIndexing& map : maps) Add(Path(map, shape));
}

}  // namespace xla_indexing
