#include "xla_indexing/stablehlo/types_and_attributes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxInts = size_t{1} << 20;
constexpr int kMaxAttributeDepth = 8;
constexpr int kMaxPrintedParts = 1 << 13;
constexpr int kMaxPrintedDepth = 64;

// Takes from `budget` what a type or an attribute has.
template <typename TypeOrAttribute>
bool IsWithin(TypeOrAttribute of, int depth, int* budget) {
  if (--*budget < 0 || depth > kMaxPrintedDepth) return false;
  bool is_within = true;
  const auto visit = [&](auto part) {
    is_within = is_within && (!part || IsWithin(part, depth + 1, budget));
  };
  of.walkImmediateSubElements(visit, visit);
  return is_within;
}

// A type may name the same tuple twice, and so on: its size is not that of its text.
constexpr int kMaxTypeDepth = 64;
constexpr int64_t kMaxLeaves = int64_t{1} << 16;

// Empty if it has too many parts.
std::string PrintedType(mlir::Type type) {
  std::string text;
  if (!HasFewParts(type)) return text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

absl::Status NoCounterpart(mlir::Type type) {
  const std::string printed = PrintedType(type).substr(0, 100);
  return absl::InvalidArgumentError(printed.empty()
                                        ? "a type has too many parts"
                                        : absl::StrCat("HLO has no type like ", printed));
}

std::optional<ElementType> ElementTypeOf(mlir::Type type) {
  const std::string printed = PrintedType(type);
  absl::string_view name = printed;
  // !quant.uniform<i8<-127:127>:f32:1, {..}>: the storage comes first.
  if (absl::StartsWith(name, "!quant") && absl::StrContains(name, "uniform")) {
    name.remove_prefix(std::min(name.size(), name.find('<', name.find("uniform")) + 1));
    name = name.substr(0, name.find_first_of("<:"));
  }
  if (name == "i1" || name == "si1") return ElementType::kPred;
  if (name == "index") return ElementType::kS64;
  if (name == "complex<f32>") return ElementType::kC64;
  if (name == "complex<f64>") return ElementType::kC128;
  if (absl::ConsumePrefix(&name, "ui")) return ElementTypeFromName(absl::StrCat("u", name));
  if (absl::ConsumePrefix(&name, "i") || absl::ConsumePrefix(&name, "si")) {
    return ElementTypeFromName(absl::StrCat("s", name));
  }
  return ElementTypeFromName(absl::AsciiStrToLower(name));
}

absl::StatusOr<Shape> ShapeAtDepth(mlir::Type type, int depth);

// That of the value which it will be; of several, a tuple. `name` is the type as it prints.
absl::StatusOr<Shape> ShapeOfFuture(mlir::Type type, absl::string_view name, int depth) {
  const std::string types = absl::StrCat("tuple", name.substr(name.find('<')));
  auto tuple = mlir::dyn_cast_or_null<mlir::TupleType>(mlir::parseType(types, type.getContext()));
  if (!tuple) return NoCounterpart(type);
  return ShapeAtDepth(tuple.size() == 1 ? tuple.getType(0) : tuple, depth + 1);
}

absl::StatusOr<Shape> ShapeAtDepth(mlir::Type type, int depth) {
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    const std::optional<ElementType> element = ElementTypeOf(tensor.getElementType());
    if (!element.has_value()) return NoCounterpart(tensor.getElementType());
    if (tensor.hasStaticShape()) return Shape::Array(*element, tensor.getShape());
    // `bounds<4, ?>`.
    const std::string encoding = AttributeText(tensor.getEncoding());
    std::vector<std::string> bounds;
    if (encoding.rfind("bounds<", 0) == 0) {
      bounds = absl::StrSplit(encoding.substr(7, encoding.size() - 8), ',');
    }
    Shape shape = Shape::Scalar(*element);
    for (int64_t i = 0; i < tensor.getRank(); ++i) {
      int64_t size = tensor.getDimSize(i);
      const bool is_dynamic = tensor.isDynamicDim(i);
      if (is_dynamic && (static_cast<size_t>(i) >= bounds.size() ||
                         !absl::SimpleAtoi(bounds[static_cast<size_t>(i)], &size) || size < 0)) {
        size = Shape::kUnboundedSize;
      }
      shape.AddDimension(size, is_dynamic);
    }
    return shape;
  }
  if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type)) {
    if (depth > kMaxTypeDepth) return NoCounterpart(type);
    std::vector<Shape> elements;
    int64_t leaves = 0;
    for (const mlir::Type of_element : tuple) {
      absl::StatusOr<Shape> element = ShapeAtDepth(of_element, depth + 1);
      if (!element.ok()) return element;
      leaves += element->LeafCount() + 1;
      if (leaves > kMaxLeaves) {
        return absl::InvalidArgumentError(
            absl::StrCat("a tuple has more than ", kMaxLeaves, " arrays"));
      }
      elements.push_back(*std::move(element));
    }
    return Shape::Tuple(std::move(elements));
  }
  if (!type) return absl::InvalidArgumentError("there is no type");
  const std::string name = PrintedType(type);
  if (name == "!stablehlo.token" || name == "!mhlo.token") return Shape::Token();
  if (absl::StartsWith(name, "!stablehlo.future<")) return ShapeOfFuture(type, name, depth);
  return NoCounterpart(type);
}

}  // namespace

bool HasFewParts(mlir::Type type) {
  int budget = kMaxPrintedParts;
  return IsWithin(type, 0, &budget);
}

bool HasFewParts(mlir::Attribute attribute) {
  int budget = kMaxPrintedParts;
  return IsWithin(attribute, 0, &budget);
}

absl::StatusOr<Shape> ShapeOfType(mlir::Type type) { return ShapeAtDepth(type, 0); }

absl::StatusOr<Literal> LiteralOfAttribute(mlir::Attribute value, const Shape& shape) {
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(value);
  if (!shape.IsArray() || shape.HasUnboundedDimension()) {
    return absl::InvalidArgumentError("a constant is an array of a known size");
  }
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  if (!count.ok()) return count.status();
  if (!dense || !mlir::isa<mlir::DenseIntOrFPElementsAttr>(dense)) {
    if (mlir::isa_and_nonnull<mlir::ElementsAttr>(value)) return Literal::Elided(shape);
    return absl::InvalidArgumentError("the value of a constant is no array of numbers");
  }
  absl::StatusOr<Literal> literal = Literal::Zeros(shape);
  if (!literal.ok()) return literal;
  if (shape.element_type() == ElementType::kPred) {
    // MLIR packs them.
    int64_t i = 0;
    for (const bool bit : dense.getValues<bool>()) {
      if (i < *count) literal->SetBits(i++, bit ? 1 : 0);
    }
    return literal;
  }
  const int parts = IsComplex(shape.element_type()) ? 2 : 1;
  const int bytes = (BitWidth(shape.element_type()) / parts + 7) / 8;
  const llvm::ArrayRef<char> raw = dense.getRawData();
  if (static_cast<int64_t>(raw.size()) / (bytes * parts) < *count) {
    return absl::InvalidArgumentError("the value of a constant is not of its size");
  }
  const int width = BitWidth(shape.element_type()) / parts;
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const char* next = raw.data();
  for (int64_t i = 0; i < *count; ++i) {
    for (int part = 0; part < parts; ++part, next += bytes) {
      uint64_t bits = 0;
      std::memcpy(&bits, next, static_cast<size_t>(bytes));
      literal->SetBits(i, bits & mask, part);
    }
  }
  return literal;
}

std::string AttributePart(absl::string_view text, absl::string_view key) {
  const size_t open = text.find('<');
  if (open == absl::string_view::npos) return "";
  Lexer lexer(absl::StripSuffix(text.substr(open + 1), ">"));
  do {
    const absl::string_view word = lexer.ReadWord();
    absl::string_view value = "true";
    const bool has_value = !lexer.Consume('=') || lexer.ReadUntilComma(&value);
    // With something else behind it, it is no value, and the whole text is none either.
    const bool is_whole = has_value && (lexer.AtEnd() || lexer.Peek() == ',');
    if (word == key) return std::string(is_whole ? value : text);
  } while (lexer.Consume(','));
  return "";
}

std::string AttributeText(mlir::Attribute attribute) {
  if (auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(attribute)) return text.str();
  if (auto opaque = mlir::dyn_cast_or_null<mlir::OpaqueAttr>(attribute)) {
    return opaque.getAttrData().str();
  }
  if (attribute == nullptr || !HasFewParts(attribute)) return "";
  // `#stablehlo.kind<..>` or `#stablehlo<kind WORD>`. Builtin attributes begin otherwise.
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  attribute.print(stream);
  if (printed.empty() || printed[0] != '#') return printed;
  const size_t end = printed.find_first_of(".<");
  if (end == std::string::npos) return printed;
  if (printed[end] == '.') return printed.substr(end + 1);
  return printed.substr(end + 1, printed.size() - end - 2);
}

std::string ShardyText(absl::string_view kind, mlir::Attribute attribute) {
  const std::string text = AttributeText(attribute);
  if (absl::StartsWith(text, kind)) return absl::StrCat("#sdy.", text);
  if (absl::StartsWith(text, "<")) return absl::StrCat("#sdy.", kind, text);
  return absl::StrCat("#sdy.", kind, "<", text, ">");
}

// `[[0, 1], [2, 3]]`, `?`, `true`, `3 : i64`, `array<i64: 1, 0>`, `unit`.
bool AddIntsOfText(absl::string_view text, std::vector<int64_t>* ints) {
  text = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&text, "array<")) {
    const size_t colon = text.find(':');
    text = colon == absl::string_view::npos ? "" : absl::StripSuffix(text.substr(colon + 1), ">");
  }
  text = text.substr(0, text.find(':'));
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" ,[]\n\t"), absl::SkipEmpty())) {
    int64_t number = 0;
    if (ints->size() >= kMaxInts) return false;
    if (word == "?") {
      ints->push_back(Shape::kUnboundedSize);
    } else if (word == "true" || word == "false" || word == "unit") {
      ints->push_back(word == "false" ? 0 : 1);
    } else if (absl::SimpleAtoi(word, &number)) {
      ints->push_back(number);
    } else {
      return false;
    }
  }
  return true;
}

namespace {

// True counts as 1.
bool AddInt(const llvm::APInt& value, std::vector<int64_t>* ints) {
  if (value.getSignificantBits() > 64) return false;
  ints->push_back(value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue())
                                           : value.getSExtValue());
  return true;
}

}  // namespace

bool AddInts(mlir::Attribute attribute, std::vector<int64_t>* ints, int depth) {
  if (depth > kMaxAttributeDepth || ints->size() >= kMaxInts) return false;
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute);
  if (integer && integer.getType().isSignlessInteger()) return AddInt(integer.getValue(), ints);
  if (auto list = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    ints->insert(ints->end(), list.asArrayRef().begin(), list.asArrayRef().end());
    return ints->size() <= kMaxInts;
  }
  if (auto array = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    return llvm::all_of(array, [&](mlir::Attribute of) { return AddInts(of, ints, depth + 1); });
  }
  auto dense = mlir::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (!dense) return HasFewParts(attribute) && AddIntsOfText(AttributeText(attribute), ints);
  // The product may wrap around where a splat claims to be large.
  size_t count = 1;
  for (const int64_t size : dense.getType().getShape()) {
    if (size < 0 || (size > 0 && count > kMaxInts / static_cast<size_t>(size))) return false;
    count *= static_cast<size_t>(size);
  }
  for (const llvm::APInt& value : dense.getValues<llvm::APInt>()) {
    if (!AddInt(value, ints)) return false;
  }
  return true;
}

}  // namespace xla_indexing::internal
