#include "xla_indexing/map/union/piece.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/map/expr/constraint_form.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

Piece::Piece(const IndexingMap& map)
    : context(map.context()),
      num_dims(map.num_dims()),
      num_ranges(map.num_ranges()),
      num_symbols(map.num_symbols()),
      results(map.results()) {
  for (const xla_indexing::Variable& dim : map.dims()) {
    atoms.push_back(
        {Variable(static_cast<int>(atoms.size())), Progression::Of(dim.bounds, Congruence::All())});
  }
  for (const xla_indexing::Variable& symbol : map.symbols()) {
    atoms.push_back({Variable(static_cast<int>(atoms.size())),
                     Progression::Of(symbol.bounds, Congruence::All())});
  }
  for (const Constraint& constraint : map.constraints()) {
    const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
    const AffineExpr sum = fact ? LinearSum(fact->sum).ToExpr(context) : AffineExpr();
    if (sum) {
      Restrict(sum, {Interval::All(), fact->residues});
    } else {
      Restrict(constraint.expr, {constraint.interval, Congruence::All()});
    }
  }
}

AffineExpr Piece::Variable(int i) const {
  return i < num_dims ? mlir::getAffineDimExpr(i, context)
                      : mlir::getAffineSymbolExpr(i - num_dims, context);
}

void Piece::Restrict(AffineExpr expr, const Progression& values) {
  for (PieceAtom& atom : atoms) {
    if (atom.expr != expr) continue;
    const Progression both = atom.values.Intersect(values);
    // Two classes whose common one does not fit are two atoms.
    if (!both.residues.IsSubsetOf(values.residues)) continue;
    atom.values = both;
    return;
  }
  atoms.push_back({expr, values});
}

bool Piece::AppendConstraints(Constraints* constraints) const {
  for (int i = 0; i < static_cast<int>(atoms.size()); ++i) {
    const auto& [expr, values] = atoms[i];
    if (i >= num_variables() && values.interval != Interval::All()) {
      constraints->push_back({expr, values.interval});
    }
    const Congruence& residues = values.residues;
    if (residues.IsAll() || residues.IsPoint() || residues.IsEmpty()) continue;
    LinearSum sum = LinearSum::FromExpr(expr);
    const Congruence rest = residues.Add(Congruence::Point(sum.constant()).Mul(-1));
    sum.RemoveConstant();
    const std::optional<Constraint> constraint = ConstraintOf({std::move(sum), rest}, context);
    if (!constraint || rest.IsAll()) return false;
    constraints->push_back(*constraint);
  }
  return true;
}

std::optional<IndexingMap> Piece::ToMap(const IndexingMap& like) const {
  Variables variables[] = {Variables(like.dims()), Variables(like.ranges()),
                           Variables(like.runtimes())};
  int next = 0;
  for (Variables& each : variables) {
    for (xla_indexing::Variable& variable : each) variable.bounds = atoms[next++].values.interval;
  }
  Constraints constraints;
  if (!AppendConstraints(&constraints)) return std::nullopt;
  return IndexingMap(kPartsFit, mlir::AffineMap::get(num_dims, num_symbols, results, context),
                     std::move(variables[0]), std::move(variables[1]), std::move(variables[2]),
                     std::move(constraints));
}

std::optional<llvm::SmallVector<Progression, 4>> Outside(const Progression& all,
                                                         const Progression& part) {
  constexpr int64_t kMaxClasses = 8;
  if (part.IsEmpty()) return llvm::SmallVector<Progression, 4>{all};
  llvm::SmallVector<Progression, 4> outside;
  const auto add = [&](const Progression& values) {
    if (!values.IsEmpty()) outside.push_back(values);
  };
  if (part.interval.has_lower()) {
    add(Progression::Of(all.interval.Intersect(Interval::AtMost(part.interval.lower()).Sub(1)),
                        all.residues));
  }
  if (part.interval.has_upper()) {
    add(Progression::Of(all.interval.Intersect(Interval::AtLeast(part.interval.upper()).Add(1)),
                        all.residues));
  }
  if (part.interval.IsPoint() || all.residues.IsSubsetOf(part.residues)) return outside;
  const int64_t step = all.stride();
  if (step < 1 || part.stride() % step != 0 || part.stride() / step > kMaxClasses) {
    return std::nullopt;
  }
  for (int64_t i = 1; i < part.stride() / step; ++i) {
    add(Progression::Of(part.interval, part.residues.Add(i * step)));
  }
  return outside;
}

}  // namespace xla_indexing::internal
