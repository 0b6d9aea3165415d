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
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/STLExtras.h"
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
    for (const auto& [i, bit] : llvm::enumerate(dense.getValues<bool>())) {
      if (static_cast<int64_t>(i) >= std::min(stored, literal->ElementCount())) break;
      literal->SetBits(static_cast<int64_t>(i), bit ? 1 : 0);
    }
    return literal;
  }
  const int parts = IsComplex(shape.element_type()) ? 2 : 1;
  const int bytes = (BitWidth(shape.element_type()) / parts + 7) / 8;
  const llvm::ArrayRef<char> raw = dense.getRawData();
  if (static_cast<int64_t>(raw.size()) / (bytes * parts) < stored) {
    return absl::InvalidArgumentError("the value of a constant is not of its size");
  }
  const int width = BitWidth(shape.element_type()) / parts;
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const char* next = raw.data();
  for (int64_t i = 0; i < std::min(stored, literal->ElementCount()); ++i) {
    for (int part = 0; part < parts; ++part, next += bytes) {
      uint64_t bits = 0;
      std::memcpy(&bits, next, static_cast<size_t>(bytes));
      literal->SetBits(i, bits & mask, part);
    }
  }
  return literal;
}

}  // namespace xla_indexing::internal
