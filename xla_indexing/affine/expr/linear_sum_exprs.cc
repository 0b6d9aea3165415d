// Linear sums of expressions and expressions of linear sums, which are built as all are.
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/expr/write_sum.h"
#include "xla_indexing/base/compare.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineDimExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;
using ::mlir::AffineSymbolExpr;

// Dimensions come first in summand order: nearly always the first leaf is one.
bool ContainsDim(AffineExpr e) {
  AffineExpr first = e;
  while (auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(first)) first = binary.getLHS();
  return first.getKind() == AffineExprKind::DimId || !e.isSymbolicOrConstant();
}

}  // namespace

SummandClass SummandClassOf(AffineExpr atom) {
  switch (atom.getKind()) {
    case AffineExprKind::DimId:
      return SummandClass::kDim;
    case AffineExprKind::SymbolId:
      return SummandClass::kSymbol;
    case AffineExprKind::FloorDiv:
    case AffineExprKind::CeilDiv:
      return ContainsDim(atom) ? SummandClass::kDimFloorDiv : SummandClass::kFloorDiv;
    case AffineExprKind::Mod:
      return ContainsDim(atom) ? SummandClass::kDimMod : SummandClass::kMod;
    default:
      return SummandClass::kConstant;
  }
}

namespace {

int CompareExprs(AffineExpr a, AffineExpr b);

// Compares two atoms of the same class.
int CompareWithinClass(AffineExpr a, AffineExpr b, SummandClass summand_class) {
  if (a == b) return 0;
  switch (summand_class) {
    case SummandClass::kDim:
      return CompareValues(cast<AffineDimExpr>(a).getPosition(),
                           cast<AffineDimExpr>(b).getPosition());
    case SummandClass::kSymbol:
      return CompareValues(cast<AffineSymbolExpr>(a).getPosition(),
                           cast<AffineSymbolExpr>(b).getPosition());
    case SummandClass::kConstant:
      return 0;  // constants are compared as such, and no other atom is of this class
    default: {
      auto binary_a = cast<AffineBinaryOpExpr>(a);
      auto binary_b = cast<AffineBinaryOpExpr>(b);
      if (int c = CompareExprs(binary_a.getLHS(), binary_b.getLHS())) return c;
      if (int c = CompareExprs(binary_a.getRHS(), binary_b.getRHS())) return c;
      return CompareValues(a.getKind(), b.getKind());
    }
  }
}

int CompareAtomExprs(AffineExpr a, AffineExpr b) {
  if (a == b) return 0;
  const SummandClass class_a = SummandClassOf(a);
  const SummandClass class_b = SummandClassOf(b);
  return class_a != class_b ? CompareValues(class_a, class_b) : CompareWithinClass(a, b, class_a);
}

// The first summand as it stands.
Term FirstSummand(AffineExpr e) {
  while (e.getKind() == AffineExprKind::Add) e = cast<AffineBinaryOpExpr>(e).getLHS();
  if (e.getKind() != AffineExprKind::Mul) return {e, 1};
  auto product = cast<AffineBinaryOpExpr>(e);
  auto factor = llvm::dyn_cast<AffineConstantExpr>(product.getRHS());
  return factor ? Term{product.getLHS(), factor.getValue()} : Term{e, 1};
}

// Compares two expressions as sums. Most differ in their first summands, which are compared first.
int CompareExprs(AffineExpr a, AffineExpr b) {
  if (a == b) return 0;
  const Term first_a = FirstSummand(a);
  const Term first_b = FirstSummand(b);
  if (int c = CompareAtomExprs(first_a.atom, first_b.atom)) return c;
  if (int c = CompareValues(first_a.coefficient, first_b.coefficient)) return c;
  return CompareSums(LinearSum::FromExpr(a), LinearSum::FromExpr(b), CompareAtomExprs);
}

}  // namespace

bool SummandLess(AffineExpr a, AffineExpr b) {
  if (a.getKind() == AffineExprKind::DimId && b.getKind() == AffineExprKind::DimId) {
    return cast<AffineDimExpr>(a).getPosition() < cast<AffineDimExpr>(b).getPosition();
  }
  bool is_sum = a.getKind() == AffineExprKind::Add || a.getKind() == AffineExprKind::Mul ||
                b.getKind() == AffineExprKind::Add || b.getKind() == AffineExprKind::Mul;
  return (is_sum ? CompareExprs(a, b) : CompareAtomExprs(a, b)) < 0;
}

LinearSum LinearSum::Of(AffineExpr atom, int64_t coefficient) {
  LinearSum sum;
  sum.AddTerm(atom, coefficient);
  return sum;
}

LinearSum LinearSum::Invalid() {
  LinearSum sum;
  sum.valid_ = false;
  return sum;
}

LinearSum LinearSum::FromExpr(AffineExpr e) {
  LinearSum sum;
  llvm::SmallVector<std::pair<AffineExpr, int64_t>, 8> stack = {{e, 1}};
  while (!stack.empty()) {
    auto [expr, factor] = stack.pop_back_val();
    switch (expr.getKind()) {
      case AffineExprKind::Constant: {
        int64_t product;
        if (__builtin_mul_overflow(cast<AffineConstantExpr>(expr).getValue(), factor, &product)) {
          sum.valid_ = false;
          break;
        }
        sum.AddConstant(product);
        break;
      }
      case AffineExprKind::Add: {
        auto binary = cast<AffineBinaryOpExpr>(expr);
        stack.push_back({binary.getRHS(), factor});  // the left side is visited first
        stack.push_back({binary.getLHS(), factor});
        break;
      }
      case AffineExprKind::Mul: {
        auto binary = cast<AffineBinaryOpExpr>(expr);
        AffineExpr lhs = binary.getLHS();
        AffineExpr rhs = binary.getRHS();
        if (lhs.getKind() == AffineExprKind::Constant) std::swap(lhs, rhs);
        int64_t product;
        if (rhs.getKind() != AffineExprKind::Constant ||
            __builtin_mul_overflow(cast<AffineConstantExpr>(rhs).getValue(), factor, &product)) {
          sum.valid_ = false;
          break;
        }
        if (product != 0) stack.push_back({lhs, product});
        break;
      }
      case AffineExprKind::CeilDiv:
        sum.valid_ = false;
        break;
      default:
        sum.AddTerm(expr, factor);
        break;
    }
  }
  return sum;
}

void LinearSum::Sort() {
  SortBy([](AffineExpr a, AffineExpr b) { return CompareAtomExprs(a, b) < 0; });
}

namespace {

// Whether the term is (e floordiv m) * -m.
bool IsPartOfMod(const Term& term) {
  if (term.coefficient >= 0 || term.atom.getKind() != AffineExprKind::FloorDiv) return false;
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(term.atom).getRHS());
  return divisor && divisor.getValue() > 0 && -divisor.getValue() == term.coefficient;
}

}  // namespace

AffineExpr LinearSum::ToExpr(mlir::MLIRContext* context) {
  Sort();
  const AffineExpr result = WriteSum(*this, context, [](AffineExpr atom) { return atom; });
  if (!result || llvm::none_of(terms_, IsPartOfMod)) return result;
  // MLIR turns e + (e floordiv m) * -m into e mod m, which has another place in the sum.
  LinearSum written = FromExpr(result);
  return written.terms().size() == terms_.size() ? result : written.ToExpr(context);
}

}  // namespace xla_indexing::internal
