#include "xla_indexing/map/text/affine_text.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::llvm::dyn_cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// How tightly the surroundings bind: below a product or a division, whatever is not a leaf takes
// parentheses.
enum class Surroundings { kSum, kProduct };

uint64_t UnsignedMagnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

const char* SpellingOf(AffineExprKind kind) {
  switch (kind) {
    case AffineExprKind::Add:
      return " + ";
    case AffineExprKind::Mul:
      return " * ";
    case AffineExprKind::FloorDiv:
      return " floordiv ";
    case AffineExprKind::CeilDiv:
      return " ceildiv ";
    default:
      return " mod ";
  }
}

// A sum of thousands of summands is as deep as it is long, so what is still to be written is kept
// on a stack of pieces instead of the call stack.
class Printer {
 public:
  Printer(llvm::ArrayRef<std::string> dim_names, llvm::ArrayRef<std::string> symbol_names,
          std::string* out)
      : dim_names_(dim_names), symbol_names_(symbol_names), out_(out) {}

  void Print(AffineExpr expr) {
    PushExpr(expr, Surroundings::kSum);
    while (!pieces_.empty()) {
      const Piece piece = pieces_.pop_back_val();
      if (piece.expr) {
        Expand(piece.expr, piece.surroundings);
      } else if (piece.text != nullptr) {
        out_->append(piece.text);
      } else {
        absl::StrAppend(out_, piece.number);
      }
    }
  }

 private:
  // An expression, a piece of text or a number.
  struct Piece {
    AffineExpr expr;
    const char* text = nullptr;
    uint64_t number = 0;
    Surroundings surroundings = Surroundings::kSum;
  };

  void PushExpr(AffineExpr expr, Surroundings surroundings) {
    pieces_.push_back({expr, nullptr, 0, surroundings});
  }
  void PushText(const char* text) { pieces_.push_back({{}, text, 0, Surroundings::kSum}); }
  void PushNumber(uint64_t number) { pieces_.push_back({{}, nullptr, number, Surroundings::kSum}); }

  void AppendName(llvm::ArrayRef<std::string> names, unsigned position, char prefix) {
    if (position < names.size()) {
      out_->append(names[position]);
    } else {
      out_->push_back(prefix);
      absl::StrAppend(out_, position);
    }
  }

  // Writes a leaf; pushes the pieces of anything else, the last one first.
  void Expand(AffineExpr expr, Surroundings surroundings) {
    switch (expr.getKind()) {
      case AffineExprKind::Constant:
        absl::StrAppend(out_, cast<AffineConstantExpr>(expr).getValue());
        return;
      case AffineExprKind::DimId:
        AppendName(dim_names_, cast<mlir::AffineDimExpr>(expr).getPosition(), 'd');
        return;
      case AffineExprKind::SymbolId:
        AppendName(symbol_names_, cast<mlir::AffineSymbolExpr>(expr).getPosition(), 's');
        return;
      default:
        break;
    }
    if (surroundings == Surroundings::kProduct) {
      out_->push_back('(');
      PushText(")");
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (expr.getKind() == AffineExprKind::Add) {
      ExpandSum(binary);
    } else {
      ExpandProduct(binary);
    }
  }

  void ExpandProduct(AffineBinaryOpExpr product) {
    auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (product.getKind() == AffineExprKind::Mul && constant && constant.getValue() == -1) {
      PushExpr(product.getLHS(), Surroundings::kProduct);
      PushText("-");
      return;
    }
    PushExpr(product.getRHS(), Surroundings::kProduct);
    PushText(SpellingOf(product.getKind()));
    PushExpr(product.getLHS(), Surroundings::kProduct);
  }

  void ExpandSum(AffineBinaryOpExpr sum) {
    AffineExpr rhs = sum.getRHS();
    if (auto constant = dyn_cast<AffineConstantExpr>(rhs); constant && constant.getValue() < 0) {
      PushNumber(UnsignedMagnitude(constant.getValue()));
      PushText(" - ");
    } else if (const int64_t factor = NegativeFactorOf(rhs); factor < 0) {
      AffineExpr factored = cast<AffineBinaryOpExpr>(rhs).getLHS();
      if (factor == -1) {
        // `a - d0 floordiv 2` needs no parentheses, `a - (d0 + 1)` does.
        const bool is_sum = factored.getKind() == AffineExprKind::Add;
        PushExpr(factored, is_sum ? Surroundings::kProduct : Surroundings::kSum);
      } else {
        PushNumber(UnsignedMagnitude(factor));
        PushText(" * ");
        PushExpr(factored, Surroundings::kProduct);
      }
      PushText(" - ");
    } else {
      PushExpr(rhs, Surroundings::kSum);
      PushText(" + ");
    }
    PushExpr(sum.getLHS(), Surroundings::kSum);
  }

  // c for a product e * c with a constant c < 0; otherwise 0.
  static int64_t NegativeFactorOf(AffineExpr expr) {
    if (expr.getKind() != AffineExprKind::Mul) return 0;
    auto constant = dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(expr).getRHS());
    return constant && constant.getValue() < 0 ? constant.getValue() : 0;
  }

  llvm::ArrayRef<std::string> dim_names_;
  llvm::ArrayRef<std::string> symbol_names_;
  std::string* out_;
  llvm::SmallVector<Piece, 16> pieces_;
};

}  // namespace

void AppendAffineExpr(AffineExpr expr, llvm::ArrayRef<std::string> dim_names,
                      llvm::ArrayRef<std::string> symbol_names, std::string* out) {
  Printer(dim_names, symbol_names, out).Print(expr);
}

}  // namespace xla_indexing::internal
