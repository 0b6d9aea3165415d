#include "xla_indexing/map/sets/project.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"
#include "xla_indexing/map/sets/solve.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// part = value as constraints from which range variables of the part can be left out:
//   floor(Y/m) = value       Y - m*value in [0, m - 1]
//   X mod n = value          (X - value) mod n in [0, 0], value in [0, n - 1]
void AddPart(LinearSum part, AffineExpr value, Constraints& constraints) {
  mlir::MLIRContext* context = value.getContext();
  const AffineExpr part_expr = part.ToExpr(context);
  const bool is_negated = part.terms().size() == 1 && part.terms()[0].coefficient == -1;
  const AffineExpr atom = is_negated ? part.terms()[0].atom : part_expr;
  const AffineExpr atom_value = is_negated ? Scale(value, -1) : value;
  if (atom &&
      (atom.getKind() == AffineExprKind::FloorDiv || atom.getKind() == AffineExprKind::Mod)) {
    auto division = llvm::cast<mlir::AffineBinaryOpExpr>(atom);
    const int64_t m = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
    if (atom.getKind() == AffineExprKind::FloorDiv) {
      constraints.push_back({Sub(division.getLHS(), Scale(atom_value, m)), Interval::OfSize(m)});
    } else {
      constraints.push_back({Mod(Sub(division.getLHS(), atom_value), m), Interval::Point(0)});
      constraints.push_back({atom_value, Interval::OfSize(m)});
    }
    if (constraints.back().expr) return;
    constraints.pop_back();
  }
  constraints.push_back({Sub(part_expr, value), Interval::Point(0)});
}

// result = dim. With result = rest + g*part, where the rest has no range variables, this is
// (dim - rest) mod g = 0 and part = floor((dim - rest) / g): the greatest common factor of the
// range variables would leave gaps otherwise. False where a number does not fit.
bool AddEquation(AffineExpr result, AffineExpr dim, int num_ranges, Constraints& constraints) {
  mlir::MLIRContext* context = dim.getContext();
  const LinearSum sum = LinearSum::FromExpr(result);
  LinearSum part;
  LinearSum rest(sum.constant());
  for (const Term& term : sum.terms()) {
    bool has_range = false;
    for (int i = 0; i < num_ranges; ++i) has_range |= HasSymbol(term.atom, i);
    (has_range ? part : rest).AddTerm(term.atom, term.coefficient);
  }
  const int64_t g = part.CoefficientGcd();
  if (!sum.valid() || g == 0) {
    constraints.push_back({Sub(result, dim), Interval::Point(0)});
    return true;
  }
  part.DivideExactly(g);
  const AffineExpr offset = Sub(dim, rest.ToExpr(context));
  const AffineExpr value = FloorDiv(offset, g);
  if (g > 1) constraints.push_back({Mod(offset, g), Interval::Point(0)});
  if (!value) return false;
  AddPart(std::move(part), value, constraints);
  return true;
}

// The map of Projected, not simplified.
std::optional<IndexingMap> WithKnownAsDims(const IndexingMap& map, KnownVariables known) {
  mlir::MLIRContext* context = map.context();
  Variables dims;
  Variables ranges;
  const auto as_dims_or_ranges = [&](llvm::ArrayRef<Variable> variables, bool is_known) {
    llvm::SmallVector<AffineExpr, 8> exprs;
    for (const Variable& variable : variables) {
      Variables& list = is_known ? dims : ranges;
      exprs.push_back(is_known ? mlir::getAffineDimExpr(list.size(), context)
                               : mlir::getAffineSymbolExpr(list.size(), context));
      list.push_back(variable);
    }
    return exprs;
  };
  const llvm::SmallVector<AffineExpr, 8> dim_variables = as_dims_or_ranges(map.dims(), known.dims);
  llvm::SmallVector<AffineExpr, 8> symbol_variables = as_dims_or_ranges(map.ranges(), false);
  symbol_variables.append(as_dims_or_ranges(map.runtimes(), known.runtimes));

  return ReplaceVariables(map, std::move(dims), std::move(ranges), {}, dim_variables,
                          symbol_variables);
}

// Projects a simplified map without runtime variables.
std::optional<Projection> ProjectionOf(const IndexingMap& map) {
  mlir::MLIRContext* context = map.context();
  Variables dims(map.dims());
  if (map.IsKnownEmpty()) {
    const int num_dims = map.num_dims() + map.num_results();
    return Projection{IndexingMap::MakeEmpty(context, num_dims, 0, 0, 0),
                      llvm::SmallVector<AffineExpr, 4>(map.num_ranges(), Constant(0, context))};
  }
  const llvm::SmallVector<AffineExpr, 4> values = SolveForRanges(map);
  ExprSimplifier simplifier(context, map.DimBounds(), map.SymbolBounds());
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    constraints.push_back({Substitute(constraint.expr, {}, values), constraint.interval});
  }
  for (const AffineExpr result : map.results()) {
    const AffineExpr dim = mlir::getAffineDimExpr(dims.size(), context);
    dims.push_back({simplifier.Range(result), {}});
    const AffineExpr value = Substitute(result, {}, values);
    if (!value || !AddEquation(value, dim, map.num_ranges(), constraints)) return std::nullopt;
  }
  for (auto [value, range] : llvm::zip_equal(values, map.ranges())) {
    if (value) constraints.push_back({value, range.bounds});
  }
  if (llvm::any_of(constraints, [](const Constraint& c) { return !c.expr; })) return std::nullopt;
  const mlir::AffineMap affine_map = mlir::AffineMap::get(dims.size(), map.num_ranges(), context);
  Projection projection{IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                                    {}, std::move(constraints)),
                        values};
  projection.set.Simplify();
  return projection;
}

}  // namespace

std::optional<Projected> ProjectOntoResults(const IndexingMap& map, KnownVariables known) {
  std::optional<IndexingMap> rearranged = WithKnownAsDims(map, known);
  if (!rearranged) return std::nullopt;
  rearranged->Simplify({.keep_variables = true});
  std::optional<Projection> projection = ProjectionOf(*rearranged);
  return Projected{*std::move(rearranged), std::move(projection)};
}

}  // namespace xla_indexing::internal
