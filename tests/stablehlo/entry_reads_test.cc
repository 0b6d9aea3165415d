// What the result of a program reads of its arguments, for forms that JAX prints and that are rare: the
// expected maps are those of the operations' definitions.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A line `output <- argument: map` for each map of the entry. The HLO text of the module says the same.
std::vector<std::string> LinesOfReads(absl::string_view text) {
  const auto module = ReadAndVerifyStableHlo(text, "m.mlir");
  if (!module.ok()) return {std::string(module.status().message())};
  const auto again = ParseAndVerifyModule((*module)->ToString());
  if (!again.ok()) return {std::string(again.status().message())};
  std::string difference;
  EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << difference;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const auto reads =
      indexer.IndexSimplified(*(*module)->entry_computation(), Direction::kOutputToInput);
  if (!reads.ok()) return {std::string(reads.status().message())};
  std::vector<std::string> lines;
  for (const IndexingEntry& entry : **reads) {
    for (const OperandIndexing& map : entry.indexing) {
      lines.push_back(absl::StrCat(entry.output_leaf, " <- ", entry.operand, ": ",
                                   map.IsUnknown() ? "unknown" : map.map().ToString(),
                                   map.IsExact() ? "" : " (not exact)"));
    }
  }
  return lines;
}

constexpr char kSame[] = "(d0) -> (d0), domain: d0 in [0, 3]";

// Functions are called before they are there, by all that calls them, in both forms.
TEST(StableHloReads, FunctionsThatComeLater) {
  const absl::string_view later = R"(
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%x: tensor<4xf32>):
    %r = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%r) : (tensor<4xf32>) -> ()
  }) : () -> ()
)";
  const std::string reversed = "0 <- 0: (d0) -> (-d0 + 3), domain: d0 in [0, 3]";
  for (
      const absl::string_view call :
      {R"("func.call"(%a) <{callee = @f}> : (tensor<4xf32>) -> tensor<4xf32>)",
       R"(call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>)",
       R"("stablehlo.composite"(%a) <{decomposition = @f, name = "my.f"}> : (tensor<4xf32>) -> tensor<4xf32>)",
       R"("stablehlo.composite"(%a) {decomposition = @f, name = "my.f"} : (tensor<4xf32>) -> tensor<4xf32>)",
       R"(stablehlo.composite "my.f" %a {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>)"}) {
    EXPECT_THAT(LinesOfReads(absl::StrCat(
                    "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n%0 = ", call,
                    "\nreturn %0 : tensor<4xf32>\n}\n", later)),
                ElementsAre(reversed))
        << call;
  }
  EXPECT_THAT(
      LinesOfReads(absl::StrCat("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                                "%0 = \"stablehlo.custom_call\"(%a) <{call_target_name = \"t\", "
                                "called_computations = [@f]}> : (tensor<4xf32>) -> tensor<4xf32>\n"
                                "return %0 : tensor<4xf32>\n}\n",
                                later)),
      ElementsAre(AllOf(StartsWith("0 <- 0:"), HasSubstr("not exact"))));
}

// What JAX prints of collectives that are begun and ended apart. The value of a future is read as if there were
// none.
TEST(StableHloReads, Futures) {
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %r = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
    stablehlo.return %r : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %g = "stablehlo.async_start"(%a, %b) ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    stablehlo.return %y, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>, tensor<4xf32>>
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %1:2 = "stablehlo.async_done"(%g) : (!stablehlo.future<tensor<4xf32>, tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0, %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})"),
              ElementsAre("0 <- 0: (d0) -> (-d0 + 3), domain: d0 in [0, 3]",
                          absl::StrCat("1 <- 1: ", kSame), absl::StrCat("2 <- 0: ", kSame)));
  for (const absl::string_view type :
       {"!stablehlo.future<tensor<4xf32>", "!stablehlo.future<4>", "!stablehlo.future<i7>",
        "!stablehlo.future<", "!stablehlo.future<>>"}) {
    EXPECT_THAT(LinesOfReads(absl::StrCat("func.func @main(%a: ", type, ") {\n  return\n}\n")),
                ElementsAre(StartsWith("m.mlir:")))
        << type;
  }
}

// Where HLO has no place for what a region captures, all of it may be read; other devices are not forgotten.
TEST(StableHloReads, CapturedValuesWithoutAPlace) {
  const std::string whole =
      "0 <- 1: (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 2] (not exact)";
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4x5xf32>, %w: tensor<3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%a init: %zero) across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %i = stablehlo.convert %y : (tensor<f32>) -> tensor<i32>
    %s = stablehlo.dynamic_slice %w, %i, sizes = [1] : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %e = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %e : tensor<f32>
  }
  return %r : tensor<4xf32>
})"),
              testing::Contains(whole));
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4xf32>, %k: tensor<f32>, %s: tensor<2xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%a, %s, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.multiply %x, %k : tensor<f32>
    %p = stablehlo.compare GE, %z, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %q = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})"),
              testing::Contains("0 <- 1: (d0) -> (), domain: d0 in [0, 3] (not exact)"));
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.multiply %x, %k : tensor<f32>
    %q = stablehlo.add %z, %y : tensor<f32>
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})"),
              ElementsAre("0 <- 0: unknown (not exact)", "0 <- 1: unknown (not exact)"));
  // Whatever its groups are; HLO text has none like these.
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = "x.y"(%a) {replica_groups = dense<0> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})"),
              ElementsAre("0 <- 0: unknown (not exact)"));
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %k : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})"),
              ElementsAre("0 <- 0: unknown (not exact)", "0 <- 1: unknown (not exact)"));
  // In a region of the region, or in a function.
  for (
      const absl::string_view inner :
      {R"("stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>)",
       R"("func.call"(%x) <{callee = @f}> : (tensor<4xf32>) -> tensor<4xf32>)"}) {
    EXPECT_THAT(LinesOfReads(absl::StrCat(R"(
func.func @main(%a: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %y = )",
                                          inner, R"(
    %z = stablehlo.add %y, %k : tensor<4xf32>
    stablehlo.return %z : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
})")),
                ElementsAre("0 <- 0: unknown (not exact)", "0 <- 1: unknown (not exact)"))
        << inner;
  }
}

// Operations without operands or types end where the next one, or their location, begins.
TEST(StableHloReads, WhatHasNoOperands) {
  EXPECT_THAT(LinesOfReads(R"(
#loc = loc("f.py":7:3)
func.func @main(%p: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.optimization_barrier()
  %0 = stablehlo.reverse %a, dims = [0] : tensor<4xf32> loc(#loc)
  stablehlo.optimization_barrier() loc(#loc)
  "stablehlo.if"(%p) ({
    stablehlo.return loc(#loc)
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> () loc(#loc)
  return %0 : tensor<4xf32> loc(#loc)
})"),
              ElementsAre("0 <- 1: (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
}

// Custom calls that stand for operations of HLO which StableHLO does not have.
TEST(StableHloReads, CustomCallsOfOperations) {
  EXPECT_THAT(
      LinesOfReads(R"(
func.func @main(%a: tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x9xf32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %1 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4x9xf32>) -> tensor<4x9xf32>
  return %0#0, %1 : tensor<4x2xf32>, tensor<4x9xf32>
})"),
      ElementsAre(
          "0 <- 0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 1], s0 in [0, 8]",
          "1 <- 0: (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 8]"));
  // Elements of other devices.
  const auto ragged = ReadStableHlo({"m.mlir", R"(
func.func @main(%a: tensor<4x4xf32>, %b: tensor<8x4xf32>, %s: tensor<2xi64>) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %s, %s, %s, %s) {api_version = 4 : i32, backend_config = {channel_id = 3 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}} : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
})"});
  ASSERT_TRUE(ragged.ok()) << ragged.status();
  EXPECT_THAT((*ragged)->ToString(),
              HasSubstr("= f32[8,4] ragged-all-to-all(%a, %b, %s, %s, %s, %s), channel_id=3, "
                        "replica_groups={{0,2},{1,3}}"));
  // No operation, or one of another kind.
  for (const absl::string_view target :
       {"mhlo.unheard_of", "mhlo.while", "mhlo.custom_call", "mhlo."}) {
    EXPECT_THAT(
        LinesOfReads(absl::StrCat("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n%0 = "
                                  "stablehlo.custom_call @",
                                  target,
                                  "(%a) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %0 : "
                                  "tensor<4xf32>\n}\n")),
        ElementsAre(AllOf(StartsWith("0 <- 0:"), HasSubstr("not exact"))))
        << target;
  }
}

// Several arrays at once are several exchanges: each reads its own array, on all devices.
TEST(StableHloReads, ExchangesOfSeveralArrays) {
  const std::string text =
      R"(func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %0:2 = "stablehlo.all_to_all"(%a, %b) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  return %0#0, %0#1 : tensor<8x2xf32>, tensor<8x2xf32>
})";
  const std::string one = absl::StrReplaceAll(
      text, {{"%0:2", "%0"},
             {"(%a, %b)", "(%b)"},
             {"(tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)\n",
              "(tensor<4x4xf32>) -> tensor<8x2xf32>\n"},
             {"%0#0, %0#1", "%0, %0"}});
  const std::vector<std::string> lines = LinesOfReads(text);
  ASSERT_EQ(lines.size(), 2) << lines[0];
  EXPECT_THAT(lines[0], StartsWith("0 <- 0: "));
  EXPECT_THAT(lines[1], StartsWith("1 <- 1: "));
  EXPECT_THAT(LinesOfReads(one), testing::Contains(lines[1]));
  EXPECT_EQ(lines[0].substr(8), lines[1].substr(8));
}

// Elements have the type that the region takes, which may be wider.
TEST(StableHloReads, ReductionsThatPromote) {
  EXPECT_THAT(LinesOfReads(R"(
func.func @main(%a: tensor<4x3xi8>, %z: tensor<i8>) -> tensor<3xi32> {
  %r = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4x3xi8>, tensor<i8>) -> tensor<3xi32>
  return %r : tensor<3xi32>
})"),
              ElementsAre("0 <- 0: (d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 3]",
                          "0 <- 1: (d0) -> (), domain: d0 in [0, 2]"));
}

// A running sum: an element reads those up to its own place, and the initial value.
TEST(StableHloReads, Scans) {
  const std::string body = R"(^bb0(%x: tensor<2xf32>, %c: tensor<2xf32>):
    %s = stablehlo.add %x, %c : tensor<2xf32>
    stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
  }))";
  const std::string types = "(tensor<4x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>)";
  std::vector<std::string> forms[2];
  int form = 0;
  for (const std::string& scan :
       {absl::StrCat("\"chlo.scan\"(%a, %i) <{dimension = 0 : i64, is_reverse = false, "
                     "is_associative = true, operandSegmentSizes = array<i32: 1, 1>}> ({\n",
                     body, " : "),
        absl::StrCat("chlo.scan(%a) inits (%i) dimension=0 attributes {is_associative = true, "
                     "is_reverse = false} {\n",
                     absl::StrReplaceAll(body, {{"})", "}"}}), " : ")}) {
    forms[form++] = LinesOfReads(
        absl::StrCat("func.func @main(%a: tensor<4x2xf32>, %i: tensor<2xf32>) -> (tensor<4x2xf32>, "
                     "tensor<2xf32>) {\n  %0:2 = ",
                     scan, types, "\n  return %0#0, %0#1 : tensor<4x2xf32>, tensor<2xf32>\n}\n"));
  }
  EXPECT_EQ(forms[0], forms[1]);
  EXPECT_THAT(forms[0],
              testing::IsSupersetOf(
                  {"0 <- 0: (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 1], "
                   "s0 in [0, 3], d0 - s0 in [0, 3]",
                   "0 <- 1: (d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 1]",
                   "1 <- 0: (d0)[s0] -> (s0, d0), domain: d0 in [0, 1], s0 in [0, 3]",
                   "1 <- 1: (d0) -> (d0), domain: d0 in [0, 1]"}));
}

// MHLO has the forms of StableHLO.
TEST(StableHloReads, Mhlo) {
  EXPECT_THAT(LinesOfReads("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "  %0 = mhlo.reverse %a, dims = [0] : tensor<4xf32>\n"
                           "  %1 = mhlo.negate %0 : tensor<4xf32>\n"
                           "  return %1 : tensor<4xf32>\n}\n"),
              ElementsAre("0 <- 0: (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
}

TEST(StableHloReads, NamedComputationsOfShardy) {
  const std::string text = R"(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.named_computation<"foo">(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] (%x: tensor<4xf32>) {
    %r = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
    sdy.return %r : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})";
  EXPECT_THAT(LinesOfReads(text), ElementsAre("0 <- 0: (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
  EXPECT_THAT(LinesOfReads(absl::StrReplaceAll(
                  text, {{"  return",
                          "  %1 = sdy.all_reduce {\"x\"} %0 out_sharding=<@mesh, "
                          "[{}]> : tensor<4xf32>\n  return"}})),
              ElementsAre("0 <- 0: (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
}

}  // namespace
}  // namespace xla_indexing
