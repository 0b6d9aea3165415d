#include "xla_indexing/hlo/attribute.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {
namespace {

struct AttributeProperties {
  absl::string_view name;
  AttributeKind kind;
};

constexpr std::array kProperties = {
#define XLA_INDEXING_PROPERTIES(enumerator, name, kind) \
  AttributeProperties{name, AttributeKind::kind},
    XLA_INDEXING_ATTRIBUTES(XLA_INDEXING_PROPERTIES)
#undef XLA_INDEXING_PROPERTIES
};

}  // namespace

AttributeKind KindOf(AttributeKey key) { return kProperties[static_cast<size_t>(key)].kind; }

absl::string_view AttributeName(AttributeKey key) {
  return kProperties[static_cast<size_t>(key)].name;
}

std::optional<AttributeKey> AttributeKeyFromName(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* by_name = new absl::flat_hash_map<absl::string_view, AttributeKey>();
    for (size_t i = 0; i < kProperties.size(); ++i) {
      if (!kProperties[i].name.empty()) {
        by_name->emplace(kProperties[i].name, static_cast<AttributeKey>(i));
      }
    }
    return by_name;
  }();
  const auto it = kByName->find(name);
  if (it == kByName->end()) return std::nullopt;
  return it->second;
}

}  // namespace xla_indexing
