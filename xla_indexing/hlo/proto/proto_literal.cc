#include "xla_indexing/hlo/proto/proto_literal.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/proto/primitive_types.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::internal {
namespace {

const PrimitiveType& PrimitiveOf(ElementType type) {
  return *std::find_if(std::begin(kPrimitiveTypes), std::end(kPrimitiveTypes) - 1,
                       [&](const PrimitiveType& primitive) { return primitive.type == type; });
}

// Calls `visit(bits)` for each element, or part of a complex element, in the order of the message.
template <typename Visit>
void ForEachElement(const WireMessage& message, ElementType type, Visit visit) {
  const auto& [number, unused_type, coding, field] = PrimitiveOf(type);
  switch (coding) {
    case ElementCoding::kVarint:
      message.ForEachVarint(field, visit);
      return;
    case ElementCoding::kFixed32:
    case ElementCoding::kFixed64:
      message.ForEachFixed(field, coding == ElementCoding::kFixed32 ? 4 : 8, visit);
      return;
    case ElementCoding::kString: {
      const absl::string_view bytes = message.Bytes(field);
      const size_t size = (BitWidth(type) + 7) / 8;
      for (size_t at = 0; at + size <= bytes.size(); at += size) {
        visit(LittleEndian(bytes.data() + at, size));
      }
      return;
    }
    case ElementCoding::kNone:
      return;
  }
}

// Goes through the elements of an array in the order of a layout and says where each stands in
// row-major order.
class LayoutWalk {
 public:
  LayoutWalk(const Shape& array, const Layout& layout) {
    std::vector<int64_t> strides(array.rank(), 1);
    for (int64_t d = array.rank(); d-- > 1;) strides[d - 1] = strides[d] * array.dimension(d);
    for (const int64_t d : layout.minor_to_major) {
      steps_.push_back({array.dimension(d), strides[d], 0});
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

  std::vector<Step> steps_;  // The most minor dimension first.
  int64_t position_ = 0;
};

// `layout` is that of the message.
Literal ReadArrayProto(const WireMessage& message, const Shape& shape, const Layout& layout) {
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  // An element takes at least a byte; memory is not taken on the word of a shape.
  if (count.ok() && *count > static_cast<int64_t>(message.bytes().size())) {
    return message.Fail<Literal>("this literal has fewer elements than its shape, ",
                                 shape.ToString());
  }
  absl::StatusOr<Literal> literal = Literal::Zeros(shape);
  if (!literal.ok()) return message.Fail<Literal>(literal.status().message());
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
    return message.Fail<Literal>("this literal of shape ", shape.ToString(), " has ", given / parts,
                                 " elements, not ", *count);
  }
  return *std::move(literal);
}

// `own` is the shape that the message says.
Literal ReadOfShape(const WireMessage& message, const Shape& own, const Shape& shape) {
  if (shape.IsToken()) return Literal::Elided(shape);
  if (shape.IsArray()) return ReadArrayProto(message, shape, own.LayoutOrRowMajor());
  if (!shape.IsTuple()) {
    return message.Fail<Literal>("there is no literal of shape ", shape.ToString());
  }
  std::vector<Literal> elements;
  message.Messages({10, "tuple_literals"}, [&](const WireMessage& element, int64_t i) {
    if (i >= static_cast<int64_t>(shape.tuple_elements().size())) {
      message.Fail("this tuple has more elements than its shape");
      return;
    }
    elements.push_back(ReadLiteralProto(element, shape.tuple_element(i)));
  });
  if (message.source().failed()) return Literal();
  if (elements.size() != shape.tuple_elements().size()) {
    return message.Fail<Literal>("this tuple has fewer elements than its shape");
  }
  return Literal::Tuple(std::move(elements));
}

}  // namespace

Literal ReadLiteralProto(const WireMessage& message, const Shape& shape) {
  Shape own = shape;
  message.Message({1, "shape"},
                  [&](const WireMessage& of_shape) { own = ReadShapeProto(of_shape); });
  if (message.source().failed()) return Literal();
  if (!EqualIgnoringLayout(own, shape)) {
    return message.Fail<Literal>("this literal has the shape ", own.ToString(), ", not ",
                                 shape.ToString());
  }
  return ReadOfShape(message, own, shape);
}

}  // namespace xla_indexing::internal
