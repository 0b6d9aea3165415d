#include "xla_indexing/hlo/proto/wire_format.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/proto_writer.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What reading all of `bytes` as one message fails with; empty where it does not.
std::string ErrorOfMessage(std::string_view bytes) {
  ProtoSource source({bytes.data(), bytes.size()}, "M");
  const WireMessage message({bytes.data(), bytes.size()}, source);
  return source.error();
}

TEST(WireFormatTest, ReadsTheExampleOfItsHeader) {
  const std::string bytes("\x08\x96\x01\x12\x02hi", 7);
  ProtoSource source(bytes, "M");
  const WireMessage message(bytes, source);
  EXPECT_EQ(message.Integer({1}), 150);
  EXPECT_EQ(message.Bytes({2}), "hi");
  EXPECT_FALSE(message.Has({3}));
  EXPECT_EQ(message.Integer({3}), 0);
  EXPECT_EQ(message.Bytes({3}), "");
  EXPECT_FALSE(source.failed());
}

TEST(WireFormatTest, ReadsEveryKindOfNumber) {
  for (const int64_t value :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{127}, int64_t{128},
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    const std::string bytes = ProtoWriter().Integer(1, value).bytes();
    ProtoSource source(bytes, "M");
    EXPECT_EQ(WireMessage(bytes, source).Integer({1}), value);
  }
  const std::string bytes = ProtoWriter().Float(1, 1.5F).Double(2, -0.1).bytes();
  ProtoSource source(bytes, "M");
  const WireMessage message(bytes, source);
  EXPECT_EQ(message.Float({1}), 1.5F);
  EXPECT_EQ(message.Double({2}), -0.1);
  std::vector<uint64_t> bits;
  message.ForEachFixed({2}, 8, [&](uint64_t value) { bits.push_back(value); });
  EXPECT_THAT(bits, ElementsAre(0xBFB999999999999A));
}

TEST(WireFormatTest, OfSeveralFieldsOfANumberTheLastOneCounts) {
  const std::string bytes = ProtoWriter().Integer(1, 5).Bytes(2, "x").Integer(1, 6).bytes();
  ProtoSource source(bytes, "M");
  EXPECT_EQ(WireMessage(bytes, source).Integer({1}), 6);
}

TEST(WireFormatTest, ListsAreReadPackedOrNot) {
  const std::string bytes =
      ProtoWriter().Integer(4, 1).Packed(4, {2, -3}).Integer(5, 9).Integer(4, 4).bytes();
  ProtoSource source(bytes, "M");
  std::vector<int64_t> values;
  WireMessage(bytes, source).Integers({4}, &values);
  EXPECT_THAT(values, ElementsAre(1, 2, -3, 4));
}

TEST(WireFormatTest, WhatIsNoMessageFailsAtItsPlace) {
  EXPECT_EQ(ErrorOfMessage(""), "");
  // Field 0, a key that does not end, a key of more than 64 bits, a field number of 30 bits.
  EXPECT_EQ(ErrorOfMessage(std::string(1, '\0')), "byte 0, M: no field of a message begins here");
  EXPECT_EQ(ErrorOfMessage("\x08\x01\x88"), "byte 2, M: no field of a message begins here");
  EXPECT_THAT(ErrorOfMessage("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"), HasSubstr("byte 0"));
  EXPECT_THAT(ErrorOfMessage("\x80\x80\x80\x80\x10\x01"), HasSubstr("no field"));
  // Values that end late, or have a length beyond the message.
  EXPECT_EQ(ErrorOfMessage("\x08"), "byte 0, M: field 1 ends after its message");
  EXPECT_EQ(ErrorOfMessage("\x09\x01\x02"), "byte 0, M: field 1 ends after its message");
  EXPECT_EQ(ErrorOfMessage("\x0D\x01\x02"), "byte 0, M: field 1 ends after its message");
  EXPECT_EQ(ErrorOfMessage("\x08\x01\x12\x05hell"), "byte 2, M: field 2 ends after its message");
  EXPECT_EQ(ErrorOfMessage("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
            "byte 0, M: field 2 ends after its message");
  // Groups.
  EXPECT_EQ(ErrorOfMessage("\x0B\x0C"),
            "byte 0, M: field 1 has wire type 3, which no field of HLO has");
}

TEST(WireFormatTest, AFieldOfAnotherTypeFailsAndIsAbsent) {
  const std::string bytes = ProtoWriter().Integer(3, 1).Bytes(1, "x").bytes();
  ProtoSource source(bytes, "M");
  const WireMessage message(bytes, source);
  EXPECT_EQ(message.Integer({1}), 0);
  EXPECT_EQ(source.error(), "byte 4, M: field 1 cannot have wire type 2");
  EXPECT_EQ(message.Bytes({3}), "");
  // The first error is the one that is kept.
  EXPECT_THAT(source.error(), HasSubstr("field 1"));
}

TEST(WireFormatTest, APackedListThatEndsWithinANumberFails) {
  const std::string bytes = ProtoWriter().Bytes(1, "\x80").Bytes(2, "abc").bytes();
  ProtoSource varints(bytes, "M");
  WireMessage(bytes, varints).ForEachVarint({1}, [](uint64_t) {});
  EXPECT_EQ(varints.error(), "byte 2, M: this is no varint of 64 bits");
  ProtoSource fixed(bytes, "M");
  WireMessage(bytes, fixed).ForEachFixed({2}, 4, [](uint64_t) {});
  EXPECT_EQ(fixed.error(), "byte 5, M: the bytes of a packed list end within a number");
}

TEST(WireFormatTest, ErrorsNameTheFieldsOnTheWay) {
  const std::string bytes = ProtoWriter()
                                .Message(1, ProtoWriter().Integer(1, 1))
                                .Message(1, ProtoWriter().Message(2, ProtoWriter().Integer(3, 7)))
                                .bytes();
  ProtoSource source(bytes, "M");
  const WireMessage message(bytes, source);
  message.Messages({1, "items"}, [&](const WireMessage& item, int64_t) {
    item.Message({2, "part"}, [&](const WireMessage& part) {
      const ProtoSource::Named named(source, "thing", "x");
      part.source().Fail("7 is too much");
    });
  });
  EXPECT_EQ(source.error(), "byte 8, items[1].part (thing 'x'): 7 is too much");
}

// As deep as messages may be nested, and one deeper.
TEST(WireFormatTest, MessagesAreNestedNoDeeperThanTextIs) {
  for (const int depth : {256, 257}) {
    ProtoWriter writer;
    for (int i = 0; i < depth; ++i) writer = ProtoWriter().Message(1, writer);
    ProtoSource source(writer.bytes(), "M");
    int64_t deepest = 0;
    const auto descend = [&](const auto& self, const WireMessage& message, int64_t level) -> void {
      deepest = level;
      message.Message({1, "m"}, [&](const WireMessage& inner) { self(self, inner, level + 1); });
    };
    descend(descend, WireMessage(writer.bytes(), source), 0);
    EXPECT_EQ(deepest, 256);
    EXPECT_EQ(source.failed(), depth == 257);
    if (source.failed()) {
      EXPECT_THAT(source.error(),
                  HasSubstr("m.m.m.m.m.m.m.m...m.m: messages are nested more than 256 deep"));
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
