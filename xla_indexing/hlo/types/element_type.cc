#include "xla_indexing/hlo/types/element_type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/name_index.h"

namespace xla_indexing {
namespace {

using internal::NameIndex;

enum class TypeClass : uint8_t { kPred, kSigned, kUnsigned, kFloat, kComplex, kOther };

struct TypeProperties {
  absl::string_view name;
  int bits;
  TypeClass type_class;
};

constexpr std::array kElementTypes = {
#define XLA_INDEXING_PROPERTIES(enumerator, name, bits, class_name) \
  TypeProperties{name, bits, TypeClass::class_name},
    XLA_INDEXING_ELEMENT_TYPES(XLA_INDEXING_PROPERTIES)
#undef XLA_INDEXING_PROPERTIES
};

// Without what the text has brackets for.
constexpr NameIndex kElementTypeNames([] {
  std::array<absl::string_view, kElementTypes.size()> names;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto type = static_cast<ElementType>(i);
    if (type == ElementType::kTuple || type == ElementType::kBuffer) continue;
    names[i] = kElementTypes[i].name;
  }
  return names;
}());

const TypeProperties& PropertiesOf(ElementType type) {
  return kElementTypes[static_cast<size_t>(type)];
}

}  // namespace

absl::string_view ElementTypeName(ElementType type) { return PropertiesOf(type).name; }

std::optional<ElementType> ElementTypeFromName(absl::string_view name) {
  const std::optional<size_t> position = kElementTypeNames.Find(name);
  if (!position.has_value()) return std::nullopt;
  return static_cast<ElementType>(*position);
}

int BitWidth(ElementType type) { return PropertiesOf(type).bits; }

int StorageBitWidth(ElementType type) { return IsPred(type) ? 8 : BitWidth(type); }

bool IsPred(ElementType type) { return type == ElementType::kPred; }

bool IsSignedIntegral(ElementType type) {
  return PropertiesOf(type).type_class == TypeClass::kSigned;
}

bool IsUnsignedIntegral(ElementType type) {
  return PropertiesOf(type).type_class == TypeClass::kUnsigned;
}

bool IsFloatingPoint(ElementType type) {
  return PropertiesOf(type).type_class == TypeClass::kFloat;
}

bool IsComplex(ElementType type) { return PropertiesOf(type).type_class == TypeClass::kComplex; }

bool IsIntegral(ElementType type) { return IsSignedIntegral(type) || IsUnsignedIntegral(type); }

bool IsArrayType(ElementType type) { return PropertiesOf(type).type_class != TypeClass::kOther; }

ElementType ComplexComponentType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

}  // namespace xla_indexing
