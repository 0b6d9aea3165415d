// The part of the map parser that reads sums; map/text/text.h has the grammar.

#ifndef XLA_INDEXING_MAP_TEXT_EXPR_PARSER_H_
#define XLA_INDEXING_MAP_TEXT_EXPR_PARSER_H_

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/lexer.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {

// Declared names, as views of the text, and the expressions they stand for.
using VariableTable = absl::flat_hash_map<absl::string_view, mlir::AffineExpr>;

// The pieces that min and max split a map into. Each min(a, b) or max(a, b) divides the points into
// those with b - a >= 0 and those with b - a <= -1, and a piece is one such choice for every
// difference, in the order in which they occur in the text. Which differences occur may depend on
// the choices before. NextPiece() goes through all pieces:
//
//   PieceChoices choices;
//   do {
//     choices.Restart();
//     .. read the text, and ask choices.IsNegative(difference) at every min and max
//   } while (choices.NextPiece());
class PieceChoices {
 public:
  void Restart() { differences_.clear(); }

  // Whether this piece has the points with a negative difference.
  bool IsNegative(mlir::AffineExpr difference);

  // The constraints that describe the points of this piece, one for each difference asked about.
  Constraints Conditions() const;

  // Goes on to the next piece; false where this one is the last.
  bool NextPiece();

 private:
  llvm::SmallVector<mlir::AffineExpr, 4> differences_;  // that were asked for
  llvm::SmallVector<bool, 4> is_negative_;              // chosen, of as many at least
};

class ExprParser {
 public:
  // Keeps the pointers. Reads from `lexer`, and stops at the first token that is not part of the
  // sum. `choices` decide which operand of a min or max is read as its value.
  ExprParser(MapLexer* lexer, const VariableTable* variables, mlir::MLIRContext* context,
             PieceChoices* choices, MapParseError* error)
      : lexer_(lexer), variables_(variables), context_(context), choices_(choices), error_(error) {}

  // Reads the next sum; null after an error, which is then in `error`.
  mlir::AffineExpr Parse();

 private:
  // The value sum * multiplier, a constant c being LinearSum(1) * c. The multiplier stays apart
  // until the value is used, because a literal 2^63 is in range behind a minus sign and only there.
  struct Value {
    LinearSum sum;
    Int128 multiplier = 1;
    // Levels of parentheses, those directly around a division not counted: the printer writes these
    // around every division in a product, so that they say nothing about nesting.
    int nesting = 0;
    bool is_bare_division = false;
  };

  bool ParseSum(Value* value);
  bool ParseTerm(Value* value);
  bool ParseFactor(Value* value);
  bool ParseLiteral(Value* value);
  bool ParseVariable(Value* value);
  bool ParseParentheses(Value* value);
  bool ParseMinOrMax(Value* value);

  // *value becomes *value * other, or *value divided by other as `word` says. `at` is the place of
  // the operator, `other_at` of the second operand.
  bool Multiply(size_t at, const Value& other, Value* value);
  bool Divide(absl::string_view word, size_t at, size_t other_at, const Value& other, Value* value);

  // sum += value.
  bool AddTo(size_t at, const Value& value, LinearSum* sum);
  mlir::AffineExpr ToExpr(size_t at, const Value& value);
  bool CountTerm(size_t at);

  bool Fail(size_t at, std::string message);
  bool FailOverflow(size_t at);
  bool FailNesting(size_t at);

  MapLexer* lexer_;
  const VariableTable* variables_;
  mlir::MLIRContext* context_;
  PieceChoices* choices_;
  MapParseError* error_;
  int terms_ = 0;             // of the expression being read
  int open_parentheses_ = 0;  // bounds the recursion
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_TEXT_EXPR_PARSER_H_
