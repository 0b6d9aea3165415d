#include "xla_indexing/hlo/transforms/batching_dims.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<HloModule> ParseBatched(const std::string& text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module);
  return *std::move(module);
}

// The lines of the entry that are no parameters.
std::vector<std::string> Lines(const absl::StatusOr<std::unique_ptr<HloModule>>& module) {
  std::vector<std::string> lines;
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return lines;
  for (const HloInstruction* instruction : (*module)->entry_computation()->instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) continue;
    lines.push_back(absl::StrReplaceAll(instruction->ToString(), {{"%", ""}}));
  }
  return lines;
}

std::vector<std::string> Decomposed(const std::string& entry) {
  return Lines(DecomposeGatherBatchingDims(*ParseBatched("ENTRY e {\n" + entry + "\n}\n")));
}
std::vector<std::string> Recognized(const std::string& entry) {
  return Lines(RecognizeGatherBatchingDims(*ParseBatched("ENTRY e {\n" + entry + "\n}\n")));
}

TEST(DecomposeBatchingDimsTest, TheGatherOfTheSpecification) {
  EXPECT_THAT(
      Decomposed(R"(
        a = s32[2,3,4,2] parameter(0)
        i = s64[2,2,3,2] parameter(1)
        ROOT g = s32[2,2,3,2,2] gather(a, i), offset_dims={3,4}, collapsed_slice_dims={1},
          operand_batching_dims={0}, start_indices_batching_dims={1}, start_index_map={2,1},
          index_vector_dim=3, slice_sizes={1,1,2,2}, metadata={op_name="n"})"),
      ElementsAre("g.iota = s64[2,2,3,1] iota(), iota_dimension=1",
                  "g.indices = s64[2,2,3,3] concatenate(g.iota, i), dimensions={3}",
                  "g = s32[2,2,3,2,2] gather(a, g.indices), offset_dims={3,4}, "
                  "collapsed_slice_dims={0,1}, start_index_map={0,2,1}, index_vector_dim=3, "
                  "slice_sizes={1,1,2,2}, metadata={op_name=\"n\"}"));
}

TEST(DecomposeBatchingDimsTest, AScatterOfSeveralOperands) {
  const auto module = ParseBatched(R"(
    f { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2)
        d = s32[] parameter(3) ROOT t = (f32[], s32[]) tuple(c, d) }
    ENTRY e {
      a = f32[5,8] parameter(0)
      b = s32[5,8] parameter(1)
      i = s32[5,1] parameter(2)
      u = f32[5] parameter(3)
      v = s32[5] parameter(4)
      ROOT s = (f32[5,8], s32[5,8]) scatter(a, b, i, u, v), update_window_dims={},
        inserted_window_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0},
        scatter_dims_to_operand_dims={1}, index_vector_dim=1, indices_are_sorted=true,
        unique_indices=true, to_apply=f
    })");
  const auto decomposed = DecomposeScatterBatchingDims(*module);
  // Sorted by batch index, and in it as before.
  EXPECT_THAT(Lines(decomposed),
              ElementsAre("s.iota = s32[5,1] iota(), iota_dimension=0",
                          "s.indices = s32[5,2] concatenate(s.iota, i), dimensions={1}",
                          "s = (f32[5,8], s32[5,8]) scatter(a, b, s.indices, u, v), "
                          "update_window_dims={}, inserted_window_dims={0,1}, "
                          "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, "
                          "indices_are_sorted=true, unique_indices=true, to_apply=f"));
  // A gather is none of its business.
  const auto same = DecomposeGatherBatchingDims(*module);
  ASSERT_TRUE(same.ok());
  std::string difference;
  EXPECT_TRUE(ModulesEqual(*module, **same, &difference)) << difference;
}

TEST(DecomposeBatchingDimsTest, IndicesWithoutADimensionForVectorsGetOne) {
  EXPECT_THAT(Decomposed(R"(
                a = f32[8,5] parameter(0)
                i = s32[3,5] parameter(1)
                ROOT g = f32[3,5] gather(a, i), offset_dims={}, collapsed_slice_dims={0},
                  operand_batching_dims={1}, start_indices_batching_dims={1},
                  start_index_map={0}, index_vector_dim=2, slice_sizes={1,1})"),
              ElementsAre("g.index_vectors = s32[3,5,1] reshape(i)",
                          "g.iota = s32[3,5,1] iota(), iota_dimension=1",
                          "g.indices = s32[3,5,2] concatenate(g.iota, g.index_vectors), "
                          "dimensions={2}",
                          "g = f32[3,5] gather(a, g.indices), offset_dims={}, "
                          "collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=2, "
                          "slice_sizes={1,1}"));
}

TEST(DecomposeBatchingDimsTest, TypesThatTheIotaWouldWrapInAreWidened) {
  const auto gather = [](absl::string_view type, int64_t size) {
    return Decomposed(absl::StrCat("a = f32[", size, ",5] parameter(0)\ni = ", type, "[", size,
                                   ",1] parameter(1)\nROOT g = f32[", size,
                                   "] gather(a, i), offset_dims={}, collapsed_slice_dims={1}, "
                                   "operand_batching_dims={0}, start_indices_batching_dims={0}, "
                                   "start_index_map={1}, index_vector_dim=1, slice_sizes={1,1}"))
        .front();
  };
  EXPECT_EQ(gather("s8", 128), "g.iota = s8[128,1] iota(), iota_dimension=0");
  EXPECT_EQ(gather("s8", 129), "g.wide_indices = s16[129,1] convert(i)");
  EXPECT_EQ(gather("u8", 256), "g.iota = u8[256,1] iota(), iota_dimension=0");
  EXPECT_EQ(gather("u8", 257), "g.wide_indices = u16[257,1] convert(i)");
  EXPECT_EQ(gather("u4", 100000), "g.wide_indices = u32[100000,1] convert(i)");
  EXPECT_EQ(gather("s32", 2147483649), "g.wide_indices = s64[2147483649,1] convert(i)");
}

// Whether the gather that this decomposes to is said to have sorted indices.
bool StaysSorted(const std::string& operand, const std::string& indices,
                 const std::string& attributes) {
  const std::vector<std::string> lines = Decomposed(
      absl::StrCat("a = ", operand, " parameter(0)\ni = ", indices,
                   " parameter(1)\nROOT g = gather(a, i), offset_dims={}, ", attributes));
  return !lines.empty() && absl::StrContains(lines.back(), "indices_are_sorted=true");
}

TEST(DecomposeBatchingDimsTest, IndicesStaySortedWhereThatFollows) {
  const std::string attributes =
      "collapsed_slice_dims={2}, operand_batching_dims={0,1}, start_indices_batching_dims={0,1}, "
      "start_index_map={2}, index_vector_dim=2, slice_sizes={1,1,1}, indices_are_sorted=true";
  const auto edited = [&](absl::string_view what, absl::string_view with) {
    EXPECT_THAT(attributes, HasSubstr(std::string(what)));
    return absl::StrReplaceAll(attributes, {{what, with}});
  };
  EXPECT_TRUE(StaysSorted("f32[4,4,9]", "s32[4,4,1]", attributes));
  // They were not.
  EXPECT_FALSE(StaysSorted("f32[4,4,9]", "s32[4,4,1]", edited(", indices_are_sorted=true", "")));
  // The operand's dimensions stand in another order than the batch indices, which is of no account
  // where one has size 1.
  EXPECT_FALSE(StaysSorted("f32[4,4,9]", "s32[4,4,1]",
                           edited("indices_batching_dims={0,1}", "indices_batching_dims={1,0}")));
  EXPECT_TRUE(StaysSorted("f32[4,1,9]", "s32[1,4,1]",
                          edited("indices_batching_dims={0,1}", "indices_batching_dims={1,0}")));
  // The index comes before a batching dimension of the operand.
  EXPECT_FALSE(StaysSorted(
      "f32[4,9,4]", "s32[4,4,1]",
      "collapsed_slice_dims={1}, operand_batching_dims={0,2}, start_indices_batching_dims={0,1}, "
      "start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,1}, indices_are_sorted=true"));
  // Another batch dimension comes before; and without indices, nothing has to be sorted before.
  const std::string batch_only =
      "collapsed_slice_dims={}, operand_batching_dims={0}, start_index_map={}, "
      "index_vector_dim=2, slice_sizes={1}, start_indices_batching_dims=";
  EXPECT_FALSE(StaysSorted("f32[4]", "s32[4,4,0]", absl::StrCat(batch_only, "{1}")));
  EXPECT_TRUE(StaysSorted("f32[4]", "s32[4,4,0]", absl::StrCat(batch_only, "{0}")));
}

TEST(DecomposeBatchingDimsTest, ABatchingDimensionWithoutBoundIsAnError) {
  const auto module = ParseBatched(R"(
    ENTRY e {
      a = f32[?,8] parameter(0)
      i = s32[?,1] parameter(1)
      ROOT g = f32[?] gather(a, i), offset_dims={}, collapsed_slice_dims={1},
        operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1},
        index_vector_dim=1, slice_sizes={1,1}
    })");
  EXPECT_THAT(DecomposeGatherBatchingDims(*module).status().message(),
              HasSubstr("instruction 'g' (gather): batching dimension 0 of the indices has no "
                        "bound"));
}

TEST(DecomposeBatchingDimsTest, TheRestOfTheModuleIsCopied) {
  const auto module = ParseBatched(R"(
    HloModule m, is_scheduled=true
    f { a = f32[5,8] parameter(0)
        i = s32[5,1] parameter(1)
        g.iota = s32[5,1] negate(i)
        g = f32[5] gather(a, g.iota), offset_dims={}, collapsed_slice_dims={1},
          operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1},
          index_vector_dim=1, slice_sizes={1,1}, control-predecessors={i}
        ROOT n = f32[5] negate(g), control-predecessors={g.iota}, unknown_attribute=7
        g.indices = f32[5] abs(n)
    }, execution_thread="t"
    ENTRY e {
      a = f32[5,8] parameter(0)
      i = s32[5,1] parameter(1)
      c = f32[2] constant({1, nan})
      w = f32[5] fusion(a, i), kind=kLoop, calls=f
      ROOT t = (f32[5], f32[2]) tuple(w, c)
    })");
  const auto decomposed = DecomposeGatherBatchingDims(*module);
  ASSERT_TRUE(decomposed.ok()) << decomposed.status();
  EXPECT_EQ((*decomposed)->ToString(), R"(HloModule m, is_scheduled=true

%f {
  %a = f32[5,8] parameter(0)
  %i = s32[5,1] parameter(1)
  %g.iota = s32[5,1] negate(%i)
  %g.iota.1 = s32[5,1] iota(), iota_dimension=0
  %g.indices.1 = s32[5,2] concatenate(%g.iota.1, %g.iota), dimensions={1}
  %g = f32[5] gather(%a, %g.indices.1), offset_dims={}, collapsed_slice_dims={0,1}, )"
                                       R"(start_index_map={0,1}, index_vector_dim=1, )"
                                       R"(slice_sizes={1,1}, control-predecessors={%i}
  ROOT %n = f32[5] negate(%g), control-predecessors={%g.iota}, unknown_attribute=7
  %g.indices = f32[5] abs(%n)
}, execution_thread="t"

ENTRY %e {
  %a = f32[5,8] parameter(0)
  %i = s32[5,1] parameter(1)
  %c = f32[2] constant({1, nan})
  %w = f32[5] fusion(%a, %i), kind=kLoop, calls=%f
  ROOT %t = (f32[5], f32[2]) tuple(%w, %c)
}
)");
}

TEST(RecognizeBatchingDimsTest, AnIotaAmongTheIndices) {
  EXPECT_THAT(Recognized(R"(
                a = s32[2,3,4,2] parameter(0)
                i = s64[2,2,3,1] parameter(1)
                j = s64[2,2,3,1] parameter(2)
                iota = s64[2,2,3,1] iota(), iota_dimension=1
                all = s64[2,2,3,3] concatenate(i, iota, j), dimensions={3}
                ROOT g = s32[2,2,3,2,2] gather(a, all), offset_dims={3,4},
                  collapsed_slice_dims={0,1}, start_index_map={2,0,1}, index_vector_dim=3,
                  slice_sizes={1,1,2,2}, indices_are_sorted=true)"),
              ElementsAre("iota = s64[2,2,3,1] iota(), iota_dimension=1",
                          "all = s64[2,2,3,3] concatenate(i, iota, j), dimensions={3}",
                          "g.indices = s64[2,2,3,2] concatenate(i, j), dimensions={3}",
                          "g = s32[2,2,3,2,2] gather(a, g.indices), offset_dims={3,4}, "
                          "collapsed_slice_dims={1}, start_index_map={2,1}, index_vector_dim=3, "
                          "slice_sizes={1,1,2,2}, operand_batching_dims={0}, "
                          "start_indices_batching_dims={1}"));
}

TEST(RecognizeBatchingDimsTest, IndicesThatAreAnIota) {
  EXPECT_THAT(
      Recognized(R"(
                a = f32[5,8] parameter(0)
                i = s32[3,5] iota(), iota_dimension=1
                ROOT g = f32[3,5,8] gather(a, i), offset_dims={2}, collapsed_slice_dims={0},
                  start_index_map={0}, index_vector_dim=2, slice_sizes={1,8})"),
      ElementsAre("i = s32[3,5] iota(), iota_dimension=1",
                  "g.no_indices = s32[3,5,0] iota(), iota_dimension=2",
                  "g = f32[3,5,8] gather(a, g.no_indices), offset_dims={2}, "
                  "collapsed_slice_dims={}, start_index_map={}, index_vector_dim=2, "
                  "slice_sizes={1,8}, operand_batching_dims={0}, start_indices_batching_dims={1}"));
}

TEST(RecognizeBatchingDimsTest, OtherDimensionsAreNotTakenForBatching) {
  const std::string entry = R"(
    a = f32[5,8] parameter(0)
    i = s8[3,5,1] parameter(1)
    iota = s8[3,5,1] iota(), iota_dimension=1
    all = s8[3,5,2] concatenate(iota, i), dimensions={2}
    ROOT g = f32[3,5] gather(a, all), offset_dims={}, collapsed_slice_dims={0,1},
      start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1})";
  const auto is_recognized = [&](absl::string_view what, absl::string_view with) {
    const std::vector<std::string> lines = Recognized(absl::StrReplaceAll(entry, {{what, with}}));
    return !lines.empty() && absl::StrContains(lines.back(), "operand_batching_dims={0}");
  };
  EXPECT_TRUE(is_recognized("", ""));
  // The iota's dimension and the operand's differ in size.
  EXPECT_FALSE(is_recognized("f32[5,8]", "f32[6,8]"));
  // The iota runs along the other dimension, or the component is no iota.
  EXPECT_FALSE(is_recognized("iota_dimension=1", "iota_dimension=0"));
  EXPECT_FALSE(is_recognized("s8[3,5,1] iota(), iota_dimension=1", "s8[3,5,1] negate(i)"));
  // A window along the dimension.
  EXPECT_FALSE(
      is_recognized("g = f32[3,5] gather(a, all), offset_dims={}, "
                    "collapsed_slice_dims={0,1}",
                    "g = f32[3,5,1] gather(a, all), offset_dims={2}, "
                    "collapsed_slice_dims={1}"));
}

TEST(RecognizeBatchingDimsTest, AnIotaThatWrapsIsNone) {
  // An iota of s8[200] ends at -56.
  const std::vector<std::string> lines = Recognized(R"(
    a = f32[200,8] parameter(0)
    i = s8[200,1] parameter(1)
    iota = s8[200,1] iota(), iota_dimension=0
    all = s8[200,2] concatenate(iota, i), dimensions={1}
    ROOT g = f32[200] gather(a, all), offset_dims={}, collapsed_slice_dims={0,1},
      start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1})");
  EXPECT_THAT(lines.back(), HasSubstr("start_index_map={0,1}"));
}

}  // namespace
}  // namespace xla_indexing
