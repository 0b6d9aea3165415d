#include "xla_indexing/hlo/types/literal.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace xla_indexing {
namespace {

constexpr int64_t kMaxLiteralBytes = int64_t{1} << 40;

int BytesOf(ElementType type) { return (StorageBitWidth(type) + 7) / 8; }

}  // namespace

absl::StatusOr<Literal> Literal::Splat(const Shape& shape) {
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  if (!count.ok()) return count.status();
  Literal literal;
  literal.shape_ = shape;
  literal.splat_ = true;
  literal.part_bytes_ = BytesOf(ComplexComponentType(shape.element_type()));
  literal.element_bytes_ = BytesOf(shape.element_type());
  literal.element_count_ = *count;
  literal.bytes_.resize(literal.element_bytes_);
  return literal;
}

absl::StatusOr<Literal> Literal::Zeros(const Shape& shape) {
  absl::StatusOr<Literal> literal = Splat(shape);
  if (!literal.ok()) return literal;
  if (literal->element_count_ > kMaxLiteralBytes / literal->element_bytes_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a literal of shape ", shape.ToString(), " is too large to be stored"));
  }
  literal->splat_ = false;
  literal->bytes_.resize(literal->element_count_ * literal->element_bytes_);
  return literal;
}

Literal Literal::Elided(Shape shape) {
  Literal literal;
  literal.shape_ = std::move(shape);
  literal.elided_ = true;
  return literal;
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  Literal literal;
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape());
  literal.shape_ = Shape::Tuple(std::move(shapes));
  literal.elements_ = std::move(elements);
  return literal;
}

Literal Literal::Integers(ElementType type, absl::Span<const int64_t> dimensions,
                          absl::Span<const int64_t> values) {
  absl::StatusOr<Literal> literal = Zeros(Shape::Array(type, dimensions));
  if (!literal.ok()) return Literal();
  const int width = BitWidth(type);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (size_t i = 0; i < values.size() && static_cast<int64_t>(i) < literal->element_count_; ++i) {
    literal->SetBits(static_cast<int64_t>(i), static_cast<uint64_t>(values[i]) & mask);
  }
  return *std::move(literal);
}

std::optional<int64_t> Literal::IntegerAt(int64_t position) const {
  const ElementType type = shape_.element_type();
  if (elided_ || position < 0 || position >= element_count_) return std::nullopt;
  const uint64_t bits = BitsAt(position);
  if (IsSignedIntegral(type)) {
    const int unused = 64 - BitWidth(type);
    return static_cast<int64_t>(bits << unused) >> unused;
  }
  if (!IsPred(type) && !IsUnsignedIntegral(type)) return std::nullopt;
  if (bits > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<int64_t>(bits);
}

std::optional<int64_t> Literal::IntegerAt(absl::Span<const int64_t> index) const {
  if (static_cast<int64_t>(index.size()) != shape_.rank()) return std::nullopt;
  int64_t position = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    const int64_t size = shape_.dimension(static_cast<int64_t>(i));
    if (index[i] < 0 || index[i] >= size) return std::nullopt;
    position = position * size + index[i];
  }
  return IntegerAt(position);
}

uint64_t Literal::BitsAt(int64_t position, int part) const {
  if (splat_) position = 0;
  uint64_t bits = 0;
  std::memcpy(&bits, bytes_.data() + position * element_bytes_ + part * part_bytes_, part_bytes_);
  return bits;
}

void Literal::SetBits(int64_t position, uint64_t bits, int part) {
  if (splat_) position = 0;
  std::memcpy(bytes_.data() + position * element_bytes_ + part * part_bytes_, &bits, part_bytes_);
}

}  // namespace xla_indexing
