#include "xla_indexing/hlo/proto/proto_literal.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/proto/proto_fields_shape.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::internal {
namespace {

// Where a LiteralProto keeps the elements of a type, and how: a varint each, four or eight bytes
// for each part, or all of them in one string.
enum class ElementCoding : uint8_t { kVarint, kFixed32, kFixed64, kString };

struct ElementField {
  uint32_t number = 0;
  ElementCoding coding = ElementCoding::kString;
};

ElementField FieldOf(ElementType type) {
  using Literal = proto::Literal;
  switch (type) {
    case ElementType::kPred:
      return {Literal::kPreds, ElementCoding::kVarint};
    case ElementType::kS32:
      return {Literal::kS32s, ElementCoding::kVarint};
    case ElementType::kS64:
      return {Literal::kS64s, ElementCoding::kVarint};
    case ElementType::kU32:
      return {Literal::kU32s, ElementCoding::kVarint};
    case ElementType::kU64:
      return {Literal::kU64s, ElementCoding::kVarint};
    case ElementType::kF32:
      return {Literal::kF32s, ElementCoding::kFixed32};
    case ElementType::kC64:
      return {Literal::kC64s, ElementCoding::kFixed32};
    case ElementType::kF64:
      return {Literal::kF64s, ElementCoding::kFixed64};
    case ElementType::kC128:
      return {Literal::kC128s, ElementCoding::kFixed64};
    case ElementType::kS1:
      return {Literal::kS1s};
    case ElementType::kS2:
      return {Literal::kS2s};
    case ElementType::kS4:
      return {Literal::kS4s};
    case ElementType::kS8:
      return {Literal::kS8s};
    case ElementType::kS16:
      return {Literal::kS16s};
    case ElementType::kU1:
      return {Literal::kU1s};
    case ElementType::kU2:
      return {Literal::kU2s};
    case ElementType::kU4:
      return {Literal::kU4s};
    case ElementType::kU8:
      return {Literal::kU8s};
    case ElementType::kU16:
      return {Literal::kU16s};
    case ElementType::kF4E2M1FN:
      return {Literal::kF4e2m1fns};
    case ElementType::kF8E3M4:
      return {Literal::kF8e3m4s};
    case ElementType::kF8E4M3:
      return {Literal::kF8e4m3s};
    case ElementType::kF8E4M3B11FNUZ:
      return {Literal::kF8e4m3b11fnuzs};
    case ElementType::kF8E4M3FN:
      return {Literal::kF8e4m3fns};
    case ElementType::kF8E4M3FNUZ:
      return {Literal::kF8e4m3fnuzs};
    case ElementType::kF8E5M2:
      return {Literal::kF8e5m2s};
    case ElementType::kF8E5M2FNUZ:
      return {Literal::kF8e5m2fnuzs};
    case ElementType::kF8E8M0FNU:
      return {Literal::kF8e8m0fnus};
    case ElementType::kF16:
      return {Literal::kF16s};
    case ElementType::kBF16:
      return {Literal::kBf16s};
    case ElementType::kTuple:
    case ElementType::kToken:
    case ElementType::kOpaque:
    case ElementType::kBuffer:
      break;
  }
  return {};
}

// Calls `visit(bits)` for each element, or part of a complex element, in the order of the message.
template <typename Visit>
void ForEachElement(const WireMessage& message, ElementType type, Visit visit) {
  const ElementField field = FieldOf(type);
  switch (field.coding) {
    case ElementCoding::kVarint:
      message.ForEachVarint(field.number, visit);
      return;
    case ElementCoding::kFixed32:
    case ElementCoding::kFixed64:
      message.ForEachFixed(field.number, field.coding == ElementCoding::kFixed32 ? 4 : 8, visit);
      return;
    case ElementCoding::kString:
      break;
  }
  const absl::string_view bytes = message.Bytes(field.number);
  const size_t size = (BitWidth(type) + 7) / 8;
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    visit(LittleEndian(bytes.data() + at, size));
  }
}

// Goes through the elements of an array in the order of a layout and says where each stands in
// row-major order.
class LayoutWalk {
 public:
  LayoutWalk(const Shape& array, const Layout& layout) {
    int64_t stride = 1;
    strides_.resize(array.rank());
    for (int64_t d = array.rank(); d-- > 0;) {
      strides_[d] = stride;
      stride *= array.dimension(d);
    }
    for (const int64_t d : layout.minor_to_major) {
      steps_.push_back({array.dimension(d), strides_[d], 0});
    }
  }

  int64_t position() const { return position_; }

  void Next() {
    for (Step& step : steps_) {
      position_ += step.stride;
      if (++step.index < step.size) return;
      position_ -= step.stride * step.size;
      step.index = 0;
    }
  }

 private:
  struct Step {
    int64_t size;
    int64_t stride;
    int64_t index;
  };

  std::vector<int64_t> strides_;
  std::vector<Step> steps_;  // The most minor dimension first.
  int64_t position_ = 0;
};

// `layout` is that of the message.
Literal ReadArrayProto(const WireMessage& message, const Shape& shape, const Layout& layout) {
  ProtoSource& source = message.source();
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  // An element takes at least a byte; memory is not taken on the word of a shape.
  if (count.ok() && *count > static_cast<int64_t>(message.bytes().size())) {
    source.Fail(absl::StrCat("this literal has fewer elements than its shape, ", shape.ToString()));
    return Literal();
  }
  absl::StatusOr<Literal> literal = Literal::Zeros(shape);
  if (!literal.ok()) {
    source.Fail(literal.status().message());
    return Literal();
  }
  const ElementType type = shape.element_type();
  const int parts = IsComplex(type) ? 2 : 1;
  const int width = BitWidth(ComplexComponentType(type));
  const uint64_t mask = ~uint64_t{0} >> (64 - width);
  LayoutWalk walk(shape, layout);
  int64_t given = 0;  // parts
  ForEachElement(message, type, [&](uint64_t bits) {
    if (given / parts < *count) {
      const int part = static_cast<int>(given % parts);
      // Any number but 0 stands for true.
      literal->SetBits(walk.position(), IsPred(type) ? (bits != 0 ? 1 : 0) : bits & mask, part);
      if (part + 1 == parts) walk.Next();
    }
    ++given;
  });
  if (given != *count * parts) {
    source.Fail(absl::StrCat("this literal of shape ", shape.ToString(), " has ", given / parts,
                             " elements, not ", *count));
    return Literal();
  }
  return *std::move(literal);
}

// `own` is the shape that the message says.
Literal ReadOfShape(const WireMessage& message, const Shape& own, const Shape& shape) {
  if (shape.IsToken()) return Literal::Elided(shape);
  if (shape.IsArray()) return ReadArrayProto(message, shape, own.LayoutOrRowMajor());
  if (!shape.IsTuple()) {
    message.source().Fail(absl::StrCat("there is no literal of shape ", shape.ToString()));
    return Literal();
  }
  std::vector<Literal> elements;
  message.Messages(proto::Literal::kTupleLiterals, "tuple_literals",
                   [&](const WireMessage& element, int64_t i) {
                     if (i >= static_cast<int64_t>(shape.tuple_elements().size())) {
                       message.source().Fail("this tuple has more elements than its shape");
                       return;
                     }
                     elements.push_back(ReadLiteralProto(element, shape.tuple_element(i)));
                   });
  if (message.source().failed()) return Literal();
  if (elements.size() != shape.tuple_elements().size()) {
    message.source().Fail("this tuple has fewer elements than its shape");
    return Literal();
  }
  return Literal::Tuple(std::move(elements));
}

}  // namespace

Literal ReadLiteralProto(const WireMessage& message, const Shape& shape) {
  Shape own = shape;
  message.Message(proto::Literal::kShape, "shape",
                  [&](const WireMessage& of_shape) { own = ReadShapeProto(of_shape); });
  if (message.source().failed()) return Literal();
  if (!EqualIgnoringLayout(own, shape)) {
    message.source().Fail(
        absl::StrCat("this literal has the shape ", own.ToString(), ", not ", shape.ToString()));
    return Literal();
  }
  return ReadOfShape(message, own, shape);
}

}  // namespace xla_indexing::internal
