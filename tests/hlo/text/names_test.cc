// Looking names up: of instructions, in computations small and large, and of what the language has.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/name_index.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing::internal {
namespace {

// A parameter and so many negations of it, named n0, n1, ..
void AddNegations(int64_t count, HloComputation* computation) {
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  const HloInstruction* parameter = computation->AddParameter(0, "p", shape);
  for (int64_t i = 0; i < count; ++i) {
    computation->AddInstruction(HloOpcode::kNegate, absl::StrCat("n", i), shape, {parameter});
  }
}

TEST(Names, EveryInstructionIsFoundByItsName) {
  for (const int64_t count : {0, 1, 7, 8, 9, 23, 24, 25, 1000}) {
    HloModule module("m");
    HloComputation* computation = module.AddComputation("c");
    AddNegations(count, computation);
    for (const HloInstruction* instruction : computation->instructions()) {
      EXPECT_EQ(computation->FindInstruction(instruction->name()), instruction) << count;
    }
    EXPECT_EQ(computation->FindInstruction(absl::StrCat("n", count)), nullptr);
    EXPECT_EQ(computation->FindInstruction("n"), nullptr);
    EXPECT_EQ(computation->FindInstruction(""), nullptr);
    EXPECT_TRUE(computation->HasUniqueNames());
  }
}

TEST(Names, TheFirstOfTwoInstructionsWithOneNameIsFound) {
  for (const int64_t count : {1, 7, 8, 50}) {
    HloModule module("m");
    HloComputation* computation = module.AddComputation("c");
    AddNegations(count, computation);
    const HloInstruction* first = computation->FindInstruction("n0");
    const HloInstruction* second =
        computation->AddInstruction(HloOpcode::kNegate, "n0", first->shape(), {first});
    EXPECT_NE(second, first);
    EXPECT_EQ(computation->FindInstruction("n0"), first);
    EXPECT_FALSE(computation->HasUniqueNames());
    const absl::Status status = VerifyModule(module);
    EXPECT_EQ(status.message(), "instruction 'n0' (negate) is defined twice in computation 'c'");
  }
}

TEST(Names, AnInstructionNeedsOne) {
  HloModule module("m");
  HloComputation* computation = module.AddComputation("c");
  computation->AddParameter(0, "", Shape::Array(ElementType::kF32, {4}));
  EXPECT_EQ(VerifyModule(module).message(), "instruction '' (parameter) has no name");
}

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
    if (opcode == HloOpcode::kUnknown) continue;
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
}  // namespace xla_indexing::internal
