// Features of HLO text within an instruction: attributes. Each test parses, prints, reparses and
// compares; the numbers are those of the list of features that the parser must take.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A module whose root is an instruction of unary `opcode` with attributes.
std::unique_ptr<HloModule> WithAttributes(absl::string_view opcode, absl::string_view attributes) {
  return RoundTrip(Entry(
      absl::StrCat("p = f32[2] parameter(0)\nROOT r = f32[2] ", opcode, "(p), ", attributes)));
}

std::string AttributeError(absl::string_view opcode, absl::string_view attributes) {
  return ErrorOf(Entry(
      absl::StrCat("p = f32[2] parameter(0)\nROOT r = f32[2] ", opcode, "(p), ", attributes)));
}

// Expects that an attribute of some text comes back as it was written.
void ExpectKeptAsText(absl::string_view name, absl::string_view value) {
  SCOPED_TRACE(absl::StrCat(name, "=", value));
  const auto module = WithAttributes("custom-call", absl::StrCat("custom_call_target=\"t\", ", name,
                                                                 "=", value, ", channel_id=7"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).GetTextByName(name), value);
  EXPECT_EQ(Root(*module).GetInteger(AttributeKey::kChannelId), 7);
}

TEST(Feature16NumberLikeTokens, AreReadByContext) {
  const auto module = WithAttributes(
      "convolution",
      "window={size=3x1 pad=0_1x-2_03 rhs_reversal=1x0}, dim_labels=0b1f_io01->01bf");
  ASSERT_NE(module, nullptr);
  const Window& window = *Root(*module).window();
  EXPECT_EQ(window.dimensions[1].padding_low, -2);
  EXPECT_EQ(window.dimensions[1].padding_high, 3);
  const ConvolutionDimensionNumbers& labels = *Root(*module).convolution_dimension_numbers();
  EXPECT_THAT(labels.input_spatial, ElementsAre(0, 2));
  EXPECT_EQ(labels.input_batch, 1);
  EXPECT_THAT(labels.kernel_spatial, ElementsAre(2, 3));
  EXPECT_THAT(labels.output_spatial, ElementsAre(0, 1));
  ExpectKeptAsText("epsilon", "1e-5");
}

TEST(Feature17Window, AllFields) {
  const auto module = WithAttributes(
      "reduce-window",
      "window={size=3x4 stride=2x1 pad=0_1x2_3 lhs_dilate=1x2 rhs_dilate=5x1 rhs_reversal=0x1}");
  ASSERT_NE(module, nullptr);
  const Window& window = *Root(*module).window();
  ASSERT_EQ(window.dimensions.size(), 2u);
  EXPECT_EQ(window.dimensions[0], (WindowDimension{.size = 3,
                                                   .stride = 2,
                                                   .padding_low = 0,
                                                   .padding_high = 1,
                                                   .base_dilation = 1,
                                                   .window_dilation = 5,
                                                   .window_reversal = false}));
  EXPECT_EQ(window.dimensions[1], (WindowDimension{.size = 4,
                                                   .stride = 1,
                                                   .padding_low = 2,
                                                   .padding_high = 3,
                                                   .base_dilation = 2,
                                                   .window_dilation = 1,
                                                   .window_reversal = true}));
}

TEST(Feature17Window, OnlyTheSizeIsNeededAndNothingForRank0) {
  const auto module = WithAttributes("reduce-window", "window={size=2}");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).window()->dimensions[0], WindowDimension{.size = 2});
  const auto empty = WithAttributes("reduce-window", "window={}");
  ASSERT_NE(empty, nullptr);
  EXPECT_TRUE(Root(*empty).window()->dimensions.empty());
}

TEST(Feature17Window, WrongOnesAreErrors) {
  EXPECT_THAT(AttributeError("reduce-window", "window={size=2x2 stride=1}"),
              HasSubstr("the window has 2 dimensions, its stride has 1"));
  EXPECT_THAT(AttributeError("reduce-window", "window={size=2 stride=0}"),
              HasSubstr("a stride of a window cannot be 0"));
  EXPECT_THAT(AttributeError("reduce-window", "window={size=2 pad=1}"),
              HasSubstr("expected low_high"));
  EXPECT_THAT(AttributeError("reduce-window", "window={width=2}"), HasSubstr("found 'width'"));
  EXPECT_THAT(AttributeError("reduce-window", "window={size=2 size=2}"),
              HasSubstr("size is given twice"));
}

TEST(Feature18SliceAndPadding, RangesAndNegativePadding) {
  const auto slice = WithAttributes("slice", "slice={[1:9:2], [0:4]}");
  ASSERT_NE(slice, nullptr);
  EXPECT_THAT(Root(*slice).slice(), ElementsAre(SliceRange{.start = 1, .limit = 9, .stride = 2},
                                                SliceRange{.start = 0, .limit = 4, .stride = 1}));
  const auto pad = WithAttributes("pad", "padding=1_2x-1_0_3");
  ASSERT_NE(pad, nullptr);
  EXPECT_THAT(Root(*pad).padding(),
              ElementsAre(PaddingDimension{.low = 1, .high = 2, .interior = 0},
                          PaddingDimension{.low = -1, .high = 0, .interior = 3}));
  const auto scalar =
      RoundTrip(Entry("p = f32[] parameter(0)\nROOT r = f32[] pad(p, p), padding="));
  ASSERT_NE(scalar, nullptr);
  EXPECT_TRUE(Root(*scalar).padding().empty());
  EXPECT_THAT(AttributeError("pad", "padding=1_2_-3"),
              HasSubstr("the interior padding is negative"));
  EXPECT_THAT(AttributeError("slice", "slice={[1:9:2], 0:4]}"), HasSubstr("expected '['"));
}

TEST(Feature19Convolution, LabelsAndGroups) {
  const auto module = WithAttributes(
      "convolution",
      "window={size=1x1}, dim_labels=b?01f_01io->b01f, feature_group_count=3, batch_group_count=2, "
      "convolution_kind=fprop, operand_precision={highest,default}, "
      "algorithm=dot_bf16_bf16_f32_x3");
  ASSERT_NE(module, nullptr);
  const ConvolutionDimensionNumbers& labels = *Root(*module).convolution_dimension_numbers();
  EXPECT_EQ(labels.input_rank, 5);
  EXPECT_EQ(labels.input_feature, 4);
  EXPECT_THAT(labels.input_spatial, ElementsAre(2, 3));
  EXPECT_EQ(labels.kernel_output_feature, 3);
  EXPECT_EQ(Root(*module).feature_group_count(), 3);
  EXPECT_EQ(Root(*module).batch_group_count(), 2);
  EXPECT_EQ(Root(*module).GetTextByName("operand_precision"), "{highest,default}");
  EXPECT_THAT(AttributeError("convolution", "dim_labels=bb01f_01io->b01f"),
              HasSubstr("second time"));
  EXPECT_THAT(AttributeError("convolution", "dim_labels=b02f_01io->b01f"),
              HasSubstr("a number is missing"));
  EXPECT_THAT(AttributeError("convolution", "dim_labels=b0f_01io->b0f"),
              HasSubstr("unequal numbers of spatial dimensions"));
}

TEST(Feature22Collectives, GroupsInEveryForm) {
  ExpectKeptAsText("replica_groups", "{{0,1},{2,3}}");
  ExpectKeptAsText("replica_groups", "{}");
  ExpectKeptAsText("replica_groups", "[2,4]<=[8]");
  ExpectKeptAsText("replica_groups", "[4,2]<=[2,4]T(1,0)");
  ExpectKeptAsText("replica_groups", "mesh['x'=2,'y'=4] {'x'}");
  ExpectKeptAsText("replica_groups", "mesh['x'=2,'y'=4] {'x','y':(1)2}");
  ExpectKeptAsText("replica_groups", "mesh['x'=4,'y'=2], device_ids=([4,2]T(1,0)) {'x'}");
  ExpectKeptAsText("replica_groups", "mesh['x'=2,'y'=2], device_ids=(3,1,0,2) {'x'}");
  ExpectKeptAsText("source_target_pairs", "{{0,1},{1,2}}");
  ExpectKeptAsText("mode", "flattened_id");
  ExpectKeptAsText("slice_sizes", "{{1,2},{3,4}}");
  const auto module = WithAttributes(
      "all-reduce",
      "channel_id=3, replica_groups={}, use_global_device_ids=true, constrain_layout=true");
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(Root(*module).GetBool(AttributeKey::kUseGlobalDeviceIds));
}

TEST(Feature22Collectives, GroupsThatMeanNothingAreErrors) {
  const auto error = [](absl::string_view groups) {
    return AttributeError("all-reduce", absl::StrCat("replica_groups=", groups));
  };
  EXPECT_THAT(error("[2,4]<=[9]"), HasSubstr("this list has 9 devices, not 8"));
  EXPECT_THAT(error("[2,4]<=[2,4]T(1,1)"), HasSubstr("no permutation of 2 dimensions"));
  EXPECT_THAT(error("[2,4]<=[2,4]T(0)"), HasSubstr("no permutation of 2 dimensions"));
  EXPECT_THAT(error("[8]<=[8]"), HasSubstr("expected two sizes"));
  EXPECT_THAT(error("[0,8]<=[0]"), HasSubstr("a size cannot be 0"));
  EXPECT_THAT(error("[4294967296,4294967296]<=[1]"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(error("{{0,1},{1,2}}"), HasSubstr("device 1 is in two places"));
  EXPECT_THAT(error("{{0,-1}}"), HasSubstr("device -1 is negative"));
  EXPECT_THAT(error("{0,1}"), HasSubstr("expected '{', found '0'"));
  EXPECT_THAT(error("mesh['x'=2] {'y'}"), HasSubstr("the mesh has no axis 'y'"));
  EXPECT_THAT(error("mesh['x'=2,'x'=2] {'x'}"), HasSubstr("axis 'x' is there twice"));
  EXPECT_THAT(error("mesh['x'=6] {'x':(1)4}"), HasSubstr("axis 'x' of size 6 has no part (1)4"));
  EXPECT_THAT(error("mesh['x'=2 {'x'}"), HasSubstr("expected ']', found '{'"));
  EXPECT_THAT(error("mesh['x'=0] {'x'}"), HasSubstr("the size of an axis cannot be 0"));
  EXPECT_THAT(error("all"), HasSubstr("expected '{', '[' or 'mesh'"));
}

TEST(Feature23Sharding, DeviceListsThatMeanNothingAreErrors) {
  EXPECT_THAT(AttributeError("negate", "sharding={devices=[2,2]0,1,2}"),
              HasSubstr("there are 4 tiles and 3 devices"));
  EXPECT_THAT(AttributeError("negate", "sharding={{replicated}, {devices=[2,4]<=[7]}}"),
              HasSubstr("this list has 7 devices, not 8"));
  EXPECT_THAT(AttributeError("negate", "sharding={mesh['x'=1,'x'=2], [{'x'}]}"),
              HasSubstr("axis 'x' is there twice"));
}

TEST(Feature23Sharding, IsKeptInEveryForm) {
  for (const char* sharding :
       {"{replicated}", "{maximal device=1}", "{manual}", "{unknown}", "{unreduced}",
        "{devices=[2,1]0,1}", "{devices=[2,4]<=[8] last_tile_dim_replicate}",
        "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}",
        "{replicated metadata={op_name=\"a}\"}}", "{devices=[2]<=[2] shard_as 1}",
        "{{replicated}, {maximal device=0}}", "{mesh['x'=1,'y'=2], [{'x'}, {}], replicated={'y'}}",
        "{mesh['x'=1,'y'=2], device_ids=(1,0), [{'x'}, {}]}", "{maximal_mesh[device_id=0]}"}) {
    ExpectKeptAsText("sharding", sharding);
  }
}

TEST(Feature24BackendConfig, StringsAndRawDictionaries) {
  ExpectKeptAsText("backend_config", R"("{\"a\": 1}")");
  ExpectKeptAsText("backend_config", "{sizes:[32]}");
  ExpectKeptAsText("backend_config", R"({"a":{"b":"}"},"c":[1,2]})");
  ExpectKeptAsText("backend_config", R"({note: "an escaped \" and a brace }"})");
}

TEST(Feature25FrontendAttributes, StringsAndRawDictionariesAndDots) {
  ExpectKeptAsText("frontend_attributes", R"({a="1", b={t = dense<1> : tensor<i32>}, c.d="x"})");
  const auto module = RoundTrip(
      "HloModule m, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<[\"x\"=2]>}}\n"
      "ENTRY e { p = f32[] parameter(0) }");
  ASSERT_NE(module, nullptr);
}

TEST(Feature26Metadata, IsKeptWithSpacesOrCommas) {
  ExpectKeptAsText("metadata",
                   R"({op_type="a" op_name="b{" source_file="c" source_line=3 profile_type={1}})");
  ExpectKeptAsText("metadata", R"({op_name="b", source_end_line=2, stack_frame_id=7})");
}

TEST(Feature28OriginalValue, IsKept) {
  ExpectKeptAsText("origin", R"({{"a"}})");
  ExpectKeptAsText("origin", R"({({"a" {0}}, {"b"})})");
  ExpectKeptAsText("origin", "{[synthetic_call]}");
  const auto module = RoundTrip(
      "HloModule m, origin_recovery_table={ {\"a\"} : {\"b\"}, \"ENTRY %x { // ----- }\" }\n"
      "ENTRY e { p = f32[] parameter(0) }");
  ASSERT_NE(module, nullptr);
}

TEST(Feature30CustomCall, AllOfIt) {
  const auto module = WithAttributes(
      "custom-call",
      "custom_call_target=\"a \\\"b\\\"\\n\", custom_call_has_side_effect=true, "
      "api_version=API_VERSION_TYPED_FFI, operand_layout_constraints={f32[2]{0}, (s32[], f32[3])}, "
      "output_to_operand_aliasing={{0}: (1, {})}, literal=s32[2] {1, 2}, window={size=2}, "
      "dim_labels=b0f_0io->b0f");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).custom_call_target(), "a \"b\"\n");
  EXPECT_EQ(Root(*module).GetTextByName("literal"), "s32[2] {1, 2}");
  EXPECT_EQ(Root(*module).GetTextByName("output_to_operand_aliasing"), "{{0}: (1, {})}");
}

TEST(Feature32OpSpecific, TypedValues) {
  const auto gather =
      WithAttributes("gather",
                     "offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0,1}, "
                     "operand_batching_dims={3}, "
                     "start_indices_batching_dims={4}, index_vector_dim=5, slice_sizes={1,2,3}, "
                     "indices_are_sorted=true");
  ASSERT_NE(gather, nullptr);
  const GatherDimensionNumbers numbers = Root(*gather).gather_dimension_numbers();
  EXPECT_THAT(numbers.offset_dims, ElementsAre(1, 2));
  EXPECT_THAT(numbers.collapsed_slice_dims, ElementsAre(0));
  EXPECT_THAT(numbers.start_index_map, ElementsAre(0, 1));
  EXPECT_THAT(numbers.operand_batching_dims, ElementsAre(3));
  EXPECT_THAT(numbers.start_indices_batching_dims, ElementsAre(4));
  EXPECT_EQ(numbers.index_vector_dim, 5);
  EXPECT_THAT(Root(*gather).gather_slice_sizes(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(Root(*gather).GetBool(AttributeKey::kIndicesAreSorted));

  const auto scatter = WithAttributes(
      "scatter",
      "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={2}, "
      "input_batching_dims={3}, scatter_indices_batching_dims={4}, index_vector_dim=1, "
      "unique_indices=true");
  ASSERT_NE(scatter, nullptr);
  const ScatterDimensionNumbers dims = Root(*scatter).scatter_dimension_numbers();
  EXPECT_THAT(dims.update_window_dims, ElementsAre(1));
  EXPECT_THAT(dims.inserted_window_dims, ElementsAre(0));
  EXPECT_THAT(dims.scatter_dims_to_operand_dims, ElementsAre(2));
  EXPECT_THAT(dims.input_batching_dims, ElementsAre(3));
  EXPECT_THAT(dims.scatter_indices_batching_dims, ElementsAre(4));
  EXPECT_TRUE(Root(*scatter).GetBool(AttributeKey::kUniqueIndices));

  const auto dot = WithAttributes("dot",
                                  "lhs_batch_dims={0}, rhs_batch_dims={1}, "
                                  "lhs_contracting_dims={2,3}, rhs_contracting_dims={}");
  ASSERT_NE(dot, nullptr);
  EXPECT_THAT(Root(*dot).dot_dimension_numbers().lhs_contracting_dims, ElementsAre(2, 3));
  EXPECT_THAT(Root(*dot).dot_dimension_numbers().rhs_contracting_dims, ElementsAre());
  EXPECT_THAT(Root(*dot).dot_dimension_numbers().rhs_batch_dims, ElementsAre(1));

  const auto compare = WithAttributes("compare", "direction=LT, type=TOTALORDER");
  ASSERT_NE(compare, nullptr);
  EXPECT_EQ(Root(*compare).comparison_direction(), "LT");

  const auto topk = WithAttributes("topk", "k=5, largest=true, is_stable=true");
  ASSERT_NE(topk, nullptr);
  EXPECT_EQ(Root(*topk).GetInteger(AttributeKey::kTopKCount), 5);

  const auto scan = WithAttributes("scan", "dimensions={0}, num_carries=1, is_reverse=true");
  ASSERT_NE(scan, nullptr);
  EXPECT_TRUE(Root(*scan).GetBool(AttributeKey::kIsReverse));

  const auto iota = RoundTrip(Entry("ROOT i = s32[3,4] iota(), iota_dimension=1"));
  ASSERT_NE(iota, nullptr);
  EXPECT_EQ(Root(*iota).iota_dimension(), 1);
}

TEST(Feature32OpSpecific, TheRestIsKeptAsText) {
  ExpectKeptAsText("is_associative", "true");
  ExpectKeptAsText("fft_type", "IRFFT");
  ExpectKeptAsText("distribution", "rng_uniform");
  ExpectKeptAsText("algorithm", "rng_default");
  ExpectKeptAsText("transpose_a", "NO_TRANSPOSE");
  ExpectKeptAsText("is_composite", "true");
  ExpectKeptAsText("result_accuracy", "{tolerance={atol=1.0, rtol=0, ulps=10}}");
  ExpectKeptAsText("result_accuracy", "{mode=HIGHEST}");
  ExpectKeptAsText("cross_program_prefetch_index", "0");
  ExpectKeptAsText("outfeed_shape", "(f32[2]{0}, s32[])");
  ExpectKeptAsText("infeed_config", "\"a,b\"");
  ExpectKeptAsText("domain", "{kind=\"sharding\", entry={maximal device=0}, exit={}}");
}

TEST(Feature33Statistics, AreKept) {
  ExpectKeptAsText("statistics", "{visualizing_index=1,stat-1=33}");
}

TEST(Feature34Strings, AreReadInBothQuotesWithEscapes) {
  for (const char* target : {R"("a'b\t\x41\101")", R"('a\'b\tAA')"}) {
    const auto module = WithAttributes("custom-call", absl::StrCat("custom_call_target=", target));
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(Root(*module).custom_call_target(), "a'b\tAA");
  }
  EXPECT_THAT(AttributeError("custom-call", "custom_call_target=\"open"),
              HasSubstr("this string is not closed"));
}

TEST(Feature35OldForms, VectorStartIndicesAndScalarBroadcast) {
  const auto module = RoundTrip(
      Entry("a = f32[8,8] parameter(0)\n i = s32[2] parameter(1)\n c = f32[] constant(1)\n"
            "b = f32[2,2] broadcast(%c)\n"
            "ROOT s = f32[2,2] dynamic-slice(a, i), dynamic_slice_sizes={2,2}"));
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Root(*module).dynamic_slice_sizes(), ElementsAre(2, 2));
}

// Whatever brackets and strings hold together is kept, and what follows is read.
TEST(Attributes, ThoseThatAreNotKnownAreKept) {
  for (const absl::string_view value :
       {"3", "a.b-c", "-1.5e-3", "1x2_3", "f32[3]{1,0:T(8)}", "[2,4]<=[8]", "[{1,2},(3, 4)]",
        "a->b", "%x", "{a={b}, c}T(1,0)", "\"a, b\"", "x(1, [2])", "mesh['x'=2]", "a|b", "<4>",
        "//no"}) {
    if (value == "//no") continue;  // A comment.
    ExpectKeptAsText("frob", value);
  }
  // On the same line as the next instruction.
  const auto module = RoundTrip(
      Entry("p = f32[2] parameter(0), frob=[1, 2] x = f32[2] negate(p), frob=a.b ROOT r = f32[2] "
            "negate(x), frob={1}"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry_computation()->instruction_count(), 3);
  EXPECT_THAT(AttributeError("negate", "frob=[1, (2]"), HasSubstr("not balanced"));
  EXPECT_THAT(AttributeError("negate", "frob="), HasSubstr("expected a value"));
  EXPECT_THAT(AttributeError("negate", "frob=, a=1"), HasSubstr("expected a value"));
}

TEST(Opcodes, ThoseThatAreNotKnownAreKept) {
  const auto module = RoundTrip(
      Entry("p = f32[2] parameter(0)\n"
            "f = (f32[2], token[]) frob.x-start(p, p), channel_id=3, to_apply={ ROOT q = f32[] "
            "parameter(0) }\n"
            "u = f32[2]{0} unknown(f32[2] opaque(p))\n"
            "ROOT d = f32[2] frob.x-done(f, u), metadata={op_name=\"d\"}"));
  ASSERT_NE(module, nullptr);
  const HloComputation& entry = *module->entry_computation();
  const HloInstruction& start = *entry.FindInstruction("f");
  EXPECT_EQ(start.opcode(), HloOpcode::kUnknown);
  EXPECT_EQ(start.opcode_name(), "frob.x-start");
  EXPECT_EQ(start.called_computations().size(), 1u);
  EXPECT_EQ(entry.FindInstruction("opaque")->opcode_name(), "opaque");
  EXPECT_EQ(entry.FindInstruction("u")->opcode_name(), "unknown");
  EXPECT_EQ(Root(*module).ToString(), "%d = f32[2] frob.x-done(%f, %u), metadata={op_name=\"d\"}");
  EXPECT_EQ(Root(*module).metadata().op_name, "d");
}

TEST(Attributes, TwiceOrMalformedAreErrors) {
  EXPECT_THAT(AttributeError("negate", "dimensions={0}, dimensions={0}"),
              HasSubstr("attribute 'dimensions' is given twice"));
  EXPECT_THAT(AttributeError("negate", "mine=1, mine=2"),
              HasSubstr("attribute 'mine' is given twice"));
  EXPECT_THAT(AttributeError("negate", "dimensions={0 1}"), HasSubstr("expected '}'"));
  EXPECT_THAT(AttributeError("negate", "dimensions={a}"),
              HasSubstr("expected an integer, found 'a'"));
  EXPECT_THAT(AttributeError("negate", "index=9223372036854775808"),
              HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(AttributeError("negate", "is_stable=maybe"), HasSubstr("expected 'true' or 'false'"));
  EXPECT_THAT(AttributeError("negate", "backend_config={a {b {"),
              HasSubstr("this brace is not closed"));
  // A comma too many must not make an attribute of the next instruction.
  EXPECT_NE(ErrorOf(Entry("p = f32[] parameter(0),\n x = f32[] add(p, p)")), "");
  EXPECT_NE(ErrorOf(Entry("p = f32[] parameter(0),\n x = add(p, p)")), "");
}

}  // namespace
}  // namespace xla_indexing
