// The positions of names in a list that is known when the program is compiled: spellings of
// opcodes, attributes and element types.
//
// The table is made by the compiler, so that a program that reads no HLO text does not make it when
// it starts, and it looks at four characters of a name before it compares: the names are short, the
// list is not.
//
// Example:
//
//   constexpr NameIndex kIndex(std::array<absl::string_view, 2>{"add", "abs"});
//   kIndex.Find("abs");  // 1
//   kIndex.Find("sub");  // none

#ifndef XLA_INDEXING_HLO_TYPES_NAME_INDEX_H_
#define XLA_INDEXING_HLO_TYPES_NAME_INDEX_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace xla_indexing::internal {

template <size_t kCount>
class NameIndex {
 public:
  // A name that is empty is never found; the others must differ from one another.
  constexpr explicit NameIndex(const std::array<absl::string_view, kCount>& names) : names_(names) {
    for (size_t i = 0; i < kCount; ++i) {
      if (names[i].empty()) continue;
      size_t slot = Hash(names[i]);
      while (slots_[slot] != 0) slot = Next(slot);
      slots_[slot] = static_cast<uint16_t>(i + 1);
    }
  }

  std::optional<size_t> Find(absl::string_view name) const {
    if (name.empty()) return std::nullopt;
    for (size_t slot = Hash(name); slots_[slot] != 0; slot = Next(slot)) {
      const size_t i = slots_[slot] - 1;
      if (names_[i] == name) return i;
    }
    return std::nullopt;
  }

 private:
  static_assert(kCount < UINT16_MAX);
  // At most a quarter of the slots is taken, so that most names are found, or missed, at once.
  static constexpr size_t kSlots = std::bit_ceil(4 * kCount);

  static constexpr size_t Next(size_t slot) { return (slot + 1) % kSlots; }

  // The hash of a name, which is not empty.
  static constexpr size_t Hash(absl::string_view name) {
    constexpr uint32_t kMultiplier = 0x9E3779B1;
    const size_t size = name.size();
    auto hash = static_cast<uint32_t>(size);
    for (const size_t i : {size_t{0}, size / 3, size / 2, size - 1}) {
      hash = (hash ^ static_cast<uint8_t>(name[i])) * kMultiplier;
      hash ^= hash >> 15;
    }
    return hash % kSlots;
  }

  std::array<absl::string_view, kCount> names_;
  std::array<uint16_t, kSlots> slots_{};  // 1 + the position of a name; 0 where there is none.
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TYPES_NAME_INDEX_H_
