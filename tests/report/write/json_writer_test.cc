#include "xla_indexing/report/write/json_writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

// All kinds of values.
std::string Written(JsonStyle style) {
  std::string out;
  JsonWriter json(&out, style);
  json.Object([&] {
    json.Field("a", -1);
    json.Field("none", std::vector<int64_t>());
    json.RawField("raw", "[1, 2]");
    json.Field("list", std::vector<int64_t>{3, -4});
    json.Values("negated", std::vector<int64_t>{3, -4}, [](int64_t number) { return -number; });
    json.Object("object", [&] { json.Field("d", std::string()); });
    json.Objects("objects", std::vector<bool>{true, false},
                 [&](bool value) { json.Field("is", value); });
    json.Field("e", 1.0 / 3);
    json.FieldIfAny("left out", std::optional<bool>());
    json.FieldIfAny("f", std::optional<bool>(true));
  });
  return out;
}

TEST(JsonWriter, PutsOneSpaceAfterCommasAndColons) {
  EXPECT_EQ(Written(JsonStyle::kSpaced),
            R"({"a": -1, "none": [], "raw": [1, 2], "list": [3, -4], "negated": [-3, 4], )"
            R"("object": {"d": ""}, "objects": [{"is": true}, {"is": false}], "e": 0.333333, )"
            R"("f": true})");
}

TEST(JsonWriter, PutsNoSpaceWhereItIsCompact) {
  EXPECT_EQ(Written(JsonStyle::kCompact),
            R"({"a":-1,"none":[],"raw":[1, 2],"list":[3,-4],"negated":[-3,4],"object":{"d":""},)"
            R"("objects":[{"is":true},{"is":false}],"e":0.33333333333333331,"f":true})");
}

struct Sized {
  int64_t size = 0;
};

void WriteSized(const Sized& sized, JsonWriter* json) { json->Field("size", sized.size); }

TEST(JsonWriter, WritesStructsByFunctionsOfThem) {
  std::string out;
  JsonWriter json(&out);
  json.Object([&] {
    json.Object("one", Sized{1}, WriteSized);
    json.ObjectIfAny("left out", std::optional<Sized>(), WriteSized);
    json.ObjectIfAny("two", std::optional(Sized{2}), WriteSized);
    json.Objects("more", std::vector<Sized>{{3}, {4}}, WriteSized);
  });
  EXPECT_EQ(out, R"({"one": {"size": 1}, "two": {"size": 2}, "more": [{"size": 3}, {"size": 4}]})");
}

TEST(JsonWriter, WritesCountsAndWhatIsNotThere) {
  std::string out;
  JsonWriter json(&out);
  json.Array([&] {
    json.Value(Interval::Point(3));
    json.Value(Interval::Closed(1, 3));
    json.Value(Interval::AtLeast(1));
    json.Value(std::optional<double>());
    json.Value(std::optional<bool>(false));
  });
  EXPECT_EQ(out, R"([3, {"least": 1, "most": 3}, {"least": 1, "most": null}, null, false])");
}

std::string Quoted(absl::string_view text) {
  std::string out;
  JsonWriter(&out).Value(text);
  return out;
}

TEST(JsonWriter, EscapesWhatJsonDoesNotTake) {
  EXPECT_EQ(Quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(Quoted(absl::string_view("\0\x01\n\x1f ", 5)), R"("\u0000\u0001\n\u001f ")");
  EXPECT_EQ(Quoted("\xc3\xa9"), "\"\xc3\xa9\"");
}

TEST(JsonWriter, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(Quoted("a\xff"), "\"a\xef\xbf\xbd\""); }

}  // namespace
}  // namespace xla_indexing::internal
