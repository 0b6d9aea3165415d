// Linear sums of expressions and expressions of linear sums, which are built as all are.
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/compare.h"

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

// Summand by summand from the first one, in which most differ; a sum that ends earlier comes first.
int CompareExprs(AffineExpr a, AffineExpr b) {
  if (a == b) return 0;
  const Term first_a = FirstSummand(a);
  const Term first_b = FirstSummand(b);
  if (int c = CompareAtomExprs(first_a.atom, first_b.atom)) return c;
  if (int c = CompareValues(first_a.coefficient, first_b.coefficient)) return c;
  LinearSum sum_a = LinearSum::FromExpr(a);
  LinearSum sum_b = LinearSum::FromExpr(b);
  for (auto [term_a, term_b] : llvm::zip(sum_a.terms(), sum_b.terms())) {
    if (int c = CompareAtomExprs(term_a.atom, term_b.atom)) return c;
    if (int c = CompareValues(term_a.coefficient, term_b.coefficient)) return c;
  }
  if (int c = CompareValues(sum_a.terms().size(), sum_b.terms().size())) return c;
  return CompareValues(sum_a.constant(), sum_b.constant());
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
  if (terms_.size() < 2) return;
  // Telling the class may take a walk through the atom.
  struct Summand {
    Term term;
    SummandClass summand_class;
  };
  llvm::SmallVector<Summand, 8> summands;
  for (const Term& term : terms_) summands.push_back({term, SummandClassOf(term.atom)});
  llvm::sort(summands, [](const Summand& a, const Summand& b) {
    if (a.summand_class != b.summand_class) return a.summand_class < b.summand_class;
    return CompareWithinClass(a.term.atom, b.term.atom, a.summand_class) < 0;
  });
  for (const auto& [i, summand] : llvm::enumerate(summands)) terms_[i] = summand.term;
}

namespace {

// Whether `atom` is e floordiv -factor.
bool IsFloorDivOf(AffineExpr atom, int64_t factor) {
  if (atom.getKind() != AffineExprKind::FloorDiv) return false;
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(atom).getRHS());
  return divisor && divisor.getValue() > 0 && -divisor.getValue() == factor;
}

// Whether `e` is that summand, or a sum that ends with it.
bool EndsWith(AffineExpr e, AffineExpr summand) {
  return e == summand ||
         (e.getKind() == AffineExprKind::Add && cast<AffineBinaryOpExpr>(e).getRHS() == summand);
}

}  // namespace

AffineExpr LinearSum::ToExpr(mlir::MLIRContext* context) {
  if (!valid_ || terms_.size() > static_cast<size_t>(kMaxSummands)) return {};
  Sort();
  AffineExpr result;
  bool is_folded = false;
  for (const Term& term : terms_) {
    AffineExpr summand =
        term.coefficient == 1
            ? term.atom
            : mlir::getAffineBinaryOpExpr(AffineExprKind::Mul, term.atom,
                                          mlir::getAffineConstantExpr(term.coefficient, context));
    result = result ? mlir::getAffineBinaryOpExpr(AffineExprKind::Add, result, summand) : summand;
    // MLIR makes e mod m of e + (e floordiv m) * -m, which has another place in the sum.
    is_folded = is_folded || (term.coefficient < 0 && IsFloorDivOf(term.atom, term.coefficient) &&
                              !EndsWith(result, summand));
  }
  if (is_folded) {
    LinearSum folded = FromExpr(result);
    folded.AddConstant(constant_);
    return folded.ToExpr(context);
  }
  if (!result) return mlir::getAffineConstantExpr(constant_, context);
  if (constant_ == 0) return result;
  return mlir::getAffineBinaryOpExpr(AffineExprKind::Add, result,
                                     mlir::getAffineConstantExpr(constant_, context));
}

}  // namespace xla_indexing::internal
