#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"

#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace xla_indexing {

void CustomCallRegistry::Add(absl::string_view target, CustomCallRule rule) {
  rules_.insert_or_assign(std::string(target), std::move(rule));
}

const CustomCallRule* CustomCallRegistry::Find(absl::string_view target) const {
  const auto rule = rules_.find(target);
  return rule == rules_.end() ? nullptr : &rule->second;
}

}  // namespace xla_indexing
