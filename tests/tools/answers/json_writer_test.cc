#include "xla_indexing/tools/answers/json_writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {
namespace {

TEST(JsonWriter, PutsOneSpaceAfterCommasAndColons) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Field("a", -1);
  json.BeginArray("b");
  json.EndArray();
  json.BeginArray("c");
  json.Value("x");
  json.BeginObject();
  json.EndObject();
  json.Raw("1, 2");
  json.Raw("");
  json.EndArray();
  json.Field("list", std::vector<int64_t>{3, -4});
  json.Key("d").Value(std::string());
  json.Field("e", 0.25);
  json.Field("f", true);
  json.EndObject();
  EXPECT_EQ(
      out,
      R"({"a": -1, "b": [], "c": ["x", {}, 1, 2], "list": [3, -4], "d": "", "e": 0.25, "f": true})");
}

TEST(JsonWriter, WritesCountsAndWhatIsNotThere) {
  std::string out;
  JsonWriter json(&out);
  json.BeginArray();
  json.Value(Interval::Point(3));
  json.Value(Interval::Closed(1, 3));
  json.Value(Interval::AtLeast(1));
  json.Value(std::optional<double>());
  json.Value(std::optional<bool>(false));
  json.EndArray();
  EXPECT_EQ(out, R"([3, {"least": 1, "most": 3}, {"least": 1, "most": null}, null, false])");
}

std::string Quoted(absl::string_view text) {
  std::string out;
  JsonWriter(&out).Value(text);
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
