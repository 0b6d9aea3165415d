#include "xla_indexing/hlo/element_type.h"

#include <array>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {
namespace {

enum class TypeClass : uint8_t { kPred, kSigned, kUnsigned, kFloat, kComplex, kOther };

struct TypeProperties {
  absl::string_view name;
  int bits;
  TypeClass type_class;
};

constexpr std::array kProperties = {
#define XLA_INDEXING_PROPERTIES(enumerator, name, bits, class_name) \
  TypeProperties{name, bits, TypeClass::class_name},
    XLA_INDEXING_ELEMENT_TYPES(XLA_INDEXING_PROPERTIES)
#undef XLA_INDEXING_PROPERTIES
};

const TypeProperties& PropertiesOf(ElementType type) {
  return kProperties[static_cast<size_t>(type)];
}

}  // namespace

absl::string_view ElementTypeName(ElementType type) { return PropertiesOf(type).name; }

std::optional<ElementType> ElementTypeFromName(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* by_name = new absl::flat_hash_map<absl::string_view, ElementType>();
    for (size_t i = 0; i < kProperties.size(); ++i) {
      const auto type = static_cast<ElementType>(i);
      if (type == ElementType::kTuple || type == ElementType::kBuffer) continue;
      by_name->emplace(kProperties[i].name, type);
    }
    return by_name;
  }();
  const auto it = kByName->find(name);
  if (it == kByName->end()) return std::nullopt;
  return it->second;
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
