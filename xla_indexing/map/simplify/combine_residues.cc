#include "xla_indexing/map/simplify/combine_residues.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/constraint_form.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// (sum - start) mod modulus in [0, width], where `sum` has no constant and start is in [0, modulus
// - 1]: an arc of the circle of residues.
struct Arc {
  LinearSum sum;
  int64_t modulus = 1;
  int64_t start = 0;
  int64_t width = 0;
};

std::optional<Arc> ArcOf(const Constraint& constraint) {
  if (constraint.expr.getKind() != mlir::AffineExprKind::Mod) return std::nullopt;
  auto mod = llvm::cast<mlir::AffineBinaryOpExpr>(constraint.expr);
  auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(mod.getRHS());
  if (!divisor || divisor.getValue() < 1) return std::nullopt;
  const int64_t n = divisor.getValue();
  const Interval residues = constraint.interval.Intersect(Interval::OfSize(n));
  if (residues.IsEmpty()) return std::nullopt;
  Arc arc{LinearSum::FromExpr(mod.getLHS()), n, 0, residues.upper() - residues.lower()};
  if (!arc.sum.valid()) return std::nullopt;
  arc.start = FloorMod(residues.lower() - FloorMod(arc.sum.constant(), n), n);
  arc.sum.RemoveConstant();
  return arc;
}

std::optional<Constraint> ConstraintOf(const Arc& arc, mlir::MLIRContext* context) {
  LinearSum dividend = arc.sum;
  dividend.Sort();
  dividend.SubtractConstant(arc.start);
  const AffineExpr expr = Mod(dividend.ToExpr(context), arc.modulus);
  if (!expr) return std::nullopt;
  return Constraint{expr, Interval::Closed(0, arc.width)};
}

// What two constraints become; none where they stay.
struct Both {
  Combined state = Combined::kNothing;
  Constraint constraint;
};

// Seen from the start of `a`, b begins at d; it may go round the circle once.
Both CombineArcs(const Arc& a, const Arc& b, mlir::MLIRContext* context) {
  if (a.modulus != b.modulus || !(a.sum == b.sum)) return {};
  const int64_t n = a.modulus;
  const int64_t d = FloorMod(b.start - a.start, n);
  const Int128 end = Int128{d} + b.width;
  const bool has_first = d <= a.width;
  const bool has_second = end >= n;
  if (has_first && has_second) return {};
  if (!has_first && !has_second) return {Combined::kUnsatisfiable, {}};
  Arc both = a;
  if (has_first) {
    both.start = static_cast<int64_t>((Int128{a.start} + d) % n);
    both.width = static_cast<int64_t>(std::min<Int128>(a.width, end)) - d;
  } else {
    both.width = std::min(a.width, static_cast<int64_t>(end - n));
  }
  const std::optional<Constraint> constraint = ConstraintOf(both, context);
  if (!constraint) return {};
  return {Combined::kSome, *constraint};
}

Both CombineFacts(const ResidueFact& a, const ResidueFact& b, mlir::MLIRContext* context) {
  if (!(a.sum == b.sum) || a.residues.IsPoint() || b.residues.IsPoint()) return {};
  const Congruence residues = a.residues.Intersect(b.residues);
  if (residues.IsEmpty()) return {Combined::kUnsatisfiable, {}};
  // Where the least common multiple of the moduli does not fit, one of the two is left over.
  if (!residues.ResidueModulo(a.residues.modulus()) ||
      !residues.ResidueModulo(b.residues.modulus())) {
    return {};
  }
  const std::optional<Constraint> constraint = ConstraintOf(ResidueFact{a.sum, residues}, context);
  if (!constraint) return {};
  return {Combined::kSome, *constraint};
}

Both Combine(const Constraint& a, const Constraint& b, mlir::MLIRContext* context) {
  const std::optional<ResidueFact> a_fact = ResidueFactOf(a);
  const std::optional<ResidueFact> b_fact = ResidueFactOf(b);
  if (a_fact && b_fact) return CombineFacts(*a_fact, *b_fact, context);
  const std::optional<Arc> a_arc = ArcOf(a);
  const std::optional<Arc> b_arc = ArcOf(b);
  if (a_arc && b_arc) return CombineArcs(*a_arc, *b_arc, context);
  return {};
}

}  // namespace

Combined CombineResidues(Constraints& constraints, mlir::MLIRContext* context) {
  if (IsOff(Engine::kCombineResidues)) return Combined::kNothing;
  const auto is_mod = [](const Constraint& constraint) {
    return constraint.expr.getKind() == mlir::AffineExprKind::Mod;
  };
  if (std::count_if(constraints.begin(), constraints.end(), is_mod) < 2) return Combined::kNothing;
  Combined all = Combined::kNothing;
  size_t kept = 0;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const Constraint constraint = constraints[i];
    bool is_part = false;
    for (size_t j = 0; j < kept && !is_part && is_mod(constraint); ++j) {
      if (!is_mod(constraints[j]) || !QuestionBudget::Spend()) continue;
      const Both both = Combine(constraints[j], constraint, context);
      if (both.state == Combined::kUnsatisfiable) return both.state;
      is_part = both.state == Combined::kSome;
      if (is_part) constraints[j] = both.constraint;
    }
    if (is_part) {
      all = Combined::kSome;
    } else {
      constraints[kept++] = constraint;
    }
  }
  constraints.truncate(kept);
  return all;
}

}  // namespace xla_indexing::internal
