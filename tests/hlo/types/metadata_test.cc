#include "xla_indexing/hlo/types/metadata.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A module of one parameter with that metadata, after these tables.
std::unique_ptr<HloModule> ModuleWith(const std::string& metadata, const std::string& tables = "") {
  return RoundTrip(absl::StrCat("HloModule m\n\n", tables,
                                "\nENTRY e { ROOT p = f32[] parameter(0), metadata=", metadata,
                                " }"));
}

// main called step, which called layer in another file.
constexpr char kTables[] = R"(FileNames
1 "train.py"
2 "the \"layers\".py"

FunctionNames
1 "main"
2 "step"
3 "Layer.__call__"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=1 end_column=9}
2 {file_name_id=1 function_name_id=2 line=12 end_line=13 column=5 end_column=7}
3 {file_name_id=2 function_name_id=3 line=77 end_line=77 column=10 end_column=31}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
)";

const SourceFrame kMainFrame = {.file = "train.py",
                                .function = "main",
                                .line = 40,
                                .end_line = 40,
                                .column = 1,
                                .end_column = 9};
const SourceFrame kStepFrame = {.file = "train.py",
                                .function = "step",
                                .line = 12,
                                .end_line = 13,
                                .column = 5,
                                .end_column = 7};
const SourceFrame kLayerFrame = {.file = "the \"layers\".py",
                                 .function = "Layer.__call__",
                                 .line = 77,
                                 .end_line = 77,
                                 .column = 10,
                                 .end_column = 31};

TEST(MetadataTest, EveryFieldIsRead) {
  const auto module =
      ModuleWith(R"({op_type="mul" op_name="jit(f)/\"q\"/mul" source_file="a b.py" source_line=7 )"
                 R"(source_end_line=8 source_column=3 source_end_column=9 profile_type={1} )"
                 R"(deduplicated_name="dd" scheduling_name="ss" stack_frame_id=5})");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).metadata(), (OpMetadata{.op_type = "mul",
                                                  .op_name = "jit(f)/\"q\"/mul",
                                                  .source_file = "a b.py",
                                                  .source_line = 7,
                                                  .source_end_line = 8,
                                                  .source_column = 3,
                                                  .source_end_column = 9,
                                                  .deduplicated_name = "dd",
                                                  .scheduling_name = "ss",
                                                  .stack_frame_id = 5}));
}

TEST(MetadataTest, CommasMayStandBetweenFields) {
  const auto module = ModuleWith("{op_name='x', source_line=7,source_file=\"f\"}");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).metadata(),
            (OpMetadata{.op_name = "x", .source_file = "f", .source_line = 7}));
}

TEST(MetadataTest, WhatIsNotGivenIsEmpty) {
  const auto module = RoundTrip("ENTRY e { ROOT p = f32[] parameter(0) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).metadata(), OpMetadata());
  EXPECT_THAT(Root(*module).SourceFrames(), IsEmpty());
}

TEST(MetadataTest, WhatIsMalformedIsLeftOut) {
  for (const char* metadata : {"{op_name=}", "{op_name}", "{=3}", "{}", "{op_name=%}"}) {
    const auto module = ModuleWith(metadata);
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(Root(*module).metadata(), OpMetadata()) << metadata;
  }
  const auto module = ModuleWith("{source_line=99999999999999999999 unknown=\"x\" op_name=\"y\"}");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).metadata(), OpMetadata{.op_name = "y"});
}

TEST(SourceFramesTest, ComeFromTheTablesTheInnermostFirst) {
  const auto module = ModuleWith("{op_name=\"x\" stack_frame_id=3}", kTables);
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Root(*module).SourceFrames(), ElementsAre(kLayerFrame, kStepFrame, kMainFrame));
  EXPECT_THAT(module->SourceFrames(2), ElementsAre(kStepFrame, kMainFrame));
  EXPECT_THAT(module->SourceFrames(1), ElementsAre(kMainFrame));
  for (const int64_t id : {int64_t{0}, int64_t{4}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(module->SourceFrames(id), IsEmpty()) << id;
  }
}

TEST(SourceFramesTest, ComeFromTheMetadataWhereThereAreNoTables) {
  const auto module = ModuleWith("{source_file=\"f.py\" source_line=7 source_column=2}");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Root(*module).SourceFrames(),
              ElementsAre(SourceFrame{.file = "f.py", .line = 7, .column = 2}));
}

TEST(SourceFramesTest, AreThoseOfTheMetadataWhereTheTablesHaveNoSuchFrame) {
  const auto module = ModuleWith("{source_file=\"f.py\" source_line=7 stack_frame_id=9}", kTables);
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Root(*module).SourceFrames(), ElementsAre(SourceFrame{.file = "f.py", .line = 7}));
}

TEST(SourceFramesTest, ACallerThatDoesNotComeBeforeIsNone) {
  const auto module = ModuleWith("{stack_frame_id=1}", R"(FileNames
1 "a.py"
FileLocations
1 {file_name_id=1 line=3}
StackFrames
1 {file_location_id=1 parent_frame_id=3}
2 {file_location_id=1 parent_frame_id=3}
3 {file_location_id=7 parent_frame_id=-5}
4 {parent_frame_id=9223372036854775807}
)");
  ASSERT_NE(module, nullptr);
  const SourceFrame place = {.file = "a.py", .line = 3};
  // Text says one more than the number of the caller: 2 and 2, which do not come before 1 and 2.
  EXPECT_THAT(module->SourceFrames(1), ElementsAre(place));
  EXPECT_THAT(module->SourceFrames(2), ElementsAre(place));
  EXPECT_THAT(module->SourceFrames(3), ElementsAre(SourceFrame()));
  EXPECT_THAT(module->SourceFrames(4), ElementsAre(SourceFrame()));
}

TEST(SourceFramesTest, TablesThatAreSetAreRead) {
  HloModule module("m");
  EXPECT_THAT(module.SourceFrames(1), IsEmpty());
  module.SetStackFrameTables(kTables);
  EXPECT_THAT(module.SourceFrames(1), ElementsAre(kMainFrame));
  module.SetStackFrameTables("");
  EXPECT_THAT(module.SourceFrames(1), IsEmpty());
  EXPECT_EQ(module.stack_frame_tables(), "");
}

}  // namespace
}  // namespace xla_indexing
