// Every row of the table stands, for every opcode that it names, in a message that XLA made of a text
// beside it, so that ProtoReaderTest, which reads both, judges it; or in a message made here by hand,
// where XLA writes the field no more or not for that opcode.

#include "xla_indexing/hlo/proto/proto_attribute_table.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/proto_writer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/proto/proto_reader.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> SampleMessages() {
  std::vector<std::string> messages;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(XLA_INDEXING_SOURCE_DIR) / "tests/hlo/protos")) {
    if (file.path().extension() != ".pb") continue;
    std::ifstream stream(file.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    messages.push_back(bytes.str());
  }
  return messages;
}

// The paths of fields in the instructions of an opcode, `33.1` for field 1 of the message in field 33.
using Paths = std::set<std::string>;

void AddPaths(const WireMessage& message, absl::Span<const AttributeField> rows,
              const std::string& prefix, Paths* paths) {
  for (const AttributeField& row : rows) {
    const std::string path = prefix + std::to_string(row.field.number);
    if (message.Has(row.field)) paths->insert(path);
    if (row.fields.empty()) continue;
    message.Message(row.field,
                    [&](const WireMessage& m) { AddPaths(m, row.fields, path + ".", paths); });
  }
}

// The paths of the rows of each opcode that the samples have.
std::map<HloOpcode, Paths> PathsInSamples() {
  std::map<HloOpcode, Paths> paths;
  for (const std::string& bytes : SampleMessages()) {
    ProtoSource source(bytes, "HloModuleProto");
    WireMessage(bytes, source).Messages({3}, [&](const WireMessage& computation, int64_t) {
      computation.Messages({2}, [&](const WireMessage& instruction, int64_t) {
        const auto opcode = OpcodeFromName(instruction.Bytes({2}));
        ASSERT_TRUE(opcode.has_value());
        for (const uint8_t row : RowsOf(*opcode)) {
          AddPaths(instruction, {&InstructionFields()[row].field, 1}, "", &paths[*opcode]);
        }
      });
    });
    EXPECT_FALSE(source.failed()) << source.error();
  }
  return paths;
}

void AddMissing(absl::Span<const AttributeField> rows, const std::string& prefix,
                const Paths& paths, Paths* missing) {
  for (const AttributeField& row : rows) {
    const std::string path = prefix + std::to_string(row.field.number);
    if (row.field.number != 0 && paths.count(path) == 0) missing->insert(path);
    AddMissing(row.fields, path + ".", paths, missing);
  }
}

// What a field says, and what text says for it, whatever the opcode. By the path of the field.
struct ByHand {
  ProtoWriter fields;
  std::string text;
};

std::map<std::string, ByHand> MessagesByHand() {
  using W = ProtoWriter;
  return {
      {"14", {W().Packed(14, {1}), ", dimensions={1}"}},
      {"2", {W(), " unheard-of("}},
      {"20", {W().Packed(20, {2, 3}), ", slice_sizes={2,3}"}},
      {"26", {W().Integer(26, 5), ", channel_id=5"}},
      {"38", {W().Packed(38, {7}), ", called_computations={%f}"}},
      {"49", {W().Message(49, W().Packed(1, {1, 0})), ", replica_groups={{1,0}}"}},
      {"51.2", {W().Message(51, W().Integer(2, 11)), ", algorithm=dot_f32_f32_f32"}},
      {"52", {W().Message(52, W().Integer(2, 3)), ", source_target_pairs={{0,3}}"}},
      {"56", {W().Integer(56, 1), ", constrain_layout=true"}},
      {"60", {W().Integer(60, 1), ", is_stable=true"}},
      {"71", {W().Integer(71, 1), ", use_global_device_ids=true"}},
  };
}

// The text of an instruction of the opcode that has these fields.
std::string TextOf(std::string_view opcode, const ProtoWriter& fields) {
  using W = ProtoWriter;
  const W shape = W().Integer(2, 11);
  const W f = W().Bytes(1, "p").Bytes(2, "parameter").Message(3, shape).Integer(35, 1);
  const W of_fields =
      W().Bytes(1, "i").Bytes(2, opcode).Message(3, shape).Integer(35, 2).Append(fields);
  const W module =
      W().Bytes(1, "m")
          .Message(3, W().Bytes(1, "f").Message(2, f).Integer(5, 7).Integer(6, 1))
          .Message(3, W().Bytes(1, "e").Message(2, of_fields).Integer(5, 8).Integer(6, 2))
          .Integer(6, 8);
  const auto read = ReadHloModuleProto(module.bytes());
  if (!read.ok()) return std::string(read.status().message());
  return (*read)->entry_computation()->root_instruction()->ToString();
}

TEST(ProtoAttributeTableTest, SamplesHaveEveryFieldOfEveryOpcode) {
  const std::map<std::string, ByHand> by_hand = MessagesByHand();
  const std::map<HloOpcode, Paths> samples = PathsInSamples();
  Paths missing;
  for (const InstructionField& row : InstructionFields()) {
    if (row.opcodes.Has(HloOpcode::kAbs)) {
      // A field that all opcodes have, or all but a few that are named.
      Paths all;
      for (const auto& [opcode, paths] : samples) all.insert(paths.begin(), paths.end());
      AddMissing({&row.field, 1}, "", all, &missing);
      continue;
    }
    for (int i = 0; i < kOpcodeCount; ++i) {
      const auto opcode = static_cast<HloOpcode>(i);
      if (!row.opcodes.Has(opcode)) continue;
      const auto found = samples.find(opcode);
      Paths paths;
      AddMissing({&row.field, 1}, "", found == samples.end() ? Paths() : found->second, &paths);
      const std::string name(opcode == HloOpcode::kUnknown ? "unheard-of" : OpcodeName(opcode));
      for (const std::string& path : paths) {
        const auto made = by_hand.find(path);
        ASSERT_NE(made, by_hand.end()) << "no sample of a " << name << " has field " << path;
        EXPECT_THAT(TextOf(name, made->second.fields), HasSubstr(made->second.text));
      }
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(ProtoAttributeTableTest, SamplesHaveEveryAttribute) {
  std::set<AttributeKey> seen;
  for (const std::string& bytes : SampleMessages()) {
    const auto module = ReadHloModuleProto(bytes);
    ASSERT_TRUE(module.ok()) << module.status().message();
    for (const HloComputation* computation : (*module)->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        for (const Attribute& attribute : instruction->attributes()) seen.insert(attribute.key);
      }
    }
  }
  // XLA knows all opcodes; and whether a root is an operand follows from the number of operands.
  seen.insert({AttributeKey::kUnknownOpcode, AttributeKey::kHasDynamicRoot});
#define XLA_INDEXING_EXPECT(enumerator, name, kind) \
  EXPECT_EQ(seen.count(AttributeKey::enumerator), 1) << #enumerator;
  XLA_INDEXING_ATTRIBUTES(XLA_INDEXING_EXPECT)
#undef XLA_INDEXING_EXPECT
}

}  // namespace
}  // namespace xla_indexing::internal
