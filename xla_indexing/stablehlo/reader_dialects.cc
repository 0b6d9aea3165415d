#include "xla_indexing/stablehlo/reader_dialects.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace xla_indexing::internal {
namespace {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OperationState;
using mlir::OptionalParseResult;
using mlir::ParseResult;
using mlir::succeeded;
using mlir::success;
using Argument = OpAsmParser::Argument;
using Operand = OpAsmParser::UnresolvedOperand;

// What the generic form calls a clause of the pretty form.
struct Clause {
  StringRef op;
  StringRef word;
  StringRef attribute;
};
constexpr Clause kClauses[] = {
    {"broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"concatenate", "dim", "dimension"},
    {"convolution", "dim_numbers", "dimension_numbers"},
    {"convolution", "lhs_dilate", "lhs_dilation"},
    {"convolution", "pad", "padding"},
    {"convolution", "reverse", "window_reversal"},
    {"convolution", "rhs_dilate", "rhs_dilation"},
    {"convolution", "stride", "window_strides"},
    {"dot", "precision", "precision_config"},
    {"dot_general", "precision", "precision_config"},
    {"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"dynamic_iota", "dim", "iota_dimension"},
    {"dynamic_slice", "sizes", "slice_sizes"},
    {"einsum", "config", "einsum_config"},
    {"fft", "length", "fft_length"},
    {"fft", "type", "fft_type"},
    {"get_dimension_size", "dim", "dimension"},
    {"iota", "dim", "iota_dimension"},
    {"pad", "high", "edge_padding_high"},
    {"pad", "interior", "interior_padding"},
    {"pad", "low", "edge_padding_low"},
    {"reverse", "dims", "dimensions"},
    {"rng", "distribution", "rng_distribution"},
    {"rng_bit_generator", "algorithm", "rng_algorithm"},
    {"set_dimension_size", "dim", "dimension"},
    {"transpose", "dims", "permutation"},
    {"unary_einsum", "config", "einsum_config"},
};

// Reads the rest of one operation, after its name.
class ReaderOpParser {
 public:
  ReaderOpParser(OpAsmParser& parser, OperationState& state)
      : p_(parser), state_(state), op_(state.name.stripDialect()) {}

  ParseResult Parse() {
    if (op_ == "constant") return ParseConstant();
    if (op_ == "while") return ParseWhile();
    if (op_ == "reduce") return ParseReduce();
    if (op_ == "scan") return ParseScan();
    return ParseAny();
  }

 private:
  void Set(StringRef name, mlir::Attribute value) { state_.attributes.set(name, value); }
  void SetText(StringRef name, const llvm::Twine& text) {
    Set(name, p_.getBuilder().getStringAttr(text));
  }

  // The next character, before anything of it is read.
  char Next() { return *p_.getCurrentLocation().getPointer(); }

  ParseResult SkipToken() {
    StringRef word;
    std::string text;
    int64_t number = 0;
    mlir::Attribute attribute;
    if (succeeded(p_.parseOptionalComma()) || succeeded(p_.parseOptionalKeyword(&word)) ||
        succeeded(p_.parseOptionalString(&text)) || succeeded(p_.parseOptionalEqual()) ||
        succeeded(p_.parseOptionalColon()) || succeeded(p_.parseOptionalArrow()) ||
        succeeded(p_.parseOptionalQuestion())) {
      return success();
    }
    OptionalParseResult result = p_.parseOptionalInteger(number);
    if (!result.has_value()) result = p_.parseOptionalAttribute(attribute);
    if (result.has_value()) return *result;
    return p_.emitError(p_.getCurrentLocation(), "a value was expected");
  }

  // The text of one value: a token, or all up to the bracket that closes the first.
  ParseResult ReadText(StringRef* text) {
    const char* begin = p_.getCurrentLocation().getPointer();
    int depth = 0;
    do {
      if (succeeded(p_.parseOptionalLSquare()) || succeeded(p_.parseOptionalLBrace()) ||
          succeeded(p_.parseOptionalLess()) || succeeded(p_.parseOptionalLParen())) {
        ++depth;
      } else if (depth > 0 &&
                 (succeeded(p_.parseOptionalRSquare()) || succeeded(p_.parseOptionalRBrace()) ||
                  succeeded(p_.parseOptionalGreater()) || succeeded(p_.parseOptionalRParen()))) {
        --depth;
      } else if (SkipToken()) {
        return failure();
      }
    } while (depth > 0);
    const char* end = p_.getCurrentLocation().getPointer();
    *text = StringRef(begin, end - begin).trim();
    return success();
  }

  // `[0] x [1]`.
  ParseResult ReadPair(StringRef* first, StringRef* second) {
    if (ReadText(first) || p_.parseKeyword("x")) return failure();
    return ReadText(second);
  }

  // `[1:5, 0:8:2]`.
  ParseResult ReadSlice() {
    SmallVector<int64_t> starts, limits, strides;
    const auto read = [&]() -> ParseResult {
      int64_t start = 0, limit = 0, stride = 1;
      if (p_.parseInteger(start) || p_.parseColon() || p_.parseInteger(limit)) return failure();
      if (succeeded(p_.parseOptionalColon()) && p_.parseInteger(stride)) return failure();
      starts.push_back(start);
      limits.push_back(limit);
      strides.push_back(stride);
      return success();
    };
    if (p_.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, read)) return failure();
    Set("start_indices", p_.getBuilder().getDenseI64ArrayAttr(starts));
    Set("limit_indices", p_.getBuilder().getDenseI64ArrayAttr(limits));
    Set("strides", p_.getBuilder().getDenseI64ArrayAttr(strides));
    return success();
  }

  // `{stride = [1, 1], pad = [[0, 0], [0, 0]], ..}`.
  ParseResult ReadWindow() {
    return p_.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, [&]() -> ParseResult {
      StringRef word;
      return ParseResult(failure(p_.parseKeyword(&word) || p_.parseEqual() || ReadClause(word)));
    });
  }

  // What follows `word =`.
  ParseResult ReadClause(StringRef word) {
    StringRef text, second;
    if (op_ == "convolution" && word == "window") return ReadWindow();
    if (op_ == "dot_general" && (word == "batching_dims" || word == "contracting_dims")) {
      if (ReadPair(&text, &second)) return failure();
      const std::string kind = word.drop_back(strlen("_dims")).str();
      SetText("lhs_" + kind + "_dimensions", text);
      SetText("rhs_" + kind + "_dimensions", second);
      return success();
    }
    if (op_ == "convolution" && word == "dim_numbers") {
      // [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
      const char* begin = p_.getCurrentLocation().getPointer();
      if (ReadPair(&text, &second) || p_.parseArrow() || ReadText(&text)) return failure();
      text = StringRef(begin, text.end() - begin);
    } else if (ReadText(&text)) {
      return failure();
    }
    if (op_ == "reduce_precision" && word == "format" && text.consume_front("e")) {
      // e5m10
      const auto [exponent, mantissa] = text.split('m');
      SetText("exponent_bits", exponent);
      SetText("mantissa_bits", mantissa);
      return success();
    }
    const auto* clause =
        llvm::find_if(kClauses, [&](const Clause& c) { return c.op == op_ && c.word == word; });
    SetText(clause == std::end(kClauses) ? word : clause->attribute, text);
    return success();
  }

  ParseResult ReadAttributes() {
    mlir::NamedAttrList attributes;
    if (p_.parseOptionalAttrDict(attributes)) return failure();
    for (const mlir::NamedAttribute& attribute : attributes) {
      Set(attribute.getName(), attribute.getValue());
    }
    return success();
  }

  // `: T`, `: T, U`, `: (T, U) -> V` or `: T, U -> V`. What one type alone stands for is the
  // operation's: it is that of all operands and of the result, but for a few.
  ParseResult ReadTypes(ArrayRef<Operand> operands) {
    const auto at = p_.getCurrentLocation();
    if (failed(p_.parseOptionalColon())) {
      return operands.empty() ? ParseResult(success())
                              : ParseResult(p_.emitError(at, "types were expected"));
    }
    SmallVector<mlir::Type> types;
    if (p_.parseTypeList(types)) return failure();
    if (succeeded(p_.parseOptionalArrow())) {
      SmallVector<mlir::Type> results;
      const bool is_list = succeeded(p_.parseOptionalLParen());
      if (p_.parseTypeList(results) || (is_list && p_.parseRParen())) return failure();
      state_.addTypes(results);
    } else if (auto function = mlir::dyn_cast<mlir::FunctionType>(types.front())) {
      state_.addTypes(function.getResults());
      types.assign(function.getInputs().begin(), function.getInputs().end());
    } else if (op_ == "select" && types.size() == 2 && operands.size() == 3) {
      state_.addTypes(types[1]);
      types.push_back(types[1]);
    } else if (op_ != "return") {
      state_.addTypes(types);
      auto tuple = mlir::dyn_cast<mlir::TupleType>(types.front());
      if (op_ == "tuple" && tuple) {
        types.assign(tuple.begin(), tuple.end());
      } else if (types.size() == 1) {
        types.resize(operands.size(), types.front());
        auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(state_.types.front());
        auto complex = mlir::dyn_cast_or_null<mlir::ComplexType>(tensor ? tensor.getElementType()
                                                                        : mlir::Type());
        if (op_ == "complex" && complex) {
          types.assign(operands.size(), tensor.clone(complex.getElementType()));
        }
      }
    }
    return p_.resolveOperands(operands, types, at, state_.operands);
  }

  // Reads one item of a list: an operand, a word, `word = value`, and of Shardy axes or a sharding
  // without a word. Reads nothing if none of these comes next.
  OptionalParseResult ReadOptionalItem(SmallVector<Operand>* operands) {
    Operand operand;
    StringRef word;
    if (const OptionalParseResult result = p_.parseOptionalOperand(operand); result.has_value()) {
      if (*result) return ParseResult(failure());
      operands->push_back(operand);
      if (op_ == "slice") return ReadSlice();
      int64_t index = 0;
      if (op_ == "get_tuple_element" && succeeded(p_.parseOptionalLSquare())) {
        if (p_.parseInteger(index) || p_.parseRSquare()) return ParseResult(failure());
        SetText("index", llvm::Twine(index));
      }
      return ParseResult(success());
    }
    // The location of what has no operands and no types.
    if (std::strncmp(p_.getCurrentLocation().getPointer(), "loc(", 4) == 0) return std::nullopt;
    if (succeeded(p_.parseOptionalKeyword(&word))) {
      if (succeeded(p_.parseOptionalEqual())) return ReadClause(word);
      // compare LT, %a, %b, FLOAT
      SetText(words_++ == 0 ? "comparison_direction" : "compare_type", word);
      return ParseResult(success());
    }
    if (is_shardy_ && Next() == '[') return ReadClause("axes");
    if (is_shardy_ && Next() == '{' && operands->empty()) return ReadClause("axes");
    if (is_shardy_ && Next() == '<') return ReadClause("sharding");
    return std::nullopt;
  }

  ParseResult ReadItem(SmallVector<Operand>* operands) {
    const OptionalParseResult result = ReadOptionalItem(operands);
    if (result.has_value()) return *result;
    return p_.emitError(p_.getCurrentLocation(), "an operand or a word was expected");
  }

  ParseResult ParseAny() {
    SmallVector<Operand> operands;
    mlir::StringAttr symbol;
    std::string name;
    if (succeeded(p_.parseOptionalSymbolName(symbol))) {
      Set(op_ == "mesh" ? "sym_name" : "call_target_name", symbol);
      // @mesh = <["x"=8]> {..}
      if (op_ == "mesh") return failure(p_.parseEqual() || ReadClause("mesh") || ReadAttributes());
    } else {
      (void)p_.parseOptionalString(&name);  // Of a composite.
    }
    // named_computation<"name">
    if (is_shardy_ && Next() == '<' && ReadClause("name")) return failure();
    const bool is_list = Next() == '(';
    const auto read = [&] { return ReadItem(&operands); };
    if (p_.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen, read)) return failure();
    OptionalParseResult item;
    // An operand behind a list is of the next operation.
    if (!is_list || Next() != '%') item = ReadOptionalItem(&operands);
    while (item.has_value() && succeeded(*item)) {
      if (succeeded(p_.parseOptionalComma())) {
        item = ReadItem(&operands);
      } else if (is_shardy_) {
        item = ReadOptionalItem(&operands);
      } else {
        break;
      }
    }
    if (item.has_value() && *item) return failure();
    if (op_ == "manual_computation" || op_ == "named_computation") {
      SmallVector<Argument> arguments;
      if (p_.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
          p_.parseRegion(*state_.addRegion(), arguments)) {
        return failure();
      }
    }
    if (ReadAttributes()) return failure();
    return ReadTypes(operands);
  }

  ParseResult ParseConstant() {
    // `() <{value = dense<1> : tensor<2xi8>}> : () -> T`, where the value is what T is stored as.
    if (Next() == '(') return p_.parseGenericOperationAfterOpName(state_);
    mlir::TypedAttr value;
    if (ReadAttributes() || p_.parseAttribute(value, "value", state_.attributes)) return failure();
    state_.addTypes(value.getType());
    return success();
  }

  // (%iterArg = %c, ..) : T, .. attributes {..} cond {..} do {..}
  ParseResult ParseWhile() {
    SmallVector<Argument> arguments;
    SmallVector<Operand> initial;
    SmallVector<mlir::Type> types;
    const auto at = p_.getCurrentLocation();
    if (p_.parseAssignmentList(arguments, initial) ||
        (!initial.empty() && p_.parseColonTypeList(types)) ||
        p_.resolveOperands(initial, types, at, state_.operands)) {
      return failure();
    }
    for (const auto& [argument, type] : llvm::zip_equal(arguments, types)) argument.type = type;
    state_.addTypes(types);
    return failure(p_.parseOptionalAttrDictWithKeyword(state_.attributes) ||
                   p_.parseKeyword("cond") || p_.parseRegion(*state_.addRegion(), arguments) ||
                   p_.parseKeyword("do") || p_.parseRegion(*state_.addRegion(), arguments));
  }

  // The region of a reduction that is written `applies stablehlo.add`.
  void AddReducer(StringRef applied) {
    const mlir::Location at = state_.location;
    const mlir::Type type = state_.operands.back().getType();
    mlir::OpBuilder builder(p_.getContext());
    mlir::Block* block = builder.createBlock(state_.addRegion(), {}, {type, type}, {at, at});
    mlir::Operation* result =
        builder.create(at, builder.getStringAttr(applied), block->getArguments(), type);
    builder.create(at, builder.getStringAttr("stablehlo.return"), result->getResults());
  }

  // (%a init: %b), .. applies OP across dimensions = [..] : types, or
  // (%a init: %b), .. across dimensions = [..] : types reducer(%x: T, %y: T) .. {..}
  ParseResult ParseReduce() {
    SmallVector<Operand> operands, initial;
    do {
      if (p_.parseLParen() || p_.parseOperand(operands.emplace_back()) || p_.parseKeyword("init") ||
          p_.parseColon() || p_.parseOperand(initial.emplace_back()) || p_.parseRParen()) {
        return failure();
      }
    } while (succeeded(p_.parseOptionalComma()));
    operands.append(initial.begin(), initial.end());
    StringRef applied, dimensions;
    if (succeeded(p_.parseOptionalKeyword("applies"))) {
      const llvm::SMLoc at = p_.getCurrentLocation();
      if (p_.parseKeyword(&applied)) return failure();
      // Operations that the context knows have more than operands, which is not written here.
      if (mlir::RegisteredOperationName::lookup(applied, p_.getContext())) {
        return p_.emitError(at) << "a reduction cannot apply '" << applied << "'";
      }
    }
    if (p_.parseKeyword("across") || p_.parseKeyword("dimensions") || p_.parseEqual() ||
        ReadText(&dimensions) || ReadAttributes() || ReadTypes(operands)) {
      return failure();
    }
    SetText("dimensions", dimensions);
    if (!applied.empty()) {
      AddReducer(applied);
      return success();
    }
    if (p_.parseKeyword("reducer")) return failure();
    // A pair for each operand; the region has the first of all pairs first.
    SmallVector<Argument> firsts, seconds;
    while (succeeded(p_.parseOptionalLParen())) {
      if (p_.parseArgument(firsts.emplace_back(), /*allowType=*/true) || p_.parseComma() ||
          p_.parseArgument(seconds.emplace_back(), /*allowType=*/true) || p_.parseRParen()) {
        return failure();
      }
    }
    firsts.append(seconds.begin(), seconds.end());
    return p_.parseRegion(*state_.addRegion(), firsts);
  }

  // (%a, ..) inits (%b, ..) dimension=0 attributes {..} {..} : types
  ParseResult ParseScan() {
    SmallVector<Operand> operands, initial;
    StringRef dimension;
    if (p_.parseOperandList(operands, OpAsmParser::Delimiter::Paren) || p_.parseKeyword("inits") ||
        p_.parseOperandList(initial, OpAsmParser::Delimiter::Paren) ||
        p_.parseKeyword("dimension") || p_.parseEqual() || ReadText(&dimension) ||
        p_.parseOptionalAttrDictWithKeyword(state_.attributes) ||
        p_.parseRegion(*state_.addRegion())) {
      return failure();
    }
    SetText("dimension", dimension);
    const int32_t sizes[] = {static_cast<int32_t>(operands.size()),
                             static_cast<int32_t>(initial.size())};
    Set("operandSegmentSizes", p_.getBuilder().getDenseI32ArrayAttr(sizes));
    operands.append(initial.begin(), initial.end());
    return ReadTypes(operands);
  }

  OpAsmParser& p_;
  OperationState& state_;
  const StringRef op_;
  const bool is_shardy_ = state_.name.getDialectNamespace() == "sdy";
  int words_ = 0;
};

}  // namespace

template <const char* kNamespace>
class ReaderDialect : public mlir::Dialect {
 public:
  static StringRef getDialectNamespace() { return kNamespace; }

  explicit ReaderDialect(mlir::MLIRContext* context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<ReaderDialect>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }

  std::optional<ParseOpHook> getParseOperationHook(StringRef /*name*/) const override {
    // The hook refers to it.
    static const auto kParse = [](OpAsmParser& parser, OperationState& state) {
      return ReaderOpParser(parser, state).Parse();
    };
    return ParseOpHook(kParse);
  }

  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type type) const override {
    return mlir::OpaqueAttr::get(mlir::StringAttr::get(getContext(), getDialectNamespace()),
                                 parser.getFullSymbolSpec(),
                                 type ? type : mlir::NoneType::get(getContext()));
  }

  mlir::Type parseType(mlir::DialectAsmParser& parser) const override {
    return mlir::OpaqueType::get(mlir::StringAttr::get(getContext(), getDialectNamespace()),
                                 parser.getFullSymbolSpec());
  }
};

inline constexpr char kStableHlo[] = "stablehlo";
inline constexpr char kChlo[] = "chlo";
inline constexpr char kMhlo[] = "mhlo";
inline constexpr char kShardy[] = "sdy";

void RegisterReaderDialects(mlir::DialectRegistry* registry) {
  registry->insert<ReaderDialect<kStableHlo>, ReaderDialect<kChlo>, ReaderDialect<kMhlo>,
                   ReaderDialect<kShardy>, mlir::func::FuncDialect>();
}

}  // namespace xla_indexing::internal
