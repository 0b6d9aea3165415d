#include "xla_indexing/stablehlo/stablehlo_reader.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<HloModule> MustReadStableHlo(absl::string_view text) {
  auto module = ReadAndVerifyStableHlo(text, "m.mlir");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

std::string StableHloError(absl::string_view text) {
  const auto module = ReadAndVerifyStableHlo(text, "m.mlir");
  return module.ok() ? "no error" : std::string(module.status().message());
}

TEST(StableHloReader, ReadsAModule) {
  const auto module = MustReadStableHlo(R"(
module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {mhlo.sharding = "{devices=[2,1]0,1}"}) -> (tensor<3x2xf32> {jax.result_info = ""}) {
    %0 = call @t(%arg0) : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
  func.func private @t(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
})");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->ToString(), R"(HloModule jit_f, num_partitions=2

%t {
  %arg0 = f32[2,3] parameter(0)
  ROOT %transpose.0 = f32[3,2] transpose(%arg0), dimensions={1,0}
}

ENTRY %main {
  %arg0 = f32[2,3] parameter(0), sharding={devices=[2,1]0,1}
  ROOT %call.0 = f32[3,2] call(%arg0), to_apply=%t
}
)");
}

TEST(StableHloReader, LocationsAreMetadata) {
  const auto module = MustReadStableHlo(R"(
#loc1 = loc("f.py":7:3 to :9)
#loc2 = loc("f"(#loc1))
#loc3 = loc(callsite(#loc2 at "g.py":2:1))
#loc4 = loc("jit(f)/sin"(#loc3))
func.func @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32> loc(#loc4)
  %0 = stablehlo.sine %arg0 : tensor<4xf32> loc(#loc4)
  return %0 : tensor<4xf32>
})");
  ASSERT_NE(module, nullptr);
  std::string difference;
  EXPECT_TRUE(ModulesEqual(*module, **ParseModule(module->ToString()), &difference)) << difference;
  const HloInstruction& sine = *module->entry_computation()->root_instruction();
  EXPECT_EQ(sine.name(), "sin.0");
  EXPECT_EQ(sine.metadata().op_name, "jit(f)/sin");
  EXPECT_EQ(sine.metadata().source_file, "f.py");
  EXPECT_EQ(sine.metadata().source_line, 7);
}

// What regions capture reaches the results: each of these reads %k.
TEST(StableHloReader, CapturedValuesAreOperands) {
  const auto module = MustReadStableHlo(R"(
func.func @main(%a: tensor<4xf32>, %k: tensor<f32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    %t = stablehlo.multiply %s, %k : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %c = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %t = stablehlo.multiply %y, %k : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4xf32>
  %o = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.multiply %x, %k : tensor<f32>
    %l = stablehlo.compare LT, %z, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %m = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>):
    %z = stablehlo.multiply %x, %k : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %c, %o, %m : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})");
  ASSERT_NE(module, nullptr);
  const std::string text = module->ToString();
  EXPECT_THAT(text,
              HasSubstr("%r = (f32[], f32[]) reduce(%a, %broadcast.r, %k, %k), dimensions={0}"));
  EXPECT_THAT(text,
              HasSubstr("%c = (f32[4], f32[4]) scatter(%a, %broadcast.c.1, %i, %u, %broadcast.c)"));
  EXPECT_THAT(text, HasSubstr("%o = (f32[4], f32[4]) sort(%a, %broadcast.o), dimensions={0}"));
  EXPECT_THAT(text, HasSubstr("%m = f32[4] map(%a, %broadcast.m), dimensions={0}"));
  EXPECT_THAT(
      text,
      HasSubstr("%x = f32[] parameter(0)\n  %k = f32[] parameter(1)\n  %y = f32[] parameter(2)"));
}

TEST(StableHloReader, ConstantsAreCopiedIntoRegions) {
  const auto module = MustReadStableHlo(R"(
func.func @main(%a: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.while(%x = %a) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %x, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %x, %c : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
})");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(module->ToString(), HasSubstr(R"(%while_body {
  %state = (s32[]) parameter(0)
  %x = s32[] get-tuple-element(%state), index=0
  %c = s32[] constant(3)
  %add.1 = s32[] add(%x, %c)
  ROOT %tuple = (s32[]) tuple(%add.1)
})"));
}

// An element of an array, at a place that is known, is taken outside.
TEST(StableHloReader, ElementsOfCapturedArraysAreOperands) {
  const std::string text =
      R"(func.func @main(%a: tensor<6x4xf32>, %w: tensor<3xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%a init: %zero) across dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %i = stablehlo.constant dense<2> : tensor<i32>
    %s = stablehlo.dynamic_slice %w, %i, sizes = [1] : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %e = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
    %p = stablehlo.multiply %y, %e : tensor<f32>
    %q = stablehlo.add %x, %p : tensor<f32>
    stablehlo.return %q : tensor<f32>
  }
  return %r : tensor<6xf32>
})";
  const auto expected = ParseAndVerifyModule(R"(HloModule module
%reduce_region {
  %x = f32[] parameter(0)
  %e = f32[] parameter(1)
  %y = f32[] parameter(2)
  %captured = f32[] parameter(3)
  %i = s32[] constant(2)
  %p = f32[] multiply(%y, %e)
  %q = f32[] add(%x, %p)
  ROOT %tuple = (f32[], f32[]) tuple(%q, %e)
}
ENTRY %main {
  %a = f32[6,4] parameter(0)
  %w = f32[3] parameter(1)
  %zero = f32[] constant(0)
  %i = s32[] constant(2)
  %s = f32[1] dynamic-slice(%w, %i), dynamic_slice_sizes={1}
  %e = f32[] reshape(%s)
  %broadcast.r = f32[6,4] broadcast(%e), dimensions={}
  %r = (f32[6], f32[6]) reduce(%a, %broadcast.r, %zero, %e), dimensions={1}, to_apply=%reduce_region
  ROOT %get-tuple-element.r = f32[6] get-tuple-element(%r), index=0
})");
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto module = MustReadStableHlo(text);
  ASSERT_NE(module, nullptr);
  std::string difference;
  EXPECT_TRUE(ModulesEqual(*module, **expected, &difference)) << difference << module->ToString();
}

TEST(StableHloReader, DonatedArgumentsAreInTheHeader) {
  const std::string text =
      R"(func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %c: tensor<i32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %b : tensor<4xf32>, tensor<4xf32>
})";
  const auto module = MustReadStableHlo(text);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->FindAttribute("input_output_alias"), "{ {1}: (1, {}, may-alias) }");
  EXPECT_EQ(module->FindAttribute("buffer_donor"), "{ (2, {}) }");
  const std::string one =
      absl::StrReplaceAll(text, {{"output = 1", "output = 0"},
                                 {"(tensor<4xf32>, tensor<4xf32>) {", "tensor<4xf32> {"},
                                 {"return %a, %b : tensor<4xf32>, ", "return %b : "}});
  const auto module_of_one = MustReadStableHlo(one);
  ASSERT_NE(module_of_one, nullptr);
  EXPECT_EQ(module_of_one->FindAttribute("input_output_alias"), "{ {}: (1, {}, may-alias) }");
  EXPECT_THAT(StableHloError(absl::StrReplaceAll(text, {{"output = 1", "output = 2"}})),
              HasSubstr("tf.aliasing_output of argument 1: there are 2 results"));
}

TEST(StableHloReader, TellsStableHloFromHlo) {
  for (const absl::string_view text :
       {"module @jit_f {", "module {\n}", "// c\n\n module attributes {a = 1} {",
        "#loc = loc(unknown)\nmodule {", "func.func @main() {", "\"builtin.module\"() ({",
        "builtin.module {", "ML\xefR\x01"}) {
    EXPECT_TRUE(LooksLikeStableHlo(text)) << text;
  }
  for (const absl::string_view text :
       {"", "HloModule m", "module {\n p = f32[] parameter(0)\n}", "module.1 {",
        "module (p: f32[]) -> f32[] {", "%m = f32[] parameter(0)", "ENTRY e {",
        "add(f32[4], f32[4])", "// nothing"}) {
    EXPECT_FALSE(LooksLikeStableHlo(text)) << text;
  }
}

TEST(StableHloReader, AShardingIsOneOfHlo) {
  const auto error = [](absl::string_view sharding) {
    return StableHloError(absl::StrCat("func.func @main(%a: tensor<4xf32> {mhlo.sharding = \"",
                                       sharding, "\"}) {\n  return\n}\n"));
  };
  EXPECT_EQ(error("{devices=[2]0,1}"), "no error");
  EXPECT_THAT(error("{devices=[2\\011]0,1}"), HasSubstr("mhlo.sharding"));
  EXPECT_THAT(error("{devices=[2]0,1"), HasSubstr("mhlo.sharding"));
  EXPECT_THAT(error("replicated"), HasSubstr("mhlo.sharding"));
}

// An unknown operation stays unknown in HLO text, whatever it is called.
TEST(StableHloReader, UnknownOperationsHaveNamesThatHloMayHave) {
  const auto module = ReadStableHlo({"input", R"(
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "x$y.f(g"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
})"});
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string printed = (*module)->ToString();
  EXPECT_THAT(printed, HasSubstr("mlir.negate(%a)"));
  EXPECT_THAT(printed, HasSubstr("x_y.f_g("));
  std::string difference;
  const auto again = ParseModule(printed);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << difference;
}

TEST(StableHloReader, ErrorsHaveAPlace) {
  EXPECT_THAT(StableHloError("func.func @main(%a: tensor<4xf32>) {\n  %0 = stablehlo.sine %b : "
                             "tensor<4xf32>\n  return\n}\n"),
              AllOf(StartsWith("m.mlir:2:23: error: use of undeclared SSA value name"),
                    HasSubstr("\n                      ^")));
  // Errors of the verifier.
  EXPECT_THAT(
      StableHloError(
          "func.func @main(%a: tensor<4xf32>) {\n  %0 = \"stablehlo.transpose\"(%a) <{permutation "
          "= array<i64: 1>}> : (tensor<4xf32>) -> tensor<4xf32>\n  return\n}\n"),
      AllOf(StartsWith("m.mlir:2:8: error: "), HasSubstr("transpose.0"), HasSubstr("\n       ^")));
  // Errors of the importer.
  const std::vector<std::pair<std::string, std::string>> errors = {
      {"%0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
       "[b]>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>",
       "'stablehlo.gather': offset_dims: numbers are expected, not '[b]'"},
      {"%0 = \"stablehlo.add\"(%a) : (tensor<4xf32>) -> tensor<4xf32>",
       "'stablehlo.add': it has 1 operands, 1 results"},
      {"%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0>, limit_indices = array<i64: "
       "4>, strides = array<i64>}> : (tensor<4xf32>) -> tensor<4xf32>",
       "there are 1 numbers in start_indices, 1 in limit_indices and 0 in strides"},
      {"%0 = call @nowhere(%a) : (tensor<4xf32>) -> tensor<4xf32>",
       "'func.call': there is no function @nowhere with a body"},
      {"%0 = call @main(%a, %i) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>",
       "'func.func': function @main calls itself"},
      {"%0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi7>",
       "'stablehlo.convert': HLO has no type like i7"},
      {"%0 = \"stablehlo.reduce\"(%a, %a) <{dimensions = array<i64: 0>}> : (tensor<4xf32>, "
       "tensor<4xf32>) -> tensor<4xf32>",
       "0 regions, which is not what it takes"},
      {"%0:3 = \"stablehlo.optimization_barrier\"(%a, %i) : (tensor<4xf32>, tensor<1xi32>) -> "
       "(tensor<4xf32>, tensor<1xi32>, tensor<4xf32>)",
       "'stablehlo.optimization_barrier': it has 3 results, and 2 values for them"},
      {"%0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<4xf32>) -> tensor<2x4xf32>",
       "has no dimension 2"},
  };
  for (const auto& [line, message] : errors) {
    EXPECT_THAT(
        StableHloError(absl::StrCat("func.func @main(%a: tensor<4xf32>, %i: tensor<1xi32>) {\n  ",
                                    line, "\n  return\n}\n")),
        AllOf(StartsWith("m.mlir:"), HasSubstr(message), HasSubstr("^")))
        << line;
  }
}

TEST(StableHloReader, AReductionAppliesNoFunction) {
  EXPECT_THAT(
      StableHloError(
          "func.func @main(%a: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2xf32> {\n"
          "  %0 = stablehlo.reduce(%a init: %i) applies func.func across dimensions = [1] "
          ": (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n"
          "  return %0 : tensor<2xf32>\n}\n"),
      HasSubstr(":2:46: error: custom op 'stablehlo.reduce' a reduction cannot apply 'func.func'"));
  // Before any function.
  EXPECT_THAT(
      StableHloError(
          "%a = stablehlo.constant dense<0.0> : tensor<3xf32>\n"
          "%i = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "%0 = stablehlo.reduce(%a init: %i) applies func.return across dimensions = [0] "
          ": (tensor<3xf32>, tensor<f32>) -> tensor<f32>\n"
          "func.func @main() { return }\n"),
      HasSubstr(
          ":3:44: error: custom op 'stablehlo.reduce' a reduction cannot apply 'func.return'"));
}

// JAX's rule for broadcasts: a dimension of the operand is 1 by its type, or the size of the result, symbol for
// symbol.
TEST(StableHloReader, SymbolicSizesAreNotRepeated) {
  const absl::string_view function =
      R"(func.func @main(%b: tensor<i32> {SIGN}, %a: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_broadcast_in_dim %a, %1, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
})";
  const auto text_of = [&](absl::string_view sign, absl::string_view flag) {
    const auto module = MustReadStableHlo(
        absl::StrCat("module attributes {jax.uses_shape_polymorphism = ", flag, "} {\n",
                     absl::StrReplaceAll(function, {{"SIGN", sign}}), "\n}"));
    return module == nullptr ? "" : module->ToString();
  };
  const auto broadcast = HasSubstr("f32[?,?] broadcast(%a), dimensions={0}");
  EXPECT_THAT(text_of("", "true"), broadcast);
  EXPECT_THAT(text_of("jax.global_constant = \"b\"", "false"), broadcast);
  EXPECT_THAT(text_of("", "false"), HasSubstr("stablehlo.dynamic_broadcast_in_dim"));
  const auto module = MustReadStableHlo(
      R"(module attributes {jax.uses_shape_polymorphism = true} {
func.func @main(%s: tensor<2xi32>, %a: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
})");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(module->ToString(),
              HasSubstr("%get-dimension-size.0 = s32[] get-dimension-size(%a), dimensions={1}\n"
                        "  %dynamic-reshape.0 = f32[?] dynamic-reshape(%a, "
                        "%get-dimension-size.0)\n  ROOT %broadcast.0 = f32[?,?] "
                        "broadcast(%dynamic-reshape.0), dimensions={1}"));
}

// What to do instead is run by python/tests/test_load.py.
TEST(StableHloReader, ReadsNoBytecode) {
  const absl::string_view bytecode("ML\xefR\x0dStableHLO", 14);
  EXPECT_THAT(StableHloError(bytecode),
              AllOf(StartsWith("m.mlir: error: this is MLIR's bytecode, which is not read"),
                    HasSubstr("stablehlo.deserialize_portable_artifact(")));
  const std::string exported = absl::StrCat(std::string(300, '\0'), bytecode);
  EXPECT_TRUE(LooksLikeStableHlo(exported));
  EXPECT_THAT(StableHloError(exported),
              AllOf(StartsWith("m.mlir: error: this is what jax.export's serialize() gives"),
                    HasSubstr("jax.export.deserialize(")));
}

// A type that names the one before it twice, and so on, is longer than any text: nobody prints it.
TEST(StableHloReader, TypesThatNameTheSameTwice) {
  std::string types = "!t0 = tuple<tensor<f32>>\n#a0 = [1, 2]\n";
  for (int i = 1; i < 100; ++i) {
    absl::StrAppend(&types, "!t", i, " = tuple<!t", i - 1, ", !t", i - 1, ">\n#a", i, " = [#a",
                    i - 1, ", #a", i - 1, "]\n");
  }
  for (const absl::string_view function :
       {"func.func @main(%a: !t99) {\n return\n}", "func.func @main(%a: !t40) {\n return\n}",
        "func.func @main(%a: !stablehlo.future<!t99>) {\n return\n}",
        "func.func @main(%a: (!t99) -> !t99) {\n return\n}",
        "func.func @main(%a: !t99) {\n \"x.y\"(%a) : (!t98) -> ()\n return\n}",
        "func.func @main(%a: tensor<f32>) {\n %0 = stablehlo.abs %a : !t99\n return\n}",
        "func.func @main(%a: tensor<1xf32>) {\n %0 = \"stablehlo.reverse\"(%a) {dimensions = !t99} "
        ": "
        "(tensor<1xf32>) -> tensor<1xf32>\n return\n}",
        "func.func @main(%a: tensor<1xf32>) {\n %0 = \"stablehlo.reverse\"(%a) {dimensions = #a99} "
        ": (tensor<1xf32>) -> tensor<1xf32>\n return\n}"}) {
    EXPECT_THAT(StableHloError(absl::StrCat(types, function)), StartsWith("m.mlir:")) << function;
  }
}

TEST(StableHloReader, HasABoundOnNesting) {
  for (const char* bracket : {"(", "[", "{", "<"}) {
    std::string text = "module attributes {a = ";
    for (int i = 0; i < 100000; ++i) text += bracket;
    EXPECT_THAT(StableHloError(text), HasSubstr("brackets are nested more than 256 deep"));
  }
  std::string regions = "func.func @main() {\n";
  for (int i = 0; i < 100000; ++i) regions += "\"a\"() ({\n";
  EXPECT_THAT(StableHloError(regions), HasSubstr("nested more than"));
  std::string signs = "module attributes {a = affine_map<() -> (";
  for (int i = 0; i < 100000; ++i) signs += "-";
  EXPECT_THAT(StableHloError(signs), HasSubstr("an affine map is not part of StableHLO"));
  // Each names the one before it twice.
  std::string types = "!t0 = tuple<tensor<f32>, tensor<f32>>\n";
  for (int i = 1; i < 60; ++i)
    absl::StrAppend(&types, "!t", i, " = tuple<!t", i - 1, ", !t", i - 1, ">\n");
  absl::StrAppend(&types, "func.func @main(%a: !t59) {\n  return\n}\n");
  EXPECT_THAT(StableHloError(types), HasSubstr("more than 65536 arrays"));
}

// ---- The RFC on batching dimensions, its examples as they are printed in it.

const char kGather[] =
    R"(func.func @main(%operand: tensor<2x3x4x2xi32>, %start_indices: tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi32> {
%result = "stablehlo.gather"(%operand, %start_indices) {
  dimension_numbers = #stablehlo.gather<
    offset_dims = [3, 4],
    collapsed_slice_dims = [1],
    operand_batching_dims = [0],
    start_indices_batching_dims = [1],
    start_index_map = [2, 1],
    index_vector_dim = 3>,
  slice_sizes = array<i64: 1, 1, 2, 2>,
  indices_are_sorted = false
} : (tensor<2x3x4x2xi32>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi32>
return %result : tensor<2x2x3x2x2xi32>
})";

const char kScatter[] =
    R"(func.func @main(%input: tensor<2x3x4x2xi64>, %scatter_indices: tensor<2x2x3x2xi64>, %update: tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64> {
%result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "stablehlo.return"(%0) : (tensor<i64>) -> ()
}) {
  scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [3, 4],
    inserted_window_dims = [1],
    input_batching_dims = [0],
    scatter_indices_batching_dims = [1],
    scatter_dims_to_operand_dims = [2, 1],
    index_vector_dim = 3>,
  indices_are_sorted = false,
  unique_indices = false
} : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>
return %result : tensor<2x3x4x2xi64>
})";

TEST(StableHloRfc, ExamplesAreRead) {
  const auto gather = MustReadStableHlo(kGather);
  ASSERT_NE(gather, nullptr);
  EXPECT_THAT(
      gather->ToString(),
      HasSubstr(
          "%result = s32[2,2,3,2,2] gather(%operand, %start_indices), offset_dims={3,4}, "
          "collapsed_slice_dims={1}, "
          "start_index_map={2,1}, operand_batching_dims={0}, start_indices_batching_dims={1}, "
          "index_vector_dim=3, slice_sizes={1,1,2,2}"));
  const auto scatter = MustReadStableHlo(kScatter);
  ASSERT_NE(scatter, nullptr);
  EXPECT_THAT(
      scatter->ToString(),
      HasSubstr(
          "%result = s64[2,3,4,2] scatter(%input, %scatter_indices, %update), "
          "update_window_dims={3,4}, "
          "inserted_window_dims={1}, scatter_dims_to_operand_dims={2,1}, input_batching_dims={0}, "
          "scatter_indices_batching_dims={1}, index_vector_dim=3, to_apply=%scatter_region"));
}

// One constraint of the RFC, and the changes to its example that break it.
struct RfcConstraint {
  const char* name;
  std::vector<std::pair<absl::string_view, absl::string_view>> changes;
};

void ExpectRefused(const char* example, const std::vector<RfcConstraint>& constraints) {
  for (const RfcConstraint& constraint : constraints) {
    const std::string text = absl::StrReplaceAll(example, constraint.changes);
    ASSERT_NE(text, example) << constraint.name;
    EXPECT_THAT(StableHloError(text),
                AllOf(StartsWith("m.mlir:2:"), HasSubstr("\n%result = "), HasSubstr("^")))
        << constraint.name << "\n"
        << text;
  }
}

TEST(StableHloRfc, ConstraintsOnGather) {
  ExpectRefused(
      kGather,
      {{"C1", {{"collapsed_slice_dims = [1]", "collapsed_slice_dims = []"}}},
       {"C2", {{"index_vector_dim = 3", "index_vector_dim = 5"}}},
       {"C3", {{"start_index_map = [2, 1]", "start_index_map = [2]"}}},
       {"C4", {{"offset_dims = [3, 4]", "offset_dims = [4, 3]"}}},
       {"C5", {{"offset_dims = [3, 4]", "offset_dims = [3, 5]"}}},
       {"C6", {{"collapsed_slice_dims = [1]", "collapsed_slice_dims = [0]"}}},
       {"C7",
        {{"offset_dims = [3, 4]", "offset_dims = [3]"},
         {"collapsed_slice_dims = [1]", "collapsed_slice_dims = [2, 1]"},
         {"array<i64: 1, 1, 2, 2>", "array<i64: 1, 1, 1, 2>"},
         {"tensor<2x2x3x2x2xi32>", "tensor<2x2x3x2xi32>"}}},
       {"C8", {{"collapsed_slice_dims = [1]", "collapsed_slice_dims = [4]"}}},
       {"C9", {{"array<i64: 1, 1, 2, 2>", "array<i64: 1, 2, 2, 2>"}}},
       {"C10",
        {{"collapsed_slice_dims = [1]", "collapsed_slice_dims = []"},
         {"operand_batching_dims = [0]", "operand_batching_dims = [1, 0]"},
         {"start_indices_batching_dims = [1]", "start_indices_batching_dims = [2, 1]"},
         {"start_index_map = [2, 1]", "start_index_map = [2, 3]"}}},
       {"C11", {{"operand_batching_dims = [0]", "operand_batching_dims = [4]"}}},
       {"C12", {{"array<i64: 1, 1, 2, 2>", "array<i64: 2, 1, 2, 2>"}}},
       {"C13",
        {{"collapsed_slice_dims = [1]", "collapsed_slice_dims = []"},
         {"operand_batching_dims = [0]", "operand_batching_dims = [0, 3]"},
         {"start_indices_batching_dims = [1]", "start_indices_batching_dims = [1, 1]"}}},
       {"C14", {{"start_indices_batching_dims = [1]", "start_indices_batching_dims = [4]"}}},
       {"C15", {{"start_indices_batching_dims = [1]", "start_indices_batching_dims = [3]"}}},
       {"C16", {{"start_indices_batching_dims = [1]", "start_indices_batching_dims = [1, 0]"}}},
       {"C17", {{"start_indices_batching_dims = [1]", "start_indices_batching_dims = [2]"}}},
       {"C18", {{"start_index_map = [2, 1]", "start_index_map = [0, 1]"}}},
       {"C19", {{"start_index_map = [2, 1]", "start_index_map = [2, 4]"}}},
       {"C20", {{"array<i64: 1, 1, 2, 2>", "array<i64: 1, 1, 2>"}}},
       {"C21", {{"array<i64: 1, 1, 2, 2>", "array<i64: 1, 1, 5, 2>"}}},
       {"C22",
        {{"-> tensor<2x2x3x2x2xi32>", "-> tensor<2x2x3x2x1xi32>"},
         {": tensor<2x2x3x2x2xi32>", ": tensor<2x2x3x2x1xi32>"}}},
       {"C23", {{"tensor<2x2x3x2x2xi32>", "tensor<2x2x3x2x2xi64>"}}}});
}

TEST(StableHloRfc, ConstraintsOnScatter) {
  ExpectRefused(
      kScatter,
      {{"C2", {{"inserted_window_dims = [1]", "inserted_window_dims = []"}}},
       {"C4", {{"tensor<2x2x3x2x2xi64>", "tensor<2x2x3x5x2xi64>"}}},
       {"C5",
        {{"(%input, %scatter_indices, %update)", "(%input, %scatter_indices)"},
         {"tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) ->", "tensor<2x2x3x2xi64>) ->"}}},
       {"C6", {{"tensor<2x2x3x2x2xi64>", "tensor<2x2x3x2x2xf32>"}}},
       {"C7", {{"update_window_dims = [3, 4]", "update_window_dims = [4, 3]"}}},
       {"C8", {{"update_window_dims = [3, 4]", "update_window_dims = [3, 5]"}}},
       {"C9", {{"inserted_window_dims = [1]", "inserted_window_dims = [0]"}}},
       {"C10",
        {{"update_window_dims = [3, 4]", "update_window_dims = [3]"},
         {"inserted_window_dims = [1]", "inserted_window_dims = [2, 1]"},
         {"tensor<2x2x3x2x2xi64>", "tensor<2x2x3x2xi64>"}}},
       {"C11", {{"inserted_window_dims = [1]", "inserted_window_dims = [4]"}}},
       {"C12",
        {{"inserted_window_dims = [1]", "inserted_window_dims = []"},
         {"input_batching_dims = [0]", "input_batching_dims = [1, 0]"},
         {"scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [2, 1]"},
         {"operand_dims = [2, 1]", "operand_dims = [2, 3]"}}},
       {"C13", {{"input_batching_dims = [0]", "input_batching_dims = [4]"}}},
       {"C14",
        {{"inserted_window_dims = [1]", "inserted_window_dims = []"},
         {"input_batching_dims = [0]", "input_batching_dims = [0, 3]"},
         {"scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [1, 1]"}}},
       {"C15", {{"scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [4]"}}},
       {"C16", {{"scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [3]"}}},
       {"C17", {{"scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [1, 0]"}}},
       {"C18", {{"scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [2]"}}},
       {"C19", {{"operand_dims = [2, 1]", "operand_dims = [2]"}}},
       {"C20", {{"operand_dims = [2, 1]", "operand_dims = [0, 1]"}}},
       {"C21", {{"operand_dims = [2, 1]", "operand_dims = [2, 4]"}}},
       {"C22", {{"index_vector_dim = 3", "index_vector_dim = 5"}}},
       {"C23",
        {{"%arg0: tensor<i64>, %arg1: tensor<i64>", "%arg0: tensor<2xi64>, %arg1: tensor<2xi64>"},
         {"(tensor<i64>, tensor<i64>) -> tensor<i64>",
          "(tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>"},
         {"(%0) : (tensor<i64>)", "(%0) : (tensor<2xi64>)"}}},
       {"C24",
        {{"-> tensor<2x3x4x2xi64>\nreturn", "-> tensor<2x3x4x1xi64>\nreturn"},
         {": tensor<2x3x4x2xi64>\n}", ": tensor<2x3x4x1xi64>\n}"}}},
       {"C25",
        {{"-> tensor<2x3x4x2xi64>\nreturn", "-> tensor<2x3x4x2xi32>\nreturn"},
         {": tensor<2x3x4x2xi64>\n}", ": tensor<2x3x4x2xi32>\n}"}}}});
}

// C1 and C3 are about several arrays.
TEST(StableHloRfc, ConstraintsOnScatterOfSeveral) {
  const std::string several =
      R"(func.func @main(%a: tensor<4xi64>, %b: tensor<4xi64>, %i: tensor<3x1xi64>, %u: tensor<3xi64>, %v: tensor<3xi64>) {
%result:2 = "stablehlo.scatter"(%a, %b, %i, %u, %v) ({
  ^bb0(%p: tensor<i64>, %q: tensor<i64>, %r: tensor<i64>, %s: tensor<i64>):
    "stablehlo.return"(%r, %s) : (tensor<i64>, tensor<i64>) -> ()
}) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
} : (tensor<4xi64>, tensor<4xi64>, tensor<3x1xi64>, tensor<3xi64>, tensor<3xi64>) -> (tensor<4xi64>, tensor<4xi64>)
return
})";
  EXPECT_NE(MustReadStableHlo(several), nullptr);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"tensor<4xi64>, %i", "tensor<5xi64>, %i"},
           {"%v: tensor<3xi64>", "%v: tensor<2xi64>"}}) {
    std::string text = absl::StrReplaceAll(several, {{from, to}});
    text = from[0] == 't'
               ? absl::StrReplaceAll(
                     text,
                     {{"(tensor<4xi64>, tensor<4xi64>, ", "(tensor<4xi64>, tensor<5xi64>, "},
                      {"-> (tensor<4xi64>, tensor<4xi64>)", "-> (tensor<4xi64>, tensor<5xi64>)"}})
               : absl::StrReplaceAll(text, {{"tensor<3xi64>) ->", "tensor<2xi64>) ->"}});
    EXPECT_THAT(StableHloError(text), AllOf(StartsWith("m.mlir:2:"), HasSubstr("\n%result:2 = ")))
        << text;
  }
}

// Cut off anywhere, a text is an error or a module.
TEST(StableHloReader, TruncatedTextsAreErrors) {
  for (const absl::string_view text : {kGather, kScatter}) {
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(ReadStableHlo({"m.mlir", std::string(text.substr(0, size))}).ok()) << size;
    }
  }
}

}  // namespace
}  // namespace xla_indexing
