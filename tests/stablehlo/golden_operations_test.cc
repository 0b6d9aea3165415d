// What each operation of StableHLO becomes, in the pretty form and in the generic one. The expected instructions
// are written by hand from the StableHLO specification and the semantics of HLO.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

// The body of a function with the arguments %a, %b, .., and what must stand in the HLO.
struct GoldenOperation {
  std::string name;
  std::string arguments;
  std::string pretty;  // Empty where JAX prints the generic form only.
  std::string generic;
  std::string hlo;
};

void PrintTo(const GoldenOperation& operation, std::ostream* os) { *os << operation.name; }

std::string FunctionOf(const GoldenOperation& operation, const std::string& body) {
  return absl::StrCat("func.func public @main(", operation.arguments, ") {\n  ", body,
                      "\n  return\n}\n");
}

void ExpectHlo(const GoldenOperation& operation, const std::string& body, std::string* printed) {
  const auto module = ReadAndVerifyStableHlo(FunctionOf(operation, body), "m.mlir");
  ASSERT_TRUE(module.ok()) << body << "\n" << module.status();
  *printed = (*module)->ToString();
  EXPECT_THAT(*printed, HasSubstr(operation.hlo));
  const auto again = ParseAndVerifyModule(*printed);
  ASSERT_TRUE(again.ok()) << again.status();
  std::string difference;
  EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << difference;
}

class GoldenOperations : public ::testing::TestWithParam<GoldenOperation> {};

TEST_P(GoldenOperations, AreTheSameInBothForms) {
  std::string pretty, generic;
  ExpectHlo(GetParam(), GetParam().generic, &generic);
  if (GetParam().pretty.empty()) return;
  ExpectHlo(GetParam(), GetParam().pretty, &pretty);
  EXPECT_EQ(pretty, generic);
}

const char kScalarAdd[] =
    "({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n  %s = stablehlo.add %x, %y : tensor<f32>\n"
    "  stablehlo.return %s : tensor<f32>\n})";

std::vector<GoldenOperation> AllGoldenOperations() {
  std::vector<GoldenOperation>
      all =
          {
              {"add", "%a: tensor<4xf32>, %b: tensor<4xf32>",
               "%r = stablehlo.add %a, %b : tensor<4xf32>",
               R"(%r = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] add(%a, %b)"},
              {"and", "%a: tensor<4xi1>, %b: tensor<4xi1>",
               "%r = stablehlo.and %a, %b : tensor<4xi1>",
               R"(%r = "stablehlo.and"(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>)",
               "%r = pred[4] and(%a, %b)"},
              {"round_nearest_even", "%a: tensor<4xbf16>",
               "%r = stablehlo.round_nearest_even %a : tensor<4xbf16>",
               R"(%r = "stablehlo.round_nearest_even"(%a) : (tensor<4xbf16>) -> tensor<4xbf16>)",
               "%r = bf16[4] round-nearest-even(%a)"},
              {"count_leading_zeros", "%a: tensor<4xui8>",
               "%r = stablehlo.count_leading_zeros %a : tensor<4xui8>",
               R"(%r = "stablehlo.count_leading_zeros"(%a) : (tensor<4xui8>) -> tensor<4xui8>)",
               "%r = u8[4] count-leading-zeros(%a)"},
              {"select", "%a: tensor<i1>, %b: tensor<4xf32>",
               "%r = stablehlo.select %a, %b, %b : tensor<i1>, tensor<4xf32>",
               R"(%r = "stablehlo.select"(%a, %b, %b) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] select(%a, %b, %b)"},
              {"clamp", "%a: tensor<f32>, %b: tensor<4xf32>",
               "%r = stablehlo.clamp %a, %b, %a : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> "
               "tensor<4xf32>",
               R"(%r = "stablehlo.clamp"(%a, %b, %a) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>)",
               "%r = f32[4] clamp(%a, %b, %a)"},
              {"compare", "%a: tensor<4xf32>",
               "%r = stablehlo.compare GE, %a, %a, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> "
               "tensor<4xi1>",
               R"(%r = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)",
               "%r = pred[4] compare(%a, %a), direction=GE, type=TOTALORDER"},
              {"complex", "%a: tensor<4xf32>",
               "%r = stablehlo.complex %a, %a : tensor<4xcomplex<f32>>",
               R"(%r = "stablehlo.complex"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>)",
               "%r = c64[4] complex(%a, %a)"},
              {"real", "%a: tensor<4xcomplex<f64>>",
               "%r = stablehlo.real %a : (tensor<4xcomplex<f64>>) -> tensor<4xf64>",
               R"(%r = "stablehlo.real"(%a) : (tensor<4xcomplex<f64>>) -> tensor<4xf64>)",
               "%r = f64[4] real(%a)"},
              {"convert", "%a: tensor<4xf32>",
               "%r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3FN>",
               R"(%r = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xf8E4M3FN>)",
               "%r = f8e4m3fn[4] convert(%a)"},
              {"bitcast_convert", "%a: tensor<4xf32>",
               "%r = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x4xi8>",
               R"(%r = "stablehlo.bitcast_convert"(%a) : (tensor<4xf32>) -> tensor<4x4xi8>)",
               "%r = s8[4,4] bitcast-convert(%a)"},
              {"reduce_precision", "%a: tensor<4xf32>",
               "%r = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>",
               R"(%r = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] reduce-precision(%a), exponent_bits=5, mantissa_bits=10"},
              {"constant", "", "%r = stablehlo.constant dense<[1, -2]> : tensor<2xi32>",
               R"(%r = "stablehlo.constant"() <{value = dense<[1, -2]> : tensor<2xi32>}> : () -> tensor<2xi32>)",
               "%r = s32[2] constant({1, -2})"},
              {"constant_hex", "",
               R"(%r = stablehlo.constant dense<"0x0000803F000000C0"> : tensor<2xf32>)",
               R"(%r = "stablehlo.constant"() <{value = dense<"0x0000803F000000C0"> : tensor<2xf32>}> : () -> tensor<2xf32>)",
               "%r = f32[2] constant({1, -2})"},
              {"constant_pred", "",
               "%r = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>",
               R"(%r = "stablehlo.constant"() <{value = dense<[true, false, true]> : tensor<3xi1>}> : () -> tensor<3xi1>)",
               "%r = pred[3] constant({true, false, true})"},
              {"constant_complex", "",
               "%r = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f32>>",
               R"(%r = "stablehlo.constant"() <{value = dense<(1.0, -2.0)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>)",
               "%r = c64[] constant((1, -2))"},
              {"constant_splat", "", "%r = stablehlo.constant dense<7> : tensor<100x2xui8>",
               R"(%r = "stablehlo.constant"() <{value = dense<7> : tensor<100x2xui8>}> : () -> tensor<100x2xui8>)",
               "%r = u8[100,2] broadcast(%constant.r), dimensions={}"},
              {"iota", "", "%r = stablehlo.iota dim = 1 : tensor<2x3xi32>",
               R"(%r = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>)",
               "%r = s32[2,3] iota(), iota_dimension=1"},
              {"broadcast_in_dim", "%a: tensor<3x1xf32>",
               "%r = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<3x1xf32>) -> "
               "tensor<2x3x4xf32>",
               R"(%r = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<3x1xf32>) -> tensor<2x3x4xf32>)",
               "%r = f32[2,3,4] broadcast(%reshape.r), dimensions={1}"},
              {"broadcast", "%a: tensor<3xf32>",
               "%r = stablehlo.broadcast %a, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>",
               R"(%r = "stablehlo.broadcast"(%a) <{broadcast_sizes = array<i64: 2>}> : (tensor<3xf32>) -> tensor<2x3xf32>)",
               "%r = f32[2,3] broadcast(%a), dimensions={1}"},
              {"transpose", "%a: tensor<2x3xf32>",
               "%r = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
               R"(%r = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>)",
               "%r = f32[3,2] transpose(%a), dimensions={1,0}"},
              {"reverse", "%a: tensor<2x3xf32>",
               "%r = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>",
               R"(%r = "stablehlo.reverse"(%a) <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>)",
               "%r = f32[2,3] reverse(%a), dimensions={1}"},
              {"reshape", "%a: tensor<2x3xf32>",
               "%r = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>",
               R"(%r = "stablehlo.reshape"(%a) : (tensor<2x3xf32>) -> tensor<6xf32>)",
               "%r = f32[6] reshape(%a)"},
              {"concatenate", "%a: tensor<2x3xf32>",
               "%r = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
               "tensor<2x6xf32>",
               R"(%r = "stablehlo.concatenate"(%a, %a) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>)",
               "%r = f32[2,6] concatenate(%a, %a), dimensions={1}"},
              {"slice", "%a: tensor<9x8xf32>",
               "%r = stablehlo.slice %a [1:9:3, 2:7] : (tensor<9x8xf32>) -> tensor<3x5xf32>",
               R"(%r = "stablehlo.slice"(%a) <{limit_indices = array<i64: 9, 7>, start_indices = array<i64: 1, 2>, strides = array<i64: 3, 1>}> : (tensor<9x8xf32>) -> tensor<3x5xf32>)",
               "%r = f32[3,5] slice(%a), slice={[1:9:3], [2:7]}"},
              {"slice_of_scalar", "%a: tensor<f32>",
               "%r = stablehlo.slice %a [] : (tensor<f32>) -> tensor<f32>",
               R"(%r = "stablehlo.slice"(%a) <{limit_indices = array<i64>, start_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>)",
               "%r = f32[] slice(%a), slice={}"},
              {"pad", "%a: tensor<4xf32>, %b: tensor<f32>",
               "%r = stablehlo.pad %a, %b, low = [-1], high = [2], interior = [1] : "
               "(tensor<4xf32>, "
               "tensor<f32>) -> tensor<8xf32>",
               R"(%r = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 2>, edge_padding_low = array<i64: -1>, interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>)",
               "%r = f32[8] pad(%a, %b), padding=-1_2_1"},
              {"dynamic_slice", "%a: tensor<4x5xf32>, %b: tensor<i32>",
               "%r = stablehlo.dynamic_slice %a, %b, %b, sizes = [1, 2] : (tensor<4x5xf32>, "
               "tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
               R"(%r = "stablehlo.dynamic_slice"(%a, %b, %b) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>)",
               "%r = f32[1,2] dynamic-slice(%a, %b, %b), dynamic_slice_sizes={1,2}"},
              {"dynamic_update_slice", "%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<i32>",
               "%r = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<4xf32>, tensor<2xf32>, "
               "tensor<i32>) -> tensor<4xf32>",
               R"(%r = "stablehlo.dynamic_update_slice"(%a, %b, %c) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>)",
               "%r = f32[4] dynamic-update-slice(%a, %b, %c)"},
              {"get_dimension_size", "%a: tensor<4x5xf32>",
               "%r = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x5xf32>) -> tensor<i32>",
               R"(%r = "stablehlo.get_dimension_size"(%a) <{dimension = 1 : i64}> : (tensor<4x5xf32>) -> tensor<i32>)",
               "%r = s32[] get-dimension-size(%a), dimensions={1}"},
              {"set_dimension_size", "%a: tensor<4x5xf32>, %b: tensor<i32>",
               "%r = stablehlo.set_dimension_size %a, %b, dim = 0 : (tensor<4x5xf32>, tensor<i32>) "
               "-> "
               "tensor<?x5xf32, #stablehlo.bounds<4, ?>>",
               R"(%r = "stablehlo.set_dimension_size"(%a, %b) <{dimension = 0 : i64}> : (tensor<4x5xf32>, tensor<i32>) -> tensor<?x5xf32, #stablehlo.bounds<4, ?>>)",
               "%r = f32[<=4,5] set-dimension-size(%a, %b), dimensions={0}"},
              {"dot_general", "%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>",
               "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = "
               "[2] x "
               "[1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
               "tensor<2x3x5xf32>",
               R"(%r = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>)",
               "%r = f32[2,3,5] dot(%a, %b), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
               "rhs_batch_dims={0}, rhs_contracting_dims={1}"},
              {"dot_general_algorithm", "%a: tensor<3x4xf32>, %b: tensor<4x5xf32>",
               "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = "
               "[DEFAULT, "
               "DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, "
               "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
               "num_primitive_operations = 3, allow_imprecise_accumulation = false> : "
               "(tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>",
               R"(%r = "stablehlo.dot_general"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>)",
               "%r = f32[3,5] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
               "algorithm=dot_bf16_bf16_f32_x3"},
              {"dot_general_algorithm_of_f8", "%a: tensor<3x4xf8E5M2>, %b: tensor<4x5xf8E4M3FN>",
               "",
               R"(%r = "stablehlo.dot_general"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f8E5M2, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<3x4xf8E5M2>, tensor<4x5xf8E4M3FN>) -> tensor<3x5xf32>)",
               "rhs_contracting_dims={0}, algorithm=dot_any_f8_any_f8_f32_fast_accum"},
              {"send", "%a: tensor<4xf32>, %t: !stablehlo.token", "",
               R"(%r = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token)",
               "%r = (f32[4], u32[], token[]) send(%a, %t), channel_id=5, is_host_transfer=true\n"
               "  %send-done.r = token[] send-done(%r), channel_id=5, is_host_transfer=true"},
              {"send_of_two", "%a: tensor<4xf32>, %b: tensor<i32>, %t: !stablehlo.token", "", R"(%r = "stablehlo.send"(%a, %b, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (tensor<4xf32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token)",
               "%tuple.r = (f32[4], s32[]) tuple(%a, %b)\n"
               "  %r = ((f32[4], s32[]), u32[], token[]) send(%tuple.r, %t), channel_id=5\n"},
              {"send_on_channel_0", "%a: tensor<4xf32>, %t: !stablehlo.token", "",
               R"(%r = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token)",
               "send-done(%r), channel_id=0\n"},
              {"recv", "%t: !stablehlo.token", "",
               R"(%r:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token))",
               "%r = (f32[4], u32[], token[]) recv(%t), channel_id=6, is_host_transfer=true\n"
               "  %recv-done.r = (f32[4], token[]) recv-done(%r), channel_id=6, "
               "is_host_transfer=true\n"},
              {"dot", "%a: tensor<3x4xf32>, %b: tensor<4x5xf32>",
               "%r = stablehlo.dot %a, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>",
               R"(%r = "stablehlo.dot"(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>)",
               "%r = f32[3,5] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
              {"convolution", "%a: tensor<2x9x8x6xf32>, %b: tensor<3x2x3x4xf32>",
               "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, "
               "1, "
               "0], window = {stride = [2, 1], pad = [[1, 0], [0, 1]], lhs_dilate = [1, 1], "
               "rhs_dilate "
               "= [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, "
               "feature_group_count = "
               "2 : i64} : (tensor<2x9x8x6xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x7x4xf32>",
               R"(%r = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0]>, feature_group_count = 2 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<2x9x8x6xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x7x4xf32>)",
               "%r = f32[2,4,7,4] convolution(%a, %b), feature_group_count=2, batch_group_count=1, "
               "window={size=3x2 stride=2x1 pad=1_0x0_1 rhs_dilate=1x2 rhs_reversal=0x1}, "
               "dim_labels=b01f_01io->bf10"},
              {"reduce", "%a: tensor<2x3xf32>, %b: tensor<f32>",
               "%r = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : "
               "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
               absl::StrCat(
                   R"(%r = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>}> ()",
                   "{\n^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>):\n  %add = stablehlo.add "
                   "%arg0, %arg1 : tensor<f32>\n"
                   "  stablehlo.return %add : tensor<f32>\n}) : (tensor<2x3xf32>, "
                   "tensor<f32>) -> tensor<2xf32>"),
               "%r = f32[2] reduce(%a, %b), dimensions={1}, to_apply=%reduce_region"},
              {"reduce_of_two",
               "%a: tensor<3xf32>, %b: tensor<3xi32>, %c: tensor<f32>, %d: tensor<i32>",
               "%r:2 = stablehlo.reduce(%a init: %c), (%b init: %d) across dimensions = [0] : "
               "(tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, "
               "tensor<i32>)\n"
               "   reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>)  "
               "{\n "
               "stablehlo.return %q, %s : tensor<f32>, tensor<i32>\n}",
               R"(%r:2 = "stablehlo.reduce"(%a, %b, %c, %d) <{dimensions = array<i64: 0>}> ({
^bb0(%p: tensor<f32>, %s: tensor<i32>, %q: tensor<f32>, %t: tensor<i32>):
  stablehlo.return %q, %s : tensor<f32>, tensor<i32>
}) : (tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>))",
               "%r = (f32[], s32[]) reduce(%a, %b, %c, %d), dimensions={0}"},
              {"while", "%a: tensor<4xf32>, %b: tensor<i32>, %c: tensor<i1>",
               "%r:2 = stablehlo.while(%x = %a, %y = %b) : tensor<4xf32>, tensor<i32>\n cond {\n "
               "stablehlo.return %c : tensor<i1>\n} do {\n"
               "  stablehlo.return %x, %y : tensor<4xf32>, tensor<i32>\n}",
               R"(%r:2 = "stablehlo.while"(%a, %b) ({
^bb0(%x: tensor<4xf32>, %y: tensor<i32>):
  stablehlo.return %c : tensor<i1>
}, {
^bb0(%x: tensor<4xf32>, %y: tensor<i32>):
  stablehlo.return %x, %y : tensor<4xf32>, tensor<i32>
}) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>))",
               "%r = (f32[4], s32[], pred[]) while(%tuple.r), condition=%while_cond, "
               "body=%while_body"},
              {"optimization_barrier", "%a: tensor<4xf32>, %b: tensor<i32>",
               "%r:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<i32>",
               R"(%r:2 = "stablehlo.optimization_barrier"(%a, %b) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>))",
               "%r = (f32[4], s32[]) opt-barrier(%tuple.r)"},
              {"tuple", "%a: tensor<4xf32>, %b: !stablehlo.token",
               "%r = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, !stablehlo.token>",
               R"(%r = "stablehlo.tuple"(%a, %b) : (tensor<4xf32>, !stablehlo.token) -> tuple<tensor<4xf32>, !stablehlo.token>)",
               "%r = (f32[4], token[]) tuple(%a, %b)"},
              {"get_tuple_element", "%a: tuple<tensor<4xf32>, tensor<i32>>",
               "%r = stablehlo.get_tuple_element %a[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> "
               "tensor<i32>",
               R"(%r = "stablehlo.get_tuple_element"(%a) <{index = 1 : i32}> : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>)",
               "%r = s32[] get-tuple-element(%a), index=1"},
              {"create_token", "", "%r = stablehlo.create_token : !stablehlo.token",
               R"(%r = "stablehlo.create_token"() : () -> !stablehlo.token)",
               "%r = token[] after-all()"},
              {"after_all", "%a: !stablehlo.token",
               "%r = stablehlo.after_all %a, %a : !stablehlo.token",
               R"(%r = "stablehlo.after_all"(%a, %a) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token)",
               "%r = token[] after-all(%a, %a)"},
              {"partition_id", "", "%r = stablehlo.partition_id : tensor<ui32>",
               R"(%r = "stablehlo.partition_id"() : () -> tensor<ui32>)",
               "%r = u32[] partition-id()"},
              {"custom_call", "%a: tensor<4xf32>",
               R"(%r = stablehlo.custom_call @foo(%a) {backend_config = "x\"y", has_side_effect = true} : (tensor<4xf32>) -> tensor<2xf32>)",
               R"(%r = "stablehlo.custom_call"(%a) <{backend_config = "x\"y", call_target_name = "foo", has_side_effect = true}> : (tensor<4xf32>) -> tensor<2xf32>)",
               R"(%r = f32[2] custom-call(%a), custom_call_target="foo", custom_call_has_side_effect=true, backend_config="x\"y")"},
              {"cholesky", "%a: tensor<4x4xf32>",
               "%r = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>",
               R"(%r = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>)",
               "%r = f32[4,4] cholesky(%a), lower=true"},
              {"fft", "%a: tensor<4xcomplex<f32>>",
               "%r = stablehlo.fft %a, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> "
               "tensor<4xcomplex<f32>>",
               R"(%r = "stablehlo.fft"(%a) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>)",
               "%r = c64[4] fft(%a), fft_type=FFT, fft_length={4}"},
              {"rng", "%a: tensor<f32>, %b: tensor<1xi64>",
               "%r = stablehlo.rng %a, %a, %b, distribution = UNIFORM : (tensor<f32>, tensor<f32>, "
               "tensor<1xi64>) -> tensor<4xf32>",
               R"(%r = "stablehlo.rng"(%a, %a, %b) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>)",
               "%r = f32[4] rng(%a, %a), distribution=rng_uniform"},
              {"rng_bit_generator", "%a: tensor<2xui64>",
               "%r:2 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> "
               "(tensor<2xui64>, tensor<4xui32>)",
               R"(%r:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>))",
               "%r = (u64[2], u32[4]) rng-bit-generator(%a), algorithm=rng_three_fry"},
              {"dynamic_reshape", "%a: tensor<6xf32>, %b: tensor<2xi32>",
               "%r = stablehlo.dynamic_reshape %a, %b : (tensor<6xf32>, tensor<2xi32>) -> "
               "tensor<2x3xf32>",
               R"(%r = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<6xf32>, tensor<2xi32>) -> tensor<2x3xf32>)",
               "%r = f32[2,3] reshape(%a)"},
              {"dynamic_reshape_unbounded", "%a: tensor<6xf32>, %b: tensor<2xi32>",
               "%r = stablehlo.dynamic_reshape %a, %b : (tensor<6xf32>, tensor<2xi32>) -> "
               "tensor<?x3xf32>",
               R"(%r = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x3xf32>)",
               "%r = f32[?,3] dynamic-reshape(%a, %reshape.r, %reshape.r.1)"},
              {"dynamic_reshape_of_no_list", "%a: tensor<6xf32>, %b: tensor<3xi32>", "",
               R"(%r = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<6xf32>, tensor<3xi32>) -> tensor<?x3xf32>)",
               R"(%r = f32[?,3] custom-call(%a, %b), custom_call_target="stablehlo.dynamic_reshape")"},
              {"dynamic_iota_bounded", "%a: tensor<2xi32>",
               "%r = stablehlo.dynamic_iota %a, dim = 1 : (tensor<2xi32>) -> tensor<?x3xi32, "
               "#stablehlo.bounds<4, ?>>",
               R"(%r = "stablehlo.dynamic_iota"(%a) <{iota_dimension = 1 : i64}> : (tensor<2xi32>) -> tensor<?x3xi32, #stablehlo.bounds<4, ?>>)",
               "%iota.r = s32[4,3] iota(), iota_dimension=1\n"
               "  %set-dimension-size.r = s32[<=4,3] set-dimension-size(%iota.r, %reshape.r), "
               "dimensions={0}"},
              {"dynamic_iota_unbounded", "%a: tensor<1xi32>", "",
               R"(%r = "stablehlo.dynamic_iota"(%a) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>)",
               R"(%r = s32[?] custom-call(%a), custom_call_target="stablehlo.dynamic_iota")"},
              {"einsum", "%a: tensor<3x2x4xf32>, %b: tensor<3x4x5xf32>",
               "%r = stablehlo.einsum %a, %b, config = \"bij,bjk->bki\" : (tensor<3x2x4xf32>, "
               "tensor<3x4x5xf32>) -> tensor<3x5x2xf32>",
               R"(%r = "stablehlo.einsum"(%a, %b) <{einsum_config = "bij,bjk->bki"}> : (tensor<3x2x4xf32>, tensor<3x4x5xf32>) -> tensor<3x5x2xf32>)",
               "%dot.r = f32[3,2,5] dot(%a, %b), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
               "rhs_batch_dims={0}, rhs_contracting_dims={1}\n"
               "  %r = f32[3,5,2] transpose(%dot.r), dimensions={0,2,1}"},
              {"einsum_sums_of_one", "%a: tensor<2x4xf32>, %b: tensor<5xf32>", "",
               R"(%r = "stablehlo.einsum"(%a, %b) <{einsum_config = "ab,c->ac"}> : (tensor<2x4xf32>, tensor<5xf32>) -> tensor<2x5xf32>)",
               "%broadcast.r = f32[5,4] broadcast(%b), dimensions={0}\n"
               "  %r = f32[2,5] dot(%a, %broadcast.r), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={1}"},
              {"dynamic_broadcast_in_dim", "%a: tensor<3xf32>, %b: tensor<2xi32>",
               "%r = stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [1] : (tensor<3xf32>, "
               "tensor<2xi32>) -> tensor<2x3xf32>",
               R"(%r = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>, tensor<2xi32>) -> tensor<2x3xf32>)",
               "%r = f32[2,3] broadcast(%a), dimensions={1}"},
              {"dynamic_iota", "%a: tensor<1xi32>",
               "%r = stablehlo.dynamic_iota %a, dim = 0 : (tensor<1xi32>) -> tensor<4xi32>",
               R"(%r = "stablehlo.dynamic_iota"(%a) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<4xi32>)",
               "%r = s32[4] iota(), iota_dimension=0"},
              {"dynamic_broadcast_in_dim_of_one", "%a: tensor<1x4xf32>, %s: tensor<2xi32>",
               "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<1x4xf32>, "
               "tensor<2xi32>) -> tensor<?x4xf32>",
               R"(%r = "stablehlo.dynamic_broadcast_in_dim"(%a, %s) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>)",
               "%reshape.r = f32[4] reshape(%a)\n  %r = f32[?,4] broadcast(%reshape.r), "
               "dimensions={1}"},
              {"dynamic_broadcast_in_dim_kept", "%a: tensor<?xf32>, %s: tensor<2xi32>", "",
               R"(%r = "stablehlo.dynamic_broadcast_in_dim"(%a, %s) <{broadcast_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<3x?xf32>)",
               "%r = f32[3,?] broadcast(%a), dimensions={1}"},
              {"dynamic_broadcast_in_dim_perhaps_of_one", "%a: tensor<?xf32>, %s: tensor<2xi32>",
               "",
               R"(%r = "stablehlo.dynamic_broadcast_in_dim"(%a, %s) <{broadcast_dimensions = array<i64: 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<3x?xf32>)",
               "%r = f32[3,?] custom-call(%a, %s)"},
              {"real_dynamic_slice", "%a: tensor<9x?xf32>",
               "%s = stablehlo.constant dense<[1, 0]> : tensor<2xi64>\n"
               "%l = stablehlo.constant dense<[8, 4]> : tensor<2xi64>\n"
               "%d = stablehlo.constant dense<[3, 1]> : tensor<2xi64>\n"
               "%r = stablehlo.real_dynamic_slice %a, %s, %l, %d : (tensor<9x?xf32>, "
               "tensor<2xi64>, "
               "tensor<2xi64>, tensor<2xi64>) -> tensor<3x4xf32>",
               R"(%s = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
%l = stablehlo.constant dense<[8, 4]> : tensor<2xi64>
%d = stablehlo.constant dense<[3, 1]> : tensor<2xi64>
%r = "stablehlo.real_dynamic_slice"(%a, %s, %l, %d) : (tensor<9x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x4xf32>)",
               "%r = f32[3,4] slice(%a), slice={[1:8:3], [0:4]}"},
              {"real_dynamic_slice_somewhere",
               "%a: tensor<9x7xf32>, %s: tensor<2xi32>, %l: tensor<2xi32>", "",
               R"(%d = stablehlo.constant dense<1> : tensor<2xi32>
%r = "stablehlo.real_dynamic_slice"(%a, %s, %l, %d) : (tensor<9x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x2xf32>)",
               "%slice.r = s32[1] slice(%s), slice={[0:1]}\n"
               "  %reshape.r = s32[] reshape(%slice.r)\n"
               "  %slice.r.1 = s32[1] slice(%s), slice={[1:2]}\n"
               "  %reshape.r.1 = s32[] reshape(%slice.r.1)\n"
               "  %r = f32[4,2] dynamic-slice(%a, %reshape.r, %reshape.r.1), "
               "dynamic_slice_sizes={4,2}"},
              {"real_dynamic_slice_of_any_size",
               "%a: tensor<9xf32>, %s: tensor<1xi32>, %l: tensor<1xi32>", "",
               R"(%r = "stablehlo.real_dynamic_slice"(%a, %s, %l, %s) : (tensor<9xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>)",
               "%r = f32[?] custom-call(%a, %s, %l, %s), "
               "custom_call_target=\"stablehlo.real_dynamic_slice\""},
              {"dynamic_pad", "%a: tensor<4xf32>, %b: tensor<f32>", "",
               R"(%p = stablehlo.constant dense<1> : tensor<1xi64>
%q = stablehlo.constant dense<-2> : tensor<1xi64>
%z = stablehlo.constant dense<0> : tensor<1xi64>
%r = "stablehlo.dynamic_pad"(%a, %b, %p, %q, %z) : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>)",
               "%r = f32[3] pad(%a, %b), padding=1_-2"},
              {"dynamic_gather", "%a: tensor<8x4xf32>, %i: tensor<3x1xi32>", "",
               R"(%c = stablehlo.constant dense<1> : tensor<1xi32>
%d = stablehlo.constant dense<4> : tensor<1xi32>
%s = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%r = "stablehlo.dynamic_gather"(%a, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x4xf32>)",
               "%r = f32[3,4] gather(%a, %i), offset_dims={1}, collapsed_slice_dims={0}, "
               "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}"},
              {"dynamic_conv", "%a: tensor<1x8x2xf32>, %b: tensor<3x2x5xf32>", "",
               R"(%p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
%r = "stablehlo.dynamic_conv"(%a, %b, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x2xf32>, tensor<3x2x5xf32>, tensor<1x2xi64>) -> tensor<1x7x5xf32>)",
               "convolution(%a, %b), feature_group_count=1, batch_group_count=1, window={size=3 "
               "pad=1_0}, dim_labels=b0f_0io->b0f"},
              {"square", "%a: tensor<4xf32>",
               "%r = chlo.square %a : tensor<4xf32> -> tensor<4xf32>",
               R"(%r = "chlo.square"(%a) : (tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] multiply(%a, %a)"},
              {"erf_inv", "%a: tensor<4xf32>",
               "%r = chlo.erf_inv %a : tensor<4xf32> -> tensor<4xf32>",
               R"(%r = "chlo.erf_inv"(%a) : (tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] map(%a), dimensions={0}, to_apply=%chlo.erf_inv"},
              {"next_after", "%a: tensor<4xf32>",
               "%r = chlo.next_after %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>",
               R"(%r = "chlo.next_after"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] map(%a, %a), dimensions={0}, to_apply=%chlo.next_after"},
              {"top_k", "%a: tensor<4x8xf32>",
               "%r, %i = chlo.top_k(%a, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, "
               "tensor<4x2xi32>)",
               R"(%r, %i = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>))",
               "%r = (f32[4,2], s32[4,2]) topk(%a), k=2, largest=true"},
              {"broadcast_add", "%a: tensor<4xf32>, %b: tensor<2x1xf32>",
               "%r = chlo.broadcast_add %a, %b : (tensor<4xf32>, tensor<2x1xf32>) -> "
               "tensor<2x4xf32>",
               R"(%r = "chlo.broadcast_add"(%a, %b) : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>)",
               "%r = f32[2,4] add(%broadcast.r, %broadcast.r.1)"},
              {"gather", "%a: tensor<5x7xf32>, %b: tensor<3x1xi32>", "", R"(%r = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 7>}> : (tensor<5x7xf32>, tensor<3x1xi32>) -> tensor<3x7xf32>)",
               "%r = f32[3,7] gather(%a, %b), offset_dims={1}, collapsed_slice_dims={0}, "
               "start_index_map={0}, index_vector_dim=1, slice_sizes={1,7}, "
               "indices_are_sorted=true"},
              {"scatter", "%a: tensor<5x7xf32>, %b: tensor<3x1xi32>, %c: tensor<3x7xf32>", "",
               absl::StrCat(
                   R"(%r = "stablehlo.scatter"(%a, %b, %c) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> )",
                   kScalarAdd,
                   " : (tensor<5x7xf32>, tensor<3x1xi32>, tensor<3x7xf32>) -> tensor<5x7xf32>"),
               "%r = f32[5,7] scatter(%a, %b, %c), update_window_dims={1}, "
               "inserted_window_dims={0}, "
               "scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, "
               "to_apply=%scatter_region"},
              {"sort", "%a: tensor<4x5xf32>", "",
               R"(%r = "stablehlo.sort"(%a) <{dimension = -1 : i64, is_stable = true}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %l : tensor<i1>
}) : (tensor<4x5xf32>) -> tensor<4x5xf32>)",
               "%r = f32[4,5] sort(%a), is_stable=true, dimensions={1}, to_apply=%sort_region"},
              {"map", "%a: tensor<4x5xf32>", "",
               absl::StrCat(R"(%r = "stablehlo.map"(%a, %a) <{dimensions = array<i64: 0, 1>}> )",
                            kScalarAdd, " : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>"),
               "%r = f32[4,5] map(%a, %a), dimensions={0,1}, to_apply=%map_region"},
              {"reduce_window", "%a: tensor<6xf32>, %b: tensor<f32>", "",
               absl::StrCat(
                   R"(%r = "stablehlo.reduce_window"(%a, %b) <{base_dilations = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> )",
                   kScalarAdd, " : (tensor<6xf32>, tensor<f32>) -> tensor<5xf32>"),
               "%r = f32[5] reduce-window(%a, %b), window={size=3 stride=2 pad=1_0 lhs_dilate=2}, "
               "to_apply=%reduce_window_region"},
              {"select_and_scatter", "%a: tensor<6xf32>, %b: tensor<3xf32>, %c: tensor<f32>", "",
               absl::StrCat(
                   R"(%r = "stablehlo.select_and_scatter"(%a, %b, %c) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %l = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %l : tensor<i1>
}, )",
                   absl::string_view(kScalarAdd).substr(1),
                   " : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>"),
               "%r = f32[6] select-and-scatter(%a, %b, %c), window={size=2 stride=2}, "
               "select=%select_and_scatter_region, scatter=%select_and_scatter_region.1"},
              {"if", "%a: tensor<i1>, %b: tensor<4xf32>", "",
               R"(%r = "stablehlo.if"(%a) ({
  stablehlo.return %b : tensor<4xf32>
}, {
  %n = stablehlo.negate %b : tensor<4xf32>
  stablehlo.return %n : tensor<4xf32>
}) : (tensor<i1>) -> tensor<4xf32>)",
               "%r = f32[4] conditional(%a, %tuple.r, %tuple.r.1), true_computation=%if_region, "
               "false_computation=%if_region.1"},
              {"case", "%a: tensor<i32>, %b: tensor<4xf32>", "",
               R"(%r:2 = "stablehlo.case"(%a) ({
  %k = stablehlo.constant dense<1> : tensor<i32>
  stablehlo.return %b, %k : tensor<4xf32>, tensor<i32>
}) : (tensor<i32>) -> (tensor<4xf32>, tensor<i32>))",
               "%r = (f32[4], s32[]) conditional(%a, %tuple.r), "
               "branch_computations={%case_region}"},
              {"triangular_solve", "%a: tensor<4x4xf32>, %b: tensor<4x3xf32>", "",
               R"(%r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>)",
               "%r = f32[4,3] triangular-solve(%a, %b), left_side=true, lower=true, "
               "unit_diagonal=false, transpose_a=NO_TRANSPOSE"},
              {"batch_norm_inference", "%a: tensor<4x3xf32>, %b: tensor<3xf32>", "",
               R"(%r = "stablehlo.batch_norm_inference"(%a, %b, %b, %b, %b) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>)",
               "%r = f32[4,3] batch-norm-inference(%a, %b, %b, %b, %b), feature_index=1, "
               "epsilon=0.5"},
              {"all_gather", "%a: tensor<2x4xf32>", "",
               R"(%r = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>)",
               "%r = f32[4,4] all-gather(%a), dimensions={0}, channel_id=3, "
               "replica_groups={{0,2},{1,3}}, use_global_device_ids=true"},
              {"all_reduce", "%a: tensor<2x4xf32>", "",
               absl::StrCat(
                   R"(%r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> )",
                   kScalarAdd, " : (tensor<2x4xf32>) -> tensor<2x4xf32>"),
               "%r = f32[2,4] all-reduce(%a), replica_groups={{0,1},{2}}, "
               "to_apply=%all_reduce_region"},
              {"reduce_scatter", "%a: tensor<2x4xf32>", "",
               absl::StrCat(
                   R"(%r = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> )",
                   kScalarAdd, " : (tensor<2x4xf32>) -> tensor<2x2xf32>"),
               "%r = f32[2,2] reduce-scatter(%a), dimensions={1}, replica_groups={{0,1}}, "
               "to_apply=%reduce_scatter_region"},
              {"all_to_all", "%a: tensor<4x6xf32>", "",
               R"(%r = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x6xf32>) -> tensor<8x3xf32>)",
               "%all-to-all.r = f32[4,6] all-to-all(%a), replica_groups={{0,1}}, dimensions={1}\n"
               "  %reshape.r = f32[4,2,3] reshape(%all-to-all.r)\n"
               "  %transpose.r = f32[2,4,3] transpose(%reshape.r), dimensions={1,0,2}\n"
               "  %r = f32[8,3] reshape(%transpose.r)"},
              {"collective_permute", "%a: tensor<4xf32>", "",
               R"(%r = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] collective-permute(%a), source_target_pairs={{0,1},{1,0}}"},
              {"infeed", "%a: !stablehlo.token", "",
               R"(%r:2 = "stablehlo.infeed"(%a) <{infeed_config = "", layout = []}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token))",
               "%r = ((f32[4]), token[]) infeed(%a)"},
              {"quantised", "%a: tensor<4xf32>",
               "%r = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> "
               "tensor<4x!quant.uniform<i8<-127:127>:f32, 0.5:3>>",
               R"(%r = "stablehlo.uniform_quantize"(%a) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8<-127:127>:f32, 0.5:3>>)",
               "%r = s8[4] convert(%a)"},
              {"quantised_unsigned", "%a: tensor<4x!quant.uniform<u8:f32, 0.5:3>>",
               "%r = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<u8:f32, 0.5:3>>) "
               "-> "
               "tensor<4xf32>",
               R"(%r = "stablehlo.uniform_dequantize"(%a) : (tensor<4x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<4xf32>)",
               "%a = u8[4] parameter(0)\n  %r = f32[4] convert(%a)"},
              {"quantised_constant", "",
               "%r = stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> "
               "tensor<2x!quant.uniform<i8:f32, 0.5>>",
               R"(%r = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>)",
               "%r = s8[2] constant({1, 2})"},
              {"manual_computation", "%a: tensor<8x4xf32>",
               "%r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}, {}]>] "
               "out_shardings=[<@mesh, [{}, {\"x\"}]>] manual_axes={\"x\"} (%b: tensor<4x4xf32>) "
               "{\n"
               "  %s = stablehlo.reshape %b : (tensor<4x4xf32>) -> tensor<8x2xf32>\n"
               "  sdy.return %s : tensor<8x2xf32>\n} : (tensor<8x4xf32>) -> tensor<8x4xf32>",
               R"(%r = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}> ({
^bb0(%b: tensor<4x4xf32>):
  %s = "stablehlo.reshape"(%b) : (tensor<4x4xf32>) -> tensor<8x2xf32>
  "sdy.return"(%s) : (tensor<8x2xf32>) -> ()
}) : (tensor<8x4xf32>) -> tensor<8x4xf32>)",
               "%call.r = f32[8,2] call(%r), to_apply=%manual_computation_region\n"},
              {"shardy_reshard", "%a: tensor<8x4xf32>",
               "%r = sdy.reshard %a <@mesh, [{\"y\"}, {}]> : tensor<8x4xf32>",
               R"(%r = "sdy.reshard"(%a) {sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>)",
               "%r = f32[8,4] custom-call(%a), custom_call_target=\"Sharding\""},
              {"shardy_all_gather", "%a: tensor<8x4xf32>",
               "%r = sdy.all_gather [{\"y\"}, {}] %a out_sharding=<@mesh, [{}, {}]> : "
               "tensor<8x4xf32>",
               R"(%r = "sdy.all_gather"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>)",
               "%r = f32[8,4] sdy.all_gather(%a)"},
              {"unknown", "%a: tensor<4xf32>",
               "%r = stablehlo.frobnicate %a, depth = 3 : tensor<4xf32>",
               R"(%r = "stablehlo.frobnicate"(%a) <{depth = 3 : i64}> : (tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] stablehlo.frobnicate(%a)"},
              {"unknown_with_a_region", "%a: tensor<4xf32>, %b: tensor<i32>", "",
               R"(%r = "other.loop"(%a) ({
  %n = stablehlo.negate %b : tensor<i32>
  "other.end"(%n) : (tensor<i32>) -> ()
}) : (tensor<4xf32>) -> tensor<4xf32>)",
               "%r = f32[4] other.loop(%a, %b)"},
          };
  for (const char* name : {"abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one",
                           "floor", "log", "log_plus_one", "logistic", "negate",
                           "round_nearest_afz", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh"}) {
    std::string opcode = name;
    for (char& c : opcode) c = c == '_' ? '-' : c;
    all.push_back(
        {name, "%a: tensor<4xf32>", absl::StrCat("%r = stablehlo.", name, " %a : tensor<4xf32>"),
         absl::StrCat("%r = \"stablehlo.", name, "\"(%a) : (tensor<4xf32>) -> tensor<4xf32>"),
         absl::StrCat("%r = f32[4] ", opcode, "(%a)")});
  }
  for (const char* name :
       {"divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract", "shift_left",
        "shift_right_arithmetic", "shift_right_logical", "or", "xor"}) {
    std::string opcode = name;
    for (char& c : opcode) c = c == '_' ? '-' : c;
    all.push_back({name, "%a: tensor<4xi32>",
                   absl::StrCat("%r = stablehlo.", name, " %a, %a : tensor<4xi32>"),
                   absl::StrCat("%r = \"stablehlo.", name,
                                "\"(%a, %a) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>"),
                   absl::StrCat("%r = s32[4] ", opcode, "(%a, %a)")});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenOperations, ::testing::ValuesIn(AllGoldenOperations()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace xla_indexing
