#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/expr_parser.h"
#include "xla_indexing/map/text/lexer.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/map/variable_names.h"

namespace xla_indexing {
namespace {

using internal::DefaultVariableName;
using internal::ExprParser;
using internal::IsReservedWord;
using internal::MapLexer;
using internal::MapToken;
using internal::MapTokenKind;
using internal::PieceChoices;
using internal::VariableKind;
using internal::VariableTable;
using ::mlir::AffineExpr;

// The bound on the number of variables of a kind, of results, and of constraints.
constexpr size_t kMaxListLength = 65536;

class MapParser {
 public:
  MapParser(absl::string_view text, mlir::MLIRContext* context, PieceChoices* choices,
            MapParseError* error)
      : context_(context),
        error_(error),
        lexer_(text),
        choices_(choices),
        expr_parser_(&lexer_, &variables_, context, choices, error) {}

  std::optional<IndexingMap> Parse() {
    const bool known_empty = lexer_.IsWord("KNOWN");
    if (known_empty) {
      lexer_.Advance();
      if (!ExpectWord("EMPTY")) return std::nullopt;
    }
    if (!ParseVariables() || !Expect("->")) return std::nullopt;
    if (known_empty) return ParseKnownEmpty();
    if (!ParseResults() || !ParseDomain()) return std::nullopt;
    if (!ExpectEnd()) return std::nullopt;
    for (const Constraint& condition : choices_->Conditions()) constraints_.push_back(condition);
    mlir::AffineMap affine_map =
        mlir::AffineMap::get(dims_.size(), ranges_.size() + runtimes_.size(), results_, context_);
    return IndexingMap(kPartsFit, affine_map, std::move(dims_), std::move(ranges_),
                       std::move(runtimes_), std::move(constraints_));
  }

 private:
  bool Fail(size_t at, std::string message) {
    *error_ = {at, std::move(message)};
    return false;
  }

  bool FailExpected(absl::string_view what) {
    return Fail(lexer_.token().offset,
                absl::StrCat("expected ", what, ", found ", lexer_.Describe()));
  }

  bool Expect(absl::string_view sign) {
    if (!lexer_.IsSign(sign)) return FailExpected(absl::StrCat("'", sign, "'"));
    lexer_.Advance();
    return true;
  }

  bool ExpectWord(absl::string_view word) {
    if (!lexer_.IsWord(word)) return FailExpected(absl::StrCat("'", word, "'"));
    lexer_.Advance();
    return true;
  }

  bool ExpectEnd() {
    if (lexer_.AtEnd()) return true;
    return FailExpected(names_.empty() ? "the end of the text" : "',' or the end of the text");
  }

  bool CheckLength(size_t length) {
    if (length < kMaxListLength) return true;
    return Fail(lexer_.token().offset,
                absl::StrCat("expected at most ", kMaxListLength, " in a list"));
  }

  // Elements separated by "," up to `close`; the sign that opens the list has been read.
  template <typename ParseElement>
  bool ParseList(absl::string_view close, ParseElement parse_element) {
    if (lexer_.IsSign(close)) {
      lexer_.Advance();
      return true;
    }
    for (size_t length = 0;; ++length) {
      if (!CheckLength(length) || !parse_element()) return false;
      if (lexer_.IsSign(close)) {
        lexer_.Advance();
        return true;
      }
      if (!lexer_.IsSign(",")) return FailExpected(absl::StrCat("',' or '", close, "'"));
      lexer_.Advance();
    }
  }

  bool ParseVariables() {
    if (!Expect("(") || !ParseNames(VariableKind::kDim, ")", &dims_)) return false;
    if (lexer_.IsSign("[")) {
      lexer_.Advance();
      if (!ParseNames(VariableKind::kRange, "]", &ranges_)) return false;
    }
    if (lexer_.IsSign("{")) {
      lexer_.Advance();
      if (!ParseNames(VariableKind::kRuntime, "}", &runtimes_)) return false;
    }
    return true;
  }

  bool ParseNames(VariableKind kind, absl::string_view close, Variables* variables) {
    return ParseList(close, [&] {
      const MapToken& token = lexer_.token();
      if (token.kind != MapTokenKind::kName || IsReservedWord(token.text)) {
        return FailExpected("the name of a variable");
      }
      const size_t position = variables->size();
      AffineExpr expr =
          kind == VariableKind::kDim
              ? mlir::getAffineDimExpr(position, context_)
              : mlir::getAffineSymbolExpr(ranges_.size() + runtimes_.size(), context_);
      if (!variables_.emplace(token.text, expr).second) {
        return Fail(token.offset,
                    absl::StrCat("expected a new name, ", lexer_.Describe(), " is declared twice"));
      }
      Variable variable;
      if (token.text != DefaultVariableName(kind, position)) {
        variable.name =
            mlir::StringAttr::get(context_, llvm::StringRef(token.text.data(), token.text.size()));
      }
      variables->push_back(variable);
      names_.push_back(token.text);
      lexer_.Advance();
      return true;
    });
  }

  bool ParseResults() {
    if (!Expect("(")) return false;
    return ParseList(")", [&] {
      results_.push_back(expr_parser_.Parse());
      return static_cast<bool>(results_.back());
    });
  }

  bool ParseDomain() {
    if (names_.empty()) return true;
    if (!lexer_.IsSign(",")) {
      return FailExpected(absl::StrCat("', domain:' and the interval of '", names_[0], "'"));
    }
    lexer_.Advance();
    if (!ExpectWord("domain") || !Expect(":")) return false;
    size_t next_name = 0;
    for (Variables* variables : {&dims_, &ranges_, &runtimes_}) {
      for (Variable& variable : *variables) {
        if (!ParseVariableInterval(names_[next_name++], &variable.bounds)) return false;
      }
    }
    while (lexer_.IsSign(",")) {
      lexer_.Advance();
      Constraint constraint;
      constraint.expr = expr_parser_.Parse();
      if (!constraint.expr) return false;
      if (!lexer_.IsWord("in")) return FailExpected("'in' or an operator");
      lexer_.Advance();
      if (!CheckLength(constraints_.size()) || !ParseInterval(&constraint.interval)) return false;
      constraints_.push_back(constraint);
    }
    return true;
  }

  bool ParseVariableInterval(absl::string_view name, Interval* bounds) {
    if (name != names_[0]) {
      if (!lexer_.IsSign(",")) {
        return FailExpected(absl::StrCat("',' and the interval of '", name, "'"));
      }
      lexer_.Advance();
    }
    if (!lexer_.IsWord(name)) return FailExpected(absl::StrCat("the interval of '", name, "'"));
    lexer_.Advance();
    return ExpectWord("in") && ParseInterval(bounds);
  }

  bool ParseInterval(Interval* interval) {
    Interval lower;
    Interval upper;
    if (!Expect("[") || !ParseEnd(/*is_lower=*/true, &lower) || !Expect(",") ||
        !ParseEnd(/*is_lower=*/false, &upper) || !Expect("]")) {
      return false;
    }
    *interval = lower.Intersect(upper);
    return true;
  }

  // One end, as the half line on its inner side.
  bool ParseEnd(bool is_lower, Interval* half_line) {
    const MapToken sign = lexer_.token();
    const bool negative = lexer_.IsSign("-");
    if (negative) lexer_.Advance();
    if (lexer_.IsWord("inf") && negative == is_lower) {
      lexer_.Advance();
      *half_line = Interval::All();
      return true;
    }
    if (lexer_.token().kind != MapTokenKind::kInteger) {
      return FailExpected(is_lower ? "an integer or '-inf'" : "an integer or 'inf'");
    }
    int64_t value = 0;
    const absl::string_view digits = lexer_.token().text;
    if (!absl::SimpleAtoi(absl::StrCat(negative ? "-" : "", digits), &value)) {
      return Fail(sign.offset, absl::StrCat("the number ", negative ? "-" : "", lexer_.Describe(),
                                            " does not fit int64"));
    }
    *half_line = is_lower ? Interval::AtLeast(value) : Interval::AtMost(value);
    lexer_.Advance();
    return true;
  }

  std::optional<IndexingMap> ParseKnownEmpty() {
    size_t num_results = 0;
    const MapToken& token = lexer_.token();
    if (token.kind != MapTokenKind::kInteger) {
      FailExpected("the number of results");
      return std::nullopt;
    }
    if (!absl::SimpleAtoi(token.text, &num_results) || num_results > kMaxListLength) {
      Fail(token.offset, absl::StrCat("expected at most ", kMaxListLength, " results"));
      return std::nullopt;
    }
    lexer_.Advance();
    if (!ExpectWord("results")) return std::nullopt;
    if (!lexer_.AtEnd()) {
      FailExpected("the end of the text");
      return std::nullopt;
    }
    IndexingMap map = IndexingMap::MakeEmpty(
        context_, static_cast<int>(dims_.size()), static_cast<int>(ranges_.size()),
        static_cast<int>(runtimes_.size()), static_cast<int>(num_results));
    for (int i = 0; i < map.num_dims(); ++i) map.mutable_dim(i).name = dims_[i].name;
    for (int i = 0; i < map.num_ranges(); ++i) map.mutable_range(i).name = ranges_[i].name;
    for (int i = 0; i < map.num_runtimes(); ++i) map.mutable_runtime(i).name = runtimes_[i].name;
    return map;
  }

  mlir::MLIRContext* context_;
  MapParseError* error_;
  MapLexer lexer_;
  VariableTable variables_;
  PieceChoices* choices_;
  ExprParser expr_parser_;
  llvm::SmallVector<absl::string_view, 8> names_;  // all variables, in the order of the domain
  Variables dims_;
  Variables ranges_;
  Variables runtimes_;
  llvm::SmallVector<AffineExpr, 4> results_;
  Constraints constraints_;
};

}  // namespace

absl::StatusOr<std::vector<IndexingMap>> ParseIndexingMapPieces(absl::string_view text,
                                                                mlir::MLIRContext* context,
                                                                MapParseError* error) {
  MapParseError own_error;
  MapParseError* place = error != nullptr ? error : &own_error;
  const auto failure = [&] {
    const SourcePosition position = PositionAt(text, place->offset);
    return absl::InvalidArgumentError(
        absl::StrCat(position.line, ":", position.column, ": ", place->message));
  };
  std::vector<IndexingMap> pieces;
  PieceChoices choices;
  do {
    if (pieces.size() == kMaxMapPieces) {
      *place = {0, absl::StrCat("expected at most ", kMaxMapPieces,
                                " pieces, min and max split the map into more")};
      return failure();
    }
    choices.Restart();
    std::optional<IndexingMap> piece = MapParser(text, context, &choices, place).Parse();
    if (!piece) return failure();
    pieces.push_back(*std::move(piece));
  } while (choices.NextPiece());
  return pieces;
}

absl::StatusOr<IndexingMap> ParseIndexingMap(absl::string_view text, mlir::MLIRContext* context,
                                             MapParseError* error) {
  absl::StatusOr<std::vector<IndexingMap>> pieces = ParseIndexingMapPieces(text, context, error);
  if (!pieces.ok()) return pieces.status();
  if (pieces->size() == 1) return std::move(pieces->front());
  const std::string message =
      absl::StrCat("expected one map, min and max split it into ", pieces->size(), " pieces");
  if (error != nullptr) *error = {0, message};
  return absl::InvalidArgumentError(absl::StrCat("1:1: ", message));
}

}  // namespace xla_indexing
