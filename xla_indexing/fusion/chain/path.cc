#include "xla_indexing/fusion/chain/path.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/mixed_radix/positional_lowering.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/mix_bits.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/chain/position_union.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

// (d0, d1, ..) -> (d0, d1, ..) over exactly the box of the shape, on the same device.
bool IsIdentityOf(const OperandIndexing& indexing, const Shape& shape) {
  const IndexingMap& map = indexing.map();
  if (!indexing.IsExact() || !indexing.bindings().empty() || indexing.replica_map() != nullptr ||
      !map.affine_map().isIdentity() || map.num_symbols() > 0 || !map.constraints().empty()) {
    return false;
  }
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!(map.dims()[i].bounds == Interval::OfSize(shape.dimension(i)))) return false;
  }
  return true;
}

}  // namespace

const OperandIndexing& Path::Origin::base() {
  if (!known_base) known_base = IdentityIndexing(shape, context);
  return *known_base;
}

Path::Path(OperandIndexing base, const Shape& shape) {
  mlir::MLIRContext* context = base.map().context();
  origin_ = std::make_shared<Origin>(std::move(base), shape, context);
}

Path::Path(const Shape& shape, mlir::MLIRContext* context)
    : origin_(std::make_shared<Origin>(std::nullopt, shape, context)) {}

Path Path::OfNormalForm(OperandIndexing base, const Shape& shape) {
  Path path(std::move(base), shape);
  path.origin_->is_settled = false;
  return path;
}

bool Path::Settle() {
  std::optional<OperandIndexing>& base = origin_->known_base;
  if (!base) return !llvm::is_contained(origin_->shape.dimensions(), 0);
  if (!std::exchange(origin_->is_settled, true)) base->Simplify();
  return !base->IsKnownEmpty();
}

size_t Path::MakeHash() const {
  if (origin_->hash == 0) {
    const std::optional<OperandIndexing>& base = origin_->known_base;
    const bool is_identity = !base || IsIdentityOf(*base, origin_->shape);
    origin_->hash = is_identity ? absl::HashOf(origin_->shape.dimensions()) : absl::HashOf(*base);
  }
  if (!place_ || place_->position.indices == origin_->start.indices) return origin_->hash;
  return MixBits(origin_->hash + HashOf(indices()));
}

Path::Path(std::shared_ptr<Origin> origin, std::shared_ptr<Place> place)
    : origin_(std::move(origin)) {
  SetPlace(std::move(place));
}

Reindexed Path::Extend(const HloInstruction& instruction, int64_t operand, Direction direction,
                       PathSet* end) const {
  Origin& origin = *origin_;
  if (IsUnknown()) return Reindexed::kRefused;
  if (!origin.algebra) {
    origin.algebra.emplace();
    for (const int64_t size : origin.shape.dimensions()) {
      origin.start.indices.push_back(origin.algebra->AddVariable(size));
    }
  }
  auto moved = std::make_shared<Place>(position());
  const Reindexed reindexed =
      ApplyReindexing(instruction, operand, direction, static_cast<int>(origin.shape.rank()),
                      *origin.algebra, moved->position);
  if (reindexed != Reindexed::kMoved) return reindexed;
  end->Add(Path(origin_, std::move(moved)));
  return reindexed;
}

void Path::SetPlace(std::shared_ptr<Place> place) {
  hash_ = 0;
  const Position& position = place->position;
  if (position.indices == origin_->start.indices) {
    if (position.restrictions.empty()) place.reset();
  } else if (std::optional<Indices> indices = WithPinnedNumber(position, *origin_->algebra)) {
    place->with_pinned = std::make_unique<const Indices>(*std::move(indices));
  }
  place_ = std::move(place);
}

Path::Union Path::Unite(const Path& other) {
  if (origin_ != other.origin_) {
    const bool is_same = !place_ && !other.place_ && origin_->base() == other.origin_->base();
    return is_same ? Union::kOther : Union::kNone;
  }
  if (place_ == other.place_) return Union::kOther;
  if (indices() != other.indices()) return Union::kNone;
  Restrictions joined;
  switch (
      UnionOf(position().restrictions, other.position().restrictions, *origin_->algebra, &joined)) {
    case UnionKind::kNone:
      return Union::kNone;
    case UnionKind::kFirst:
      return Union::kThis;
    case UnionKind::kSecond:
      return Union::kOther;
    case UnionKind::kJoined:
      break;
  }
  SetPlace(std::make_shared<Place>(Position{indices(), std::move(joined)}));
  return Union::kBecome;
}

bool Path::IsFunction() const {
  const std::optional<OperandIndexing>& base = origin_->known_base;
  return !IsUnknown() && (!base || base->map().num_symbols() == 0) && !ChangesDevice() &&
         (!origin_->algebra || origin_->algebra->num_variables() == origin_->shape.rank());
}

namespace {

// The restrictions as constraints; nullopt if a number does not fit.
std::optional<Constraints> ConstraintsOf(const Restrictions& restrictions,
                                         PositionalLowering* lowering, mlir::MLIRContext* context) {
  Constraints constraints;
  for (const Restriction& restriction : restrictions) {
    const Congruence& residues = restriction.residues;
    if (restriction.interval.IsAll() && residues.IsAll()) continue;
    const mlir::AffineExpr index = lowering->Lower(restriction.index);
    if (!index) return std::nullopt;
    if (!restriction.interval.IsAll()) constraints.push_back({index, restriction.interval});
    if (residues.IsAll()) continue;
    const mlir::AffineExpr residue =
        Mod(Sub(index, Constant(residues.residue(), context)), residues.modulus());
    if (!residue) return std::nullopt;
    constraints.push_back({residue, Interval::Point(0)});
  }
  return constraints;
}

// Whether each of so many range variables is one of the results, in their order, and in no other.
bool AreResultsThemselves(size_t num_ranges, llvm::ArrayRef<mlir::AffineExpr> results) {
  size_t next = 0;
  for (const mlir::AffineExpr result : results) {
    const auto range = llvm::dyn_cast<mlir::AffineSymbolExpr>(result);
    if (range && range.getPosition() != next++) return false;
    if (range) continue;
    for (size_t i = 0; i < num_ranges; ++i) {
      if (result.isFunctionOfSymbol(i)) return false;
    }
  }
  return next == num_ranges;
}

}  // namespace

std::optional<OperandIndexing> Path::MapOfChain() const {
  mlir::MLIRContext* context = origin_->context;
  PositionalAlgebra& algebra = *origin_->algebra;
  const auto num_dims = static_cast<int>(origin_->shape.rank());
  llvm::SmallVector<Interval, 8> all;
  for (int i = 0; i < algebra.num_variables(); ++i) all.push_back(algebra.RangeOfVariable(i));
  llvm::SmallVector<Interval, 8> bounds = all;
  // Restrictions of variables are their bounds, and all others constraints.
  Restrictions restrictions;
  if (!position().restrictions.empty()) {
    restrictions = RestrictionsToWrite(position().restrictions, algebra);
  }
  bool is_simple = true;
  for (Restriction& restriction : restrictions) {
    const std::optional<int> variable = algebra.AsVariable(restriction.index);
    if (variable) {
      bounds[*variable] = bounds[*variable].Intersect(restriction.interval);
      restriction.interval = Interval::All();
      is_simple = is_simple && *variable < num_dims && !bounds[*variable].IsPoint();
    }
    is_simple = is_simple && variable && restriction.residues.IsAll();
  }
  Variables dims;
  llvm::SmallVector<mlir::AffineExpr, 4>& dim_exprs = origin_->dim_exprs;
  for (int i = static_cast<int>(dim_exprs.size()); i < num_dims; ++i) {
    dim_exprs.push_back(mlir::getAffineDimExpr(i, context));
  }
  llvm::SmallVector<mlir::AffineExpr, 8> variables(dim_exprs.begin(), dim_exprs.end());
  variables.resize(bounds.size());
  for (int i = 0; i < num_dims; ++i) dims.push_back({bounds[i], {}});
  // Free variables that the position depends on are range variables.
  Variables ranges;
  llvm::SmallVector<Interval, 8> values_of_ranges;
  if (algebra.num_variables() > num_dims) {
    for (const int variable : VariablesOf(position().indices, restrictions, algebra)) {
      if (variable < num_dims) continue;
      variables[variable] = mlir::getAffineSymbolExpr(ranges.size(), context);
      ranges.push_back({bounds[variable], {}});
      values_of_ranges.push_back(all[variable]);
    }
  }
  // The simplifier is told none of the restrictions: a form that makes use of some of them would
  // hide what all of them give together.
  all.truncate(num_dims);
  ExprSimplifier simplifier(context, all, values_of_ranges);
  PositionalLowering lowering(&algebra, &simplifier, variables);
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (const Number& index : position().indices) {
    results.push_back(lowering.Lower(index));
    if (!results.back()) return std::nullopt;
  }
  std::optional<Constraints> constraints = ConstraintsOf(restrictions, &lowering, context);
  if (!constraints) return std::nullopt;
  // A sum of variables keeps its form when the bounds of variables become narrower.
  is_simple = is_simple && AreResultsThemselves(ranges.size(), results) &&
              (restrictions.empty() ||
               llvm::all_of(results, [](mlir::AffineExpr e) { return e.isPureAffine(); }));
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), ranges.size(), results, context);
  IndexingMap map(kPartsFit, affine_map, std::move(dims), std::move(ranges), {},
                  *std::move(constraints));
  if (is_simple) return OperandIndexing::InNormalForm(std::move(map));
  OperandIndexing chain(kPartsFit, std::move(map));
  chain.Simplify();
  return chain;
}

OperandIndexing Path::Map(const Shape& here) const {
  if (!place_ || IsUnknown()) {
    Path(*this).Settle();
    return origin_->base();
  }
  mlir::MLIRContext* context = origin_->context;
  std::optional<OperandIndexing> of_chain = MapOfChain();
  OperandIndexing chain =
      of_chain ? *std::move(of_chain)
               : WholeTensorIndexing(origin_->shape, here,
                                     "whole tensor: the index expressions of a chain are too large",
                                     context);
  if (!origin_->known_base || IsIdentityOf(*origin_->known_base, origin_->shape)) return chain;
  const OperandIndexing& base = origin_->base();
  absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(base, chain);
  if (!composed.ok() && !origin_->is_settled) {
    Path(*this).Settle();
    composed = ComposeOperandIndexing(base, chain);
  }
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

Path::Union PathSet::UniteWithOne(Paths& paths, Path& path) {
  constexpr size_t kFew = 16;
  llvm::SmallVector<Path, 1>& list = paths.list;
  llvm::SmallVector<size_t, kFew> candidates;
  if (list.size() > kFew) {
    PositionsByHash& positions = paths.positions;
    while (positions.size() < list.size()) positions.Append(list[positions.size()].hash());
    const absl::Span<const size_t> found = positions.Find(path.hash());
    candidates.append(found.begin(), found.end());
  } else {
    paths.positions.Clear();
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].hash() == path.hash()) candidates.push_back(i);
    }
  }
  for (const size_t i : candidates) {
    const Path::Union both = path.Unite(list[i]);
    if (both == Path::Union::kNone) continue;
    if (both == Path::Union::kOther) return both;
    if (paths.positions.size() > 0) {
      paths.positions.RemoveWithLast(i, list[i].hash(), list.back().hash());
    }
    if (i + 1 < list.size()) list[i] = std::move(list.back());
    list.pop_back();
    return both;
  }
  return Path::Union::kNone;
}

void PathSet::Add(Path path) {
  if (!paths_) paths_.emplace(std::in_place);
  Paths& paths = paths_->Mutable();
  // A path by itself has not been settled.
  if (paths.list.size() == 1 && !paths.list.front().Settle()) paths.list.clear();
  if (paths.list.empty()) {
    paths.list.push_back(std::move(path));
    return;
  }
  if (!path.Settle()) return;
  // The greater path may unite with others.
  while (true) {
    const Path::Union both = UniteWithOne(paths, path);
    if (both == Path::Union::kOther) return;
    if (both == Path::Union::kNone) break;
  }
  paths.list.push_back(std::move(path));
}

void PathSet::Add(const PathSet& other) {
  if (empty()) {
    *this = other;
    return;
  }
  every_element_ |= other.every_element_;
  if (!paths_) {
    paths_ = other.paths_;
    return;
  }
  // x * x reaches x twice.
  if (other.paths_ && other.paths_->SharesWith(*paths_)) return;
  for (const Path& path : other.paths()) Add(path);
}

void PathSet::Extend(const HloInstruction& instruction, int64_t operand, Direction direction,
                     PathSet* moved, PathSet* refused) const {
  for (const Path& path : paths()) {
    if (path.Extend(instruction, operand, direction, moved) == Reindexed::kRefused) {
      refused->Add(path);
    }
  }
}

bool PathSet::MaySubsumeOneAnother() const {
  return llvm::any_of(paths(), [&](const Path& path) {
    return !path.HasSameOrigin(paths().front()) || !path.IsFunction();
  });
}

void PathSet::DropBesideEveryElement() {
  PathSet kept;
  kept.every_element_ = kUnconditional;
  for (const Path& path : paths()) {
    if (path.ChangesDevice() || path.IsUnknown()) kept.Add(path);
  }
  *this = std::move(kept);
}

bool PathSet::Merge(const Shape& shape, size_t enough) {
  OperandIndexingSet maps;
  for (const Path& path : paths()) maps.Add(path.Map(shape));
  maps.DropSubsumed(shape);
  if (maps.size() > enough) maps.Simplify();
  const bool are_too_many = maps.size() > enough;
  if (are_too_many) UniteGraphs(&maps);
  paths_.reset();
  for (const OperandIndexing& map : maps) Add(Path(map, shape));
  return are_too_many;
}

}  // namespace xla_indexing::internal
