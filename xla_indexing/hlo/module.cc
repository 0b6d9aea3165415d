#include "xla_indexing/hlo/module.h"

#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {
namespace {

int64_t CountOr1(std::optional<absl::string_view> text) {
  int64_t count = 0;
  return text.has_value() && absl::SimpleAtoi(*text, &count) && count > 0 ? count : 1;
}

}  // namespace

const HloComputation* HloModule::entry_computation() const {
  if (entry_ != nullptr) return entry_;
  return computations_.empty() ? nullptr : computations_.back();
}

const HloComputation* HloModule::FindComputation(absl::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

int64_t HloModule::instruction_count() const {
  int64_t count = 0;
  for (const HloComputation* computation : computations_) count += computation->instruction_count();
  return count;
}

std::optional<absl::string_view> HloModule::FindAttribute(absl::string_view name) const {
  for (const ModuleAttribute& attribute : attributes_) {
    if (attribute.name == name) return attribute.text;
  }
  return std::nullopt;
}

void HloModule::SetAttribute(absl::string_view name, absl::string_view text) {
  for (ModuleAttribute& attribute : attributes_) {
    if (attribute.name == name) {
      attribute.text = arena_.CopyString(text);
      return;
    }
  }
  attributes_.push_back({arena_.CopyString(name), arena_.CopyString(text)});
}

bool HloModule::is_scheduled() const {
  return FindAttribute("is_scheduled") == absl::string_view("true");
}

int64_t HloModule::replica_count() const { return CountOr1(FindAttribute("replica_count")); }

int64_t HloModule::num_partitions() const { return CountOr1(FindAttribute("num_partitions")); }

HloComputation* HloModule::AddComputation(absl::string_view name) {
  HloComputation* computation = MakeComputation(arena_.CopyString(name));
  Adopt(computation);
  return computation;
}

HloComputation* HloModule::MakeComputation(absl::string_view owned_name) {
  return arena_.New<HloComputation>(this, owned_name);
}

bool HloModule::Adopt(HloComputation* computation) {
  computation->index_ = static_cast<int64_t>(computations_.size());
  computations_.push_back(computation);
  return computation->name_.empty() || by_name_.try_emplace(computation->name_, computation).second;
}

}  // namespace xla_indexing
