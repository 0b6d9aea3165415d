#include "xla_indexing/hlo/types/attribute.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/name_index.h"

namespace xla_indexing {
namespace {

using internal::NameIndex;

struct AttributeProperties {
  absl::string_view name;
  AttributeKind kind;
};

constexpr std::array kAttributes = {
#define XLA_INDEXING_PROPERTIES(enumerator, name, kind) \
  AttributeProperties{name, AttributeKind::kind},
    XLA_INDEXING_ATTRIBUTES(XLA_INDEXING_PROPERTIES)
#undef XLA_INDEXING_PROPERTIES
};

constexpr NameIndex kAttributeNames([] {
  std::array<absl::string_view, kAttributes.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kAttributes[i].name;
  return names;
}());

}  // namespace

AttributeKind KindOf(AttributeKey key) { return kAttributes[static_cast<size_t>(key)].kind; }

absl::string_view AttributeName(AttributeKey key) {
  return kAttributes[static_cast<size_t>(key)].name;
}

std::optional<AttributeKey> AttributeKeyFromName(absl::string_view name) {
  const std::optional<size_t> position = kAttributeNames.Find(name);
  if (!position.has_value()) return std::nullopt;
  return static_cast<AttributeKey>(*position);
}

}  // namespace xla_indexing
