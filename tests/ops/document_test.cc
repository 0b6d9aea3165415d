// The worked examples of the indexing document for single instructions, to the letter up to white
// space and commas, with the corrections that docs/operations.md lists. Where the document gives
// one direction, the other was worked out by hand.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAreArray;

class DocumentTest : public IndexingTest {
 protected:
  static std::vector<std::string> Squeezed(const std::vector<std::string>& lines) {
    std::vector<std::string> squeezed;
    for (const std::string& line : lines) squeezed.push_back(Squeeze(line));
    return squeezed;
  }

  void ExpectOutputToInput(const HloInstruction* instruction,
                           const std::vector<std::string>& expected) {
    EXPECT_THAT(Squeezed(OutputToInput(instruction)), ElementsAreArray(Squeezed(expected)));
  }
  void ExpectInputToOutput(const HloInstruction* instruction,
                           const std::vector<std::string>& expected) {
    EXPECT_THAT(Squeezed(InputToOutput(instruction)), ElementsAreArray(Squeezed(expected)));
  }
};

TEST_F(DocumentTest, Introduction) {
  const HloInstruction* broadcast = Entry(R"(
    p0 = f32[20] parameter(0)
    ROOT bc0 = f32[10, 20, 30] broadcast(p0), dimensions={1})");
  ExpectOutputToInput(broadcast, {"0.0.0 (d0, d1, d2) -> (d1), domain: d0 in [0, 9], "
                                  "d1 in [0, 19], d2 in [0, 29]"});
}

TEST_F(DocumentTest, FunctionAndDomain) {
  const HloInstruction* reduce = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p0 = f32[2,4,8,16] parameter(0)
      init = f32[] constant(0)
      ROOT r = f32[4,8] reduce(p0, init), dimensions={0,3}, to_apply=add
    })");
  ExpectOutputToInput(reduce, {"0.0.0 (d0, d1)[s0, s1] -> (s0, d0, d1, s1), domain: d0 in [0, 3], "
                               "d1 in [0, 7], s0 in [0, 1], s1 in [0, 15]",
                               "0.1.0 (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]"});
}

TEST_F(DocumentTest, Elementwise) {
  const HloInstruction* add = Entry(R"(
    p0 = f32[10, 20] parameter(0)
    p1 = f32[10, 20] parameter(1)
    ROOT add = f32[10, 20] add(p0, p1))");
  const std::string identity = "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]";
  ExpectOutputToInput(add, {"0.0.0 " + identity, "0.1.0 " + identity});
  ExpectInputToOutput(add, {"0.0.0 " + identity, "0.1.0 " + identity});
}

TEST_F(DocumentTest, Broadcast) {
  const HloInstruction* broadcast = Entry(R"(
    p0 = f32[20] parameter(0)
    ROOT bc0 = f32[10, 20, 30] broadcast(p0), dimensions={1})");
  ExpectOutputToInput(broadcast, {"0.0.0 (d0, d1, d2) -> (d1), domain: d0 in [0, 9], "
                                  "d1 in [0, 19], d2 in [0, 29]"});
  ExpectInputToOutput(broadcast, {"0.0.0 (d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], "
                                  "s0 in [0, 9], s1 in [0, 29]"});
}

TEST_F(DocumentTest, ConstantAndIotaHaveNoOperands) {
  ExpectOutputToInput(Entry("ROOT c = f32[2] constant({1, 2})"), {});
  ExpectOutputToInput(Entry("ROOT i = s32[4,8] iota(), iota_dimension=1"), {});
  ExpectInputToOutput(Entry("ROOT i = s32[4,8] iota(), iota_dimension=1"), {});
}

TEST_F(DocumentTest, DynamicSlice) {
  const HloInstruction* slice = Entry(R"(
    src = s32[2,2,258] parameter(0)
    of1 = s32[] parameter(1)
    of2 = s32[] parameter(2)
    of3 = s32[] parameter(3)
    ROOT ds = s32[1,2,32] dynamic-slice(s32[2,2,258] src, s32[] of1, s32[] of2, s32[] of3),
      dynamic_slice_sizes={1, 2, 32})");
  const std::string dims = "d0 in [0, 0], d1 in [0, 1], d2 in [0, 31]";
  const std::string scalar = "(d0, d1, d2) -> (), domain: " + dims;
  ExpectOutputToInput(
      slice,
      {"0.0.0 (d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2), domain: " + dims +
           ", rt0 in [0, 1], rt1 in [0, 0], rt2 in [0, 226]"
           "\n  rt0: of1, clamp [0, 1]; " +
           scalar + "\n  rt1: of2, clamp [0, 0]; " + scalar + "\n  rt2: of3, clamp [0, 226]; " +
           scalar,
       "0.1.0 " + scalar, "0.2.0 " + scalar, "0.3.0 " + scalar});
  const std::string source_dims = "d0 in [0, 1], d1 in [0, 1], d2 in [0, 257]";
  const std::string element = "(d0, d1, d2) -> (), domain: " + source_dims;
  // The slice has one element in dimension 0, and all of them in dimension 1.
  const std::string reach = "()[s0, s1] -> (0, s0, s1), domain: s0 in [0, 1], s1 in [0, 31]";
  ExpectInputToOutput(
      slice, {"0.0.0 (d0, d1, d2){rt0, rt1, rt2} -> (d0 - rt0, d1 - rt1, d2 - rt2), domain: " +
                  source_dims +
                  ", rt0 in [0, 1], rt1 in [0, 0], rt2 in [0, 226], "
                  "d0 - rt0 in [0, 0], d2 - rt2 in [0, 31]"
                  "\n  rt0: of1, clamp [0, 1]; " +
                  element + "\n  rt1: of2, clamp [0, 0]; " + element +
                  "\n  rt2: of3, clamp [0, 226]; " + element,
              "0.1.0 " + reach, "0.2.0 " + reach, "0.3.0 " + reach});
}

TEST_F(DocumentTest, DynamicUpdateSlice) {
  const HloInstruction* update = Entry(R"(
    src = s32[20,30] parameter(0)
    upd = s32[5,10] parameter(1)
    of1 = s32[] parameter(2)
    of2 = s32[] parameter(3)
    ROOT dus = s32[20,30] dynamic-update-slice(
        s32[20,30] src, s32[5,10] upd, s32[] of1, s32[] of2))");
  const std::string dims = "d0 in [0, 19], d1 in [0, 29]";
  const std::string scalar = "(d0, d1) -> (), domain: " + dims;
  const std::string identity =
      "0.0.0 (d0, d1) -> (d0, d1), domain: " + dims +
      "  (over-approximate: elements that the update overwrites are not read)";
  ExpectOutputToInput(update, {identity,
                               "0.1.0 (d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: " + dims +
                                   ", rt0 in [0, 15], rt1 in [0, 20], d0 - rt0 in [0, 4], "
                                   "d1 - rt1 in [0, 9]"
                                   "\n  rt0: of1, clamp [0, 15]; " +
                                   scalar + "\n  rt1: of2, clamp [0, 20]; " + scalar,
                               "0.2.0 " + scalar, "0.3.0 " + scalar});
  const std::string update_dims = "d0 in [0, 4], d1 in [0, 9]";
  const std::string element = "(d0, d1) -> (), domain: " + update_dims;
  const std::string reach = "()[s0, s1] -> (s0, s1), domain: s0 in [0, 19], s1 in [0, 29]";
  ExpectInputToOutput(update,
                      {identity,
                       "0.1.0 (d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1), domain: " + update_dims +
                           ", rt0 in [0, 15], rt1 in [0, 20]"
                           "\n  rt0: of1, clamp [0, 15]; " +
                           element + "\n  rt1: of2, clamp [0, 20]; " + element,
                       "0.2.0 " + reach, "0.3.0 " + reach});
}

TEST_F(DocumentTest, Gather) {
  const HloInstruction* gather = Entry(R"(
    operand = f32[33,76,70] parameter(0)
    indices = s32[1806,2] parameter(1)
    ROOT gather = f32[1806,7,8,4] gather(operand, indices),
      offset_dims={1,2,3}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1,
      slice_sizes={7,8,4})");
  const std::string dims = "d0 in [0, 1805], d1 in [0, 6], d2 in [0, 7], d3 in [0, 3]";
  ExpectOutputToInput(
      gather,
      {"0.0.0 (d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3), domain: " + dims +
           ", rt0 in [0, 26], rt1 in [0, 68]"
           "\n  rt0: indices, clamp [0, 26]; (d0, d1, d2, d3) -> (d0, 0), domain: " +
           dims + "\n  rt1: indices, clamp [0, 68]; (d0, d1, d2, d3) -> (d0, 1), domain: " + dims,
       "0.1.0 (d0, d1, d2, d3)[s0] -> (d0, s0), domain: " + dims + ", s0 in [0, 1]"});
  const std::string operand_dims = "d0 in [0, 32], d1 in [0, 75], d2 in [0, 69]";
  ExpectInputToOutput(
      gather,
      {// Dimension 2 has no start: its slice is the first four elements.
       "0.0.0 (d0, d1, d2)[s0]{rt0, rt1} -> (s0, d0 - rt0, d1 - rt1, d2), domain: "
       "d0 in [0, 32], d1 in [0, 75], d2 in [0, 3], s0 in [0, 1805], rt0 in [0, 26], "
       "rt1 in [0, 68], d0 - rt0 in [0, 6], d1 - rt1 in [0, 7]"
       "\n  rt0: indices, clamp [0, 26]; (d0, d1, d2)[s0] -> (s0, 0), domain: d0 in [0, 32], "
       "d1 in [0, 75], d2 in [0, 3], s0 in [0, 1805]"
       "\n  rt1: indices, clamp [0, 68]; (d0, d1, d2)[s0] -> (s0, 1), domain: d0 in [0, 32], "
       "d1 in [0, 75], d2 in [0, 3], s0 in [0, 1805]",
       "0.1.0 (d0, d1)[s0, s1, s2] -> (d0, s0, s1, s2), domain: d0 in [0, 1805], d1 in [0, 1], "
       "s0 in [0, 6], s1 in [0, 7], s2 in [0, 3]"});
}

TEST_F(DocumentTest, Transpose) {
  const HloInstruction* transpose = Entry(R"(
    p0 = f32[3, 12288, 6, 128] parameter(0)
    ROOT transpose = f32[3, 6, 128, 12288] transpose(p0), dimensions={0, 2, 3, 1})");
  ExpectOutputToInput(transpose, {"0.0.0 (d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: "
                                  "d0 in [0, 2], d1 in [0, 5], d2 in [0, 127], d3 in [0, 12287]"});
  ExpectInputToOutput(transpose, {"0.0.0 (d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: "
                                  "d0 in [0, 2], d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]"});
}

TEST_F(DocumentTest, Reverse) {
  const HloInstruction* reverse = Entry(R"(
    p0 = f32[1, 17, 9, 9] parameter(0)
    ROOT reverse = f32[1, 17, 9, 9] reverse(p0), dimensions={1, 2})");
  const std::string expected =
      "0.0.0 (d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], "
      "d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]";
  ExpectOutputToInput(reverse, {expected});
  ExpectInputToOutput(reverse, {expected});
}

TEST_F(DocumentTest, VariadicReduce) {
  const HloInstruction* reduce = Root(R"(
    max {
      a = f32[] parameter(0)
      b = s32[] parameter(1)
      c = f32[] parameter(2)
      d = s32[] parameter(3)
      m = f32[] maximum(a, c)
      n = s32[] maximum(b, d)
      ROOT t = (f32[], s32[]) tuple(m, n)
    }
    ENTRY e {
      p0 = f32[256,10] parameter(0)
      p0_init = f32[] constant(-inf)
      p1 = s32[256,10] parameter(1)
      p1_init = s32[] constant(0)
      ROOT reduce = (f32[10], s32[10]) reduce(p0, p1, p0_init, p1_init),
        dimensions={0}, to_apply=max
    })");
  const std::string to_input = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]";
  const std::string to_init = "(d0) -> (), domain: d0 in [0, 9]";
  ExpectOutputToInput(
      reduce, {"0.0.0 " + to_input, "0.1.0 " + to_input, "0.2.0 " + to_init, "0.3.0 " + to_init,
               "1.0.0 " + to_input, "1.1.0 " + to_input, "1.2.0 " + to_init, "1.3.0 " + to_init});
  const std::string from_input = "(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]";
  const std::string from_init = "()[s0] -> (s0), domain: s0 in [0, 9]";
  ExpectInputToOutput(reduce, {"0.0.0 " + from_input, "0.1.0 " + from_input, "0.2.0 " + from_init,
                               "0.3.0 " + from_init, "1.0.0 " + from_input, "1.1.0 " + from_input,
                               "1.2.0 " + from_init, "1.3.0 " + from_init});
}

TEST_F(DocumentTest, Slice) {
  const HloInstruction* slice = Entry(R"(
    p0 = f32[10, 20, 50] parameter(0)
    ROOT slice = f32[5, 3, 25] slice(f32[10, 20, 50] p0), slice={[5:10:1], [3:20:7], [0:50:2]})");
  ExpectOutputToInput(slice, {"0.0.0 (d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: "
                              "d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]"});
  ExpectInputToOutput(
      slice, {"0.0.0 (d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: "
              "d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], "
              "d2 mod 2 in [0, 0]"});
}

TEST_F(DocumentTest, CollapseShape) {
  const HloInstruction* reshape = Entry(R"(
    p0 = f32[4,8] parameter(0)
    ROOT reshape = f32[32] reshape(p0))");
  ExpectOutputToInput(reshape, {"0.0.0 (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"});
  ExpectInputToOutput(reshape,
                      {"0.0.0 (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]"});
}

TEST_F(DocumentTest, ExpandShape) {
  const HloInstruction* reshape = Entry(R"(
    p0 = f32[32] parameter(0)
    ROOT reshape = f32[4, 8] reshape(p0))");
  ExpectOutputToInput(reshape,
                      {"0.0.0 (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]"});
  ExpectInputToOutput(reshape, {"0.0.0 (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"});
}

TEST_F(DocumentTest, LinearizationDelinearization) {
  const HloInstruction* reshape = Entry(R"(
    p0 = f32[4,8] parameter(0)
    ROOT reshape = f32[2, 4, 4] reshape(p0))");
  ExpectOutputToInput(reshape,
                      {"0.0.0 (d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), "
                       "domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]"});
  ExpectInputToOutput(
      reshape, {"0.0.0 (d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), "
                "domain: d0 in [0, 3], d1 in [0, 7]"});
}

TEST_F(DocumentTest, ExpandedAndCollapsedSubshapes) {
  const HloInstruction* reshape = Entry(R"(
    p0 = f32[4, 8, 12] parameter(0)
    ROOT reshape = f32[32, 3, 4] reshape(p0))");
  ExpectOutputToInput(reshape,
                      {"0.0.0 (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: "
                       "d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]"});
  ExpectInputToOutput(reshape,
                      {"0.0.0 (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: "
                       "d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]"});
}

TEST_F(DocumentTest, Concatenate) {
  const HloInstruction* concatenate = Entry(R"(
    p0 = f32[2, 5, 7] parameter(0)
    p1 = f32[2, 11, 7] parameter(1)
    p2 = f32[2, 17, 7] parameter(2)
    ROOT concat = f32[2, 33, 7] concatenate(f32[2, 5, 7] p0, f32[2, 11, 7] p1, f32[2, 17, 7] p2),
      dimensions={1})");
  ExpectOutputToInput(
      concatenate,
      {"0.0.0 (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]",
       "0.1.0 (d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]",
       "0.2.0 (d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], "
       "d2 in [0, 6]"});
  ExpectInputToOutput(
      concatenate,
      {"0.0.0 (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]",
       "0.1.0 (d0, d1, d2) -> (d0, d1 + 5, d2), domain: d0 in [0, 1], d1 in [0, 10], d2 in [0, 6]",
       "0.2.0 (d0, d1, d2) -> (d0, d1 + 16, d2), domain: d0 in [0, 1], d1 in [0, 16], "
       "d2 in [0, 6]"});
}

TEST_F(DocumentTest, Dot) {
  const HloInstruction* dot = Entry(R"(
    p0 = f32[4, 128, 256] parameter(0)
    p1 = f32[4, 256, 64] parameter(1)
    ROOT dot = f32[4, 128, 64] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0},
      lhs_contracting_dims={2}, rhs_contracting_dims={1})");
  ExpectOutputToInput(dot, {"0.0.0 (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], "
                            "d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]",
                            "0.1.0 (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], "
                            "d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]"});
  ExpectInputToOutput(dot, {"0.0.0 (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], "
                            "d1 in [0, 127], d2 in [0, 255], s0 in [0, 63]",
                            "0.1.0 (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], "
                            "d1 in [0, 255], d2 in [0, 63], s0 in [0, 127]"});
}

TEST_F(DocumentTest, Pad) {
  const HloInstruction* pad = Entry(R"(
    p0 = f32[4, 4] parameter(0)
    p1 = f32[] parameter(1)
    ROOT pad = f32[12, 16] pad(p0, p1), padding=1_4_1x4_8_0)");
  const std::string value =
      "  (over-approximate: elements that come from the operand do not read the padding value)";
  ExpectOutputToInput(pad, {"0.0.0 (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: "
                            "d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
                            "0.1.0 (d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]" + value});
  ExpectInputToOutput(
      pad, {"0.0.0 (d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], d1 in [0, 3]",
            "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [0, 11], s1 in [0, 15]" + value});
}

TEST_F(DocumentTest, ReduceWindow) {
  const HloInstruction* reduce_window = Root(R"(
    max { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT m = f32[] maximum(x, y) }
    ENTRY e {
      c_inf = f32[] constant(-inf)
      p0 = f32[1024, 514] parameter(0)
      ROOT reduce-window = f32[1024, 3] reduce-window(p0, c_inf),
        window={size=1x512 pad=0_0x0_0}, to_apply=max
    })");
  ExpectOutputToInput(reduce_window,
                      {"0.0.0 (d0, d1)[s0] -> (d0, d1 + s0), domain: d0 in [0, 1023], "
                       "d1 in [0, 2], s0 in [0, 511]",
                       "0.1.0 (d0, d1) -> (), domain: d0 in [0, 1023], d1 in [0, 2]"});
  // The windows that start at d1 - s0, where that is one of the three.
  ExpectInputToOutput(reduce_window,
                      {"0.0.0 (d0, d1)[s0] -> (d0, d1 - s0), domain: d0 in [0, 1023], "
                       "d1 in [0, 513], s0 in [0, 511], d1 - s0 in [0, 2]",
                       "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [0, 1023], s1 in [0, 2]"});
}

}  // namespace
}  // namespace xla_indexing::internal
