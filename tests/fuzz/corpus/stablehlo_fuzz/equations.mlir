func.func @main(%a: tensor<2x3x3xf32>, %b: tensor<3x4xf32>) -> (tensor<4x2xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<4xf32>) {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "iab,bk->ki"} : (tensor<2x3x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  %1 = "stablehlo.unary_einsum"(%a) {einsum_config = "iaa->a"} : (tensor<2x3x3xf32>) -> tensor<3xf32>
  %2 = "stablehlo.unary_einsum"(%a) {einsum_config = "iaa->ai"} : (tensor<2x3x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.einsum %a, %b, config = "ijk,ab->b" : (tensor<2x3x3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4x2xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<4xf32>
}
