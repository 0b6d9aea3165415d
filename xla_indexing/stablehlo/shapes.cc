#include "xla_indexing/stablehlo/shapes.h"

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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {
namespace {

// A type may name the same tuple twice, and so on: its size is not that of its text.
constexpr int kMaxTypeDepth = 64;
constexpr int64_t kMaxLeaves = int64_t{1} << 16;

std::string PrintedType(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

absl::Status NoCounterpart(mlir::Type type) {
  return absl::InvalidArgumentError(
      absl::StrCat("HLO has no type like ", PrintedType(type).substr(0, 100)));
}

std::optional<ElementType> ElementTypeOf(mlir::Type type) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    if (integer.getWidth() == 1 && !integer.isUnsigned()) return ElementType::kPred;
    return ElementTypeFromName(absl::StrCat(integer.isUnsigned() ? "u" : "s", integer.getWidth()));
  }
  if (mlir::isa<mlir::IndexType>(type)) return ElementType::kS64;
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type)) {
    if (complex.getElementType().isF32()) return ElementType::kC64;
    if (complex.getElementType().isF64()) return ElementType::kC128;
    return std::nullopt;
  }
  std::string name = PrintedType(type);
  if (mlir::isa<mlir::FloatType>(type)) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return ElementTypeFromName(name);
  }
  // !quant.uniform<i8<-127:127>:f32:1, {..}>: the storage comes first.
  const size_t open = name.find("uniform");
  const size_t begin = name.find('<', open == std::string::npos ? name.size() : open);
  if (name.rfind("!quant", 0) != 0 || begin == std::string::npos) return std::nullopt;
  const size_t end = name.find_first_of("<:", begin + 1);
  absl::string_view storage = absl::string_view(name).substr(begin + 1, end - begin - 1);
  if (storage.empty()) return std::nullopt;
  if (storage[0] == 'i') return ElementTypeFromName(absl::StrCat("s", storage.substr(1)));
  if (storage.substr(0, 2) == "ui") return ElementTypeFromName(storage.substr(1));
  return ElementTypeFromName(absl::AsciiStrToLower(storage));
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
  return NoCounterpart(type);
}

uint64_t BitsOf(const char* data, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(bytes));
  return bits;
}

}  // namespace

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
  const int64_t stored = dense.isSplat() ? 1 : *count;
  if (shape.element_type() == ElementType::kPred) {
    // MLIR packs them.
    int64_t i = 0;
    for (const bool bit : dense.getValues<bool>()) {
      if (i >= stored || i >= literal->ElementCount()) break;
      literal->SetBits(i++, bit ? 1 : 0);
    }
    return literal;
  }
  const int parts = IsComplex(shape.element_type()) ? 2 : 1;
  const int bytes = (BitWidth(shape.element_type()) / parts + 7) / 8;
  const llvm::ArrayRef<char> raw = dense.getRawData();
  if (static_cast<int64_t>(raw.size()) / (bytes * parts) < stored) {
    return absl::InvalidArgumentError("the value of a constant is not of its size");
  }
  const int width = std::min(BitWidth(shape.element_type()) / parts, 64);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (int64_t i = 0; i < std::min(stored, literal->ElementCount()); ++i) {
    for (int part = 0; part < parts; ++part) {
      literal->SetBits(i, BitsOf(raw.data() + (i * parts + part) * bytes, bytes) & mask, part);
    }
  }
  return literal;
}

}  // namespace xla_indexing::internal
