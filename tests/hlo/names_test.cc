// Looking up the names that the language has.

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/name_index.h"
#include "xla_indexing/hlo/opcode.h"

namespace xla_indexing {
namespace {

TEST(Names, AnIndexFindsItsNamesAndNoOther) {
  constexpr std::array<absl::string_view, 5> kNames = {"add", "", "and", "a", "adds"};
  constexpr NameIndex kIndex(kNames);
  for (size_t i = 0; i < kNames.size(); ++i) {
    EXPECT_EQ(kIndex.Find(kNames[i]), kNames[i].empty() ? std::nullopt : std::optional<size_t>(i));
  }
  for (const absl::string_view other : {"ad", "addd", "b", "sub", "AND", "aNd"}) {
    EXPECT_EQ(kIndex.Find(other), std::nullopt) << other;
  }
}

TEST(Names, EveryOpcodeAttributeAndElementTypeIsFoundByItsName) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    EXPECT_EQ(OpcodeFromName(OpcodeName(opcode)), opcode);
    EXPECT_EQ(OpcodeFromName(absl::StrCat(OpcodeName(opcode), "-")), std::nullopt);
  }
  for (int i = 0; i <= static_cast<int>(AttributeKey::kOutputToOperandAliasing); ++i) {
    const auto key = static_cast<AttributeKey>(i);
    if (AttributeName(key).empty()) continue;
    EXPECT_EQ(AttributeKeyFromName(AttributeName(key)), key);
  }
  EXPECT_EQ(ElementTypeFromName("bf16"), ElementType::kBF16);
  EXPECT_EQ(ElementTypeFromName(ElementTypeName(ElementType::kTuple)), std::nullopt);
  EXPECT_EQ(ElementTypeFromName(ElementTypeName(ElementType::kBuffer)), std::nullopt);
}

}  // namespace
}  // namespace xla_indexing
