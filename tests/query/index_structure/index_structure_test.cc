#include "xla_indexing/query/index_structure/index_structure.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class IndexStructureTest : public ::testing::Test {
 protected:
  const HloModule& Parse(const std::string& instructions) {
    auto module = ParseAndVerifyModule(
        absl::StrCat("HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = "
                     "f32[] add(a, b) }\n",
                     "put { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n"
                     "keep { b = f32[] parameter(1) ROOT a = f32[] parameter(0) }\n"
                     "add_s32 { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] "
                     "add(a, b) }\n"
                     "ENTRY e {\n",
                     instructions, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    return *modules_.back();
  }
  IndexStructure Of(const std::string& instructions) {
    const HloInstruction& root = *Parse(instructions).entry_computation()->root_instruction();
    const auto structure = IndexStructureOf(root, &context_);
    EXPECT_TRUE(structure.ok()) << structure.status();
    // What was asked before makes no difference.
    const auto again = IndexStructureOf(root, indexers_);
    EXPECT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->name, structure->name);
    EXPECT_EQ(again->reason, structure->reason);
    return *structure;
  }
  // Gathers single elements of p at these indices.
  static std::string Gather(const std::string& operand, const std::string& indices,
                            const std::string& shape, const std::string& made = "") {
    return absl::StrCat("p = ", operand, " parameter(0)\n", made, "\n indices = ", indices,
                        "\n ROOT r = f32", shape,
                        " gather(p, indices), offset_dims={}, collapsed_slice_dims={0}, "
                        "start_index_map={0}, index_vector_dim=1, slice_sizes={1}");
  }
  std::string Rewritten(const std::string& instructions) {
    const auto module = RewriteIndices(Parse(instructions), &context_);
    EXPECT_TRUE(module.ok()) << module.status();
    return (*module)->ToString();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
  HloIndexers indexers_{&context_};
};

TEST_F(IndexStructureTest, AConstantWithEqualStepsIsAStridedSliceAndReverse) {
  const std::string gather = Gather("f32[10]", "s32[4,1] constant({{7},{5},{3},{1}})", "[4]");
  const IndexStructure structure = Of(gather);
  EXPECT_EQ(structure.form, IndexedForm::kBox);
  EXPECT_EQ(structure.name, "strided slice, reverse");
  EXPECT_EQ(structure.sorted.holds, Answer::kNo);
  EXPECT_EQ(structure.in_bounds.holds, Answer::kYes);
  const std::string rewritten = Rewritten(gather);
  EXPECT_THAT(rewritten, HasSubstr("slice(%p), slice={[1:8:2]}"));
  EXPECT_THAT(rewritten, HasSubstr("ROOT %r = f32[4] reverse(%r.slice), dimensions={0}"));
}

TEST_F(IndexStructureTest, StartsThatAreClampedRepeatTheElementsAtTheEdges) {
  // The indices are -2 .. 9 of an array of 8.
  const std::string gather = Gather("f32[8]", "s32[12,1] subtract(i, two)", "[12]",
                                    "i = s32[12,1] iota(), iota_dimension=0 t = s32[] constant(2) "
                                    "two = s32[12,1] broadcast(t), dimensions={}");
  const IndexStructure structure = Of(gather);
  EXPECT_EQ(structure.form, IndexedForm::kConcatenation);
  EXPECT_THAT(structure.name, HasSubstr("concatenation of 3: slice, broadcast; "));
  EXPECT_EQ(structure.in_bounds.holds, Answer::kNo);
  EXPECT_EQ(structure.in_bounds.reason, "a start is clamped");
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
  EXPECT_THAT(Rewritten(gather), HasSubstr("concatenate("));
}

// A list by running sums of {2, 1, 0, 1}: 2, 3, 3, 4.
TEST_F(IndexStructureTest, AListThatTheModuleComputesIsWhatItsElementsAre) {
  const std::string gather =
      Gather("f32[10]", "s32[4,1] reshape(sums)", "[4]",
             "list = s32[4] constant({2, 1, 0, 1}) z = s32[] constant(0) "
             "sums = s32[4] reduce-window(list, z), window={size=4 pad=3_0}, to_apply=add_s32");
  const IndexStructure structure = Of(gather);
  EXPECT_EQ(structure.form, IndexedForm::kConcatenation) << structure.reason;
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
  EXPECT_EQ(structure.in_bounds.holds, Answer::kYes);
  EXPECT_THAT(Rewritten(gather), HasSubstr("concatenate("));
}

TEST_F(IndexStructureTest, AnIotaAndAnUnknownOffsetIsSorted) {
  const IndexStructure structure =
      Of(Gather("f32[100]", "s32[12,1] add(i, offsets)", "[12]",
                "i = s32[12,1] iota(), iota_dimension=0 o = s16[] parameter(1) "
                "w = s32[] convert(o) offsets = s32[12,1] broadcast(w), dimensions={}"));
  EXPECT_EQ(structure.sorted.holds, Answer::kYes) << structure.sorted.reason;
  EXPECT_THAT(structure.sorted.reason, HasSubstr("whatever"));
  EXPECT_EQ(structure.in_bounds.holds, Answer::kUndecided);
}

TEST_F(IndexStructureTest, IndicesFromOutsideAreNotKnown) {
  const IndexStructure structure = Of(Gather("f32[100]", "s32[12,1] parameter(1)", "[12]"));
  EXPECT_EQ(structure.form, IndexedForm::kUnrecognised);
  EXPECT_EQ(structure.sorted.holds, Answer::kUndecided);
  EXPECT_EQ(structure.sorted.reason, "it depends on indices");
  EXPECT_FALSE(structure.IsReplaceable());
}

TEST_F(IndexStructureTest, OneStartForAllElementsIsADynamicSlice) {
  const IndexStructure structure = Of(R"(p = f32[100,8] parameter(0)
      start = s32[1] parameter(1)
      ROOT r = f32[10,8] gather(p, start), offset_dims={0,1}, collapsed_slice_dims={},
        start_index_map={0}, index_vector_dim=0, slice_sizes={10,8})");
  EXPECT_EQ(structure.form, IndexedForm::kDynamicSlice);
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
}

TEST_F(IndexStructureTest, TwoDimensionsOfTheOperandMayRunAlongOneOrOneAlongTwo) {
  const IndexStructure diagonal = Of(R"(p = f32[5,5] parameter(0)
      i = s32[5,2] iota(), iota_dimension=0
      ROOT r = f32[5] gather(p, i), offset_dims={}, collapsed_slice_dims={0,1},
        start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1})");
  EXPECT_EQ(diagonal.form, IndexedForm::kDiagonal);
  EXPECT_EQ(diagonal.not_replaced, "an index is in two coordinates");
  const IndexStructure windows = Of(R"(p = f32[9] parameter(0)
      i = s32[7,1] iota(), iota_dimension=0
      ROOT r = f32[7,3] gather(p, i), offset_dims={1}, collapsed_slice_dims={},
        start_index_map={0}, index_vector_dim=1, slice_sizes={3})");
  EXPECT_EQ(windows.form, IndexedForm::kStencil);
  EXPECT_EQ(windows.not_replaced, "two indices are in one coordinate");
  EXPECT_FALSE(windows.replacement.gather);
  EXPECT_EQ(windows.in_bounds.holds, Answer::kYes);
}

std::string Scatter(const std::string& combiner, const std::string& indices) {
  return absl::StrCat("p = f32[8] parameter(0)\n u = f32[3] parameter(1)\n i = ", indices,
                      "\n ROOT r = f32[8] scatter(p, i, u), update_window_dims={}, "
                      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                      "index_vector_dim=1, to_apply=",
                      combiner);
}

TEST_F(IndexStructureTest, AScatterThatReplacesABoxIsADynamicUpdateSlice) {
  const std::string scatter = Scatter("put", "s32[3,1] constant({{4},{5},{6}})");
  const IndexStructure structure = Of(scatter);
  EXPECT_EQ(structure.form, IndexedForm::kUpdate);
  EXPECT_EQ(structure.unique.holds, Answer::kYes);
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
  EXPECT_THAT(Rewritten(scatter), HasSubstr("ROOT %r = f32[8] dynamic-update-slice(%p, %u, "));
}

TEST_F(IndexStructureTest, AScatterThatCombinesSaysWhatItMayPromise) {
  const std::string scatter = Scatter("add", "s32[3,1] constant({{6},{4},{2}})");
  const IndexStructure structure = Of(scatter);
  EXPECT_EQ(structure.form, IndexedForm::kAccumulation);
  EXPECT_TRUE(structure.replacement.is_unique);
  EXPECT_FALSE(structure.replacement.is_sorted);
  const IndexStructure twice = Of(Scatter("add", "s32[3,1] constant({{6},{6},{7}})"));
  EXPECT_EQ(twice.unique.holds, Answer::kNo);
  EXPECT_EQ(twice.sorted.holds, Answer::kYes);
  EXPECT_FALSE(twice.replacement.scatter);
  // A combiner that keeps what is there reads no updates.
  EXPECT_THAT(Rewritten(Scatter("keep", "s32[3,1] constant({{4},{5},{6}})")),
              HasSubstr("ROOT %r = f32[8] scatter("));
  EXPECT_THAT(Rewritten(Scatter("add", "s32[3,1] constant({{6},{6},{7}})")),
              HasSubstr("to_apply=%add, indices_are_sorted=true"));
  // What is dropped meets nothing.
  const IndexStructure dropped = Of(Scatter("add", "s32[3,1] constant({{6},{9},{9}})"));
  EXPECT_EQ(dropped.unique.holds, Answer::kYes);
  EXPECT_FALSE(dropped.replacement.is_unique);
  EXPECT_EQ(dropped.in_bounds.holds, Answer::kNo);
  EXPECT_EQ(dropped.in_bounds.reason, "a window is dropped");
}

TEST_F(IndexStructureTest, OtherInstructionsHaveNone) {
  const HloModule& module = Parse("p = f32[2] parameter(0) ROOT n = f32[2] negate(p)");
  EXPECT_FALSE(IndexStructureOf(*module.entry_computation()->root_instruction(), &context_).ok());
}

// A program of indexing syntax, with what it is and an operation that stands for it. Arrays are called
// p, y and f, indices of one dimension are computed as `i`, and `gather` and `scatter` use them.
struct SyntaxCase {
  std::string python;
  std::string indices;  // instructions that end in i
  std::string use;
  std::string name;
  std::string rewritten;
};

std::string OneDimGather(int64_t operand, int64_t result) {
  return absl::StrCat("p = f32[", operand, "] parameter(0) v = s32[", result,
                      ",1] reshape(i) ROOT r = f32[", result,
                      "] gather(p, v), offset_dims={}, collapsed_slice_dims={0}, "
                      "start_index_map={0}, index_vector_dim=1, slice_sizes={1}");
}

std::string OneDimScatter(int64_t operand, int64_t updates, const std::string& combiner,
                          const std::string& array = "p") {
  return absl::StrCat("p = f32[", operand, "] parameter(0) z = f32[] constant(0) zeros = f32[",
                      operand, "] broadcast(z), dimensions={} y = f32[", updates,
                      "] parameter(1) v = s32[", updates, ",1] reshape(i) ROOT r = f32[", operand,
                      "] scatter(", array,
                      ", v, y), update_window_dims={}, "
                      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                      "index_vector_dim=1, to_apply=",
                      combiner);
}

// i = start + step * arange(count), and with negative indices counting from the end.
std::string Arange(int64_t count, int64_t start, int64_t step, const std::string& name = "i") {
  const std::string n = absl::StrCat("s32[", count, "]");
  return absl::StrCat("ar_ = ", n, " iota(), iota_dimension=0 st_ = s32[] constant(", step,
                      ") stb = ", n, " broadcast(st_), dimensions={} mu_ = ", n,
                      " multiply(ar_, stb) sa_ = s32[] constant(", start, ") sab = ", n,
                      " broadcast(sa_), dimensions={} ", name, " = ", n, " add(mu_, sab)\n");
}
std::string Wrapped(int64_t count, int64_t size, const std::string& of) {
  const std::string n = absl::StrCat("s32[", count, "]");
  return absl::StrCat("wz = s32[] constant(0) wzb = ", n,
                      " broadcast(wz), dimensions={} wn = s32[] ", "constant(", size, ") wnb = ", n,
                      " broadcast(wn), dimensions={} below = pred[", count, "] compare(", of,
                      ", wzb), direction=LT up = ", n, " add(", of, ", wnb) i = ", n,
                      " select(below, up, ", of, ")\n");
}
// lax.rem and the corrections of jnp.remainder.
std::string FloorModulo(int64_t count, int64_t divisor, const std::string& of) {
  const std::string n = absl::StrCat("s32[", count, "]");
  const std::string p = absl::StrCat("pred[", count, "]");
  return absl::StrCat(
      "md = s32[] constant(", divisor, ") mdb = ", n, " broadcast(md), dimensions={} rem = ", n,
      " remainder(", of, ", mdb) mz = s32[] constant(0) mzb = ", n,
      " broadcast(mz), dimensions={} nz = ", p, " compare(rem, mzb), direction=NE neg = ", p,
      " compare(rem, mzb), direction=LT both2 = ", p, " and(neg, nz) rem1 = ", n,
      " add(rem, mdb) i = ", n, " select(both2, rem1, rem)\n");
}

std::vector<SyntaxCase> SyntaxCases() {
  return {
      {"x[jnp.arange(5) * 2 + 1]", Arange(5, 1, 2), OneDimGather(10, 5), "strided slice",
       "slice={[1:10:2]}"},
      {"x[jnp.arange(5) - 5]", Arange(5, -5, 1, "w") + Wrapped(5, 10, "w"), OneDimGather(10, 5),
       "slice", "slice={[5:10]}"},
      {"x[(jnp.arange(10) - 3) % 10]", Arange(10, -3, 1, "w") + FloorModulo(10, 10, "w"),
       OneDimGather(10, 10), "concatenation of 2: slice; slice", "concatenate("},
      {"x.at[::2].set(y)", Arange(5, 0, 2), OneDimScatter(10, 5, "put"),
       "strided dynamic-update-slice", "f32[5,2] dynamic-update-slice("},
      {"x.at[jnp.arange(5) + 7].set(y, mode='drop')", Arange(5, 7, 1), OneDimScatter(10, 5, "put"),
       "dynamic-update-slice", "slice(%y), slice={[0:3]}"},
      {"jnp.zeros(10).at[::2].set(y)", Arange(5, 0, 2), OneDimScatter(10, 5, "put", "zeros"), "pad",
       "pad(%y, %z), padding=0_1_1"},
      {"the gradient of x[2:7]", Arange(5, 2, 1), OneDimScatter(10, 5, "add", "zeros"), "pad",
       "padding=2_3"},
      {"x.at[::2].add(y)", Arange(5, 0, 2), OneDimScatter(10, 5, "add"),
       "accumulation over disjoint windows", "f32[5,1] add("},
      {"x[jnp.array([0, 1, 2, 7, 5, 3])]", "i = s32[6] constant({0, 1, 2, 7, 5, 3})\n",
       OneDimGather(10, 6), "concatenation of 2: slice; strided slice, reverse", "concatenate("},
      {"lax.dynamic_slice(m, (0, i), (8, 2)) under vmap",
       "k = s32[] parameter(1) i = s32[1] reshape(k)\n",
       "p = f32[8,6] parameter(0) ROOT r = f32[8,2] gather(p, i), offset_dims={0,1}, "
       "collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=0, slice_sizes={8,2}",
       "dynamic-slice", "dynamic-slice(%p, "},
  };
}

TEST_F(IndexStructureTest, IndexingSyntaxIsWhatItSays) {
  for (const SyntaxCase& each : SyntaxCases()) {
    const std::string body = each.indices + each.use;
    const IndexStructure structure = Of(body);
    EXPECT_EQ(structure.name, each.name) << each.python << ": " << structure.reason;
    EXPECT_EQ(structure.not_replaced, "") << each.python;
    EXPECT_THAT(Rewritten(body), HasSubstr(each.rewritten)) << each.python;
  }
}

TEST_F(IndexStructureTest, AnUnknownOffsetIsInsideUnderACondition) {
  // x[i + jnp.arange(4)] of f32[10], where a sum may wrap and negative indices count from the end.
  const std::string sum =
      "k = s32[] parameter(1) kb = s32[4] broadcast(k), dimensions={} ar = s32[4] iota(), "
      "iota_dimension=0 w = s32[4] add(kb, ar)\n" +
      Wrapped(4, 10, "w");
  const IndexStructure gather = Of(sum + OneDimGather(10, 4));
  EXPECT_EQ(gather.form, IndexedForm::kUnrecognised);
  EXPECT_EQ(gather.name, "dynamic-slice where k in [0, 6]");
  EXPECT_EQ(gather.where, "k in [0, 6]");
  EXPECT_EQ(gather.in_bounds.holds, Answer::kUndecided);
  // From -10 on, negative indices are elements from the end.
  EXPECT_EQ(gather.in_bounds.where, "k in [-10, 6]");
  EXPECT_EQ(gather.sorted.where, "k in [0, 6]");
  EXPECT_EQ(gather.not_replaced, "starts are clamped one by one elsewhere");
  EXPECT_FALSE(gather.IsReplaceable());

  std::string scatter_text = OneDimScatter(10, 4, "put");
  scatter_text.replace(scatter_text.find("parameter(1)"), 12, "parameter(2)");
  const IndexStructure scatter = Of(sum + scatter_text);
  EXPECT_EQ(scatter.name, "dynamic-update-slice where k in [0, 6]");
  // What wraps goes to no element.
  EXPECT_EQ(scatter.unique.holds, Answer::kYes) << scatter.unique.reason;
  EXPECT_EQ(scatter.not_replaced, "windows are dropped elsewhere");
}

// Gathers rows of an array at seven values that are computed of `i`, which is not known.
std::string RowsAt(int64_t rows, const std::string& type, const std::string& computed) {
  return absl::StrCat("p = f32[", rows, ",4] parameter(0)\ni = ", type, "[7,1] parameter(1)\n",
                      computed,
                      "ROOT r = f32[7,4] gather(p, c), offset_dims={1}, collapsed_slice_dims={0}, "
                      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}");
}

// A scalar constant of the type, broadcast to [7,1].
std::string SevenTimes(const std::string& name, const std::string& type, int64_t value) {
  return absl::StrCat(name, "0 = ", type, "[] constant(", value, ") ", name, " = ", type,
                      "[7,1] broadcast(", name, "0), dimensions={}\n");
}

TEST_F(IndexStructureTest, ValuesThatAreBoundedAreInBounds) {
  const std::string ends = SevenTimes("lo", "s32", 0) + SevenTimes("hi", "s32", 30);
  const std::vector<std::string> in_31_rows = {
      ends + "c = s32[7,1] clamp(lo, i, hi)\n",
      ends + "a = s32[7,1] maximum(lo, i) c = s32[7,1] minimum(a, hi)\n",
      ends + "a = s32[7,1] minimum(i, hi) c = s32[7,1] maximum(lo, a)\n",
      SevenTimes("m", "s32", 15) + "c = s32[7,1] and(m, i)\n",
      SevenTimes("n", "s32", 31) + "a = s32[7,1] remainder(i, n) c = s32[7,1] abs(a)\n",
      SevenTimes("n", "s32", 28) + "c = s32[7,1] shift-right-logical(i, n)\n",
      ends + "q = pred[7,1] compare(i, lo), direction=EQ c = s32[7,1] select(q, lo, hi)\n",
      SevenTimes("m", "s32", 15) + "a = s32[7,1] and(m, i) c = s32[7,1] add(a, m)\n",
      SevenTimes("m", "s32", 5) + "a = s32[7,1] and(m, i) c = s32[7,1] xor(a, m)\n",
      "a = s32[7,1] sign(i) b = s32[7,1] multiply(a, a) c = s32[7,1] abs(b)\n",
  };
  for (const std::string& computed : in_31_rows) {
    EXPECT_EQ(Of(RowsAt(31, "s32", computed)).in_bounds.holds, Answer::kYes) << computed;
  }
  const std::string remainder = SevenTimes("n", "u32", 31) + "c = u32[7,1] remainder(i, n)\n";
  EXPECT_EQ(Of(RowsAt(31, "u32", remainder)).in_bounds.holds, Answer::kYes);
  EXPECT_EQ(Of(RowsAt(256, "u8", "c = u8[7,1] copy(i)\n")).in_bounds.holds, Answer::kYes);
  EXPECT_EQ(Of(RowsAt(2, "pred", "c = s32[7,1] convert(i)\n")).in_bounds.holds, Answer::kYes);

  // One row less, or a value that may be negative or wrap, is too many.
  EXPECT_EQ(Of(RowsAt(30, "s32", in_31_rows[0])).in_bounds.holds, Answer::kUndecided);
  EXPECT_EQ(Of(RowsAt(15, "s32", in_31_rows[3])).in_bounds.holds, Answer::kUndecided);
  EXPECT_EQ(Of(RowsAt(255, "u8", "c = u8[7,1] copy(i)\n")).in_bounds.holds, Answer::kUndecided);
  EXPECT_EQ(Of(RowsAt(31, "s32", SevenTimes("n", "s32", 31) + "c = s32[7,1] remainder(i, n)\n"))
                .in_bounds.holds,
            Answer::kUndecided);
  // The least value has no absolute value in its type; a divisor may be 0.
  EXPECT_EQ(Of(RowsAt(200, "s8", "c = s8[7,1] abs(i)\n")).in_bounds.holds, Answer::kUndecided);
  EXPECT_EQ(Of(RowsAt(200, "u8", "c = u8[7,1] remainder(i, i)\n")).in_bounds.holds,
            Answer::kUndecided);
}

// One window for each row of f32[10,32], in a batching dimension or by an iota.
std::string WindowInEachRow(bool by_iota, const std::string& starts) {
  return absl::StrCat(
      "x = f32[10,32] parameter(0)\ni = s32[10,1] parameter(1)\nu = f32[10,2] parameter(2)\n",
      starts, "n = s32[10,1] iota(), iota_dimension=0 v = s32[10,2] concatenate(n, c), ",
      "dimensions={1}\nROOT s = f32[10,32] scatter(x, ",
      by_iota ? "v, u), update_window_dims={1}, inserted_window_dims={0}, "
                "scatter_dims_to_operand_dims={0,1}"
              : "c, u), update_window_dims={1}, inserted_window_dims={}, "
                "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
                "scatter_indices_batching_dims={0}",
      ", index_vector_dim=1, to_apply=put");
}

TEST_F(IndexStructureTest, OneWindowInEachBatchElementIsABatchOfUpdates) {
  for (const bool by_iota : {true, false}) {
    const IndexStructure anywhere = Of(WindowInEachRow(by_iota, "c = s32[10,1] copy(i)\n"));
    EXPECT_EQ(anywhere.unique.holds, Answer::kYes) << anywhere.unique.reason;
    EXPECT_EQ(anywhere.sorted.holds, Answer::kYes);
    EXPECT_EQ(anywhere.in_bounds.where, "i in [0, 30]");
    EXPECT_EQ(anywhere.name, "batch of dynamic-update-slices where i in [0, 30]");
    const IndexStructure inside =
        Of(WindowInEachRow(by_iota,
                           "lo0 = s32[] constant(0) lo = s32[10,1] broadcast(lo0), dimensions={} "
                           "hi0 = s32[] constant(30) hi = s32[10,1] broadcast(hi0), dimensions={} "
                           "c = s32[10,1] clamp(lo, i, hi)\n"));
    EXPECT_EQ(inside.form, IndexedForm::kUpdate);
    EXPECT_EQ(inside.name, "batch of dynamic-update-slices");
    EXPECT_EQ(inside.in_bounds.holds, Answer::kYes);
    EXPECT_FALSE(inside.replacement.scatter);
  }
  const IndexStructure slices = Of(R"(p = f32[10,32] parameter(0) i = s32[10,1] parameter(1)
      ROOT g = f32[10,2] gather(p, i), offset_dims={1}, collapsed_slice_dims={},
        start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0},
        index_vector_dim=1, slice_sizes={1,2})");
  EXPECT_EQ(slices.form, IndexedForm::kDynamicSlice);
  EXPECT_EQ(slices.name, "batch of dynamic-slices");
}

// A window whose start is clamped is placed as dynamic-update-slice places it.
TEST_F(IndexStructureTest, AWindowThatIsInsideIsADynamicUpdateSlice) {
  const std::string text = R"(x = f32[10] parameter(0) i = s32[1] parameter(1)
      u = f32[3] parameter(2)
      lo = s32[1] constant({0}) hi = s32[1] constant({7}) c = s32[1] clamp(lo, i, hi)
      ROOT s = f32[10] scatter(x, c, u), update_window_dims={0}, inserted_window_dims={},
        scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=put)";
  EXPECT_EQ(Of(text).name, "dynamic-update-slice");
  EXPECT_THAT(Rewritten(text), HasSubstr("dynamic-update-slice(%x, %u, "));
}

TEST_F(IndexStructureTest, AConditionIsTheWholeIntervalOfEachValue) {
  const auto at = [](const std::string& start) {
    return absl::StrCat("p = f32[11] parameter(0) k = s32[] parameter(1)\n", start,
                        "i = s32[1] reshape(c)\nROOT r = f32[1] gather(p, i), offset_dims={0}, "
                        "collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=0, "
                        "slice_sizes={1}");
  };
  EXPECT_EQ(Of(at("h = s32[] constant(5) c = s32[] subtract(k, h)\n")).in_bounds.where,
            "k in [5, 15]");
  EXPECT_EQ(Of(at("h = s32[] constant(5) c = s32[] subtract(h, k)\n")).in_bounds.where,
            "k in [-5, 5]");
  EXPECT_EQ(Of(at("h = s32[] constant(3) c = s32[] multiply(k, h)\n")).in_bounds.where,
            "k in [0, 3]");
  EXPECT_EQ(Of(at("h = s32[] constant(3) c = s32[] divide(k, h)\n")).in_bounds.where,
            "k in [-2, 32]");
  // Columns of an index vector have intervals of their own.
  const IndexStructure columns = Of(R"(x = f32[10,32] parameter(0) i = s32[1,2] parameter(1)
      u = f32[1,2,3] parameter(2)
      ROOT s = f32[10,32] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={},
        scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=put)");
  EXPECT_EQ(columns.in_bounds.where, "i[.., 0] in [0, 8], i[.., 1] in [0, 29]");
  EXPECT_EQ(columns.name, "dynamic-update-slice where i[.., 0] in [0, 8], i[.., 1] in [0, 29]");
}

TEST_F(IndexStructureTest, AStartThatNeverIsOutsideIsADynamicSlice) {
  // The unknown is a u8, so that the sum does not wrap and no clamp acts.
  const std::string text =
      "k = u8[] parameter(1) w = s32[] convert(k) kb = s32[4] broadcast(w), dimensions={} ar = "
      "s32[4] "
      "iota(), iota_dimension=0 i = s32[4] add(kb, ar)\n" +
      OneDimGather(300, 4);
  const IndexStructure structure = Of(text);
  EXPECT_EQ(structure.form, IndexedForm::kDynamicSlice);
  EXPECT_EQ(structure.in_bounds.holds, Answer::kYes);
  EXPECT_THAT(Rewritten(text), HasSubstr("ROOT %r = f32[4] dynamic-slice(%p, "));
}

TEST_F(IndexStructureTest, WindowsThatAreLeftOutForSomeStartsStay) {
  // x.at[i].set(y): for other values of the start than 0 nothing is written.
  const IndexStructure structure = Of(R"(p = f32[1,6] parameter(0)
      k = s32[1] parameter(1)
      y = f32[6] parameter(2)
      ROOT r = f32[1,6] scatter(p, k, y), update_window_dims={0}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=put)");
  EXPECT_EQ(structure.form, IndexedForm::kUnrecognised);
  EXPECT_FALSE(structure.replacement.scatter);
}

TEST_F(IndexStructureTest, AViewSeesIndicesOfCallersAndProducers) {
  const auto module = ParseAndVerifyModule(R"(HloModule m
    take {
      p = f32[10] parameter(0)
      i = s32[5] parameter(1)
      v = s32[5,1] reshape(i)
      ROOT g = f32[5] gather(p, v), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1}
    }
    ENTRY e {
      p = f32[10] parameter(0)
      i = s32[5] iota(), iota_dimension=0
      two = s32[5] add(i, i)
      n = f32[10] negate(p)
      ROOT r = f32[5] fusion(n, two), kind=kLoop, calls=take
    })");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& fused = *(*module)->computations()[0];
  const auto alone = IndexStructuresOf(fused, &context_);
  ASSERT_TRUE(alone.ok() && alone->size() == 1);
  EXPECT_EQ((*alone)[0].structure.form, IndexedForm::kUnrecognised);

  const auto view = ViewWithIndices(*(*module)->entry_computation()->root_instruction());
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->operands().size(), 1);  // n, and no indices
  const auto structures = IndexStructuresOf(*view, &context_);
  ASSERT_TRUE(structures.ok()) << structures.status();
  ASSERT_EQ(structures->size(), 1);
  EXPECT_EQ((*structures)[0].instruction, fused.root_instruction());
  EXPECT_EQ((*structures)[0].structure.name, "strided slice");
  // The module of the view is rewritten like any other.
  const auto rewritten = RewriteIndices(view->module(), &context_);
  ASSERT_TRUE(rewritten.ok()) << rewritten.status();
  EXPECT_THAT((*rewritten)->ToString(), HasSubstr("slice={[0:9:2]}"));
}

}  // namespace
}  // namespace xla_indexing
