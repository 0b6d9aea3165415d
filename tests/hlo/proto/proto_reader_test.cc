#include "xla_indexing/hlo/proto/proto_reader.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "tests/testing/effort.h"
#include "tests/testing/proto_writer.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using W = ProtoWriter;

// The element types that the messages below have, by their numbers.
constexpr int64_t kPredNumber = 1;
constexpr int64_t kS32Number = 4;
constexpr int64_t kF32Number = 11;
constexpr int64_t kTupleNumber = 13;

std::string ReadWholeFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The texts in protos/, each with the message that XLA makes of it beside it.
std::vector<std::filesystem::path> TextsWithMessages() {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(XLA_INDEXING_SOURCE_DIR) / "tests/hlo/protos")) {
    if (file.path().extension() == ".hlo") paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string MessageOf(const std::filesystem::path& text) {
  return ReadWholeFile(text.string() + ".pb");
}

W ShapeMessage(int64_t type, const std::vector<int64_t>& sizes) {
  W layout;
  std::vector<int64_t> order;
  for (auto d = static_cast<int64_t>(sizes.size()); d-- > 0;) order.push_back(d);
  if (!order.empty()) layout.Packed(1, order);
  W shape = W().Integer(2, type);
  if (!sizes.empty()) shape.Packed(3, sizes);
  return shape.Message(5, layout);
}

// An instruction of the shape f32[4]; more fields may be added.
W InstructionMessage(int64_t id, std::string_view name, std::string_view opcode,
                     const std::vector<int64_t>& operands = {}) {
  W message = W().Bytes(1, name).Bytes(2, opcode).Message(3, ShapeMessage(kF32Number, {4}));
  message.Integer(35, id);
  if (!operands.empty()) message.Packed(36, operands);
  return message;
}

W ParameterMessage(int64_t id, std::string_view name, int64_t number = 0) {
  return InstructionMessage(id, name, "parameter").Integer(9, number);
}

W ComputationMessage(int64_t id, std::string_view name, int64_t root,
                     const std::vector<W>& instructions) {
  W message = W().Bytes(1, name);
  for (const W& instruction : instructions) message.Message(2, instruction);
  return message.Integer(5, id).Integer(6, root);
}

W ModuleMessage(const std::vector<W>& computations, int64_t entry) {
  W message = W().Bytes(1, "m");
  for (const W& computation : computations) message.Message(3, computation);
  return message.Integer(6, entry);
}

// A module of one computation.
W ModuleOf(const std::vector<W>& instructions, int64_t root) {
  return ModuleMessage({ComputationMessage(1, "e", root, instructions)}, 1);
}

// The module that a message holds; null, and a failed expectation, if it holds none.
std::unique_ptr<HloModule> Read(const W& message) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ReadHloModuleProto(message.bytes(), "f.pb");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? *std::move(module) : nullptr;
}

std::string MessageError(const W& message) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module =
      ReadHloModuleProto(message.bytes(), "f.pb");
  return module.ok() ? "" : std::string(module.status().message());
}

// The error in the one instruction that a module has besides a parameter of id 1.
std::string ErrorOfInstruction(const W& instruction) {
  return MessageError(ModuleOf({ParameterMessage(1, "p"), instruction}, 1));
}

// Expects that the message is read as the text is.
void ExpectReadAs(const W& message, std::string_view text) {
  const std::unique_ptr<HloModule> read = Read(message);
  const std::unique_ptr<HloModule> parsed = RoundTrip({text.data(), text.size()});
  ASSERT_NE(read, nullptr);
  ASSERT_NE(parsed, nullptr);
  std::string difference;
  EXPECT_TRUE(ModulesEqual(*read, *parsed, &difference)) << difference << "\n" << read->ToString();
}

TEST(ProtoReaderTest, GivesTheModuleOfTheTextThatXlaMadeTheMessageOf) {
  int count = 0;
  for (const std::filesystem::path& path : TextsWithMessages()) {
    const auto parsed = ParseAndVerifyModule(ReadWholeFile(path), path.string());
    const auto read = ReadAndVerifyHloModuleProto(MessageOf(path), path.string());
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    ASSERT_TRUE(read.ok()) << read.status().message();
    std::string difference;
    EXPECT_TRUE(ModulesEqual(**read, **parsed, &difference)) << path << ": " << difference;
    const auto again = ParseModule((*read)->ToString());
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(ModulesEqual(**read, **again, &difference)) << path << ": " << difference;
    EXPECT_EQ((*read)->source(), nullptr);
    ++count;
  }
  EXPECT_EQ(count, 9);
}

TEST(ProtoReaderTest, NothingOfAModuleRefersToTheBytes) {
  for (const std::filesystem::path& path : TextsWithMessages()) {
    auto bytes = std::make_unique<std::string>(MessageOf(path));
    const auto read = ReadHloModuleProto(*bytes);
    ASSERT_TRUE(read.ok());
    const std::string before = (*read)->ToString();
    std::fill(bytes->begin(), bytes->end(), 'x');
    bytes.reset();
    EXPECT_EQ((*read)->ToString(), before);
    EXPECT_NE((*read)->FindComputation("main"), nullptr);
    EXPECT_NE((*read)->entry_computation()->FindInstruction(
                  (*read)->entry_computation()->root_instruction()->name()),
              nullptr);
  }
}

TEST(ProtoReaderTest, AModuleMayStandInAnHloProto) {
  const W module = ModuleOf({ParameterMessage(1, "p")}, 1);
  ExpectReadAs(W().Message(1, module).Message(3, W()),
               "HloModule m\nENTRY e { ROOT p = f32[4]{0} parameter(0) }");
}

TEST(ProtoReaderTest, ContentTellsMessagesFromText) {
  for (const std::filesystem::path& path : TextsWithMessages()) {
    EXPECT_TRUE(LooksLikeHloModuleProto(MessageOf(path))) << path;
    EXPECT_FALSE(LooksLikeHloModuleProto(ReadWholeFile(path))) << path;
    EXPECT_FALSE(LooksLikeHloModuleProto("\n" + ReadWholeFile(path))) << path;
  }
  EXPECT_TRUE(
      LooksLikeHloModuleProto(W().Message(1, ModuleOf({ParameterMessage(1, "p")}, 1)).bytes()));
  EXPECT_FALSE(LooksLikeHloModuleProto(""));
  EXPECT_FALSE(LooksLikeHloModuleProto("\n\r\n\tENTRY e { }"));
  EXPECT_FALSE(LooksLikeHloModuleProto("ENTRY e { \x01 }"));
}

// Messages of other versions of XLA than the one that made those in protos/.

TEST(ProtoReaderTest, IdsMayBeAnyNumbers) {
  const int64_t first = int64_t{7} << 32;
  ExpectReadAs(
      ModuleMessage({ComputationMessage(-5, "e", first + 1,
                                        {ParameterMessage(first, "p"),
                                         InstructionMessage(first + 1, "n", "negate", {first})})},
                    -5),
      "HloModule m\nENTRY e { p = f32[4]{0} parameter(0)\n"
      "ROOT n = f32[4]{0} negate(p) }");
}

TEST(ProtoReaderTest, TheEntryMayBeSaidByItsNameAlone) {
  const W message = ModuleMessage({ComputationMessage(3, "a", 1, {ParameterMessage(1, "p")}),
                                   ComputationMessage(4, "b", 1, {ParameterMessage(1, "p")})},
                                  /*entry=*/0)
                        .Bytes(2, "a");
  const auto module = Read(message);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry_computation()->name(), "a");
}

TEST(ProtoReaderTest, ListsMayBeWrittenOneNumberAField) {
  W shape = W().Integer(2, kF32Number).Integer(3, 2).Integer(3, 3);
  shape.Message(5, W().Integer(1, 0).Integer(1, 1));
  W instruction = W().Bytes(1, "p").Bytes(2, "parameter").Message(3, shape).Integer(35, 1);
  ExpectReadAs(ModuleOf({instruction}, 1),
               "HloModule m\nENTRY e { ROOT p = f32[2,3]{0,1} parameter(0) }");
}

TEST(ProtoReaderTest, ReplicaGroupsMayStandInTheirOldField) {
  const W group = W().Packed(1, {0, 2});
  W gather = InstructionMessage(2, "g", "all-gather", {1}).Packed(14, {0}).Integer(26, 3);
  gather.Message(49, group).Message(49, W().Packed(1, {1, 3}));
  ExpectReadAs(ModuleOf({ParameterMessage(1, "p"), gather}, 2),
               "HloModule m\nENTRY e { p = f32[4]{0} parameter(0)\n"
               "ROOT g = f32[4]{0} all-gather(p), channel_id=3, replica_groups={{0,2},{1,3}}, "
               "dimensions={0} }");
}

TEST(ProtoReaderTest, BackendConfigsMayBeSharedOrStandInAPayload) {
  W negate = InstructionMessage(2, "n", "negate", {1}).Message(99, W().Integer(2, 1));
  W again = InstructionMessage(3, "o", "negate", {1}).Message(99, W().Bytes(1, "{\"b\":2}"));
  ExpectReadAs(ModuleOf({ParameterMessage(1, "p"), negate, again}, 3)
                   .Bytes(22, "{\"a\":0}")
                   .Bytes(22, "{\"a\":1}"),
               "HloModule m\nENTRY e { p = f32[4]{0} parameter(0)\n"
               "n = f32[4]{0} negate(p), backend_config={\"a\":1}\n"
               "ROOT o = f32[4]{0} negate(p), backend_config={\"b\":2} }");
  EXPECT_THAT(ErrorOfInstruction(negate), HasSubstr("the module has no payload 1"));
}

TEST(ProtoReaderTest, AConstantWithoutItsValueIsElided) {
  ExpectReadAs(ModuleOf({InstructionMessage(1, "c", "constant")}, 1),
               "HloModule m\nENTRY e { ROOT c = f32[4]{0} constant({...}) }");
}

TEST(ProtoReaderTest, InstructionsStandInTheOrderOfTheSchedule) {
  const W computation = ComputationMessage(
      7, "e", 4,
      {ParameterMessage(1, "p"), InstructionMessage(2, "a", "negate", {1}),
       InstructionMessage(3, "b", "abs", {1}), InstructionMessage(4, "c", "add", {2, 3})});
  const auto scheduled = [&](const std::vector<int64_t>& ids) {
    return ModuleMessage({computation}, 7)
        .Message(7, W().Message(1, W().Integer(1, 7).Message(2, W().Packed(1, ids))));
  };
  ExpectReadAs(scheduled({1, 3, 2, 4}),
               "HloModule m, is_scheduled=true\nENTRY e { p = f32[4]{0} parameter(0)\n"
               "b = f32[4]{0} abs(p)\n a = f32[4]{0} negate(p)\n ROOT c = f32[4]{0} add(a, b) }");
  EXPECT_THAT(MessageError(scheduled({1, 2, 4, 3})),
              HasSubstr("instructions[3] (instruction 'c'): operand 1 is instruction 3, which does "
                        "not come before this one"));
  EXPECT_THAT(MessageError(scheduled({1, 2, 3})),
              HasSubstr("the schedule has 3 instructions, not 4"));
  EXPECT_THAT(MessageError(scheduled({1, 2, 3, 3})),
              HasSubstr("(instruction 'b'): there is another instruction of this name"));
  EXPECT_THAT(MessageError(scheduled({1, 2, 3, 9})),
              HasSubstr("an instruction 9, which is not there"));
}

TEST(ProtoReaderTest, ACompiledModuleSaysItsNumbersOfReplicasAndPartitions) {
  for (const auto& [replicas, partitions] : {std::pair(1, 8), std::pair(4, 1), std::pair(2, 3)}) {
    const auto module = Read(ModuleOf({ParameterMessage(1, "p")}, 1)
                                 .Message(15, W().Integer(1, replicas).Integer(2, partitions)));
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(module->replica_count(), replicas);
    EXPECT_EQ(module->num_partitions(), partitions);
    EXPECT_EQ(module->attributes().size(), (replicas > 1) + (partitions > 1));
  }
}

TEST(ProtoReaderTest, ThreadsOfTheDeviceItselfAreNotNamed) {
  for (const char* thread : {"main", "host"}) {
    const auto module = Read(ModuleMessage(
        {ComputationMessage(1, "e", 1, {ParameterMessage(1, "p")}).Bytes(8, thread)}, 1));
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(module->entry_computation()->execution_thread(),
              std::string(thread) == "main" ? "" : thread);
  }
}

// What is wrong is said with its place.

TEST(ProtoReaderErrorTest, NamesTheByteTheFieldsAndTheInstruction) {
  // 20 bytes before it, as laid out by hand: name of the module (3), key and length of the
  // computation (2), its name (3); then the first instruction.
  const std::string error = MessageError(ModuleOf({InstructionMessage(1, "x", "not-1!")}, 1));
  EXPECT_EQ(error,
            "f.pb: error: byte 10, computations[0].instructions[0] (instruction 'x'): expected an "
            "opcode, found 'not-1!'");
}

TEST(ProtoReaderErrorTest, OperandsComeBefore) {
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "n", "negate", {3})),
              HasSubstr("computations[0].instructions[1] (instruction 'n'): operand 0 is "
                        "instruction 3, which does not come before this one"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "n", "negate", {2})),
              HasSubstr("operand 0 is instruction 2"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "n", "negate", {1}).Packed(37, {5})),
              HasSubstr("control predecessor 5 does not come before"));
}

TEST(ProtoReaderErrorTest, CalledComputationsComeBefore) {
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "c", "call", {1}).Packed(38, {1})),
              HasSubstr("computation 1, which this calls, does not come before it"));
  EXPECT_THAT(MessageError(ModuleMessage(
                  {ComputationMessage(4, "f", 1, {ParameterMessage(1, "p")}),
                   ComputationMessage(5, "e", 2,
                                      {ParameterMessage(1, "p"),
                                       InstructionMessage(2, "w", "while", {1}).Packed(38, {4})})},
                  5)),
              HasSubstr("a while calls 2 computations, not 1"));
}

TEST(ProtoReaderErrorTest, NamesAndIdsAreOfOneEach) {
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "p", "negate", {1})),
              HasSubstr("there is another instruction of this name in its computation"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(1, "n", "negate", {1})),
              HasSubstr("there is another instruction of the id 1"));
  const W one = ComputationMessage(1, "e", 1, {ParameterMessage(1, "p")});
  EXPECT_THAT(MessageError(ModuleMessage({one, one}, 1)),
              HasSubstr("computations[1] (computation 'e'): there is another computation of this "
                        "name"));
  EXPECT_THAT(MessageError(ModuleMessage(
                  {one, ComputationMessage(1, "f", 1, {ParameterMessage(1, "p")})}, 1)),
              HasSubstr("there is another computation of the id 1"));
  EXPECT_THAT(ErrorOfInstruction(ParameterMessage(2, "q", 0)),
              HasSubstr("parameter number 0 is taken or out of range"));
  EXPECT_THAT(ErrorOfInstruction(ParameterMessage(2, "q", -1)),
              HasSubstr("parameter number -1 is taken or out of range"));
  EXPECT_THAT(ErrorOfInstruction(ParameterMessage(2, "q", 2)),
              HasSubstr("there is a parameter 2 but no parameter 1"));
}

TEST(ProtoReaderErrorTest, ParametersAndConstantsHaveNoOperands) {
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "q", "parameter", {1}).Integer(9, 1)),
              HasSubstr("a parameter has no operands, but 1 are given"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "c", "constant", {1, 1})),
              HasSubstr("a constant has no operands, but 2 are given"));
}

TEST(ProtoReaderErrorTest, NamesAreThoseOfText) {
  for (const char* name : {"a b", "%a", "1", "-", "a\n", "\xC3\xA4"}) {
    EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, name, "negate", {1})),
                HasSubstr("is none of HLO text"))
        << name;
    EXPECT_THAT(MessageError(ModuleMessage({ComputationMessage(1, name, 1, {})}, 1)),
                HasSubstr("the name of a computation, "))
        << name;
  }
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "", "negate", {1})),
              HasSubstr("an instruction has no name"));
  EXPECT_EQ(MessageError(W()), "f.pb: error: byte 0, HloModuleProto: the module has no name");
}

TEST(ProtoReaderErrorTest, RootAndEntryExist) {
  EXPECT_THAT(
      MessageError(ModuleOf({ParameterMessage(1, "p")}, 2)),
      HasSubstr("computations[0] (computation 'e'): there is no instruction 2, which should "
                "be the root"));
  EXPECT_THAT(
      MessageError(ModuleMessage({ComputationMessage(1, "e", 1, {ParameterMessage(1, "p")})}, 9)),
      HasSubstr("there is no computation 9, which should be the entry"));
}

TEST(ProtoReaderErrorTest, ShapesAreValid) {
  const auto error_of_shape = [](const W& shape) {
    return MessageError(ModuleOf({W().Bytes(1, "p").Bytes(2, "parameter").Message(3, shape)}, 0));
  };
  EXPECT_THAT(error_of_shape(W()), HasSubstr("shape (instruction 'p'): no element type has the "
                                             "number 0"));
  EXPECT_THAT(error_of_shape(W().Integer(2, 35)), HasSubstr("no element type has the number 35"));
  EXPECT_THAT(error_of_shape(W().Integer(2, kF32Number).Packed(3, {2, -1})),
              HasSubstr("the size of a dimension is -1"));
  EXPECT_THAT(error_of_shape(W().Integer(2, kF32Number).Packed(3, {INT64_MAX, 2})),
              HasSubstr("64"));
  EXPECT_THAT(error_of_shape(ShapeMessage(kF32Number, {2, 3}).Message(5, W().Packed(1, {0, 0}))),
              HasSubstr("shape.layout (instruction 'p'): this layout is no permutation of the 2 "
                        "dimensions of f32[2,3]"));
  const auto error_of_layout = [&](const W& layout) {
    return error_of_shape(W().Integer(2, kF32Number).Message(5, layout));
  };
  EXPECT_EQ(error_of_layout(W().Integer(11, kS32Number)), "");
  EXPECT_THAT(error_of_layout(W().Integer(11, kTupleNumber)), HasSubstr("no type of integers"));
  EXPECT_THAT(error_of_layout(W().Message(17, W().Integer(1, 0))), HasSubstr("no indices"));
  EXPECT_THAT(error_of_layout(W().Message(6, W().Packed(1, {-1}))),
              HasSubstr("the size of a tile is -1"));
  EXPECT_THAT(error_of_layout(W().Packed(9, {4})), HasSubstr("no level of a dimension"));
  EXPECT_THAT(error_of_shape(W().Integer(2, 34)), HasSubstr("a buffer holds one array"));
  EXPECT_THAT(MessageError(ModuleOf({W().Bytes(1, "p").Bytes(2, "parameter")}, 0)),
              HasSubstr("there is no shape"));
  W deep = ShapeMessage(kF32Number, {});
  for (int i = 0; i < 300; ++i) deep = W().Integer(2, kTupleNumber).Message(4, deep);
  EXPECT_THAT(error_of_shape(deep), HasSubstr("messages are nested more than 256 deep"));
}

TEST(ProtoReaderErrorTest, LiteralsHaveTheElementsOfTheirShapes) {
  const auto error_of_literal = [](const W& literal) {
    return MessageError(ModuleOf({InstructionMessage(1, "c", "constant").Message(8, literal)}, 1));
  };
  const W shape = ShapeMessage(kF32Number, {4});
  EXPECT_THAT(error_of_literal(W().Message(1, ShapeMessage(kS32Number, {4}))),
              HasSubstr("this literal has the shape s32[4]{0}, not f32[4]{0}"));
  EXPECT_THAT(
      error_of_literal(W().Message(1, shape).Bytes(8, std::string(12, 'x'))),
      HasSubstr("literal (instruction 'c'): this literal of shape f32[4]{0} has 3 elements, "
                "not 4"));
  EXPECT_THAT(error_of_literal(W().Message(1, shape).Bytes(8, std::string(20, 'x'))),
              HasSubstr("has 5 elements, not 4"));
  EXPECT_THAT(error_of_literal(W().Message(1, shape).Bytes(8, std::string(15, 'x'))),
              HasSubstr("the bytes of a packed list end within a number"));
}

// Memory is taken for what is there, not for what a shape says.
TEST(ProtoReaderErrorTest, AHugeLiteralOfFewBytesTakesNoMemory) {
  const W shape = ShapeMessage(kPredNumber, {int64_t{1} << 39});
  const W constant = W().Bytes(1, "c").Bytes(2, "constant").Message(3, shape).Integer(35, 1);
  EXPECT_THAT(MessageError(ModuleOf({W(constant).Message(8, W().Message(1, shape))}, 1)),
              HasSubstr("this literal has fewer elements than its shape"));
}

TEST(ProtoReaderErrorTest, AttributesAreThoseThatTextCanHave) {
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "i", "iota").Packed(14, {0, 1})),
              HasSubstr("an iota has one dimension, not 2"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "f", "fft", {1}).Integer(31, 4)),
              HasSubstr("no type of FFT has the number 4"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "f", "fft", {1}).Integer(31, -1)),
              HasSubstr("no type of FFT has the number -1"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "c", "compare", {1, 1}).Bytes(63, "L\n")),
              HasSubstr("'L\\n' is no comparison_direction"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "f", "fusion", {1})),
              HasSubstr("'' is no fusion_kind"));
  EXPECT_THAT(
      ErrorOfInstruction(InstructionMessage(2, "w", "reduce-window", {1})
                             .Message(15, W().Message(1, W().Integer(1, 2)))),
      HasSubstr("window.dimensions[0] (instruction 'w'): a window cannot have size 2, stride "
                "0"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "p2", "pad", {1, 1})
                                     .Message(21, W().Message(1, W().Integer(3, -1)))),
              HasSubstr("the interior padding is negative"));
  EXPECT_THAT(ErrorOfInstruction(
                  InstructionMessage(2, "r", "all-reduce", {1}).Message(49, W().Packed(1, {0, 0}))),
              HasSubstr("device 0 is in two places"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "n", "negate", {1})
                                     .Message(40, W().Integer(1, 3).Packed(3, {2}).Packed(4, {0}))),
              HasSubstr("sharding {devices=[2]0}: "));
  EXPECT_THAT(
      ErrorOfInstruction(InstructionMessage(2, "n", "negate", {1}).Message(40, W().Integer(1, 9))),
      HasSubstr("no sharding has the type 9"));
  EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "c", "convolution", {1, 1})
                                     .Message(98, W().Message(1, W().Integer(1, 2)))),
              HasSubstr("sparsity_config is not supported"));
  // A name that closes the braces around it.
  EXPECT_THAT(ErrorOfInstruction(
                  InstructionMessage(2, "n", "negate", {1})
                      .Message(68, W().Message(1, W().Bytes(1, "}, x=3, {a").Bytes(2, "v")))),
              HasSubstr("cannot be written as HLO text"));
}

TEST(ProtoReaderTest, OpcodesThatAreNotKnownKeepTheirSpelling) {
  ExpectReadAs(
      ModuleOf({ParameterMessage(1, "p"), InstructionMessage(2, "r", "frob.x-start", {1, 1})
                                              .Integer(26, 5)
                                              .Message(49, W().Packed(1, {0, 1}))},
               2),
      "HloModule m\nENTRY e {\n"
      "p = f32[4]{0} parameter(0)\n"
      "ROOT r = f32[4]{0} frob.x-start(p, p), channel_id=5, replica_groups={{0,1}} }");
  // Text could not spell these, or would mean something else.
  for (const std::string_view opcode :
       {"", "a b", "a(", "9", "<b>", "\x1b[31m", "custom-call-start", "add-done"}) {
    EXPECT_THAT(ErrorOfInstruction(InstructionMessage(2, "r", opcode, {1})),
                HasSubstr("expected an opcode, found '"))
        << opcode;
  }
}

// Whether an operand says who the root is follows from the number of operands.
TEST(ProtoReaderTest, RootsThatAreValues) {
  for (const char* opcode : {"collective-broadcast", "collective-reduce"}) {
    for (const std::vector<int64_t>& operands : {std::vector<int64_t>{1}, {1, 2}}) {
      const auto read = Read(ModuleOf({ParameterMessage(1, "p"), ParameterMessage(2, "q", 1),
                                       InstructionMessage(3, "r", opcode, operands)},
                                      3));
      ASSERT_NE(read, nullptr);
      EXPECT_EQ(
          read->entry_computation()->root_instruction()->GetBool(AttributeKey::kHasDynamicRoot),
          operands.size() == 2);
    }
  }
}

TEST(ProtoReaderErrorTest, TheLabelsOfAConvolutionAreDistinctAndNear) {
  const auto error_of = [](int64_t batch, int64_t feature, const std::vector<int64_t>& spatial) {
    W numbers = W().Integer(7, batch).Integer(8, feature).Packed(11, spatial);
    numbers.Integer(4, 1).Packed(6, {2, 3}).Integer(10, 1).Packed(12, {2, 3});
    return ErrorOfInstruction(
        InstructionMessage(2, "c", "convolution", {1, 1}).Message(16, numbers));
  };
  EXPECT_EQ(error_of(0, 1, {2, 3}), "");
  EXPECT_THAT(error_of(0, 0, {2, 3}), HasSubstr("{0,0,2,3} cannot be the dimensions"));
  EXPECT_THAT(error_of(0, INT64_MAX, {2, 3}), HasSubstr("cannot be the dimensions"));
  EXPECT_THAT(error_of(-1, 0, {2, 3}), HasSubstr("cannot be the dimensions"));
  EXPECT_THAT(error_of(0, 1, {2}), HasSubstr("unequal numbers of spatial dimensions"));
}

TEST(ProtoReaderErrorTest, WhatTheVerifierRefusesIsSaid) {
  W wrong = W().Bytes(1, "n").Bytes(2, "negate").Message(3, ShapeMessage(kF32Number, {5}));
  wrong.Integer(35, 2).Packed(36, {1});
  const W module = ModuleOf({ParameterMessage(1, "p"), wrong}, 2);
  EXPECT_TRUE(ReadHloModuleProto(module.bytes()).ok());
  const auto verified = ReadAndVerifyHloModuleProto(module.bytes(), "f.pb");
  EXPECT_THAT(std::string(verified.status().message()),
              StartsWith("f.pb: error: instruction 'n' (negate) has shape f32[5]"));
}

// Whatever the bytes, there is a module or an error; a module prints as text that reads back.
void ExpectModuleOrError(const std::string& bytes) {
  const auto module = ReadHloModuleProto(bytes, "f.pb");
  if (!module.ok()) {
    ASSERT_THAT(std::string(module.status().message()), StartsWith("f.pb: error: byte "));
    return;
  }
  const auto again = ParseModule((*module)->ToString(), "printed");
  ASSERT_TRUE(again.ok()) << again.status().message();
  std::string difference;
  ASSERT_TRUE(ModulesEqual(**module, **again, &difference)) << difference;
  (void)VerifyModule(**module);
}

TEST(ProtoReaderHostileTest, EveryBeginningOfAMessage) {
  for (const std::filesystem::path& path : TextsWithMessages()) {
    const std::string bytes = MessageOf(path);
    for (size_t size = 0; size < bytes.size(); ++size) {
      ExpectModuleOrError(bytes.substr(0, size));
      if (HasFatalFailure()) FAIL() << path << " up to byte " << size;
    }
  }
}

TEST(ProtoReaderHostileTest, BitsFlippedAtRandom) {
  std::mt19937_64 random(20240607);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  for (const std::filesystem::path& path : TextsWithMessages()) {
    const std::string bytes = MessageOf(path);
    // These are what sanitizers are for.
    for (int round = 0; round < (kIsSanitized ? 2000 : Cases(2000)); ++round) {
      std::string flipped = bytes;
      for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
        flipped[random() % flipped.size()] ^= static_cast<char>(1U << random() % 8);
      }
      ExpectModuleOrError(flipped);
      if (HasFatalFailure()) FAIL() << path << " in round " << round;
    }
  }
}

// Forty thousand instructions, each with a name of its own, and one computation of as many operands.
TEST(ProtoReaderLargeTest, TakesTimeLinearInTheBytes) {
  constexpr int64_t kCount = 40000;
  std::vector<W> instructions = {ParameterMessage(0, "x0")};
  std::vector<int64_t> all = {0};
  for (int64_t i = 1; i < kCount; ++i) {
    instructions.push_back(InstructionMessage(i, "x" + std::to_string(i), "add", {i - 1, i - 1}));
    all.push_back(i);
  }
  W shape = W().Integer(2, kTupleNumber);
  for (int64_t i = 0; i < kCount; ++i) shape.Message(4, ShapeMessage(kF32Number, {4}));
  instructions.push_back(W().Bytes(1, "t").Bytes(2, "tuple").Message(3, shape).Integer(35, kCount));
  instructions.back().Packed(36, all);
  const auto module = Read(ModuleOf(instructions, kCount));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->instruction_count(), kCount + 1);
  EXPECT_EQ(Root(*module).operand_count(), kCount);
  EXPECT_TRUE(VerifyModule(*module).ok());
}

}  // namespace
}  // namespace xla_indexing
