func.func @main(%a: tensor<2x9x8x6xf32>, %b: tensor<3x2x3x4xf32>, %d: tensor<?x3xf32, #stablehlo.bounds<4, ?>>, %q: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x4x7x4xf32> {
  %c = stablehlo.constant dense<"0x0000803F000000C0"> : tensor<2xf32>
  %s = stablehlo.constant dense<[[true, false]]> : tensor<1x2xi1>
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0], window = {stride = [2, 1], pad = [[1, 0], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x8x6xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x7x4xf32>
  %1 = stablehlo.slice %a [0:2, 1:9:2, 2:7, 0:6:2] : (tensor<2x9x8x6xf32>) -> tensor<2x4x5x3xf32>
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x7x4xf32>, tensor<2x4x5x3xf32>) -> tensor<2x7x4x5x3xf32>
  %3 = stablehlo.transpose %1, dims = [3, 2, 1, 0] : (tensor<2x4x5x3xf32>) -> tensor<3x5x4x2xf32>
  %4 = stablehlo.custom_call @foo(%3) {backend_config = "x", operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<3x5x4x2xf32>) -> tensor<5xf32>
  return %0 : tensor<2x4x7x4xf32>
}
