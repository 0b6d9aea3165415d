func.func @main(%a: tensor<?xf32>, %s: tensor<2xi32>, %n: tensor<1xi32>, %x: tensor<?x4x6xf32>, %t: tensor<3xi32>) -> (tensor<3x?xf32>, tensor<?xi32>, tensor<?x24xf32>, tensor<?x2x12xf32>) {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<3x?xf32>
  %1 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %2 = stablehlo.dynamic_reshape %x, %s : (tensor<?x4x6xf32>, tensor<2xi32>) -> tensor<?x24xf32>
  %3 = stablehlo.dynamic_reshape %x, %t : (tensor<?x4x6xf32>, tensor<3xi32>) -> tensor<?x2x12xf32>
  return %0, %1, %2, %3 : tensor<3x?xf32>, tensor<?xi32>, tensor<?x24xf32>, tensor<?x2x12xf32>
}
