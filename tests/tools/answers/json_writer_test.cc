#include "xla_indexing/tools/answers/json_writer.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace xla_indexing {
namespace {

TEST(JsonWriter, PutsOneSpaceAfterCommasAndColons) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Key("a");
  json.Integer(-1);
  json.Key("b");
  json.BeginArray();
  json.EndArray();
  json.Key("c");
  json.BeginArray();
  json.String("x");
  json.BeginObject();
  json.EndObject();
  json.Raw("1, 2");
  json.Raw("");
  json.EndArray();
  json.IntegersField("list", std::vector<int64_t>{3, -4});
  json.Key("d");
  json.String("");
  json.Key("e");
  json.Number(0.25);
  json.Key("f");
  json.Bool(true);
  json.EndObject();
  EXPECT_EQ(
      out,
      R"({"a": -1, "b": [], "c": ["x", {}, 1, 2], "list": [3, -4], "d": "", "e": 0.25, "f": true})");
}

std::string Quoted(absl::string_view text) {
  std::string out;
  JsonWriter(&out).String(text);
  return out;
}

TEST(JsonWriter, EscapesWhatJsonDoesNotTake) {
  EXPECT_EQ(Quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(Quoted(absl::string_view("\0\x01\n\x1f ", 5)), R"("\u0000\u0001\u000a\u001f ")");
  EXPECT_EQ(Quoted("\xc3\xa9"), "\"\xc3\xa9\"");
}

TEST(JsonWriter, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(Quoted("a\xff"), "\"a\xef\xbf\xbd\""); }

}  // namespace
}  // namespace xla_indexing
