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
#include <tuple>
#include <utility>
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

using W = ProtoWriter;

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

// What a field says and what text says for it, for opcodes for which XLA does not write it.
struct ByHand {
  std::string path;
  std::vector<std::string> opcodes;
  W fields;
  std::string text;
};

const std::vector<ByHand>& MessagesByHand() {
  static const auto* const messages = new std::vector<ByHand>{
      {"2", {"unheard-of"}, W(), " unheard-of("},
      {"14",
       {"all-reduce", "all-reduce-start", "collective-broadcast", "collective-reduce",
        "ragged-all-to-all", "unheard-of"},
       W().Packed(14, {1}),
       ", dimensions={1}"},
      {"20",
       {"collective-permute", "collective-permute-start"},
       W().Packed(20, {2, 3}),
       ", slice_sizes={2,3}"},
      {"26", {"collective-reduce", "unheard-of"}, W().Integer(26, 5), ", channel_id=5"},
      {"38", {"unheard-of"}, W().Packed(38, {7}), ", called_computations={%f}"},
      {"49",
       {"all-gather", "all-gather-start", "all-reduce", "all-reduce-start", "all-to-all",
        "collective-broadcast", "collective-reduce", "ragged-all-to-all", "reduce-scatter",
        "unheard-of"},
       W().Message(49, W().Packed(1, {1, 0})),
       ", replica_groups={{1,0}}"},
      {"51.2",
       {"convolution", "custom-call", "ragged-dot", "scaled-dot"},
       W().Message(51, W().Integer(2, 11)),
       ", algorithm=dot_f32_f32_f32"},
      {"52", {"unheard-of"}, W().Message(52, W().Integer(2, 3)), ", source_target_pairs={{0,3}}"},
      {"56",
       {"collective-broadcast", "collective-reduce", "ragged-all-to-all"},
       W().Integer(56, 1),
       ", constrain_layout=true"},
      {"60", {"topk"}, W().Integer(60, 1), ", is_stable=true"},
      {"71",
       {"all-to-all", "collective-broadcast", "collective-reduce", "ragged-all-to-all"},
       W().Integer(71, 1),
       ", use_global_device_ids=true"},
  };
  return *messages;
}

// The text of an instruction of the opcode that has these fields.
std::string TextOf(std::string_view opcode, const W& fields) {
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

std::string NameOf(HloOpcode opcode) {
  return std::string(opcode == HloOpcode::kUnknown ? "unheard-of" : OpcodeName(opcode));
}

TEST(ProtoAttributeTableTest, SamplesHaveEveryFieldOfEveryOpcode) {
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
      Paths paths;
      if (const auto found = samples.find(opcode); found != samples.end()) paths = found->second;
      for (const ByHand& message : MessagesByHand()) {
        for (const std::string& name : message.opcodes) {
          if (name == NameOf(opcode)) paths.insert(message.path);
        }
      }
      Paths absent;
      AddMissing({&row.field, 1}, "", paths, &absent);
      for (const std::string& path : absent) missing.insert(NameOf(opcode) + " " + path);
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(ProtoAttributeTableTest, FieldsThatXlaDoesNotWrite) {
  for (const ByHand& message : MessagesByHand()) {
    for (const std::string& opcode : message.opcodes) {
      EXPECT_THAT(TextOf(opcode, message.fields), HasSubstr(message.text));
    }
  }
}

// A field that is absent is 0 or empty, and most text leaves out what is.
TEST(ProtoAttributeTableTest, WhatIsAbsentIsWrittenWhereTextNeedsIt) {
  const std::map<std::string, std::string> attributes = {
      {"all-gather", "replica_groups={}"},
      {"all-gather-start", "replica_groups={}"},
      {"all-reduce", "replica_groups={}"},
      {"all-reduce-start", "replica_groups={}"},
      {"all-to-all", "replica_groups={}"},
      {"batch-norm-grad", "epsilon=0, feature_index=0"},
      {"batch-norm-inference", "epsilon=0, feature_index=0"},
      {"batch-norm-training", "epsilon=0, feature_index=0"},
      {"broadcast", "dimensions={}"},
      {"collective-broadcast", "replica_groups={}"},
      {"collective-permute", "source_target_pairs={}"},
      {"collective-permute-start", "source_target_pairs={}"},
      {"collective-reduce", "replica_groups={}"},
      {"concatenate", "dimensions={}"},
      {"custom-call", "custom_call_target=\"\", api_version=API_VERSION_UNSPECIFIED"},
      {"domain", "domain={kind=\"sharding\", entry={}, exit={}}"},
      {"dot", "lhs_contracting_dims={}, rhs_contracting_dims={}"},
      {"dynamic-slice", "dynamic_slice_sizes={}"},
      {"fft", "fft_type=FFT, fft_length={}"},
      {"gather",
       "offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=0, "
       "slice_sizes={}"},
      {"get-dimension-size", "dimensions={}"},
      {"get-tuple-element", "index=0"},
      {"map", "dimensions={}"},
      {"pad", "padding="},
      {"ragged-all-to-all", "replica_groups={}"},
      {"ragged-dot", "lhs_contracting_dims={}, rhs_contracting_dims={}, lhs_ragged_dims={}"},
      {"reduce", "dimensions={}"},
      {"reduce-precision", "exponent_bits=0, mantissa_bits=0"},
      {"reduce-scatter", "replica_groups={}"},
      {"reverse", "dimensions={}"},
      {"rng", "distribution=rng_invalid"},
      {"rng-bit-generator", "algorithm=rng_default"},
      {"rng-get-and-update-state", "delta=0"},
      {"scaled-dot", "lhs_contracting_dims={}, rhs_contracting_dims={}"},
      {"scan", "dimensions={}, num_carries=0"},
      {"scatter",
       "update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
       "index_vector_dim=0"},
      {"set-dimension-size", "dimensions={}"},
      {"slice", "slice={}"},
      {"sort", "dimensions={}"},
      {"topk", "k=0, largest=false"},
      {"transpose", "dimensions={}"},
  };
  W messages;
  messages.Message(30, W()).Message(33, W()).Message(48, W()).Message(51, W()).Message(59, W());
  messages.Message(61, W()).Message(62, W()).Message(90, W().Message(1, W())).Message(91, W());
  for (int i = 0; i < kOpcodeCount; ++i) {
    const std::string name = NameOf(static_cast<HloOpcode>(i));
    // What these have stands between the parentheses, or cannot be absent.
    if (name == "constant" || name == "parameter") continue;
    if (name == "compare" || name == "fusion" || name == "iota") continue;
    const auto found = attributes.find(name);
    EXPECT_EQ(TextOf(name, messages), "%i = f32[] " + name + "()" +
                                          (found == attributes.end() ? "" : ", " + found->second));
  }
}

TEST(ProtoAttributeTableTest, WhatCannotBeAbsent) {
  EXPECT_THAT(TextOf("compare", W()), HasSubstr("'' is no comparison_direction"));
  EXPECT_THAT(TextOf("fusion", W()), HasSubstr("'' is no fusion_kind"));
  EXPECT_THAT(TextOf("iota", W()), HasSubstr("an iota has one dimension, not 0"));
}

// Numbers, enumerators and flags of the message HloInstructionProto and those within.
TEST(ProtoAttributeTableTest, ANumberOfZeroIsLikeOneThatIsAbsent) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const std::string name = NameOf(static_cast<HloOpcode>(i));
    const std::string absent = TextOf(name, W());
    for (const uint32_t number : {13, 18, 19, 23, 25, 26, 31, 47, 50, 56, 58, 60, 65, 66,
                                  67, 69, 70, 71, 75, 76, 77, 81, 85, 89, 94, 95, 96, 97}) {
      EXPECT_EQ(TextOf(name, W().Integer(number, 0)), absent) << number;
    }
    for (const auto& [message, number] :
         {std::pair(59, 1), {59, 2}, {59, 3}, {59, 4}, {62, 1}, {51, 2}, {91, 1}}) {
      EXPECT_EQ(TextOf(name, W().Message(message, W().Integer(number, 0))), absent) << number;
    }
    // Any other number is true.
    for (const uint32_t flag : {47, 56, 60, 65, 67, 69, 71, 85, 89, 94}) {
      EXPECT_EQ(TextOf(name, W().Integer(flag, -1)), TextOf(name, W().Integer(flag, 1))) << flag;
    }
    for (const auto& [message, flag] : {std::pair(59, 1), {59, 2}, {59, 3}, {62, 1}}) {
      EXPECT_EQ(TextOf(name, W().Message(message, W().Integer(flag, -1))),
                TextOf(name, W().Message(message, W().Integer(flag, 1))))
          << flag;
    }
    // Counts and channels are positive.
    for (const uint32_t count : {26, 50, 58}) {
      EXPECT_EQ(TextOf(name, W().Integer(count, -1)), absent) << count;
    }
  }
}

TEST(ProtoAttributeTableTest, NoEnumeratorIsNegative) {
  for (const auto& [opcode, number] : {std::pair("convolution", 97),
                                       {"scan", 96},
                                       {"custom-call", 75},
                                       {"custom-call", 76},
                                       {"custom-call", 77},
                                       {"fft", 31},
                                       {"rng", 23},
                                       {"rng-bit-generator", 70}}) {
    EXPECT_THAT(TextOf(opcode, W().Integer(number, -1)), HasSubstr("has the number -1")) << number;
  }
  for (const auto& [opcode, message, number] :
       {std::tuple("dot", 51, 2), {"triangular-solve", 59, 4}, {"add", 91, 1}}) {
    EXPECT_THAT(TextOf(opcode, W().Message(message, W().Integer(number, -1))),
                HasSubstr("has the number -1"));
  }
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
