// The maps of scatter; expected maps worked out by hand from the definition.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;

constexpr char kCombiners[] = R"(
add {
  a = f32[] parameter(0)
  u = f32[] parameter(1)
  ROOT r = f32[] add(a, u)
}
put {
  a = f32[] parameter(0)
  ROOT u = f32[] parameter(1)
}
keep {
  ROOT a = f32[] parameter(0)
  u = f32[] parameter(1)
}
add_and_put {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  u = f32[] parameter(2)
  v = s32[] parameter(3)
  s = f32[] add(a, u)
  ROOT r = (f32[], s32[]) tuple(s, v)
}
together {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  u = f32[] parameter(2)
  v = s32[] parameter(3)
  p = pred[] compare(a, u), direction=GT
  x = f32[] select(p, a, u)
  y = s32[] select(p, b, v)
  ROOT r = (f32[], s32[]) tuple(x, y)
}
exchange {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  u = f32[] parameter(2)
  v = f32[] parameter(3)
  s = f32[] add(b, u)
  t = f32[] add(a, v)
  ROOT r = (f32[], f32[]) tuple(s, t)
}
)";

class ScatterTest : public IndexingTest {
 protected:
  const HloInstruction* Scatter(absl::string_view entry) {
    return Root(absl::StrCat(kCombiners, "ENTRY e {\n", entry, "\n}\n"));
  }
  static IndexingOptions ByElement() {
    IndexingOptions options;
    options.scatter_bounds = ScatterBounds::kElement;
    return options;
  }
};

// Windows of 3 elements at 5 places of 10.
constexpr char kWindows[] = R"(
  a = f32[10] parameter(0)
  i = s32[5,1] parameter(1)
  u = f32[5,3] parameter(2)
  ROOT r = f32[10] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)";

TEST_F(ScatterTest, AWindowThatIsPartlyOutsideIsDropped) {
  const HloInstruction* scatter = Scatter(kWindows);
  EXPECT_THAT(OutputToInput(scatter),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]",
                          "0.1.0 (d0)[s0] -> (s0, 0), domain: d0 in [0, 9], s0 in [0, 4]",
                          "0.2.0 (d0)[s0]{rt0} -> (s0, d0 - rt0), domain: d0 in [0, 9], "
                          "s0 in [0, 4], rt0 in [0, 7], d0 - rt0 in [0, 2]\n"
                          "  rt0: i, as is; (d0)[s0] -> (s0, 0), domain: d0 in [0, 9], "
                          "s0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(scatter),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]",
                          "0.1.0 (d0, d1)[s0] -> (s0), domain: d0 in [0, 4], d1 in [0, 0], "
                          "s0 in [0, 9]",
                          "0.2.0 (d0, d1){rt0} -> (d1 + rt0), domain: d0 in [0, 4], "
                          "d1 in [0, 2], rt0 in [0, 7]\n"
                          "  rt0: i, as is; (d0, d1) -> (d0, 0), domain: d0 in [0, 4], "
                          "d1 in [0, 2]"));
}

TEST_F(ScatterTest, WindowsPartlyOutsideLoseTheirElementsThere) {
  const HloInstruction* scatter = Scatter(kWindows);
  EXPECT_EQ(OutputToInput(scatter, ByElement()).at(2),
            "0.2.0 (d0)[s0]{rt0} -> (s0, d0 - rt0), domain: d0 in [0, 9], s0 in [0, 4], "
            "rt0 in [-inf, inf], d0 - rt0 in [0, 2]\n"
            "  rt0: i, as is; (d0)[s0] -> (s0, 0), domain: d0 in [0, 9], s0 in [0, 4]");
  EXPECT_EQ(InputToOutput(scatter, ByElement()).at(2),
            "0.2.0 (d0, d1){rt0} -> (d1 + rt0), domain: d0 in [0, 4], d1 in [0, 2], "
            "rt0 in [-inf, inf], d1 + rt0 in [0, 9]\n"
            "  rt0: i, as is; (d0, d1) -> (d0, 0), domain: d0 in [0, 4], d1 in [0, 2]");
}

TEST_F(ScatterTest, BatchingDimensionsGoTogether) {
  // The operand's dimension 0 is dimension 1 of the indices; each index is a vector of its own.
  const HloInstruction* scatter = Scatter(R"(
    a = f32[5,20,6] parameter(0)
    i = s32[3,5] parameter(1)
    u = f32[4,3,5] parameter(2)
    ROOT r = f32[5,20,6] scatter(a, i, u), update_window_dims={0}, inserted_window_dims={2},
      input_batching_dims={0}, scatter_indices_batching_dims={1},
      scatter_dims_to_operand_dims={2}, index_vector_dim=2, to_apply=add)");
  const std::string d = "d0 in [0, 4], d1 in [0, 3], d2 in [0, 5]";
  EXPECT_THAT(
      OutputToInput(scatter),
      ElementsAre("0.0.0 (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 4], d1 in [0, 19], "
                  "d2 in [0, 5]",
                  "0.1.0 (d0, d1, d2)[s0] -> (s0, d0), domain: " + d + ", s0 in [0, 2]",
                  "0.2.0 (d0, d1, d2)[s0]{rt0} -> (d1, s0, d0), domain: " + d +
                      ", s0 in [0, 2], rt0 in [0, 5], d2 - rt0 in [0, 0]\n"
                      "  rt0: i, as is; (d0, d1, d2)[s0] -> (s0, d0), domain: " +
                      d + ", s0 in [0, 2]"));
  // Along dimension 1, windows have the first 4 of 20.
  EXPECT_EQ(InputToOutput(scatter).at(1),
            "0.1.0 (d0, d1)[s0, s1] -> (d1, s0, s1), domain: d0 in [0, 2], d1 in [0, 4], "
            "s0 in [0, 3], s1 in [0, 5]");
  EXPECT_EQ(InputToOutput(scatter).at(2),
            "0.2.0 (d0, d1, d2){rt0} -> (d2, d0, rt0), domain: d0 in [0, 3], d1 in [0, 2], "
            "d2 in [0, 4], rt0 in [0, 5]\n"
            "  rt0: i, as is; (d0, d1, d2) -> (d1, d2), domain: d0 in [0, 3], d1 in [0, 2], "
            "d2 in [0, 4]");
}

TEST_F(ScatterTest, UpdatesAtFixedIndicesOutsideReachNothing) {
  const HloInstruction* scatter = Scatter(R"(
    a = f32[10] parameter(0)
    i = s32[2,1] constant({{8}, {-1}})
    u = f32[2,3] parameter(1)
    ROOT r = f32[10] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)");
  // The indices are read as any others.
  EXPECT_THAT(OutputToInput(scatter),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]",
                          "0.1.0 (d0)[s0] -> (s0, 0), domain: d0 in [0, 9], s0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(scatter),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]",
                          "0.1.0 (d0, d1)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 0], "
                          "s0 in [0, 9]"));
}

TEST_F(ScatterTest, EveryIndexVectorThatCouldAddressAnElementIsRead) {
  // Windows of 2 by 3 by 1 elements, the last without an index, that begin at -128 to 127.
  const auto lines = [&](absl::string_view type, const IndexingOptions& options) {
    const HloInstruction* scatter =
        Scatter(absl::StrCat("a = f32[200,300,7] parameter(0) i = ", type, R"([5,2] parameter(1)
      u = f32[5,2,3] parameter(2)
      ROOT r = f32[200,300,7] scatter(a, i, u), update_window_dims={1,2},
        inserted_window_dims={2}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1,
        to_apply=add)"));
    return std::vector<std::string>{OutputToInput(scatter, options).at(1),
                                    InputToOutput(scatter, options).at(1)};
  };
  const auto reaching = [](const std::string& last0, const std::string& last1) {
    return std::vector<std::string>{
        "0.1.0 (d0, d1, d2)[s0, s1] -> (s1, s0), domain: d0 in [0, " + last0 + "], d1 in [0, " +
            last1 + "], d2 in [0, 0], s0 in [0, 1], s1 in [0, 4]",
        "0.1.0 (d0, d1)[s0, s1] -> (s0, s1, 0), domain: d0 in [0, 4], d1 in [0, 1], s0 in [0, " +
            last0 + "], s1 in [0, " + last1 + "]"};
  };
  EXPECT_EQ(lines("s8", {}), reaching("128", "129"));
  EXPECT_EQ(lines("s8", ByElement()), reaching("128", "129"));
  EXPECT_EQ(lines("u8", {}), reaching("199", "257"));
  for (const absl::string_view type : {"s16", "u16", "s64", "u64"}) {
    EXPECT_EQ(lines(type, {}), reaching("199", "299"));
    EXPECT_EQ(lines(type, ByElement()), reaching("199", "299"));
  }
}

// One window that replaces.
constexpr char kReplacing[] = R"(
  a = f32[10] parameter(0)
  i = s32[1] parameter(1)
  u = f32[3] parameter(2)
  ROOT r = f32[10] scatter(a, i, u), update_window_dims={0}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=put)";

TEST_F(ScatterTest, ElementsThatOneWindowReplacesAreNotRead) {
  const HloInstruction* scatter = Scatter(kReplacing);
  const std::string by_default =
      "0.0.0 (d0) -> (d0), domain: d0 in [0, 9]  (over-approximate: elements that the updates "
      "overwrite are not read)";
  EXPECT_EQ(OutputToInput(scatter).at(0), by_default);
  EXPECT_EQ(InputToOutput(scatter).at(0), by_default);
  // The window is dropped, or the element is below it, or above it.
  const std::string i = "\n  rt0: i, as is; (d0) -> (0), domain: d0 in ";
  const std::vector<std::string> exact = {
      "0.0.0 (d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [-2147483648, -1]" + i + "[0, 9]",
      "0.0.0 (d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [8, 2147483647]" + i + "[0, 9]",
      "0.0.0 (d0){rt0} -> (d0), domain: d0 in [0, 6], rt0 in [1, 7], d0 - rt0 in [-7, -1]" + i +
          "[0, 6]",
      "0.0.0 (d0){rt0} -> (d0), domain: d0 in [3, 9], rt0 in [0, 6], d0 - rt0 in [3, 9]" + i +
          "[3, 9]"};
  std::vector<std::string> lines = OutputToInput(scatter, Exact());
  lines.resize(4);
  EXPECT_EQ(lines, exact);
  lines = InputToOutput(scatter, Exact());
  lines.resize(4);
  EXPECT_EQ(lines, exact);
}

TEST_F(ScatterTest, ElementsThatFixedWindowsReplaceAreNotRead) {
  const auto lines = [&](absl::string_view indices, const IndexingOptions& options = {}) {
    std::vector<std::string> all = OutputToInput(Scatter(absl::StrCat(R"(
      a = f32[10,4] parameter(0)
      i = s32[3,1] )",
                                                                      indices, R"(
      u = f32[3,2,4] parameter(1)
      ROOT r = f32[10,4] scatter(a, i, u), update_window_dims={1,2}, inserted_window_dims={},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=put)")),
                                                 options);
    std::erase_if(all, [](const std::string& line) { return line.substr(0, 5) != "0.0.0"; });
    return all;
  };
  // [2, 3], [5, 6] and, outside, [9, 10].
  EXPECT_THAT(lines("constant({{2}, {5}, {9}})", Exact()),
              ElementsAre("0.0.0 (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 3]",
                          "0.0.0 (d0, d1) -> (4, d1), domain: d0 in [4, 4], d1 in [0, 3]",
                          "0.0.0 (d0, d1) -> (d0, d1), domain: d0 in [7, 9], d1 in [0, 3]"));
  // One piece costs nothing: [0, 3].
  EXPECT_THAT(lines("iota(), iota_dimension=0"),
              ElementsAre("0.0.0 (d0, d1) -> (d0, d1), domain: d0 in [4, 9], d1 in [0, 3]"));
}

TEST_F(ScatterTest, ManyWindowsThatReplaceAreOneIdentity) {
  const HloInstruction* scatter = Scatter(R"(
    a = f32[10] parameter(0)
    i = s32[50] parameter(1)
    u = f32[50] parameter(2)
    ROOT r = f32[10] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=put)");
  EXPECT_EQ(OutputToInput(scatter, Exact()).at(0),
            "0.0.0 (d0) -> (d0), domain: d0 in [0, 9]  (over-approximate: elements that the "
            "updates overwrite are not read)");
}

TEST_F(ScatterTest, AnUpdateThatTheCombinerIgnoresIsNotRead) {
  const HloInstruction* scatter = Scatter(R"(
    a = f32[10] parameter(0)
    i = s32[1] parameter(1)
    u = f32[] parameter(2)
    ROOT r = f32[10] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=keep)");
  EXPECT_THAT(OutputToInput(scatter), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]",
                                                  "0.1.0 (d0) -> (0), domain: d0 in [0, 9]"));
}

constexpr char kVariadic[] = R"(
  a = f32[10] parameter(0)
  b = s32[10] parameter(1)
  i = s32[50] parameter(2)
  u = f32[50] parameter(3)
  v = s32[50] parameter(4)
  ROOT r = (f32[10], s32[10]) scatter(a, b, i, u, v), update_window_dims={},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=)";

TEST_F(ScatterTest, ResultsThatAreCombinedOneByOneReadTheirOwn) {
  const HloInstruction* scatter = Scatter(absl::StrCat(kVariadic, "add_and_put"));
  const std::string at =
      ", domain: d0 in [0, 9], s0 in [0, 49], rt0 in [0, 9], d0 - rt0 in [0, 0]\n"
      "  rt0: i, as is; (d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 49]";
  const std::string there = "(d0)[s0]{rt0} -> (s0)" + at;
  const std::string any = "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 49]";
  EXPECT_THAT(
      OutputToInput(scatter),
      ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]", "0.2.0 " + any, "0.3.0 " + there,
                  "1.1.0 (d0) -> (d0), domain: d0 in [0, 9]  (over-approximate: elements "
                  "that the updates overwrite are not read)",
                  "1.2.0 " + any, "1.4.0 " + there));
  const std::string reached =
      "(d0){rt0} -> (rt0), domain: d0 in [0, 49], rt0 in [0, 9]\n"
      "  rt0: i, as is; (d0) -> (d0), domain: d0 in [0, 49]";
  const std::string all = "(d0)[s0] -> (s0), domain: d0 in [0, 49], s0 in [0, 9]";
  EXPECT_THAT(
      InputToOutput(scatter),
      ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]", "0.2.0 " + all, "0.3.0 " + reached,
                  "1.1.0 (d0) -> (d0), domain: d0 in [0, 9]  (over-approximate: elements "
                  "that the updates overwrite are not read)",
                  "1.2.0 " + all, "1.4.0 " + reached));
}

TEST_F(ScatterTest, ResultsThatAreCombinedTogetherReadTheOthersWhereThereAreUpdates) {
  const HloInstruction* scatter = Scatter(absl::StrCat(kVariadic, "together"));
  const std::string at =
      ", domain: d0 in [0, 9], s0 in [0, 49], rt0 in [0, 9], d0 - rt0 in [0, 0]\n"
      "  rt0: i, as is; (d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 49]";
  const std::string there = "(d0)[s0]{rt0} -> (s0)" + at;
  const std::string any = "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 49]";
  const std::string all = "(d0) -> (d0), domain: d0 in [0, 9]";
  // Result 0 is computed from a and u alone.
  EXPECT_THAT(OutputToInput(scatter),
              ElementsAre("0.0.0 " + all, "0.2.0 " + any, "0.3.0 " + there,
                          "1.0.0 (d0)[s0]{rt0} -> (d0)" + at, "1.1.0 " + all, "1.2.0 " + any,
                          "1.3.0 " + there, "1.4.0 " + there));
}

TEST_F(ScatterTest, ACombinerThatExchangesItsValuesReadsMoreWithMoreUpdates) {
  const HloInstruction* scatter = Scatter(R"(
    a = f32[10] parameter(0)
    b = f32[10] parameter(1)
    i = s32[1] parameter(2)
    u = f32[] parameter(3)
    v = f32[] parameter(4)
    ROOT r = (f32[10], f32[10]) scatter(a, b, i, u, v), update_window_dims={},
      inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0,
      to_apply=exchange)");
  const std::vector<std::string> lines = OutputToInput(scatter);
  EXPECT_EQ(lines.at(0),
            "0.0.0 (d0) -> (d0), domain: d0 in [0, 9]  (over-approximate: what the combiner reads "
            "differs with the number of updates)");
  EXPECT_EQ(lines.size(), 10u);
  // The indices decide the place all the same.
  EXPECT_EQ(lines.at(2), "0.2.0 (d0) -> (0), domain: d0 in [0, 9]");
}

TEST_F(ScatterTest, FlagsAndEmptyListsChangeNoMap) {
  const std::vector<std::string> plain = OutputToInput(Scatter(kWindows));
  EXPECT_EQ(OutputToInput(
                Scatter(absl::StrCat(kWindows,
                                     ", indices_are_sorted=true, unique_indices=true, "
                                     "input_batching_dims={}, scatter_indices_batching_dims={}"))),
            plain);
  constexpr absl::string_view kGather = R"(
    a = f32[10] parameter(0)
    i = s32[5,1] parameter(1)
    ROOT r = f32[5,3] gather(a, i), offset_dims={1}, collapsed_slice_dims={},
      start_index_map={0}, index_vector_dim=1, slice_sizes={3})";
  EXPECT_EQ(
      OutputToInput(Scatter(absl::StrCat(kGather,
                                         ", indices_are_sorted=true, operand_batching_dims={}, "
                                         "start_indices_batching_dims={}"))),
      OutputToInput(Scatter(kGather)));
}

TEST_F(ScatterTest, NothingIsReadForOrOfNothing) {
  // No updates.
  EXPECT_THAT(OutputToInput(Scatter(R"(
    a = f32[10] parameter(0)
    i = s32[0] parameter(1)
    u = f32[0] parameter(2)
    ROOT r = f32[10] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=put)")),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]"));
  // Windows without elements.
  EXPECT_THAT(OutputToInput(Scatter(R"(
    a = f32[10] parameter(0)
    i = s32[4] parameter(1)
    u = f32[4,0] parameter(2)
    ROOT r = f32[10] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=put)")),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 9]"));
  // An operand without elements, in which no window lies.
  const HloInstruction* nowhere = Scatter(R"(
    a = f32[0,2] parameter(0)
    i = s32[4] parameter(1)
    u = f32[4,2] parameter(2)
    ROOT r = f32[0,2] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)");
  EXPECT_THAT(OutputToInput(nowhere), ElementsAre());
  EXPECT_THAT(InputToOutput(nowhere), ElementsAre());
  // This scatter has no index for the dimension.
  const HloInstruction* whole = Scatter(R"(
    a = f32[0,2] parameter(0)
    i = s32[4,0] parameter(1)
    u = f32[4,2] parameter(2)
    ROOT r = f32[0,2] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={}, index_vector_dim=1, to_apply=add)");
  EXPECT_THAT(InputToOutput(whole), ElementsAre());
}

TEST_F(ScatterTest, UnboundedAndHugeDimensions) {
  const HloInstruction* unbounded = Scatter(R"(
    a = f32[?] parameter(0)
    i = s32[?] parameter(1)
    u = f32[?] parameter(2)
    ROOT r = f32[?] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)");
  EXPECT_EQ(InputToOutput(unbounded).at(2),
            "0.2.0 (d0){rt0} -> (rt0), domain: d0 in [0, inf], rt0 in [0, inf]\n"
            "  rt0: i, as is; (d0) -> (d0), domain: d0 in [0, inf]");
  const HloInstruction* huge = Scatter(R"(
    a = f32[4611686018427387904] parameter(0)
    i = s64[] parameter(1)
    u = f32[4611686018427387903] parameter(2)
    ROOT r = f32[4611686018427387904] scatter(a, i, u), update_window_dims={0},
      inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0,
      to_apply=add)");
  EXPECT_EQ(InputToOutput(huge).at(2),
            "0.2.0 (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 4611686018427387902], "
            "rt0 in [0, 1]\n  rt0: i, as is; (d0) -> (), domain: d0 in [0, 4611686018427387902]");
}

}  // namespace
}  // namespace xla_indexing
